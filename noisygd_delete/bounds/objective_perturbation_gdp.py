"""Objective perturbation in Gaussian DP, and what an inexact solve and a machine add to it.

Theorem 2 (proved for κ ≤ 1/4, convex losses, one gradient direction per row). With A = L/s and κ = ρ/A,

    μ = A·m̄(κ) zero-out,   2A·m̄(κ) replace,   times the rows of one subject;   m̄(κ) = 1 + 2 ln2 κ²/(1 + √(1 − 8 ln2 κ²))

Zero-out reduces to one dimension exactly: u ~ N(0, 1) against u + a(u), |a| ≤ A, 0 ≤ a′ ≤ ρ; the flow t ↦ G_0 + t g moves
Φ⁻¹ of every event's probability by at most A·m(κ). The constant: design sheet, appendix; its half at levels c ≥ 0 is
evaluated in interval arithmetic by `proofs_check`. Above κ = 1/4 nothing is claimed: use Theorem 1.

Theorem 3 (proved). θ̃ with ‖∇F_b(θ̃)‖/n ≤ γ lies within γ/m of θ*. What is published is θ̃ rounded to a grid of step h, plus
an exact discrete Gaussian of standard deviation parameter τ on that grid. Given θ* the centres lie in a ball, so

    ζ = 2(γ + e)/m + h√d apart at most,   R_q ≤ Theorem 1 + qζ²/(2τ²),   μ² = Theorem 2 squared + ζ²/(τ² − 144h²)

for every start, warm or cold, and every solver. e covers the float error of the measured gradient and ‖b̂ − b‖/n, b̂ being
the floats drawn for b. The discrete Gaussian has exactly the Rényi curve of the continuous one between points of its grid
(Canonne, Kamath & Steinke 2020), but is *not* (distance/τ)-GDP: its tails are steeper by about 1 + h²/(24τ²). It is what a
randomised rounding (a discrete Gaussian of parameter r = 12h about the point) makes of N(0, τ² − r²), up to a factor
1 ± d·10⁻¹²³³ of every probability: hence τ² − 144h², and more than that factor in the rounding.

Deletion, Definition 4.1, with a hidden warm start: against π = θ* of the edited table, rounded, plus the same noise:
μ = ((γ + e)/m + h√d)/τ, about μ_γ/2, so ε_dd = qμ_γ²/8 at h → 0. From a start that never saw the record, and given an observed
predecessor: 0.
"""

from __future__ import annotations

import math

from .rounding import UNIT

LARGEST_KAPPA = 0.25
SMOOTHING = 12.0  # r/h: the part of the last noise, in steps of the grid, that makes a continuous Gaussian discrete

_LOG2 = math.log(2)


def flow_constant(*, kappa: float) -> float:
    """m̄(κ), rounded up; infinite where it is not proved (κ > 1/4, or not a number)."""
    if not 0 <= kappa <= LARGEST_KAPPA:
        return math.inf
    square = _LOG2 * kappa * kappa
    return 1 + 2 * square / (1 + math.sqrt(1 - 8 * square)) + 4 * UNIT


def gdp(
    *, lipschitz: float, noise: float, ratio: float, rows: float = 1, worlds: float = 1, blocks: float = 1
) -> float:
    """μ of the exact minimiser, rounded up: rows · worlds · √blocks · A · m̄(ρ/A) with A = L/s.

    Args:
        lipschitz: L of one row in one block.
        worlds: 1 zero-out, 2 replace.
        blocks: independent binary releases side by side (one-vs-rest: the number of classes).
    """
    if not noise > 0:
        return math.inf
    shift = lipschitz / noise
    kappa = ratio / shift * (1 + 4 * UNIT) if ratio else 0.0
    return rows * worlds * math.sqrt(blocks) * shift * flow_constant(kappa=kappa) * (1 + 8 * UNIT)


def most_noise(*, lipschitz: float, ratio: float) -> float:
    """L/(4ρ), rounded down: the largest s at which κ ≤ 1/4; up to it μ falls as s grows."""
    return LARGEST_KAPPA * lipschitz / ratio * (1 - 16 * UNIT) if ratio else math.inf


def spread(*, gradient_tolerance: float, strong_convexity: float, grid: float, dimension: float) -> float:
    """ζ = 2γ/m + h√d, rounded up: how far apart the rounded answers of two solves may be, given θ*.

    `gradient_tolerance` is what the certified norm of the gradient is below, float errors included.
    """
    return (2 * gradient_tolerance / strong_convexity + grid * math.sqrt(dimension)) * (1 + 8 * UNIT)


def deletion_spread(*, gradient_tolerance: float, strong_convexity: float, grid: float, dimension: float) -> float:
    """γ/m + h√d, rounded up: how far the rounded answer may be from the rounded exact minimiser."""
    return (gradient_tolerance / strong_convexity + grid * math.sqrt(dimension)) * (1 + 8 * UNIT)


def inexact_rate(*, spread: float, output_noise: float) -> float:
    """ζ²/(2τ²): the Rényi cost per unit of order, of every order; the square of μ_γ halved."""
    return _square(spread, output_noise) / 2


def inexact_gdp(*, spread: float, output_noise: float, grid: float) -> float:
    """μ_γ = ζ/√(τ² − 144h²), rounded up; infinite where τ is no more than twelve steps of the grid."""
    left = output_noise**2 - (SMOOTHING * grid) ** 2
    if not left > 0:
        return math.inf if spread else 0.0
    return math.sqrt(_square(spread, math.sqrt(left)))


def _square(spread: float, deviation: float) -> float:
    if not deviation > 0:
        return math.inf if spread else 0.0
    return (spread / deviation) ** 2 * (1 + 16 * UNIT)


def tolerance_for(*, rate: float, output_noise: float, strong_convexity: float, grid: float, dimension: float) -> float:
    """The largest γ, rounded down, with `inexact_rate` at most `rate`; not above 0 where the grid alone costs more."""
    free = output_noise * math.sqrt(2 * rate) * (1 - 32 * UNIT) - grid * math.sqrt(dimension) * (1 + 8 * UNIT)
    return strong_convexity / 2 * free * (1 - 32 * UNIT) if free > 0 else 0.0


def output_noise(*, share: float, noise: float, records: float, dimension: float, hessian_trace: float) -> float:
    """τ = √share (s/n) d/tr: costs at most about `share` of the expected excess risk.

    tr is the largest trace of the objective's Hessian, β_tr + dλ: tr H⁻¹ ≥ d²/tr H (Jensen), against τ²·tr H.
    """
    return math.sqrt(share) * noise / records * dimension / hessian_trace

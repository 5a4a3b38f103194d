"""Objective perturbation in Rényi DP: an exact tilt of the density, nearly nothing lost.

    b ~ N(0, s² Σ);   θ* = argmin_θ Σ_i ℓ(θ; x_i) + (nλ/2)‖θ‖² + ⟨b, θ⟩,   so G_D(θ*) = −b with G_D the gradient sum

G_D is a bi-Lipschitz bijection where m = λ − β₋ > 0 (C^{1,1} losses included), so θ* has density φ_s(G_D(θ)) det J_D(θ).

Theorem 1 (proved; design sheet "objective perturbation", 1). For w = G_2 − G_1, ‖w‖ ≤ Δ, and q with
J_q = (1−q) J_1 + q J_2 ≥ c I, c > 0:

    R_q(P_2 ‖ P_1) ≤ qΔ²/(2s²) + (1/(q−1)) log sup_θ [ det J_2^q det J_1^{1−q} / det J_q ]

because q‖G_2‖² + (1−q)‖G_1‖² = ‖G_q‖² − q(q−1)‖w‖² and φ_s(G_q) det J_q integrates to at most 1. The second term is the
*Hessian cost* below: it depends on the losses and on λ, not on the noise, and is finite below a public order alone.

| API name        | letter | meaning                                                                                          |
|-----------------|--------|--------------------------------------------------------------------------------------------------|
| order           | q      | Rényi order, above 1                                                                              |
| ratio           | ρ      | largest eigenvalue of H_0^{-1/2} C H_0^{-1/2}: one row's Hessian C against the others' H_0 ≥ nλI |
| below           | ρ₋     | the same of the negative curvature of a weakly convex loss                                        |
| rows            |        | rows of one data subject, all of them different in the two worlds                                 |
| noise           | s      | standard deviation of b per coordinate, in units of the gradient *sum*                            |
| sensitivity     | Δ      | norm of the difference of the gradient sums, all rows of the subject together                     |
| strong_convexity | m     | λ − β₋                                                                                            |

    h₊(r) = q log(1+r) − log(1+qr)           the record's world against the one without it
    h₋(r) = −(q−1) log(1+r) − log(1−(q−1)r)  the other way round; h₋ ≥ h₊ ≥ 0, h₋ convex, h₊ convex up to 1/√q

Every cost is rounded up; it is `math.inf` at orders where the theorem says nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from .arithmetic import UNIT, sum_up


def curvature_ratio(
    *, smoothness: float, strong_convexity: float, records: float, weak_convexity: float = 0.0
) -> float:
    """ρ = β/(nm + β₋), rounded up: of β = β₊, or of β = β₋ for ρ₋. The world without the record has J ≥ nm + β₋."""
    return smoothness / (records * strong_convexity + weak_convexity) * (1 + 4 * UNIT)


def highest_order(*, ratio: float, rows: float = 1, below: float = 0.0) -> float:
    """The order below which every cost here is finite: qρ₋ + (q−1)ρ < 1, hence (1 + ρ)/(ρ₋ + ρ), at ρ₋ = 0: 1 + 1/ρ."""
    curvature = rows * (ratio + below)
    return (1 + rows * ratio) / curvature * (1 - 4 * UNIT) if curvature else math.inf


def _minus_log_one_plus(*terms: float) -> float:
    """−log(1 + Σ terms) for terms good to a few ulps, before its own rounding an upper bound: near Σ = −1 an ulp weighs much."""
    return -math.log1p(math.fsum(terms) - 8 * UNIT * math.fsum(map(abs, terms)))


def _moment_with_record(order: float, r: float) -> float:
    """h₊(r), rounded up."""
    return sum_up(order * math.log1p(r), _minus_log_one_plus(order * r))


def _moment_without_record(order: float, r: float) -> float:
    """h₋(r), rounded up."""
    return sum_up(-(order - 1) * math.log1p(r), _minus_log_one_plus(-(order - 1) * r))


def _is_jacobian_positive(order: float, ratio: float, below: float = 0.0) -> bool:
    """Whether J_q stays positive. False for a NaN."""
    return order > 1 and ratio >= 0 and below >= 0 and order * below + (order - 1) * ratio < 1 - 1e-12


def zero_out_hessian(*, order: float, ratio: float, rows: float = 1) -> float:
    """h₋(ρ)/(q−1): Corollary 1, one direction per row; covers both orders of the worlds "with" and "without".

    m rows: ρ → mρ, since h₋ is convex with h₋(0) = 0 and the eigenvalues of m rank-one terms sum to at most mρ.
    """
    r = rows * ratio
    return _moment_without_record(order, r) / (order - 1) if _is_jacobian_positive(order, r) else math.inf


def replace_hessian(*, order: float, ratio: float, rows: float = 1) -> float:
    """−log(1 − q(q−1)ρ²/(1+ρ))/(q−1) = (h₊(ρ) + h₋(ρ))/(q−1): Corollary 1, one direction per row, x against x′.

    m rows: ρ → mρ, and h₊(mρ) gives way to its bound q(q−1)(mρ)²/2 where mρ > 1/√q, beyond which h₊ is not convex.
    """
    r = rows * ratio
    if not _is_jacobian_positive(order, r):
        return math.inf
    if rows > 1 and order * r * r > 1:
        return sum_up(order * r * r / 2, _moment_without_record(order, r) / (order - 1))
    # 1 − q(q−1)ρ²/(1+ρ) = (1+qρ)(1−(q−1)ρ)/(1+ρ), without cancellation where ρ is small
    return _minus_log_one_plus(-order * (order - 1) * r * r / (1 + r)) / (order - 1) * (1 + 1e-12)


def several_zero_out_hessian(*, order: float, ratio: float, rows: float = 1) -> float:
    """max{h₋(ρ), q(q−1)ρ²/2}/(q−1): Corollary 2, softmax, where Σ r_i² ≤ ρ²; covers both orders of the worlds.

    h₋(r)/r² falls and then rises (it only rises for q ≥ 2), so its largest value on [0, ρ] is at an end.
    """
    r = rows * ratio
    if not _is_jacobian_positive(order, r):
        return math.inf
    return max(_moment_without_record(order, r) / (order - 1), order * r * r / 2 * (1 + 4 * UNIT))


def several_replace_hessian(*, order: float, ratio: float, rows: float = 1) -> float:
    """qρ²/2 + `several_zero_out_hessian`: Corollary 2, softmax, x against x′ (h₊(r) ≤ q(q−1)r²/2)."""
    single = several_zero_out_hessian(order=order, ratio=ratio, rows=rows)
    return sum_up(order * (rows * ratio) ** 2 / 2, single) if single < math.inf else math.inf


def weakly_convex_zero_out_hessian(*, order: float, ratio: float, below: float) -> float:
    """The largest of h₊ and h₋ at ρ and −ρ₋, over q−1: one row, one direction, curvature of either sign."""
    if not _is_jacobian_positive(order, ratio, below):
        return math.inf
    return max(h(order, r) for h in (_moment_with_record, _moment_without_record) for r in (ratio, -below)) / (
        order - 1
    )


def weakly_convex_replace_hessian(*, order: float, ratio: float, below: float) -> float:
    """M/(q−1), to leading order 2qρ²: one row, one direction; x and x′ may curve in opposite ways, along one line.

    The log of det(I+B_2)^q det(I+B_1)^{1−q}/det(I + qB_2 − (q−1)B_1) for rank-one B's of eigenvalues r_2, r_1 at an angle
    of cosine c has det = (1+qr_2)(1−(q−1)r_1) + q(q−1)r_1r_2c²: c = 0 is worst for equal signs, c² = 1 for opposite ones.
    """
    if not _is_jacobian_positive(order, ratio, below):
        return math.inf
    q, rest = order, order - 1

    def opposite(second: float, first: float) -> float:
        return sum_up(q * math.log1p(second), -rest * math.log1p(first), _minus_log_one_plus(q * second, -rest * first))

    return (
        max(
            _moment_with_record(q, ratio) + _moment_without_record(q, ratio),
            _moment_with_record(q, -below) + _moment_without_record(q, -below),
            opposite(ratio, -below),
            opposite(-below, ratio),
        )
        / rest
        * (1 + 4 * UNIT)
    )


def renyi(*, order: float, sensitivity: float, noise: float, hessian: float, inexact_gdp: float = 0.0) -> float:
    """R_q ≤ qΔ²/(2s²) + Hessian cost + qμ_γ²/2, rounded up: Theorem 1, and Theorem 3 for the solver's tolerance.

    One-vs-rest is K independent binary releases: Δ = √K times the binary one, `hessian` = K times the binary cost.
    """
    if not noise > 0:
        return math.inf
    return sum_up(order * sensitivity**2 / (2 * noise**2), hessian, order * inexact_gdp**2 / 2)


def excess_risk(
    *,
    dimension: float,
    noise: float,
    strong_convexity: float,
    records: float,
    gradient_tolerance: float = 0.0,
    output_noise: float = 0.0,
    hessian_trace: float = 0.0,
) -> float:
    """E err ≤ (√d s/n + γ)²/(2m) + τ²·tr/2 of the regularised objective; without the solver's part d s²/(2mn²).

    ∇f(θ̃) = −b/n + e with ‖e‖ ≤ γ, and f − f* ≤ ‖∇f‖²/(2m); the published model adds τN, of which half of τ² times the
    largest trace of the Hessian remains. `dimension` is tr Σ where b has a shape.
    """
    pull = math.sqrt(dimension) * noise / records + gradient_tolerance
    return pull**2 / (2 * strong_convexity) + output_noise**2 * hessian_trace / 2


# --- objective perturbation gdp ---
#
# Objective perturbation in Gaussian DP, and what an inexact solve and a machine add to it.
#
# Theorem 2 (proved for κ ≤ 1/4, convex losses, one gradient direction per row). With A = L/s and κ = ρ/A,
#
#     μ = A·m̄(κ) zero-out,   2A·m̄(κ) replace,   times the rows of one subject;   m̄(κ) = 1 + 2 ln2 κ²/(1 + √(1 − 8 ln2 κ²))
#
# Zero-out reduces to one dimension exactly: u ~ N(0, 1) against u + a(u), |a| ≤ A, 0 ≤ a′ ≤ ρ; the flow t ↦ G_0 + t g moves
# Φ⁻¹ of every event's probability by at most A·m(κ). The constant: design sheet, appendix; its half at levels c ≥ 0 is
# evaluated in interval arithmetic by `proofs_check`. Above κ = 1/4 nothing is claimed: use Theorem 1.
#
# Theorem 3 (proved). θ̃ with ‖∇F_b(θ̃)‖/n ≤ γ lies within γ/m of θ*. What is published is θ̃ rounded to a grid of step h, plus
# an exact discrete Gaussian of standard deviation parameter τ on that grid. Given θ* the centres lie in a ball, so
#
#     ζ = 2(γ + e)/m + h√d apart at most,   R_q ≤ Theorem 1 + qζ²/(2τ²),   μ² = Theorem 2 squared + ζ²/(τ² − 144h²)
#
# for every start, warm or cold, and every solver. e covers the float error of the measured gradient and ‖b̂ − b‖/n, b̂ being
# the floats drawn for b. The discrete Gaussian has exactly the Rényi curve of the continuous one between points of its grid
# (Canonne, Kamath & Steinke 2020), but is *not* (distance/τ)-GDP: its tails are steeper by about 1 + h²/(24τ²). It is what a
# randomised rounding (a discrete Gaussian of parameter r = 12h about the point) makes of N(0, τ² − r²), up to a factor
# 1 ± d·10⁻¹²³³ of every probability: hence τ² − 144h², and more than that factor in the rounding.
#
# Deletion with a hidden warm start: two runs on the edited table, one of which never held the record, are ζ apart, so
# ε_dd = qμ_γ²/2. Against the ideal law of θ* alone, which no run publishes, one ball would do (μ_γ/2). From a start that never saw the
# record, and given an observed predecessor: 0.


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


def rounded_solution_distance(
    *, gradient_tolerance: float, strong_convexity: float, grid: float, dimension: float
) -> float:
    """ζ = 2γ/m + h√d, rounded up: how far apart the rounded answers of two solves may be, given θ*.

    One ball of radius γ/m would do against an ideal law that publishes θ* itself. Any two runs need both: of two tables, of one
    table in another order, or with and without a record that is erased by then.

    `gradient_tolerance` is what the certified norm of the gradient is below, float errors included.
    """
    return (2 * gradient_tolerance / strong_convexity + grid * math.sqrt(dimension)) * (1 + 8 * UNIT)


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


# --- noise shape ---
#
# Public shapes Σ = diag(v) for the noise of objective perturbation, from a schema alone.
#
# Every theorem holds for b ~ N(0, s² Σ) with Δ = s · sup ‖Σ^{-1/2}(g − g′)‖: in coordinates Σ^{-1/2}, a row x counts as
# √(xᵀΣ⁻¹x), while ρ stays as it is (xᵀH⁻¹x). So any Σ with xᵀΣ⁻¹x ≤ R² for every allowed row leaves Δ as for Σ = I.
#
# One-hot schema: G blocks of k_g categories, the constant column (a block of one, where there is one), j numbers in [−1, 1];
# rows divided by their norm, R = 1. With N blocks in all and S = Σ√k over them,
#
#     v = S/(N√k_g) on block g,   1 on numbers:    xᵀΣ⁻¹x = (N + Σv²)/(N + Σv²) = 1   where every block is hot,
#     tr Σ = S²/N + j ≤ Σk + j                     (Cauchy; these v minimise it)
#
# A row with a cold block, divided by its own norm, may have up to xᵀΣ⁻¹x = S/(N' min…) > 1: every block wants an "unknown"
# category, and a curator refuses a table with a row that is longer than R in this shape. Columns of a
# category that may be cold can also stand among the numbers, v = 1: there a row counts as in ‖x‖², whatever is in it.
# Several outputs: I_K ⊗ Σ.


def block_variances(*, categories: Sequence[float], constant: bool = True) -> tuple[float, ...]:
    """v of each one-hot block, in the order given; with `constant`, that of the constant column comes last.

    Args:
        categories: k_g of each block, its "unknown" category counted.
    """
    roots = [math.sqrt(k) for k in (*categories, *((1,) if constant else ()))]
    return tuple(math.fsum(roots) / (len(roots) * root) for root in roots)


def column_variances(*, blocks: Sequence[int]) -> tuple[float, ...]:
    """v of every column.

    Args:
        blocks: the columns in order: k for a one-hot block of k columns, always hot (the constant column is one of 1), and 0 for
            any other column, which counts like a number: a category that may be cold is so many of them.
    """
    hot = iter(block_variances(categories=[k for k in blocks if k], constant=False))
    return tuple(v for k in blocks for v in ((next(hot),) * k if k else (1.0,)))


# --- ridge ---
#
# The ridge of the forecast: a larger λ′ in the place of λ, where the noise would carry the model away along flat directions.
#
# With L_λ(θ) = ℓ(θ) + (λ/2)‖θ‖², λ′ ≥ λ, and θ* the minimiser of L_λ, every θ has
#
#     L_λ(θ) − L_λ(θ*) ≤ L_λ′(θ) − min L_λ′ + (λ′ − λ)‖θ*‖²/2
#
# since L_λ(θ) = L_λ′(θ) − (λ′−λ)‖θ‖²/2 and min L_λ′ ≤ L_λ′(θ*) = L_λ(θ*) + (λ′−λ)‖θ*‖²/2. So what a model costs in the objective
# asked for is what the noise costs at λ′, F(λ′), plus at most (λ′−λ)B²/2 for a norm ‖θ*‖ ≤ B. F falls with λ′: the ridge where
#
#     F(λ′) = λ′B²/2
#
# costs at most twice the best one (to the left of it F alone is larger than here, to the right λ′B²/2 is). For noise whose cost is
# a/(2λ′) it is the best one exactly, λ′ = √a/B: a = d(s/n)² for objective perturbation and,
# to first order in the step size, for Noisy-GD, where s is Δ over μ. Nothing but public numbers enters.


_FACTOR = 4.0  # between trials, while the balance lies above


def ridge_cost(*, asked: float, used: float, model_norm: float) -> float:
    """(λ′ − λ)B²/2: the most that λ′ in the place of λ costs a model in the objective with λ, if ‖θ*‖ ≤ B."""
    return (used - asked) * model_norm**2 / 2


def balanced_ridge(
    cost: Callable[[float], float], *, regularization: float, model_norm: float, most: float, accuracy: float = 0.01
) -> float:
    """The least λ′ ≥ λ with F(λ′) ≤ λ′B²/2, to a relative `accuracy` above; infinite where none up to `most` has it.

    Args:
        cost: F, falling; infinite where there is no plan.
    """

    def balanced(ridge: float) -> bool:
        return cost(ridge) <= ridge * model_norm**2 / 2

    low, at_first = regularization, cost(regularization)
    share = at_first / (regularization * model_norm**2 / 2)
    if share <= 1:
        return regularization
    high = low * (math.sqrt(share) * (1 + accuracy / 2) if share < math.inf else _FACTOR)  # exact for F ∝ 1/λ′
    while high <= most and not balanced(high):
        low, high = high, high * _FACTOR
    if high > most:
        return math.inf
    trial = high / (1 + accuracy)
    while high > low * (1 + accuracy):
        low, high = (low, trial) if balanced(trial) else (trial, high)
        trial = math.sqrt(low * high)
    return high

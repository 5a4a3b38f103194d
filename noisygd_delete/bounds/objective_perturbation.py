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

from .rounding import UNIT, sum_up


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


def _with(order: float, r: float) -> float:
    """h₊(r), rounded up."""
    return sum_up(order * math.log1p(r), _minus_log_one_plus(order * r))


def _without(order: float, r: float) -> float:
    """h₋(r), rounded up."""
    return sum_up(-(order - 1) * math.log1p(r), _minus_log_one_plus(-(order - 1) * r))


def _valid(order: float, ratio: float, below: float = 0.0) -> bool:
    """Whether J_q stays positive. False for a NaN."""
    return order > 1 and ratio >= 0 and below >= 0 and order * below + (order - 1) * ratio < 1 - 1e-12


def zero_out_hessian(*, order: float, ratio: float, rows: float = 1) -> float:
    """h₋(ρ)/(q−1): Corollary 1, one direction per row; covers both orders of the worlds "with" and "without".

    m rows: ρ → mρ, since h₋ is convex with h₋(0) = 0 and the eigenvalues of m rank-one terms sum to at most mρ.
    """
    r = rows * ratio
    return _without(order, r) / (order - 1) if _valid(order, r) else math.inf


def replace_hessian(*, order: float, ratio: float, rows: float = 1) -> float:
    """−log(1 − q(q−1)ρ²/(1+ρ))/(q−1) = (h₊(ρ) + h₋(ρ))/(q−1): Corollary 1, one direction per row, x against x′.

    m rows: ρ → mρ, and h₊(mρ) gives way to its bound q(q−1)(mρ)²/2 where mρ > 1/√q, beyond which h₊ is not convex.
    """
    r = rows * ratio
    if not _valid(order, r):
        return math.inf
    if rows > 1 and order * r * r > 1:
        return sum_up(order * r * r / 2, _without(order, r) / (order - 1))
    # 1 − q(q−1)ρ²/(1+ρ) = (1+qρ)(1−(q−1)ρ)/(1+ρ), without cancellation where ρ is small
    return _minus_log_one_plus(-order * (order - 1) * r * r / (1 + r)) / (order - 1) * (1 + 1e-12)


def several_zero_out_hessian(*, order: float, ratio: float, rows: float = 1) -> float:
    """max{h₋(ρ), q(q−1)ρ²/2}/(q−1): Corollary 2, softmax, where Σ r_i² ≤ ρ²; covers both orders of the worlds.

    h₋(r)/r² falls and then rises (it only rises for q ≥ 2), so its largest value on [0, ρ] is at an end.
    """
    r = rows * ratio
    if not _valid(order, r):
        return math.inf
    return max(_without(order, r) / (order - 1), order * r * r / 2 * (1 + 4 * UNIT))


def several_replace_hessian(*, order: float, ratio: float, rows: float = 1) -> float:
    """qρ²/2 + `several_zero_out_hessian`: Corollary 2, softmax, x against x′ (h₊(r) ≤ q(q−1)r²/2)."""
    single = several_zero_out_hessian(order=order, ratio=ratio, rows=rows)
    return sum_up(order * (rows * ratio) ** 2 / 2, single) if single < math.inf else math.inf


def weakly_convex_zero_out_hessian(*, order: float, ratio: float, below: float) -> float:
    """The largest of h₊ and h₋ at ρ and −ρ₋, over q−1: one row, one direction, curvature of either sign."""
    if not _valid(order, ratio, below):
        return math.inf
    return max(h(order, r) for h in (_with, _without) for r in (ratio, -below)) / (order - 1)


def weakly_convex_replace_hessian(*, order: float, ratio: float, below: float) -> float:
    """M/(q−1), to leading order 2qρ²: one row, one direction; x and x′ may curve in opposite ways, along one line.

    The log of det(I+B_2)^q det(I+B_1)^{1−q}/det(I + qB_2 − (q−1)B_1) for rank-one B's of eigenvalues r_2, r_1 at an angle
    of cosine c has det = (1+qr_2)(1−(q−1)r_1) + q(q−1)r_1r_2c²: c = 0 is worst for equal signs, c² = 1 for opposite ones.
    """
    if not _valid(order, ratio, below):
        return math.inf
    q, rest = order, order - 1

    def opposite(second: float, first: float) -> float:
        return sum_up(q * math.log1p(second), -rest * math.log1p(first), _minus_log_one_plus(q * second, -rest * first))

    return (
        max(
            _with(q, ratio) + _without(q, ratio),
            _with(q, -below) + _without(q, -below),
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


def expected_excess_risk(*, noise: float, records: float, inverse_trace: float) -> float:
    """(s²/2n²) tr(Σ H⁻¹), to second order in b: what is to be expected, not a bound (an average, cov θ = (s/n)² H⁻¹ΣH⁻¹)."""
    return noise**2 * inverse_trace / (2 * records**2)


def forecast_ridge(
    *, regularization: float, dimension: float, noise: float, records: float, model_norm: float
) -> float:
    """λ′ = max(λ, √d s/(nB)): below it the noise alone would carry the model beyond the public guess B of its norm.

    Public numbers only; every theorem here holds with λ′ in the place of λ.
    """
    return max(regularization, math.sqrt(dimension) * noise / (records * model_norm))

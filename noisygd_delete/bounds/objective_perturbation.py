"""Rényi and Gaussian DP of objective perturbation.

    b ~ N(0, s² Σ);   θ* = argmin_θ Σ_i ℓ(θ; x_i) + (nλ/2)‖θ‖² + ⟨b, θ⟩,   so G_D(θ*) = −b with G_D the gradient sum

G_D is a bi-Lipschitz bijection if m = λ − β₋ > 0 (C^{1,1} losses included), so θ* has density φ_s(G_D(θ)) det J_D(θ).

Theorem 1 (proved; design sheet "objective perturbation", 1). For w = G_2 − G_1, ‖w‖ ≤ Δ, and q with
J_q = (1−q) J_1 + q J_2 ≥ c I, c > 0:

    R_q(P_2 ‖ P_1) ≤ qΔ²/(2s²) + (1/(q−1)) log sup_θ [ det J_2^q det J_1^{1−q} / det J_q ]

because q‖G_2‖² + (1−q)‖G_1‖² = ‖G_q‖² − q(q−1)‖w‖² and φ_s(G_q) det J_q integrates to at most 1. The second term is the
*Hessian cost* below. It depends on the losses and on λ but not on the noise, and is finite only below a public order.

| API name         |   | meaning |
|------------------|---|--------------------|
| order            | q | Rényi order, above 1 |
| ratio            | ρ | largest eigenvalue of H_0^{-1/2} C H_0^{-1/2}: Hessian C of one row, H_0 ≥ nλI of the others |
| below            | ρ₋ | the same for the negative curvature of a weakly convex loss |
| rows             |   | rows of one data subject, all of which differ between neighbouring datasets |
| noise            | s | standard deviation of b per coordinate, in units of the gradient *sum* |
| sensitivity      | Δ | norm of the difference of the gradient sums, all rows of the subject together |
| strong_convexity | m | λ − β₋ |

    h₊(r) = q log(1+r) − log(1+qr)           dataset with the record against the dataset without it
    h₋(r) = −(q−1) log(1+r) − log(1−(q−1)r)  the reverse direction; h₋ ≥ h₊ ≥ 0, h₋ convex, h₊ convex up to 1/√q

Every cost is rounded up; it is `math.inf` at orders for which the theorem gives no bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from .arithmetic import UNIT, sum_up


def curvature_ratio(
    *, smoothness: float, strong_convexity: float, records: float, weak_convexity: float = 0.0
) -> float:
    """Return ρ = β/(nm + β₋), rounded up: with β = β₊ for ρ, with β = β₋ for ρ₋.

    The dataset without the record has J ≥ nm + β₋.

    Args:
        smoothness: β.
        strong_convexity: m.
        records: n.
        weak_convexity: β₋.
    """
    return smoothness / (records * strong_convexity + weak_convexity) * (1 + 4 * UNIT)


def highest_order(*, ratio: float, rows: float = 1, below: float = 0.0) -> float:
    """Return the order below which every cost in this module is finite.

    The condition is qρ₋ + (q−1)ρ < 1, hence the order (1 + ρ)/(ρ₋ + ρ), which is 1 + 1/ρ at ρ₋ = 0.
    """
    curvature = rows * (ratio + below)
    return (1 + rows * ratio) / curvature * (1 - 4 * UNIT) if curvature else math.inf


def _minus_log_one_plus(*terms: float) -> float:
    """Return −log(1 + Σ terms), an upper bound before its own rounding if the terms are accurate to a few ulps.

    Near Σ = −1 an error of one ulp matters.
    """
    return -math.log1p(math.fsum(terms) - 8 * UNIT * math.fsum(map(abs, terms)))


def _moment_with_record(order: float, r: float) -> float:
    """Return h₊(r), rounded up."""
    return sum_up(order * math.log1p(r), _minus_log_one_plus(order * r))


def _moment_without_record(order: float, r: float) -> float:
    """Return h₋(r), rounded up."""
    return sum_up(-(order - 1) * math.log1p(r), _minus_log_one_plus(-(order - 1) * r))


def _is_jacobian_positive(order: float, ratio: float, below: float = 0.0) -> bool:
    """Return whether J_q stays positive; False for NaN."""
    return order > 1 and ratio >= 0 and below >= 0 and order * below + (order - 1) * ratio < 1 - 1e-12


def zero_out_hessian(*, order: float, ratio: float, rows: float = 1) -> float:
    """Return the Hessian cost of zero-out for one gradient direction per row, h₋(ρ)/(q−1) (Corollary 1).

    It covers both directions, with the record against without it and the reverse. m rows replace ρ by mρ, since h₋ is
    convex with h₋(0) = 0 and the eigenvalues of m rank-one terms sum to at most mρ.
    """
    r = rows * ratio
    return _moment_without_record(order, r) / (order - 1) if _is_jacobian_positive(order, r) else math.inf


def replace_hessian(*, order: float, ratio: float, rows: float = 1) -> float:
    """Return the Hessian cost of replace-one (x against x′) for one gradient direction per row (Corollary 1).

    The cost is −log(1 − q(q−1)ρ²/(1+ρ))/(q−1) = (h₊(ρ) + h₋(ρ))/(q−1). m rows replace ρ by mρ, and h₊(mρ) is replaced
    by its bound q(q−1)(mρ)²/2 if mρ > 1/√q, beyond which h₊ is not convex.
    """
    r = rows * ratio
    if not _is_jacobian_positive(order, r):
        return math.inf
    if rows > 1 and order * r * r > 1:
        return sum_up(order * r * r / 2, _moment_without_record(order, r) / (order - 1))
    # 1 − q(q−1)ρ²/(1+ρ) = (1+qρ)(1−(q−1)ρ)/(1+ρ), without cancellation for small ρ
    return _minus_log_one_plus(-order * (order - 1) * r * r / (1 + r)) / (order - 1) * (1 + 1e-12)


def several_zero_out_hessian(*, order: float, ratio: float, rows: float = 1) -> float:
    """Return the Hessian cost of zero-out for softmax, max{h₋(ρ), q(q−1)ρ²/2}/(q−1) (Corollary 2).

    For softmax Σ r_i² ≤ ρ². The cost covers both directions. h₋(r)/r² falls and then rises (it only rises for q ≥ 2),
    so its maximum on [0, ρ] is at an end.
    """
    r = rows * ratio
    if not _is_jacobian_positive(order, r):
        return math.inf
    return max(_moment_without_record(order, r) / (order - 1), order * r * r / 2 * (1 + 4 * UNIT))


def several_replace_hessian(*, order: float, ratio: float, rows: float = 1) -> float:
    """Return the Hessian cost of replace-one for softmax, qρ²/2 + `several_zero_out_hessian` (Corollary 2).

    It uses h₊(r) ≤ q(q−1)r²/2.
    """
    single = several_zero_out_hessian(order=order, ratio=ratio, rows=rows)
    return sum_up(order * (rows * ratio) ** 2 / 2, single) if single < math.inf else math.inf


def weakly_convex_zero_out_hessian(*, order: float, ratio: float, below: float) -> float:
    """Return the Hessian cost of zero-out for a weakly convex loss, for one row and one direction.

    It is the largest of h₊ and h₋ at ρ and −ρ₋, divided by q−1, since the curvature may have either sign.
    """
    if not _is_jacobian_positive(order, ratio, below):
        return math.inf
    return max(h(order, r) for h in (_moment_with_record, _moment_without_record) for r in (ratio, -below)) / (
        order - 1
    )


def weakly_convex_replace_hessian(*, order: float, ratio: float, below: float) -> float:
    """Return the Hessian cost of replace-one for a weakly convex loss, for one row and one direction.

    The cost is M/(q−1), to leading order 2qρ²: x and x′ may have opposite curvature along one line. M is the log of
    det(I+B_2)^q det(I+B_1)^{1−q}/det(I + qB_2 − (q−1)B_1). For rank-one B's of eigenvalues r_2, r_1 at an angle of
    cosine c the last determinant is (1+qr_2)(1−(q−1)r_1) + q(q−1)r_1r_2c²: c = 0 is worst for equal signs, c² = 1 for
    opposite ones.

    Args:
        order: Rényi order q > 1.
        ratio: ρ of the module's table.
        below: ρ₋ of the module's table.
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
    """Return R_q ≤ qΔ²/(2s²) + Hessian cost + qμ_γ²/2, rounded up (Theorems 1 and 3).

    The last term is the cost of the solver's tolerance. One-vs-rest consists of K independent binary releases: Δ is √K
    times the binary one, and `hessian` is K times the binary cost.
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
    """Return the bound E err ≤ (√d s/n + γ)²/(2m) + τ²·tr/2 on the excess risk of the regularized objective.

    With an exact solve (γ = τ = 0) it is d s²/(2mn²). Proof: ∇f(θ̃) = −b/n + e with ‖e‖ ≤ γ, and f − f* ≤ ‖∇f‖²/(2m).
    The published model adds τN, which costs at most half of τ² times the largest trace of the Hessian.

    Args:
        dimension: d, the number of weights; tr Σ if b has a noise shape Σ.
        noise: s.
        strong_convexity: m.
        records: n.
        gradient_tolerance: γ, the solver's tolerance on the gradient norm.
        output_noise: τ.
        hessian_trace: tr, the largest trace of the objective's Hessian.
    """
    pull = math.sqrt(dimension) * noise / records + gradient_tolerance
    return pull**2 / (2 * strong_convexity) + output_noise**2 * hessian_trace / 2


# --- objective perturbation gdp ---
#
# Objective perturbation in Gaussian DP, and the cost of an inexact solve and of floating-point arithmetic.
#
# Theorem 2 (proved for κ ≤ 1/4, convex losses, one gradient direction per row). With A = L/s and κ = ρ/A,
#
#     μ = A·m̄(κ) zero-out,   2A·m̄(κ) replace,   times the rows of one subject;   m̄(κ) = 1 + 2 ln2 κ²/(1 + √(1 − 8 ln2 κ²))
#
# Zero-out reduces to one dimension exactly: u ~ N(0, 1) against u + a(u), |a| ≤ A, 0 ≤ a′ ≤ ρ; the flow t ↦ G_0 + t g moves
# Φ⁻¹ of every event's probability by at most A·m(κ). The constant is derived in the design sheet, appendix; its half at
# levels c ≥ 0 is evaluated in interval arithmetic by `proofs_check`. Nothing is claimed for κ > 1/4: use Theorem 1.
#
# Theorem 3 (proved). θ̃ with ‖∇F_b(θ̃)‖/n ≤ γ is within γ/m of θ*. The published model is θ̃ rounded to a grid of step
# h, plus an exact discrete Gaussian of standard deviation parameter τ on that grid. Given θ* the centres are in a ball,
# so
#
#     distance ≤ ζ = 2(γ + e)/m + h√d,   R_q ≤ Theorem 1 + qζ²/(2τ²),   μ² = Theorem 2 squared + ζ²/(τ² − 144h²)
#
# for every start, warm or cold, and every solver. e covers the float error of the measured gradient and ‖b̂ − b‖/n,
# where b̂ are the floats drawn for b. The discrete Gaussian has exactly the Rényi curve of the continuous one between
# points of its grid (Canonne, Kamath & Steinke 2020), but is *not* (distance/τ)-GDP: its tails are steeper by about 1 +
# h²/(24τ²). A randomized rounding (a discrete Gaussian of parameter r = 12h about the point) of N(0, τ² − r²) has its
# law, up to a factor 1 ± d·10⁻¹²³³ of every probability. This explains τ² − 144h²; the rounding covers more than that
# factor.
#
# Deletion with a hidden warm start: two runs on the edited table, one of which never held the record, are at distance
# ζ, so ε_dd = qμ_γ²/2. Against the ideal law of θ* alone, which no run publishes, one ball would suffice (μ_γ/2). From
# a start that never saw the record, and given an observed predecessor, ε_dd = 0.


LARGEST_KAPPA = 0.25
SMOOTHING = 12.0  # r/h: the part of the output noise, in grid steps, that makes a continuous Gaussian discrete

_LOG2 = math.log(2)


def flow_constant(*, kappa: float) -> float:
    """Return m̄(κ), rounded up; infinite if κ > 1/4 (not proved) or κ is NaN."""
    if not 0 <= kappa <= LARGEST_KAPPA:
        return math.inf
    square = _LOG2 * kappa * kappa
    return 1 + 2 * square / (1 + math.sqrt(1 - 8 * square)) + 4 * UNIT


def gdp(
    *, lipschitz: float, noise: float, ratio: float, rows: float = 1, worlds: float = 1, blocks: float = 1
) -> float:
    """Return μ of the exact minimizer, rows · worlds · √blocks · A · m̄(ρ/A) with A = L/s, rounded up (Theorem 2).

    Args:
        lipschitz: L of one row in one block.
        noise: s.
        ratio: ρ.
        rows: Rows of one data subject.
        worlds: 1 for zero-out, 2 for replace-one.
        blocks: Number of independent binary releases (one-vs-rest: the number of classes).
    """
    if not noise > 0:
        return math.inf
    shift = lipschitz / noise
    kappa = ratio / shift * (1 + 4 * UNIT) if ratio else 0.0
    return rows * worlds * math.sqrt(blocks) * shift * flow_constant(kappa=kappa) * (1 + 8 * UNIT)


def most_noise(*, lipschitz: float, ratio: float) -> float:
    """Return L/(4ρ), rounded down: the largest s with κ ≤ 1/4, up to which μ decreases in s."""
    return LARGEST_KAPPA * lipschitz / ratio * (1 - 16 * UNIT) if ratio else math.inf


def rounded_solution_distance(
    *, gradient_tolerance: float, strong_convexity: float, grid: float, dimension: float
) -> float:
    """Return ζ = 2γ/m + h√d, rounded up: the largest distance between the rounded solutions of two solves, given θ*.

    One ball of radius γ/m would suffice against an ideal law that publishes θ* itself. A comparison of two runs needs
    both: of two tables, of one table in two orders, or with and without a record that has been erased.

    Args:
        gradient_tolerance: γ, the upper bound on the certified gradient norm, including float errors.
        strong_convexity: m.
        grid: h, step of the grid.
        dimension: d.
    """
    return (2 * gradient_tolerance / strong_convexity + grid * math.sqrt(dimension)) * (1 + 8 * UNIT)


def inexact_rate(*, spread: float, output_noise: float) -> float:
    """Return ζ²/(2τ²) = μ_γ²/2, the Rényi cost per unit of order."""
    return _square(spread, output_noise) / 2


def inexact_gdp(*, spread: float, output_noise: float, grid: float) -> float:
    """Return μ_γ = ζ/√(τ² − 144h²), rounded up; infinite if τ is at most twelve steps of the grid."""
    left = output_noise**2 - (SMOOTHING * grid) ** 2
    if not left > 0:
        return math.inf if spread else 0.0
    return math.sqrt(_square(spread, math.sqrt(left)))


def _square(spread: float, deviation: float) -> float:
    if not deviation > 0:
        return math.inf if spread else 0.0
    return (spread / deviation) ** 2 * (1 + 16 * UNIT)


def tolerance_for(*, rate: float, output_noise: float, strong_convexity: float, grid: float, dimension: float) -> float:
    """Return the largest γ with `inexact_rate` at most `rate`, rounded down; 0 if the grid alone costs more."""
    free = output_noise * math.sqrt(2 * rate) * (1 - 32 * UNIT) - grid * math.sqrt(dimension) * (1 + 8 * UNIT)
    return strong_convexity / 2 * free * (1 - 32 * UNIT) if free > 0 else 0.0


def output_noise(*, share: float, noise: float, records: float, dimension: float, hessian_trace: float) -> float:
    """Return τ = √share (s/n) d/tr, which costs at most about `share` of the expected excess risk.

    tr is the largest trace of the objective's Hessian, β_tr + dλ. The bound follows from tr H⁻¹ ≥ d²/tr H (Jensen),
    compared with τ²·tr H.
    """
    return math.sqrt(share) * noise / records * dimension / hessian_trace


# --- noise shape ---
#
# Public shapes Σ = diag(v) for the noise of objective perturbation, computed from the schema alone.
#
# Every theorem holds for b ~ N(0, s² Σ) with Δ = s · sup ‖Σ^{-1/2}(g − g′)‖: in coordinates Σ^{-1/2}, a row x has norm
# √(xᵀΣ⁻¹x), while ρ is unchanged (xᵀH⁻¹x). So any Σ with xᵀΣ⁻¹x ≤ R² for every allowed row has the same Δ as Σ = I.
#
# One-hot schema: G blocks of k_g categories, optionally the constant column (a block of one), j numbers in [−1, 1];
# rows are divided by their norm, R = 1. With N blocks in all and S = Σ√k over them,
#
#     v = S/(N√k_g) on block g,   1 on numbers:    xᵀΣ⁻¹x = (N + Σv²)/(N + Σv²) = 1   if every block is hot,
#     tr Σ = S²/N + j ≤ Σk + j                     (Cauchy; these v minimise it)
#
# A row with a cold block, divided by its own norm, may have up to xᵀΣ⁻¹x = S/(N' min…) > 1. So every block needs an
# "unknown" category, and a curator rejects a table with a row that is longer than R in this shape. Columns of a
# category that may be cold can also be treated as numbers, v = 1: their contribution is then that to ‖x‖², for any
# content. Several outputs: I_K ⊗ Σ.


def block_variances(*, categories: Sequence[float], constant: bool = True) -> tuple[float, ...]:
    """Return v of each one-hot block in order; with `constant`, that of the constant column comes last.

    Args:
        categories: k_g of each block, including its "unknown" category.
        constant: Whether the table has a constant column.
    """
    roots = [math.sqrt(k) for k in (*categories, *((1,) if constant else ()))]
    return tuple(math.fsum(roots) / (len(roots) * root) for root in roots)


def column_variances(*, blocks: Sequence[int]) -> tuple[float, ...]:
    """Return v of every column.

    Args:
        blocks: Columns in order: k for a one-hot block of k columns that always has one hot column (1 for the constant
            column), and 0 for any other column, which counts like a number. A block whose categories may all be cold is
            given as one 0 for each of its columns.
    """
    hot = iter(block_variances(categories=[k for k in blocks if k], constant=False))
    return tuple(v for k in blocks for v in ((next(hot),) * k if k else (1.0,)))


# --- ridge ---
#
# The ridge of the forecast: a larger λ′ instead of λ if the noise would dominate the model along flat directions.
#
# With L_λ(θ) = ℓ(θ) + (λ/2)‖θ‖², λ′ ≥ λ, and θ* the minimizer of L_λ, every θ satisfies
#
#     L_λ(θ) − L_λ(θ*) ≤ L_λ′(θ) − min L_λ′ + (λ′ − λ)‖θ*‖²/2
#
# since L_λ(θ) = L_λ′(θ) − (λ′−λ)‖θ‖²/2 and min L_λ′ ≤ L_λ′(θ*) = L_λ(θ*) + (λ′−λ)‖θ*‖²/2. So the cost of a model in the
# requested objective is the cost of the noise at λ′, F(λ′), plus at most (λ′−λ)B²/2 if ‖θ*‖ ≤ B. F decreases in λ′. The
# ridge with
#
#     F(λ′) = λ′B²/2
#
# costs at most twice the best one (for smaller λ′, F alone is larger than here; for larger λ′, λ′B²/2 is). For noise of
# cost a/(2λ′) it is exactly the best one, λ′ = √a/B: a = d(s/n)² for objective perturbation and, to first order in the
# step size, for Noisy GD, where s is Δ over μ. It depends only on public numbers.


_FACTOR = 4.0  # ratio of successive trials until the balance is bracketed


def ridge_cost(*, requested: float, used: float, model_norm: float) -> float:
    """Return (λ′ − λ)B²/2: the largest cost of using λ′ instead of λ, in the objective with λ, if ‖θ*‖ ≤ B."""
    return (used - requested) * model_norm**2 / 2


def balanced_ridge(
    cost: Callable[[float], float], *, regularization: float, model_norm: float, most: float, accuracy: float = 0.01
) -> float:
    """Return the smallest λ′ ≥ λ with F(λ′) ≤ λ′B²/2; infinite if there is none up to `most`.

    Args:
        cost: F, a decreasing function; infinite where no plan exists.
        regularization: λ.
        model_norm: B, the bound on ‖θ*‖.
        most: Largest λ′ to consider.
        accuracy: Relative width of the final bracket; the result is its upper end.
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

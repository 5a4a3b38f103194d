"""Tight Gaussian DP bounds of Noisy GD by shifted interpolation (Bok, Su & Altschuler, ICML 2024).

φ_D(θ) = θ − η∇L_D(θ) is c-Lipschitz, c = 1 − ηm, for η ≤ 2/(m+M), where m = λ − β₋ > 0 and M = λ + β₊ (convex
losses: β₋ = 0, so m = λ and the condition is η ≤ 2/(2λ+β)). Two runs that differ in one record move apart by at
most s = ηΔ/n per step while the record is present and by nothing after its removal. The noise per coordinate and step
is τ = σ√(2η).

With shifts a_k ≥ 0 that reduce the distance z_{k+1} = c z_k + s_{k+1} − a_{k+1} to z_t = 0, the final iterates are
μ-GDP with μ² = Σ a_k²/τ². The minimum has a_k ∝ c^{t−k}; its path keeps z_k ≥ 0 in every case below.

All bounds are in real arithmetic. They are *equalities* for the linear loss from a common fixed start, so no
certificate for the same pair of datasets can be smaller. μ-GDP gives R_q ≤ q μ²/2 for every order, in both directions.

| API name         | symbol | meaning                                              |
|------------------|--------|------------------------------------------------------|
| strong_convexity | m      | of the regularized objective: λ − β₋                 |
| sensitivity      | Δ      | norm of the difference of the gradient sums          |
| step_size        | η      | step size                                            |
| noise_variance   | σ²     | noise per step is N(0, 2ησ² I)                       |
| gradient_tolerance | γ    | certified bound on the solver's final gradient norm  |

Example:
    >>> from noisygd_delete.bounds import shifted_interpolation
    >>> chain = {"sensitivity": 1.0, "step_size": 0.5, "strong_convexity": 0.1, "noise_variance": 1e-4, "records": 1000}
    >>> round(shifted_interpolation.gdp(**chain, steps_with_record=100), 4)
    0.3104
    >>> round(shifted_interpolation.gdp(**chain, steps_with_record=100, steps_without_record=50), 4)
    0.0239
"""

from __future__ import annotations

import math


def largest_step_size(*, strong_convexity: float, objective_smoothness: float) -> float:
    """Return 2/(m+M), the largest step size for which φ_D contracts by 1 − ηm (Lemma G.12; C^{1,1} suffices)."""
    return 2 / (strong_convexity + objective_smoothness)


def _log_contraction(step_size: float, strong_convexity: float) -> float:
    """Return log c, accurate for tiny ηm; −inf if ηm = 1."""
    decrease = step_size * strong_convexity
    return math.log1p(-decrease) if decrease < 1 else -math.inf


def _one_minus_power(log_contraction: float, steps: float) -> float:
    """Return 1 − c^steps without cancellation."""
    if steps == 0:
        return 0.0
    return -math.expm1(steps * log_contraction)


def gdp_limit(
    *, sensitivity: float, step_size: float, strong_convexity: float, noise_variance: float, records: float
) -> float:
    """Return μ_∞ = Δ sqrt((1 − ηm/2)/(m σ²))/n, the supremum over any number of steps with the record present."""
    return (
        sensitivity / records * math.sqrt((1 - step_size * strong_convexity / 2) / (strong_convexity * noise_variance))
    )


def gdp(
    *,
    sensitivity: float,
    step_size: float,
    strong_convexity: float,
    noise_variance: float,
    records: float,
    steps_with_record: float,
    steps_without_record: float = 0,
) -> float:
    """Return μ(T, K) of the last iterate, for a record present for T steps from a common start and then absent for K.

    μ² = (s²/τ²) c^{2K} (1 − c^T)² (1 − c²) / ((1 − c)² (1 − c^{2(T+K)})), increasing in T, decreasing in K.

    Args:
        sensitivity: Δ.
        step_size: η ≤ 2/(m+M).
        strong_convexity: m.
        noise_variance: σ².
        records: n.
        steps_with_record: T; `math.inf` gives the supremum c^K μ_∞, and 0 gives 0 (the record was never used).
        steps_without_record: K.
    """
    if steps_with_record == 0:
        return 0.0
    log_c = _log_contraction(step_size, strong_convexity)
    # (s/τ)² (1 − c²)/(1 − c)² = (ηΔ/n)²/(2ησ²) · (2 − ηm)/(ηm) = μ_∞²
    limit = gdp_limit(
        sensitivity=sensitivity,
        step_size=step_size,
        strong_convexity=strong_convexity,
        noise_variance=noise_variance,
        records=records,
    )
    decay = math.exp(steps_without_record * log_c) if steps_without_record else 1.0
    present = _one_minus_power(log_c, steps_with_record)
    everything = _one_minus_power(log_c, 2 * (steps_with_record + steps_without_record))
    return limit * decay * present / math.sqrt(everything)


def noise_variance(
    *, gdp: float, sensitivity: float, step_size: float, strong_convexity: float, records: float
) -> float:
    """Return σ² = Δ²(1 − ηm/2)/(m μ² n²), which gives μ-GDP for every number of steps.

    With μ² = 2ε_dp/q this is the Rényi calibration.
    """
    return sensitivity**2 * (1 - step_size * strong_convexity / 2) / (strong_convexity * gdp**2 * records**2)


def deletion_steps(*, gdp_before: float, gdp_after: float, step_size: float, strong_convexity: float) -> int:
    """Return K_Ā = ceil(log(μ_before/μ_after)/log(1/c)), the smallest K with c^K μ_before ≤ μ_after.

    The result is checked after rounding.

    Args:
        gdp_before: μ_∞ at the *deletion* sensitivity.
        gdp_after: Target μ.
        step_size: η.
        strong_convexity: m.

    Returns:
        K; 0 if `gdp_before` ≤ `gdp_after` (the planner still takes one step whenever ε_dd < ε_dp).
    """
    if gdp_before <= gdp_after:
        return 0
    log_c = _log_contraction(step_size, strong_convexity)
    steps = math.ceil(math.log(gdp_before / gdp_after) / -log_c)
    while math.exp(steps * log_c) * gdp_before > gdp_after * (1 + 1e-13):
        steps += 1
    return max(1, steps)


def stationary_distance(*, dimension: float, noise_variance: float, strong_convexity: float, step_size: float) -> float:
    """Return V_∞ = dσ²/(m(1 − ηm/2)), a bound on the stationary E‖θ − θ*‖²."""
    return dimension * noise_variance / (strong_convexity * (1 - step_size * strong_convexity / 2))


def distance_after(
    *, distance_before: float, move: float, steps: float, step_size: float, strong_convexity: float, stationary: float
) -> float:
    """Return V ≤ c^{2K}(√V_before + move)² + (1 − c^{2K})V_∞, if the minimizer moved by at most `move`."""
    forgotten = _one_minus_power(2 * _log_contraction(step_size, strong_convexity), steps)
    return (1 - forgotten) * (math.sqrt(distance_before) + move) ** 2 + forgotten * stationary


def excess_risk(*, distance: float, objective_smoothness: float) -> float:
    """Return the excess risk bound err ≤ (M/2) · E‖θ − θ*‖²."""
    return objective_smoothness / 2 * distance


def minimiser_move(*, lipschitz: float, strong_convexity: float, records: float, batch: float) -> float:
    """Return s_r = rΔ/(mn), the largest move of the minimizer when r rows are replaced (Δ = 2L of one row)."""
    return 2 * lipschitz * batch / (strong_convexity * records)


def minimiser_dp_gdp(
    *,
    sensitivity: float,
    step_size: float,
    strong_convexity: float,
    noise_variance: float,
    records: float,
    steps: float,
    gradient_tolerance: float,
) -> float:
    """Return μ_dp of output perturbation followed by noisy steps (K ≥ 1 steps from the solver's answer).

    μ_dp = (Δ + 2γn c^K) sqrt((1 − ηm/2)/(mσ²n²(1 − c^{2K}))), from z_0 = Δ/(mn) + 2γ/m and a gap s at every step. K = 1
    is output perturbation; K → ∞ recovers `gdp_limit`.
    """
    log_c = _log_contraction(step_size, strong_convexity)
    widened = sensitivity + 2 * gradient_tolerance * records * math.exp(steps * log_c)
    limit = gdp_limit(
        sensitivity=widened,
        step_size=step_size,
        strong_convexity=strong_convexity,
        noise_variance=noise_variance,
        records=records,
    )
    return limit / math.sqrt(_one_minus_power(log_c, 2 * steps))


def minimiser_noise_variance(
    *,
    gdp: float,
    sensitivity: float,
    step_size: float,
    strong_convexity: float,
    records: float,
    steps: float,
    gradient_tolerance: float,
) -> float:
    """Return the smallest σ² with `minimiser_dp_gdp` ≤ μ: `noise_variance` at the widened Δ, times 1/(1 − c^{2K})."""
    log_c = _log_contraction(step_size, strong_convexity)
    widened = sensitivity + 2 * gradient_tolerance * records * math.exp(steps * log_c)
    chain = {"step_size": step_size, "strong_convexity": strong_convexity, "records": records}
    return noise_variance(gdp=gdp, sensitivity=widened, **chain) * noise_inflation(
        steps=steps, step_size=step_size, strong_convexity=strong_convexity
    )


def noise_inflation(*, steps: float, step_size: float, strong_convexity: float) -> float:
    """Return 1/(1 − c^{2K}), the factor on the noise variance for K steps from the minimizer relative to K → ∞."""
    return 1 / _one_minus_power(_log_contraction(step_size, strong_convexity), 2 * steps)


def minimiser_deletion_gdp(
    *,
    step_size: float,
    strong_convexity: float,
    noise_variance: float,
    records: float,
    steps: float,
    gradient_tolerance: float,
) -> float:
    """Return μ of a deleted record after output perturbation with noisy steps from a *warm* start.

    Only the solver's tolerance contributes: z_0 = 2γ/m and no gap. A solver started from 0 leaves exactly nothing; the
    caller uses 0 then.
    """
    return minimiser_dp_gdp(
        sensitivity=0.0,
        step_size=step_size,
        strong_convexity=strong_convexity,
        noise_variance=noise_variance,
        records=records,
        steps=steps,
        gradient_tolerance=gradient_tolerance,
    )

"""Theorem 5.1 of Chourasia & Shah (ICML 2023) as printed, with G.7, G.9 and G.15 behind it.

Loss convex, twice differentiable, L-Lipschitz and β-smooth per record; objective (1/n) Σ ℓ + (λ/2)‖θ‖²;
θ_{k+1} = θ_k − η∇ + sqrt(2η) N(0, σ² I).

Every Rényi bound here has the form "ε_q = q · rate for every order q > 1", so the functions return the *rate*. A
rate is not a Gaussian-DP statement: never convert it to μ.

`sensitivity` is Δ, the bound on the difference of the gradient *sums* of the two worlds: 2L for replace, L for
zero-out, times the rows per data subject. With Δ = 2L the formulas are the printed ones letter by letter.

| API name       | letter | meaning                          |
|----------------|--------|----------------------------------|
| regularization | λ      | strong convexity of the objective |
| smoothness     | β      | of one record's loss             |
| lipschitz      | L      | of one record's loss             |
| records        | n      | slots, public and fixed          |
| step_size      | η      | step size                        |
| noise_variance | σ²     | noise variance before 2η         |
"""

from __future__ import annotations

import math


def condition_number(*, regularization: float, smoothness: float) -> float:
    """κ = (λ + β)/λ."""
    return (regularization + smoothness) / regularization


def step_size(*, regularization: float, smoothness: float) -> float:
    """η = 1/(2(λ + β)), Theorem 5.1."""
    return 1 / (2 * (regularization + smoothness))


def noise_variance(*, rate: float, sensitivity: float, regularization: float, records: float) -> float:
    """σ² = Δ²/(λ · rate · n²): Theorem 5.1's 4qL²/(λ ε_dp n²) with rate = ε_dp/q and Δ = 2L."""
    return sensitivity**2 / (regularization * rate * records**2)


def init_variance(*, noise_variance: float, regularization: float, step_size: float) -> float:
    """Variance per coordinate of ρ: σ²/(λ(1 − ηλ/2)), the stationary law of the regulariser alone."""
    return noise_variance / (regularization * (1 - step_size * regularization / 2))


def full_rate(*, sensitivity: float, regularization: float, noise_variance: float, records: float) -> float:
    """Δ²/(λσ²n²): the rate no number of steps can exceed (G.9 as K → ∞)."""
    return sensitivity**2 / (regularization * noise_variance * records**2)


def dp_rate(
    *, sensitivity: float, regularization: float, noise_variance: float, records: float, step_size: float, steps: float
) -> float:
    """Rényi DP of K steps from a common start, Theorem G.9: (Δ²/(λσ²n²))(1 − e^{−ληK/2}). Needs η < 1/(λ+β)."""
    full = full_rate(
        sensitivity=sensitivity, regularization=regularization, noise_variance=noise_variance, records=records
    )
    return full * -math.expm1(-regularization * step_size * steps / 2)


def deletion_rate(
    *,
    sensitivity: float,
    regularization: float,
    noise_variance: float,
    records: float,
    step_size: float,
    steps_with_record: float,
    steps_without_record: float,
) -> float:
    """G.15: what remains of a record after K clean steps, (Δ²/(λσ²n²))(1 − e^{−ληT/2}) e^{−ηλK/2}.

    `steps_with_record` is T, counted from the last point both worlds share (the initial law or an observed release);
    `math.inf` gives the printed statement.
    """
    present = dp_rate(
        sensitivity=sensitivity,
        regularization=regularization,
        noise_variance=noise_variance,
        records=records,
        step_size=step_size,
        steps=steps_with_record,
    )
    return present * math.exp(-step_size * regularization * steps_without_record / 2)


def deletion_steps(*, dp: float, deletion: float, regularization: float, step_size: float) -> int:
    """K_Ā ≥ (2/(ηλ)) log(ε_dp/ε_dd), which is (16)'s 4κ log(ε_dp/ε_dd) at the printed step size."""
    if deletion >= dp:
        return 0
    return max(1, math.ceil(2 / (step_size * regularization) * math.log(dp / deletion)))


def learn_steps_for_utility(
    *, rate: float, regularization: float, smoothness: float, records: float, dimension: float
) -> int:
    """(17): K_A ≥ 4κ log(ε_dp n²/(4qd)) with rate = ε_dp/q at Δ = 2L. For the printed step size only."""
    kappa = condition_number(regularization=regularization, smoothness=smoothness)
    return max(0, math.ceil(4 * kappa * math.log(rate * records**2 / (4 * dimension))))


def delete_steps_for_utility(
    *, rate: float, regularization: float, smoothness: float, dimension: float, batch: float
) -> int:
    """(17): K_Ā ≥ 4κ log max{5κ, 8 ε_dp r²/(qd)} with rate = ε_dp/q at Δ = 2L. For the printed step size only."""
    kappa = condition_number(regularization=regularization, smoothness=smoothness)
    return max(0, math.ceil(4 * kappa * math.log(max(5 * kappa, 8 * rate * batch**2 / dimension))))


def excess_risk(
    *, rate: float, lipschitz: float, regularization: float, smoothness: float, records: float, dimension: float
) -> float:
    """Theorem 5.1 (3): err ≤ 10 κ q d L²/(λ ε_dp n²) with rate = ε_dp/q, when both conditions of (17) hold."""
    kappa = condition_number(regularization=regularization, smoothness=smoothness)
    return 10 * kappa * dimension * lipschitz**2 / (regularization * rate * records**2)


def composition_rate(
    *, sensitivity: float, noise_variance: float, records: float, step_size: float, steps: float
) -> float:
    """G.7, no convexity: Δ²ηK/(4σ²n²), the printed qL²ηK/(σ²n²) at Δ = 2L."""
    return sensitivity**2 * step_size * steps / (4 * noise_variance * records**2)

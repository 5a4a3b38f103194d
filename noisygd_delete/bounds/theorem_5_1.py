"""Theorem 5.1 of Chourasia & Shah (ICML 2023) as printed, with Theorems G.7, G.9 and G.15 on which it rests.

Assumptions: the loss of each record is convex, twice differentiable, L-Lipschitz and β-smooth. The objective is
(1/n) Σ ℓ + (λ/2)‖θ‖², and θ_{k+1} = θ_k − η∇ + sqrt(2η) N(0, σ² I).

Every Rényi bound here has the form "ε_q = q · rate for every order q > 1", so the functions return the *rate*. A
rate is not a Gaussian DP guarantee and must not be converted to μ.

`sensitivity` is Δ, the bound on the difference of the gradient *sums* of neighbouring datasets: 2L for replace-one, L
for zero-out, times the rows per data subject. With Δ = 2L the formulas are exactly the printed ones.

| API name       | symbol | meaning                           |
|----------------|--------|-----------------------------------|
| regularization | λ      | strong convexity of the objective |
| smoothness     | β      | smoothness of one record's loss   |
| lipschitz      | L      | Lipschitz constant of one record's loss |
| records        | n      | dataset size, public and fixed    |
| step_size      | η      | step size                         |
| noise_variance | σ²     | noise variance before the factor 2η |

Example:
    >>> from noisygd_delete.bounds import theorem_5_1
    >>> theorem_5_1.step_size(regularization=0.5, smoothness=0.5)
    0.5
    >>> theorem_5_1.noise_variance(rate=0.01, sensitivity=2.0, regularization=0.5, records=1000)
    0.0008
"""

from __future__ import annotations

import math


def condition_number(*, regularization: float, smoothness: float) -> float:
    """Return κ = (λ + β)/λ."""
    return (regularization + smoothness) / regularization


def step_size(*, regularization: float, smoothness: float) -> float:
    """Return η = 1/(2(λ + β)) (Theorem 5.1)."""
    return 1 / (2 * (regularization + smoothness))


def noise_variance(*, rate: float, sensitivity: float, regularization: float, records: float) -> float:
    """Return σ² = Δ²/(λ · rate · n²).

    This is Theorem 5.1's 4qL²/(λ ε_dp n²) with rate = ε_dp/q and Δ = 2L.
    """
    return sensitivity**2 / (regularization * rate * records**2)


def init_variance(*, noise_variance: float, regularization: float, step_size: float) -> float:
    """Return the variance per coordinate of ρ, σ²/(λ(1 − ηλ/2)): the stationary law of the regularizer alone."""
    return noise_variance / (regularization * (1 - step_size * regularization / 2))


def full_rate(*, sensitivity: float, regularization: float, noise_variance: float, records: float) -> float:
    """Return Δ²/(λσ²n²), the supremum of the rate over any number of steps (G.9 as K → ∞)."""
    return sensitivity**2 / (regularization * noise_variance * records**2)


def dp_rate(
    *, sensitivity: float, regularization: float, noise_variance: float, records: float, step_size: float, steps: float
) -> float:
    """Return the Rényi DP rate of K steps from a common start, (Δ²/(λσ²n²))(1 − e^{−ληK/2}) (Theorem G.9).

    Requires η < 1/(λ+β).
    """
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
    """Return the rate that a record contributes after K steps without it (Theorem G.15).

    The rate is (Δ²/(λσ²n²))(1 − e^{−ληT/2}) e^{−ηλK/2}.

    Args:
        sensitivity: Δ.
        regularization: λ.
        noise_variance: σ².
        records: n.
        step_size: η.
        steps_with_record: T, counted from the last common point of the two runs (the initial law or an observed
            release); `math.inf` gives the printed bound.
        steps_without_record: K.
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
    """Return the smallest K_Ā ≥ (2/(ηλ)) log(ε_dp/ε_dd).

    At the printed step size this is 4κ log(ε_dp/ε_dd) of (16).
    """
    if deletion >= dp:
        return 0
    return max(1, math.ceil(2 / (step_size * regularization) * math.log(dp / deletion)))


def learn_steps_for_utility(
    *, rate: float, regularization: float, smoothness: float, records: float, dimension: float
) -> int:
    """Return the smallest K_A ≥ 4κ log(ε_dp n²/(4qd)) of (17), with rate = ε_dp/q at Δ = 2L.

    Valid for the printed step size only.
    """
    kappa = condition_number(regularization=regularization, smoothness=smoothness)
    return max(0, math.ceil(4 * kappa * math.log(rate * records**2 / (4 * dimension))))


def delete_steps_for_utility(
    *, rate: float, regularization: float, smoothness: float, dimension: float, batch: float
) -> int:
    """Return the smallest K_Ā ≥ 4κ log max{5κ, 8 ε_dp r²/(qd)} of (17), with rate = ε_dp/q at Δ = 2L.

    Valid for the printed step size only.
    """
    kappa = condition_number(regularization=regularization, smoothness=smoothness)
    return max(0, math.ceil(4 * kappa * math.log(max(5 * kappa, 8 * rate * batch**2 / dimension))))


def excess_risk(
    *, rate: float, lipschitz: float, regularization: float, smoothness: float, records: float, dimension: float
) -> float:
    """Return the bound err ≤ 10 κ q d L²/(λ ε_dp n²) of Theorem 5.1 (3), with rate = ε_dp/q.

    It holds if both conditions of (17) are met.
    """
    kappa = condition_number(regularization=regularization, smoothness=smoothness)
    return 10 * kappa * dimension * lipschitz**2 / (regularization * rate * records**2)


def composition_rate(
    *, sensitivity: float, noise_variance: float, records: float, step_size: float, steps: float
) -> float:
    """Return the rate by composition, Δ²ηK/(4σ²n²) (Theorem G.7, no convexity required).

    At Δ = 2L this is the printed qL²ηK/(σ²n²).
    """
    return sensitivity**2 * step_size * steps / (4 * noise_variance * records**2)

"""The ridge of the forecast: a larger λ′ in the place of λ, where the noise would carry the model away along flat directions.

With L_λ(θ) = ℓ(θ) + (λ/2)‖θ‖², λ′ ≥ λ, and θ* the minimiser of L_λ, every θ has

    L_λ(θ) − L_λ(θ*) ≤ L_λ′(θ) − min L_λ′ + (λ′ − λ)‖θ*‖²/2

since L_λ(θ) = L_λ′(θ) − (λ′−λ)‖θ‖²/2 and min L_λ′ ≤ L_λ′(θ*) = L_λ(θ*) + (λ′−λ)‖θ*‖²/2. So what a model costs in the objective
asked for is what the noise costs at λ′, F(λ′), plus at most (λ′−λ)B²/2 for a norm ‖θ*‖ ≤ B. F falls with λ′: the ridge where

    F(λ′) = λ′B²/2

costs at most twice the best one (to the left of it F alone is larger than here, to the right λ′B²/2 is). For noise whose cost is
a/(2λ′) it is the best one exactly, λ′ = √a/B: a = d(s/n)² for objective perturbation (`objective_perturbation.forecast_ridge`) and,
to first order in the step size, for Noisy-GD, where s is Δ over μ. Nothing but public numbers enters.
"""

from __future__ import annotations

import math
from collections.abc import Callable

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

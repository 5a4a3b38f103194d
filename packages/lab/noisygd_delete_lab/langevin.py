"""Step counts of Chien et al. (NeurIPS 2024, two papers) for the same noisy gradient descent, as rival certificates.

Langevin unlearning: after K steps from a chain that has converged on the old data,
    R_q ≤ (4qS²L²/(mσ²n²)) · exp(−ηmK/q),         S records per request.
Noisy-SGD unlearning at full batch: the two chains start at most D = s/(1−c) apart and
    R_q ≤ q D² c^{2K}(1 − c²)/(τ²(1 − c^{2K})),   τ² = 2ησ², s = ηΔ/n, c = 1 − ηm.
D²(1−c²)/τ² is this package's μ_∞², so the second is 2/(1 − c^{2K}) times the tight qμ_∞²c^{2K}/2, the fair comparison.
The first decays q times more slowly than a factor e^{−ηm} per step.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar

from noisygd_delete.bounds.arithmetic import least_whole
from noisygd_delete.bounds.renyi import renyi_epsilon
from noisygd_delete.errors import PlanInfeasible
from noisygd_delete.methods.plan import Plan

from .base import Certificate, Held
from .noisy_gd import NoisyGD

_ORDERS = tuple(1 + 10 ** (exponent / 16) for exponent in range(-16, 65))


def langevin_renyi(
    *,
    order: float,
    lipschitz: float,
    strong_convexity: float,
    noise_variance: float,
    records: float,
    step_size: float,
    steps: float,
    removed: float = 1,
) -> float:
    """Return R_q of Langevin unlearning after K steps."""
    start = 4 * order * (removed * lipschitz) ** 2 / (strong_convexity * noise_variance * records**2)
    return start * math.exp(-step_size * strong_convexity * steps / order)


def noisy_sgd_renyi(
    *,
    order: float,
    sensitivity: float,
    strong_convexity: float,
    noise_variance: float,
    records: float,
    step_size: float,
    steps: float,
) -> float:
    """Return R_q of noisy-SGD unlearning at full batch after K steps; ∞ at K = 0 (it ignores the noise of learning).

    R_q = q (Δ/(nm))² c^{2K} (1 − c²)/(1 − c^{2K})/(2ησ²) with c = 1 − ηm.
    """
    if steps == 0:
        return math.inf
    log_c = math.log1p(-step_size * strong_convexity)
    distance = sensitivity / (records * strong_convexity)  # s/(1 − c)
    lost = -math.expm1(2 * log_c) / -math.expm1(2 * steps * log_c)
    return order * distance**2 * math.exp(2 * steps * log_c) * lost / (2 * step_size * noise_variance)


def least_steps(renyi: Callable[[float, int], float], *, epsilon: float, delta: float) -> int:
    """Return the least K ≥ 1 for which some order turns `renyi(order, K)`, decreasing in K, into (ε, δ).

    Raises:
        PlanInfeasible: If more than 2⁴⁰ steps are needed.
    """

    def enough(steps: int) -> bool:
        return any(renyi_epsilon(order=order, renyi=renyi(order, steps), delta=delta) <= epsilon for order in _ORDERS)

    steps = least_whole(enough, most=1 << 40)
    if steps is None:
        raise PlanInfeasible(f"more than 2^40 steps for (ε={epsilon:g}, δ={delta:g})")
    return steps


class LangevinUnlearning(NoisyGD):
    """Noisy-GD with the step count of Langevin unlearning."""

    name: ClassVar[str] = "Langevin unlearning"
    source: ClassVar[str] = "Chien et al., Langevin Unlearning (NeurIPS 2024)"
    guarantees: ClassVar[str] = "(ε, δ) closeness to retraining, per request"
    does_not_guarantee: ClassVar[str] = "adaptive requests: not treated in the paper"

    def __init__(self, plan: Plan, *, epsilon: float, delta: float) -> None:
        self.epsilon = epsilon
        facts = {
            "lipschitz": plan.problem.loss.constants.lipschitz,
            "strong_convexity": plan.problem.strong_convexity,
            "noise_variance": plan.calibration.noise_variance,
            "records": plan.problem.records,
            "step_size": plan.calibration.step_size,
        }
        steps = least_steps(
            lambda order, k: langevin_renyi(order=order, steps=k, **facts), epsilon=epsilon, delta=delta
        )
        super().__init__(plan, delta=delta)
        self.plan = self.with_delete_steps(steps)

    def certificate(self, held: Held) -> Certificate:
        return Certificate(
            deletion=(self.epsilon, self.delta),
            existing=(self.plan.dp.epsilon(self.delta), self.delta),
            adaptive=False,
            basis=self.source,
            caveats=("the chain before the request has converged on the old data", "x or x′ (replace)"),
        )


class NoisySGDUnlearning(LangevinUnlearning):
    """Noisy-GD with the step count of projected noisy-SGD unlearning at full batch."""

    name: ClassVar[str] = "noisy-SGD unlearning"
    source: ClassVar[str] = "Chien et al., Certified Machine Unlearning via Noisy SGD (NeurIPS 2024), full batch"

    def __init__(self, plan: Plan, *, epsilon: float, delta: float) -> None:
        self.epsilon = epsilon
        facts = {
            "sensitivity": 2 * plan.problem.loss.constants.lipschitz,
            "strong_convexity": plan.problem.strong_convexity,
            "noise_variance": plan.calibration.noise_variance,
            "records": plan.problem.records,
            "step_size": plan.calibration.step_size,
        }
        steps = least_steps(
            lambda order, k: noisy_sgd_renyi(order=order, steps=k, **facts), epsilon=epsilon, delta=delta
        )
        NoisyGD.__init__(self, plan, delta=delta)
        self.plan = self.with_delete_steps(steps)

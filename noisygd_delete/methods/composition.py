"""Plans under composition: no convexity, no smoothness, and nothing is forgotten before a fresh learn."""

from __future__ import annotations

import math
from typing import Any

from ..bounds import theorem_5_1, theorem_5_2
from ..errors import InvalidParameter
from .plan import Plan
from .problem import Problem

FRESH_LEARN = ("demand", "automatic")

_LEARNING_TIME = 3.0  # ηK_A in units of 1/λ: what the regulariser needs to forget all but e^{−3} of the start
_REQUEST_SHARE = 20  # a request takes a twentieth of learning, to follow the moved minimiser


def plan_composition(problem: Problem) -> Plan:
    """σ² such that every noisy step that a record can take part in costs at most both budgets together.

    A record present for T steps since the last fresh learn costs μ² = Δ²ηT/(2σ²n²). dp: any one release, the last before a
    fresh learn included, whether the ones before it were observed or not; or `releases` of them, fresh learns among them.
    Deletion: K_A and `requests_per_learn` − 1 requests before the erasure, at the deletion notion's Δ.
    """
    if not math.isfinite(problem.loss.constants.lipschitz):
        raise InvalidParameter(f"the {problem.loss.name} loss has no Lipschitz constant; clip its gradients to L")
    eta = 1 / problem.objective_smoothness if problem.step_size is None else problem.step_size
    learn = problem.learn_steps or max(1, math.ceil(_LEARNING_TIME / (eta * problem.regularization)))
    delete = problem.delete_steps or max(1, learn // _REQUEST_SHARE)
    learns = -(-problem.releases // (problem.requests_per_learn + 1))
    published = learns * max(learn, delete) + (problem.releases - learns) * delete
    if problem.releases == 1:
        published = learn + problem.requests_per_learn * delete
    wanted = learn + (problem.requests_per_learn - 1) * delete
    facts: dict[str, Any] = {"records": problem.records, "step_size": eta}
    unit = problem.mechanism(step_size=eta, noise_variance=1.0)

    def least(gdp: float, adjacency: str, steps: int) -> float:
        sensitivity = unit.sensitivity(adjacency)
        rate = theorem_5_1.composition_rate(sensitivity=sensitivity, noise_variance=1.0, steps=steps, **facts)
        return 2 * rate / gdp**2

    calibrated = max(
        least(problem.dp_gdp(), problem.adjacency, published),
        least(problem.deletion_gdp(), problem.deletion_notion, wanted),
    ) * (1 + 1e-12)
    noise_variance = calibrated if problem.noise_variance is None else float(problem.noise_variance)
    if not noise_variance >= calibrated * (1 - 1e-11):
        raise InvalidParameter(
            f"noise_variance={noise_variance:g} is below {calibrated:g}, the least that meets both budgets over "
            f"{problem.requests_per_learn} requests; leave it out, raise it, or ask for fewer requests_per_learn"
        )

    def horizon(gdp: float, adjacency: str) -> int:
        return theorem_5_2.composition_horizon(
            rate=gdp**2 / 2, sensitivity=unit.sensitivity(adjacency), noise_variance=noise_variance, **facts
        )

    spent = horizon(problem.deletion_gdp(), problem.deletion_notion)
    if problem.releases == 1:  # else the accountant adds up what was published
        spent = min(spent, horizon(problem.dp_gdp(), problem.adjacency) - delete)
    # any initial law that does not depend on the data will do; a network brings one of its own
    stationary = theorem_5_1.init_variance(
        noise_variance=noise_variance, regularization=problem.regularization, step_size=eta
    )
    return Plan(
        problem=problem,
        step_size=eta,
        noise_variance=noise_variance,
        init_variance=getattr(problem.loss, "init_variance", stationary),
        learn_steps=learn,
        delete_steps_for_deletion=delete,
        delete_steps_for_utility=0,
        horizon=spent,
    )

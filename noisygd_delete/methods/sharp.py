"""Plans under the tight certificate: same algorithm, half the noise variance, far fewer steps."""

from __future__ import annotations

import math

from ..bounds import shifted_interpolation, theorem_5_1
from ..errors import AssumptionViolated
from ..privacy.guarantee import Guarantee
from .calibration import calibrate
from .plan import Plan
from .problem import Problem


def contracting_step_size(problem: Problem) -> float:
    """η: the caller's, checked, or 1/(λ+β)."""
    eta = 1 / problem.objective_smoothness if problem.step_size is None else problem.step_size
    limit = shifted_interpolation.largest_step_size(
        strong_convexity=problem.strong_convexity, objective_smoothness=problem.objective_smoothness
    )
    if not eta <= limit:
        raise AssumptionViolated(
            f"step_size={eta:g} must be at most 2/(2λ+β)={limit:g}: beyond it a step may expand distances"
        )
    return eta


def plan_sharp(problem: Problem) -> Plan:
    """σ² from μ_∞, K_Ā from μ's decay, utility from the contraction of E‖θ − θ*‖²; η = 1/(λ+β) unless told otherwise.

    Larger η up to 2/(m+M) contracts faster but widens the stationary law (σ²/(h(1 − ηh/2)) along curvature h), so it is
    left to the caller.
    """
    constants, m = problem.loss.constants, problem.strong_convexity
    eta = contracting_step_size(problem)
    budget_dp, budget_deletion = problem.budget.dp_gdp(), problem.budget.deletion_gdp()
    chain = {"step_size": eta, "strong_convexity": m}
    move = shifted_interpolation.minimiser_move(
        lipschitz=constants.lipschitz, strong_convexity=m, records=problem.records, batch=problem.batch
    )

    def complete(noise_variance: float) -> Plan:
        mechanism = problem.mechanism(step_size=eta, noise_variance=noise_variance)
        before = shifted_interpolation.gdp_limit(
            sensitivity=mechanism.sensitivity(problem.deletion_notion),
            noise_variance=noise_variance,
            records=problem.records,
            **chain,
        )
        stationary = shifted_interpolation.stationary_distance(
            dimension=problem.dimension, noise_variance=noise_variance, **chain
        )
        init_variance = theorem_5_1.init_variance(noise_variance=noise_variance, regularization=m, step_size=eta)
        # ‖θ*‖ ≤ L/λ: at the minimiser λθ* is minus a mean of gradients of norm at most L
        farthest = math.sqrt(problem.dimension * init_variance) + constants.lipschitz / problem.regularization
        kept = (math.sqrt((1 + problem.utility_tolerance) * stationary) + move) ** 2
        target = {"tolerance": problem.utility_tolerance, "stationary": stationary, **chain}
        return Plan(
            problem=problem,
            step_size=eta,
            noise_variance=noise_variance,
            init_variance=init_variance,
            learn_steps=max(1, shifted_interpolation.steps_to_distance(distance_before=farthest**2, **target)),
            delete_steps_for_deletion=max(
                shifted_interpolation.deletion_steps(gdp_before=before, gdp_after=budget_deletion, **chain),
                problem.budget.least_delete_steps,
            ),
            delete_steps_for_utility=shifted_interpolation.steps_to_distance(distance_before=kept, **target)
            if problem.utility
            else 0,
        )

    def affordable(together: Guarantee) -> bool:
        return together.gdp_squared <= budget_dp**2

    single = shifted_interpolation.noise_variance(
        gdp=budget_dp,
        sensitivity=problem.mechanism(step_size=eta, noise_variance=1.0).sensitivity(problem.adjacency),
        records=problem.records,
        **chain,
    )
    return calibrate(problem, single, complete, affordable)

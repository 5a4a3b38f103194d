"""Plans under the tight certificate: same algorithm, half the noise variance, far fewer steps."""

from __future__ import annotations

import math
from dataclasses import replace

from ..bounds import shifted_interpolation, theorem_5_1, utility
from ..errors import AssumptionViolated, PlanInfeasible
from ..privacy.guarantee import Guarantee
from .calibration import calibrate, published_together
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
    by_tolerance = problem.utility and problem.excess_risk is None
    budget_dp, budget_deletion = problem.dp_gdp(), problem.deletion_gdp()
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
                1,  # the same weights again have forgotten nothing
            ),
            delete_steps_for_utility=shifted_interpolation.steps_to_distance(distance_before=kept, **target)
            if by_tolerance
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


def stationary_excess(plan: Plan) -> float:
    """Excess risk of a release in the long run, where nothing is left of the start."""
    return utility.stationary_excess(
        dimension=plan.dimension,
        noise_variance=plan.noise_variance,
        step_size=plan.step_size,
        strong_convexity=plan.problem.strong_convexity,
        objective_smoothness=plan.problem.objective_smoothness,
    )


def reaching(plan: Plan, target: float) -> Plan:
    """The plan with enough steps that the excess risk of every release is at most `target`.

    Raises:
        PlanInfeasible: its noise alone costs more, or the steps cost more than the dp budget has.
    """
    problem, constants = plan.problem, plan.loss.constants
    smoothness = problem.objective_smoothness
    stationary = stationary_excess(plan)
    product = utility.stationary_product(
        dimension=plan.dimension,
        noise_variance=plan.noise_variance,
        step_size=plan.step_size,
        objective_smoothness=smoothness,
    )
    facts = {"stationary": stationary, "product": product, "objective_smoothness": smoothness}
    kept = utility.largest_distance(target=target, **facts)
    if not kept > 0:
        raise PlanInfeasible(
            f"excess_risk={target:g} cannot be promised at σ²={plan.noise_variance:.4g}: the bound is above {stationary:.4g}; ask for more "
            "than that, or for less noise",
            plan=plan,
        )
    moved = shifted_interpolation.minimiser_move(
        lipschitz=constants.lipschitz,
        strong_convexity=problem.strong_convexity,
        records=plan.records,
        batch=problem.batch,
    )
    # from the initial law to the stationary one: each lies around a point, ‖θ*‖ ≤ L/λ apart
    farthest = math.sqrt(plan.dimension * plan.init_variance) + math.sqrt(plan.stationary_distance)
    farthest += constants.lipschitz / problem.regularization
    chain = {"step_size": plan.step_size, "strong_convexity": problem.strong_convexity}
    complete = replace(
        plan,
        learn_steps=max(1, utility.steps_to_distance(before=farthest, after=kept, **chain)),
        delete_steps_for_utility=utility.steps_to_distance(before=kept + moved, after=kept, **chain),
    )
    if not published_together(complete).gdp_squared <= problem.dp_gdp() ** 2 * (1 + 1e-12):
        raise PlanInfeasible(
            f"the steps for excess_risk={target:g} cost more than the dp budget over {plan.releases} releases",
            plan=complete,
        )
    return complete

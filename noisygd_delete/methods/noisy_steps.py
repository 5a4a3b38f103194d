"""Shared by methods of noisy steps: the least noise within a budget, bounds on the excess risk, explanations."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..bounds import shifted_interpolation, utility
from ..bounds.arithmetic import least_safe
from ..errors import InvalidParameter
from ..privacy.guarantee import Guarantee
from .explanations import condition_number
from .forecast import Prospects
from .plan import Plan
from .problem import Problem


def outlook_of_steps(plan: Plan, excess_risk: float) -> Prospects:
    """Return the prospects of the plan's η and σ² with this bound on the excess risk (`Prospects.of_steps`)."""
    return Prospects.of_steps(
        plan.problem, plan.calibration.step_size, plan.calibration.noise_variance, excess_risk=excess_risk
    )


def contraction_risk(plan: Plan) -> float:
    """Return a bound on E[L_D(θ)] − min L_D of the learned model and all later ones, from the contraction of a step.

    It is `chain_risk` from the initial law, whose mean squared distance to the minimiser is at most d · init_variance +
    (L/λ)².
    """
    # ρ has mean 0, and ‖θ*‖ ≤ L/λ
    start = (
        plan.problem.dimension * plan.calibration.init_variance
        + (plan.problem.loss.constants.lipschitz / plan.problem.regularization) ** 2
    )
    return chain_risk(plan, start=start, learn_steps=plan.calibration.learn_steps)


def chain_risk(plan: Plan, *, start: float, learn_steps: int) -> float:
    """Return a bound on the excess risk of the learned model and of all models after requests of a chain.

    Args:
        plan: The plan, for η, σ², K_Ā and the constants of the problem.
        start: Upper bound on the mean squared distance of the first point to its minimiser.
        learn_steps: Steps of the learn.
    """
    problem, numbers = plan.problem, plan.calibration
    return utility.released_excess(
        start=start,
        learn_steps=learn_steps,
        delete_steps=numbers.delete_steps,
        move=minimiser_move(plan),
        dimension=plan.problem.dimension,
        hessian_trace=problem.hessian_trace,
        noise_variance=plan.calibration.noise_variance,
        step_size=plan.calibration.step_size,
        strong_convexity=problem.strong_convexity,
        objective_smoothness=problem.objective_smoothness,
    )


def minimiser_move(plan: Plan) -> float:
    """Return s_r = 2Lr/(mn), the distance that one request of r = `batch` edits may move the minimiser."""
    problem = plan.problem
    return shifted_interpolation.minimiser_move(
        lipschitz=problem.loss.constants.lipschitz,
        strong_convexity=problem.strong_convexity,
        records=problem.records,
        batch=problem.batch,
    )


def stationary_distance(plan: Plan) -> float:
    """Return V_∞ = dσ²/(m(1 − ηm/2)), a bound on E‖θ − θ*‖² after many steps."""
    return shifted_interpolation.stationary_distance(
        dimension=plan.problem.dimension,
        noise_variance=plan.calibration.noise_variance,
        strong_convexity=plan.problem.strong_convexity,
        step_size=plan.calibration.step_size,
    )


def explain_noise(plan: Plan) -> str:
    """Return a paragraph with σ², what determines it (Δ, λ, n, budget), and its cost in distance and loss."""
    delta = plan.problem.sensitivity(plan.problem.adjacency)
    share = math.sqrt(stationary_distance(plan))
    return (
        f"Noise: σ²={plan.calibration.noise_variance:.6g} at step size η={plan.calibration.step_size:.6g}. One record moves the gradient sum by at most "
        f"Δ={delta:g}; its trace fades at rate λ, so σ² is proportional to Δ²/(λ n² · budget): halving the budget or λ doubles it, "
        f"doubling n divides it by four. The released weights lie within about {share:.3g} of the minimiser (root mean square bound), "
        f"which costs at most {plan.outlook.excess_risk:.3g} in regularised loss."
    )


def explain_learning(plan: Plan, steps_per_factor: float) -> str:
    """Return a paragraph with K_A, its record gradients and the condition number that determines it.

    Args:
        plan: The plan.
        steps_per_factor: Steps that reduce the distance to the minimiser by a factor e.
    """
    return (
        f"Learning: K_A={plan.calibration.learn_steps} steps ({plan.count_gradients()['learn']} record gradients). The condition number "
        f"κ={condition_number(plan.problem):.4g} drives it: every factor e in distance to the minimiser costs about "
        f"{steps_per_factor:.4g} steps."
    )


def explain_deletion(plan: Plan) -> str:
    """Return a paragraph with K_Ā, its share of K_A, and which of forgetting and utility determines it."""
    problem, numbers = plan.problem, plan.calibration
    budget = problem.budget
    wanted = (
        f"from {budget.dp:g} to {budget.deletion:g}"
        if budget.measure != "epsilon-delta"
        else "down to the deletion budget"
    )
    wanted_utility = (
        f"utility over any number of requests of r={problem.batch} needs {numbers.delete_steps_for_utility}"
        if problem.utility
        else "no utility condition was set"
    )
    if problem.utility and numbers.delete_steps_for_utility > numbers.delete_steps_for_deletion:
        verdict = "Utility decides; leave that condition out to run the deletion condition alone"
    else:
        verdict = "Deletion decides"
    share = numbers.delete_steps / numbers.learn_steps if numbers.learn_steps else math.inf
    return (
        f"Deleting: K_Ā={numbers.delete_steps} steps per request, {share:.1%} of learning. Two conditions: forgetting ({wanted}) needs "
        f"{numbers.delete_steps_for_deletion}; {wanted_utility}. {verdict}."
    )


Complete = Callable[[float], Plan]


def calibrate_noise(
    problem: Problem,
    single: float,
    requested: float | str | None,
    complete: Complete,
    affordable: Callable[[Guarantee], bool],
    *,
    closed: bool = True,
) -> Plan:
    """Return the plan with the least σ² that meets the budget, or with the caller's σ² if it is large enough.

    More noise never costs more privacy (each step costs less, and fewer steps are needed), so the search brackets the
    crossing and returns the last value checked affordable.

    Args:
        problem: The planning problem.
        single: σ² that one release of any length needs; if not `closed`, an estimate of it.
        requested: The caller's σ², if any.
        complete: Returns the plan with its steps for a given σ².
        affordable: Returns whether a guarantee of all publications together is within the budget.
        closed: Whether `single` is exact for one release, so that no search is needed for it.

    Raises:
        InvalidParameter: If `requested` is a string, or below the least σ² that meets the dp budget.
    """
    if problem.releases == 1 and closed:
        plan = complete(single)
        least = single
    else:
        least = least_safe(
            lambda variance: affordable(complete(variance).dp_observed()),
            guess=single,
            below=single / 2,
            digits=1e-12,
        )
        plan = complete(least)
    if requested is None:
        return plan
    if isinstance(requested, str):
        raise InvalidParameter(
            "is for Theorem 5.2 (a non-convex loss); leave it out: here more noise saves no steps",
            noise_variance=requested,
        )
    if not requested >= least * (1 - 1e-12):
        raise InvalidParameter(
            f"is below {least:g}, the least that meets the dp budget; leave it out, raise it, or raise the budget",
            noise_variance=requested,
        )
    return complete(requested)

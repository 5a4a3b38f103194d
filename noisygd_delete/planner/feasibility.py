"""Plans that no machine can run: refused, with what other methods would take."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from ..errors import NoisyGDDeleteError, PlanInfeasible
from ..methods import Composition, Ladder, Sharp
from ..methods.plan import Plan
from ..methods.problem import Problem

MOST_PASSES = 10**12  # of the plans that are usually far below it: months on the smallest table


def runnable(plan: Plan) -> Plan:
    """The plan, unless no machine can run its steps.

    Raises:
        PlanInfeasible: more than `MOST_PASSES` passes over the table in a learn or in a request; carries the plan.
    """
    learn = plan.learn_solver_passes + plan.learn_steps
    delete = plan.delete_solver_passes + plan.delete_steps
    if max(learn, delete) <= MOST_PASSES:
        return plan
    raise PlanInfeasible(
        f"method {plan.method.name!r} needs {float(learn):.3g} passes over the table to learn and {float(delete):.3g} per request at "
        f"λ={plan.regularization:g} (condition number {plan.problem.objective_smoothness / plan.regularization:.3g}); the limit is "
        f"{float(MOST_PASSES):.0e}. Raise λ: steps grow in proportion to 1/λ",
        plan=plan,
        alternatives=("a larger regularization λ",),
    )


def with_rivals(error: PlanInfeasible, plan: Callable[[Problem], Plan]) -> PlanInfeasible:
    """The same refusal, with what the other methods for a non-convex loss would take."""
    if error.plan is None or error.plan.loss.constants.convex:
        return error
    rivals = tuple(_rivals(error.plan.problem, plan))
    return PlanInfeasible(
        "; ".join((str(error), *rivals)), plan=error.plan, alternatives=(*error.alternatives, *rivals)
    )


def _rivals(problem: Problem, plan: Callable[[Problem], Plan]) -> Iterable[str]:
    climbed = _steps(replace(problem, method=Ladder()), plan)
    if climbed:
        yield f"method 'ladder': {climbed}, no horizon; the ε_dd of its base stays"
    weak = problem.loss.constants.weak_convexity
    if problem.strong_convexity > 0:
        weakly = _steps(replace(problem, method=Sharp()), plan)
        if weakly:
            yield f"method 'sharp' (weakly convex: λ > β₋={weak:.3g}): {weakly}"
    else:
        yield f"λ above β₋={weak:.3g} with method 'sharp' makes the objective strongly convex, and the tight bound applies"
    composition = Composition()
    composed = _steps(replace(problem, method=composition), plan)
    if composed:
        yield f"method 'composition': {composed}, a fresh learn after {composition.requests_per_learn} requests"


def _steps(problem: Problem, plan: Callable[[Problem], Plan]) -> str | None:
    try:
        found = plan(problem)
    except NoisyGDDeleteError:
        return None
    return f"σ²={found.noise_variance:.3g}, K_A={found.learn_steps}, K_Ā={found.delete_steps}"

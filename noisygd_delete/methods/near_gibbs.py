"""Plans under Theorem 5.2, as printed ("theorem") or sharper ("sharp"): runnable ones, or a refusal with every number."""

from __future__ import annotations

import math

from ..bounds import theorem_5_2_schedule as schedules
from ..bounds.theorem_5_2_schedule import Form, Schedule
from ..errors import AssumptionViolated, InvalidParameter, PlanInfeasible
from ..planner.feasibility import MOST_STEPS, refusal
from ..privacy.budget import Budget
from .plan import Plan
from .problem import Problem

_ORDERS = [1 + 10 ** (k / 4) for k in range(-4, 9)]  # q from 1.1 to 101, for (ε, δ) budgets


def plan_near_gibbs(problem: Problem) -> Plan:
    """σ², η, K_A and K_Ā from the fixed point of (18) and (19); `utility` asks for nothing, (162) comes with closeness.

    Raises:
        PlanInfeasible: more than `MOST_STEPS` steps.
    """
    _check(problem)
    form = schedules.sharper if problem.certificate == "sharp" else schedules.printed
    asked = [_ask(problem, order) for order in _orders(problem.budget)]
    found = [(ask, _choose(problem, ask, form)) for ask in asked if ask is not None]
    if not found:
        raise InvalidParameter(
            f"no Rényi order turns {problem.budget.describe()} into Theorem 5.2's 0 < ε_dd ≤ ε_dp < d={problem.dimension}; "
            "raise the deletion ε or δ"
        )
    if problem.noise_variance is None and len(found) > 1:
        ask, schedule = min(found, key=lambda pair: pair[1].noise_variance)
    else:
        ask, schedule = min(found, key=lambda pair: pair[1].learn_steps + pair[1].delete_steps)
    if schedule.dp > ask.dp:
        least = schedules.least(ask, form)
        raise InvalidParameter(
            f"noise_variance={schedule.noise_variance:g} is below {least.noise_variance:g}, the least that meets (18); "
            "leave it out, raise it, or raise the budget"
        )
    if math.inf in (schedule.learn_steps, schedule.delete_steps):
        raise PlanInfeasible(
            f"noise_variance={schedule.noise_variance:g}: the steps of Theorem 5.2 exceed any float at "
            f"log B={schedule.log_barrier:g}; leave noise_variance out or raise it towards ω={ask.range:g}"
        )
    plan = _plan(problem, ask, schedule)
    if max(schedule.learn_steps, schedule.delete_steps) > MOST_STEPS:
        raise refusal(plan, ask, form)
    return plan


def _check(problem: Problem) -> None:
    constants = problem.loss.constants
    if not constants.proven:
        raise AssumptionViolated(
            f"the {problem.loss.name} loss only declares its constants; Theorem 5.2 needs proven ones: use "
            "certificate='composition'"
        )
    if not math.isfinite(constants.range):
        raise AssumptionViolated(
            f"the {problem.loss.name} loss has range ω={constants.range:g}: Theorem 5.2 needs a bounded loss. Use a bounded "
            f"one, λ > β₋={constants.weak_convexity:g} with certificate='sharp', or certificate='composition'"
        )
    if problem.deletion_notion == "pairwise":
        raise InvalidParameter(
            "deletion_notion='pairwise' is not covered by Theorem 5.2, which compares with a law that never saw the "
            "record (Definition 4.1)"
        )
    if problem.step_size is not None:
        raise InvalidParameter("step_size is fixed by Theorem 5.2 and G.22; leave it out")


def _orders(budget: Budget) -> list[float]:
    if budget.measure == "gdp":
        raise InvalidParameter(
            "a Gaussian-DP budget cannot be met through Theorem 5.2: it bounds one Rényi order; use Budget(order=, ...), "
            "λ > β₋ with certificate='sharp', or certificate='composition'"
        )
    return _ORDERS if budget.order is None else [budget.order]


def _ask(problem: Problem, order: float) -> schedules.Problem | None:
    """The problem at one order; None where the budget leaves nothing for ε_dd at it."""
    constants, budget = problem.loss.constants, problem.budget
    rate, _ = problem.dp_rate()
    deletion = problem.deletion_renyi(order)
    dp = rate * order if problem.certificate != "sharp" else problem.dp_gdp() ** 2 / 2 * order
    if budget.order is not None and not dp < problem.dimension:
        raise AssumptionViolated(
            f"dp={dp:g} must be below d={problem.dimension}, the number of weights: Theorem 5.2 assumes ε_dp < d"
        )
    if not deletion > 0:
        return None
    return schedules.Problem(
        order=order,
        dp=dp,
        deletion=min(deletion, dp),
        range=constants.range,
        sensitivity=problem.mechanism(step_size=1.0, noise_variance=1.0, order=order).sensitivity(problem.adjacency),
        smoothness=constants.curvature,
        regularization=problem.regularization,
        dimension=problem.dimension,
        records=problem.records,
        batch=problem.batch,
        releases=problem.releases,
    )


def _choose(problem: Problem, ask: schedules.Problem, form: Form) -> Schedule:
    if problem.noise_variance is None:
        return schedules.least(ask, form)
    if problem.noise_variance == "cheapest":
        return schedules.cheapest(ask, form)
    return form(ask, float(problem.noise_variance))


def _plan(problem: Problem, ask: schedules.Problem, schedule: Schedule) -> Plan:
    return Plan(
        problem=problem,
        step_size=schedule.step_size,
        noise_variance=schedule.noise_variance,
        init_variance=schedule.noise_variance / problem.regularization,
        learn_steps=int(schedule.learn_steps),
        delete_steps_for_deletion=int(schedule.delete_steps),
        delete_steps_for_utility=0,
        order=ask.order,
    )

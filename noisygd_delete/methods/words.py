"""What every plan says of itself, whatever its method: its heading, and its promise to two observers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from ..bounds import waiting as bounds
from ..errors import NoisyGDDeleteError
from ..privacy.budget import Total
from ..privacy.guarantee import FIXED_SCHEDULE, NON_ADAPTIVE
from ..privacy.sentences import brief, shown
from .problem import Carried

if TYPE_CHECKING:
    from .plan import Plan

_LARGER = (3, 10, 30, 100)  # times λ, tried in this order


def heading(plan: Plan) -> str:
    """Loss, sizes, method and budget."""
    problem = plan.problem
    return (
        f"Plan: {plan.loss.name} loss, n={plan.records} slots, d={plan.dimension} weights, λ={brief(plan.regularization)}, "
        f"method '{plan.method.name}'.\n"
        f"Budget: {plan.budget.describe()}; adjacency {problem.adjacency}, deletion notion {problem.deletion_notion}, "
        f"{problem.rows_per_subject} row(s) per data subject"
        + (
            f"; {plan.releases} observed releases together stay within the dp part."
            if plan.releases > 1
            else "; per release."
        )
        + total(plan)
    )


def passes(plan: Plan) -> str:
    """What a learn and a deletion take."""
    learn, delete = (round(plan.gradient_evaluations[name] / plan.records) for name in ("learn", "delete"))
    return f"Cost: {learn:,} passes over the table to learn, {delete:,} for a publication that deletes."


def noise(plan: Plan) -> str:
    """The noise in symbols, for a line of text: of a run, or of each stage."""
    if plan.stages:
        each = (f"{stage.noise_variance:.4g}" if stage.noise_variance else "–" for stage in plan.stages)
        return "σ²=" + ", ".join(each)
    solved = f"s={plan.linear_term:.6g}, τ={plan.output_noise:.6g}" if plan.linear_term else ""
    start = plan.learning.start
    steps = (
        f"V={start.variance / 16.0**start.bits:.6g}" if isinstance(start, Carried) else f"σ²={plan.noise_variance:.6g}"
    )
    return steps if not solved else f"{solved}; between: {steps}" if plan.noise_variance else solved


def total(plan: Plan) -> str:
    """The cap on all publications together; "" where none was set beside the budget."""
    if plan.total is None:
        return ""
    return (
        f" All publications together stay within {plan.total.describe()} for a record still there{_condition(plan.total)}; when that is "
        "spent, erasure goes on and publication stops."
    )


def _condition(total: Total) -> str:
    """What the total holds for."""
    if total.is_filter:
        return f", whatever plans and releases depend on (what is spent is summed {total.measure})"
    if total.late:
        return ", if the total was not changed because of models seen before"
    return ", if no later plan is chosen because of models seen before"


def ridge(plan: Plan) -> str:
    """What the forecast made of λ, and what that costs; "" where λ was taken as it is."""
    asked, norm = plan.problem.asked_regularization, plan.problem.model_norm
    if asked is None or norm is None:
        return ""
    chosen = "chosen from sizes, budget, loss and noise alone, none of it from the data"
    cost = plan.outlook.forecast
    if asked == plan.regularization:
        return (
            f"Ridge of the forecast: λ={brief(asked)} stays, {chosen}: the noise costs {brief(cost, 3)} of the loss by forecast, no more than "
            f"the regulariser is worth at weights of norm {brief(norm, 3)}."
        )
    return (
        f"Ridge of the forecast: λ'={brief(plan.regularization)} in the place of λ={brief(asked)}, {chosen}. It is where the forecast cost of "
        f"the noise, {brief(cost, 3)}, falls to what the regulariser is worth at weights of norm {brief(norm, 3)}, a public guess "
        f"(the norm of the model). In the objective with λ={brief(asked)} it costs at most {brief(plan.problem.ridge_cost, 3)} more if its minimiser has no "
        "larger norm; every theorem holds with λ' for λ."
    )


def clipping(plan: Plan) -> str:
    """What clipped slopes buy and cost; "" where none are."""
    factor = plan.loss.loss_of_fit
    if factor == 1:
        return ""
    return (
        f"Clipping: no record pulls on the model with more than {brief(1 / factor, 3)} of what it could, so the noise is that much smaller. Loss "
        f"of fit: records that the model gets badly wrong pull less, so it is fitted to a loss that is smaller for them; the loss asked "
        f"for is at most {brief(factor, 3)} times the clipped one for every record and model, and equal where no slope is clipped."
    )


def rounding(plan: Plan) -> str:
    """That roundings are inside the bounds; "" where they are not."""
    exactness = plan.serving.exactness
    if exactness is None:
        return ""
    return (
        f"Exactly: every step ends on a public grid of step τ/2^{exactness.grid_bits} by an exact discrete Gaussian, within norm "
        f"{exactness.radius:g}. Roundings are charged to every step, so the bounds are theorems about what the machine computes."
    )


def promise(plan: Plan) -> str:
    """Both figures of a deletion: for later models alone, with its condition, and for everything observed, without one."""
    deletion, order, delta = plan.deletion.with_slack(), plan.budget.order, plan.budget.shown_delta
    figures = [] if order is None else [f"ε_dd={shown(deletion.renyi(order))} at order {brief(order)}"]
    figures.append(f"(ε={shown(deletion.epsilon(delta))}, δ={shown(delta)})")
    return (
        f"Promise for a deleted record: an observer of the models after its deletion gains at most {deletion.at_most} over "
        f"guessing, if {NON_ADAPTIVE}. If they may have, what was observed while the record was there counts: at most "
        f"{plan.deletion_observed().at_most} after one observed model, if {FIXED_SCHEDULE}, and each further one adds. Under the first: "
        f"{'; '.join(figures)}.{_slack(plan)}"
    )


def _slack(plan: Plan) -> str:
    """What the figures include for the arithmetic of the machine; nothing where the bounds are about that arithmetic."""
    if not plan.mechanism.slack:
        return ""
    return (
        " Theorems speak of real numbers; for the rounding of gradient sums the figures include a factor "
        f"(1+{shown(plan.mechanism.slack)})²."
    )


def waiting(plan: Plan) -> str:
    """What running on could be certified to forget where no step contracts, and what to do instead; "" where steps contract."""
    problem, constants = plan.problem, plan.loss.constants
    if constants.convex or problem.strong_convexity > 0 or plan.stages:
        return ""
    instead = (
        f"What does forget: method 'ladder', which keeps a base and runs its later stages again, with no horizon; or learning afresh, in "
        f"{plan.learn_solver_passes + plan.learn_steps} passes, which owes an erased record nothing."
    )
    if math.isinf(constants.weak_convexity):
        return f"Waiting: of clipped gradients nothing is known that would carry two runs together, so clean steps forget nothing. {instead}"
    expansion = 1 + plan.step_size * (constants.weak_convexity - plan.regularization)
    exponent = bounds.barrier_exponent(
        lipschitz=constants.lipschitz,
        weak_convexity=constants.weak_convexity,
        regularization=plan.regularization,
        noise_variance=plan.noise_variance,
    )
    worth = bounds.steps_worth_waiting(expansion=expansion)
    return (
        f"Waiting: λ is below the weak convexity β₋={brief(constants.weak_convexity, 4)}, so a step may carry two runs apart by c={brief(expansion, 6)}. However many "
        f"clean steps follow, composition can be certified to forget at most {shown(worth)} of its steps by them (.193/ln c); and a run leaves the "
        f"well it is in at a rate of e^−{brief(exponent, 3)} (E = L²(1/λ − 1/β₋)/2σ²). {instead}"
    )


def condition_number(plan: Plan) -> float:
    """κ = M/m."""
    return plan.problem.objective_smoothness / plan.problem.strong_convexity


def worth(plan: Plan) -> str:
    """A warning where the bound on the excess risk does not even show that the model is better than weights of 0, with a λ for
    which it does if one is near; "" where the bound shows it, and for a loss that has no labels to guess.

    One sentence for every method and every door: plans, commands, estimators, papers.
    """
    if plan.loss.label_kind == "none":
        return ""
    import numpy as np  # loaded where it is used: plans are read without it

    zero = plan.loss.largest_at_zero(np)
    if plan.excess_risk < zero:  # L(0) − min L is at most L(0): losses are not negative
        return ""
    if not math.isfinite(plan.excess_risk):
        bound = "and no bound on the loss holds for this plan, which therefore"
    else:
        bound = f"so {brief(plan.excess_risk, 3)}"
    text = (
        f"Careful: weights of 0 lose {brief(zero, 3)} at most, {bound} does not promise a model better than guessing (it is "
        "a bound: what happens may be better). More records, fewer columns, a larger dp budget or a larger λ lower it"
    )
    for factor in _LARGER if math.isfinite(plan.excess_risk) and not plan.mechanism.fading is not None else ():
        other = _again(plan, factor)
        if other is not None and other.excess_risk < zero / 2:
            return f"{text}: λ={brief(other.regularization, 3)} would make it {brief(other.excess_risk, 3)}."
    return f"{text}."


def _again(plan: Plan, factor: float) -> Plan | None:
    """The plan of the same method for a larger λ; None where there is none."""
    method = plan.method.without("step_size", "noise_variance", "gradient_tolerance", "diffusion_steps")
    try:
        return method.plan(replace(plan.problem, method=method, regularization=plan.regularization * factor))
    except (NoisyGDDeleteError, ArithmeticError):
        return None

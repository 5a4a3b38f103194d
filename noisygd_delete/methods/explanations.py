"""Text shared by the explanations of all plans: heading, and the guarantees for two observers.

The functions take data, not a plan.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from ..bounds import forgetting_limits as bounds
from ..losses.base import Loss
from ..privacy.budget import Budget, Total
from ..privacy.guarantee import Guarantee
from ..privacy.sentences import format_bound, format_number
from ..privacy.worlds import FIXED_SCHEDULE, FIXED_TARGET, NON_ADAPTIVE
from .problem import Problem
from .procedure import CarriedSums, Exactness, Procedure


def plan_heading(problem: Problem) -> str:
    """Return two lines: loss, n, d, λ and method; budget, adjacency, deletion notion, releases and total, if any."""
    return (
        f"Plan: {problem.loss.name} loss, n={problem.records} slots, d={problem.dimension} weights, λ={format_number(problem.regularization)}, "
        f"method '{problem.method.variant_name()}'.\n"
        f"Budget: {problem.budget.describe()}; adjacency {problem.adjacency}, deletion notion {problem.deletion_notion}, "
        f"{problem.rows_per_subject} row(s) per data subject"
        + (
            f"; {problem.releases} observed releases together stay within the dp part."
            if problem.releases > 1
            else "; per release."
        )
        + explain_total(problem.total)
    )


def explain_passes(learn: int, delete: int) -> str:
    """Return a line with the cost of a learn and of a request that deletes, both in passes over the table."""
    return f"Cost: {learn:,} passes over the table to learn, {delete:,} for a publication that deletes."


def explain_saving(gradients: Mapping[str, int], *, cheaper: bool) -> str:
    """Return the record gradients that a request saves against learning afresh, or the advice to learn afresh.

    "" if it saves none and a fresh learn is not cheaper.

    Args:
        gradients: Record gradients of a "learn" and of a request ("delete").
        cheaper: Whether a fresh learn costs no more than a request; then the advice is returned.
    """
    learn, delete = gradients["learn"], gradients["delete"]
    if not cheaper:
        saved = learn - delete
        return (
            f"Saving: a request takes {saved:,} record gradients less than learning afresh, n(K_A − K_Ā)."
            if saved > 0
            else ""
        )
    return (
        f"Saving: none. A request takes {delete:,} record gradients and learning afresh {learn:,}. Learn afresh instead (`relearn`): the "
        "model then owes erased records nothing (ε_dd = 0 for observers of later models), and the release is charged to the dp budget like "
        "any other."
    )


def explain_solver(solver: str, *, in_place: bool) -> tuple[str, str]:
    """Return a clause with where a solver starts and whether its passes are forecast, and a caveat on its running time.

    Args:
        solver: One of `SOLVERS`.
        in_place: Whether rows are added in an order determined by their contents.
    """
    nothing = "a deleted record leaves exactly nothing"
    if not in_place:
        nothing = "what is left of a deleted record is what rows in another order may show within the tolerance"
    if solver == "fixed":
        return (
            f"always from 0, so that {nothing}, in a number of passes fixed in advance, which tells nothing of it: exactly",
            "",
        )
    start = "starting a request from the published model"
    if not in_place:
        start += ", over rows in any order, which may show within the tolerance"
    if solver == "cold":
        start = f"always starting from 0, so that {nothing}"
    return f"{start}: a forecast of", " How long the solver takes depends on the data; the fixed solver avoids it."


def explain_noise(run: Procedure, stages: Sequence[Procedure]) -> str:
    """Return the noise on one line, as "σ²=…", "s=…, τ=…" (objective perturbation), both, or "V=…" (carried sums).

    Args:
        run: The procedure of a learn.
        stages: The procedures of the stages of a ladder; if there are any, only their σ² are listed, "–" for a stage
            without steps.
    """
    if stages:
        each = (f"{stage.noise_variance:.4g}" if stage.noise_variance else "–" for stage in stages)
        return "σ²=" + ", ".join(each)
    solved = f"s={run.linear_term:.6g}, τ={run.output_noise:.6g}" if run.linear_term else ""
    start = run.start
    steps = (
        f"V={start.variance / 16.0**start.bits:.6g}"
        if isinstance(start, CarriedSums)
        else f"σ²={run.noise_variance:.6g}"
    )
    return steps if not solved else f"{solved}; between: {steps}" if run.noise_variance else solved


def explain_total(cap: Total | None) -> str:
    """Return a sentence with the cap on all publications together and its condition; "" if there is none."""
    if cap is None:
        return ""
    return (
        f" All publications together stay within {cap.describe()} for a record still there{_total_condition(cap)}; when that is "
        "spent, erasure goes on and publication stops."
    )


def _total_condition(total: Total) -> str:
    """Return the condition under which the total holds."""
    if total.is_filter:
        return f", whatever plans and releases depend on (what is spent is summed {total.measure})"
    if total.late:
        return ", if the total was not changed because of models seen before"
    return ", if no later plan is chosen because of models seen before"


def explain_ridge(problem: Problem, forecast: Callable[[], float]) -> str:
    """Return how the forecast of the noise's cost determined λ, and what that costs; "" if λ was used as given.

    Args:
        problem: The planning problem; λ was not used as given if it has a requested λ and a model norm.
        forecast: Returns the forecast excess risk of a release; called only if needed.
    """
    requested, norm = problem.requested_regularization, problem.model_norm
    if requested is None or norm is None:
        return ""
    chosen = "chosen from sizes, budget, loss and noise alone, none of it from the data"
    cost = forecast()
    if requested == problem.regularization:
        return (
            f"Ridge of the forecast: λ={format_number(requested)} stays, {chosen}: the noise costs {format_number(cost, 3)} of the loss by forecast, no more than "
            f"the regulariser is worth at weights of norm {format_number(norm, 3)}."
        )
    return (
        f"Ridge of the forecast: λ'={format_number(problem.regularization)} instead of λ={format_number(requested)}, {chosen}. It is where the forecast cost of "
        f"the noise, {format_number(cost, 3)}, falls to what the regulariser is worth at weights of norm {format_number(norm, 3)}, a public guess "
        f"(the norm of the model). In the objective with λ={format_number(requested)} it costs at most {format_number(problem.ridge_cost, 3)} more if its minimiser has no "
        "larger norm; every theorem holds with λ' for λ."
    )


def explain_clipping(loss: Loss) -> str:
    """Return the benefit of clipped slopes and the loss of fit they cost; "" if the loss clips none."""
    factor = loss.loss_of_fit
    if factor == 1:
        return ""
    return (
        f"Clipping: no record pulls on the model with more than {format_number(1 / factor, 3)} of what it could, so the noise is that much smaller. Loss "
        f"of fit: records that the model gets badly wrong pull less, so it is fitted to a loss that is smaller for them; the loss asked "
        f"for is at most {format_number(factor, 3)} times the clipped one for every record and model, and equal where no slope is clipped."
    )


def explain_rounding(exactness: Exactness | None) -> str:
    """Return that steps end on a public grid and roundings are charged; "" for floating point (None)."""
    if exactness is None:
        return ""
    return (
        f"Exactly: every step ends on a public grid of step τ/2^{exactness.grid_bits} by an exact discrete Gaussian, within norm "
        f"{exactness.radius:g}. Roundings are charged to every step, so the bounds are theorems about what the machine computes."
    )


def explain_promise(budget: Budget, deletion: Guarantee, observed: Guarantee, slack: float) -> str:
    """Return the guarantees about a deleted record in words, each with its conditions, and figures of the first.

    Args:
        budget: The budget; its order and δ determine which figures are printed.
        deletion: Guarantee against an observer of later models only.
        observed: Guarantee if one model with the record was observed as well.
        slack: Relative rounding slack, mentioned if it is not 0.
    """
    deletion, order, delta = deletion.with_slack(), budget.order, budget.shown_delta
    figures = [] if order is None else [f"ε_dd={format_bound(deletion.renyi(order))} at order {format_number(order)}"]
    figures.append(f"(ε={format_bound(deletion.epsilon(delta))}, δ={format_bound(delta)})")
    return (
        f"Promise for a deleted record: an observer of the models after its deletion gains at most {deletion.at_most} over "
        f"guessing, if {NON_ADAPTIVE} and {FIXED_TARGET}. If other requests may have, what was observed while the record was there counts: at most "
        f"{observed.at_most} after one observed model, if {FIXED_TARGET} and {FIXED_SCHEDULE}, and each further one adds. Under the first: "
        f"{'; '.join(figures)}.{_explain_slack(slack)}"
    )


def _explain_slack(slack: float) -> str:
    """Return the share of machine arithmetic in the figures; "" if the bounds cover that arithmetic exactly."""
    if not slack:
        return ""
    return (
        " Theorems speak of real numbers; for the rounding of gradient sums the figures include a factor "
        f"(1+{format_bound(slack)})²."
    )


def explain_waiting(problem: Problem, run: Procedure) -> str:
    """Return what is certified of steps without a record that do not contract, and what to do instead.

    "" if no step is taken, the loss is convex or λ > β₋. Otherwise the largest number of steps that further steps can be certified to
    forget and the rate of leaving a well; for clipped gradients, β₋ infinite, that nothing is forgotten.

    Args:
        problem: The planning problem.
        run: The procedure of a learn, for η, σ² and the passes of a fresh learn.
    """
    if not run.steps:  # the squared loss has no constants
        return ""
    constants = problem.loss.constants
    if constants.convex or problem.strong_convexity > 0:
        return ""
    instead = (
        f"What does forget: method 'staged', which keeps a base and runs its later stages again, with no horizon; or learning afresh, in "
        f"{run.solver_passes + run.counted_steps} passes, which owes an erased record nothing."
    )
    if math.isinf(constants.weak_convexity):
        return f"Waiting: of clipped gradients nothing is known that would carry two runs together, so clean steps forget nothing. {instead}"
    expansion = 1 + run.step_size * (constants.weak_convexity - problem.regularization)
    exponent = bounds.barrier_exponent(
        lipschitz=constants.lipschitz,
        weak_convexity=constants.weak_convexity,
        regularization=problem.regularization,
        noise_variance=run.noise_variance,
    )
    worth = bounds.steps_worth_waiting(expansion=expansion)
    return (
        f"Waiting: λ is below the weak convexity β₋={format_number(constants.weak_convexity, 4)}, so a step may carry two runs apart by c={format_number(expansion, 6)}. However many "
        f"clean steps follow, composition can be certified to forget at most {format_bound(worth)} of its steps by them (.193/ln c); and a run leaves the "
        f"well it is in at a rate of e^−{format_number(exponent, 3)} (E = L²(1/λ − 1/β₋)/2σ²). {instead}"
    )


def condition_number(problem: Problem) -> float:
    """Return κ = M/m = (λ + β₊)/(λ − β₋) of the objective; λ must differ from β₋."""
    return problem.objective_smoothness / problem.strong_convexity


def explain_worth(
    loss: Loss, excess_risk: float, larger: Iterable[tuple[float, float]], *, untrained: bool = False
) -> str:
    """Return a warning that the model is not proven better than weights of 0, or "" if it is or has no labels.

    The warning names the first larger λ whose bound is below half of the largest loss at weights 0.

    Args:
        loss: The loss of a record.
        excess_risk: Bound on the excess risk of the plan.
        larger: Pairs of a larger λ and the bound on the excess risk with it, consumed only if the bound is finite.
        untrained: Whether a learn takes no step; then the warning is about that alone.
    """
    if loss.label_kind == "none":
        return ""
    if untrained:
        return (
            "Careful: K_A = 0: learning takes no step, and its model, a draw of the initial law, does not promise a model better than "
            "guessing. A smaller noise variance, or more records, makes learning take steps."
        )
    import numpy as np  # imported on use: reading a plan does not need it

    zero = loss.largest_at_zero(np)
    if excess_risk < zero:  # L(0) − min L is at most L(0): losses are not negative
        return ""
    if not math.isfinite(excess_risk):
        bound = "and no bound on the loss holds for this plan, which therefore"
    else:
        bound = f"so {format_number(excess_risk, 3)}"
    text = (
        f"Careful: weights of 0 lose {format_number(zero, 3)} at most, {bound} does not promise a model better than guessing (it is "
        "a bound: what happens may be better). More records, fewer columns, a larger dp budget or a larger λ lower it"
    )
    for regularization, risk in larger if math.isfinite(excess_risk) else ():
        if risk < zero / 2:
            return f"{text}: λ={format_number(regularization, 3)} would make it {format_number(risk, 3)}."
    return f"{text}."

"""Plan one method for one problem; raise an error with the alternatives if no machine can run the plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from .. import methods
from ..errors import InvalidParameter, NoisyGDDeleteError, PlanInfeasible, check_choice
from ..losses.base import Loss
from ..methods import CompositionNoisyGD, Method, NoisyGD, PaperNoisyGD, Staged
from ..methods.base import AUTO, BY_PERSON, BY_ROW, DEFAULT_METHOD, WEIGHTINGS
from ..methods.plan import Plan, method_of, without_options
from ..methods.problem import Problem
from ..privacy.budget import Budget, Total
from .defaults import with_ridge, with_total

MOST_PASSES = 10**12  # limit on passes over the table, which take months even on the smallest table


def make_plan(
    loss: Loss,
    *,
    records: int,
    features: int,
    regularization: float,
    budget: Budget,
    method: str | Method = DEFAULT_METHOD,
    adjacency: str = "replace",
    deletion_notion: str = "erased-vs-never",
    releases: int = 1,
    batch: int = 1,
    rows_per_subject: int = 1,
    weighting: str = BY_ROW,
    rows_a_person: float = 1.0,
    utility: bool = True,
    utility_tolerance: float = 1.5,
    dtype: str = "float32",
    slack_in_budget: bool = True,
    ridge: str = "given",
    model_norm: float | None = None,
    requested_regularization: float | None = None,
    one_hot_blocks: tuple[int, ...] | None = None,
    feature_map: str | None = None,
    total: Total | tuple[float, float] | None = None,
    **options: Any,
) -> Plan:
    """Return the plan with the least noise and the fewest steps whose guarantees are within the budget.

    Args:
        loss: A loss of `noisygd_delete.losses`, which provides its proven constants.
        records: n, the public dataset size.
        features: Number of columns, including the constant one.
        regularization: λ > 0.
        budget: Budget of one release; with `releases=N > 1` the dp part is for N observed releases together.
        method: A method name, with options behind it as `--method` takes them if need be, or an object of
            `noisygd_delete.methods`. The names are "noisy-gd" (the article's noisy gradient descent), with `analysis`
            "tight" (the default: the tight bound, also for non-convex losses with λ > β₋, and Theorem 5.2 sharpened for
            the others), "paper" (Theorem 5.1, or 5.2 for a non-convex loss, as printed) or "composition" (non-convex
            losses: every noisy step costs, and nothing is forgotten before a fresh learn); "output-perturbation" (a
            solver followed by noisy steps); "objective-perturbation" (exact in finite precision);
            "sufficient-statistics" (noisy second moments); and "staged" (networks).
        adjacency: "replace" or "zero-out", for the dp guarantee.
        deletion_notion: "erased-vs-never" (erased versus never present) or "pairwise" (x or x′).
        releases: Number N of observed releases that share the dp budget.
        batch: r, records edited by one request; used only in the utility condition.
        rows_per_subject: Rows of one data subject that must be forgotten together.
        weighting: "by-row": noise grows with rows_per_subject. "by-person": each row of a person with k rows weighs 1/k,
            so a person has the influence of one row. "auto": by person where someone may have several rows and the
            method and loss are covered.
        rows_a_person: Public guess of the mean number of rows of a person, by which forecasts weighted by person count
            persons and not rows.
        utility: Whether to also take enough steps that accuracy never degrades over any number of requests.
        utility_tolerance: Tolerance of the utility condition.
        dtype: Data type of the rows in the gradient; "float64" makes the rounding slack negligible.
        slack_in_budget: Whether the rounding slack of the gradient sums counts inside the budget. If False, the bounds
            in real arithmetic meet it, and those with the slack exceed it by (1 + slack)².
        ridge: "given" uses λ unchanged; "forecast" raises it if the noise would dominate the model along flat
            directions, from public numbers only (`planner.defaults`). The plan reports the change and its cost.
        model_norm: B for ridge="forecast", the norm that a good model may have; None derives it from n and the loss.
        requested_regularization: λ requested for an earlier plan, before its forecast raised it. It is a note unless ridge
            is "forecast".
        one_hot_blocks: `Schema.one_hot_blocks`, by which objective perturbation shapes its noise to reduce it.
        feature_map: Digest of the public feature map that makes the rows, or `Schema.feature_map`; it does not affect
            the numbers of the plan.
        total: (ε, δ) cap on all releases ever made, for a present record. Once it is spent, releases stop but erasures
            do not. None: no cap except by `releases`.
        **options: Options of a method given by name: step_size, noise_variance, solver, diffusion_steps, ...

    Returns:
        The plan.

    Raises:
        InvalidParameter: If an argument is outside its range.
        AssumptionViolated: If the loss does not satisfy the assumptions of the method.
        PlanInfeasible: If no machine can run the steps; it carries the plan, the numbers and alternatives.
    """
    chosen = methods.resolve_method(method, **options)
    if check_choice("weighting", weighting, (AUTO, *WEIGHTINGS)) == AUTO:
        weighting = BY_PERSON if rows_per_subject > 1 and chosen.covers_weights(loss) else BY_ROW
    problem = Problem(
        loss=loss,
        records=records,
        features=features,
        regularization=regularization,
        budget=budget,
        method=chosen,
        adjacency=adjacency,  # type: ignore[arg-type]  # invalid names are rejected there
        deletion_notion=deletion_notion,  # type: ignore[arg-type]
        releases=releases,
        batch=batch,
        rows_per_subject=rows_per_subject,
        weighting=weighting,
        rows_a_person=rows_a_person,
        utility=utility,
        utility_tolerance=utility_tolerance,
        dtype=dtype,
        slack_in_budget=slack_in_budget,
        requested_regularization=requested_regularization,
        model_norm=model_norm,
        one_hot_blocks=one_hot_blocks,
        feature_map=feature_map,
    )
    try:
        return with_total(plan_for(with_ridge(problem, plan_for, ridge)), total)
    except PlanInfeasible as error:
        raise _with_rivals(error) from None


def plan_for(problem: Problem) -> Plan:
    """Return the plan by the method that the problem names; raises like `make_plan`."""
    try:
        return _check_runnable(method_of(problem).plan(problem))
    except ArithmeticError as error:
        raise InvalidParameter(
            f"no plan in floating-point numbers for λ={problem.regularization:g}, n={problem.records:g}, "
            f"{problem.budget.describe()}: a step count or the noise is beyond their range; choose λ and budgets nearer to 1"
        ) from error


def _check_runnable(plan: Plan) -> Plan:
    """Return the plan if its steps can be run.

    Raises:
        PlanInfeasible: If a learn or a request needs more than `MOST_PASSES` passes over the table; it carries the
            plan.
    """
    numbers = plan.calibration
    learn = numbers.learn_solver_passes + numbers.learn_steps
    delete = numbers.delete_solver_passes + numbers.delete_steps
    if max(learn, delete) <= MOST_PASSES:
        return plan
    raise PlanInfeasible(
        f"method {plan.method.name!r} needs {float(learn):.3g} passes over the table to learn and {float(delete):.3g} per request at "
        f"λ={plan.problem.regularization:g} (condition number {plan.problem.objective_smoothness / plan.problem.regularization:.3g}); the limit is "
        f"{float(MOST_PASSES):.0e}. Raise λ: steps grow in proportion to 1/λ",
        plan=plan,
        alternatives=("a larger regularization λ",),
    )


def _with_rivals(error: PlanInfeasible) -> PlanInfeasible:
    """Return the error extended by the cost of the other methods for a non-convex loss."""
    if error.plan is None or error.plan.problem.loss.constants.convex:
        return error
    weak = error.plan.problem.loss.constants.weak_convexity
    raised = f"λ above β₋={weak:.3g} makes the objective strongly convex, and the tight bound applies"
    covered = [_compare_rival(error.plan, rival) for rival in _rival_plans(error.plan) if isinstance(rival, Plan)]
    ways = (*covered, *([] if error.plan.problem.strong_convexity > 0 else [raised]))
    return PlanInfeasible("; ".join((str(error), *ways)), plan=error.plan, alternatives=(*error.alternatives, *ways))


_CHOSEN = (  # options that do not change the method
    *("step_size", "noise_variance", "order", "excess_risk_target"),
    *("diffusion_steps", "gradient_tolerance"),
)


def explain_plan(plan: Plan) -> str:
    """Return an explanation of the plan in plain text, followed by a comparison with other methods."""
    rivals = [rival if isinstance(rival, str) else _compare_rival(plan, rival) for rival in _rival_plans(plan)]
    return "\n\n".join((plan.explain(), "\n  ".join(["The same budget otherwise.", *rivals])))


def _rival_plans(plan: Plan) -> Iterator[Plan | str]:
    """Yield plans of the other methods that cover the loss under the same budget.

    For a method without a plan, yield the reason.
    """
    convex = plan.problem.loss.constants.convex
    others: tuple[Method, ...] = (PaperNoisyGD(), NoisyGD())
    if not convex:
        others = (*others, CompositionNoisyGD(), Staged())
    for method in others:
        try:
            rival = plan_for(replace(plan.problem, method=method))
        except NoisyGDDeleteError as error:
            yield f"'{method.variant_name()}' ({method.summary}) does not apply: {str(error).split('; at ')[0]}"
        else:
            if without_options(rival.method, *_CHOSEN) != without_options(plan.method, *_CHOSEN):
                yield rival


def _compare_rival(plan: Plan, rival: Plan) -> str:
    """Return the rival's cost relative to the plan, and its steps.

    The cost is the noise variance if both plans have one, else the forecast cost.
    """
    if plan.calibration.noise_variance and rival.calibration.noise_variance:
        noise = f"noise variance {rival.calibration.noise_variance / plan.calibration.noise_variance:.3g}"
    else:
        noise = f"forecast cost in regularised loss {rival.outlook.forecast / plan.outlook.forecast:.3g}"
    method, forgetting, utility = (
        rival.method,
        rival.calibration.delete_steps_for_deletion,
        rival.calibration.delete_steps_for_utility,
    )
    return (
        f"'{method.variant_name()}' ({method.summary}): {noise} times this one, K_A={rival.calibration.learn_steps}, K_Ā={rival.calibration.delete_steps} "
        f"(forgetting {forgetting}, utility {utility})"
    )

"""One method's plan for one problem, or a refusal with what other methods would take where no machine can run it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from .. import methods
from ..bounds import shifted_interpolation
from ..bounds.arithmetic import ROOM
from ..errors import AssumptionViolated, InvalidParameter, NoisyGDDeleteError, PlanInfeasible, positive
from ..losses.base import Loss
from ..methods import Composition, Ladder, Method, Sharp, Theorem
from ..methods.plan import Plan, method_of, without
from ..methods.problem import Problem
from ..methods.sharp import stationary_excess
from ..privacy.budget import Budget, Total
from .usual import capped, with_ridge

MOST_PASSES = 10**12  # of the plans that are usually far below it: months on the smallest table


def make_plan(
    loss: Loss,
    *,
    records: int,
    features: int,
    regularization: float,
    budget: Budget,
    method: str | Method = "theorem",
    adjacency: str = "replace",
    deletion_notion: str = "definition-4.1",
    releases: int = 1,
    batch: int = 1,
    rows_per_subject: int = 1,
    utility: bool = True,
    utility_tolerance: float = 0.01,
    dtype: str = "float32",
    slack_in_budget: bool = True,
    ridge: str = "given",
    model_norm: float | None = None,
    asked_regularization: float | None = None,
    one_hot_blocks: tuple[int, ...] | None = None,
    feature_map: str | None = None,
    total: Total | tuple[float, float] | None = None,
    **options: Any,
) -> Plan:
    """The least noise and the fewest steps whose guarantees lie within the budget.

    Args:
        loss: a loss of `noisygd_delete.losses`; its constants are proven, never typed in.
        records: n, the public number of slots. features: columns, the constant one included.
        regularization: λ > 0.
        budget: of one release; with `releases=N > 1` the dp part is for N observed publications together.
        method: "theorem" (Theorem 5.1, or 5.2 for a non-convex loss, as printed), "sharp" (the tight bound of the same
            algorithm: also for non-convex losses with λ > β₋, and Theorem 5.2 sharpened for the others), "minimiser" (solve for
            the minimiser of the current records, then diffuse), "perturbed" (minimise under a random linear term, exact on a
            machine) or "composition" (non-convex losses: every noisy step costs, nothing is forgotten before a fresh learn); or an object of `noisygd_delete.methods`, with its options.
        adjacency: "replace" or "zero-out", of the dp guarantee.
        deletion_notion: "definition-4.1" (against never there) or "pairwise" (x or x′).
        batch: r, records edited by one request, for the utility condition alone.
        rows_per_subject: rows of one data subject that must be forgotten together.
        utility: also take enough steps that accuracy never degrades over any number of requests.
        dtype: of the rows in the gradient; "float64" makes the rounding slack negligible.
        slack_in_budget: whether the rounding slack of the gradient sums counts inside the budget. False plans as before
            0.2: the bounds over the reals meet it, and those with the slack exceed it by (1 + slack)².
        ridge: "given" takes λ as it is; "forecast" raises it where the noise would carry the model away along flat directions, by
            public numbers alone (`planner.usual`). The plan says by how much and what that costs.
        model_norm: B for ridge="forecast", the norm that a good model may have; None: from n and the loss.
        asked_regularization: of a plan made before, whose λ the forecast had raised from it; it is a note, unless ridge is "forecast".
        one_hot_blocks: `Schema.one_hot_blocks`: objective perturbation then shapes its noise by them, the same for less.
        feature_map: the digest of the public map that makes the rows, or `Schema.feature_map`; it changes no number of the plan.
        total: (ε, δ) that all publications ever made stay within, for a record still there; beyond it publication stops, erasure
            never. None: no cap but what `releases` sets.
        options: of the method, where it is named by a string: step_size, noise_variance, solver, diffusion_steps, ...

    Raises:
        InvalidParameter, AssumptionViolated: with the value, its range and what to do.
        PlanInfeasible: no machine can run the steps; carries the plan, the numbers and the nearest ways out.
    """
    problem = Problem(
        loss=loss,
        records=records,
        features=features,
        regularization=regularization,
        budget=budget,
        method=methods.of(method, **options),
        adjacency=adjacency,  # type: ignore[arg-type]  # a word that is no such world is refused there
        deletion_notion=deletion_notion,  # type: ignore[arg-type]
        releases=releases,
        batch=batch,
        rows_per_subject=rows_per_subject,
        utility=utility,
        utility_tolerance=utility_tolerance,
        dtype=dtype,
        slack_in_budget=slack_in_budget,
        asked_regularization=asked_regularization,
        model_norm=model_norm,
        one_hot_blocks=one_hot_blocks,
        feature_map=feature_map,
    )
    try:
        return capped(plan_for(with_ridge(problem, plan_for, ridge)), total)
    except PlanInfeasible as error:
        raise _with_rivals(error) from None


def plan_for(problem: Problem) -> Plan:
    """The plan by the method that the problem names; raises as `make_plan`."""
    try:
        return _runnable(method_of(problem).plan(problem))
    except ArithmeticError as error:
        raise InvalidParameter(
            f"no plan in floating-point numbers for λ={problem.regularization:g}, n={problem.records:g}, "
            f"{problem.budget.describe()}: a step count or the noise is beyond their range; choose λ and budgets nearer to 1"
        ) from error


def _runnable(plan: Plan) -> Plan:
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


def _with_rivals(error: PlanInfeasible) -> PlanInfeasible:
    """The same refusal, with what the other methods for a non-convex loss would take."""
    if error.plan is None or error.plan.loss.constants.convex:
        return error
    weak = error.plan.loss.constants.weak_convexity
    raised = (
        f"λ above β₋={weak:.3g} with method 'sharp' makes the objective strongly convex, and the tight bound applies"
    )
    covered = [_beside(error.plan, rival) for rival in _rivals(error.plan) if isinstance(rival, Plan)]
    ways = (*covered, *([] if error.plan.problem.strong_convexity > 0 else [raised]))
    return PlanInfeasible("; ".join((str(error), *ways)), plan=error.plan, alternatives=(*error.alternatives, *ways))


_CHOSEN = (  # options that do not make another method of it
    *("step_size", "noise_variance", "order", "excess_risk_target"),
    *("diffusion_steps", "gradient_tolerance"),
)


def explain(plan: Plan) -> str:
    """Plain text, one paragraph per question a user asks of a plan: what it says of itself, and what other methods take."""
    rivals = [rival if isinstance(rival, str) else _beside(plan, rival) for rival in _rivals(plan)]
    return "\n\n".join((plan.explain(), "\n  ".join(["The same budget otherwise.", *rivals])))


def _rivals(plan: Plan) -> Iterator[Plan | str]:
    """The same budget under the other methods that cover the loss; where one has no plan, why."""
    convex = plan.loss.constants.convex
    others: tuple[Method, ...] = (Theorem(), Sharp()) if convex else (Theorem(), Sharp(), Composition(), Ladder())
    for method in others:
        try:
            rival = plan_for(replace(plan.problem, method=method))
        except NoisyGDDeleteError as error:
            yield f"'{method.name}' ({method.summary}) does not apply: {str(error).split('; at ')[0]}"
        else:
            if without(rival.method, *_CHOSEN) != without(plan.method, *_CHOSEN):
                yield rival


def _beside(plan: Plan, rival: Plan) -> str:
    """The rival's noise, where both add the same kind, else what noise is for, its forecast cost; and its steps."""
    if plan.noise_variance and rival.noise_variance:
        noise = f"noise variance {rival.noise_variance / plan.noise_variance:.3g}"
    else:
        noise = f"forecast cost in regularised loss {rival.outlook.forecast / plan.outlook.forecast:.3g}"
    method, forgetting, utility = rival.method, rival.delete_steps_for_deletion, rival.delete_steps_for_utility
    return (
        f"'{method.name}' ({method.summary}): {noise} times this one, K_A={rival.learn_steps}, K_Ā={rival.delete_steps} "
        f"(forgetting {forgetting}, utility {utility})"
    )


# --- cheapest ---
#
# The cheapest plan that meets targets: ε_dd ≤ x and accuracy loss ≤ y, choosing η, σ² and K.
#
# With the tight bound noise and steps trade against each other: with σ² above the least that ε_dp needs, a request
# has less to forget, K_Ā = log(μ_∞/μ_dd)/log(1/c), but the stationary law of the chain is wider. A larger η contracts faster
# and widens it too. "Accuracy loss" is the excess regularised risk in the unit of the loss (nats for the logistic loss), by
# the bound of `bounds/utility.py`, over any number of requests.


STEP_SHARES = (0.125, 0.25, 0.5, 0.75, 0.9, 1.0)  # of the largest step size, 2/(m+M)
NOISE_LEVELS = 32


@dataclass(frozen=True)
class ParetoPoint:
    """A plan, and the bound on the excess risk of every model it releases."""

    plan: Plan
    excess_risk: float


@dataclass(frozen=True)
class Choice:
    """The cheapest plan, and the Pareto table it comes from: of two candidates neither has both less noise and fewer steps."""

    plan: Plan
    excess_risk: float
    table: tuple[ParetoPoint, ...]

    def text(self) -> str:
        """The Pareto table: steps per request against noise; the chosen plan is marked."""
        head = "    σ²          η         steps/request  steps/learn  excess risk at most"
        rows = [
            f"  {'*' if row.plan == self.plan else ' '} {row.plan.noise_variance:<10.4g}  {row.plan.step_size:<9.4g} "
            f"{row.plan.delete_steps:>12}  {row.plan.learn_steps:>11}  {row.excess_risk:.4g}"
            for row in self.table
        ]
        return "\n".join([head, *rows])

    def to_dict(self) -> dict[str, Any]:
        """JSON: the chosen plan's summary and the table."""
        rows = [
            {
                "noise_variance": row.plan.noise_variance,
                "step_size": row.plan.step_size,
                "delete_steps": row.plan.delete_steps,
                "learn_steps": row.plan.learn_steps,
                "excess_risk_bound": row.excess_risk,
            }
            for row in self.table
        ]
        return {"plan": {**self.plan.summary(), "excess_risk_bound": self.excess_risk}, "pareto": rows}


def cheapest_plan(
    loss: Loss,
    *,
    records: int,
    features: int,
    regularization: float,
    budget: Budget,
    excess_risk: float,
    **options: Any,
) -> Choice:
    """The plan with the fewest steps per request whose guarantees lie within `budget` and whose excess risk is at most
    `excess_risk`; ties go to less noise.

    Args:
        loss, records, features, regularization, budget, options: as for `make_plan`, with
            method="sharp". step_size, noise_variance and the utility condition are chosen here.
        excess_risk: bound on E[L_D(θ)] − min L_D of every released model.

    Raises:
        PlanInfeasible: no noise that meets ε_dp is small enough; carries the plan that comes closest.
    """
    target = positive("excess_risk", excess_risk)
    chosen_here = {"step_size", "noise_variance", "utility", "utility_tolerance"} & set(options)
    if chosen_here:
        raise InvalidParameter(f"{', '.join(sorted(chosen_here))} is what cheapest_plan chooses; leave it out")
    if methods.of(options.pop("method", Sharp())) != Sharp():
        raise InvalidParameter("targets need method 'sharp': the noise of Theorem 5.1 is given")
    sizes = {"records": records, "features": features, "regularization": regularization, "budget": budget}
    problem = {**sizes, **options, "method": Sharp.name}
    found = [row for share in STEP_SHARES for row in _candidates(loss, problem, share, target)]
    if not found:
        closest = min((_least(loss, problem, share) for share in STEP_SHARES), key=stationary_excess)
        raise PlanInfeasible(
            "cannot be promised: with the least noise that the dp budget allows the bound is above "
            f"{stationary_excess(closest):.4g}. Ask for more than that, raise ε_dp, raise λ, or collect more records",
            excess_risk=target,
            plan=closest,
            alternatives=(f"excess_risk={2 * stationary_excess(closest):.4g} with the same budget",),
        )
    best = min(found, key=lambda row: (row.plan.delete_steps, row.plan.noise_variance, row.plan.learn_steps))
    return Choice(best.plan, best.excess_risk, tuple(_drop_dominated(found)))


def _least(loss: Loss, problem: dict[str, Any], share: float) -> Plan:
    """The plan with the least noise at this step size, without a utility condition."""
    constants, regularization = loss.constants, positive("regularization", problem["regularization"])
    strong = regularization - constants.weak_convexity
    if not strong > 0:
        raise AssumptionViolated(
            f"must exceed β₋={constants.weak_convexity:g}: a target on the excess risk needs a strongly convex "
            "objective. Raise λ, or plan without a target under method 'composition'",
            regularization=regularization,
        )
    limit = shifted_interpolation.largest_step_size(
        strong_convexity=strong,
        objective_smoothness=regularization + constants.smoothness * ROOM**2,  # as exact steps ask for
    )
    return make_plan(loss, **problem, step_size=share * limit, utility=False)


def _candidates(loss: Loss, problem: dict[str, Any], share: float, target: float) -> Iterator[ParetoPoint]:
    """Plans at one step size, from the least noise to the most that leaves room under the target."""
    least = _least(loss, problem, share)
    room = target / stationary_excess(least)
    if not room > 1:
        return
    for level in range(NOISE_LEVELS):
        noise = least.noise_variance * room ** (level / NOISE_LEVELS)
        chosen: dict[str, Any] = {
            "step_size": least.step_size,
            "noise_variance": noise if level else None,
            "excess_risk_target": target,
        }
        try:
            plan = make_plan(loss, **problem, **chosen)
        except PlanInfeasible:  # the steps that the target asks for are too many, or cost more than the dp budget has
            continue
        yield ParetoPoint(plan, plan.excess_risk)


def _drop_dominated(found: list[ParetoPoint]) -> Iterator[ParetoPoint]:
    """In the order of noise: each takes fewer steps per request than everything with less noise."""
    fewest = math.inf
    for row in sorted(found, key=lambda row: (row.plan.noise_variance, row.plan.delete_steps, row.plan.learn_steps)):
        if row.plan.delete_steps < fewest:
            fewest = row.plan.delete_steps
            yield row

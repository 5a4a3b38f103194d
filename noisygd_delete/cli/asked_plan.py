"""The plan that arguments ask for, where they name its method."""

from __future__ import annotations

import argparse
from dataclasses import fields, replace
from typing import Any

from .. import losses, methods
from ..errors import InvalidParameter
from ..losses.clipped import Clipped
from ..methods import Method
from ..methods.plan import Plan
from ..planner import explain, make_plan, plan_stream
from ..planner.streams import StreamPlan
from ..privacy.budget import Budget
from ..privacy.total import Total
from .plan_file import PAPER_METHOD, PAPER_REGULARIZATION
from .terminal import MORE


def method_from(parsed: argparse.Namespace) -> Method:
    """The method the arguments name, with the options of its own that were given."""
    method = methods.of(parsed.method or PAPER_METHOD, **parsed.method_fields)
    return method.on_map(getattr(parsed, "map_of_rows", None))  # of a schema


def described(parsed: argparse.Namespace, plan: Plan) -> str:
    """The plan in a few lines; with `--explain` in words and numbers."""
    if not parsed.explain:
        return f"{plan.in_short()}\n{MORE}"
    return explain(plan)


def loss_from(parsed: argparse.Namespace) -> losses.Loss:
    """The loss the arguments name; an option that does not belong to it is an error."""
    fields = parsed.loss_fields
    if parsed.loss in ("softmax", "one-vs-rest", "multilayer-perceptron") and "classes" not in fields:
        raise InvalidParameter(f"--loss {parsed.loss} needs its number of classes: --loss {parsed.loss}:classes=3")
    return clipped_from(parsed, losses.from_dict({"name": parsed.loss, "radius": parsed.radius, **fields}))


def clipped_from(parsed: argparse.Namespace, loss: losses.Loss) -> losses.Loss:
    """The loss, its gradients clipped where the arguments say so."""
    return loss if parsed.clip is None else losses.clip(loss, parsed.clip)


def total_from(parsed: argparse.Namespace, *, delta: float) -> Total | None:
    """The total that the arguments name, if they name one.

    Raises:
        InvalidParameter: they contradict one another.
    """
    if parsed.total_epsilon is None:
        if parsed.total_delta is not None:
            raise InvalidParameter("--total-delta δ needs --total-epsilon ε: the two are one total")
        return None
    if parsed.no_total:
        raise InvalidParameter("--total-epsilon and --no-total contradict each other; give one of them")
    return Total(parsed.total_epsilon, delta if parsed.total_delta is None else parsed.total_delta)


def budget_from(parsed: argparse.Namespace) -> Budget:
    """The budget the arguments name."""
    dp = 1.0 if parsed.dp is None else parsed.dp
    deletion = 0.1 * dp if parsed.deletion is None else parsed.deletion
    if sum((parsed.order is not None, parsed.delta is not None, bool(parsed.gdp))) > 1:
        raise InvalidParameter("give at most one of --order (Rényi), --delta ((ε, δ)) and --gdp")
    if parsed.gdp:
        return Budget.from_gdp(dp=dp, deletion=deletion)
    if parsed.delta is not None:
        return Budget.from_epsilon_delta(dp=(dp, parsed.delta), deletion=(deletion, parsed.delta))
    return Budget(order=10 if parsed.order is None else parsed.order, dp=dp, deletion=deletion)


def plan_from(
    parsed: argparse.Namespace, *, records: int, features: int, one_hot_blocks: tuple[int, ...] | None = None
) -> Plan:
    """The plan the arguments ask for, at the given sizes."""
    budget = budget_from(parsed)
    return make_plan(
        loss_from(parsed),
        records=records,
        features=features,
        regularization=PAPER_REGULARIZATION if parsed.regularization is None else parsed.regularization,
        budget=budget,
        total=total_from(parsed, delta=budget.shown_delta),
        method=method_from(parsed),
        adjacency=parsed.adjacency,
        deletion_notion=parsed.deletion_notion,
        releases=parsed.releases,
        batch=parsed.batch,
        rows_per_subject=parsed.rows_per_subject,
        utility=not parsed.no_utility,
        dtype=parsed.dtype,
        ridge=parsed.ridge or "given",
        model_norm=parsed.model_norm,
        one_hot_blocks=one_hot_blocks,
    )


def compared(parsed: argparse.Namespace) -> dict[str, Any]:
    """What every method is asked for, but for λ and the budget."""
    return {
        "loss": loss_from(parsed),
        "adjacency": parsed.adjacency,
        "deletion_notion": parsed.deletion_notion,
        "batch": parsed.batch,
        "rows_per_subject": parsed.rows_per_subject,
        "dtype": parsed.dtype,
        "utility": not parsed.no_utility,
        "model_norm": parsed.model_norm,
        "map": getattr(parsed, "map_of_rows", None),  # of a schema
    }


def as_given(parsed: argparse.Namespace) -> dict[str, Any]:
    """The same with λ and the budget as the arguments have them."""
    regularization = PAPER_REGULARIZATION if parsed.regularization is None else parsed.regularization
    ridge = parsed.ridge or "given"
    budget = budget_from(parsed)
    total = total_from(parsed, delta=budget.shown_delta)
    return {**compared(parsed), "regularization": regularization, "ridge": ridge, "budget": budget, "total": total}


def check_stream(parsed: argparse.Namespace) -> None:
    """Refuse what does not go with a budget for a number of requests."""
    if parsed.requests is None:
        raise InvalidParameter("--period DAYS needs --requests N: how many deletion requests come in that time")
    chosen = ", ".join(["--releases"] * (parsed.releases > 1) + list(parsed.method_fields))
    if chosen:
        raise InvalidParameter(
            f"--requests chooses how often to publish, and the options of the method, by forecast: leave {chosen} out, or leave "
            "--requests out and plan with --releases"
        )


def stream_from(parsed: argparse.Namespace, **sizes: Any) -> StreamPlan:
    """The plan for a stream that the arguments ask for.

    Raises:
        InvalidParameter: --period without the number of requests that come in it, or what the forecast chooses itself.
    """
    check_stream(parsed)
    ways = methods.compared() if parsed.method is None else (parsed.method,)
    asked: dict[str, Any] = {"ways": ways}
    asked |= {"requests": parsed.requests, "period": parsed.period, "target": parsed.excess_risk}
    return plan_stream(**asked, **as_given(parsed), **sizes)


def replanned(parsed: argparse.Namespace, plan: Plan) -> Plan:
    """The plan in force with what the arguments change; the very same plan where they change nothing."""
    problem = plan.problem
    arguments = {field.name: getattr(problem, field.name) for field in fields(problem)}
    for name in arguments:
        if getattr(parsed, name, None) is not None:
            arguments[name] = getattr(parsed, name)
    if parsed.method is not None:
        arguments["method"] = method_from(parsed)
    if parsed.no_utility:
        arguments["utility"] = False
    new_total = total_from(parsed, delta=problem.budget.shown_delta if parsed.delta is None else parsed.delta)
    if new_total is not None or parsed.no_total:
        arguments["total"] = new_total
    if parsed.slots is not None:
        arguments["records"] = parsed.slots
    if arguments["features"] != problem.features:
        raise InvalidParameter(
            f"--plan: it is for {arguments['features']} features, and the store has {problem.features}"
        )
    amounts = {name: getattr(parsed, name) for name in ("dp", "deletion") if getattr(parsed, name) is not None}
    if any(value is not None for value in (parsed.order, parsed.delta, parsed.gdp)):
        parsed.gdp = bool(parsed.gdp)
        arguments["budget"] = budget_from(parsed)
    elif amounts:  # in the measure of the plan in force
        arguments["budget"] = replace(problem.budget, **amounts)
    arguments["loss"] = _new_loss(parsed, problem.loss)
    ridge = parsed.ridge or ("given" if problem.asked_regularization is None else "forecast")
    if ridge == "given":
        arguments["regularization"] = parsed.regularization or problem.asked_regularization or problem.regularization
    if parsed.regularization is not None or ridge == "given":
        arguments["asked_regularization"] = None
        arguments["model_norm"] = parsed.model_norm if ridge == "given" else arguments["model_norm"]
    unchanged = arguments == {name: getattr(problem, name) for name in arguments}
    same_ridge = (ridge == "forecast") == (problem.asked_regularization is not None)
    return plan if unchanged and same_ridge else make_plan(**arguments, ridge=ridge)


def _new_loss(parsed: argparse.Namespace, loss: losses.Loss) -> losses.Loss:
    if parsed.loss is not None:
        parsed.radius = loss.radius if parsed.radius is None else parsed.radius
        return loss_from(parsed)
    base = loss
    if isinstance(loss, Clipped):
        base, parsed.clip = loss.base, loss.limit if parsed.clip is None else parsed.clip
    if parsed.radius is not None:
        base = losses.from_dict(base.to_dict() | {"radius": parsed.radius})
    return clipped_from(parsed, base)

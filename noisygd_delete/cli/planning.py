"""`noisygd-delete plan`: from a budget to steps and noise, before any record is touched; and what is asked of a plan comes to."""

from __future__ import annotations

import argparse
from copy import copy
from functools import partial
from typing import Any

from .. import losses, methods
from ..errors import InvalidParameter
from ..evidence.outputs import output
from ..methods import Method
from ..methods.base import AUTO
from ..methods.plan import Plan
from ..planner import cheapest_plan, compare_plans, explain, make_plan, plan_stream
from ..planner.cheapest import Choice
from ..planner.streams import StreamPlan
from ..privacy.budget import Budget
from ..privacy.total import Total
from .instead import or_instead
from .left import warning
from .plan import ADVISED, PAPER_METHOD, PAPER_REGULARIZATION, PLANNED, SIZES, STREAM
from .problem import HEAD, command, take, written
from .shared import MORE, show

_COMPARING = ("compare", "cheapest")


def method_from(parsed: argparse.Namespace) -> Method:
    """The method the arguments name, with the options of its own that were given."""
    return methods.of(parsed.method or PAPER_METHOD, **parsed.method_fields)


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
    }


def _as_given(parsed: argparse.Namespace) -> dict[str, Any]:
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
    return plan_stream(**asked, **_as_given(parsed), **sizes)


def _cheapest(parsed: argparse.Namespace) -> Choice:
    if parsed.ridge != "given":
        raise InvalidParameter(
            "--ridge forecast and --cheapest do not go together: plan with --ridge forecast first and give its λ"
        )
    if parsed.period is not None:
        raise InvalidParameter("--cheapest plans for a number of requests, whenever they come; leave --period out")
    if parsed.requests is not None and parsed.releases > 1:
        raise InvalidParameter("--requests N plans N + 1 releases; give --releases or --requests, not both")
    releases = parsed.releases if parsed.requests is None else parsed.requests + 1
    fixed = {
        name: parsed.method_fields[name] for name in ("step_size", "noise_variance") if name in parsed.method_fields
    }
    return cheapest_plan(
        loss_from(parsed),
        records=parsed.records,
        features=parsed.features,
        regularization=parsed.regularization,
        budget=budget_from(parsed),
        excess_risk=parsed.excess_risk,
        adjacency=parsed.adjacency,
        deletion_notion=parsed.deletion_notion,
        releases=releases,
        batch=parsed.batch,
        rows_per_subject=parsed.rows_per_subject,
        dtype=parsed.dtype,
        **({} if parsed.method is None else {"method": parsed.method}),
        total=total_from(parsed, delta=budget_from(parsed).shown_delta),
        **fixed,
    )


def plan(parsed: argparse.Namespace) -> int:
    asked = {name: getattr(parsed, name) for name in (*SIZES, *ADVISED) if name in parsed}
    target = None if parsed.out is None else output("--out", parsed.out, begins=HEAD.encode())
    comparing = [f"--{name}" for name in _COMPARING if getattr(parsed, name)]

    def typed(problem: dict[str, Any]) -> str:
        return command(problem, *comparing, file=parsed.out)

    file, answer, text = or_instead(asked, partial(_planned, parsed), typed)
    if target is not None:
        target.write(file)
    show(parsed, answer, text)
    return 0


def _planned(parsed: argparse.Namespace, asked: dict[str, Any]) -> tuple[str, dict[str, Any], str]:
    """A problem as a file has it, and what is answered to it: in JSON and in words."""
    parsed = copy(parsed)
    take(parsed, PLANNED | {"proof": None} | STREAM, asked)
    if None in (parsed.records, parsed.features):
        if parsed.out is None:
            raise InvalidParameter(
                f"give --records and --features; or write what is asked, for other commands: {command(asked)}"
            )
        text = f"wrote {parsed.out}: give --plan {parsed.out} to init, quickstart, advise, relearn or audit"
        return written(asked), {"plan": parsed.out, "asked": asked}, text
    if parsed.method == AUTO:
        raise InvalidParameter(
            "is chosen by `advise`, and by `init` for its table; here a method is named", method=AUTO
        )
    if parsed.out is not None and (parsed.compare or parsed.cheapest or not {"requests", "period"}.isdisjoint(asked)):
        unsized = {name: value for name, value in asked.items() if name not in SIZES}
        raise InvalidParameter(
            "--out writes what is asked, not what a forecast chose: leave --compare and --cheapest out, and with --requests the sizes: "
            + command(unsized, file=parsed.out)
        )
    return written(_defaults(parsed) | asked), *_answered(parsed)  # what is shown is what is written


def _defaults(parsed: argparse.Namespace) -> dict[str, Any]:
    """What `plan` takes where nothing is said, and advice would choose otherwise."""
    budget = budget_from(parsed)
    measure = {} if parsed.gdp or parsed.delta is not None else {"order": budget.order}
    return {
        "method": PAPER_METHOD,
        "regularization": parsed.regularization,
        **measure,
        "dp": budget.dp,
        "deletion": budget.deletion,
    }


def _answered(parsed: argparse.Namespace) -> tuple[dict[str, Any], str]:
    if parsed.cheapest:
        choice = _cheapest(parsed)
        return choice.to_dict(), f"{described(parsed, choice.plan)}\n\n{choice.text()}"
    sizes: dict[str, Any] = {name: getattr(parsed, name) for name in SIZES}
    if parsed.compare:
        comparison = compare_plans(**_as_given(parsed), **sizes, target=parsed.excess_risk, requests=parsed.requests)
        return comparison.to_dict(), comparison.table()
    if parsed.requests is not None or parsed.period is not None:
        stream = stream_from(parsed, **sizes)
        text = f"{stream.text()}\n\n{described(parsed, stream.plan)}\n\n{stream.comparison.table()}"
        return {**stream.to_dict(), "plan": stream.plan.summary(), **warning(stream.plan)}, text
    found = plan_from(parsed, **sizes)
    return {**found.summary(), **warning(found)}, described(parsed, found)

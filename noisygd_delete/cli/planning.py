"""`noisygd-delete plan`: from a budget to steps and noise, before any record is touched; and what the arguments of a plan come to."""

from __future__ import annotations

import argparse
from typing import Any

from .. import losses, methods
from ..errors import InvalidParameter
from ..methods import Method
from ..methods.plan import Plan
from ..planner import cheapest_plan, compare_plans, explain, make_plan, plan_stream
from ..planner.cheapest import Choice
from ..planner.streams import StreamPlan
from ..privacy.budget import Budget
from ..privacy.total import Total
from .left import warning
from .plan import PAPER_METHOD, PAPER_REGULARIZATION
from .shared import show

MORE = "more: --explain"
_OWN = (
    *("step_size", "noise_variance", "solver", "diffusion_steps", "gradient_tolerance", "form"),
    *("learn_steps", "delete_steps", "requests_per_learn", "fresh_learn", "fresh_every", "resumed_steps"),
    *("stages", "level"),
)


def method_from(parsed: argparse.Namespace) -> Method:
    """The method the arguments name, with the options of its own that were given."""
    given = {name: getattr(parsed, name) for name in _OWN if getattr(parsed, name) is not None}
    return methods.of(parsed.method or PAPER_METHOD, **given | dict(parsed.option or ()))


def own_options(parsed: argparse.Namespace) -> str:
    """The options of a single method that were given, as they are typed; "" where none was."""
    return ", ".join(f"--{name.replace('_', '-')}" for name in (*_OWN, "option") if getattr(parsed, name) is not None)


def described(parsed: argparse.Namespace, plan: Plan) -> str:
    """The plan in a few lines; with `--explain` in words and numbers."""
    if not parsed.explain:
        return f"{plan.in_short()}\n{MORE}"
    return explain(plan)


def loss_from(parsed: argparse.Namespace) -> losses.Loss:
    """The loss the arguments name; an option that does not belong to it is an error."""
    fields: dict[str, Any] = {"name": parsed.loss, "radius": parsed.radius}
    if parsed.classes is not None:
        fields["classes"] = parsed.classes
    elif parsed.loss in ("softmax", "one-vs-rest", "multilayer-perceptron"):
        raise InvalidParameter(f"--loss {parsed.loss} needs --classes")
    if parsed.hidden is not None:
        fields["hidden"] = parsed.hidden
    if parsed.huber_delta is not None:
        fields["delta"] = parsed.huber_delta
    if parsed.outer_weights is not None:
        fields["outer_weights"] = parsed.outer_weights
    return clipped_from(parsed, losses.from_dict(fields))


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
    chosen = ", ".join(filter(None, ("--releases" if parsed.releases > 1 else "", own_options(parsed))))
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
    given = {"step_size": parsed.step_size, "noise_variance": parsed.noise_variance}
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
        **{name: value for name, value in given.items() if value is not None},
    )


def plan(parsed: argparse.Namespace) -> int:
    if parsed.cheapest:
        choice = _cheapest(parsed)
        show(parsed, choice.to_dict(), f"{described(parsed, choice.plan)}\n\n{choice.text()}")
        return 0
    sizes: dict[str, Any] = {
        "records": parsed.records,
        "features": parsed.features,
        "one_hot_blocks": parsed.one_hot_blocks,
    }
    if (parsed.requests is not None or parsed.period is not None) and not parsed.compare:
        stream = stream_from(parsed, **sizes)
        text = f"{stream.text()}\n\n{described(parsed, stream.plan)}\n\n{stream.comparison.table()}"
        show(parsed, {**stream.to_dict(), "plan": stream.plan.summary(), **warning(stream.plan)}, text)
        return 0
    if parsed.compare:
        comparison = compare_plans(**_as_given(parsed), **sizes, target=parsed.excess_risk, requests=parsed.requests)
        show(parsed, comparison.to_dict(), comparison.table())
        return 0
    found = plan_from(parsed, **sizes)
    show(parsed, {**found.summary(), **warning(found)}, described(parsed, found))
    return 0

"""Read the arguments of a command as the parts of a plan: method, loss, budget, total; and plan by them without advice."""

from __future__ import annotations

import argparse
from typing import Any

from .. import losses, methods
from ..errors import InvalidParameter
from ..methods import Method
from ..methods.base import AUTO, BY_ROW, DEFAULT_METHOD
from ..methods.plan import Plan
from ..methods.specs import format_spec
from ..planner import explain_plan, make_plan, plan_stream
from ..planner.comparison import StreamPlan
from ..privacy.budget import Budget, Total
from .plan_file import NETWORK, PAPER_REGULARIZATION
from .terminal import MORE

OF_CLASSES = ("softmax", "one-vs-rest", "multilayer-perceptron", NETWORK)  # losses that need the number of classes


def method_from(parsed: argparse.Namespace) -> Method:
    """Return the method of --method with its fields, by default `DEFAULT_METHOD`.

    A method with an option `map` also gets the schema's map (`parsed.map_of_rows`), if that map has a coding.
    """
    method = methods.resolve_method(parsed.method or DEFAULT_METHOD, **parsed.method_fields)
    return methods.with_map(method, getattr(parsed, "map_of_rows", None))  # from the schema


def describe_plan(parsed: argparse.Namespace, plan: Plan, why: str = "") -> str:
    """Return the plan as text: a few lines, or the full explanation with `--explain`.

    Args:
        parsed: The arguments.
        plan: The plan.
        why: Why its method was chosen, for a first line that says which method runs; "" for no such line.
    """
    which = f"Runs {plan.method.describe()}; {why}.\n" if why else ""
    return which + (explain_plan(plan) if parsed.explain else f"{plan.summarize()}\n{MORE}")


def named_reason(parsed: argparse.Namespace) -> str:
    """Return why a plan made without advice has its method: "named by --method", or that it is the default here."""
    return (
        "the default here; `advise`, `init` and `quickstart` choose by forecast"
        if parsed.method is None
        else "named by --method"
    )


def loss_from(parsed: argparse.Namespace) -> losses.Loss:
    """Return the loss of --loss with its fields, --radius, and --clip if given.

    Raises:
        InvalidParameter: If the loss needs its number of classes and none is given, a network its module, or an option
            does not belong to it.
    """
    fields = parsed.loss_fields
    if parsed.loss == NETWORK:
        clip = {} if parsed.clip is None else {"clip": parsed.clip}
        return network_from(parsed.radius, **(clip | fields))
    if parsed.loss in OF_CLASSES and "classes" not in fields:
        raise InvalidParameter(f"--loss {parsed.loss} needs its number of classes: --loss {parsed.loss}:classes=3")
    return clipped_from(parsed, losses.from_dict({"name": parsed.loss, "radius": parsed.radius, **fields}))


def network_from(radius: float, *, module: str | None = None, **fields: Any) -> losses.Loss:
    """Return the loss of a torch module that is imported by its name, package.module:function.

    Training starts around 0 by default, so that a store can hold the network without its code.

    Raises:
        InvalidParameter: If no module is named, or a field does not belong to the loss.
    """
    if module is None:
        raise InvalidParameter("--loss network needs its module: --loss network:module=package.module:function")
    from ..networks import NetworkLoss, load_module

    try:
        return NetworkLoss(radius=radius, module=load_module(module), **{"start": "zero", **fields})
    except TypeError as error:
        raise InvalidParameter(f"--loss network: {error}") from error


def clipped_from(parsed: argparse.Namespace, loss: losses.Loss) -> losses.Loss:
    """Return the loss, each record's gradient clipped to norm `--clip` if that was given, else the loss itself."""
    return loss if parsed.clip is None else losses.clip_loss(loss, parsed.clip)


def total_from(parsed: argparse.Namespace, *, delta: float) -> Total | None:
    """Return the total of --total-epsilon and --total-delta; None without --total-epsilon.

    Args:
        parsed: The arguments.
        delta: Default of --total-delta.

    Raises:
        InvalidParameter: If --total-delta is given without --total-epsilon, or --total-epsilon with --no-total.
    """
    if parsed.total_epsilon is None:
        if parsed.total_delta is not None:
            raise InvalidParameter("--total-delta δ needs --total-epsilon ε: the two are one total")
        return None
    if parsed.no_total:
        raise InvalidParameter("--total-epsilon and --no-total contradict each other; give one of them")
    return Total(parsed.total_epsilon, delta if parsed.total_delta is None else parsed.total_delta)


def budget_from(parsed: argparse.Namespace) -> Budget:
    """Return the budget of --dp (default 1) and --deletion (default a tenth of it): GDP, (ε, δ) or Rényi.

    GDP with --gdp, (ε, δ) with --delta, else Rényi of --order (default 10).

    Raises:
        InvalidParameter: If more than one of --order, --delta and --gdp is given.
    """
    dp = 1.0 if parsed.dp is None else parsed.dp
    deletion = 0.1 * dp if parsed.deletion is None else parsed.deletion
    if sum((parsed.order is not None, parsed.delta is not None, bool(parsed.gdp))) > 1:
        raise InvalidParameter("give at most one of --order (Rényi), --delta ((ε, δ)) and --gdp")
    if parsed.gdp:
        return Budget.from_gdp(dp=dp, deletion=deletion)
    if parsed.delta is not None:
        return Budget.from_epsilon_delta(dp=(dp, parsed.delta), deletion=(deletion, parsed.delta))
    return Budget(order=10 if parsed.order is None else parsed.order, dp=dp, deletion=deletion)


def plan_from(parsed: argparse.Namespace, **sizes: Any) -> Plan:
    """Return the plan of the named method, or of the default one, for the arguments at the given sizes, by `make_plan`."""
    options = given_arguments(parsed)
    del options["map"]  # already part of the method
    return make_plan(**options, **sizes, method=method_from(parsed), releases=parsed.releases)


def comparison_arguments(parsed: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments common to every compared method, as keywords of the planner, without λ, budget and total.

    These are loss, adjacency, deletion_notion, batch, rows_per_subject, weighting, rows_a_person, dtype, utility, model_norm
    and map.
    Rows of a source are weighted by row unless --weighting says otherwise.
    """
    elsewhere = parsed.weighting == AUTO and getattr(parsed, "source", None) is not None
    return {
        "loss": loss_from(parsed),
        "adjacency": parsed.adjacency,
        "deletion_notion": parsed.deletion_notion,
        "batch": parsed.batch,
        "rows_per_subject": parsed.rows_per_subject,
        "weighting": BY_ROW if elsewhere else parsed.weighting,
        "rows_a_person": getattr(parsed, "rows_a_person", 1.0),  # of a file
        "dtype": parsed.dtype,
        "utility": not parsed.no_utility,
        "model_norm": parsed.model_norm,
        "map": getattr(parsed, "map_of_rows", None),  # from the schema
    }


def given_arguments(parsed: argparse.Namespace) -> dict[str, Any]:
    """Return `comparison_arguments` with λ, ridge, budget and total, by default those of a plan without advice.

    The defaults are λ = 1e-3, ridge "given" and the budget of `budget_from`; the total is None without --total-epsilon.
    """
    regularization = PAPER_REGULARIZATION if parsed.regularization is None else parsed.regularization
    ridge = parsed.ridge or "given"
    budget = budget_from(parsed)
    total = total_from(parsed, delta=budget.shown_delta)
    return {
        **comparison_arguments(parsed),
        "regularization": regularization,
        "ridge": ridge,
        "budget": budget,
        "total": total,
    }


def check_stream(parsed: argparse.Namespace) -> None:
    """Check that the arguments fit a budget for a number of requests.

    Raises:
        InvalidParameter: If `--requests` is missing, or `--releases` above 1 or fields of the method, except
            `analysis`, are given.
    """
    if parsed.requests is None:
        raise InvalidParameter("--period DAYS needs --requests N: how many deletion requests come in that time")
    own = [name for name in parsed.method_fields if name != "analysis"]
    chosen = ", ".join(["--releases"] * (parsed.releases > 1) + own)
    if chosen:
        raise InvalidParameter(
            f"--requests chooses how often to publish, and the options of the method, by forecast: leave {chosen} out, or leave "
            "--requests out and plan with --releases"
        )


def stream_from(parsed: argparse.Namespace, **sizes: Any) -> StreamPlan:
    """Return the plan for --requests in --period days: how often to publish, and by which method, by forecast cost.

    A named method is the only candidate.

    Raises:
        InvalidParameter: If --period is given without --requests, or with options that the forecast chooses.
    """
    check_stream(parsed)
    named = () if parsed.method is None else (format_spec(parsed.method, parsed.method_fields),)
    options: dict[str, Any] = {"ways": named or methods.compared_methods()}
    options |= {"requests": parsed.requests, "period": parsed.period, "target": parsed.excess_risk}
    return plan_stream(**options, **given_arguments(parsed), **sizes)

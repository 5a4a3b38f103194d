"""Choose the plan of a command: from its arguments, or by advice if no method is named; and its total budget."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from itertools import chain, product, takewhile
from typing import Any, TypeVar

from .. import losses, methods
from ..errors import InvalidParameter, NoisyGDDeleteError, NothingWorthHaving
from ..features.schema import Schema
from ..features.schema.columns import Numeric
from ..features.schema.hashed import Text
from ..losses.clipped import Clipped
from ..methods import METHODS, Method
from ..methods.base import AUTO, BY_ROW, DEFAULT_METHOD
from ..methods.plan import Plan
from ..methods.specs import format_spec, parse_spec
from ..planner import advise, explain_plan, make_advised_plan, make_plan, plan_stream
from ..planner.advise import Advice
from ..planner.comparison import StreamPlan
from ..planner.defaults import (
    DELETION,
    EPSILON,
    PUBLICATIONS,
    TOTAL_EPSILON,
    default_delta,
    default_slots,
    default_total,
    with_total,
)
from ..planner.service import DeletionService, choose_service
from ..privacy.budget import Budget, Total
from .plan_file import NETWORK, PAPER_REGULARIZATION, PLANNED, SIZES, STREAM, plan_command
from .terminal import MORE

_OF_CLASSES = ("softmax", "one-vs-rest", "multilayer-perceptron", NETWORK)  # losses that need the number of classes

# --- plan of a named method ---


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
    if parsed.loss in _OF_CLASSES and "classes" not in fields:
        raise InvalidParameter(f"--loss {parsed.loss} needs its number of classes: --loss {parsed.loss}:classes=3")
    return clipped_from(parsed, losses.from_dict({"name": parsed.loss, "radius": parsed.radius, **fields}))


def network_from(radius: float, *, module: str | None = None, **fields: Any) -> losses.Loss:
    """Return the loss of a torch module that is imported by its name, package.module:function.

    Training starts around 0 by default, so that a store can hold the network without its code.

    Args:
        radius: Bound on the norm of a feature row.
        module: Name of the module.
        **fields: Further fields of `NetworkLoss`.

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
    """Return the plan of the named method, or of the default one, for the arguments at the given sizes, by `make_plan`.

    Args:
        parsed: The arguments; stream options are ignored.
        **sizes: `records`, `features` and `one_hot_blocks`.
    """
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

    Args:
        parsed: The arguments. A named method is the only candidate; without one, all compared methods are.
        **sizes: `records`, `features` and `one_hot_blocks`.

    Raises:
        InvalidParameter: If --period is given without --requests, or with options that the forecast chooses.
    """
    check_stream(parsed)
    named = () if parsed.method is None else (format_spec(parsed.method, parsed.method_fields),)
    options: dict[str, Any] = {"ways": named or methods.compared_methods()}
    options |= {"requests": parsed.requests, "period": parsed.period, "target": parsed.excess_risk}
    return plan_stream(**options, **given_arguments(parsed), **sizes)


def replan(parsed: argparse.Namespace, plan: Plan) -> Plan:
    """Return `plan` made again with the given arguments, the others as in `plan`; `plan` itself if nothing changes.

    --dp and --deletion alone are in the measure of the current plan; --slots is the new n. A λ raised by forecast is
    raised anew from the requested one, unless --ridge says otherwise.

    Raises:
        InvalidParameter: If the plan file is for another number of features.
    """
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
    elif amounts:  # in the measure of the current plan
        arguments["budget"] = replace(problem.budget, **amounts)
    arguments["loss"] = _new_loss(parsed, problem.loss)
    ridge = parsed.ridge or ("given" if problem.requested_regularization is None else "forecast")
    if ridge == "given":
        arguments["regularization"] = (
            parsed.regularization or problem.requested_regularization or problem.regularization
        )
    if parsed.regularization is not None or ridge == "given":
        arguments["requested_regularization"] = None
        arguments["model_norm"] = parsed.model_norm if ridge == "given" else arguments["model_norm"]
    unchanged = arguments == {name: getattr(problem, name) for name in arguments}
    same_ridge = (ridge == "forecast") == (problem.requested_regularization is not None)
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


@dataclass(frozen=True)
class Chosen:
    """A plan and how it was chosen.

    Attributes:
        plan: The plan.
        advice: The comparison that it was chosen from; None if the method was named.
        stream: The schedule for an expected number of requests; None if none was given.
        service: How two years of requests are served; None if the options of the plan decide that.
    """

    plan: Plan
    advice: Advice | None
    stream: StreamPlan | None
    service: DeletionService | None = None

    def text(self, *, whole: bool) -> str:
        """Return how the plan was chosen: the schedule of the stream and the advice; "" if there is neither.

        Args:
            whole: Whether the advice is a table, instead of a few lines.
        """
        stream = "" if self.stream is None else self.stream.text()
        advice = "" if self.advice is None else self.advice.table() if whole else self.advice.summarize()
        return "\n\n".join(filter(None, (stream, advice, service_text(self.service))))


def service_text(service: DeletionService | None) -> str:
    """Return how requests are served and why, as one line; "" for None."""
    return "" if service is None else f"deletions are served by {service.reason}"


def choose_plan(parsed: argparse.Namespace, **sizes: Any) -> Chosen:
    """Return the plan for the arguments, with its total budget: that given, none with --no-total, else `default_total`.

    It is by advice for method `AUTO`, by forecast if --requests or --period is given, and by the options otherwise.

    Args:
        parsed: The arguments.
        **sizes: `records`, `features` and `one_hot_blocks`.

    Raises:
        NothingWorthHaving: If the advice finds no useful plan at these sizes; names the `plan` command to go on.
    """
    streamed = parsed.requests is not None or parsed.period is not None
    if parsed.method == AUTO:
        advice = advise_plan(parsed, **sizes)
        if not advice.worth_having:
            raise NothingWorthHaving(
                f"{advice.refusal()}. To go on all the same {plan_command(advised_problem(parsed, advice))} and give the command again with --plan plan.toml in "
                "place of what it says of a plan: every certificate holds, the model may be no better than guessing"
            )
        plan = make_advised_plan(advice, _format_total(parsed, advice.plan))
        requests = parsed.requests
        stream = None if requests is None else StreamPlan(advice.comparison, requests, parsed.period)
        service = _choose_service(parsed, advice, plan, **sizes)
        if service is not None:
            plan, advice = service.plan, service.advice
        return Chosen(plan, advice, stream, service)
    check_unserved(parsed)
    stream = stream_from(parsed, **sizes) if streamed else None
    plan = plan_from(parsed, **sizes) if stream is None else stream.plan
    return Chosen(with_total(plan, _format_total(parsed, plan)), None, stream)


def _choose_service(parsed: argparse.Namespace, advice: Advice, plan: Plan, **sizes: Any) -> DeletionService | None:
    """Return how two years of requests are served, by --requests-per-year; None if the plan's options decide that."""
    options = ("requests", "total_epsilon", "order")
    decided = parsed.gdp or parsed.no_total or plan.problem.releases > 1 or getattr(parsed, "source", None) is not None
    if decided or any(getattr(parsed, name) is not None for name in options):
        check_unserved(parsed)
        return None
    return choose_service(advice, plan, parsed.requests_per_year, **_advice_arguments(parsed, **sizes))


def check_unserved(parsed: argparse.Namespace) -> None:
    """Check that --requests-per-year is not given where it decides nothing.

    Raises:
        InvalidParameter: If it is.
    """
    if parsed.requests_per_year is not None:
        raise InvalidParameter(
            "--requests-per-year is for `init` and `quickstart`, which choose releases under the default total by it: leave it out for a --source, "
            "and with a plan that names a method, a total, releases or requests"
        )


def _advice_arguments(parsed: argparse.Namespace, **sizes: Any) -> dict[str, Any]:
    """Return the arguments of `advise` other than method, λ, budget, releases and requests."""
    facts = comparison_arguments(parsed)
    if facts["model_norm"] is None and parsed.regularization is None:
        facts["model_norm"] = getattr(parsed, "usual_norm", None)  # from the schema
    return {**facts, **sizes, "proof": parsed.proof}


def advise_plan(parsed: argparse.Namespace, **sizes: Any) -> Advice:
    """Return advice on method, λ, batch and releases for what the arguments leave open, from public sizes alone.

    For a --source the method is objective perturbation.

    Args:
        parsed: The arguments.
        **sizes: `records`, `features` and `one_hot_blocks`.

    Raises:
        InvalidParameter: If fields of a method or --ridge are given, or stream options contradict each other.
    """
    requests = parsed.requests
    if requests is not None or parsed.period is not None:
        check_stream(parsed)
    if parsed.method_fields:
        raise InvalidParameter(
            f"--method {parsed.method}: advice chooses {', '.join(parsed.method_fields)}; leave it out, or use `plan`"
        )
    if parsed.ridge is not None:
        raise InvalidParameter(
            "--ridge: the advice chooses λ; give --regularization λ to have it as it is, or name a --method"
        )
    releases: dict[str, Any] = {} if requests is not None else {"releases": releases_from(parsed)}
    return advise(
        **_advice_arguments(parsed, **sizes),
        **releases,
        method=parsed.method if getattr(parsed, "source", None) is None else "objective-perturbation",
        regularization=parsed.regularization,
        budget=advised_budget(parsed, sizes["records"]),
        requests=requests,
    )


def advised_problem(parsed: argparse.Namespace, advice: Advice) -> dict[str, Any]:
    """Return the options of `plan` that make the advised plan; method, λ, adjacency and budget are the advice's.

    Of the given options the others are kept, except sizes, stream options, --proof and --ridge. `releases` and `batch`
    are in it only if not the default. With a given model_norm, λ is the requested one with ridge = "forecast"; for a
    chain, model_norm is dropped.

    Args:
        parsed: The arguments, as `fill_arguments` left them.
        advice: The advice for them.
    """
    chosen, budget, problem = advice.list_options(), advice.plan.problem.budget, advice.plan.problem
    options = {
        name: value for name, value in parsed.given_options.items() if name not in (*STREAM, *SIZES, "proof", "ridge")
    }
    if advice.chained is not None:  # its λ is not that of the forecast
        options.pop("model_norm", None)
    elif parsed.model_norm is not None:
        options["ridge"] = "forecast"
        chosen["regularization"] = problem.requested_regularization or problem.regularization
    own = {name: value for name, value in chosen.items() if name not in PLANNED}
    clip = chosen.pop("clip", None) if parsed.clip is None else parsed.clip
    amounts = {
        "clip": clip,
        "dp": budget.dp,
        "deletion": budget.deletion,
        "delta": budget.dp_delta,
        "order": budget.order,
    }
    return {
        "method": format_spec(chosen["method"], own),
        "adjacency": str(problem.adjacency),
        "regularization": chosen["regularization"],
        **{name: value for name, value in amounts.items() if value is not None},
        **{name: chosen[name] for name in ("releases", "batch") if chosen[name] != PLANNED[name]},
        **{name: value for name, value in options.items() if name not in (*chosen, *amounts)},
    }


def releases_from(parsed: argparse.Namespace) -> int:
    """Return the number of releases that share --dp: that of --releases, by default 1.

    It is `PUBLICATIONS` if --total-epsilon is given without --dp, --requests and --releases.
    """
    if parsed.requests is None and parsed.total_epsilon is not None and parsed.dp is None and parsed.releases == 1:
        return PUBLICATIONS
    return parsed.releases  # type: ignore[no-any-return]


def advised_budget(parsed: argparse.Namespace, records: int) -> Budget:
    """Return the budgets for present and erased records that the arguments name, completed by the defaults in (ε, δ).

    The default is that of one release, or of the total (--total-epsilon or `TOTAL_EPSILON`) if several releases or
    --requests share it; a tenth of it is for erased records. Rényi and GDP budgets are those of `budget_from`.

    Args:
        parsed: The arguments.
        records: n, of which the default δ is a function.
    """
    if parsed.order is not None or parsed.gdp:
        return budget_from(parsed)
    shared = parsed.requests is not None or releases_from(parsed) > 1
    delta = parsed.delta
    if delta is None:
        delta = default_delta(records) if parsed.total_delta is None else parsed.total_delta
    usual = parsed.total_epsilon or TOTAL_EPSILON if shared else EPSILON
    dp = usual if parsed.dp is None else parsed.dp
    tenth = dp * DELETION / (TOTAL_EPSILON if shared else EPSILON)
    deletion = tenth if parsed.deletion is None else parsed.deletion
    return Budget.from_epsilon_delta(dp=(dp, delta), deletion=(deletion, delta))


def _format_total(parsed: argparse.Namespace, plan: Plan) -> Any:
    given = total_from(parsed, delta=plan.problem.budget.shown_delta)
    return given if given is not None or parsed.no_total else default_total(plan)


_NAMED = 4  # columns in one sentence


def sizes_of(parsed: argparse.Namespace, schema: Schema, slots: int) -> dict[str, Any]:
    """Return {records, features, one_hot_blocks} for the rows of a schema, and fill in what the schema determines.

    Set in `parsed`: loss and radius (`fill_loss`) and `rows_per_subject` where not given, `usual_norm` and
    `map_of_rows`.

    Args:
        parsed: The arguments, modified in place.
        schema: Schema of the rows.
        slots: n, returned as `records`.
    """
    fill_loss(parsed, schema)
    if parsed.rows_per_subject is None:
        parsed.rows_per_subject = schema.rows_per_subject or 1
    parsed.usual_norm = schema.target_norm if schema.classes is None else None
    parsed.map_of_rows = schema.map_of_rows
    return {"records": slots, "features": schema.features, "one_hot_blocks": schema.one_hot_blocks}


def with_schema_map(parsed: argparse.Namespace, schema: Schema, rows: Callable[[], int] | None) -> Schema:
    """Return the schema with the feature map of --map; unchanged if it has a map, or for --map columns.

    With `auto` it is an additive map where `additive_where_it_pays` finds one, and none for a loss or method that
    excludes it.

    Args:
        parsed: Arguments of the command.
        schema: Schema of the table.
        rows: Counts the rows, which `auto` needs without --slots; None if they cannot be counted here: then `auto`
            gives no map.
    """
    if rows is not None and schema.map is None and parsed.map == AUTO and may_be_additive(parsed, schema):
        return additive_where_it_pays(parsed, schema, default_slots(rows()) if parsed.slots is None else parsed.slots)
    name, fields = parse_spec("map", parsed.map)
    return schema.additive(**fields) if schema.map is None and name == "additive" else schema


def may_be_additive(parsed: argparse.Namespace, schema: Schema) -> bool:
    """Return whether `auto` may choose an additive map: by method, loss and columns.

    The method is `AUTO`, the loss open, logistic, softmax or pseudo-huber, at least one column numeric, and none text.
    """
    kinds = schema.columns.values()
    return (
        parsed.method == AUTO
        and parsed.loss in (None, "logistic", "softmax", "pseudo-huber")
        and any(isinstance(kind, Numeric) for kind in kinds)
        and not any(isinstance(kind, Text) for kind in kinds)
    )


def additive_where_it_pays(parsed: argparse.Namespace, schema: Schema, slots: int) -> Schema:
    """Return the schema with the first additive map of its `levels` whose curves the advice supports; else unchanged.

    Sizes and budget alone decide. Levels that no plan can be made for are skipped. `parsed` is completed as by
    `sizes_of`.

    Args:
        parsed: The arguments, modified in place.
        schema: Schema without a map.
        slots: n.
    """
    for levels, bins in schema.levels:
        mapped = schema.additive(levels=levels)
        with suppress(
            NoisyGDDeleteError
        ):  # no plan for this many columns; any other error is raised again for the plain columns
            if advise_plan(parsed, **sizes_of(parsed, mapped, slots)).bears_curves(bins):
                return mapped
    return schema


def fill_loss(parsed: argparse.Namespace, schema: Schema) -> None:
    """Set the loss that fits the schema's label, its number of classes, and the row norm, where not given.

    The loss is logistic for two classes, softmax for more, pseudo-huber for a target. A given loss with classes, such
    as one-vs-rest, gets the schema's number of classes too. `parsed` is modified in place.
    """
    if parsed.radius is None:
        parsed.radius = schema.radius
    if parsed.loss is None and schema.classes is None:
        parsed.loss = "pseudo-huber"
    elif parsed.loss is None and schema.classes is not None:
        parsed.loss = "logistic" if len(schema.classes) == 2 else "softmax"
    if parsed.loss in _OF_CLASSES and schema.classes:
        parsed.loss_fields = {"classes": len(schema.classes), **parsed.loss_fields}


def list_columns(columns: Sequence[str]) -> str:
    """Return the first four names, joined by commas, and "and N more" if there are more."""
    more = f" and {len(columns) - _NAMED} more" if len(columns) > _NAMED else ""
    return ", ".join(columns[:_NAMED]) + more


# --- nearest feasible problem ---
#
# A suggestion for a refused problem: the nearest one that can be planned, tried before it is printed.


Options = dict[str, Any]
Answer = TypeVar("Answer")

_MEASURE = ("gdp", "order", "delta")  # dropping the measure would change the meaning of the budget
_LEFT_OUT = ("releases", "period", *_MEASURE, "total_delta", "no_total", "ridge", "excess_risk")
_RIDGES = (1e-3, 1e-2, 0.1, 1.0)
_PATIENCE = 3.0  # CPU seconds for the search
_COMMAND = "noisygd-delete "


def attempt_with_suggestion(
    options: Options, attempt: Callable[[Options], Answer], command: Callable[[Options], str]
) -> Answer:
    """Return `attempt(options)`; add the note "instead: COMMAND" to an error that names no command, and raise it.

    The command is that of the first similar problem that `attempt` accepts; the search takes at most three CPU seconds,
    and without success adds no note.

    Args:
        options: Options of `plan`, by their Python names.
        attempt: Plans a problem, or raises.
        command: Returns the command for a problem.
    """
    try:
        return attempt(options)
    except NoisyGDDeleteError as error:
        found = (
            None
            if _COMMAND in str(error)
            else next((one for one in _nearby_requests(options) if _is_accepted(attempt, one)), None)
        )
        if found is not None:
            error.add_note(f"instead: {command(found)}")
        raise


def _is_accepted(attempt: Callable[[Options], Any], options: Options) -> bool:
    try:
        attempt(options)
    except (NoisyGDDeleteError, ArithmeticError):
        return False
    return True


def _nearby_requests(options: Options) -> Iterator[Options]:
    """Yield similar problems, for at most `_PATIENCE` CPU seconds.

    In order: the same method without fields, or for several releases; one option left out, or classes given; another
    method, latest registered first; a larger λ.
    """
    until = time.process_time() + _PATIENCE
    method = str(options.get("method") or "").partition(":")[0]
    kept = _MEASURE if {"dp", "deletion"} & options.keys() else ()
    fewer = [
        {name: value for name, value in options.items() if name != gone}
        for gone in _LEFT_OUT
        if gone in options and gone not in kept
    ]
    if options.get("loss") in _OF_CLASSES:
        fewer.append(options | {"loss": f"{options['loss']}:classes=3"})
    others = [other for other in reversed(tuple(METHODS)) if other != method]
    own = [method] if method in METHODS else []
    ways = chain(
        (options | {"method": name} for name in own),
        (options | {"method": name, "releases": PUBLICATIONS} for name in own if options.get("releases", 1) == 1),
        fewer,
        (problem | {"method": other} for problem, other in product((options, *fewer), others)),
        (
            problem | {"method": other, "regularization": ridge}
            for problem, ridge, other in product((options, *fewer), _RIDGES, (*own, *others))
        ),
    )
    return takewhile(lambda _: time.process_time() < until, ways)

"""What a command plans where the method is left to it: the advice and its first line; and every command's total."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidParameter, NoisyGDDeleteError, NothingWorthHaving
from ..features.schema import Schema
from ..features.schema.columns import Numeric
from ..features.schema.hashed import Text
from ..methods.base import AUTO
from ..methods.plan import Plan
from ..planner import advise, advised_plan
from ..planner.advise import Advice
from ..planner.streams import StreamPlan
from ..planner.usual import (
    DELETION,
    EPSILON,
    PUBLICATIONS,
    TOTAL_EPSILON,
    capped,
    usual_delta,
    usual_slots,
    usual_total,
)
from ..privacy.budget import Budget
from .asked_plan import budget_from, check_stream, compared, plan_from, stream_from, total_from
from .plan_file import PLANNED, SIZES, STREAM, command, joined, spec


@dataclass(frozen=True)
class Chosen:
    """A plan, and how it came about.

    advice  the ways it was chosen from; None where the method was named
    stream  its schedule, where requests were counted on
    """

    plan: Plan
    advice: Advice | None
    stream: StreamPlan | None

    def text(self, *, whole: bool) -> str:
        """How the plan came about; the whole of it, or in short."""
        stream = "" if self.stream is None else self.stream.text()
        advice = "" if self.advice is None else self.advice.table() if whole else self.advice.in_short()
        return "\n\n".join(filter(None, (stream, advice)))


def chosen(parsed: argparse.Namespace, **sizes: Any) -> Chosen:
    """The plan that the arguments ask for; by advice where they name no method.

    Raises:
        NothingWorthHaving: the advice is that nothing useful can be had at these sizes.
    """
    streamed = parsed.requests is not None or parsed.period is not None
    if parsed.method == AUTO:
        advice = advised(parsed, **sizes)
        if not advice.worth_having:
            raise NothingWorthHaving(
                f"{advice.refusal()}. To go on all the same {command(advised_problem(parsed, advice))} and give the command again with --plan plan.toml in "
                "place of what it says of a plan: every certificate holds, the model may be no better than guessing"
            )
        plan = advised_plan(advice, _total(parsed, advice.plan))
        requests = parsed.requests
        stream = None if requests is None else StreamPlan(advice.comparison, requests, parsed.period)
        return Chosen(plan, advice, stream)
    stream = stream_from(parsed, **sizes) if streamed else None
    plan = plan_from(parsed, **sizes) if stream is None else stream.plan
    return Chosen(capped(plan, _total(parsed, plan)), None, stream)


def advised(parsed: argparse.Namespace, **sizes: Any) -> Advice:
    """The advice for what the arguments leave open.

    Raises:
        InvalidParameter: arguments that belong to a named method, or contradict one another.
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
    facts = compared(parsed)
    if facts["model_norm"] is None and parsed.regularization is None:
        facts["model_norm"] = getattr(parsed, "usual_norm", None)  # of a schema
    releases: dict[str, Any] = {} if requests is not None else {"releases": asked_releases(parsed)}
    return advise(
        **facts,
        **sizes,
        **releases,
        method=parsed.method if getattr(parsed, "source", None) is None else "perturbed",
        regularization=parsed.regularization,
        budget=advised_budget(parsed, sizes["records"]),
        requests=requests,
        proof=parsed.proof,
    )


def advised_problem(parsed: argparse.Namespace, advice: Advice) -> dict[str, Any]:
    """What was asked with the advice in it, for `plan --out`: the same plan, whoever reads it."""
    chosen, budget, problem = advice.options(), advice.plan.budget, advice.plan.problem
    asked = {name: value for name, value in parsed.asked.items() if name not in (*STREAM, *SIZES, "proof", "ridge")}
    if advice.chained is not None:  # whose λ is not the forecast's
        asked.pop("model_norm", None)
    elif parsed.model_norm is not None:
        asked["ridge"] = "forecast"
        chosen["regularization"] = problem.asked_regularization or problem.regularization
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
        "method": joined(chosen["method"], own),
        "regularization": chosen["regularization"],
        **{name: value for name, value in amounts.items() if value is not None},
        **{name: chosen[name] for name in ("releases", "batch") if chosen[name] != PLANNED[name]},
        **{name: value for name, value in asked.items() if name not in (*chosen, *amounts)},
    }


def asked_releases(parsed: argparse.Namespace) -> int:
    """The releases that share a budget. A total without a budget of one release is shared among a year's: the learn, and each month."""
    if parsed.requests is None and parsed.total_epsilon is not None and parsed.dp is None and parsed.releases == 1:
        return PUBLICATIONS
    return parsed.releases  # type: ignore[no-any-return]


def advised_budget(parsed: argparse.Namespace, records: int) -> Budget:
    """The budget the arguments name; where they leave it open, the usual one, in (ε, δ)."""
    if parsed.order is not None or parsed.gdp:
        return budget_from(parsed)
    shared = parsed.requests is not None or asked_releases(parsed) > 1
    delta = parsed.delta
    if delta is None:
        delta = usual_delta(records) if parsed.total_delta is None else parsed.total_delta
    usual = parsed.total_epsilon or TOTAL_EPSILON if shared else EPSILON
    dp = usual if parsed.dp is None else parsed.dp
    tenth = dp * DELETION / (TOTAL_EPSILON if shared else EPSILON)
    deletion = tenth if parsed.deletion is None else parsed.deletion
    return Budget.from_epsilon_delta(dp=(dp, delta), deletion=(deletion, delta))


def _total(parsed: argparse.Namespace, plan: Plan) -> Any:
    given = total_from(parsed, delta=plan.budget.shown_delta)
    return given if given is not None or parsed.no_total else usual_total(plan)


_NAMED = 4  # columns in one sentence


def sizes_of(parsed: argparse.Namespace, schema: Schema, slots: int) -> dict[str, Any]:
    """What of a schema's rows a plan is made from, the loss filled in."""
    fill_loss(parsed, schema)
    if parsed.rows_per_subject is None:
        parsed.rows_per_subject = schema.rows_per_subject or 1
    parsed.usual_norm = schema.target_norm if schema.classes is None else None
    parsed.map_of_rows = schema.map_of_rows
    return {"records": slots, "features": schema.features, "one_hot_blocks": schema.one_hot_blocks}


def on_its_map(parsed: argparse.Namespace, schema: Schema, rows: Callable[[], int] | None) -> Schema:
    """The schema with the map that --map names, or that its sizes speak for: then the rows are counted first, where that can be done here."""
    if rows is not None and schema.map is None and parsed.map == AUTO and may_be_additive(parsed, schema):
        return additive_where_it_pays(parsed, schema, usual_slots(rows()) if parsed.slots is None else parsed.slots)
    name, fields = spec("map", parsed.map)
    return schema.additive(**fields) if schema.map is None and name == "additive" else schema


def may_be_additive(parsed: argparse.Namespace, schema: Schema) -> bool:
    """Whether method and loss are left open, and the columns are numbers, some of them, and no text."""
    kinds = schema.columns.values()
    return (
        parsed.method == AUTO
        and parsed.loss in (None, "logistic", "softmax", "pseudo-huber")
        and any(isinstance(kind, Numeric) for kind in kinds)
        and not any(isinstance(kind, Text) for kind in kinds)
    )


def additive_where_it_pays(parsed: argparse.Namespace, schema: Schema, slots: int) -> Schema:
    """The schema on an additive map, where the advice for its rows says so by sizes and budget alone; else as it is."""
    for levels, few in schema.levels:
        mapped = schema.additive(levels=levels)
        with suppress(
            NoisyGDDeleteError
        ):  # no plan on so many columns; what is wrong beside that is said of the columns
            if advised(parsed, **sizes_of(parsed, mapped, slots)).bears_curves(few=few):
                return mapped
    return schema


def fill_loss(parsed: argparse.Namespace, schema: Schema) -> None:
    """The loss that fits the schema's label, and its row norm, where the arguments leave them open."""
    if parsed.radius is None:
        parsed.radius = schema.radius
    if parsed.loss is None and schema.classes is None:
        parsed.loss = "pseudo-huber"
    elif parsed.loss is None and schema.classes is not None:
        parsed.loss = "logistic" if len(schema.classes) == 2 else "softmax"
    if parsed.loss in ("softmax", "multilayer-perceptron", "one-vs-rest") and schema.classes:
        parsed.loss_fields = {"classes": len(schema.classes), **parsed.loss_fields}


def listed(columns: Sequence[str]) -> str:
    """The first columns by name, and how many more there are."""
    more = f" and {len(columns) - _NAMED} more" if len(columns) > _NAMED else ""
    return ", ".join(columns[:_NAMED]) + more

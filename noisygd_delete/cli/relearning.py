"""`noisygd-delete relearn`: a fresh learn, under the plan in force with what the arguments change."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from .. import losses
from ..accountant import Accountant
from ..errors import InvalidParameter
from ..losses.clipped import Clipped
from ..methods.plan import Plan
from ..planner import make_plan
from ..privacy.guarantee import FIXED_SCHEDULE
from ..privacy.shown import shown
from .changing import open_store, released
from .left import warning
from .plan import PLANNED
from .planning import budget_from, clipped_from, described, loss_from, method_from, total_from
from .problem import take
from .shared import show


def relearn(parsed: argparse.Namespace) -> int:
    take(parsed, dict.fromkeys(PLANNED))  # None: as in the plan in force
    with open_store(parsed) as store:
        plan = _replanned(parsed, store.plan)
        if store.ledger.releases:
            plan = plan.after(store.plan, store.accountant.dp_cumulative(adjacency=plan.problem.adjacency))
        if parsed.dry_run:
            foreseen = _relearning(plan, store.accountant)
            show(
                parsed,
                {**plan.summary(), **warning(plan), **foreseen},
                f"{described(parsed, plan)}\n\n{_relearning_text(foreseen)}",
            )
            return 0
        return released(
            parsed, "relearn", plan, lambda how: store.relearn(plan, request_id=parsed.request_id, execution=how), store
        )


def _relearning(plan: Plan, spent: Accountant) -> dict[str, Any]:
    """What a fresh learn by this plan would cost on top of what is out."""
    ahead = spent.under(plan).ahead()
    event = ahead.planned("relearn" if spent.releases else "learn")
    affordable = ahead.affordable(event)
    ahead.add(event)
    foreseen = ahead.foresight(plan.budget.shown_delta)
    return {
        "publication": "published" if affordable else "refused",
        "epsilon_before": foreseen.before or 0.0,
        "epsilon_after": foreseen.after,
        "delta": foreseen.delta,
    }


def _relearning_text(foreseen: Mapping[str, Any]) -> str:
    text = (
        f"Release: {foreseen['publication']}. A record still there, over all releases: ε={shown(foreseen['epsilon_before'])} now, "
        f"ε={shown(foreseen['epsilon_after'])} after (δ={shown(foreseen['delta'])}), if {FIXED_SCHEDULE}."
    )
    if foreseen["publication"] == "refused":
        text += " What is spent stays spent, so a larger --dp, or --total-epsilon where a total was set, is needed; more --releases in the same --dp do not help."
    return text


def _replanned(parsed: argparse.Namespace, plan: Plan) -> Plan:
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

"""`noisygd-delete learn` and `relearn`: train from the initial law and publish the model.

`relearn` uses the current plan with the changes of a plan file.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from ..errors import InvalidParameter, NothingPromised
from .arguments import parse_integer, store_command
from .plan_file import PLANNED, fill_arguments
from .statements import add_request_id
from .terminal import print_result

if TYPE_CHECKING:
    from ..accountant import Accountant
    from ..losses import Loss
    from ..methods.plan import Plan


def register(commands: Any) -> None:
    """Add the commands `learn` and `relearn` and their options to the parser."""
    parser = store_command(commands, "learn", "learn STORE", learn)
    parser.take("--dry-run", "--explain", "--device", "--memory")
    add_request_id(parser)
    parser = store_command(commands, "relearn", "relearn STORE --plan plan.toml --dry-run", relearn)
    parser.add_argument("--slots", type=parse_integer, metavar="N", help="a larger n; default: as before")
    add_request_id(parser)
    parser.take("--plan", "--dry-run", "--explain", "--device", "--memory")


def learn(parsed: argparse.Namespace) -> int:
    """Learn from the initial law by the store's plan, print the release, and return 0, or 3 if it was withheld.

    With --dry-run print the plan only and return 0.
    """
    from .release import open_store, report_release, tracking_progress
    from .remaining_budget import weak_plan_warning

    with open_store(parsed) as store, warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingPromised)  # the answer says it
        if parsed.dry_run:
            from .plan_arguments import describe_plan

            print_result(
                parsed, {**store.plan.summary(), **weak_plan_warning(store.plan)}, describe_plan(parsed, store.plan)
            )
            return 0
        with tracking_progress(parsed, "learn", store.plan) as execution:
            release = store.learn(request_id=parsed.request_id, execution=execution)
        return report_release(parsed, store, release, learned=store.plan)


def relearn(parsed: argparse.Namespace) -> int:
    """Learn anew by the current plan with the changes of --plan and --slots, print the release, and return 0 or 3.

    Status 3: the release was withheld by the budget.

    Earlier releases remain charged. With --dry-run print the plan and what is spent and left before and after; return
    0.
    """
    from ..records import check_size
    from .plan_arguments import describe_plan
    from .release import open_store, report_release, tracking_progress
    from .remaining_budget import weak_plan_warning

    fill_arguments(parsed, dict.fromkeys(PLANNED))  # None: as in the current plan
    with open_store(parsed) as store:
        check_size(parsed.slots or 0, store.plan.problem.features, store.ledger.codec)  # not checked by the plan
        parsed.map_of_rows = store.schema.map_of_rows if parsed.method else None
        plan = _replan(parsed, store.plan)
        if store.ledger.releases:
            plan = plan.after(store.plan, store.accountant.dp_cumulative(adjacency=plan.problem.adjacency))
        if parsed.dry_run:
            foreseen = _relearn_cost(plan, store.accountant)
            print_result(
                parsed,
                {**plan.summary(), **weak_plan_warning(plan), **foreseen},
                f"{describe_plan(parsed, plan)}\n\n{_relearning_text(foreseen)}",
            )
            return 0
        with tracking_progress(parsed, "relearn", plan) as execution:
            release = store.relearn(plan, request_id=parsed.request_id, execution=execution)
        return report_release(parsed, store, release, learned=plan)


def _replan(parsed: argparse.Namespace, plan: Plan) -> Plan:
    """Return `plan` made again with the given arguments, the others as in `plan`; `plan` itself if nothing changes.

    --dp and --deletion alone are in the measure of the current plan; --slots is the new n. A λ raised by forecast is
    raised anew from the requested one, unless --ridge says otherwise.

    Raises:
        InvalidParameter: If the plan file is for another number of features.
    """
    from ..planner import make_plan
    from .plan_arguments import budget_from, method_from, total_from

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


def _new_loss(parsed: argparse.Namespace, loss: Loss) -> Loss:
    from .. import losses
    from ..losses.clipped import Clipped
    from .plan_arguments import clipped_from, loss_from

    if parsed.loss is not None:
        parsed.radius = loss.radius if parsed.radius is None else parsed.radius
        return loss_from(parsed)
    base = loss
    if isinstance(loss, Clipped):
        base, parsed.clip = loss.base, loss.limit if parsed.clip is None else parsed.clip
    if parsed.radius is not None:
        base = losses.from_dict(base.to_dict() | {"radius": parsed.radius})
    return clipped_from(parsed, base)


def _relearn_cost(plan: Plan, spent: Accountant) -> dict[str, Any]:
    """Return the privacy cost of a fresh learn by this plan, on top of the releases so far."""
    ahead = spent.with_plan(plan).forecast()
    before = ahead.remaining()
    event = ahead.planned_event("relearn" if spent.releases else "learn")
    affordable = ahead.affordable(event)
    ahead.add(event)
    now, then = ahead.foresight(before.delta)
    return {
        "publication": "published" if affordable else "refused",
        "epsilon_before": now or 0.0,
        "epsilon_after": then,
        "delta": before.delta,
        "left": before.to_dict(),
        "left_after": ahead.remaining().to_dict(),
    }


def _relearning_text(foreseen: Mapping[str, Any]) -> str:
    from ..privacy.worlds import FIXED_SCHEDULE
    from .remaining_budget import before_and_after

    text = f"Release: {foreseen['publication']}. A record still there, over all releases, if {FIXED_SCHEDULE}:\n{before_and_after(foreseen)}."
    if foreseen["publication"] == "refused":
        text += " What is spent stays spent, so a larger --dp, or --total-epsilon where a total was set, is needed; more --releases in the same --dp do not help."
    return text

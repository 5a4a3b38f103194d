"""`noisygd-delete learn` and `relearn`: train from the initial law and publish the model.

`relearn` uses the current plan with the changes of a plan file.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import NothingPromised
from .arguments import parse_integer, store_command
from .plan_file import PLANNED, fill_arguments
from .statements import add_request_id
from .terminal import print_result

if TYPE_CHECKING:
    from ..accountant import Accountant
    from ..methods.plan import Plan


def register(commands: Any) -> None:
    """Add the commands `learn` and `relearn`, each with --request-id, --dry-run, --explain, --device and --memory.

    `relearn` also takes --slots and --plan.
    """
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
            from .plan_selection import describe_plan

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
    from .plan_selection import describe_plan, replan
    from .release import open_store, report_release, tracking_progress
    from .remaining_budget import weak_plan_warning

    fill_arguments(parsed, dict.fromkeys(PLANNED))  # None: as in the current plan
    with open_store(parsed) as store:
        check_size(parsed.slots or 0, store.plan.problem.features)  # not checked by the plan
        parsed.map_of_rows = store.schema.map_of_rows if parsed.method else None
        plan = replan(parsed, store.plan)
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


def _relearn_cost(plan: Plan, spent: Accountant) -> dict[str, Any]:
    """Return the privacy cost of a fresh learn by this plan, on top of the releases so far."""
    ahead = spent.with_plan(plan).forecast()
    before = ahead.remaining()
    event = ahead.planned_event("relearn" if spent.releases else "learn")
    affordable = ahead.affordable(event)
    ahead.add(event)
    foreseen = ahead.foresight(before.delta)
    return {
        "publication": "published" if affordable else "refused",
        "epsilon_before": foreseen.before or 0.0,
        "epsilon_after": foreseen.after,
        "delta": foreseen.delta,
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

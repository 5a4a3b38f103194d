"""`noisygd-delete learn`: train from the initial law and publish the first model; and `relearn`, under the plan in force with what a file changes."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import NothingPromised
from .arguments import store_command, whole
from .plan_file import PLANNED, add_plan_file, take
from .statements import add_request_id
from .terminal import show

if TYPE_CHECKING:
    from ..accountant import Accountant
    from ..methods.plan import Plan


def register(commands: Any) -> None:
    parser = store_command(commands, "learn", "learn STORE", learn)
    parser.take("--dry-run", "--explain", "--device", "--memory")
    add_request_id(parser)
    parser = store_command(commands, "relearn", "relearn STORE --plan plan.toml --dry-run", relearn)
    parser.add_argument("--slots", type=whole, metavar="N", help="a larger n; default: as before")
    add_plan_file(parser)
    add_request_id(parser)
    parser.take("--dry-run", "--explain", "--device", "--memory")


def learn(parsed: argparse.Namespace) -> int:
    from .budget_left import warning
    from .release import open_store, released

    with open_store(parsed) as store, warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingPromised)  # the answer says it
        if parsed.dry_run:
            from .advised_plan import described

            show(parsed, {**store.plan.summary(), **warning(store.plan)}, described(parsed, store.plan))
            return 0
        return released(
            parsed, "learn", store.plan, lambda how: store.learn(request_id=parsed.request_id, execution=how), store
        )


def relearn(parsed: argparse.Namespace) -> int:
    from ..records import check_size
    from .advised_plan import described, replanned
    from .budget_left import warning
    from .release import open_store, released

    take(parsed, dict.fromkeys(PLANNED))  # None: as in the plan in force
    with open_store(parsed) as store:
        check_size(parsed.slots or 0, store.plan.features)  # which no plan would tell
        parsed.map_of_rows = store.schema.map_of_rows if parsed.method else None
        plan = replanned(parsed, store.plan)
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
    from ..privacy.guarantee import FIXED_SCHEDULE
    from ..privacy.sentences import shown

    text = (
        f"Release: {foreseen['publication']}. A record still there, over all releases: ε={shown(foreseen['epsilon_before'])} now, "
        f"ε={shown(foreseen['epsilon_after'])} after (δ={shown(foreseen['delta'])}), if {FIXED_SCHEDULE}."
    )
    if foreseen["publication"] == "refused":
        text += " What is spent stays spent, so a larger --dp, or --total-epsilon where a total was set, is needed; more --releases in the same --dp do not help."
    return text

"""The public state of a store, read from the ledger without a lock, so it is available while another process works."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import renyi_order
from ..privacy.guarantee import Guarantee, describe_guarantee
from ..privacy.worlds import check_delta
from . import destinations, disk, file_footer
from .layout import Layout
from .ledger import Ledger
from .release_schedule import is_nearly_spent, reserve

_ORDER = 10.0


def status(path: str | Path) -> dict[str, Any]:
    """Return sizes, releases, pending edits and the state of the model."""
    layout = Layout.at(path)
    disk.require_store(layout)
    ledger = Ledger.read(layout.ledger)
    plan, head = ledger.plan, ledger.head
    remaining, kept = ledger.accountant.remaining(), reserve(ledger)
    return {
        "store": str(layout.root),
        "slots": plan.problem.records,
        "records": file_footer.cells_held(layout.ids) if ledger.source is None else None,
        "source": ledger.source and ledger.source["address"],
        "changes_counted_by": _change_counter(ledger),
        "features": plan.problem.features,
        "loss": plan.problem.loss.name,
        "method": plan.method.name,
        "budget": remaining.allowed,
        "releases": ledger.releases,
        "publications_left": remaining.publications,
        "capped": plan.problem.is_capped,
        "left": remaining.to_dict(),
        "reserve": None if kept is None else kept.to_dict(),
        "nearly_spent": is_nearly_spent(ledger),
        "pending_edits": head.pending,
        "pending": head.pending_counts.to_dict(),
        "patch": _patch(layout, ledger),
        "model": _model_state(layout, ledger),
        "last_entry": {"kind": head.kind, "time": head.time},
        "request_in_flight": layout.request.exists(),
        "publishers": destinations.destination_status(layout, ledger),
    }


def _patch(layout: Layout, ledger: Ledger) -> dict[str, Any] | None:
    """Return the number of patches since the last release, and the guarantee if the store is copied now.

    The guarantee is for a record erased since the last release, against someone who copies the store now and saw every
    model.
    """
    if not layout.patch.exists():
        return None
    from ..curator.carried_noise import patch_guarantee
    from .candidate import patch_now

    patch = patch_now(layout, ledger)
    if patch is None:
        return None
    delta, told = ledger.plan.problem.budget.shown_delta, patch_guarantee(ledger.plan, ledger.account, patch)
    epsilon = told.epsilon(delta)
    return {
        "patches": patch.patches,
        "epsilon_if_copied": epsilon if math.isfinite(epsilon) else None,
        "delta": delta,
        "told": describe_guarantee(told, several=True, delta=delta),
    }


def _change_counter(ledger: Ledger) -> str | None:
    """Return what counted the changes in the source up to the newest model; None if nothing did."""
    place = ledger.find_release(ledger.model_release) if ledger.releases else None
    return None if place is None else ledger.entry(place).counted


def _model_state(layout: Layout, ledger: Ledger) -> str | None:
    if ledger.head.in_force:
        return layout.model(ledger.model_release).name
    return "withdrawn" if ledger.releases else None


def budget(
    path: str | Path,
    *,
    order: float | None = None,
    delta: float | None = None,
    last: int | None = None,
    statement: bool = True,
    **questions: Any,
) -> dict[str, Any]:
    """Return the guarantee of every release and of all releases together, as Rényi, GDP and (ε, δ).

    The result includes the statement of account.

    Args:
        path: The folder of the store.
        order: The Rényi order; the default is that of the budget, else 10.
        delta: The δ of (ε, δ); the default is that of the budget.
        last: The number of latest releases to list. None lists all; the time grows with their number.
        statement: Whether to include the statement of account, which is most of the work.
        **questions: Arguments of `accountant.build_report`: present_from, erased_at, observed, models_seen, requests,
            attack_advantage.
    """
    layout = Layout.at(path)
    disk.require_store(layout)
    ledger = Ledger.read(layout.ledger)
    plan, accountant = ledger.plan, ledger.accountant
    order = renyi_order("order", (plan.problem.budget.order or _ORDER) if order is None else order)
    remaining = accountant.remaining()
    delta = check_delta("delta", remaining.delta if delta is None else delta)

    @cache
    def measured(exact: Guarantee) -> dict[str, Any]:
        guarantee = exact.with_slack()
        return {
            "order": order,
            "renyi": guarantee.renyi(order),
            "gdp": guarantee.gdp,
            "epsilon": guarantee.epsilon(delta),
            "delta": delta,
        }

    releases = []
    if accountant.releases:
        listed = accountant.latest(last or accountant.releases)
        found = accountant.deletion_of_each(last)
        erased = [None] * (len(listed) - len(found)) + found  # the first release erases nothing
        for (number, event), dp, deletion in zip(listed, accountant.dp_of_each(last), erased, strict=True):
            entry = {"release": number, "kind": event.kind, "label": event.label, "steps": event.steps}
            entry |= {"edits": event.edits, "counts": event.counts.to_dict()}
            entry["dp"] = measured(dp)
            if event.counts.erased and deletion is not None:
                # what the releases from this one on reveal about the records it erased
                entry["deletion"] = measured(deletion)
            releases.append(entry)
    account = None
    if statement and accountant.releases:
        from ..accountant import build_report  # imported on use: `status` does not need it

        account = build_report(accountant, delta=delta, order=order, **questions).to_dict()
    return {
        "budget": remaining.allowed,
        "method": plan.method.name,
        "adjacency": plan.problem.adjacency,
        "deletion_notion": plan.problem.deletion_notion,
        "released": accountant.releases,
        "releases": releases,
        "cumulative": measured(remaining.spent),
        "publications_left": remaining.publications,
        "capped": plan.problem.is_capped,
        "left": remaining.to_dict(),
        "statement": account,
    }

"""The report on a whole store: one HTML file, plots inside, no network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .. import __version__
from ..accountant import Accountant, Event
from ..methods.plan import Plan
from . import curves, plots
from .erasure_certificate import figures
from .page import render


def store_report(
    *,
    plan: Plan,
    events: Iterable[Event],
    times: Sequence[str] | None = None,
    audit: Sequence[Mapping[str, Any]] = (),
    title: str = "Deletion report",
    delta: float | None = None,
) -> str:
    """A self-contained HTML page about every release so far.

    Args:
        plan: the current plan. events: the ledger. times: when each release was made.
        audit: results of audit runs: {"name", "measured_lower_bound", "claimed_advantage"}, advantages over guessing.
        title: shown on top. delta: δ of the (ε, δ) figures; None: the budget's own, or 1e-6.

    Everything in it is public: the ledger, the plan and bounds. Nothing is measured on the records.
    """
    accountant = Accountant(plan, events)
    delta = plan.budget.shown_delta if delta is None else delta
    order = plan.budget.order or 10.0
    dates = list(times) if times is not None else [None] * len(accountant.events)
    course = curves.burn_down(accountant, plan, delta)
    told = zip(accountant.events, dates, course.single, course.cumulative, strict=True)
    rows = [
        {
            "release": number,
            "time": when,
            "kind": event.kind,
            "steps": event.steps,
            "edits": event.edits,
            "single": float(single),
            "cumulative": float(cumulative),
        }
        for number, (event, when, single, cumulative) in enumerate(told, start=1)
    ]
    pictures: dict[str, str | None] = {"budget": None, "cost": None, "utility": None, "forgetting": None, "audit": None}
    if rows:
        pictures["budget"] = plots.burn_down(course, delta)
        pictures["cost"] = plots.costs(curves.costs(accountant, plan))
        excess = curves.utility(accountant, plan)
        if excess is not None and len(excess.release):
            pictures["utility"] = plots.utility(excess)
    decay = curves.forgetting(plan)
    if decay is not None:
        pictures["forgetting"] = plots.forgetting(decay)
    if audit:
        pictures["audit"] = plots.audits(audit)
    remaining = accountant.remaining()
    return render(
        "report.html",
        title=title,
        version=__version__,
        plan=plan.to_dict(),
        loss=plan.loss.to_dict(),
        delete_steps=plan.delete_steps,
        deletion=figures(plan.deletion, order=order, delta=delta),
        dp=figures(plan.dp, order=order, delta=delta),
        allowed=remaining.allowed,
        publications=remaining.publications,
        delta=delta,
        rows=rows,
        edits=sum(event.edits for event in accountant.events),
        pictures=pictures,
        audit=audit,
    )

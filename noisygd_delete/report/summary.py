"""The report on a whole store: one HTML file, plots inside, no network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..accountant import Accountant, Event, Remaining
from ..evidence.erasure import Standing
from ..methods.plan import Plan
from ..planner.advise import guessing_loss
from ..privacy.guarantee import NON_ADAPTIVE, Guarantee
from ..privacy.shown import brief, shown
from ..privacy.worlds import Worlds
from ..records import NO_EDITS
from ..register import Line, in_order_of_need
from ..store.entry import EntryKinds
from ..version import __version__
from . import curves, plots
from .catalogue.readings import ORIGINAL, reading
from .figures import figures
from .page import render, written_out
from .register_page import counted, row_of

_FIRST = 5  # open requests on the first screen


def store_report(
    *,
    plan: Plan,
    events: Iterable[Event],
    times: Sequence[str] | None = None,
    standing: Standing | None = None,
    requests: Sequence[Line] | None = None,
    audit: Sequence[Mapping[str, Any]] = (),
    title: str | None = None,
    delta: float | None = None,
    code: str = ORIGINAL,
) -> str:
    """A self-contained HTML page about every release so far.

    Args:
        plan: the current plan. events: the ledger. times: when each release was made.
        standing: what the releases alone do not show: edits that wait, publications withheld, a model withdrawn.
        requests: the register, in order of need; None: no word of requests.
        audit: results of audit runs: {"name", "measured_lower_bound", "claimed_advantage"}, advantages over guessing.
        title: shown on top. delta: δ of the (ε, δ) figures; None: the budget's own, or 1e-6.
        code: of the language.

    Everything in it is public: the ledger, the plan and bounds. Nothing is measured on the records.
    """
    words = reading(code)
    accountant = Accountant(plan, events)
    delta = plan.budget.shown_delta if delta is None else delta
    order = plan.budget.order or 10.0
    dates = list(times) if times is not None else [None] * accountant.releases
    course = curves.burn_down(accountant, plan, delta)
    listed = accountant.latest(curves.LISTED) if accountant.releases else []
    told = zip(listed, course.single[-curves.LISTED :], course.cumulative[-curves.LISTED :], strict=True)
    rows = [
        {
            "release": number,
            "time": _moment(dates[number - 1]),
            "kind": event.label,
            "steps": event.steps,
            "edits": event.counts.text() if event.edits else "none",
            "single": float(single),
            "cumulative": float(cumulative),
        }
        for (number, event), single, cumulative in told
    ]
    pictures: dict[str, str | None] = {"budget": None, "cost": None, "utility": None, "forgetting": None, "audit": None}
    if rows:
        pictures["budget"] = plots.burn_down(course, delta, words)
        pictures["cost"] = plots.costs(curves.costs(accountant, plan), words)
        excess = curves.utility(accountant, plan)
        if excess is not None and len(excess.release):
            pictures["utility"] = plots.utility(excess, words)
    decay = curves.forgetting(plan)
    if decay is not None:
        pictures["forgetting"] = plots.forgetting(decay, words)
    if audit:
        pictures["audit"] = plots.audits(audit, words)
    remaining = accountant.remaining()
    people = None if requests is None else in_order_of_need(line for line in requests if line.of_a_person)
    counts = None if people is None else counted(people)
    left = [line for line in people or [] if line.closed is None][:_FIRST]
    every = sum((event.counts for event in accountant.events), NO_EDITS)
    erased = {name: figures(promise, order=order, delta=delta) for name, promise in _erased(accountant, plan).items()}
    together = accountant.dp_cumulative() if rows else plan.dp
    return render(
        "report.html",
        words=words,
        title=words.say("Deletion report") if title is None else title,
        version=__version__,
        plan=plan.to_dict(),
        loss=plan.loss.to_dict(),
        delete_steps=plan.delete_steps,
        erased=erased,
        asked={
            "erased": _question(erased["observed"]["adjacency"]),
            "present": _question(str(plan.problem.adjacency)),
        },
        condition=NON_ADAPTIVE,
        dp=figures(plan.dp, order=order, delta=delta),
        together=figures(together, order=order, delta=delta),
        allowed=remaining.allowed,
        capped=plan.capped,
        publications=remaining.publications,
        delta=delta,
        rows=rows,
        releases=accountant.releases,
        listed=curves.LISTED,
        thinned=len(curves.shown(accountant.releases)) < accountant.releases,
        points=curves.POINTS,
        edits=every.text(),
        standing=standing,
        withheld=0 if standing is None else sum(one.kind is EntryKinds.WITHHELD for one in standing.unpublished),
        urgent=(counts is not None and counts["overdue"] > 0)
        or (standing is not None and (standing.pending.total > 0 or standing.withdrawn is not None)),
        counts=counts,
        open_rows=[row_of(line, words) for line in left],
        all_rows=[]
        if people is None or len(left) == len(people)
        else [row_of(line, words) for line in people[: curves.LISTED]],
        left_of_budget=_left(remaining, plan),
        accuracy=accuracy(plan),
        pictures=pictures,
        audit=audit,
    )


def _moment(when: str | None) -> str:
    """A moment for people; a text that is none, as it is."""
    try:
        return written_out(when)
    except ValueError:
        return str(when)


def _question(adjacency: str) -> str:
    """What an observer asks about a record, by the two worlds that are told apart."""
    return (
        "which of two contents it had" if adjacency in (Worlds.PAIRWISE, Worlds.REPLACE) else "whether it was ever used"
    )


def accuracy(plan: Plan) -> str | None:
    """What the level that the plan keeps means, beside what a model that says nothing loses."""
    if plan.loss.label_kind == "none":
        return None
    kept, guessing = plan.excess_risk, guessing_loss(plan.loss)
    if kept >= guessing:
        return (
            f"That level ({shown(kept)}) is no less than what a model that says nothing loses ({brief(guessing, 4)}), so the bound promises "
            "nothing of use; `evaluate` measures the model itself."
        )
    return f"That level is {shown(kept)}; a model that says nothing loses {brief(guessing, 4)}."


def _left(remaining: Remaining, plan: Plan) -> str:
    """What of the total budget is left, in words."""
    if not plan.capped:
        return "no cap was set on the sum of all publications"
    if remaining.publications is None:
        return "the cap on the sum is not touched by further releases"
    more = f"{remaining.publications} more publication(s) fit into the total"
    if plan.total is None:
        return f"{more} that was planned, of {plan.releases} releases"
    spent = shown(plan.total.spent(remaining.spent))
    return f"{more} of all, of which ε={spent} of {brief(plan.total.epsilon)} is spent (at δ={shown(plan.total.delta)})"


def _erased(accountant: Accountant, plan: Plan) -> dict[str, Guarantee]:
    """An erased record: from later models alone (under its condition), and from every model observed, the worst release
    so far; where nothing was erased yet, as the next release would leave it.
    """
    erasing = accountant.account.erasing
    if erasing is None:
        if not accountant.releases:
            return {"later": plan.deletion, "observed": plan.deletion_observed()}
        accountant = accountant.what_if(accountant.planned())
        return {
            "later": accountant.deletion_of_each(last=1)[0],
            "observed": accountant.deletion(1, accountant.releases),
        }
    later = accountant.costliest_deletion(())
    assert later is not None
    return {"later": later, "observed": accountant.deletion(1, erasing.number)}

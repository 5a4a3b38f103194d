"""The remaining budget as text, in the same words after every command that publishes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..accountant import Accountant
from ..privacy.release_dates import DATES, DAYS_BETWEEN
from ..privacy.sentences import format_bound, format_number

if TYPE_CHECKING:
    from ..methods.plan import Plan


def left_text(left: Mapping[str, Any]) -> str:
    """Return the dictionary of `Remaining.to_dict` in words: ε spent at δ, of which cap, and how many releases are left.

    The cap comes with its caveats; at 0 releases the text says that rows are erased and no model is published. Without
    a cap it says that none was set, and what is spent.
    """
    spent = f"ε={format_bound(left['spent_epsilon'])} at δ={format_bound(left['delta'])} ({left['adjacency']})"
    if not left["capped"]:
        return f"no cap was set on the sum of all publications: each release has its own budget; so far {spent}"
    total = left["total"]
    cap = (
        left["allowed"]
        if total is None
        else f"the total (ε={format_number(total['epsilon'])}, δ={format_bound(total['delta'])}) of all publications"
    )
    if total is not None and total.get("order") is not None:  # more than what the releases reveal at their best order
        cap += ", counted at the one order that was fixed with it"
    if total is not None and total.get("late"):
        cap += ", if it was not changed because of models seen before"
    if left["publications"] is None:
        more = "another one costs nothing"
    elif left["publications"]:
        more = f"room for {left['publications']} more"
    else:
        more = "no budget for another one: rows are still erased on request, and no model is published"
    return f"spent so far: {spent}, of {cap}; {more}"


def reserve_text(kept: Mapping[str, Any] | None) -> str:
    """Return the dictionary of `Reserve.to_dict` as a sentence on the dates of releases in reserve; "" for None."""
    if kept is None:
        return ""
    now = f"{kept['at_once']} at once" if kept["at_once"] else f"the next on {kept['next_date']}"
    return f"{now}, the others {DAYS_BETWEEN} days apart; in service until {kept['lasts_until']} at least"


def format_spent_warning(left: Mapping[str, Any]) -> str:
    """Return the text of the warning that few releases are left, from `Remaining.to_dict`; the caller decides when to show it."""
    return (
        f"Releases left in the budget: {left['publications']}; after the last one, a deletion that is due withdraws the model. "
        "Plan with a larger total (`plan --total-epsilon ε --out plan.toml`, then `relearn --plan plan.toml`)"
    )


def before_and_after(foreseen: Mapping[str, Any]) -> str:
    """Return two lines of a dry run, "now: …" and "after: …": `left_text` before and after the release."""
    return f"now: {left_text(foreseen['left'])}\nafter: {left_text(foreseen['left_after'])}"


def releases_remaining(plan: Plan) -> dict[str, float | int | None]:
    """Return {publications, days_each}: the releases that the budget affords after the learn, and 365 days over them.

    Both are None if the releases are not limited; days_each is also None if none is left.
    """
    left = Accountant(plan).remaining().publications
    after = None if left is None else max(0, left - 1)
    return {"publications": after, "days_each": 365 / after if after else None}


def room_text(plan: Plan) -> str:
    """Return a line on the releases after the learn: unlimited, none, or how many, and how `serve` spreads them."""
    found = releases_remaining(plan)
    number = found["publications"]
    if number is None:
        limit = "another one costs nothing" if plan.problem.is_capped else "no cap was set on their sum"
        return f"deletions: rows go at once; models without them as often as you publish: {limit}"
    if not number:
        return "deletions: rows go at once; no publication is left after the learn: a larger total has room for one"
    if number >= DATES:
        return (
            f"deletions: rows go at once; room for {number} releases after the learn, {number - DATES} of them with the request, the others one every "
            f"{DAYS_BETWEEN} days over two years, each for all pending edits"
        )
    return (
        f"deletions: rows go at once; room for {number} publication(s) after the learn, each for all that wait: over a year one in "
        f"{format_number(found['days_each'], 3)} days, as `serve` spreads them (--period DAYS)"
    )


def weak_plan_warning(plan: Plan) -> dict[str, str | None]:
    """Return {"warning": text} for a plan that promises nothing useful, {"warning": None} for any other."""
    return {"warning": plan.worth() or None}

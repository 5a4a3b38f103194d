"""Claims about the current state of a store, for documents that are not about a single request."""

from __future__ import annotations

from ..accountant import Accountant
from ..methods.plan import Plan
from ..privacy.guarantee import Guarantee, WorstCase
from ..privacy.worlds import NON_ADAPTIVE
from ..records import NO_EDITS, EditCounts
from .claims import Claim
from .derivation import figure_claim, odds

_OF_SOME = ("present.one", "erased.later")  # for observers who do not know every model


def claims_of_store(
    accountant: Accountant,
    plan: Plan,
    *,
    delta: float | None = None,
    by_calendar: bool = False,
    waiting: EditCounts = NO_EDITS,
) -> dict[str, Claim]:
    """Return the claims about a store, by key.

    They concern an erased record, from later models alone and from all models, for the worst release so far (if nothing
    was erased yet, or erasures are pending, as after the next release); a record that is still present, from one
    release and, if there are any, from all releases so far; and, if a total is enforced, the odds that no observer
    exceeds ("odds.ever").

    Args:
        accountant: Accountant of the releases so far.
        plan: The current plan.
        delta: δ of the (ε, δ) figures; None takes the budget's own, or 1e-6.
        by_calendar: Whether publications followed dates fixed beforehand.
        waiting: Edits that no release covers yet.
    """
    figures = erased_figures(accountant, plan, waiting)
    found: dict[str, Guarantee | WorstCase] = {f"erased.{seen}": guarantee for seen, guarantee in figures.items()}
    found["present.one"] = accountant.dp() if accountant.releases else plan.dp
    if accountant.releases:
        found["present.all"] = accountant.dp_cumulative()
    claims = {key: standing_claim(key, guarantee, plan, by_calendar, delta) for key, guarantee in found.items()}
    shown = plan.problem.budget.shown_delta if delta is None else delta
    return claims | {claim.key: claim for claim in odds(accountant, shown)}


def erased_figures(
    accountant: Accountant, plan: Plan, waiting: EditCounts = NO_EDITS
) -> dict[str, Guarantee | WorstCase]:
    """Return what later models reveal in the worst case over all erasures ('later'), and what all do of the last one ('all').

    If nothing was erased yet, or erasures are pending, they are those after the next release; before the first release they
    are those of the plan.
    """
    if not accountant.releases:
        return {"later": plan.deletion, "all": plan.deletion_observed()}
    first = accountant.account.erasing is None
    if first or waiting.erased:
        accountant = accountant.what_if(accountant.planned_event())
    erasing = accountant.account.erasing
    assert erasing is not None
    later = accountant.deletion_of_each(last=1)[0] if first else accountant.costliest_deletion(())
    assert later is not None
    return {"later": later, "all": accountant.deletion(1, erasing.number)}


def standing_claim(
    key: str, guarantee: Guarantee | WorstCase, plan: Plan, by_calendar: bool, delta: float | None = None
) -> Claim:
    """Return the claim of a figure about the store, by its key; δ None takes the budget's own, or 1e-6."""
    whole = key.startswith("present.")
    if key in _OF_SOME and not guarantee.non_adaptive:
        guarantee = guarantee.assuming(NON_ADAPTIVE)  # the plan's own figure, not of a published model
    delta = plan.problem.budget.shown_delta if delta is None else delta
    return figure_claim(key, guarantee, plan, rows=1, whole=whole, delta=delta, by_calendar=by_calendar)

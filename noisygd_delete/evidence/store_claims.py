"""What observers can tell of a store as it stands: claims, for the papers that are about no single request."""

from __future__ import annotations

from ..accountant import Accountant
from ..methods.plan import Plan
from ..privacy.guarantee import NON_ADAPTIVE, Guarantee, Worlds, WorstCase
from ..records import NO_EDITS, EditCounts
from .claims import Claim
from .derivation import figure_claim, odds

_OF_SOME = ("present.one", "erased.later")  # to whoever does not know every model


def claims_of_store(
    accountant: Accountant,
    plan: Plan,
    *,
    delta: float | None = None,
    by_calendar: bool = False,
    waiting: EditCounts = NO_EDITS,
) -> dict[str, Claim]:
    """By key: an erased record, from later models alone and from all, by the worst release so far (where nothing was erased yet, or what
    was erased waits for its release, as the next one would leave it); and a record that is still there, from one release and, where
    there is any, from all so far; and, where a total is enforced, the odds that no observer exceeds ("odds.ever").

    Args:
        waiting: edits that no release covers yet.
    """
    figures = erased_figures(accountant, plan, waiting)
    found: dict[str, Guarantee | WorstCase] = {f"erased.{seen}": guarantee for seen, guarantee in figures.items()}
    found["present.one"] = accountant.dp() if accountant.releases else plan.dp
    if accountant.releases:
        found["present.all"] = accountant.dp_cumulative()
    claims = {key: _standing_claim(key, guarantee, plan, by_calendar, delta) for key, guarantee in found.items()}
    shown = plan.budget.shown_delta if delta is None else delta
    return claims | {claim.key: claim for claim in odds(accountant, shown)}


def risks_of_store(accountant: Accountant, plan: Plan, *, by_calendar: bool = False) -> dict[str, Claim]:
    """By question: whether a record that is still there was used, and which of two contents it has, to whoever kept every model; before
    the first, from the one that the plan makes.
    """
    if not accountant.releases:
        claim = _standing_claim("present.one", plan.dp, plan, by_calendar)
        return {claim.values["question"]: claim}
    worlds = {"used": Worlds.ZERO_OUT, "which": Worlds.REPLACE}
    return {
        question: _standing_claim("present.all", accountant.dp_cumulative(adjacency=world), plan, by_calendar)
        for question, world in worlds.items()
    }


def cumulative_guarantee(accountant: Accountant, plan: Plan) -> Guarantee:
    """What every model reveals of a record that is still there, by the proofs of all of them; before the first, what the plan promises."""
    return accountant.dp_cumulative() if accountant.releases else plan.dp


def erased_figures(
    accountant: Accountant, plan: Plan, waiting: EditCounts = NO_EDITS
) -> dict[str, Guarantee | WorstCase]:
    """An erased record: from later models alone, and from all of them, the worst release so far; where nothing was erased yet, or what was
    erased waits for its release, as the next one would leave it.
    """
    if not accountant.releases:
        return {"later": plan.deletion, "all": plan.deletion_observed()}
    first = accountant.account.erasing is None
    if first or waiting.erased:
        accountant = accountant.what_if(accountant.planned())
    erasing = accountant.account.erasing
    assert erasing is not None
    later = accountant.deletion_of_each(last=1)[0] if first else accountant.costliest_deletion(())
    assert later is not None
    return {"later": later, "all": accountant.deletion(1, erasing.number)}


def _standing_claim(
    key: str, guarantee: Guarantee | WorstCase, plan: Plan, by_calendar: bool, delta: float | None = None
) -> Claim:
    whole = key.startswith("present.")
    if key in _OF_SOME and not guarantee.non_adaptive:
        guarantee = guarantee.assuming(NON_ADAPTIVE)  # a plan's own figure, of nothing that was published
    delta = plan.budget.shown_delta if delta is None else delta
    return figure_claim(key, guarantee, plan, rows=1, whole=whole, delta=delta, by_calendar=by_calendar)

"""The pace of publication that a budget affords: public facts alone, and none that depends on what was asked."""

from __future__ import annotations

from datetime import datetime

from ..accountant import Accountant
from ..curator.stream.batching import YEAR, Batching, Calendar
from .ledger import Ledger


def publications(ledger: Ledger) -> int | None:
    """Releases that the budget had room for after the fresh learn by the plan in force; None where they are not limited."""
    learned = ledger.learned_by_plan
    if learned is None:  # not yet, or by an earlier version, which kept no sums
        left = Accountant(ledger.plan).remaining().publications
        return None if left is None else max(0, left - 1)
    return Accountant.resumed(ledger.plan, ledger.account_after(learned) or ledger.account).remaining().publications


def paced(ledger: Ledger, *, period: float = YEAR) -> Batching | Calendar:
    """When to publish where nobody says: under a cap on all releases, by a calendar that spreads them over the period, in seconds; else
    whatever waits, at once."""
    number = publications(ledger)
    if not number or not ledger.releases:
        return Batching()
    began = ledger.made(1)
    assert began is not None
    return Calendar(datetime.fromisoformat(ledger.entry(began).time).timestamp(), period / number)

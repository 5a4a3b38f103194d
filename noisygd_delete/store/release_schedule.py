"""The release schedule that a budget allows, computed from public facts that do not depend on requests."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ..accountant import Accountant
from ..privacy.release_dates import DATES, DAYS_BETWEEN, YEAR, Calendar
from .ledger import Ledger

if TYPE_CHECKING:
    from ..curator.stream import Batching


def publications(ledger: Ledger) -> int | None:
    """Return the number of releases that the budget allowed after the fresh learn by the current plan.

    None if it is not limited.
    """
    learned = ledger.learned_by_plan
    if learned is None:
        left = Accountant(ledger.plan).remaining().publications
        return None if left is None else max(0, left - 1)
    return (
        Accountant.from_account(ledger.plan, ledger.account_after(learned) or ledger.account).remaining().publications
    )


def default_schedule(ledger: Ledger, *, period: float | None = None) -> Batching | Calendar:
    """Return the default schedule of releases.

    If their number is limited, it is a calendar that spreads them over `period` seconds; otherwise every pending edit
    is published at once. The default period is a year, or two if there is room for a release every 28 days.
    """
    from ..curator.stream import Batching

    number = publications(ledger)
    if not number or not ledger.releases:
        return Batching()
    if period is None:
        period = YEAR if number < DATES else 2 * YEAR
    return Calendar(_time_of_release(ledger, 1), period / number)


# --- dates of single requests ---


_DAY = 86_400.0
_WARN_AT = 3  # releases left


@dataclass(frozen=True)
class Reserve:
    """What is left of a budget that keeps back a release for each date to come.

    `DATES` dates follow the first release of the plan, one every `DAYS_BETWEEN` days. Releases beyond those kept back
    are made with the request; once there are none, edited rows wait for the next date, and share its release. Nothing
    here depends on the records; the number of earlier requests decides whether a release waits.

    Attributes:
        left: Releases that the budget still allows.
        at_once: Of these, the ones that need not wait for a date.
        date: When pending edits, or edits made now, are due, in seconds since 1970. If no release is left, the model is
            withdrawn then.
        until: The end of the last date's interval: no model is withdrawn before.
    """

    left: int
    at_once: int
    date: float
    until: float

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible fields; dates are days in UTC."""
        return {
            "at_once": self.at_once,
            "next_date": format_day(self.date),
            "lasts_until": format_day(self.until),
        }


def format_day(moment: float) -> str:
    """Return the day of a time in seconds since 1970, in UTC."""
    return datetime.fromtimestamp(moment, UTC).date().isoformat()


def reserve(ledger: Ledger, *, now: float | None = None) -> Reserve | None:
    """Return what a budget keeps back for dates; None before the learn, and for a budget with fewer releases than dates.

    Args:
        ledger: The ledger of the store.
        now: The current time, in seconds since 1970.
    """
    learned, room = ledger.learned_by_plan, publications(ledger)
    if learned is None or room is None or room < DATES:
        return None
    left = ledger.accountant.remaining().publications
    assert left is not None
    now = time.time() if now is None else now
    dates = Calendar(_time_of_release(ledger, learned), DAYS_BETWEEN * _DAY)
    since = pending_since(ledger)
    began = now if since is None else _seconds(since)
    date = dates.start + (dates.count_dates(began) + 1) * dates.interval
    ahead = max(0, DATES - dates.count_dates(now))
    return Reserve(left, max(0, left - ahead), date, dates.start + (DATES + 1) * dates.interval)


def date_to_wait_for(ledger: Ledger) -> float | None:
    """Return when the release of edits made now is due, in seconds since 1970; None if it need not wait."""
    now = time.time()
    found = reserve(ledger, now=now)
    return None if found is None or found.at_once or found.date <= now or ledger.head.model is None else found.date


def is_nearly_spent(ledger: Ledger) -> bool:
    """Return whether the model is in service and at most three more releases are left for later edits."""
    left = ledger.accountant.remaining().publications if ledger.releases else None
    return left is not None and left <= _WARN_AT and ledger.head.in_force


def pending_since(ledger: Ledger) -> str | None:
    """Return the time of the oldest edit that no release covers; None if there is none."""
    made = ledger.find_release(ledger.releases) if ledger.releases and ledger.head.pending else None
    for position in range((made or 0) + 1, ledger.length) if ledger.head.pending else ():
        if ledger.entry(position).pending:
            return ledger.entry(position).time
    return None


def _time_of_release(ledger: Ledger, number: int) -> float:
    position = ledger.find_release(number)
    assert position is not None
    return _seconds(ledger.entry(position).time)


def _seconds(stamp: str) -> float:
    return datetime.fromisoformat(stamp).timestamp()

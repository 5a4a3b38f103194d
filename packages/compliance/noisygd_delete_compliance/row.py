"""One row of the register: a case, its entry in the ledger, and what follows: deadline, lateness, retention."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from noisygd_delete.dates import fact_to_json, last_day, local_day
from noisygd_delete.errors import Word

from .case import Decisions, RegisterPolicy, RequestCase, Rights


class States(Word):
    """State of a request.

    OPEN: nothing was done yet. PENDING: rows edited, no release without them. WITHHELD: the budget allowed none.
    PUBLISHED: there is a release, of which the person was not informed. DECIDED: a decision was made, of which the
    person was not informed. ANSWERED: the person was informed of everything that was done.
    """

    OPEN = "open"
    PENDING = "pending"
    WITHHELD = "withheld"
    PUBLISHED = "published"
    DECIDED = "decided"
    ANSWERED = "answered"


@dataclass(frozen=True)
class Served:
    """What the ledger shows of a request.

    Attributes:
        edited: Time of the edit, in UTC.
        rows: Records deleted or replaced.
        inserted: Records inserted.
        published: Time of the release that covers the edits, in UTC; None if there is none.
        release: Number of that release.
        withheld: Whether the budget refused a release.
        withdrawn: Since when the model that may have used the rows is out of service, by publishers or a withdrawal;
            None if not known.
        still_at: Publishers of the store that still hold, or may hold, a model made with the rows.
        replaced: Of `rows`, those whose content was replaced.
    """

    edited: str
    rows: int
    inserted: int = 0
    published: str | None = None
    release: int | None = None
    withheld: bool = False
    withdrawn: str | None = None
    still_at: tuple[str, ...] = ()
    replaced: int = 0


@dataclass(frozen=True)
class RegisterRow:
    """A request as the register shows it on a given day.

    Attributes:
        token: The request id.
        case: What was stated about it; empty if nothing was.
        served: What the ledger shows of it; None if nothing.
        policy: Policy of the register.
        today: The given day.
    """

    token: str
    case: RequestCase
    served: Served | None
    policy: RegisterPolicy
    today: date

    @property
    def right(self) -> Rights:
        """The right as stated at receipt; without a receipt it follows from what was done."""
        unasked = self.case.received is None and set(self.done) == {"rectified"}
        return Rights.RECTIFICATION if unasked else self.case.right

    @property
    def done(self) -> dict[str, int]:
        """Rows erased, rectified or restricted, per the ledger, independent of the right."""
        served = self.served
        if served is None:
            return {}
        gone = "erased" if self.case.restricted is None else "restricted"
        found = {gone: served.rows - served.replaced, "rectified": served.replaced}
        return {what: rows for what, rows in found.items() if rows}

    @property
    def state(self) -> States:
        """The state of the request."""
        case, served = self.case, self.served
        if self.closing is not None:
            return States.ANSWERED
        if case.decision in (Decisions.REFUSED, Decisions.NOT_FOUND, Decisions.OPTED_OUT):
            return States.DECIDED
        if served is None:
            return States.OPEN if case.decision is None else States.DECIDED
        if served.published is not None:
            return States.PUBLISHED
        return States.WITHHELD if served.withheld else States.PENDING

    @property
    def edited(self) -> date | None:
        """The day on which rows were erased or rectified, at the place of receipt."""
        if self.served is None or not self.served.rows:
            return None
        return local_day(self.served.edited, self.case.received)

    @property
    def acted(self) -> date | None:
        """The last day on which something was done or decided that the person can be informed of; None if none."""
        days = (self.edited, self.case.decided, self.case.restricted)
        return max((when for when in days if when is not None), default=None)

    @property
    def answered(self) -> date | None:
        """When the person was first informed; None if that was before anything was done."""
        informed, acted = self.case.informed, self.acted
        return informed if informed is not None and acted is not None and informed >= acted else None

    @property
    def closing(self) -> date | None:
        """When the person had been informed of everything, including the model without the rows; None until then."""
        if self.answered is None or self.served is None or not self.served.rows:
            return self.answered
        informed = self.case.informed_again or self.answered
        published = self.served.published
        return informed if published is not None and informed >= local_day(published, self.case.received) else None

    @property
    def of_a_person(self) -> bool:
        """Whether it is a person's request, rather than a learn or an insertion with its own token."""
        return self.case != RequestCase() or (self.served is not None and self.served.rows > 0)

    @property
    def due(self) -> date | None:
        """The last day on which the person may be informed; None if receipt was not stated."""
        if self.case.received is None:
            return None
        return self.case.extended_until or last_day(self.case.received, holidays=self.policy.holidays)

    @property
    def late(self) -> tuple[str, ...]:
        """What is late, or was late when it was done, as text."""
        found = []
        informed = self.answered or self.today
        if self.due is not None and informed > self.due:
            found.append("informed late" if self.answered else "answer overdue")
        by = self.case.publish_by
        if by is not None and self.served is not None:
            out = self.today if self.served.published is None else local_day(self.served.published, self.case.received)
            if out > by:
                found.append("published late" if self.served.published else "release overdue")
            if self.served.still_at and self.today > by:
                found.append("withdrawal elsewhere overdue")
        return tuple(found)

    @property
    def informed_early(self) -> bool:
        """Whether the person was informed only before anything was done."""
        return self.case.informed is not None and self.answered is None

    @property
    def marks(self) -> tuple[str, ...]:
        """Remarks as text: lateness, an early answer, actions other than requested, remaining earlier models."""
        still = () if self.served is None else self.served.still_at
        informed = ("informed before anything was done, which is no answer",) if self.informed_early else ()
        other = tuple(f"{what}: {rows}" for what, rows in self.done.items() if what not in _ANSWERS[self.right])
        return (*self.late, *informed, *other, *(f"a model that used the rows is still at {place}" for place in still))

    @property
    def overdue(self) -> bool:
        """Whether something late is still to be done."""
        return any(word.endswith("overdue") for word in self.late)

    @property
    def closed(self) -> date | None:
        """When the last required action was done; None while something is left to do."""
        return None if self.served is not None and self.served.still_at else self.closing

    @property
    def retain_until(self) -> date | None:
        """The last day on which it stays in the register; None while it is open."""
        end = self.closed
        if not self.of_a_person and self.served is not None:
            end = datetime.fromisoformat(self.served.published or self.served.edited).date()
        return None if end is None else date(min(end.year + self.policy.keep_years, 9998), 12, 31)

    def to_dict(self) -> dict[str, Any]:
        """Return every column as JSON types."""
        case, served = self.case.to_dict(), self.served
        row = {
            "request_id": self.token,
            "state": str(self.state),
            "due": fact_to_json(self.due),
            "late": "; ".join(self.late),
        }
        row |= {name: case.get(name) for name in _STATED} | {"right": str(self.right)}
        row |= {name: None if served is None else getattr(served, name) for name in _READ}
        row["still_at"] = "; ".join(served.still_at) if served is not None and served.still_at else None
        return row | {"retain_until": fact_to_json(self.retain_until)}


_ANSWERS = {  # actions that fulfil a right; others are remarked on
    Rights.ERASURE: ("erased",),
    Rights.RECTIFICATION: ("rectified",),
    Rights.RESTRICTION: ("restricted",),
    Rights.OBJECTION: ("restricted", "erased"),
}
_STATED = (
    "right", "channel", "received", "identity_checked", "extended_until", "extension_reason", "decision", "decided", "ground",
    "publish_by", "restricted", "lifted", "acknowledged", "informed", "informed_again", "recipients", "recipients_informed", "backups_until", "certificate",
)  # fmt: skip
_READ = ("rows", "replaced", "inserted", "edited", "published", "release", "withdrawn")


def sort_by_urgency(lines: Iterable[RegisterRow]) -> list[RegisterRow]:
    """Return the requests in order of urgency: overdue, open, closed.

    Within each group, requests without a deadline come first, then the earliest deadline.
    """
    return sorted(lines, key=urgency_key)


def urgency_key(line: RegisterRow) -> tuple[Any, ...]:
    """Return the sort key of a request in order of urgency."""
    return (line.closed is not None, not line.overdue, line.due or date.min, line.case.received or "", line.token)


def export_csv(lines: Iterable[RegisterRow]) -> str:
    """Return the register as CSV (RFC 4180), one request per line."""
    import csv
    import io

    rows = [line.to_dict() for line in lines]
    out = io.StringIO()
    names = ["request_id", "state", "due", "late", *_STATED, *_READ, "still_at", "retain_until"]
    writer = csv.DictWriter(out, names, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows([{name: _escape_cell(value) for name, value in row.items()} for row in rows])
    return out.getvalue()


def _escape_cell(value: Any) -> Any:
    """Return a cell that no spreadsheet interprets as a formula; tokens are chosen by callers."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value

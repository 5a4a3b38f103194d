"""The facts of an erasure certificate: what the operator states, each checked against its range.

None of them can be recomputed by a third party. So each fact has a type, a range and an order relative to the others,
and is written in one form only: reading a certificate and writing its facts again gives the same text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from uuid import UUID

from ..accountant import Statuses
from ..dates import last_day, local_day, parse_datetime, parse_day
from ..errors import InvalidParameter, Word, check_choice, check_count, check_real
from ..store.position import COUNTED_BY, check_position, position_covers
from .notices import NOTHING_STATED, Notices, check_text

MOST_AUDITS, MOST_COLUMNS = 100, 10_000


@dataclass(frozen=True)
class Erasure:
    """The facts of one erasure, as the operator states them.

    Attributes:
        rows: Rows whose content was erased: records deleted, and the earlier content of records replaced.
        release: Number of the release that published the edited table; None if there is none yet.
        status: "published"; "withheld": rows erased, the budget allowed no publication, the old model is withdrawn;
            "pending": rows erased, no release since.
        replaced: Of `rows`, records whose content was replaced (a rectification); the others were deleted.
        inserted: New records inserted by the same request; nothing was erased for them.
        remaining: Rows of the same persons that the request left in the table; None if not known.
        request_id: The caller's random token: never a name or an address.
        received: Time of receipt, with the time zone of that place: the deadline depends on its calendar.
        edited: Day on which the rows were edited. A time is stored as its day at the place of receipt, since the
            duration of a run may depend on the records.
        served: Day on which the model without the rows was published; None if there is none yet.
        model_before: SHA-256 of the model file before, hexadecimal.
        model_after: SHA-256 of the model file after, hexadecimal.
        checked: What was checked on the store afterwards, as text, with the result.
        audit: Results of an audit run, if any: {"name", "measured_lower_bound", "claimed_advantage"}.
        controller: The organisation responsible for the data.
        ledger_entries: Length of the store's hash chain at the time of issue.
        ledger_sha256: Last link of that chain; `verify --certificate` compares the store with both.
        notices: Further contents of the register on this request, and what the operator states for every request.
        deleted_at: Position of the deletion in an external source (see `store.position`).
        read_at: Position of the snapshot that the published model was computed from.
        counted: How that source counted all changes since the previous model ("trigger", "versions"); None if only the
            reported changes are counted.
        residue: Results of the search for residue in and around the source: {"place", "verdict", "found", "remedy"}.
        publishers: What other publishing locations were last known to hold: {"kind", "release", "oldest"}, the current
            release there and the earliest that may still be there, or None.
        from_data: Columns whose range or list of values was read off the data, per their schema; None if not known.
        by_calendar: Whether every publication after the first was on a date of a calendar fixed beforehand, and every
            date was used.

    Raises:
        InvalidParameter: If a fact is outside its range, or two contradict each other.
    """

    rows: int
    release: int | None
    status: Statuses = Statuses.PUBLISHED
    replaced: int = 0
    inserted: int = 0
    remaining: int | None = None
    request_id: str | None = None
    received: str | None = None
    edited: str | None = None
    served: str | None = None
    model_before: str | None = None
    model_after: str | None = None
    checked: str | None = None
    audit: tuple[Mapping[str, Any], ...] = ()
    controller: str | None = None
    ledger_entries: int | None = None
    ledger_sha256: str | None = None
    notices: Notices = NOTHING_STATED
    deleted_at: str | None = None
    read_at: str | None = None
    counted: str | None = None
    residue: tuple[Mapping[str, Any], ...] = ()
    publishers: tuple[Mapping[str, Any], ...] = ()
    from_data: tuple[str, ...] | None = None
    by_calendar: bool = False

    def __post_init__(self) -> None:
        check_count("rows", self.rows)
        check_count("inserted", self.inserted, minimum=0)
        if not check_count("replaced", self.replaced, minimum=0) <= self.rows:
            raise InvalidParameter(f"rows cannot be among rows={self.rows} erased", replaced=self.replaced)
        if self.remaining is not None:
            check_count("remaining", self.remaining, minimum=0)
        object.__setattr__(self, "status", Statuses(self.status))
        if (self.release is None) != (self.status is not Statuses.PUBLISHED):
            raise InvalidParameter("contradict each other", status=str(self.status), release=self.release)
        if self.release is not None:
            check_count("release", self.release)
        if self.status is not Statuses.PUBLISHED and not (self.model_after is None and self.served is None):
            raise InvalidParameter(
                f"served and model_after say that a model was published, status={str(self.status)!r} does not"
            )
        for name in ("request_id", "checked", "controller"):
            check_text(name, getattr(self, name))
        for name in ("model_before", "model_after", "ledger_sha256"):
            check_digest(name, getattr(self, name))
        if (self.ledger_entries is None) != (self.ledger_sha256 is None):
            raise InvalidParameter("ledger_entries and ledger_sha256 describe the same state: give both or neither")
        if self.ledger_entries is not None:
            check_count("ledger_entries", self.ledger_entries)
        if self.received is not None:
            object.__setattr__(self, "received", parse_datetime("received", self.received, utc=False))
        for name in ("edited", "served"):
            object.__setattr__(self, name, _day_of(name, getattr(self, name), self.received))
        start = None if self.received is None else self.received[:10]
        check_chronological(received=start, edited=self.edited, served=self.served)
        object.__setattr__(self, "audit", check_audit_rows(self.audit))
        self.notices.fit(self.received)
        object.__setattr__(self, "residue", check_residue_rows(self.residue))
        object.__setattr__(self, "publishers", check_destinations(self.publishers))
        object.__setattr__(self, "from_data", _check_columns(self.from_data))
        if not isinstance(self.by_calendar, bool):
            raise InvalidParameter("must be true or false", by_calendar=self.by_calendar)
        check_source_order(self.deleted_at, self.read_at, self.counted, published=self.release is not None)

    @property
    def deleted(self) -> int:
        """Records deleted: erased rows that were not replaced."""
        return self.rows - self.replaced

    @property
    def deadline(self) -> str | None:
        """The last day, at the place of receipt, on which the request may be answered (Article 12(3) GDPR).

        It is one calendar month after receipt, to the end of the day; a Saturday, a Sunday or a public holiday moves it
        to the next working day (Regulation 1182/71, Article 3). Holidays depend on the place: only those that the
        operator stated are known here. An extension replaces this day by its own.
        """
        if self.received is None:
            return None
        extended = self.notices.extended_until
        return (extended or last_day(self.received, holidays=self.notices.holidays)).isoformat()


def _day_of(name: str, when: Any, received: str | None) -> str | None:
    """Return a day, or the day of a time at the place of receipt, as text."""
    if when is None:
        return None
    if isinstance(when, str) and "T" in when:
        return local_day(parse_datetime(name, when), received).isoformat()
    return parse_day(name, when).isoformat()


def _check_columns(names: Any) -> tuple[str, ...] | None:
    """Return column names without duplicates, in order."""
    if names is None:
        return None
    if not isinstance(names, (list, tuple)) or len(names) > MOST_COLUMNS:
        raise InvalidParameter(f"from_data must be a list of at most {MOST_COLUMNS} columns, or left out")
    for name in names:
        if name is None:
            raise InvalidParameter("a column of from_data needs a name")
        check_text("column of from_data", name)
    return tuple(dict.fromkeys(names))


def check_chronological(**days: str | None) -> None:
    """Check that the known days are in the order of the arguments.

    Raises:
        InvalidParameter: If one day precedes an earlier one.
    """
    known = [(name, when) for name, when in days.items() if when is not None]
    for (before, first), (after, second) in pairwise(known):
        if first > second:
            raise InvalidParameter(
                "are in the wrong order: the second precedes the first", **{before: first, after: second}
            )


def check_digest(name: str, value: Any) -> None:
    """Check that `value` is a SHA-256 in hexadecimal, or None."""
    if value is not None and not (isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value)):
        raise InvalidParameter(f"{name} must be a SHA-256, 64 hexadecimal digits in lower case, or left out")


def check_certificate_id(certificate_id: Any) -> str:
    """Return the id of a certificate, a UUID in canonical form."""
    try:
        if str(UUID(certificate_id)) == certificate_id:
            return str(certificate_id)
    except (TypeError, ValueError, AttributeError):
        pass
    raise InvalidParameter("certificate_id must be a UUID, for example 6f1c0f6e-0c0b-4a53-9d5c-0d8c2f0f6c11")


def check_version(name: Any) -> str:
    """Return `name`, checked to be a version of the software, such as "1.0.0"."""
    if not isinstance(name, str) or not re.fullmatch(r"[0-9]{1,5}(\.[0-9]{1,5}){1,3}([.+-]?[a-z0-9.]{1,30})?", name):
        raise InvalidParameter("version must be that of the software, for example 1.0.0")
    return name


def check_audit_rows(results: Any) -> tuple[dict[str, Any], ...]:
    """Return the rows of an audit: advantages in [0, 1], none measured above the certified one."""
    found = check_report_rows("audit", results, MOST_AUDITS, ("name", "measured_lower_bound", "claimed_advantage"))
    for result in found:
        for name in ("measured_lower_bound", "claimed_advantage"):
            if not 0 <= check_real(name, result[name]) <= 1:
                raise InvalidParameter(
                    "must lie between 0 and 1: it is an advantage over guessing", **{name: result[name]}
                )
        if result["measured_lower_bound"] > result["claimed_advantage"]:
            raise InvalidParameter(
                f"the audit {result['name']!r} measured more than is certified: nothing may be certified until it is known why"
            )
    return found


class Verdicts(Word):
    """The verdict of a residue report on a place."""

    ERASED = "ERASED"
    RESIDUAL = "RESIDUAL"
    NOT_COVERED = "NOT COVERED"


MOST_PLACES = 1000  # in a residue report
MOST_PUBLISHERS = 50
UNKNOWN = "unknown"  # the kind of locations that a list of publishers no longer names


def check_report_rows(name: str, rows: Any, most: int, parts: Sequence[str]) -> tuple[dict[str, Any], ...]:
    """Return the rows of a report, each with exactly the keys `parts`.

    Args:
        name: Name of the report, for messages.
        rows: The rows.
        most: Largest number of rows.
        parts: The keys; the first one names a row.

    Raises:
        InvalidParameter: If the rows are of another form, or more than `most`.
    """
    if not isinstance(rows, (list, tuple)) or len(rows) > most:
        raise InvalidParameter(f"{name} must be a list of at most {most}")
    for row in rows:
        if not isinstance(row, Mapping) or set(row) != set(parts) or row[parts[0]] is None:
            raise InvalidParameter(f"each part of {name} has {', '.join(parts)}, the first of them a name")
        check_text(f"{parts[0]} of {name}", row[parts[0]])
    return tuple(dict(row) for row in rows)


def check_source_order(deleted_at: str | None, read_at: str | None, counted: str | None, *, published: bool) -> None:
    """Check that the published model was computed from a state of the source that includes the deletion.

    Args:
        deleted_at: Position of the deletion in the source.
        read_at: Position of the snapshot that the model was computed from.
        counted: How the source counted all changes up to `read_at`.
        published: Whether a model was published since.

    Raises:
        InvalidParameter: If it was not, or the positions are inconsistent.
    """
    for place in (deleted_at, read_at):
        if place is not None:
            check_position(place)
    if (read_at is None) != (deleted_at is None or not published):
        raise InvalidParameter(
            "where rows lie in a source of their own, a deletion has deleted_at, and the model published since has read_at"
        )
    if counted is not None and (check_choice("counted", counted, COUNTED_BY) and read_at is None):
        raise InvalidParameter("counted says by what the changes up to read_at were counted: give both or neither")
    if read_at is not None and deleted_at is not None and not position_covers(read_at, deleted_at):
        raise InvalidParameter(
            f"the published model was computed from {read_at}, which does not show the deletion at {deleted_at}: it may have been "
            "trained with what was erased, so nothing is certified. Publish again"
        )


def check_residue_rows(places: Any) -> tuple[dict[str, Any], ...]:
    """Return the rows of a residue report: place, verdict, number of texts found in it, remedy."""
    found = check_report_rows("residue", places, MOST_PLACES, ("place", "verdict", "found", "remedy"))
    for place in found:
        check_text("remedy", place["remedy"])
        Verdicts(place["verdict"])
        if (check_count("found", place["found"], minimum=0) > 0) != (place["verdict"] == Verdicts.RESIDUAL):
            raise InvalidParameter("a place of a residue report is RESIDUAL where something was found, and only there")
    return found


def check_destinations(places: Any) -> tuple[dict[str, Any], ...]:
    """Return what publishers were last known to hold.

    Each entry has the kind of location, the current release there, and the earliest release that may remain.
    """
    found = check_report_rows("publishers", places, MOST_PUBLISHERS, ("kind", "release", "oldest"))
    for place in found:
        for name in ("release", "oldest"):
            if place[name] is not None:
                check_count(name, place[name])
        if place["release"] is not None and (place["oldest"] is None or place["oldest"] > place["release"]):
            raise InvalidParameter("a publisher that holds a release has none that is older than its oldest")
    return found


def check_released(releases: int, publishers: Sequence[Mapping[str, Any]]) -> None:
    """Check that no publisher is stated to hold a release that was never made."""
    for place in publishers:
        for name in ("release", "oldest"):
            if place[name] is not None and place[name] > releases:
                raise InvalidParameter(f"a publisher cannot hold release {place[name]}: {releases} were made")

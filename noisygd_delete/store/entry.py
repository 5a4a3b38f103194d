"""One line of the ledger, and the links that chain the lines: public facts only.

An entry never holds anything that depends on the records other than the published model's own digest: no row, no id,
no statistic, no time taken.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ..errors import InvalidParameter, StoreCorrupt, Word, check_choice, check_count
from ..records import EditCounts, limited_io
from .layout import FORMAT

# --- position ---
#
# Points in the history of a source, as the source itself counts them: when rows were deleted, what a release read.
#
# A ledger and a certificate hold them as text, and anybody can tell from the two texts alone whether a release read the rows
# after a deletion:
#
#     transaction:734               a transaction of PostgreSQL that was committed
#     snapshot:734:740:735,737      what one snapshot of PostgreSQL sees: every transaction before 734; none from 740 on, nor 735 and
#                                   737, which were still under way (the text of `pg_current_snapshot()`)
#     version:12                    a version of a Delta table, or the number of deletions made in a DuckDB file
#     time:2026-11-22T05:45:00+00:00   where a source counts nothing: the clock


COUNTED_BY = ("trigger", "versions", "file")  # what counts the changes between two positions
_MOST_BETWEEN = 1000  # transactions
_LONGEST = 10_000  # characters: a snapshot names every transaction that is under way
_NUMBER = r"(0|[1-9]\d{0,19})"
_FORMS = {
    "transaction": re.compile(_NUMBER),
    "snapshot": re.compile(rf"{_NUMBER}:{_NUMBER}:({_NUMBER}(,{_NUMBER})*)?"),
    "version": re.compile(_NUMBER),
    "time": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00"),
}


@dataclass(frozen=True)
class _Snapshot:
    """The transactions that a snapshot sees: those before `first`, and from there to `end` those not among `open`."""

    first: int
    end: int
    open: frozenset[int]

    @classmethod
    def of(cls, text: str) -> _Snapshot:
        first, end, under_way = text.split(":")
        return cls(int(first), int(end), frozenset(map(int, filter(None, under_way.split(",")))))

    def sees(self, transaction: int) -> bool:
        return transaction < self.first or (transaction < self.end and transaction not in self.open)

    def sees_all_of(self, other: _Snapshot) -> bool:
        unseen = [number for number in self.open if number < other.end and other.sees(number)]
        return self.end >= other.end and not unseen


def check_position(text: str) -> str:
    """A position, if it is one.

    Raises:
        InvalidParameter: it is none.
    """
    kind, _, rest = text.partition(":") if isinstance(text, str) and len(text) <= _LONGEST else ("", "", "")
    if kind not in _FORMS or not _FORMS[kind].fullmatch(rest):
        raise InvalidParameter(
            "a position in a source is written as transaction:734, snapshot:734:740:735, version:12 or "
            "time:2026-11-22T05:45:00+00:00"
        )
    if kind == "time":
        try:
            datetime.fromisoformat(rest)
        except ValueError:
            raise InvalidParameter("a position in a source names a time that does not exist") from None
    return text


def extend_position(position: str, transaction: int) -> str | None:
    """What the same snapshot of PostgreSQL sees and this transaction did, which began after it; None where too many began in between."""
    first, end, under_way = check_position(position).partition(":")[2].split(":")
    between = range(int(end), transaction)
    if len(between) > _MOST_BETWEEN or transaction < int(end):
        return None
    unseen = [*filter(None, under_way.split(",")), *map(str, between)]
    return f"snapshot:{first}:{transaction + 1}:{','.join(unseen)}"


def position_covers(read: str, changed: str) -> bool:
    """Whether what was read at one position holds all that was changed up to another. Of different kinds, it does not."""
    (kind, _, seen), (other, _, made) = check_position(read).partition(":"), check_position(changed).partition(":")
    if kind == "snapshot":
        if other == "transaction":
            return _Snapshot.of(seen).sees(int(made))
        return other == "snapshot" and _Snapshot.of(seen).sees_all_of(_Snapshot.of(made))
    if kind != other or kind == "transaction":
        return False
    if kind == "version":
        return int(seen) >= int(made)
    return datetime.fromisoformat(seen) >= datetime.fromisoformat(made)


_LONGEST_MARK = 100
START = "0" * 64  # what the first link continues


class EntryKinds(Word):
    """What a line of the ledger records: the beginning; a release; rows edited, publication left for later; rows edited,
    publication refused by the budget, the model withdrawn; the model taken out of service until the next release; numbers about the
    records, charged before anybody saw them."""

    INIT = "init"
    LEARN = "learn"
    UNLEARN = "unlearn"
    RELEARN = "relearn"
    EDIT = "edit"
    WITHHELD = "withheld"
    WITHDRAWN = "withdrawn"
    STATISTIC = "statistic"


class Occasions(Word):
    """What set the time of a release: a date of a calendar fixed beforehand; or a request, a full batch, a limit counted from an edit,
    a person. Only the first cannot have been chosen after seeing earlier models."""

    CALENDAR = "calendar"
    DEMAND = "demand"


Row = tuple[int, str, str]  # number, body, digest


class _Facts:
    """What follows from facts that an entry and its outline have alike."""

    __slots__ = ()
    pending: int
    waiting: dict[str, int] | None
    model: str | None
    withdrawn: bool

    @property
    def pending_counts(self) -> EditCounts:
        """The edits that no release covers yet, by kind."""
        return EditCounts.of(self.pending) if self.waiting is None else EditCounts.from_dict(self.waiting)

    @property
    def in_force(self) -> bool:
        """Whether a model is in service."""
        return self.model is not None and not self.withdrawn


@dataclass(frozen=True)
class Entry(_Facts):
    """One line of the ledger.

    kind     one of `EntryKinds`, as a word or as its text
    plan     the plan from here on; schema: of the store, in the first entry only
    event    of a release, for the accountant; account: the sums of all releases so far
    pending  edits that no release covers yet; waiting: the same by kind
    model    SHA-256 of the model file in force; None before the first, and after the budget withheld a release
    withdrawn  the model is kept as what the next release starts from, and is out of service until then
    answer   what the caller was told; commitment: of the caller's random token, to tell it again (`requests.commitment`)
    request_id the token itself, on its way to the ledger, which keeps the commitment
    source   in the first entry: where the rows lie, if that is not the store itself
    position in that source: of a deletion that was carried out there, or of the snapshot that a release was made from
    mark     that a deletion left in the source; of a release, the newest that its snapshot showed
    definition  of a release: a digest of what its source's catalogue said of the rows, with which a later count is compared
    counted  by what that source counted the changes since the release before ("trigger", "versions"); None: as they were told
    occasion of a release, one of `Occasions`. unused_dates: of the calendar, those that
             went by since the release before with nothing to publish (whether one is used depends on requests: who needs a figure
             that holds whatever they depended on charges these too)
    """

    kind: EntryKinds
    time: str
    pending: int
    model: str | None = None
    plan: dict[str, Any] | None = None
    schema: dict[str, Any] | None = None
    event: dict[str, Any] | None = None
    answer: dict[str, Any] | None = None
    request_id: str | None = None
    waiting: dict[str, int] | None = None
    account: dict[str, Any] | None = None
    commitment: str | None = None
    withdrawn: bool = False
    source: dict[str, Any] | None = None
    position: str | None = None
    mark: str | None = None
    definition: str | None = None
    counted: str | None = None
    occasion: Occasions | None = None
    unused_dates: int = 0
    format: int = FORMAT

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", EntryKinds(self.kind))
        check_count("pending", self.pending, minimum=0)
        if self.pending_counts.total != self.pending:
            raise InvalidParameter(f"is not the sum of its kinds: {self.pending_counts.text()}", pending=self.pending)
        if self.position is not None:
            check_position(self.position)
        if self.mark is not None and not (isinstance(self.mark, str) and 0 < len(self.mark) <= _LONGEST_MARK):
            raise InvalidParameter(f"a mark in a source has at most {_LONGEST_MARK} characters")
        if self.definition is not None and not (
            isinstance(self.definition, str) and len(self.definition) == len(START)
        ):
            raise InvalidParameter("a definition is a SHA-256 in hexadecimal")
        if self.counted is not None:
            check_choice("counted", self.counted, COUNTED_BY)
        if self.occasion is not None:
            object.__setattr__(self, "occasion", Occasions(self.occasion))
        check_count("unused_dates", self.unused_dates, minimum=0)


if TYPE_CHECKING:
    _Text = bytes | None
else:
    _Text = msgspec.Raw
_NOTHING = b"null"


class Outline(msgspec.Struct, _Facts, frozen=True, gc=False):
    """An entry of a long ledger of which only this was read: the rest of its JSON is skipped. Of `event` and `plan` it has the text."""

    kind: EntryKinds
    time: str
    pending: int
    model: str | None = None
    plan: _Text = msgspec.Raw(_NOTHING)
    event: _Text = msgspec.Raw(_NOTHING)
    waiting: dict[str, int] | None = None
    commitment: str | None = None
    withdrawn: bool = False
    counted: str | None = None
    occasion: str | None = None
    unused_dates: int = 0

    def __post_init__(self) -> None:
        for name in ("plan", "event"):
            text = bytes(getattr(self, name))  # a copy: the entry itself is let go of
            msgspec.structs.force_setattr(self, name, None if text == _NOTHING else text)


_decoded = msgspec.json.Decoder(Outline).decode


def parse_outline(path: Path, number: int, body: str) -> Outline:
    """The outline of the entry in a row.

    Raises:
        StoreCorrupt: it is none.
    """
    try:
        return _decoded(body)
    except msgspec.MsgspecError as error:
        raise _no_entry(path, number) from error


def _no_entry(path: Path, number: int) -> StoreCorrupt:
    return StoreCorrupt(f"{path}: entry {number} is not a ledger entry; restore the store from a backup")


def utc_now() -> str:
    """UTC, to the second: information for people, never used in a decision."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def link_entry(before: str, entry: Entry) -> tuple[str, str]:
    """(body, digest) of an entry that follows the link `before`."""
    # keys stay in their own order: that of the schema's columns is the order of the features in a row
    facts = {field.name: getattr(entry, field.name) for field in fields(entry) if field.name != "request_id"}
    body = json.dumps(facts, ensure_ascii=True, allow_nan=False)
    return body, _entry_digest(before, body)


def _entry_digest(before: str, body: str) -> str:
    return hashlib.sha256(f"{before}{body}".encode()).hexdigest()


def check_links(path: Path, rows: Iterable[Row], first: int, before: str) -> Iterator[Row]:
    """The same rows, numbered from `first` on and each continuing the link before it, the first one `before`.

    Raises:
        StoreCorrupt: one of them does not.
    """
    for expected, row in enumerate(rows, start=first):
        number, body, stated = row
        before = _entry_digest(before, body)
        if number != expected or before != stated:
            raise StoreCorrupt(
                f"{path}: entry {expected} does not continue the hash chain: the ledger was changed by hand or damaged. "
                "Nothing in it can be trusted; restore the store from a backup"
            )
        yield row


def parse_entry(path: Path, number: int, body: str) -> Entry:
    """The entry in a row.

    Raises:
        StoreCorrupt: it is of another format, or none.
    """
    try:
        fields = limited_io.parse_json(body)
        if fields.get("format") != FORMAT:
            raise StoreCorrupt(
                f"{path}: entry {number} has format {fields.get('format')!r}, and this version reads format {FORMAT}; open the store with the "
                "version of noisygd-delete that made it"
            )
        entry = Entry(**fields)
        if "request_id" in fields:
            raise ValueError("a request id in clear")
    except (ValueError, TypeError, AttributeError, InvalidParameter, RecursionError) as error:
        raise _no_entry(path, number) from error
    if number == 1 and (entry.plan is None or entry.schema is None):
        raise StoreCorrupt(f"{path}: the first entry lacks the plan or the schema; restore the store from a backup")
    return entry

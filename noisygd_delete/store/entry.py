"""The entries of the ledger, and the links that chain them. They hold public facts only.

An entry never holds anything that depends on the records, except the digest of the published model: no row, no id, no
statistic, no duration.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ..errors import InvalidParameter, StoreCorrupt, Word, check_choice, check_count
from ..records import EditCounts, limited_io
from .layout import FORMAT
from .position import COUNTED_BY, check_position

_LONGEST_MARK = 100
START = "0" * 64  # the predecessor of the first link


class EntryKinds(Word):
    """The kinds of ledger entries.

    `init`: the first entry. `learn`, `unlearn`, `relearn`: a release. `edit`: rows were edited, the release follows
    later. `withheld`: rows were edited, the budget refused the release and the model is withdrawn. `withdrawn`: the
    model is out of service until the next release. `statistic`: statistics of the records, charged before they were
    shown.
    """

    INIT = "init"
    LEARN = "learn"
    UNLEARN = "unlearn"
    RELEARN = "relearn"
    EDIT = "edit"
    WITHHELD = "withheld"
    WITHDRAWN = "withdrawn"
    STATISTIC = "statistic"


class Occasions(Word):
    """What determined the time of a release.

    `calendar`: a date of a calendar fixed in advance. `demand`: a request, a full batch, a time limit after an edit, or
    a person. Only the first cannot have been chosen after seeing earlier models.
    """

    CALENDAR = "calendar"
    DEMAND = "demand"


Row = tuple[int, str, str]  # number, body, digest


class _Facts:
    """Properties derived from facts that entries and outlines have in common."""

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
    """One entry of the ledger.

    Attributes:
        kind: One of `EntryKinds`, as a member or as its text.
        time: UTC, as `utc_now` gives it.
        pending: Edits that no release covers yet.
        model: SHA-256 of the model file; None before the first model, and after the budget refused a release.
        plan: The plan from this entry on.
        schema: The schema of the store, in the first entry only.
        event: The release, for the accountant.
        answer: The answer to the request.
        request_id: The random token of the requester; the ledger stores its commitment instead.
        waiting: The pending edits by kind.
        account: The sums of all releases so far.
        commitment: The commitment to the request id, by which the answer can be repeated (`request_log.commitment`).
        withdrawn: Whether the model is out of service until the next release, which starts from it.
        source: In the first entry: the source that holds the rows; None if the store holds them.
        position: The position in the source of a deletion carried out there, or of the snapshot that a release was made
            from.
        mark: The mark that a deletion left in the source; of a release, the newest mark that its snapshot showed.
        definition: Of a release: a digest of how the source's catalogue describes the rows, with which a later count is
            compared.
        counted: What counted the changes in the source since the previous release ("trigger", "versions" or "file");
            None if only reported changes are known.
        occasion: Of a release: one of `Occasions`.
        unused_dates: Calendar dates since the previous release that passed with nothing to publish. Whether a date is
            used depends on requests; a guarantee that holds regardless of that dependence charges these dates too.
        format: The format of the entry.
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
    """An entry of a long ledger of which only these fields were parsed. `event` and `plan` are kept as JSON text."""

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
            text = bytes(getattr(self, name))  # a copy, so that the entry can be freed
            msgspec.structs.force_setattr(self, name, None if text == _NOTHING else text)


_decoded = msgspec.json.Decoder(Outline).decode


def parse_outline(path: Path, number: int, body: str) -> Outline:
    """Return the outline of the entry in a row.

    Raises:
        StoreCorrupt: If the row is not an entry.
    """
    try:
        return _decoded(body)
    except msgspec.MsgspecError as error:
        raise _no_entry(path, number) from error


def _no_entry(path: Path, number: int) -> StoreCorrupt:
    return StoreCorrupt(f"{path}: entry {number} is not a ledger entry; restore the store from a backup")


def utc_now() -> str:
    """Return the time in UTC, to the second. It is informative only and never used in a decision."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def link_entry(before: str, entry: Entry) -> tuple[str, str]:
    """Return the body and the digest of an entry that follows the link `before`."""
    # keys are not sorted: the order of the schema's columns is the order of the features in a row
    facts = {field.name: getattr(entry, field.name) for field in fields(entry) if field.name != "request_id"}
    body = json.dumps(facts, ensure_ascii=True, allow_nan=False)
    return body, _entry_digest(before, body)


def _entry_digest(before: str, body: str) -> str:
    return hashlib.sha256(f"{before}{body}".encode()).hexdigest()


def check_links(path: Path, rows: Iterable[Row], first: int, before: str) -> Iterator[Row]:
    """Yield the rows, checking that they are numbered from `first` on and that each continues the link before it.

    Raises:
        StoreCorrupt: If a row does not continue the chain.
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
    """Return the entry in a row.

    Raises:
        StoreCorrupt: If it has another format or is not an entry.
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

"""The ledger: a hash chain of public facts. Its last entry says which plan and which model are in force.

An entry never holds anything that depends on the records other than the published model's own digest: no row, no id,
no statistic, no time taken.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from ..accountant import Accountant, Event
from ..errors import InvalidParameter, NoisyGDDeleteError, StoreCorrupt, Word, count
from ..methods.plan import Plan
from ..methods.reading import plan_from_dict
from ..records import EditCounts, bounded
from ..schema import Schema
from .database import connect, create, forget, transaction
from .disk import Disk, read
from .layout import FORMAT, READABLE, Layout

_START = "0" * 64


class EntryKinds(Word):
    """What a line of the ledger records: the beginning; a release; rows edited, publication left for later; rows edited,
    publication refused by the budget, the model withdrawn."""

    INIT = "init"
    LEARN = "learn"
    UNLEARN = "unlearn"
    RELEARN = "relearn"
    EDIT = "edit"
    WITHHELD = "withheld"


@dataclass(frozen=True)
class Entry:
    """One line of the ledger.

    kind     one of `EntryKinds`, as a word or as its text
    plan     the plan from here on; schema: of the store, in the first entry only
    event    of a release, for the accountant
    pending  edits that no release covers yet; waiting: the same by kind (None in entries of format 1, which only counted)
    model    SHA-256 of the model file in force; None before the first and after a withdrawal
    answer   what the caller was told; request_id: the caller's random token, to tell it again
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
    format: int = FORMAT

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", EntryKinds(self.kind))
        count("pending", self.pending, minimum=0)
        if self.pending_counts.total != self.pending:
            raise InvalidParameter(f"pending={self.pending} is not the sum of its kinds: {self.pending_counts.text()}")

    @property
    def pending_counts(self) -> EditCounts:
        """The edits that no release covers yet, by kind."""
        return EditCounts.of(self.pending) if self.waiting is None else EditCounts.from_dict(self.waiting)


def now() -> str:
    """UTC, to the second: information for people, never used in a decision."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True)
class Ledger:
    """The entries, read whole and checked link by link. `digests[k]` seals entries 0 to k: the hash chain."""

    path: Path
    entries: tuple[Entry, ...]
    digests: tuple[str, ...]

    @classmethod
    def create(cls, disk: Disk, path: Path, first: Entry) -> Ledger:
        """A ledger of one entry. Until that is committed there is no store."""
        body, digest = _link(_START, first)
        ledger = cls(path, (first,), (digest,))
        ledger.seal(disk)
        create(disk, path)
        with connect(path, journal="DELETE") as connection, transaction(connection, disk, path):
            connection.execute(
                "CREATE TABLE entries (number INTEGER PRIMARY KEY, body TEXT NOT NULL, digest TEXT NOT NULL)"
            )
            connection.execute("INSERT INTO entries VALUES (1, ?, ?)", (body, digest))
        return ledger

    @classmethod
    def read(cls, path: Path) -> Ledger:
        """The ledger on disk.

        Raises:
            StoreCorrupt: another format, a broken link, an entry that does not parse, or entries cut off at the end.
        """
        sealed = _sealed(path)  # before the ledger: another process may be adding to it
        with connect(path) as connection:
            rows = connection.execute("SELECT number, body, digest FROM entries ORDER BY number").fetchall()
        ledger = cls.from_rows(path, rows)
        ledger._check(sealed)
        return ledger

    @classmethod
    def from_rows(cls, path: Path, rows: Sequence[tuple[int, str, str]]) -> Ledger:
        """The ledger of these (number, body, digest)."""
        if not rows:
            raise StoreCorrupt(f"{path}: the ledger is empty; restore the store from a backup")
        digest, entries, digests = _START, [], []
        before = _READ.get(path)  # the same digest is the same entry after the same ones: it was parsed and judged then
        for expected, (number, body, stated) in enumerate(rows, start=1):
            digest = hashlib.sha256(f"{digest}{body}".encode()).hexdigest()
            if number != expected or digest != stated:
                raise StoreCorrupt(
                    f"{path}: entry {expected} does not continue the hash chain: the ledger was changed by hand or damaged. "
                    "Nothing in it can be trusted; restore the store from a backup"
                )
            known = before is not None and expected <= len(before.digests) and before.digests[expected - 1] == digest
            entries.append(before.entries[expected - 1] if known and before else _parse(path, expected, body))
            digests.append(digest)
        if before is not None and before.digests == tuple(digests):
            return before
        ledger = cls(path, tuple(entries), tuple(digests))
        try:
            Schema.from_dict(ledger.schema)
            ledger.accountant  # noqa: B018 -- refuses a history that could not have happened
        except (NoisyGDDeleteError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise StoreCorrupt(
                f"{path}: its entries contradict one another ({error}); restore from a backup"
            ) from error
        _READ.clear()
        _READ[path] = ledger
        return ledger

    def append(self, disk: Disk, entry: Entry) -> Ledger:
        """Commit one more entry: the instant at which a request has happened."""
        body, digest = _link(self.digests[-1], entry)
        with connect(self.path) as connection, transaction(connection, disk, self.path):
            connection.execute("INSERT INTO entries VALUES (?, ?, ?)", (len(self.entries) + 1, body, digest))
        forget(disk, self.path)
        longer = replace(self, entries=(*self.entries, entry), digests=(*self.digests, digest))
        longer.seal(disk)
        if entry.plan is None:  # the account goes on: nothing that happened before is looked at again
            published = () if entry.event is None else (Event.from_dict(entry.event),)
            object.__setattr__(longer, "_account", self._account.what_if(*published))
        return longer

    def seal(self, disk: Disk) -> None:
        """Note outside the ledger how long it is. A crash before this leaves the former length, which still holds."""
        seal = {"entries": len(self.digests), "sha256": self.digests[-1]}
        disk.replace(seal_of(self.path), (json.dumps(seal) + "\n").encode())

    @property
    def is_sealed(self) -> bool:
        return _sealed(self.path) == (len(self.digests), self.digests[-1])

    def _check(self, sealed: tuple[int, str] | None) -> None:
        if sealed is None:
            in_store = self.path == Layout(self.path.parent).ledger  # a copy elsewhere has no seal
            if in_store and len(self.entries) > 1 and self.head.format > 1:  # an older version wrote none
                raise StoreCorrupt(f"{seal_of(self.path)}: missing; put it back from a backup of the store. {_LOST}")
            return
        entries, digest = sealed
        if not 1 <= entries <= len(self.digests):
            raise StoreCorrupt(
                f"{self.path}: has {len(self.digests)} entries and had {entries}: its end was cut off. {_LOST}"
            )
        if self.digests[entries - 1] != digest:
            raise StoreCorrupt(f"{self.path}: not the ledger that {seal_of(self.path).name} was made for. {_LOST}")

    @property
    def head(self) -> Entry:
        return self.entries[-1]

    @property
    def plans(self) -> list[dict[str, Any]]:
        """Every plan so far, the one in force last."""
        return [entry.plan for entry in self.entries if entry.plan is not None]

    @property
    def plan(self) -> Plan:
        plan = self._account.plan
        assert plan is not None
        return plan

    @property
    def schema(self) -> dict[str, Any]:
        return self.entries[0].schema or {}

    @property
    def accountant(self) -> Accountant:
        """Of every release so far; the caller's own."""
        return self._account.what_if()

    @cached_property
    def _account(self) -> Accountant:
        events = (Event.from_dict(entry.event) for entry in self.entries if entry.event is not None)
        return Accountant(plan_from_dict(self.plans[-1]), events)

    @property
    def events(self) -> tuple[Event, ...]:
        """Every release so far."""
        return self._account.events

    @property
    def releases(self) -> int:
        return self._account.releases

    def edited(self, position: int) -> EditCounts:
        """The edits that the request of the entry at this position (from 0) made itself, by kind; those that had waited
        before it, and that its release covered too, are not among them."""
        entry = self.entries[position]
        covered = entry.pending_counts if entry.event is None else Event.from_dict(entry.event).counts
        return covered - self.entries[position - 1].pending_counts if position else covered

    def position(self, request_id: str | None) -> int | None:
        """Where (from 0) the entry is that served this request before; None if none did."""
        if request_id is None:
            return None
        return next((place for place, entry in enumerate(self.entries) if entry.request_id == request_id), None)

    def answered(self, request_id: str | None) -> tuple[Entry, ...]:
        """The entry that served this request before and all later ones; empty if none did."""
        position = self.position(request_id)
        return () if position is None else self.entries[position:]


_READ: dict[Path, Ledger] = {}  # the ledger that this process read last; every reading checks the chain all the same

_LOST = "Restore the store from a backup, and carry out again every request made since"


def seal_of(ledger: Path) -> Path:
    return Layout(ledger.parent).seal


def _sealed(ledger: Path) -> tuple[int, str] | None:
    """What the seal says, None where there is none."""
    path = seal_of(ledger)
    if not path.exists() and not path.is_symlink():
        return None
    try:
        seal = bounded.parsed(read(path, 1 << 12).decode())
        if (
            set(seal) != {"entries", "sha256"}
            or type(seal["entries"]) is not int
            or not isinstance(seal["sha256"], str)
        ):
            raise ValueError("other parts")
    except (ValueError, TypeError) as error:
        raise StoreCorrupt(f"{path}: not a seal of a ledger; put it back from a backup of the store") from error
    return seal["entries"], seal["sha256"]


def _link(digest: str, entry: Entry) -> tuple[str, str]:
    # keys stay in their own order: that of the schema's columns is the order of the features in a row
    body = json.dumps(asdict(entry), ensure_ascii=True, allow_nan=False)
    return body, hashlib.sha256(f"{digest}{body}".encode()).hexdigest()


def _parse(path: Path, number: int, body: str) -> Entry:
    try:
        fields = bounded.parsed(body)
        if fields.get("format") not in READABLE:
            raise StoreCorrupt(
                f"{path}: entry {number} has format {fields.get('format')!r} and this program writes format {FORMAT}; "
                "use the version of noisygd-delete that made the store"
            )
        entry = Entry(**fields)
    except (ValueError, TypeError, AttributeError, InvalidParameter, RecursionError) as error:
        raise StoreCorrupt(f"{path}: entry {number} is not a ledger entry; restore the store from a backup") from error
    if number == 1 and (entry.plan is None or entry.schema is None):
        raise StoreCorrupt(f"{path}: the first entry lacks the plan or the schema; restore the store from a backup")
    return entry

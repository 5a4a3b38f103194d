"""The ledger: a hash chain of public facts. Its last entry determines the current plan and the current model.

Every entry carries the sums of all releases so far (`accountant.account`), so reading a ledger checks only its last few
links, however long it is; its history is read on demand, and checked link by link then. `verify` checks every link, and
every sum against its releases.
"""

from __future__ import annotations

import json
import sqlite3
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..accountant import Account, Accountant, Event
from ..accountant import serialization as written
from ..errors import InvalidParameter, MissingDependency, NoisyGDDeleteError, StoreCorrupt
from ..methods.plan import Plan
from ..methods.serialization import plan_from_dict
from ..records import EditCounts, limited_io
from ..version import __version__
from . import rollback_guard
from .disk import Disk, begin_transaction, connect_database, create_database, open_transaction, read_start
from .entry import START, Entry, Outline, Row, check_links, link_entry, parse_entry, parse_outline
from .layout import Layout

if TYPE_CHECKING:
    from ..features.maps.codec import RowCodec
    from ..features.schema import Schema

# --- places ---
#
# An index of a long ledger: in which entry a request, a release or a plan is. It is derived from the entries alone.
#
# No decision relies on it alone: an entry found by it is checked, and `verify` derives the table from the entries
# again.
#
# The verified prefix: up to where `verify` has checked a long ledger. Entries before that are read and hashed again,
# but not checked again.
#
# It names a link, so it is valid for exactly these entries. Anyone able to write it can write the ledger and its seal
# as well.


Place = tuple[
    int, str | None, int | None, int | None
]  # number of the entry, its commitment, its release, 1 where it holds a plan

_PLANS = "SELECT number FROM places WHERE planned = 1 ORDER BY number"
_TABLES = (
    "CREATE TABLE entries (number INTEGER PRIMARY KEY, body TEXT NOT NULL, digest TEXT NOT NULL)",
    "CREATE TABLE places (number INTEGER PRIMARY KEY, commitment TEXT, release INTEGER, planned INTEGER)",
    "CREATE INDEX requests ON places (commitment) WHERE commitment IS NOT NULL",
    "CREATE INDEX releases ON places (release) WHERE release IS NOT NULL",
    "CREATE INDEX plans ON places (planned) WHERE planned IS NOT NULL",
)


def places_of(entries: Iterable[Entry | Outline], first: int = 1, releases: int = 0) -> Iterator[Place]:
    """Yield the index rows of entries that are numbered from `first` on and follow `releases` releases."""
    for number, entry in enumerate(entries, start=first):
        releases += entry.event is not None
        made = None if entry.event is None else releases
        yield number, entry.commitment, made, None if entry.plan is None else 1


def write_places(connection: sqlite3.Connection, places: Iterable[Place]) -> None:
    """Add rows to the index."""
    connection.executemany("INSERT INTO places VALUES (?, ?, ?, ?)", places)


def digest_of_places(connection: sqlite3.Connection, until: int) -> str:
    """Return the SHA-256 of the index up to and including entry `until`."""
    said = sha256()
    for row in _query_link(connection, "<=", until):
        said.update(repr(row).encode())
    return said.hexdigest()


def check_places(connection: sqlite3.Connection, expected: Iterable[Place], after: int) -> None:
    """Raise `InvalidParameter` unless the index rows after entry `after` match the entries."""
    for place, found in zip_longest(expected, _query_link(connection, ">", after)):
        if place != found:
            number = (place or found)[0]
            raise InvalidParameter(f"the table of places does not say what entry {number} says")


def _query_link(connection: sqlite3.Connection, side: str, number: int) -> sqlite3.Cursor:
    query = f"SELECT number, commitment, release, planned FROM places WHERE number {side} ? ORDER BY number"
    return connection.execute(query, (number,))


def find_place(connection: sqlite3.Connection, condition: str, value: int | str) -> int | None:
    """Return the number of the first entry that satisfies the condition, or None."""
    query = f"SELECT number FROM places WHERE {condition} ORDER BY number LIMIT 1"
    found = connection.execute(query, (value,)).fetchone()
    return None if found is None else found[0]


WORTH = 1000  # entries; for shorter ledgers, checking is as fast as writing the prefix


class VerifiedPrefix(NamedTuple):
    """The entries up to a link, and the index rows up to there, as checked by this version.

    Attributes:
        entries: The number of entries.
        link: The link of the last of them.
        places: The digest of the index; see `digest_of_places`.
        version: The version that checked them.
    """

    entries: int
    link: str
    places: str
    version: str = __version__


def read_verified_prefix(path: Path) -> VerifiedPrefix | None:
    """Return the recorded prefix, or None if this version has not recorded one."""
    if path.exists() or path.is_symlink():
        with suppress(ValueError, TypeError):
            found = VerifiedPrefix(**limited_io.parse_json(read_start(path, 1 << 12).decode()))
            if list(map(type, found)) == [int, str, str, str] and found.version == __version__:
                return found
    return None


def write_verified_prefix(path: Path, before: VerifiedPrefix | None, now: VerifiedPrefix) -> None:
    """Record the prefix if that saves time. A disk error is ignored; it only costs time later."""
    if now != before and now.entries >= WORTH:
        with suppress(OSError):
            Disk().replace(path, (json.dumps(now._asdict()) + "\n").encode())


_AT_ONCE = 512  # entries read at a time
LOOKED_AT = 32  # entries at the end that every read checks and parses


class Ledger:
    """The ledger as it was at one moment.

    Attributes:
        path: The database.
        length: The number of entries.
        digest: The last link, which authenticates all entries.
    """

    def __init__(self, path: Path, length: int, digest: str, tail: Sequence[Entry], account: Account) -> None:
        """Build a ledger from `tail`, its last entries in parsed form, and `account`, the sums of all releases."""
        self.path, self.length, self.digest = path, length, digest
        self._tail = tuple(tail)
        self._account = account

    @classmethod
    def create(cls, disk: Disk, path: Path, first: Entry) -> Ledger:
        """Create a ledger of one entry. The store exists once that entry is committed."""
        first = replace(first, account=written.to_dict(Account()))
        body, digest = link_entry(START, first)
        rollback_guard.write(disk, path, 1, digest)
        create_database(disk, path)
        with connect_database(path, journal="DELETE") as connection, begin_transaction(connection, disk, path):
            for statement in _TABLES:
                connection.execute(statement)
            connection.execute("INSERT INTO entries VALUES (1, ?, ?)", (body, digest))
            write_places(connection, places_of([first]))
        return cls(path, 1, digest, [first], Account())

    @classmethod
    def read(cls, path: Path) -> Ledger:
        """Read the ledger on disk and check its last links.

        Raises:
            StoreCorrupt: If the format is another one, a link is broken, an entry does not parse, or entries were cut
                off at the end.
        """
        sealed = rollback_guard.read_seal(path)  # before the ledger: another process may be adding to it
        with connect_database(path) as connection:
            length = connection.execute("SELECT MAX(number) FROM entries").fetchone()[0] or 0
            first = max(1, min(length - LOOKED_AT, length if sealed is None else sealed[0]) - 1)
            rows = _rows(connection, "number >= ?", first).fetchall()
        ledger = cls.from_rows(path, rows, first)
        ledger._check_seal(sealed, {number: digest for number, _, digest in rows})
        return ledger

    @classmethod
    def from_rows(cls, path: Path, rows: Sequence[Row], first: int = 1) -> Ledger:
        """Return the ledger that ends in these rows, numbered from `first` on.

        The rows are all rows of the ledger, or the last ones. In the latter case the link of the first row is the
        trusted starting point of the check.
        """
        looked_at = rows if first == 1 else rows[1:]
        if not looked_at:
            raise StoreCorrupt(f"{path}: the ledger is empty; restore the store from a backup")
        before = START if first == 1 else rows[0][2]
        tail = [
            parse_entry(path, number, body)
            for number, body, _ in check_links(path, looked_at, first + (first > 1), before)
        ]
        try:
            account = (
                _replay_account(tail, Account()) if first == 1 else _replay_account(tail[1:], _stated_sums(tail[0]))
            )
            ledger = cls(path, rows[-1][0], rows[-1][2], tail, account)
            ledger.accountant  # noqa: B018 -- refuses a history that could not have happened
        except StoreCorrupt:
            raise
        except (NoisyGDDeleteError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise _contradiction(path, error) from error
        return ledger

    def append(self, disk: Disk, *more: Entry) -> Ledger:
        """Commit more entries, all of them or none. The commit is the instant at which their requests take effect."""
        account, digest = self.account, self.digest
        from . import request_log  # imported on use: most commands only read

        known = request_log.record_ids(disk, self._store, (added.request_id for added in more))
        entries: list[Entry] = []
        rows: list[tuple[int, str, str]] = []
        for number, added in enumerate(more, start=self.length + 1):
            if added.event is not None:
                account.record(Event.from_dict(added.event))
            named = None if added.request_id is None else known[added.request_id]
            entries.append(replace(added, account=written.to_dict(account), request_id=None, commitment=named))
            body, digest = link_entry(digest, entries[-1])
            rows.append((number, body, digest))
        with open_transaction(disk, self.path, adds=True) as connection:
            write_places(connection, places_of(entries, self.length + 1, self.releases))
            connection.executemany("INSERT INTO entries VALUES (?, ?, ?)", rows)
        longer = Ledger(self.path, rows[-1][0], digest, (*self._tail, *entries)[-LOOKED_AT:], account)
        if all(entry.plan is None for entry in entries):  # the cached plan stays valid
            longer.__dict__.update(
                {name: known for name, known in self.__dict__.items() if name in ("_planned", "plan")}
            )
        longer.seal(disk)
        return longer

    @property
    def _store(self) -> Layout:
        return Layout(self.path.parent)

    def seal(self, disk: Disk) -> None:
        """Record the length of the ledger outside it, in the seal."""
        rollback_guard.write(disk, self.path, self.length, self.digest)

    @property
    def is_sealed(self) -> bool:
        """Whether the seal records this length and last link."""
        return rollback_guard.read_seal(self.path) == (self.length, self.digest)

    def link(self, length: int) -> str:
        """Return the stated link of the entry numbered `length`, without checking it."""
        with connect_database(self.path) as connection:
            return _link(connection, length)

    def _check_seal(self, sealed: tuple[int, str] | None, digests: dict[int, str]) -> None:
        if sealed is None:
            in_store = self.path == self._store.ledger  # a copy outside a store has no seal
            if in_store and self.length > 1:
                raise StoreCorrupt(
                    f"{self._store.seal}: missing; put it back from a backup of the store. {rollback_guard.LOST}"
                )
            return
        if not 1 <= sealed[0] <= self.length:
            raise StoreCorrupt(
                f"{self.path}: has {self.length} entries and had {sealed[0]}: its end was cut off. {rollback_guard.LOST}"
            )
        if digests[sealed[0]] != sealed[1]:
            raise rollback_guard.foreign_seal_error(self.path)

    # --- current state ---

    @property
    def head(self) -> Entry:
        """The last entry."""
        return self._tail[-1]

    @property
    def account(self) -> Account:
        """The sums of every release so far, as a copy."""
        return self._account.copy()

    @property
    def accountant(self) -> Accountant:
        """The accountant of every release so far, as a copy."""
        return Accountant.from_account(self.plan, self._account, self)

    @cached_property
    def plan(self) -> Plan:
        """The current plan."""
        plan = plan_from_dict(self.plans[-1])
        return plan if self.source is None else plan.allow_any_order()

    @property
    def releases(self) -> int:
        """The number of releases so far."""
        return self._account.releases

    @property
    def model_release(self) -> int:
        """The number of the last release of a model. Statistics are numbered as releases too."""
        return self._account.model

    @cached_property
    def _planned(self) -> list[tuple[int, Entry]]:
        """The entries that hold a plan, the first entry included, each with its number."""
        first = self.length - len(self._tail) + 1
        held = [(number, entry) for number, entry in enumerate(self._tail, start=first) if entry.plan is not None]
        if first > 1:
            with connect_database(self.path) as connection:
                numbers = [number for (number,) in connection.execute(_PLANS) if number < first]
            held = [(number, self.entry(number - 1)) for number in numbers] + held
        self._agree(bool(held) and held[0][0] == 1 and all(entry.plan is not None for _, entry in held))
        return held

    @property
    def plans(self) -> list[dict[str, Any]]:
        """Every plan so far; the last one is the current plan."""
        return [entry.plan for _, entry in self._planned if entry.plan is not None]

    @property
    def learned_by_plan(self) -> int | None:
        """The number of the first release by the current plan; None before it."""
        position = self.find_covering_release(self._planned[-1][0] - 1)
        account = None if position is None else self.entry(position).account
        return None if account is None else int(account["releases"])

    def plan_at(self, position: int) -> dict[str, Any]:
        """Return the plan that was current at the entry at this position (from 0)."""
        plans = [entry.plan for number, entry in self._planned if entry.plan is not None and number <= position + 1]
        return plans[-1]

    @property
    def schema(self) -> dict[str, Any]:
        """The schema of the store, as in the first entry."""
        return self._planned[0][1].schema or {}

    @cached_property
    def codec(self) -> RowCodec | None:
        """How the store keeps its rows as codes; None if it keeps their features.

        Raises:
            InvalidSchema: If this version of the program gives the codes another meaning.
        """
        if self.source is not None or "map" not in self.schema:
            return None
        from ..features.maps.catalogue import stored_codec

        return stored_codec(self.schema, self.plan.problem.feature_map)

    def read_schema(self, folder: Path | None = None) -> Schema:
        """Parse the schema; needed only to read or write rows.

        Args:
            folder: The folder that the file name of a feature map is relative to.

        Raises:
            StoreCorrupt: If this version cannot read the schema.
        """
        from ..features.schema import Schema  # imported on use

        try:
            return Schema.from_dict(self.schema, "schema", folder)
        except MissingDependency:  # of a feature map from another distribution
            raise
        except (NoisyGDDeleteError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise _contradiction(self.path, error) from error

    @property
    def source(self) -> dict[str, Any] | None:
        """The source that holds the rows; None if the store holds them itself."""
        return self._planned[0][1].source

    # --- single entries, each checked against its link ---

    def entry(self, position: int) -> Entry:
        """Return the entry at this position (from 0)."""
        first, number = self.length - len(self._tail), position + 1
        if position >= first:
            return self._tail[position - first]
        with connect_database(self.path) as connection:
            rows = _rows(connection, "number = ?", number)
            ((_, body, _),) = check_links(self.path, rows, number, _link(connection, position))
        return parse_entry(self.path, number, body)

    def position(self, request_id: str | None) -> int | None:
        """Return the position (from 0) of the entry that served this request before, or None."""
        return None if request_id is None else self.positions([request_id]).get(request_id)

    def positions(self, request_ids: Iterable[str | None]) -> dict[str, int]:
        """Return the positions of several requests at once; requests not served before are missing from the result."""
        asked = list(dict.fromkeys(each for each in request_ids if each is not None))
        if not asked:
            return {}
        from . import request_log

        committed = request_log.committed_links(self._store, asked)
        with connect_database(self.path) as connection:
            served = {
                request_id: position
                for request_id in asked
                if request_id in committed
                and (position := self._at(find_place(connection, "commitment = ?", committed[request_id]))) is not None
            }
        for request_id, position in served.items():
            self._agree(self.entry(position).commitment == committed[request_id])
        return served

    def find_release(self, release: int) -> int | None:
        """Return the position (from 0) of the entry of this release, or None."""
        with connect_database(self.path) as connection:
            position = self._at(find_place(connection, "release = ?", release))
        self._agree(position is None or self.entry(position).event is not None)
        return position

    def find_covering_release(self, position: int) -> int | None:
        """Return the position (from 0) of the first release at or after this position, or None."""
        with connect_database(self.path) as connection:
            return self._at(find_place(connection, "number >= ? AND release IS NOT NULL", position + 1))

    def _agree(self, found: bool) -> None:
        if not found:
            raise _contradiction(self.path, "the table of places names another entry")

    def _at(self, number: int | None) -> int | None:
        return None if number is None or number > self.length else number - 1

    def edits_at(self, position: int) -> EditCounts:
        """Return the edits, by kind, of the request in the entry at this position (from 0).

        Edits that were pending before it, and that its release covered too, are not counted.
        """
        entry = self.entry(position)
        covered = entry.pending_counts if entry.event is None else Event.from_dict(entry.event).counts
        return covered - self.entry(position - 1).pending_counts if position else covered

    # --- all entries ---

    def _checked(self) -> Iterator[Row]:
        """Yield every row in order, its link checked.

        Rows are read in blocks, so that writers can proceed in between.
        """
        digest = START
        with connect_database(self.path) as connection:
            for first in range(1, self.length + 1, _AT_ONCE):
                last = min(self.length, first + _AT_ONCE - 1)
                rows = _rows(connection, "number BETWEEN ? AND ?", first, last).fetchall()
                for row in check_links(self.path, rows, first, digest):
                    digest = row[2]
                    yield row
        if digest != self.digest:
            raise rollback_guard.foreign_seal_error(self.path)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every entry, parsed. For long ledgers `outline` is many times faster."""
        if len(self._tail) == self.length:
            return self._tail
        return tuple(parse_entry(self.path, number, body) for number, body, _ in self._checked())

    @property
    def digests(self) -> tuple[str, ...]:
        """The hash chain: `digests[k]` authenticates entries 0 to k."""
        return tuple(digest for _, _, digest in self._checked())

    @cached_property
    def outline(self) -> list[Outline]:
        """Every entry without its answer, its schema and its sums."""
        return [parse_outline(self.path, number, body) for number, body, _ in self._checked()]

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Every release so far; equal descriptions are parsed once."""
        if len(self._tail) == self.length:
            return tuple(Event.from_dict(entry.event) for entry in self._tail if entry.event is not None)
        events = _events(self.outline)
        if written.to_dict(Account.of(events)) != written.to_dict(self._account):
            raise _contradiction(self.path, "the sums that the last one states are not those of the releases")
        return events

    def events_since(self, number: int) -> Sequence[Event]:
        """Return the releases from this number on."""
        position = None if number == 1 else self.find_release(number)
        if position is None or len(self._tail) == self.length:
            return self.events[number - 1 :]
        with connect_database(self.path) as connection:
            before = _link(connection, position)
            rows = _rows(connection, "number > ? AND number <= ?", position, self.length).fetchall()
        entries = [
            parse_outline(self.path, n, body) for n, body, _ in check_links(self.path, rows, position + 1, before)
        ]
        return _events(entries)

    def account_after(self, number: int) -> Account | None:
        """Return the sums after the first `number` releases; None if there is no such release."""
        position = self.find_release(number) if number else None
        return None if position is None else _stated_sums(self.entry(position))

    def check(self, before: VerifiedPrefix | None = None) -> VerifiedPrefix:
        """Check every link; beyond the prefix `before`, also every entry, every sum and the index.

        Returns:
            The prefix that is now verified: the whole ledger.

        Raises:
            StoreCorrupt: If an entry is wrong; the message names the first one.
        """
        with connect_database(self.path) as connection:
            if before is not None and (
                not 0 < before.entries <= self.length
                or _link(connection, before.entries) != before.link
                or digest_of_places(connection, before.entries) != before.places
            ):
                before = None
            first = 0 if before is None else before.entries
        account = Account() if first == 0 else _stated_sums(self.entry(first - 1))
        found, number = list[Place](), first
        entries = (parse_entry(self.path, place, body) for place, body, _ in self._checked() if place > first)
        try:
            for number, entry in enumerate(_replay_entries(entries, account), start=first + 1):
                found += places_of([entry], number, account.releases - (entry.event is not None))
        except StoreCorrupt:
            raise
        except (NoisyGDDeleteError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise _contradiction(self.path, f"entry {number + 1}: {error}") from error
        try:
            with connect_database(self.path) as connection:
                check_places(connection, found, first)
                return VerifiedPrefix(self.length, self.digest, digest_of_places(connection, self.length))
        except InvalidParameter as error:
            raise _contradiction(self.path, error) from error


def _rows(connection: sqlite3.Connection, condition: str, *values: object, most: int = -1) -> sqlite3.Cursor:
    query = f"SELECT number, body, digest FROM entries WHERE {condition} ORDER BY number LIMIT {most}"
    return connection.execute(query, values)


def _link(connection: sqlite3.Connection, number: int) -> str:
    """Return the link that an entry states; for 0, the link that the first entry continues."""
    found = connection.execute("SELECT digest FROM entries WHERE number = ?", (number,)).fetchone()
    return START if found is None else found[0]


def _events(entries: Iterable[Outline]) -> tuple[Event, ...]:
    known: dict[bytes, Event] = {}
    texts = [entry.event for entry in entries if entry.event is not None]
    for text in dict.fromkeys(texts):
        known[text] = Event.from_dict(json.loads(text))
    return tuple(known[text] for text in texts)


def _stated_sums(entry: Entry) -> Account:
    """Return the sums after an entry, as the entry states them."""
    if entry.account is None:
        raise InvalidParameter("an entry states no sums")
    return written.from_dict(entry.account)


def _replay_account(entries: Iterable[Entry], account: Account) -> Account:
    """Return the sums after adding the entries; raise if the sums that an entry states differ."""
    deque(_replay_entries(entries, account), maxlen=0)
    return account


def _replay_entries(entries: Iterable[Entry], account: Account) -> Iterator[Entry]:
    """Yield each entry after adding its release to `account` and comparing the sums."""
    last, event = None, None
    for entry in entries:
        if entry.event is not None:
            if (text := repr(entry.event)) != last or event is None:  # consecutive releases are mostly equal
                event, last = Event.from_dict(entry.event), text
            account.record(event)
        if entry.account != written.to_dict(account):
            raise InvalidParameter("the sums that it states are not those of the releases")
        yield entry


def _contradiction(path: Path, error: object) -> StoreCorrupt:
    return StoreCorrupt(f"{path}: its entries contradict one another ({error}); restore from a backup")

"""Where in a long ledger a request, a release and a plan stand: a table beside the entries, all of it read off them.

Nothing is decided by it alone: an entry that is found is checked to be the one asked for, and `verify` reads the table off the
entries again.

How far `verify` has judged a long ledger: what lies before is read and hashed again, and not judged again.

The note names a link, so that it holds for these very entries and no others. Whoever can write it can write the ledger and its seal too.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from ..errors import InvalidParameter
from ..records import bounded
from ..version import __version__
from .disk import Disk, read
from .entry import Entry, Outline

Place = tuple[
    int, str | None, int | None, int | None
]  # number of the entry, its commitment (of old: its request id), its release, 1 where it holds a plan

_COLUMNS = "(number INTEGER PRIMARY KEY, request_id TEXT, release INTEGER, planned INTEGER)"
_INDEXES = (
    "CREATE INDEX requests ON places (request_id) WHERE request_id IS NOT NULL",
    "CREATE INDEX releases ON places (release) WHERE release IS NOT NULL",
    "CREATE INDEX plans ON places (planned) WHERE planned IS NOT NULL",
)


def of(entries: Iterable[Entry | Outline], first: int = 1, releases: int = 0) -> Iterator[Place]:
    """The places of entries that are numbered from `first` on and follow so many releases."""
    for number, entry in enumerate(entries, start=first):
        releases += entry.event is not None
        made = None if entry.event is None else releases
        yield number, entry.named, made, None if entry.plan is None else 1


def known(connection: sqlite3.Connection) -> bool:
    """Whether the ledger has the table; one of an earlier version has none before its next entry."""
    asked = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'places'"
    return bool(connection.execute(asked).fetchone()[0])


def write(connection: sqlite3.Connection, places: Iterable[Place], *, passing: bool = False) -> None:
    """Add places; the table is made where there is none. `passing`: for this connection only."""
    if passing or not known(connection):
        connection.execute(f"CREATE {'TEMP' if passing else ''} TABLE places {_COLUMNS}")
        for statement in () if passing else _INDEXES:
            connection.execute(statement)
    connection.executemany("INSERT INTO places VALUES (?, ?, ?, ?)", places)


def request(connection: sqlite3.Connection, named: str) -> int | None:
    """The number of the entry that served this request first, by its commitment or, of old, its id."""
    return _first(connection, "request_id = ?", named)


def release(connection: sqlite3.Connection, number: int) -> int | None:
    """The number of the entry that made this release."""
    return _first(connection, "release = ?", number)


def release_from(connection: sqlite3.Connection, number: int) -> int | None:
    """The number of the first entry from this one on that made a release."""
    return _first(connection, "number >= ? AND release IS NOT NULL", number)


def plans(connection: sqlite3.Connection) -> list[int]:
    """The numbers of the entries that hold a plan."""
    return [number for (number,) in connection.execute("SELECT number FROM places WHERE planned = 1 ORDER BY number")]


def digest(connection: sqlite3.Connection, until: int) -> str:
    """SHA-256 of the table up to the entry of this number; of nothing where there is none."""
    said = sha256()
    for row in _stated(connection, "<=", until) if known(connection) else ():
        said.update(repr(row).encode())
    return said.hexdigest()


def check(connection: sqlite3.Connection, expected: Iterable[Place], after: int) -> None:
    """Raise `InvalidParameter` unless the table, if there is one, says what the entries after this number say."""
    if known(connection):
        for place, found in zip_longest(expected, _stated(connection, ">", after)):
            if place != found:
                number = (place or found)[0]
                raise InvalidParameter(f"the table of places does not say what entry {number} says")


def _stated(connection: sqlite3.Connection, side: str, number: int) -> sqlite3.Cursor:
    query = f"SELECT number, request_id, release, planned FROM places WHERE number {side} ? ORDER BY number"
    return connection.execute(query, (number,))


def _first(connection: sqlite3.Connection, condition: str, value: int | str) -> int | None:
    query = f"SELECT number FROM places WHERE {condition} ORDER BY number LIMIT 1"
    found = connection.execute(query, (value,)).fetchone()
    return None if found is None else found[0]


WORTH = 1000  # from so many entries on, judging takes longer than a note


class Judged(NamedTuple):
    """The entries up to a link, and the rows of the table of places up to there (`places.digest`), judged by this version."""

    entries: int
    link: str
    places: str
    version: str = __version__


def remembered(path: Path) -> Judged | None:
    """What is noted there; None where nothing is, or nothing that this version wrote."""
    if path.exists() or path.is_symlink():
        with suppress(ValueError, TypeError):
            found = Judged(**bounded.parsed(read(path, 1 << 12).decode()))
            if list(map(type, found)) == [int, str, str, str] and found.version == __version__:
                return found
    return None


def remember(path: Path, before: Judged | None, now: Judged) -> None:
    """Note it where that saves time. A disk that refuses costs time later, and nothing else."""
    if now != before and now.entries >= WORTH:
        with suppress(OSError):
            Disk().replace(path, (json.dumps(now._asdict()) + "\n").encode())

"""The register of a store: request ids, their salts, and what was stated about each request. All of it can be forgotten.

The ledger's hash chain holds SHA-256(salt, request id) in place of the id. Salt and id lie here, in a file of their own; once they
are gone from it, nobody can tell any more which request a link of the chain belonged to. An id is noted before the ledger's
entry that it belongs to, so that no request is served whose repetition would not be known.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InvalidParameter, InvalidRequest, StoreCorrupt, StoreError
from ..records import check_token, limited_io
from ..register import RegisterPolicy, RequestCase
from . import rollback_guard
from .disk import Disk, connect_database, create_database, forget_database, open_transaction
from .layout import TEMPORARY, Layout

if TYPE_CHECKING:
    from .entry import Outline

_AT_ONCE = 500  # request ids in one question to SQLite, which takes at least 999 values
_SALT = 32  # bytes: nobody tries them all, so a commitment alone says nothing of a guessed id
_TABLES = (
    "CREATE TABLE IF NOT EXISTS requests (token TEXT PRIMARY KEY, salt BLOB NOT NULL, body TEXT)",
    "CREATE TABLE IF NOT EXISTS practice (body TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS changes (mark TEXT PRIMARY KEY)",  # in their order; the seal says which was the newest
)
_WRONG = (ValueError, TypeError, AttributeError, InvalidParameter)


def commitment(salt: bytes, token: str) -> str:
    """What the ledger chains in place of a request id."""
    return hashlib.sha256(b"noisygd-delete request\0" + salt + token.encode()).hexdigest()


def note(disk: Disk, layout: Layout, tokens: Iterable[str | None]) -> dict[str, str]:
    """Make these request ids known; returns what the ledger chains for each. An id that is known keeps its salt."""
    wanted = list(dict.fromkeys(token for token in tokens if token is not None))
    if not wanted:
        return {}
    known = _salts(layout, wanted)
    new = {token: os.urandom(_SALT) for token in wanted if token not in known}
    if new:
        _write(disk, layout, [(token, salt, None) for token, salt in new.items()], adds=True)
    return {token: commitment(salt, token) for token, salt in {**known, **new}.items()}


def committed_links(layout: Layout, tokens: Sequence[str]) -> dict[str, str]:
    """What the ledger chains for those of these request ids that are known, and were not forgotten."""
    return {token: commitment(salt, token) for token, salt in _salts(layout, tokens).items()}


class RequestLog:
    """The register of the store in this folder. Reading needs no lock; writing is for whoever holds the store's."""

    def __init__(self, layout: Layout, disk: Disk | None = None) -> None:
        self._layout, self._disk = layout, disk or Disk()

    def lost_ids_in_words(self, ledger: Iterable[Outline]) -> str:
        """What is to be added where a request id is unknown: how many of the ledger's requests have an id that is not here."""
        known = {committed for committed, _ in self.cases().values()}
        lost = {entry.commitment for entry in ledger if entry.commitment is not None} - known
        return (
            f"; of {len(lost)} requests in the ledger the register holds no id: forgotten, or lost with a register that was put back, and then "
            "only the newest register can name them"
            if lost
            else ""
        )

    def cases(self) -> dict[str, tuple[str, RequestCase]]:
        """request id -> what the ledger chains for it, and what was stated about it."""
        rows = _rows(self._layout, "SELECT token, salt, body FROM requests ORDER BY token")
        return {token: (commitment(salt, token), self._case(body)) for token, salt, body in rows}

    def case(self, token: str) -> RequestCase | None:
        """What was stated about this request; None where the id is not known."""
        rows = _rows(self._layout, "SELECT body FROM requests WHERE token = ?", token)
        return self._case(rows[0][0]) if rows else None

    def kept_aside(self) -> list[str]:
        """Requests that took rows out of the table and have not put them back."""
        return [
            token for token, (_, case) in self.cases().items() if case.restricted is not None and case.lifted is None
        ]

    @property
    def practice(self) -> RegisterPolicy:
        """What holds for every request."""
        rows = _rows(self._layout, "SELECT body FROM practice")
        try:
            return RegisterPolicy(**limited_io.parse_json(rows[-1][0])) if rows else RegisterPolicy()
        except _WRONG as error:
            raise self._damaged() from error

    def receive(self, cases: Mapping[str, RequestCase]) -> None:
        """Note requests with what is stated about them, before anything is done for them. One that is known keeps what was
        stated, and takes what is new.

        Raises:
            InvalidRequest: it was stated to have been received at another time, or as another right.
        """
        for token in cases:
            check_token(token)
        self._store({token: self._joined(token, new) for token, new in cases.items()})

    def state(self, token: str, case: RequestCase) -> None:
        """Put this in the place of what was stated about a request that is known.

        Raises:
            InvalidRequest: it is not.
        """
        if self.case(token) is None:
            raise InvalidRequest(
                f"request {token!r} is not in the register; `register list` shows it, `register receive` adds one"
            )
        self._store({token: case})

    def adopt(self, practice: RegisterPolicy) -> None:
        """What holds for every request from here on. One that was put back is from here on the register."""
        self._rewritten(set(), practice, rollback_guard.register_noted(self._layout.ledger))

    def forget(self, tokens: Collection[str]) -> None:
        """Erase these request ids with their salts and all that was stated about them."""
        if tokens:
            self._rewritten(set(tokens), self.practice)

    def check(self) -> None:
        """Raise `StoreCorrupt` where something in it does not parse."""
        self.cases()
        self.practice  # noqa: B018 -- parses

    def _joined(self, token: str, new: RequestCase) -> RequestCase:
        if new.received is not None and datetime.fromisoformat(new.received) > datetime.now(UTC) + timedelta(days=1):
            raise InvalidRequest(f"received={new.received!r} is still to come; nothing was changed")
        held = self.case(token)
        if held is None or held == RequestCase():
            return new
        for name in ("received", "right"):
            before, after = getattr(held, name), getattr(new, name)
            if (
                before is not None
                and after is not None
                and before != after
                and not (name == "right" and new.received is None)
            ):
                raise InvalidRequest(
                    f"the register holds this request with {name}={str(before)!r}, not {str(after)!r}; nothing was changed. Leave it "
                    "out, or give the request a token of its own"
                )
        facts = {name: getattr(new, name) for name in new.to_dict()}
        return held.stated(**facts)

    def _store(self, cases: Mapping[str, RequestCase]) -> None:
        salts = _salts(self._layout, list(cases))
        rows = [(token, salts.get(token, os.urandom(_SALT)), _body(case)) for token, case in cases.items()]
        _write(self._disk, self._layout, rows, adds=not salts)

    def _case(self, body: str | None) -> RequestCase:
        try:
            return RequestCase() if body is None else RequestCase(**limited_io.parse_json(body))
        except _WRONG as error:
            raise self._damaged() from error

    def _damaged(self) -> StoreCorrupt:
        return StoreCorrupt(
            f"{self._layout.register}: holds something that this program did not write; restore it from a backup"
        )

    def _rewritten(self, without: set[str], practice: RegisterPolicy, adopted: str = "") -> None:
        """A new file with the other rows, and the old one overwritten: a database that shrinks keeps copies of what it held. `adopted`:
        mark of a change that it takes for its own."""
        path = self._layout.register
        rows = [
            row
            for row in _rows(self._layout, "SELECT token, salt, body FROM requests ORDER BY token")
            if row[0] not in without
        ]
        own = _rows(self._layout, "SELECT mark FROM changes ORDER BY rowid", table="changes")
        change = rollback_guard.mark()
        marks = [*own, *([(adopted,)] if adopted else []), (change,)]
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
            for statement in _TABLES:
                connection.execute(statement)
            connection.executemany("INSERT INTO requests VALUES (?, ?, ?)", rows)
            connection.execute("INSERT INTO practice VALUES (?)", (json.dumps(practice.to_dict()),))
            connection.executemany("INSERT OR IGNORE INTO changes VALUES (?)", marks)
            content = connection.serialize()
        forget_database(self._disk, path)
        temporary = path.with_name(path.name + TEMPORARY)
        self._disk.erase(temporary)
        self._disk.create(temporary, content)
        self._disk.exchange(path)
        self._disk.sync_folder(path.parent)
        if not rollback_guard.is_register_restored(
            self._layout
        ):  # from here on, one that lacks this change is of another time
            rollback_guard.note_register(self._disk, self._layout.ledger, change)


def _body(case: RequestCase) -> str:
    return json.dumps(case.to_dict(), allow_nan=False)


def _salts(layout: Layout, tokens: Sequence[str]) -> dict[str, bytes]:
    """The salts of those request ids that are known."""
    found: dict[str, bytes] = {}
    for first in range(0, len(tokens), _AT_ONCE):
        some = tokens[first : first + _AT_ONCE]
        marks = ", ".join("?" * len(some))
        found |= dict(_rows(layout, f"SELECT token, salt FROM requests WHERE token IN ({marks})", *some))
    return found


def _rows(layout: Layout, query: str, *values: Any, table: str = "practice") -> list[tuple[Any, ...]]:
    """Rows of the register; none where there is no register yet, or none with this table."""
    path = layout.register
    if not path.exists() or path.stat().st_size == 0:
        return []
    with connect_database(path) as connection:
        made = connection.execute(
            "SELECT COUNT(*) FROM sqlite_master WHERE name IN ('requests', ?)", (table,)
        ).fetchone()[0]
        rows = connection.execute(query, values).fetchall() if made == 2 else []
    if not all(_readable(row) for row in rows):
        raise StoreCorrupt(f"{path}: holds something that this program did not write; restore it from a backup")
    return rows


def _readable(row: tuple[Any, ...]) -> bool:
    return all(value is None or isinstance(value, (str, bytes)) for value in row)


def _write(disk: Disk, layout: Layout, rows: Sequence[tuple[str, bytes, str | None]], *, adds: bool) -> None:
    """Request ids, salts and what was stated, in one transaction: an id that is known keeps its salt. `adds`: none of them is known."""
    path = layout.register
    if not path.exists():
        create_database(disk, path)
    try:
        with open_transaction(disk, path, adds=adds) as connection:
            for table in _TABLES:
                connection.execute(table)
            connection.executemany(
                "INSERT INTO requests VALUES (?, ?, ?) ON CONFLICT (token) DO UPDATE SET body = COALESCE(excluded.body, body)",
                rows,
            )
            connection.execute("INSERT INTO changes VALUES (?)", (rollback_guard.mark(),))
    except UnicodeEncodeError as error:
        raise StoreError(f"{path}: a request id that no file can hold; nothing was changed") from error


def register_of(store: str | Path) -> RequestLog:
    """The register of the store in this folder, to read."""
    return RequestLog(Layout.at(store))

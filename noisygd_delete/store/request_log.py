"""The request register of a store: request ids, their salts, and what was stated about each request.

All of it can be erased.

The hash chain of the ledger holds SHA-256(salt, request id) instead of the id. Salt and id are in this file only; once
they are erased from it, the request of an entry can no longer be identified. An id is recorded before the ledger entry
it belongs to, so that a repeated request is always recognised.
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

_AT_ONCE = 500  # request ids per SQLite query, which accepts at least 999 values
_SALT = 32  # bytes: too many to enumerate, so a commitment alone does not confirm a guessed id
_TABLES = (
    "CREATE TABLE IF NOT EXISTS requests (token TEXT PRIMARY KEY, salt BLOB NOT NULL, body TEXT)",
    "CREATE TABLE IF NOT EXISTS practice (body TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS changes (mark TEXT PRIMARY KEY)",  # in order; the seal records the newest
)
_WRONG = (ValueError, TypeError, AttributeError, InvalidParameter)


def commitment(salt: bytes, token: str) -> str:
    """Return the commitment to a request id, which the ledger chains instead of the id."""
    return hashlib.sha256(b"noisygd-delete request\0" + salt + token.encode()).hexdigest()


def note(disk: Disk, layout: Layout, tokens: Iterable[str | None]) -> dict[str, str]:
    """Record request ids; return the commitment of each. A known id keeps its salt."""
    wanted = list(dict.fromkeys(token for token in tokens if token is not None))
    if not wanted:
        return {}
    known = _salts(layout, wanted)
    new = {token: os.urandom(_SALT) for token in wanted if token not in known}
    if new:
        _write(disk, layout, [(token, salt, None) for token, salt in new.items()], adds=True)
    return {token: commitment(salt, token) for token, salt in {**known, **new}.items()}


def committed_links(layout: Layout, tokens: Sequence[str]) -> dict[str, str]:
    """Return the commitments of those request ids that are known and were not erased."""
    return {token: commitment(salt, token) for token, salt in _salts(layout, tokens).items()}


class RequestLog:
    """The request register of a store. Reading needs no lock; writing requires the lock of the store."""

    def __init__(self, layout: Layout, disk: Disk | None = None) -> None:
        self._layout, self._disk = layout, disk or Disk()

    def lost_ids_in_words(self, ledger: Iterable[Outline]) -> str:
        """Return a note for messages about an unknown request id.

        It states how many requests in the ledger have an id that is not in the register.
        """
        known = {committed for committed, _ in self.cases().values()}
        lost = {entry.commitment for entry in ledger if entry.commitment is not None} - known
        return (
            f"; of {len(lost)} requests in the ledger the register holds no id: forgotten, or lost with a register that was put back, and then "
            "only the newest register can name them"
            if lost
            else ""
        )

    def cases(self) -> dict[str, tuple[str, RequestCase]]:
        """Return a dict from request id to its commitment in the ledger and what was stated about it."""
        rows = _rows(self._layout, "SELECT token, salt, body FROM requests ORDER BY token")
        return {token: (commitment(salt, token), self._case(body)) for token, salt, body in rows}

    def case(self, token: str) -> RequestCase | None:
        """Return what was stated about this request; None if the id is unknown."""
        rows = _rows(self._layout, "SELECT body FROM requests WHERE token = ?", token)
        return self._case(rows[0][0]) if rows else None

    def kept_aside(self) -> list[str]:
        """Return the requests whose restricted records have not been restored to the table."""
        return [
            token for token, (_, case) in self.cases().items() if case.restricted is not None and case.lifted is None
        ]

    @property
    def practice(self) -> RegisterPolicy:
        """The policy that applies to every request."""
        rows = _rows(self._layout, "SELECT body FROM practice")
        try:
            return RegisterPolicy(**limited_io.parse_json(rows[-1][0])) if rows else RegisterPolicy()
        except _WRONG as error:
            raise self._damaged() from error

    def receive(self, cases: Mapping[str, RequestCase]) -> None:
        """Record requests and what is stated about them, before any of them is carried out.

        A known request keeps what was stated, and new facts are added.

        Raises:
            InvalidRequest: If a request was recorded with another time of receipt or another right.
        """
        for token in cases:
            check_token(token)
        self._store({token: self._joined(token, new) for token, new in cases.items()})

    def state(self, token: str, case: RequestCase) -> None:
        """Replace what was stated about a known request.

        Raises:
            InvalidRequest: If it is not known.
        """
        if self.case(token) is None:
            raise InvalidRequest(
                f"request {token!r} is not in the register; `register list` shows it, `register receive` adds one"
            )
        self._store({token: case})

    def adopt(self, practice: RegisterPolicy) -> None:
        """Set the policy for every request. A register restored from a backup becomes the valid register."""
        self._rewritten(set(), practice, rollback_guard.register_noted(self._layout.ledger))

    def forget(self, tokens: Collection[str]) -> None:
        """Erase these request ids with their salts and everything stated about them."""
        if tokens:
            self._rewritten(set(tokens), self.practice)

    def check(self) -> None:
        """Raise `StoreCorrupt` if some content does not parse."""
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
        """Write a new file without the rows in `without`, and overwrite the old one.

        A database that merely shrinks would keep copies of old content. `adopted`: the mark of a change that this
        register adopts as its own.
        """
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
        ):  # from now on, a register without this change is stale
            rollback_guard.note_register(self._disk, self._layout.ledger, change)


def _body(case: RequestCase) -> str:
    return json.dumps(case.to_dict(), allow_nan=False)


def _salts(layout: Layout, tokens: Sequence[str]) -> dict[str, bytes]:
    """Return the salts of the known request ids."""
    found: dict[str, bytes] = {}
    for first in range(0, len(tokens), _AT_ONCE):
        some = tokens[first : first + _AT_ONCE]
        marks = ", ".join("?" * len(some))
        found |= dict(_rows(layout, f"SELECT token, salt FROM requests WHERE token IN ({marks})", *some))
    return found


def _rows(layout: Layout, query: str, *values: Any, table: str = "practice") -> list[tuple[Any, ...]]:
    """Return rows of the register; empty if there is no register yet, or it lacks this table."""
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
    """Write request ids, salts and statements in one transaction; a known id keeps its salt.

    `adds`: none of the ids is known.
    """
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
    """Return the register of the store in this folder, for reading."""
    return RequestLog(Layout.at(store))

"""The request log of a store: request ids, their salts, and one opaque note about each request.

All of it can be erased. A note is a JSON object of the package that keeps a register of requests
(`noisygd-delete-compliance`). The store reads two of its keys, the days on which rows whose processing was restricted
(Article 18 GDPR) left the table and returned: `restricted` and `lifted`. What a certificate may claim depends on them.

The hash chain of the ledger holds SHA-256(salt, request id) instead of the id. Salt and id are in this file only; once
they are erased from it, the request of an entry can no longer be identified. An id is recorded before the ledger entry
it belongs to, so that a repeated request is always recognised.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple

from ..dates import parse_day
from ..errors import InvalidParameter, StoreCorrupt, StoreError
from ..records import check_token, limited_io
from . import rollback_guard
from .disk import Disk, connect_database, create_database, forget_database, open_transaction
from .layout import TEMPORARY, Layout

if TYPE_CHECKING:
    from .entry import Outline

_AT_ONCE = 500  # request ids per SQLite query, which accepts at least 999 values
_SALT = 32  # bytes: too many to enumerate, so a commitment alone does not confirm a guessed id
_TABLES = (
    "CREATE TABLE IF NOT EXISTS requests (token TEXT PRIMARY KEY, salt BLOB NOT NULL, body TEXT)",
    "CREATE TABLE IF NOT EXISTS policy (body TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS changes (mark TEXT PRIMARY KEY)",  # in order; the seal records the newest
)
Note = Mapping[str, Any]  # what is stated about one request, or about all, as JSON types
NoteUpdate = Callable[[Note], Note]  # from the stored note, {} if nothing was stated, to the new one


class Restriction(NamedTuple):
    """Rows that a request took out of the table for a time.

    Attributes:
        restricted: When they were taken out; None if they were not.
        lifted: When they came back; None if they did not.
    """

    restricted: date | None = None
    lifted: date | None = None


def commitment(salt: bytes, token: str) -> str:
    """Return the commitment to a request id, which the ledger chains instead of the id."""
    return hashlib.sha256(b"noisygd-delete request\0" + salt + token.encode()).hexdigest()


def record_ids(disk: Disk, layout: Layout, tokens: Iterable[str | None]) -> dict[str, str]:
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
    """The request log of a store. Reading needs no lock; writing requires the lock of the store."""

    def __init__(self, layout: Layout, disk: Disk | None = None) -> None:
        self._layout, self._disk = layout, disk or Disk()

    def lost_ids_in_words(self, ledger: Iterable[Outline]) -> str:
        """Return a note for messages about an unknown request id.

        It states how many requests in the ledger have an id that is not in the log.
        """
        known = {committed for committed, _ in self.notes().values()}
        lost = {entry.commitment for entry in ledger if entry.commitment is not None} - known
        return (
            f"; of {len(lost)} requests in the ledger the register holds no id: forgotten, or lost with a restored register, and then "
            "only the newest register can name them"
            if lost
            else ""
        )

    def notes(self) -> dict[str, tuple[str, Note]]:
        """Return a dict from request id to its commitment in the ledger and its note."""
        rows = _rows(self._layout, "SELECT token, salt, body FROM requests ORDER BY token")
        return {token: (commitment(salt, token), self._parse(body)) for token, salt, body in rows}

    def note(self, token: str) -> Note | None:
        """Return the note of this request, {} if nothing was stated; None if the id is unknown."""
        rows = _rows(self._layout, "SELECT body FROM requests WHERE token = ?", token)
        return self._parse(rows[0][0]) if rows else None

    def restriction(self, token: str) -> Restriction:
        """Return whether and when a request only took rows out for a time; empty if the id is unknown."""
        return self.restriction_in(self.note(token) or {})

    def restriction_in(self, note: Note) -> Restriction:
        """Return what a note states about rows that were taken out for a time.

        Raises:
            StoreCorrupt: If it states no day there.
        """
        try:
            days = (note.get("restricted"), note.get("lifted"))
            return Restriction(*(None if day is None else parse_day("day", day) for day in days))
        except InvalidParameter as error:
            raise self.corrupt() from error

    def kept_aside(self) -> list[str]:
        """Return the requests whose restricted records have not been restored to the table."""
        found = {token: self.restriction_in(note) for token, (_, note) in self.notes().items()}
        return [token for token, each in found.items() if each.restricted is not None and each.lifted is None]

    def states_anything(self) -> bool:
        """Return whether there is a note about some request, or about all."""
        return bool(self.policy) or any(note for _, note in self.notes().values())

    @property
    def policy(self) -> Note:
        """What is stated for every request."""
        rows = _rows(self._layout, "SELECT body FROM policy")
        return self._parse(rows[-1][0]) if rows else {}

    def update(self, changes: Mapping[str, NoteUpdate]) -> None:
        """Record requests with their notes; each note is computed from the stored one, in one transaction."""
        for token in changes:
            check_token(token)
        salts = _salts(self._layout, list(changes))
        rows = [
            (
                token,
                salts.get(token, os.urandom(_SALT)),
                json.dumps(dict(change(self.note(token) or {})), allow_nan=False),
            )
            for token, change in changes.items()
        ]
        _write(self._disk, self._layout, rows, adds=not salts)

    def set_policy(self, policy: Note) -> None:
        """Set what is stated for every request. A log restored from a backup becomes the valid log."""
        self._rewritten(set(), policy, rollback_guard.register_noted(self._layout.ledger))

    def forget(self, tokens: Collection[str]) -> None:
        """Erase these request ids with their salts and notes."""
        if tokens:
            self._rewritten(set(tokens), self.policy)

    def check(self) -> None:
        """Raise `StoreCorrupt` if some content does not parse."""
        self.kept_aside()
        self.policy  # noqa: B018 -- parses

    def _parse(self, body: str | None) -> Note:
        try:
            found = {} if body is None else limited_io.parse_json(body)
        except ValueError as error:
            raise self.corrupt() from error
        if not isinstance(found, dict):
            raise self.corrupt()
        return found

    def corrupt(self) -> StoreCorrupt:
        """Return the error for a note that this program did not write."""
        return StoreCorrupt(
            f"{self._layout.register}: holds something that this program did not write; restore it from a backup"
        )

    def _rewritten(self, without: set[str], policy: Note, adopted: str = "") -> None:
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
            connection.execute("INSERT INTO policy VALUES (?)", (json.dumps(dict(policy)),))
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
            rollback_guard.note_change(self._disk, self._layout.ledger, register=change)


def _salts(layout: Layout, tokens: Sequence[str]) -> dict[str, bytes]:
    """Return the salts of the known request ids."""
    found: dict[str, bytes] = {}
    for first in range(0, len(tokens), _AT_ONCE):
        some = tokens[first : first + _AT_ONCE]
        marks = ", ".join("?" * len(some))
        found |= dict(_rows(layout, f"SELECT token, salt FROM requests WHERE token IN ({marks})", *some))
    return found


def _rows(layout: Layout, query: str, *values: Any, table: str = "policy") -> list[tuple[Any, ...]]:
    """Return rows of the register; empty if there is no register yet, or it lacks this table."""
    path = layout.register
    if not path.exists() or path.stat().st_size == 0:
        return []
    with connect_database(path) as connection:
        made = connection.execute(
            "SELECT COUNT(*) FROM sqlite_master WHERE name IN ('requests', ?)", (table,)
        ).fetchone()[0]
        rows = connection.execute(query, values).fetchall() if made == 2 else []
    if not all(value is None or isinstance(value, (str, bytes)) for row in rows for value in row):
        raise StoreCorrupt(f"{path}: holds something that this program did not write; restore it from a backup")
    return rows


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

"""SQLite as the store uses it: deleted content overwritten, no write-ahead log, nothing outside its own folder.

The rollback journal holds the pages as they were. SQLite would remove it without overwriting; it is asked to leave it in
place, its header zeroed (then it rolls nothing back), and the store writes zeros over the rest: it stays, so that the next
transaction need not make its name durable. The asking has an order. Whatever reads the
schema, `PRAGMA journal_mode` included, first rolls a killed process's journal back, and in the mode in force at that instant:
by default it is then removed as it is. A connection in exclusive locking mode keeps it. So the first reading is done in that
mode, and only afterwards is the journal mode set and the lock let go.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import StoreCorrupt, StoreError, StoreLocked
from .disk import Disk, is_blank, is_odd
from .layout import JOURNAL, LEFTOVERS

# name -> (value asked for, value that must be read back)
_PRAGMAS = {
    "secure_delete": ("ON", 1),  # zeros over deleted content
    "synchronous": ("EXTRA", 3),  # sync the folder, too
    "temp_store": ("MEMORY", 2),
    "trusted_schema": ("OFF", 0),
}

# what a full or failing disk, or missing rights, make SQLite say; anything else is a fault of the file
_ENVIRONMENT = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_NOMEM,
)


@contextmanager
def connect(path: Path, seconds: float = 5.0, *, journal: str = "PERSIST") -> Iterator[sqlite3.Connection]:
    """A connection to an existing database with every pragma read back. SQLite's errors become the store's.

    Args:
        journal: "PERSIST": the rollback journal stays, its header zeroed, for `forget`. "DELETE": SQLite removes it, for a
            database that holds nothing to forget yet.
    """
    if path.is_symlink() or not path.is_file():
        raise StoreCorrupt(f"{path}: missing or not a plain file; restore the store from a backup")
    for beside in (path.with_name(path.name + end) for end in LEFTOVERS):  # SQLite would wait for ever at a pipe
        if is_odd(beside):
            raise StoreCorrupt(f"{beside}: not a plain file; remove it")
    connection: sqlite3.Connection | None = None
    try:
        uri = f"{path.absolute().as_uri()}?mode=rw"
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=seconds)
        _set(connection, path, "locking_mode", "EXCLUSIVE", "exclusive")
        _read(connection)  # rolls back what a crash interrupted
        _set(connection, path, "journal_mode", journal, journal.lower())
        _set(connection, path, "locking_mode", "NORMAL", "normal")
        _read(connection)  # lets the lock go
        for name, (value, expected) in _PRAGMAS.items():
            _set(connection, path, name, value, expected)
        yield connection
    except sqlite3.Error as error:
        raise _translated(path, error) from error
    except UnicodeDecodeError as error:  # SQLite reads damaged text without complaint, Python does not
        raise StoreCorrupt(f"{path}: holds text that is none; restore the store from a backup") from error
    finally:
        if connection is not None:
            connection.close()


def _set(connection: sqlite3.Connection, path: Path, name: str, value: str, expected: object) -> None:
    connection.execute(f"PRAGMA {name} = {value}")
    if connection.execute(f"PRAGMA {name}").fetchone()[0] != expected:
        raise StoreError(f"{path}: this SQLite refuses {name} = {value}, which erasure relies on; use another build")


def _read(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA schema_version").fetchone()


def _translated(path: Path, error: sqlite3.Error) -> StoreError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # the low byte is the primary code
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreLocked(f"{path}: another process is writing; try again")
    if code in _ENVIRONMENT:
        return StoreError(f"{path}: {error}; free space or fix permissions, then run any command to go on")
    return StoreCorrupt(f"{path}: {error}; it was changed by hand or damaged. Restore the store from a backup")


@contextmanager
def transaction(connection: sqlite3.Connection, disk: Disk, path: Path) -> Iterator[None]:
    """All of the statements inside, or none."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        disk.reached("commit", path)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def changing(disk: Disk, path: Path, *, adds: bool = False) -> Iterator[sqlite3.Connection]:
    """One transaction on a connection of its own; then zeros over what its journal kept.

    Args:
        adds: it replaces and removes nothing, so that all that the journal kept stands in the database: zeros may wait to be durable.
    """
    with connect(path) as connection, transaction(connection, disk, path):
        yield connection
    if _journal_of(path).exists():  # nothing is left to roll back: connecting and committing have seen to it
        disk.blank(_journal_of(path), lasting=not adds)


def forget(disk: Disk, path: Path) -> None:
    """Zeros over the journal that transactions left, having rolled back what a crash interrupted. Connections are closed."""
    journal = _journal_of(path)
    if not is_blank(journal):
        with connect(path):
            pass  # opening rolls back, and removes the journal of a database that holds nothing
        if journal.exists():
            disk.blank(journal)


def _journal_of(path: Path) -> Path:
    return path.with_name(path.name + JOURNAL)


def create(disk: Disk, path: Path) -> None:
    """An empty database file that only its owner can read (SQLite gives its journals the same mode)."""
    disk.create(path)
    disk.sync_folder(path.parent)

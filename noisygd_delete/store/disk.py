"""All file system changes of a store go through `Disk`.

Each change is announced to `reached` just before it happens, so a test that fails or kills the process at the k-th
announcement, for every k, covers every instant between two changes. `write`, `fsync` and `rename` are the raw calls; a
test replaces them to cut writes short or to make them fail. Personal data is never returned to the file system: a file
that held any is overwritten before it is removed, and neither replaced nor shortened.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import sqlite3
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from ..errors import StoreCorrupt, StoreError, StoreLocked
from .layout import FORMER, JOURNAL, LEFTOVERS, TEMPORARY, Layout, try_lock

HALF = ".noisygd-delete-"  # prefix of the temporary name of an output
_HALF = re.compile(re.escape(HALF) + "[0-9a-f]{16}")
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
_ZEROS = bytes(1 << 16)


class Disk:
    """Durable file operations: when a method returns, its change survives a power failure, if fsync works."""

    def reached(self, operation: str, path: Path) -> None:
        """Hook that is called before every change."""

    def write(self, descriptor: int, data: memoryview) -> int:
        """Write to a file descriptor and return the number of bytes written."""
        return os.write(descriptor, data)

    def fsync(self, descriptor: int) -> None:
        """Make the content of a file durable."""
        os.fsync(descriptor)

    def rename(self, source: Path, target: Path) -> None:
        """Replace `target` by `source` atomically."""
        os.replace(source, target)

    def link(self, source: Path, target: Path) -> None:
        """Give the file `source` a second name."""
        os.link(source, target)

    def make_folder(self, path: Path) -> None:
        """Create a folder that only its owner can enter; an existing one is kept and its mode is set."""
        self.reached("make folder", path)
        path.mkdir(mode=0o700, exist_ok=True)
        path.chmod(0o700)
        self.sync_folder(path.parent)

    def replace(self, path: Path, data: bytes | Iterable[bytes]) -> None:
        """Replace the content of `path` atomically by `data`, given whole or in pieces."""
        temporary = path.with_name(path.name + TEMPORARY)
        self.erase(temporary)
        try:
            self.create(temporary, data)
            self.reached("rename", path)
            self.rename(temporary, path)
        except OSError:
            with suppress(OSError):
                self.erase(temporary)
            raise
        self.sync_folder(path.parent)

    def place(self, path: Path, data: bytes, *, over: bool = False) -> None:
        """Create a file of mode 0600 in a folder outside the store, atomically; with `over`, replace an earlier one.

        Until it is complete the file has no name, if the file system supports that. Otherwise, and for the instant
        before it replaces another file, it has a temporary name, which the next `place` in the folder finds and erases
        after a crash.

        Raises:
            FileExistsError: If the name is taken and `over` is False.
        """
        self._sweep(path.parent)
        half = path.with_name(HALF + secrets.token_hex(8))
        self.reached("create", path)
        try:
            descriptor, named = os.open(path.parent, os.O_RDWR | os.O_TMPFILE, 0o600), False
        except (AttributeError, OSError):  # not supported by the system or the file system
            descriptor, named = os.open(half, os.O_RDWR | os.O_CREAT | os.O_EXCL | _NO_LINKS, 0o600), True
        try:
            try_lock(descriptor)  # protects it from `_sweep`
            self._write(descriptor, data, path)
            self._sync(descriptor, path)
            self.reached("rename", path)
            if over:
                if not named:
                    _give_name(descriptor, half)
                named = True
                self.rename(half, path)
                named = False
            elif named:
                self.link(half, path)
            else:
                _give_name(descriptor, path)
        finally:
            os.close(descriptor)
            if named:
                with suppress(OSError):
                    self._forget(half)
        self.sync_folder(path.parent)

    def _sweep(self, folder: Path) -> None:
        """Erase temporary files in the folder that an interrupted `place` left."""
        with suppress(OSError):
            for path in [path for path in folder.iterdir() if _HALF.fullmatch(path.name)]:
                with suppress(OSError):
                    descriptor = os.open(path, os.O_RDWR | _NO_LINKS | _NO_WAIT)
                    try:
                        nobodys = stat.S_ISREG(os.fstat(descriptor).st_mode) and try_lock(descriptor)
                    finally:
                        os.close(descriptor)
                    if nobodys:
                        self._forget(path)

    def _forget(self, half: Path) -> None:
        """Erase a temporary file, or only unlink it if the complete file has another name already."""
        if half.stat().st_nlink == 1:
            self.erase(half)
        else:
            half.unlink()

    def create(self, path: Path, data: bytes | Iterable[bytes] = b"") -> None:
        """Create a file of mode 0600 with this content, given whole or in pieces.

        It is durable once its folder is synced.
        """
        self.reached("create", path)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINKS, 0o600)
        try:
            for piece in (data,) if isinstance(data, bytes) else data:
                self._write(descriptor, piece, path)
            self._sync(descriptor, path)
        finally:
            os.close(descriptor)

    def append(self, path: Path, data: bytes) -> None:
        """Append to a new file; durable once `extend` has set its final size."""
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | _NO_LINKS)
        try:
            self._write(descriptor, data, path)
        finally:
            os.close(descriptor)

    def overwrite(self, path: Path, pieces: Iterable[tuple[int, bytes]]) -> None:
        """Write each (offset, bytes) in place."""
        descriptor = os.open(path, os.O_WRONLY | _NO_LINKS)
        try:
            for offset, data in pieces:
                os.lseek(descriptor, offset, os.SEEK_SET)
                self._write(descriptor, data, path)
            self._sync(descriptor, path)
        finally:
            os.close(descriptor)

    def extend(self, path: Path, size: int) -> None:
        """Extend a file to `size` bytes with zeros."""
        descriptor = os.open(path, os.O_WRONLY | _NO_LINKS)
        try:
            self.reached("extend", path)
            os.ftruncate(descriptor, size)
            self._sync(descriptor, path)
        finally:
            os.close(descriptor)

    def exchange(self, path: Path) -> None:
        """Replace the content of `path` by that of its complete temporary file, and erase the old content.

        A plain rename would release the old content to the file system without overwriting it, so the old file gets a
        second name first. An exchange interrupted at any instant is completed by repeating it, and must be repeated
        while the second name exists.
        """
        temporary, former = path.with_name(path.name + TEMPORARY), path.with_name(path.name + FORMER)
        if path.exists() and not former.exists():
            self.reached("link", former)
            self.link(path, former)
            self.sync_folder(path.parent)
        if temporary.exists():
            self.reached("rename", path)
            self.rename(temporary, path)
            self.sync_folder(path.parent)
        if former.exists() and former.samefile(
            path
        ):  # the new content was removed: the old file is kept, under one name
            self.reached("remove", former)
            former.unlink()
            self.sync_folder(path.parent)
        else:
            self.erase(former)

    def discard(self, path: Path) -> None:
        """Remove `path` atomically, and overwrite its content under a temporary name."""
        temporary = path.with_name(path.name + TEMPORARY)
        self.reached("rename", path)
        self.rename(path, temporary)
        self.sync_folder(path.parent)
        self.erase(temporary, lasting=False)

    def erase(self, path: Path, *, lasting: bool = True) -> None:
        """Overwrite a file with zeros and remove it. An absent file counts as erased.

        A crash in between leaves the file partly zeroed, so use this only for files that are not read any more.
        `lasting`: sync the folder, so that a power failure cannot restore the name; without it, the next command would
        remove the zeroed file again.
        """
        try:
            self.blank(path)
        except FileNotFoundError:
            return
        self.reached("remove", path)
        path.unlink()
        if lasting:
            self.sync_folder(path.parent)

    def blank(self, path: Path, *, lasting: bool = True) -> None:
        """Overwrite a file with zeros in place. Without `lasting`, a power failure may restore the old content.

        Holes contain nothing and are skipped: a foreign sparse file may be longer than the disk.
        """
        descriptor = os.open(path, os.O_WRONLY | _NO_LINKS)
        try:
            for first, last in _written_parts(descriptor):
                os.lseek(descriptor, first, os.SEEK_SET)
                for place in range(first, last, len(_ZEROS)):
                    self._write(descriptor, _ZEROS[: last - place], path)
            if lasting:
                self._sync(descriptor, path)
        finally:
            os.close(descriptor)

    def sync_folder(self, path: Path) -> None:
        """Make the names in a folder durable."""
        if os.name == "nt":  # Windows cannot sync a folder
            return
        descriptor = os.open(path, os.O_RDONLY)
        try:
            self._sync(descriptor, path)
        finally:
            os.close(descriptor)

    def _write(self, descriptor: int, data: bytes, path: Path) -> None:
        left = memoryview(data)
        while left:
            self.reached("write", path)
            left = left[self.write(descriptor, left) :]

    def _sync(self, descriptor: int, path: Path) -> None:
        self.reached("sync", path)
        self.fsync(descriptor)


def _written_parts(descriptor: int) -> Iterator[tuple[int, int]]:
    """Yield the (first, last) byte offsets of the parts of a file outside holes, as reported by the file system."""
    found = os.fstat(descriptor)
    if not hasattr(os, "SEEK_DATA") or found.st_blocks * 512 >= found.st_size:
        yield 0, found.st_size
        return
    last = 0
    while last < found.st_size:
        try:
            first = os.lseek(descriptor, last, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:  # a file system without holes
                yield last, found.st_size
            return
        last = os.lseek(descriptor, first, os.SEEK_HOLE)
        yield first, last


def _give_name(descriptor: int, path: Path) -> None:
    """Link a nameless file to `path`.

    Passing a folder descriptor makes Python follow the /proc link instead of linking to it.
    """
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.link(f"/proc/self/fd/{descriptor}", path.name, dst_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)


def is_blank(path: Path) -> bool:
    """Return whether a file is absent or holds only zeros."""
    if not path.exists():
        return True
    with open_own(path) as file:
        for first, last in list(_written_parts(file.fileno())):  # before reading: it moves the file's position
            file.seek(first)
            for place in range(first, last, len(_ZEROS)):
                if file.read(min(len(_ZEROS), last - place)).strip(b"\0"):
                    return False
    return True


def is_odd(path: Path) -> bool:
    """Return whether the path is neither a plain file nor a folder, by a single `lstat`; False if it is absent."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def read_file(path: Path, most: int) -> bytes:
    """Return a plain file's bytes.

    Raises:
        StoreCorrupt: If it is missing, a link, a pipe, unreadable, or longer than `most` bytes.
    """
    data = read_start(path, most + 1)
    if len(data) > most:
        raise StoreCorrupt(f"{path}: longer than {most} bytes, which no such file is; restore the store from a backup")
    return data


def read_start(path: Path, length: int) -> bytes:
    """Return at most the first `length` bytes of a plain file. Raises like `open_own`."""
    with open_own(path) as file:
        return file.read(length)


@contextmanager
def open_own(path: Path) -> Iterator[BinaryIO]:
    """Open a plain file of the store for reading.

    Raises:
        StoreCorrupt: If it is missing, a link, a pipe or unreadable, also while it is open.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | _NO_LINKS | _NO_WAIT)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):  # `fdopen` would leave the descriptor of a folder open
            os.close(descriptor)
            raise StoreCorrupt(f"{path}: not a plain file; move it away, and restore the store from a backup")
        with os.fdopen(descriptor, "rb") as file:
            yield file
    except OSError as error:
        raise StoreCorrupt(f"{path}: cannot be read ({error.strerror}); restore the store from a backup") from error


@contextmanager
def explain_disk_errors(root: Path, promise: str) -> Iterator[None]:
    """Convert an `OSError` into a `StoreError` that describes the state of the store by `promise`."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"{root}: the disk refused a change ({error}); {promise}") from error


# --- database ---
#
# SQLite as used by the store: deleted content is overwritten, no write-ahead log, no file outside the folder.
#
# The rollback journal holds the former pages. By default SQLite removes it without overwriting it. In mode PERSIST it
# keeps the file and zeroes its header (which disables the rollback), and the store writes zeros over the rest; the file
# is kept so that the next transaction need not make its name durable. The order of the pragmas matters: every statement
# that reads the schema, including `PRAGMA journal_mode`, first rolls back the journal of a killed process, in the mode
# at that instant, and by default removes it without overwriting. A connection in exclusive locking mode keeps it. So
# the first read is done in that mode, and only then is the journal mode set and the lock released.


# name -> (value to set, value that must be read back)
_PRAGMAS = {
    "secure_delete": ("ON", 1),  # zeros over deleted content
    "synchronous": ("EXTRA", 3),  # sync the folder, too
    "temp_store": ("MEMORY", 2),
    "trusted_schema": ("OFF", 0),
}

# SQLite's errors for a full or failing disk or missing permissions; any other error is a fault of the file
_ENVIRONMENT = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_NOMEM,
)


@contextmanager
def connect_database(path: Path, seconds: float = 5.0, *, journal: str = "PERSIST") -> Iterator[sqlite3.Connection]:
    """Connect to an existing database and read every pragma back. SQLite's errors become store errors.

    Args:
        path: The database.
        seconds: The time to wait for another connection's lock.
        journal: "PERSIST": the rollback journal is kept, its header zeroed, for `forget_database`. "DELETE": SQLite
            removes it; for a database that holds nothing to forget yet.

    Raises:
        StoreCorrupt: If the database is missing, not a plain file, or damaged.
        StoreLocked: If another process is writing.
        StoreError: If SQLite refuses a pragma, or the disk fails.
    """
    if path.is_symlink() or not path.is_file():
        raise StoreCorrupt(f"{path}: missing or not a plain file; restore the store from a backup")
    for beside in (path.with_name(path.name + end) for end in LEFTOVERS):  # SQLite would block on a pipe
        if is_odd(beside):
            raise StoreCorrupt(f"{beside}: not a plain file; remove it")
    connection: sqlite3.Connection | None = None
    try:
        uri = f"{path.absolute().as_uri()}?mode=rw"
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=seconds)
        _set_pragma(connection, path, "locking_mode", "EXCLUSIVE", "exclusive")
        _check_pragmas(connection)  # rolls back what a crash interrupted
        _set_pragma(connection, path, "journal_mode", journal, journal.lower())
        _set_pragma(connection, path, "locking_mode", "NORMAL", "normal")
        _check_pragmas(connection)  # releases the lock
        for name, (value, expected) in _PRAGMAS.items():
            _set_pragma(connection, path, name, value, expected)
        yield connection
    except sqlite3.Error as error:
        raise _translate_error(path, error) from error
    except UnicodeDecodeError as error:  # SQLite does not check the encoding of text, Python does
        raise StoreCorrupt(f"{path}: holds text that is none; restore the store from a backup") from error
    finally:
        if connection is not None:
            connection.close()


def _set_pragma(connection: sqlite3.Connection, path: Path, name: str, value: str, expected: object) -> None:
    connection.execute(f"PRAGMA {name} = {value}")
    if connection.execute(f"PRAGMA {name}").fetchone()[0] != expected:
        raise StoreError(f"{path}: this SQLite refuses {name} = {value}, which erasure relies on; use another build")


def _check_pragmas(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA schema_version").fetchone()


def _translate_error(path: Path, error: sqlite3.Error) -> StoreError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # the low byte is the primary code
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreLocked(f"{path}: another process is writing; try again")
    if code in _ENVIRONMENT:
        return StoreError(f"{path}: {error}; free space or fix permissions, then run any command to go on")
    return StoreCorrupt(f"{path}: {error}; it was changed by hand or damaged. Restore the store from a backup")


@contextmanager
def begin_transaction(connection: sqlite3.Connection, disk: Disk, path: Path) -> Iterator[None]:
    """Run the statements of the body in one transaction."""
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
def open_transaction(disk: Disk, path: Path, *, adds: bool = False) -> Iterator[sqlite3.Connection]:
    """Run one transaction on its own connection, then overwrite its journal with zeros.

    Args:
        disk: The file operations.
        path: The database.
        adds: True if the transaction replaces and removes nothing. The journal then holds nothing that is not in the
            database, so the zeros need not be synced.
    """
    with connect_database(path) as connection, begin_transaction(connection, disk, path):
        yield connection
    if _journal_of(path).exists():  # nothing is left to roll back after connect and commit
        disk.blank(_journal_of(path), lasting=not adds)


def forget_database(disk: Disk, path: Path) -> None:
    """Overwrite the journal of a database with zeros, after rolling back an interrupted transaction.

    No connection may be open.
    """
    journal = _journal_of(path)
    if not is_blank(journal):
        with connect_database(path):
            pass  # connecting rolls back, and removes the journal of an empty database
        if journal.exists():
            disk.blank(journal)


def _journal_of(path: Path) -> Path:
    return path.with_name(path.name + JOURNAL)


def create_database(disk: Disk, path: Path) -> None:
    """Create an empty database file that only its owner can read; SQLite gives its journals the same mode."""
    disk.create(path)
    disk.sync_folder(path.parent)


# --- presence ---
#
# Whether a path holds a store.


def require_store(layout: Layout) -> None:
    """Raise unless `layout.root` holds a completely created store without symbolic links."""
    try:
        there = layout.root.is_dir()
    except OSError as error:
        raise StoreError(f"{layout.root}: cannot be looked at ({error.strerror}); check the path") from error
    if not there:
        raise StoreError(f"{layout.root}: there is no store here; check the path, or make one with init")
    if not has_first_entry(layout):
        inside = Layout(layout.root / "store")  # the folder that `quickstart` creates
        if inside.root.is_dir() and has_first_entry(inside):
            raise StoreError(f"{layout.root}: not a store; the store is in it: give {inside.root}")
        raise StoreError(
            f"{layout.root}: no store, or one whose init was interrupted; run init again (it clears what it left)"
        )
    for path in layout.list_all():
        if path.is_symlink():
            raise StoreCorrupt(f"{path}: a link inside the store; its target could be anywhere. Remove it")
        if is_odd(path):
            raise StoreCorrupt(f"{path}: a pipe, a socket or a device inside the store, which holds none. Remove it")


def is_plain(path: Path) -> bool:
    """Return whether a path is a file and no link."""
    return path.is_file() and not path.is_symlink()


def has_first_entry(layout: Layout) -> bool:
    """Return whether the ledger has its first entry, the last step of `init`.

    True for a damaged ledger, which is reported later.
    """
    if not is_plain(layout.ledger):
        return False
    if layout.ledger.stat().st_size == 0:
        return False
    try:
        with connect_database(layout.ledger) as connection:
            tables = "SELECT COUNT(*) FROM sqlite_master WHERE name = 'entries'"
            return bool(connection.execute(tables).fetchone()[0])
    except StoreError:
        return True

"""Every change the store makes to a file system goes through `Disk`.

Each change is announced to `reached` just before it happens, so a test that fails or kills at the k-th announcement,
for every k, has tried every instant between two changes. `write`, `fsync` and `rename` are the raw calls; a test
replaces them to cut writes short or to make them fail. Nothing is handed back to the file system with somebody's bytes in it:
a file that held any is overwritten before it is removed, and neither replaced nor shortened.
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

from ..errors import NoisyGDDeleteError, StoreCorrupt, StoreError, StoreLocked
from .layout import FORMER, JOURNAL, LEFTOVERS, MARK, TEMPORARY, Layout, try_lock

HALF = ".noisygd-delete-"  # an output that has no name of its own yet
_HALF = re.compile(re.escape(HALF) + "[0-9a-f]{16}")
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
_ZEROS = bytes(1 << 16)


class Disk:
    """Durable changes: when a method returns, its change survives a power cut (as far as fsync tells the truth)."""

    def reached(self, operation: str, path: Path) -> None:
        """Called before every change."""

    def write(self, descriptor: int, data: memoryview) -> int:
        return os.write(descriptor, data)

    def fsync(self, descriptor: int) -> None:
        os.fsync(descriptor)

    def rename(self, source: Path, target: Path) -> None:
        os.replace(source, target)

    def link(self, source: Path, target: Path) -> None:
        os.link(source, target)

    def make_folder(self, path: Path) -> None:
        """A folder that only its owner may enter; an existing one is kept."""
        self.reached("make folder", path)
        path.mkdir(mode=0o700, exist_ok=True)
        path.chmod(0o700)
        self.sync_folder(path.parent)

    def replace(self, path: Path, data: bytes | Iterable[bytes]) -> None:
        """`path` holds `data`, whole or in pieces, or what it held before: never something between."""
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
        """A file of mode 0600 in somebody's own folder: there whole or not at all, and with `over` in the place of an earlier one.

        Until it is whole it has no name, where the file system can do that; elsewhere one that the next `place` in the folder finds
        and overwrites. So does one of the instant before a name is taken over.

        Raises:
            FileExistsError: the name is taken, and `over` is False.
        """
        self._sweep(path.parent)
        half = path.with_name(HALF + secrets.token_hex(8))
        self.reached("create", path)
        try:
            descriptor, named = os.open(path.parent, os.O_RDWR | os.O_TMPFILE, 0o600), False
        except (AttributeError, OSError):  # no such system, or no such file system
            descriptor, named = os.open(half, os.O_RDWR | os.O_CREAT | os.O_EXCL | _NO_LINKS, 0o600), True
        try:
            try_lock(descriptor)  # so that nobody sweeps it
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
        """Erase what a `place` that was killed has left here."""
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
        """Erase it, unless the whole file goes by another name already."""
        if half.stat().st_nlink == 1:
            self.erase(half)
        else:
            half.unlink()

    def create(self, path: Path, data: bytes | Iterable[bytes] = b"") -> None:
        """A new file of mode 0600 with this content, whole or in pieces, durable once its folder is synced."""
        self.reached("create", path)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINKS, 0o600)
        try:
            for piece in (data,) if isinstance(data, bytes) else data:
                self._write(descriptor, piece, path)
            self._sync(descriptor, path)
        finally:
            os.close(descriptor)

    def append(self, path: Path, data: bytes) -> None:
        """More of a new file, durable once it is extended to its size."""
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
        """Lengthen a file to `size` bytes with zeros."""
        descriptor = os.open(path, os.O_WRONLY | _NO_LINKS)
        try:
            self.reached("extend", path)
            os.ftruncate(descriptor, size)
            self._sync(descriptor, path)
        finally:
            os.close(descriptor)

    def exchange(self, path: Path) -> None:
        """`path` takes over the content that is complete under its temporary name; what it held itself is erased.

        A mere rename would hand the old content back to the file system as it is. So it gets a second name first. Cut short
        at any instant, the exchange is finished by doing it again, and must be, while that second name exists.
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
        ):  # somebody took the new content away: the old one stays, under its one name
            self.reached("remove", former)
            former.unlink()
            self.sync_folder(path.parent)
        else:
            self.erase(former)

    def discard(self, path: Path) -> None:
        """`path` holds what it held, or is gone: its content is erased under a temporary name."""
        temporary = path.with_name(path.name + TEMPORARY)
        self.reached("rename", path)
        self.rename(path, temporary)
        self.sync_folder(path.parent)
        self.erase(temporary, lasting=False)

    def erase(self, path: Path, *, lasting: bool = True) -> None:
        """Overwrite a file with zeros and remove it. An absent file is already erased.

        A crash on the way leaves it half zero: only for files that nobody reads any more. `lasting`: whether its name must not come back by
        a power cut, over zeros, where the next command would remove it again.
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
        """Overwrite a file with zeros in place. `lasting`: else what it held may come back by a power cut.

        Holes hold nothing and stay: a file of a stranger may be longer than the disk.
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
        if os.name == "nt":  # Windows has no handle to sync a folder by
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
    """Yield the (first, last) bytes of a file that are in no hole, as far as the file system tells."""
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
    """A name for a file without one; the folder, named twice, makes Python follow the descriptor and not link to it."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.link(f"/proc/self/fd/{descriptor}", path.name, dst_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)


def is_blank(path: Path) -> bool:
    """Whether a file holds nothing but zeros, or is not there."""
    if not path.exists():
        return True
    with open_own(path) as file:
        return all(not piece.strip(b"\0") for piece in iter(lambda: file.read(len(_ZEROS)), b""))


def is_odd(path: Path) -> bool:
    """Whether something is there that is neither a plain file nor a folder, by one look: others may remove it meanwhile."""
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
    """Return the first bytes of a plain file, at most so many. Raises as `read`."""
    with open_own(path) as file:
        return file.read(length)


@contextmanager
def open_own(path: Path) -> Iterator[BinaryIO]:
    """Open a plain file of the store for reading. Raises as `read`, while it is open too."""
    try:
        descriptor = os.open(path, os.O_RDONLY | _NO_LINKS | _NO_WAIT)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise StoreCorrupt(f"{path}: not a plain file; move it away, and restore the store from a backup")
            yield file
    except OSError as error:
        raise StoreCorrupt(f"{path}: cannot be read ({error.strerror}); restore the store from a backup") from error


@contextmanager
def explain_disk_errors(root: Path, promise: str) -> Iterator[None]:
    """A failure of the disk as one clear `StoreError` that says what state the store is in."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"{root}: the disk refused a change ({error}); {promise}") from error


# --- database ---
#
# SQLite as the store uses it: deleted content overwritten, no write-ahead log, nothing outside its own folder.
#
# The rollback journal holds the pages as they were. SQLite would remove it without overwriting; it is asked to leave it in
# place, its header zeroed (then it rolls nothing back), and the store writes zeros over the rest: it stays, so that the next
# transaction need not make its name durable. The asking has an order. Whatever reads the
# schema, `PRAGMA journal_mode` included, first rolls a killed process's journal back, and in the mode in force at that instant:
# by default it is then removed as it is. A connection in exclusive locking mode keeps it. So the first reading is done in that
# mode, and only afterwards is the journal mode set and the lock let go.


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
def connect_database(path: Path, seconds: float = 5.0, *, journal: str = "PERSIST") -> Iterator[sqlite3.Connection]:
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
        _set_pragma(connection, path, "locking_mode", "EXCLUSIVE", "exclusive")
        _check_pragmas(connection)  # rolls back what a crash interrupted
        _set_pragma(connection, path, "journal_mode", journal, journal.lower())
        _set_pragma(connection, path, "locking_mode", "NORMAL", "normal")
        _check_pragmas(connection)  # lets the lock go
        for name, (value, expected) in _PRAGMAS.items():
            _set_pragma(connection, path, name, value, expected)
        yield connection
    except sqlite3.Error as error:
        raise _translate_error(path, error) from error
    except UnicodeDecodeError as error:  # SQLite reads damaged text without complaint, Python does not
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
def open_transaction(disk: Disk, path: Path, *, adds: bool = False) -> Iterator[sqlite3.Connection]:
    """One transaction on a connection of its own; then zeros over what its journal kept.

    Args:
        adds: it replaces and removes nothing, so that all that the journal kept stands in the database: zeros may wait to be durable.
    """
    with connect_database(path) as connection, begin_transaction(connection, disk, path):
        yield connection
    if _journal_of(path).exists():  # nothing is left to roll back: connecting and committing have seen to it
        disk.blank(_journal_of(path), lasting=not adds)


def forget_database(disk: Disk, path: Path) -> None:
    """Zeros over the journal that transactions left, having rolled back what a crash interrupted. Connections are closed."""
    journal = _journal_of(path)
    if not is_blank(journal):
        with connect_database(path):
            pass  # opening rolls back, and removes the journal of a database that holds nothing
        if journal.exists():
            disk.blank(journal)


def _journal_of(path: Path) -> Path:
    return path.with_name(path.name + JOURNAL)


def create_database(disk: Disk, path: Path) -> None:
    """An empty database file that only its owner can read (SQLite gives its journals the same mode)."""
    disk.create(path)
    disk.sync_folder(path.parent)


# --- presence ---
#
# Whether there is a store at a path, or room for one.


def require_store(layout: Layout) -> None:
    """Raise unless `layout.root` holds a store whose creation was finished, without links inside."""
    try:
        there = layout.root.is_dir()
    except OSError as error:
        raise StoreError(f"{layout.root}: cannot be looked at ({error.strerror}); check the path") from error
    if not there:
        raise StoreError(f"{layout.root}: there is no store here; check the path, or make one with init")
    if not _has_first_entry(layout):
        inside = Layout(layout.root / "store")  # as `quickstart` makes it
        if inside.root.is_dir() and _has_first_entry(inside):
            raise StoreError(f"{layout.root}: not a store; the store is in it: give {inside.root}")
        raise StoreError(
            f"{layout.root}: no store, or one whose init was interrupted; run init again (it clears what it left)"
        )
    for path in layout.everything():
        if path.is_symlink():
            raise StoreCorrupt(f"{path}: a link inside the store; its target could be anywhere. Remove it")
        if is_odd(path):
            raise StoreCorrupt(f"{path}: a pipe, a socket or a device inside the store, which holds none. Remove it")


def require_free(layout: Layout) -> None:
    """Raise unless `layout.root` is absent, empty, or a store that `init` began here and was interrupted.

    That is recognised by the lock file, which is written first and says so; never by names alone, which somebody's own
    files may have too.
    """
    if layout.root.is_symlink() or (layout.root.exists() and not layout.root.is_dir()):
        raise StoreError(f"{layout.root}: not a folder; give a path that does not exist yet")
    if not layout.root.exists():
        return
    if _has_first_entry(layout):
        raise StoreError(f"{layout.root}: there is a store already; give another path")
    held = list(layout.everything())
    if not held:
        return
    mark = read_start(layout.lock, len(MARK)) if layout.lock in held and _is_plain(layout.lock) else None
    if mark != MARK and not (held == [layout.lock] and mark is not None and MARK.startswith(mark)):
        raise StoreError(
            f"{layout.root}: holds files already, and is no store that was begun here; give a new or an empty folder"
        )
    for path in held:
        if not (_is_plain(path) or path.is_dir()) or path.is_symlink() or not layout.half_made(path):
            raise StoreError(
                f"{path}: does not belong to a half-made store; move it away, or give a new or an empty folder"
            )


def require_room(layout: Layout) -> None:
    """Raise unless this process may write where the store will be."""
    folder = layout.root if layout.root.exists() else layout.root.parent
    if not folder.is_dir():
        raise StoreError(f"{layout.root}: there is no folder {folder} to make it in; make that first")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise StoreError(f"{folder}: may not be written to; fix its permissions, or give another path")


def begin_store(disk: Disk, layout: Layout) -> None:
    """Mark the folder as a store's, before anything else is written into it."""
    if layout.lock.exists() and read_start(layout.lock, len(MARK)) != MARK:
        disk.overwrite(layout.lock, [(0, MARK)])
    elif not layout.lock.exists():
        with suppress(FileExistsError):  # another init, a moment ago: its lock decides
            disk.create(layout.lock, MARK)
        disk.sync_folder(layout.root)


@contextmanager
def erase_on_refusal(disk: Disk, layout: Layout, *, folder: bool) -> Iterator[None]:
    """What `init` writes in here is erased if it is refused in here, the lock at last, and with `folder` the folder is removed.

    A disk that fails leaves what there is: the next init clears it.
    """
    try:
        yield
    except (NoisyGDDeleteError, KeyboardInterrupt, MemoryError):
        with suppress(OSError):
            held = [path for path in layout.everything() if layout.half_made(path)]
            for path in sorted(held, key=lambda path: path == layout.lock):
                if not path.is_dir():
                    disk.erase(path)
            if layout.records.is_dir():
                layout.records.rmdir()
            if folder:
                layout.root.rmdir()
        raise


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _has_first_entry(layout: Layout) -> bool:
    """Whether the ledger has its first entry: the last act of `init`. A damaged ledger counts, to be reported later."""
    if not _is_plain(layout.ledger):
        return False
    if layout.ledger.stat().st_size == 0:
        return False
    try:
        with connect_database(layout.ledger) as connection:
            tables = "SELECT COUNT(*) FROM sqlite_master WHERE name = 'entries'"
            return bool(connection.execute(tables).fetchone()[0])
    except StoreError:
        return True

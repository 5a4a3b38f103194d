"""Every change the store makes to a file system goes through `Disk`.

Each change is announced to `reached` just before it happens, so a test that fails or kills at the k-th announcement,
for every k, has tried every instant between two changes. `write`, `fsync` and `rename` are the raw calls; a test
replaces them to cut writes short or to make them fail. Nothing is handed back to the file system with somebody's bytes in it:
a file that held any is overwritten before it is removed, and neither replaced nor shortened.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import StoreCorrupt, StoreError
from .layout import FORMER, TEMPORARY
from .lock import try_lock

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
        """Overwrite a file with zeros in place. `lasting`: else what it held may come back by a power cut."""
        descriptor = os.open(path, os.O_WRONLY | _NO_LINKS)
        try:
            left = os.fstat(descriptor).st_size
            while left:
                size = min(left, len(_ZEROS))
                self._write(descriptor, _ZEROS[:size], path)
                left -= size
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


def _give_name(descriptor: int, path: Path) -> None:
    """A name for a file without one; the folder, named twice, makes Python follow the descriptor and not link to it."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.link(f"/proc/self/fd/{descriptor}", path.name, dst_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)


def is_blank(path: Path) -> bool:
    """Whether a file holds nothing but zeros, or is not there."""
    return not path.exists() or not read(path).strip(b"\0")


def is_odd(path: Path) -> bool:
    """Whether something is there that is neither a plain file nor a folder, by one look: others may remove it meanwhile."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def read(path: Path, most: int = -1) -> bytes:
    """A plain file's bytes, at `most` so many. Whatever is missing, a link, a pipe or unreadable is `StoreCorrupt`."""
    try:
        descriptor = os.open(path, os.O_RDONLY | _NO_LINKS | _NO_WAIT)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise StoreCorrupt(f"{path}: not a plain file; move it away, and restore the store from a backup")
            return file.read(most)
    except OSError as error:
        raise StoreCorrupt(f"{path}: cannot be read ({error.strerror}); restore the store from a backup") from error


@contextmanager
def explained(root: Path, promise: str) -> Iterator[None]:
    """A failure of the disk as one clear `StoreError` that says what state the store is in."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"{root}: the disk refused a change ({error}); {promise}") from error

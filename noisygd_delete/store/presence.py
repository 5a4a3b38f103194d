"""Whether there is a store at a path, or room for one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import NoisyGDDeleteError, StoreCorrupt, StoreError
from .database import connect
from .disk import Disk, is_odd, read
from .layout import MARK, Layout


def require_store(layout: Layout) -> None:
    """Raise unless `layout.root` holds a store whose creation was finished, without links inside."""
    try:
        there = layout.root.is_dir()
    except OSError as error:
        raise StoreError(f"{layout.root}: cannot be looked at ({error.strerror}); check the path") from error
    if not there:
        raise StoreError(f"{layout.root}: there is no store here; check the path, or make one with init")
    if not _committed(layout):
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
    if _committed(layout):
        raise StoreError(f"{layout.root}: there is a store already; give another path")
    held = list(layout.everything())
    if not held:
        return
    mark = read(layout.lock, len(MARK)) if layout.lock in held and _is_plain(layout.lock) else None
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


def begin(disk: Disk, layout: Layout) -> None:
    """Mark the folder as a store's, before anything else is written into it."""
    if layout.lock.exists() and read(layout.lock, len(MARK)) != MARK:
        disk.overwrite(layout.lock, [(0, MARK)])
    elif not layout.lock.exists():
        with suppress(FileExistsError):  # another init, a moment ago: its lock decides
            disk.create(layout.lock, MARK)
        disk.sync_folder(layout.root)


@contextmanager
def nothing_of_refused(disk: Disk, layout: Layout, *, folder: bool) -> Iterator[None]:
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


def _committed(layout: Layout) -> bool:
    """Whether the ledger has its first entry: the last act of `init`. A damaged ledger counts, to be reported later."""
    if not _is_plain(layout.ledger):
        return False
    if layout.ledger.stat().st_size == 0:
        return False
    try:
        with connect(layout.ledger) as connection:
            tables = "SELECT COUNT(*) FROM sqlite_master WHERE name = 'entries'"
            return bool(connection.execute(tables).fetchone()[0])
    except StoreError:
        return True

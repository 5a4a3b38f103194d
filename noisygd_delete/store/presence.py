"""Whether there is a store at a path, or room for one."""

from __future__ import annotations

from ..errors import StoreCorrupt, StoreError
from .database import connect
from .layout import Layout


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


def require_free(layout: Layout) -> None:
    """Raise unless a store can be made at `layout.root` without touching anything that is not an unfinished store."""
    if layout.root.is_symlink() or (layout.root.exists() and not layout.root.is_dir()):
        raise StoreError(f"{layout.root}: not a folder; give a path that does not exist yet")
    if not layout.root.exists():
        return
    if _committed(layout):
        raise StoreError(f"{layout.root}: there is a store already; give another path")
    for path in layout.everything():
        if path.is_symlink() or not (layout.expected(path) or path in layout.temporaries()):
            raise StoreError(f"{path}: does not belong to a store; give a path that does not exist yet")


def _committed(layout: Layout) -> bool:
    """Whether the ledger has its first entry: the last act of `init`. A damaged ledger counts, to be reported later."""
    if layout.ledger.is_symlink() or not layout.ledger.is_file():
        return False
    if layout.ledger.stat().st_size == 0:
        return False
    try:
        with connect(layout.ledger) as connection:
            tables = "SELECT COUNT(*) FROM sqlite_master WHERE name = 'entries'"
            return bool(connection.execute(tables).fetchone()[0])
    except StoreError:
        return True

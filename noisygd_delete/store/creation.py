"""Create the folder of a new store: only in a place that is free, and with nothing left behind after a refusal."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..curator.learning import check_fit
from ..errors import InvalidParameter, NoisyGDDeleteError, StoreError
from ..methods.plan import Plan
from ..records import Records
from . import file_footer, models
from .disk import Disk, explain_disk_errors, has_first_entry, is_plain, read_start
from .entry import Entry, EntryKinds, utc_now
from .layout import LEFTOVERS, MARK, TEMPORARY, Layout, Lock
from .ledger import Ledger
from .training_table import OpenedStore
from .transaction import to_json

if TYPE_CHECKING:
    from ..features.schema import Schema

_INIT_AGAIN = "there is no store yet; run init again (it clears what it left), or remove the folder"


def create_store(
    path: str | Path,
    schema: Schema,
    disk: Disk,
    write: Callable[[Disk, Layout], Plan],
    *,
    source: dict[str, Any] | None = None,
) -> OpenedStore:
    """Create the folder of a new store and return its files, locked.

    `write` writes the rows, if the store holds them, and returns the plan; if it raises, nothing is left behind.
    """
    layout = Layout(Path(path).absolute())
    made = not layout.root.exists()
    mode = None if made else layout.root.stat().st_mode
    with explain_disk_errors(layout.root, _INIT_AGAIN):
        _require_free(layout)
        disk.make_folder(layout.root)
        _write_mark(disk, layout)
        lock = Lock(layout.lock)
        try:
            _require_free(layout)
            for leftover in layout.list_all():
                if leftover != layout.lock and not leftover.is_dir():
                    disk.erase(leftover)
            with _erase_on_refusal(disk, layout, folder=made):
                plan = write(disk, layout)
                file_footer.attach(disk, layout, {path: path.stat().st_size for path in file_footer.files(layout)})
            disk.make_folder(layout.journal)
            fields = models.plain_answer(plan.to_dict()), models.plain_answer(schema.to_dict())
            for file, public in zip((layout.plan, layout.schema), fields, strict=True):
                disk.replace(file, to_json(public))
            first = Entry(
                kind=EntryKinds.INIT, time=utc_now(), pending=0, plan=fields[0], schema=fields[1], source=source
            )
            return OpenedStore(layout, disk, lock, Ledger.create(disk, layout.ledger, first))
        except BaseException:
            lock.release()
            if mode is not None:
                layout.root.chmod(mode & 0o7777)
            raise


def check_records(records: Records, schema: Schema, plan: Plan) -> None:
    """Raise unless a store with this schema and plan can hold these records."""
    check_fit(records, plan)
    if not all(names.only_texts for names in (records.names, records.owners) if names is not None):
        raise InvalidParameter("a store keeps ids and subjects as text; give Records(ids=[...]) strings")
    if schema.features != plan.problem.features or (schema.subject_column is None) != (records.owners is None):
        raise InvalidParameter("the schema does not make these records: other features, or subjects on one side only")
    if schema.feature_map != plan.problem.feature_map:
        raise InvalidParameter(
            "the plan is for rows of another public map than the schema's; give make_plan(feature_map=schema.feature_map)"
        )


def check_place(path: str | Path) -> None:
    """Raise unless `path` is free for a new store and this process can write there."""
    layout = Layout(Path(path).absolute())
    with explain_disk_errors(layout.root, _INIT_AGAIN):
        _require_free(layout)
        folder = layout.root if layout.root.exists() else layout.root.parent
        if not folder.is_dir():
            raise StoreError(f"{layout.root}: there is no folder {folder} to make it in; make that first")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise StoreError(f"{folder}: may not be written to; fix its permissions, or give another path")


def _require_free(layout: Layout) -> None:
    """Raise unless `layout.root` is absent, empty, or a store left by an interrupted `init`.

    The latter is recognised by the content of the lock file, which is written first; file names alone are not
    sufficient, because a user's own files may have the same names.
    """
    if layout.root.is_symlink() or (layout.root.exists() and not layout.root.is_dir()):
        raise StoreError(f"{layout.root}: not a folder; give a path that does not exist yet")
    if not layout.root.exists():
        return
    if has_first_entry(layout):
        raise StoreError(f"{layout.root}: there is a store already; give another path")
    held = list(layout.list_all())
    if not held:
        return
    mark = read_start(layout.lock, len(MARK)) if layout.lock in held and is_plain(layout.lock) else None
    if mark != MARK and not (held == [layout.lock] and mark is not None and MARK.startswith(mark)):
        raise StoreError(
            f"{layout.root}: holds files already, and is no store that was begun here; give a new or an empty folder"
        )
    for path in held:
        if not (is_plain(path) or path.is_dir()) or path.is_symlink() or not _is_half_made(layout, path):
            raise StoreError(
                f"{path}: does not belong to a half-made store; move it away, or give a new or an empty folder"
            )


def _write_mark(disk: Disk, layout: Layout) -> None:
    """Mark the folder as a store before anything else is written to it."""
    if layout.lock.exists() and read_start(layout.lock, len(MARK)) != MARK:
        disk.overwrite(layout.lock, [(0, MARK)])
    elif not layout.lock.exists():
        with suppress(FileExistsError):  # a concurrent init: the lock decides
            disk.create(layout.lock, MARK)
        disk.sync_folder(layout.root)


@contextmanager
def _erase_on_refusal(disk: Disk, layout: Layout, *, folder: bool) -> Iterator[None]:
    """If the body raises, erase the files that `init` wrote, the lock last; with `folder`, remove the folder too.

    After a disk error the files are left; the next init erases them.
    """
    try:
        yield
    except (NoisyGDDeleteError, KeyboardInterrupt, MemoryError):
        with suppress(OSError):
            held = [path for path in layout.list_all() if _is_half_made(layout, path)]
            for path in sorted(held, key=lambda path: path == layout.lock):
                if not path.is_dir():
                    disk.erase(path)
            if layout.records.is_dir():
                layout.records.rmdir()
            if folder:
                layout.root.rmdir()
        raise


def _is_half_made(layout: Layout, path: Path) -> bool:
    """Return whether `init` may have written this path before it was interrupted."""
    public = {layout.plan, layout.schema, layout.ledger, layout.seal, layout.held_out}
    files = public | {layout.features, layout.codes, layout.labels, layout.ids, layout.subjects, layout.long}
    name = path.name
    for end in (TEMPORARY, *LEFTOVERS):
        name = name.removesuffix(end)
    return path in files | {layout.records, layout.journal, layout.lock} or path.with_name(name) in files

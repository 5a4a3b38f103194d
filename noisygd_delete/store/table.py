"""The records on disk: written once, edited in place slot by slot, read back without copying the rows."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np

from ..errors import InvalidParameter, StoreCorrupt
from ..methods.plan import Plan
from ..records import EditRequest, Id, Insertion, Records, SlotEdits, check_size
from .database import connect, in_memory
from .disk import Disk, read
from .layout import LABEL, ROW, TEMPORARY, Layout

_LABEL_BYTES = np.dtype(LABEL).itemsize
_ROW_BYTES = np.dtype(ROW).itemsize

Named = Iterable[tuple[int, Id | None, Id | None]]


def write(disk: Disk, layout: Layout, records: Records) -> None:
    """A new table on disk."""
    disk.make_folder(layout.records)
    disk.create(layout.features, np.ascontiguousarray(records.features, dtype=ROW).tobytes())
    disk.create(layout.labels, np.ascontiguousarray(records.labels, dtype=LABEL).tobytes())
    owners = records.subjects_by_slot or [None] * records.slots
    _name(disk, layout, zip(range(records.slots), records.ids_by_slot, owners, strict=True))
    disk.sync_folder(layout.records)


def load(layout: Layout, plan: Plan, *, with_subjects: bool) -> Records:
    """The table; its rows stay memory-mapped.

    Raises:
        StoreCorrupt: the files are not those of `plan.records` slots of `plan.features` values.
    """
    slots, width = plan.records, plan.features
    for path, size in sizes(layout, slots, width).items():
        if path.is_symlink() or not path.is_file() or path.stat().st_size != size:
            raise StoreCorrupt(f"{path}: missing, a link, or not {size} bytes long; restore the store from a backup")
    rows = np.memmap(layout.features, dtype=ROW, mode="r", shape=(slots, width))
    labels = np.frombuffer(read(layout.labels), dtype=LABEL)
    with connect(layout.ids) as connection:
        named = connection.execute("SELECT slot, id, subject FROM names").fetchall()
    ids: list[Id | None] = [None] * slots
    subjects: list[Id | None] = [None] * slots
    for slot, name, subject in named:
        if not 0 <= slot < slots or not isinstance(name, str) or isinstance(subject, str) != with_subjects:
            raise StoreCorrupt(f"{layout.ids}: an entry does not belong to this table; restore the store from a backup")
        ids[slot], subjects[slot] = name, subject
    return Records.from_slots(rows, labels, ids, subjects if with_subjects else None)


def held(layout: Layout) -> int:
    """How many records there are, for somebody who does not hold the lock: if the file is exchanged meanwhile, read anew."""
    while True:
        before = _identity(layout.ids)
        try:
            with connect(layout.ids) as connection:
                return int(connection.execute("SELECT COUNT(*) FROM names").fetchone()[0])
        except StoreCorrupt:  # also what an overwritten file looks like
            if _identity(layout.ids) == before:
                raise


def _identity(path: Path) -> tuple[int, ...] | None:
    try:
        facts = path.stat()
    except FileNotFoundError:
        return None
    return facts.st_ino, facts.st_mtime_ns, facts.st_ctime_ns


def sizes(layout: Layout, slots: int, width: int) -> dict[Path, int]:
    """How long the two plain files must be."""
    return {layout.features: slots * width * _ROW_BYTES, layout.labels: slots * _LABEL_BYTES}


def apply(disk: Disk, layout: Layout, edits: SlotEdits) -> None:
    """Overwrite the edited slots. Doing it twice is doing it once, so a half-done edit is simply done again."""
    rows = np.ascontiguousarray(edits.rows, dtype=ROW)
    labels = np.ascontiguousarray(edits.labels, dtype=LABEL)
    slots = [int(slot) for slot in edits.slots]
    disk.overwrite(layout.features, [(slot * row.nbytes, row.tobytes()) for slot, row in zip(slots, rows, strict=True)])
    disk.overwrite(
        layout.labels, [(slot * _LABEL_BYTES, label.tobytes()) for slot, label in zip(slots, labels, strict=True)]
    )
    _name(disk, layout, zip(slots, edits.ids, edits.subjects, strict=True))


def in_text(request: EditRequest) -> EditRequest:
    """The request with ids and subjects as text, the way a store keeps them."""
    inserted = request.insertion
    if inserted is not None:
        if inserted.ids is None:
            raise InvalidParameter("a store does not number records by itself; give insert(ids=[...])")
        owners = None if inserted.subjects is None else tuple(map(str, inserted.subjects))
        inserted = Insertion(tuple(map(str, inserted.ids)), inserted.rows, inserted.labels, owners)
    return replace(
        request,
        deletions=tuple(map(str, request.deletions)),
        subjects=tuple(map(str, request.subjects)),
        replacements={str(name): pair for name, pair in request.replacements.items()},
        insertion=inserted,
    )


def with_slots(records: Records, slots: int) -> Records:
    """The same table with free slots at the end, in memory."""
    free = slots - records.slots
    if not free:
        return records
    check_size(slots, records.features.shape[1])
    owners = records.subjects_by_slot
    rows = np.concatenate([records.features, np.zeros((free, records.features.shape[1]), np.float32)])
    labels = np.concatenate([records.labels, np.zeros(free)])
    empty = [None] * free
    return Records.from_slots(rows, labels, [*records.ids_by_slot, *empty], owners and [*owners, *empty])


def _name(disk: Disk, layout: Layout, changed: Named) -> None:
    """Give slots their names and owners, None for a free slot, in a new database that takes the place of the old one.

    An edit in place would leave copies of entries behind wherever SQLite has ever moved them: on pages of the file, in its
    journal, and beyond the end of a file that it has shortened. The new file holds live entries and nothing else has ever
    been in it; the old one is overwritten as a whole.
    """
    edited = {slot: (name, owner) for slot, name, owner in changed}
    named = [(slot, name, owner) for slot, (name, owner) in sorted(edited.items()) if name is not None]
    new = layout.ids.with_name(layout.ids.name + TEMPORARY)
    disk.erase(new)
    disk.create(new, in_memory(layout.ids, _TABLE, _INSERT, chain(_others(layout.ids, edited), named)))
    disk.exchange(layout.ids)


def _others(path: Path, edited: Container[int]) -> Iterator[tuple[int, str, str | None]]:
    """The entries of slots that are not edited; none where there is no table yet."""
    if path.exists():
        with connect(path) as connection:
            for entry in connection.execute("SELECT slot, id, subject FROM names ORDER BY slot"):
                if entry[0] not in edited:
                    yield entry


_TABLE = "CREATE TABLE names (slot INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, subject TEXT)"
_INSERT = "INSERT INTO names VALUES (?, ?, ?)"

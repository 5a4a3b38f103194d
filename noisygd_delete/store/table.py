"""The records on disk: written once, edited in place slot by slot, read back without copying rows or names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..engine import CurrentRecords, rows_here
from ..errors import InvalidParameter, StoreCorrupt
from ..methods.plan import Plan
from ..records import EditRequest, Id, Insertion, Labels, Names, Records, Rows, SlotEdits, check_size
from . import cells, names, tie
from .database import connect
from .disk import Disk
from .layout import LABEL, ROW, Layout

if TYPE_CHECKING:
    from ..features.schema import Encoded

_LABEL_BYTES = np.dtype(LABEL).itemsize
_ROW_BYTES = np.dtype(ROW).itemsize
_BLOCK = 1 << 22  # numbers written at a time
_PART = 2048  # slots looked at at a time


def write(disk: Disk, layout: Layout, records: Records) -> None:
    """A new table on disk."""
    disk.make_folder(layout.records)
    disk.create(layout.features, _pieces(records.features, ROW))
    disk.create(layout.labels, _pieces(records.labels, LABEL))
    for path, content in names.written(layout, records.names, records.owners):
        disk.create(path, content)
    disk.sync_folder(layout.records)


def _pieces(values: np.ndarray, kind: str) -> Iterator[bytes]:
    rows = max(1, _BLOCK // max(1, values[:1].size))
    for first in range(0, len(values), rows):
        yield np.ascontiguousarray(values[first : first + rows], dtype=kind).tobytes()


def load(layout: Layout, plan: Plan, *, with_subjects: bool) -> Records:
    """The table, mapped from its files: rows and names are read as they are needed, and an edit of the files is seen.

    Raises:
        StoreCorrupt: the files are not those of `plan.records` slots of `plan.features` values.
    """
    return mapped(layout, plan.records, plan.features, with_subjects=with_subjects)


def mapped(layout: Layout, slots: int, width: int, *, with_subjects: bool) -> Records:
    """The same of a table whose plan is still to be made."""
    for path, size in sizes(layout, slots, width, with_subjects=with_subjects).items():
        if path.is_symlink() or not path.is_file() or path.stat().st_size not in (size, size + tie.SIZE):
            raise StoreCorrupt(f"{path}: missing, a link, or not {size} bytes long; restore the store from a backup")
    rows = np.memmap(layout.features, dtype=ROW, mode="r", shape=(slots, width))
    labels = np.asarray(np.memmap(layout.labels, dtype=LABEL, mode="r", shape=(slots,)))
    if not layout.ids.exists():
        return Records.from_slots(rows, labels, *_from_database(layout, slots, with_subjects=with_subjects))
    ids = names.load(layout, names.IDS, slots)
    subjects = names.load(layout, names.SUBJECTS, slots) if with_subjects else None
    if subjects is not None and (subjects.held != ids.held).any():
        raise StoreCorrupt(
            f"{layout.subjects}: an entry does not belong to this table; restore the store from a backup"
        )
    return Records.from_slots(rows, labels, ids, subjects)


def has_long_names(records: Records) -> bool:
    """Whether some names lie beyond the cells, hence in memory."""
    return bool(records.names.others or (records.owners is not None and records.owners.others))


def _from_database(layout: Layout, slots: int, *, with_subjects: bool) -> tuple[Names, Names | None]:
    """The names of a store that an earlier version wrote, where they are a database."""
    with connect(layout.ids_database) as connection:
        named = connection.execute("SELECT slot, id, subject FROM names").fetchall()
    ids: list[Id | None] = [None] * slots
    subjects: list[Id | None] = [None] * slots
    for slot, name, subject in named:
        if not 0 <= slot < slots or not isinstance(name, str) or isinstance(subject, str) != with_subjects:
            raise StoreCorrupt(
                f"{layout.ids_database}: an entry does not belong to this table; restore the store from a backup"
            )
        ids[slot], subjects[slot] = name, subject
    return Names.of(ids), Names.of(subjects) if with_subjects else None


def adopted(layout: Layout) -> Iterator[tuple[Path, Iterable[bytes]]]:
    """The files of names that take the place of an earlier version's database, the ids last."""
    slots = tie.length_of(layout.labels) // _LABEL_BYTES
    with connect(layout.ids_database) as connection:
        owned = connection.execute("SELECT COUNT(subject) > 0 FROM names").fetchone()[0]
    yield from names.written(layout, *_from_database(layout, slots, with_subjects=bool(owned)))


def sizes(layout: Layout, slots: int, width: int, *, with_subjects: bool) -> dict[Path, int]:
    """How long the files must be that have one piece per slot."""
    expected = {layout.features: slots * width * _ROW_BYTES, layout.labels: slots * _LABEL_BYTES}
    if layout.ids.exists() or not layout.ids_database.exists():
        expected |= {path: cells.size(path, slots) for path in (layout.ids, layout.subjects)[: 1 + with_subjects]}
    return expected


def apply(disk: Disk, layout: Layout, edits: SlotEdits, stamp: str) -> None:
    """Overwrite the edited slots. Doing it twice is doing it once, so a half-done edit is simply done again."""
    rows = np.ascontiguousarray(edits.rows, dtype=ROW)
    labels = np.ascontiguousarray(edits.labels, dtype=LABEL)
    slots, end = [int(slot) for slot in edits.slots], tie.renewed(layout, stamp)
    pieces = [(slot * row.nbytes, row.tobytes()) for slot, row in zip(slots, rows, strict=True)]
    disk.overwrite(layout.features, [*pieces, *end.at_end(layout.features)])
    pieces = [(slot * _LABEL_BYTES, label.tobytes()) for slot, label in zip(slots, labels, strict=True)]
    disk.overwrite(layout.labels, [*pieces, *end.at_end(layout.labels)])
    if layout.subjects.exists():
        names.apply(disk, layout, names.SUBJECTS, dict(zip(slots, edits.subjects, strict=True)), end)
    names.apply(disk, layout, names.IDS, dict(zip(slots, edits.ids, strict=True)), end)


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


def with_slots(held: CurrentRecords, slots: int) -> CurrentRecords:
    """The same table with free slots at the end, in memory."""
    free = slots - held.slots
    if not free:
        return held
    records = rows_here(held)
    check_size(slots, records.width)
    owners = records.owners
    rows = np.concatenate([records.features, np.zeros((free, records.width), np.float32)])
    labels = np.concatenate([records.labels, np.zeros(free)])
    return Records.from_slots(rows, labels, records.names.extended(free), owners and owners.extended(free))


def rows_in_table(records: Records, encoded: Encoded) -> int:
    """How many of the rows are in the training table: by id, or where the file has no ids by being equal to a row there."""
    if encoded.ids is not None:
        return len(set(encoded.ids) & set(records.ids))
    return equal_rows(parts(records), encoded)


def parts(records: Records) -> Iterator[tuple[Rows, Labels]]:
    """The records that there are, some at a time."""
    used = records.occupied
    for start in range(0, records.slots, _PART):
        here = slice(start, start + _PART)
        yield records.features[here][used[here]], records.labels[here][used[here]]


def equal_rows(held: Iterable[tuple[Rows, Labels]], encoded: Encoded) -> int:
    """How many of these rows are equal to one that is held."""
    wanted: dict[bytes, int] = {}
    for row, label in zip(encoded.rows, encoded.labels, strict=True):
        key = row.tobytes() + np.float64(label).tobytes()
        wanted[key] = wanted.get(key, 0) + 1
    found = set()
    for rows, labels in held:
        for row, label in zip(rows, labels, strict=True):
            key = row.tobytes() + np.float64(label).tobytes()
            if key in wanted:
                found.add(key)
    return sum(wanted[key] for key in found)

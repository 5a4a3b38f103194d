"""Write the table of a new store while its file is read, with only one block of rows, ids and labels in memory.

The result equals that of `training_table.write_table` for the same rows in memory, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InvalidRecords
from ..features.schema import Encoded
from ..methods.plan import Plan
from ..records import CodedRows, Id, Labels, Names, Records, Rows, check_slots
from ..records.names import WORD, settle_names, widen_cells
from ..records.records import check_name
from ..records.values import check_column, check_matrix
from . import names, training_table
from .disk import Disk
from .file_footer import HEAD, head_of
from .layout import LABEL, ROW, TEMPORARY, Layout
from .tombstones import Tombstones

if TYPE_CHECKING:
    from ..features.schema import RecordFile
    from ..records.values import Codec

_BLOCK = 1 << 16  # names copied at a time
PlanFor = Callable[[int], Plan]


def fill_table(
    disk: Disk, layout: Layout, reading: RecordFile, plan_for: PlanFor, tombstones: Tombstones | None = None
) -> tuple[Plan, Records]:
    """Write the rows of a file as a new table; return the plan for their number, and the records.

    The plan is made once the rows are counted; free slots are added up to its number of records.

    Raises:
        InvalidSchema, InvalidRecords, InvalidRequest: If the rows cannot be used for training or an id was erased
            before; what was written is left on disk.
    """
    codec = reading.schema.codec
    new = _NewTable(disk, layout, codec, with_subjects=reading.schema.subject_column is not None)
    reading.read(new.add, new.ids, coded=True)
    if tombstones is not None and not reading.numbered:
        tombstones.refuse(new.ids())
    plan = plan_for(reading.rows)
    check_slots(plan.problem.records, reading.rows)
    check_disk(layout.root, plan.problem.records - reading.rows, new.row_bytes)
    new.finish(plan.problem.records)
    with_subjects = new.subjects is not None
    return plan, training_table.load_table(
        layout, plan.problem.records, new.width, with_subjects=with_subjects, codec=codec
    )


def check_disk(folder: Path, slots: int, row_bytes: int) -> None:
    """Raise if the disk has no room for the slots.

    Without the check, sparse files would be extended, and fail once rows arrive.

    Args:
        folder: The folder of the store.
        slots: The number of slots that are not written yet.
        row_bytes: The bytes of a row.

    Raises:
        InvalidRecords: If the slots need more than the free space.
    """
    needed = slots * (row_bytes + np.dtype(LABEL).itemsize + WORD.itemsize)
    from shutil import disk_usage  # slow to load

    free = disk_usage(next(place for place in (folder, *folder.parents) if place.exists())).free
    if needed > free:
        raise InvalidRecords(
            f"{slots} more slots of {row_bytes} bytes a row take about {needed / 2**30:.3g} GiB and the disk of {folder} has {free / 2**30:.3g} GiB "
            "free; give fewer slots or features, or another disk"
        )


class _NewTable:
    def __init__(self, disk: Disk, layout: Layout, codec: Codec | None, *, with_subjects: bool) -> None:
        self.disk, self.layout, self.codec = disk, layout, codec
        disk.make_folder(layout.records)
        disk.create(self._rows)
        disk.create(layout.labels)
        self.names = _NewNames(disk, layout.ids)
        self.subjects = _NewNames(disk, layout.subjects) if with_subjects else None

    @property
    def _rows(self) -> Path:
        return training_table.row_file(self.layout, 0, self.codec)[0]

    @property
    def row_bytes(self) -> int:
        return training_table.row_file(self.layout, self.width, self.codec)[1]

    def add(self, block: Encoded) -> None:
        rows, labels = check_block(block)
        self.width = rows.shape[1]
        stored = rows.codes if isinstance(rows, CodedRows) else np.ascontiguousarray(rows, ROW)
        self.disk.append(self._rows, stored.tobytes())
        self.disk.append(self.layout.labels, np.ascontiguousarray(labels, LABEL).tobytes())
        for kept, given in ((self.names, block.ids), (self.subjects, block.subjects)):
            if kept is not None and given is not None:
                kept.add(given)

    def ids(self) -> Names:
        """Return the ids of all rows so far, mapped from their file."""
        return self.names.mapped()

    def finish(self, slots: int) -> None:
        """Append the free slots, and make the table durable."""
        for path, size in (
            (self._rows, self.row_bytes),
            (self.layout.labels, np.dtype(LABEL).itemsize),
        ):
            self.disk.extend(path, slots * size)
        long: list[bytes] = []
        for which, kept in ((names.SUBJECTS, self.subjects), (names.IDS, self.names)):
            if kept is not None:
                long += names.pieces(which, kept.others)
                self.disk.extend(kept.path, HEAD + slots * kept.words * WORD.itemsize)
        self.disk.create(self.layout.long, long)
        self.disk.sync_folder(self.layout.records)


class _NewNames:
    """A growing file of names.

    Its cells are as wide as the widest block so far requires; longer names are kept in memory.
    """

    def __init__(self, disk: Disk, path: Path) -> None:
        self.disk, self.path = disk, path
        self.words = self.slots = 0
        self.others: dict[int, Id] = {}

    def add(self, given: Names) -> None:
        given = given if given.texts else Names.texts_of(given)
        if not self.words:
            self.words = given.cells.shape[1]
            self.disk.create(self.path, head_of(self.words))
        elif self.words < given.cells.shape[1]:
            self._widen(given.cells.shape[1])
        cells = np.zeros((len(given), self.words), WORD)
        widen_cells(given.cells, cells, texts=True)
        others = settle_names(cells, given.others, texts=True)
        self.others |= {self.slots + slot: name for slot, name in others.items()}
        self.disk.append(self.path, cells.tobytes())
        self.slots += len(given)

    def mapped(self) -> Names:
        if not self.slots:
            return Names.texts_of([])
        shape = (self.slots, self.words)
        return Names(np.memmap(self.path, WORD, mode="r", offset=HEAD, shape=shape), texts=True, others=self.others)

    def _widen(self, words: int) -> None:
        """Rewrite the file with wider cells, for a block of longer names."""
        temporary = self.path.with_name(self.path.name + TEMPORARY)
        self.disk.create(temporary, head_of(words))
        held = self.mapped()
        for first in range(0, self.slots, _BLOCK):
            block = held.cells[first : first + _BLOCK]
            cells = np.zeros((len(block), words), WORD)
            widen_cells(block, cells, texts=True)
            inside = range(first, first + len(block))
            others = {slot - first: name for slot, name in self.others.items() if slot in inside}
            still = settle_names(cells, others, texts=True)
            for slot in others.keys() - still.keys():
                del self.others[first + slot]
            self.disk.append(temporary, cells.tobytes())
        self.disk.erase(self.path)
        self.disk.reached("rename", self.path)
        self.disk.rename(temporary, self.path)
        self.words = words


def check_block(block: Encoded) -> tuple[Rows | CodedRows, Labels]:
    """Return the rows and labels of a block as a table stores them.

    Raises:
        InvalidRecords: If they are not finite numbers, or a name cannot be stored in a file.
    """
    for what, given in (("ids", block.ids), ("subjects", block.subjects)):
        if given is None:
            continue
        if len(given) != len(block.rows):  # names would be assigned to the wrong rows
            raise InvalidRecords(f"{len(given)} {what} for {len(block.rows)} rows")
        for name in given.others.values():
            check_name(what, name, InvalidRecords)
    labels = check_column("labels", block.labels, len(block.rows), InvalidRecords)
    if isinstance(block.rows, CodedRows):
        block.rows.codec.check(block.rows.codes)
        return block.rows, labels
    return check_matrix("features", block.rows, InvalidRecords), labels

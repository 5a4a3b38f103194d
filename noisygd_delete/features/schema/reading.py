"""A file of records as rows, a block at a time: whoever takes them decides what stays in memory."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidSchema, UnreadableRows
from ...records import Id, Names
from .encoded import Encoded
from .files import BLOCK_ROWS, Table, read_blocks
from .values import EMPTY, Mask, find_empty

if TYPE_CHECKING:
    from .schema import Schema

_LINES = 10  # named in one sentence
_CELLS = 1 << 24  # of one block, as numbers
_Lines = NDArray[np.int64]


class HeldOut:
    """Rows of a file to measure on, that are learned from by nobody; in memory alone.

    Whose rows they are a coin tosses, made of the person (else the record) and a key that nobody keeps: one person's coin says nothing of
    another's, all rows of a person fall alike, and a second reading finds the same ones.

    Args:
        share: of the records, in [0, 1).
        never: persons (else records) that are not held out whatever their coin.
    """

    def __init__(self, share: float, never: Iterable[str] = ()) -> None:
        self._key, self._below, self._never = os.urandom(32), share * 2**64, frozenset(never)
        self._parts: list[Encoded] = []

    def begin(self) -> None:
        """A reading from the first row on."""
        self._parts = []

    def taken_from(self, block: Encoded) -> NDArray[np.bool_]:
        """Keep the block's rows that are held out; which ones stay for learning, as a mask."""
        names = block.ids if block.subjects is None else block.subjects
        assert names is not None
        held = np.array([str(name) not in self._never and self._coin(str(name)) < self._below for name in names], bool)
        self._parts.append(_only(block, held))
        return ~held

    def encoded(self) -> Encoded | None:
        """All of them; None where there is none."""
        parts = [part for part in self._parts if len(part.rows)]
        if not parts:
            return None
        rows, labels = (np.concatenate([getattr(part, name) for part in parts]) for name in ("rows", "labels"))
        targets = (
            None
            if parts[0].targets is None
            else np.concatenate([part.targets for part in parts if part.targets is not None])
        )
        return Encoded(rows, labels, None, None, targets=targets)

    def _coin(self, name: str) -> int:
        return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8, key=self._key).digest(), "big")


class RecordFile:
    """A CSV or Parquet file as a schema has it. Of each subject the first `rows_per_subject` rows come, in the order of the file.

    Args:
        numbered: where no column names the records their ids are 1, 2, …, in the order of the file.
        held_out: takes some rows for itself, which then do not come.
        readable: whether rows that cannot be read are left out and told of, in place of an error.
        labelled: whether rows without a label are left out and counted, in place of an error.

    After `read`, of the whole file: rows, clipped and unknown (cells per column), dropped (rows that their subject had too many of),
    unlabelled.
    """

    def __init__(
        self,
        schema: Schema,
        path: str | Path,
        delimiter: str | None = None,
        *,
        numbered: bool = False,
        held_out: HeldOut | None = None,
        readable: bool = False,
        labelled: bool = False,
    ) -> None:
        self.readable, self.skipped = readable, list[str]()
        self.labelled, self.unlabelled = labelled, 0
        self.schema, self.path, self.delimiter, self.held_out = schema, path, delimiter, held_out
        self.numbered = numbered and schema.id_column is None
        self.rows = self.dropped = 0
        self.clipped, self.unknown = Counter[str](), Counter[str]()

    def read(self, take: Callable[[Encoded], None], taken: Callable[[], Names | None]) -> None:
        """Give every block to `take`; `taken` tells the ids of all rows that it was given.

        Raises:
            InvalidSchema: a cell does not fit, or a record has the id of an earlier one: whichever comes first in the file.
        """
        try:
            for block in self.blocks():
                take(block)
        except InvalidSchema:
            self._check_ids(taken())
            raise
        self._check_ids(taken())

    def blocks(self) -> Iterator[Encoded]:
        """The rows from the first one on, each time that they are asked for; ids are not compared."""
        for block, _ in self._blocks():
            yield block

    def _blocks(self) -> Iterator[tuple[Encoded, _Lines]]:
        self.rows = self.dropped = self.unlabelled = 0
        self.clipped, self.unknown, self.skipped = Counter(), Counter(), []
        schema, of_subject, seen = self.schema, Counter[Id | None](), 0
        readable, unread = 0, list[UnreadableRows]()
        if self.held_out is not None:
            self.held_out.begin()
        size = max(1, min(BLOCK_ROWS, _CELLS // max(1, schema.features)))
        for whole in read_blocks(self.path, self.delimiter, rows=size, columns=schema.reads()):
            table, places = self._with_label(whole)
            numbers, seen = [seen + 1 + place for place in places], seen + len(whole)
            if not len(table):
                continue
            block, read, faults = self._encoded(table)
            self.skipped += describe_faults(faults)
            readable, unread = readable + len(read), unread + faults
            lines = np.asarray(table.lines)[read]
            if self.numbered:
                block = replace(block, ids=Names.of([str(numbers[row]) for row in read.tolist()]))
            self.clipped.update(block.clipped)
            self.unknown.update(block.unknown)
            if schema.rows_per_subject is not None and block.subjects is not None:
                kept = _first_of_each(block.subjects, of_subject, schema.rows_per_subject)
                self.dropped += int(np.count_nonzero(~kept))
                block, lines = _only(block, kept), lines[kept]
            if self.held_out is not None:
                stays = self.held_out.taken_from(block)
                block, lines = _only(block, stays), lines[stays]
            self.rows += len(block.rows)
            yield block, lines
        if unread and not readable:
            raise unread[0]
        if self.unlabelled == seen:
            raise InvalidSchema(f"{self.path}: no row has a label; name another column with --label, in the schema too")

    def _with_label(self, table: Table) -> tuple[Table, Sequence[int]]:
        """The rows that are to have a label and have one, and their places."""
        if not self.labelled:
            return table, range(len(table))
        empty = without_label(table.column(self.schema.label_column, "the label"), self.schema.classes or ())
        if not empty.any():
            return table, range(len(table))
        self.unlabelled += int(empty.sum())
        kept = np.flatnonzero(~empty).tolist()
        return table.part(kept), kept

    def _encoded(self, table: Table) -> tuple[Encoded, NDArray[np.intp], list[UnreadableRows]]:
        if not self.readable:
            return self.schema.encode(table), np.arange(len(table)), []
        block, kept, faults = self.schema.encode_readable(table)
        return block, np.array(kept, np.intp), faults

    def _check_ids(self, names: Names | None) -> None:
        found = None if names is None else names.first_repeat
        if found is not None:
            first, again = self._lines_of(found)
            raise InvalidSchema(
                f"{self.path}, line {again}, column {self.schema.id_column!r}: the same id as line {first}; "
                "every record needs its own id (use the subject column for the person)"
            )

    def _lines_of(self, rows: tuple[int, int]) -> list[int]:
        """Where the file has these rows, in order: it is read again, because nobody keeps a line for every row."""
        found: list[int] = []
        before = 0
        for _, lines in self._blocks():
            found += [int(lines[row - before]) for row in rows if before <= row < before + len(lines)]
            before += len(lines)
            if len(found) == len(rows):
                break
        return found


def without_label(texts: Sequence[str], classes: Sequence[str] = ()) -> Mask:
    """(rows,) whether a cell is empty or says that there is no value, and is not one of the classes."""
    if "" in classes:
        return np.zeros(len(texts), bool)
    return find_empty(texts, [mark for mark in EMPTY if mark not in classes])


def describe_faults(faults: Iterable[UnreadableRows], what: str = "left out") -> list[str]:
    """A sentence for each column with cells that cannot be read, and what becomes of their rows."""
    return [
        f"{len(fault.lines)} row{'s' * (len(fault.lines) > 1)} {what} (line {', '.join(map(str, fault.lines[:_LINES]))}"
        f"{', …' * (len(fault.lines) > _LINES)}): column {fault.column!r} {fault.problem}"
        for fault in faults
    ]


def _first_of_each(subjects: Names, of_subject: Counter[Id | None], most: int) -> NDArray[np.bool_]:
    """Which rows stay, as the order of the file has it, and no value of any other cell."""
    kept = np.zeros(len(subjects), bool)
    for row, subject in enumerate(subjects):
        of_subject[subject] += 1
        kept[row] = of_subject[subject] <= most
    return kept


def _only(block: Encoded, kept: NDArray[np.bool_]) -> Encoded:
    if kept.all():
        return block

    def of(names: Names | None) -> Names | None:
        return None if names is None else Names.of([name for name, stays in zip(names, kept, strict=True) if stays])

    rows, labels = block.rows[kept], block.labels[kept]
    targets = None if block.targets is None else block.targets[kept]
    return replace(block, rows=rows, labels=labels, ids=of(block.ids), subjects=of(block.subjects), targets=targets)

"""A file of records as rows, a block at a time: whoever takes them decides what stays in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidSchema
from ..records import Id, Names
from .encoded import Encoded
from .files import BLOCK_ROWS, read_blocks

if TYPE_CHECKING:
    from .schema import Schema

_CELLS = 1 << 24  # of one block, as numbers
_Lines = Sequence[int] | NDArray[np.int64]


class RecordFile:
    """A CSV or Parquet file as a schema has it. Of each subject the first `rows_per_subject` rows come, in the order of the file.

    Args:
        numbered: where no column names the records their ids are 1, 2, …, in the order of the file.

    After `read`, of the whole file: rows, clipped and unknown (cells per column), dropped (rows that their subject had too many of).
    """

    def __init__(
        self, schema: Schema, path: str | Path, delimiter: str | None = None, *, numbered: bool = False
    ) -> None:
        self.schema, self.path, self.delimiter = schema, path, delimiter
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
        self.rows = self.dropped = 0
        self.clipped, self.unknown = Counter(), Counter()
        schema, of_subject = self.schema, Counter[Id | None]()
        size = max(1, min(BLOCK_ROWS, _CELLS // max(1, schema.features)))
        for table in read_blocks(self.path, self.delimiter, rows=size):
            block, lines = schema.encode(table), table.lines
            self.clipped.update(block.clipped)
            self.unknown.update(block.unknown)
            if schema.rows_per_subject is not None and block.subjects is not None:
                kept = _first_of_each(block.subjects, of_subject, schema.rows_per_subject)
                self.dropped += int(np.count_nonzero(~kept))
                block, lines = _only(block, kept), np.asarray(lines)[kept]
            if self.numbered:
                numbers = range(self.rows + 1, self.rows + 1 + len(block.rows))
                block = replace(block, ids=Names.of([str(number) for number in numbers]))
            self.rows += len(block.rows)
            yield block, lines

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
    return replace(block, rows=rows, labels=labels, ids=of(block.ids), subjects=of(block.subjects))

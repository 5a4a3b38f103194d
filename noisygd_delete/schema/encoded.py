"""Rows that a schema made of a table, and how the blocks of a file become one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidSchema
from ..records import Id, Names
from .text import Floats

_SLAB = 1 << 26  # bytes: so large a piece of memory goes back to the system when it is let go of


@dataclass(frozen=True)
class Encoded:
    """Rows ready for `Records`. `clipped` and `unknown` count cells per column, `dropped` rows that their subject had too many of; for the
    caller, they are not stored.

    rows      float32 (n, d), float64 norm ≤ R
    labels    float64: −1/+1, 0..k−1, or a target in [−1, 1]
    ids, subjects   text as in the file; None where the schema names no such column
    """

    rows: NDArray[np.float32]
    labels: Floats
    ids: Names | None
    subjects: Names | None
    clipped: dict[str, int] = field(default_factory=dict)
    unknown: dict[str, int] = field(default_factory=dict)
    dropped: int = 0


class Gathered:
    """Blocks one after the other. Rows lie in slabs that are let go of one by one as the whole is made."""

    def __init__(self, features: int, rows_per_subject: int | None = None) -> None:
        self._kept, self._of_subject = rows_per_subject, Counter[Id]()
        self._dropped = 0
        self._slab = max(1, _SLAB // max(1, 4 * features))
        self._features = features
        self._slabs: list[NDArray[np.float32]] = []
        self._rows = 0
        self._rest: list[Encoded] = []  # without rows
        self._lines: list[NDArray[np.int64]] = []

    def add(self, block: Encoded, lines: Sequence[int] | NDArray[np.int64]) -> None:
        """One more block, and the lines of the file that its rows are on."""
        lines = np.asarray(lines, np.int64)
        if self._kept is not None:
            block, lines = self._first_of_each(block, lines)
        left = block.rows
        while len(left):
            room = len(self._slabs) * self._slab - self._rows
            if not room:
                self._slabs.append(np.empty((self._slab, self._features), np.float32))
                room = self._slab
            here = self._slab - room
            self._slabs[-1][here : here + len(left[:room])] = left[:room]
            self._rows += len(left[:room])
            left = left[room:]
        self._rest.append(replace(block, rows=block.rows[:0].copy()))
        self._lines.append(lines)

    def _first_of_each(self, block: Encoded, lines: NDArray[np.int64]) -> tuple[Encoded, NDArray[np.int64]]:
        """The block without rows that their subject has too many of: the order of the file decides, and no value of any cell."""
        assert block.subjects is not None
        assert self._kept is not None
        kept = np.zeros(len(lines), bool)
        for row, subject in enumerate(block.subjects):
            self._of_subject[subject] += 1
            kept[row] = self._of_subject[subject] <= self._kept
        if kept.all():
            return block, lines
        self._dropped += int(np.count_nonzero(~kept))

        def of(names: Names | None) -> Names | None:
            return None if names is None else Names.of([name for name, stays in zip(names, kept, strict=True) if stays])

        rows, labels, ids, subjects = block.rows[kept], block.labels[kept], of(block.ids), of(block.subjects)
        return replace(block, rows=rows, labels=labels, ids=ids, subjects=subjects), lines[kept]

    def check_ids(self, path: str | Path, column: str | None) -> None:
        """Raise `InvalidSchema` where a record has the id of an earlier one."""
        parts = [part.ids for part in self._rest if part.ids is not None]
        if not parts or Names.joined(parts).repeated is None:
            return
        seen: dict[Id | None, int] = {}
        lines = (line for block in self._lines for line in block.tolist())
        for line, name in zip(lines, (name for part in parts for name in part), strict=True):
            if seen.setdefault(name, line) != line:
                raise InvalidSchema(
                    f"{path}, line {line}, column {column!r}: the same id as line {seen[name]}; "
                    "every record needs its own id (use the subject column for the person)"
                )

    def encoded(self) -> Encoded:
        """The whole; to be asked for once."""
        rows, at = np.empty((self._rows, self._features), np.float32), 0
        while self._slabs:
            slab = self._slabs.pop(0)[: self._rows - at]
            rows[at : at + len(slab)] = slab
            at += len(slab)
        clipped, unknown = Counter[str](), Counter[str]()
        for part in self._rest:
            clipped.update(part.clipped)
            unknown.update(part.unknown)
        return Encoded(
            rows=rows,
            labels=np.concatenate([part.labels for part in self._rest]),
            ids=_joined([part.ids for part in self._rest]),
            subjects=_joined([part.subjects for part in self._rest]),
            clipped=dict(clipped),
            unknown=dict(unknown),
            dropped=self._dropped,
        )


def _joined(parts: Sequence[Names | None]) -> Names | None:
    given = [part for part in parts if part is not None]
    return Names.joined(given) if given else None

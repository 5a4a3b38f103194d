"""Rows that a schema made of a table, and the concatenation of a file's blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...records import CodedRows, Names
from .cells import Floats

_SLAB = 1 << 26  # bytes: large enough that freed memory returns to the system


@dataclass(frozen=True)
class Encoded:
    """Rows ready for `Records`. The counts are for the caller and are not stored.

    Attributes:
        rows: float32 (n, d), float64 norm ≤ R; `CodedRows` if these were requested (see `Schema.encode`).
        labels: float64: −1/+1, 0..k−1, or a target in [−1, 1].
        ids: Text as in the file; None if the schema names no id column.
        subjects: Text as in the file; None if the schema names no subject column.
        clipped: Clipped cells per column.
        unknown: Unknown cells per column.
        dropped: Rows beyond their subject's `rows_per_subject`.
        targets: float64 (n,) of a target as in the file, also beyond its bounds, for evaluation.
        skipped: Where and why rows were left out because they cannot be read, without any cell's text.
    """

    rows: Any
    labels: Floats
    ids: Names | None
    subjects: Names | None
    clipped: dict[str, int] = field(default_factory=dict)
    unknown: dict[str, int] = field(default_factory=dict)
    dropped: int = 0
    targets: Floats | None = None
    skipped: tuple[str, ...] = ()


class GatheredRows:
    """Concatenation of blocks. Rows are stored in slabs that are freed one by one while the result is assembled."""

    def __init__(self, features: int) -> None:
        self._slab = max(1, _SLAB // max(1, 4 * features))
        self._features = features
        self._slabs: list[NDArray[np.float32]] = []
        self._rows, self._coded = 0, list[CodedRows]()
        self._rest: list[Encoded] = []  # without rows

    def add(self, block: Encoded) -> None:
        """Append a block of rows, copied unless they are `CodedRows`; all blocks have codes or none has."""
        if isinstance(block.rows, CodedRows):
            self._coded.append(block.rows)
            self._rest.append(replace(block, rows=block.rows[:0]))
            return
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

    @property
    def ids(self) -> Names | None:
        """Ids of all rows so far, in order; None if the blocks have none."""
        return _join_names([part.ids for part in self._rest])

    def encoded(self) -> Encoded:
        """Return the concatenated rows, counts of cells summed by column; `dropped` and `skipped` are not carried over.

        May be called only once, as memory is freed on the way, and not without a block.
        """
        targets = [part.targets for part in self._rest if part.targets is not None]
        clipped, unknown = Counter[str](), Counter[str]()
        for part in self._rest:
            clipped.update(part.clipped)
            unknown.update(part.unknown)
        return Encoded(
            rows=self._joined(),
            labels=np.concatenate([part.labels for part in self._rest]),
            ids=_join_names([part.ids for part in self._rest]),
            subjects=_join_names([part.subjects for part in self._rest]),
            targets=np.concatenate(targets) if targets else None,
            clipped=dict(clipped),
            unknown=dict(unknown),
        )

    def _joined(self) -> NDArray[np.float32] | CodedRows:
        if self._coded:
            return CodedRows(np.concatenate([part.codes for part in self._coded]), self._coded[0].codec)
        rows, at = np.empty((self._rows, self._features), np.float32), 0
        while self._slabs:
            slab = self._slabs.pop(0)[: self._rows - at]
            rows[at : at + len(slab)] = slab
            at += len(slab)
        return rows


def _join_names(parts: Sequence[Names | None]) -> Names | None:
    given = [part for part in parts if part is not None]
    return Names.concatenate(given) if given else None

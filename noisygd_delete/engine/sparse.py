"""Sums and noisy steps over rows of which most values are 0 (`records.sparse`): products run over the others alone.

What is declared of dense rows holds here as it stands. A score adds at most as many products as a row has features, the products left
out being 0 and exact; a coordinate of a gradient sum adds at most the terms of its block or chunk, starting at 0; neither bound asks
in which order. And a score depends on its own row alone, a block's sum on that block alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bounds.arithmetic import BLOCK, CHUNK, DTYPES, SPAN
from ..errors import choice
from ..losses.base import Loss
from ..records import Records, SparseRows
from .nested import SAMPLED, NestedPart, nested
from .summation import in_a_tree
from .sums import CurrentRecords
from .sums_held import HeldSums
from .windows import windows

Weights = NDArray[np.float64]

_WIDE, _MOSTLY = 256, 8  # features from which rows are looked at; the part of them that may not be 0
_LOOKED_AT = 256  # rows
_MOST = 1 << 27  # values held: a GiB
_TASK = 1 << 20  # values worth handing to a thread
_KEPT = 1 << 24  # values of a table whose parts are kept in float64 too: 128 MiB


def read_sparsely(records: Records) -> Records:
    """The table as sparse rows in memory for as long as a run needs them, where its rows are an array that is mostly zeros; else as it is."""
    if records.sparse is not None or records.width < _WIDE:
        return records
    rows, step = records.features, max(1, records.slots // _LOOKED_AT)
    filled = np.count_nonzero(rows[::step]) / max(1, len(rows[::step]))
    if filled > records.width / _MOSTLY or filled * records.slots > _MOST:
        return records
    data, columns, lengths = list[NDArray[Any]](), list[NDArray[Any]](), [np.zeros(1, np.int64)]
    for part in windows(rows, 0, records.slots, CHUNK):
        block = np.ascontiguousarray(rows[part])
        places = np.flatnonzero(block.view(np.uint32).reshape(-1) != 0)  # whole numbers are compared faster
        data.append(block.reshape(-1)[places])
        columns.append((places % records.width).astype(np.int32))
        lengths.append(np.bincount(places // records.width, minlength=len(block)))
    starts = np.concatenate(lengths).cumsum()
    thin = SparseRows(np.concatenate(data), np.concatenate(columns), starts, records.width)
    return Records.from_slots(thin, records.labels, records.names, records.owners, records.next_id)


def numbers_of(records: CurrentRecords) -> int:
    """How many numbers a product with all rows multiplies."""
    thin = records.sparse if isinstance(records, Records) else None
    return records.slots * records.width if thin is None else thin.filled


class BothWays:
    """Some rows, and chunks of them turned: scipy would make that for every product."""

    def __init__(self, rows: Any, chunk: int) -> None:
        self.rows, self._turned = rows, [rows[first : first + chunk].T for first in range(0, rows.shape[0], chunk)]

    def __matmul__(self, other: NDArray[Any]) -> NDArray[Any]:
        return self.rows @ other  # type: ignore[no-any-return]

    def sums(self, slopes: NDArray[Any]) -> list[Weights]:
        """Σ g_i ⊗ x_i of each chunk; slopes (outputs, rows)."""
        found, first = list[Weights](), 0
        for turned in self._turned:
            last = first + turned.shape[1]
            found.append((turned @ slopes[:, first:last].T).T.astype(np.float64, copy=False))
            first = last
        return found


class SparseSums(HeldSums):
    """`HeldSums` over sparse rows, widened a chunk at a time, and once where they are few."""

    _rows: Any  # SparseRows

    def __init__(self, rows: SparseRows, labels: NDArray[np.float64], loss: Loss) -> None:
        self._nested, self._whole = nested(rows), rows
        kept: Any = rows if self._nested is None else self._nested.rows
        super().__init__(kept, labels, loss)
        self._numbers, self._parts = kept.filled, dict[tuple[int, int, str], BothWays]()

    def _tasks(self) -> Iterator[slice]:
        most = SPAN
        while most < self.slots and most * self._numbers < _TASK * self.slots:
            most *= 2
        for start in range(0, self.slots, most):
            yield slice(start, min(start + most, self.slots))

    def _pieces(self, part: slice, dtype: str) -> Iterator[tuple[Any, NDArray[Any]]]:
        labels = self._labels if dtype == "float64" else self._short
        most = part.stop - part.start if self._loss.outputs == 1 else CHUNK
        for start in range(part.start, part.stop, most):
            yield self._part(start, min(start + most, part.stop), dtype), labels[start : start + most]

    def _part(self, start: int, stop: int, dtype: str) -> BothWays:
        """Kept, of a large table in float32 alone: to make one costs as much as many products with it."""
        place = start, stop, dtype
        if (made := self._parts.get(place)) is None:
            made = BothWays(self._rows.part(start, stop, dtype), CHUNK if dtype == "float64" else stop - start)
            if dtype == "float32" or self._numbers <= _KEPT:
                self._parts[place] = made
        return made

    def _of_entries(self, turned: NDArray[Any]) -> NDArray[Any]:
        return turned if self._nested is None else self._nested.spread.T @ turned

    def _of_features(self, sums: list[Weights]) -> list[Weights]:
        if self._nested is None:
            return sums
        outputs = sums[0].shape[0]
        together = self._nested.spread @ np.concatenate(sums).T
        return list(together.T.reshape(-1, outputs, self.width))

    def every(self, step: int, first: int = 0) -> tuple[Any, NDArray[Any]]:
        if self._nested is None or self._loss.outputs > 1:
            return self._whole.part(0, self.slots)[first::step], self._short[first::step]
        rows = self._rows.part(0, self.slots)[first::step]
        return NestedPart(rows, self._nested, self._whole.filled // self.slots), self._short[first::step]

    def strided(self, rows: int) -> tuple[Any, NDArray[Any]]:
        return super().strided(rows if self._nested is None else max(rows, SAMPLED))


class SparseObjective:
    """∇L_D for noisy steps, as `Objective` adds it: blocks in the dtype, spans in float64, a tree."""

    def __init__(self, records: Records, loss: Loss, *, regularization: float, dtype: str = "float32") -> None:
        assert records.sparse is not None
        self._kind, self._rows = np.dtype(choice("dtype", dtype, DTYPES)), records.sparse
        self._labels = records.labels.astype(np.int64 if loss.label_kind == "class" else self._kind)
        self._loss, self._slots, self._regularization = loss, records.slots, regularization

    def gradient(self, weights: Weights) -> Weights:
        """∇L_D(θ), float64 in the shape of the weights (outputs, features)."""
        gradient: Weights = self.gradient_sum(weights) / self._slots + self._regularization * weights
        return gradient

    def gradient_sum(self, weights: Weights) -> Weights:
        """Σ_x ∇ℓ(θ; x), float64 in the shape of the weights."""
        turned = np.ascontiguousarray(weights.T.astype(self._kind))
        spans = (self._span(turned, first) for first in range(0, self._slots, SPAN))
        return in_a_tree(spans, weights.shape)

    def _span(self, turned: NDArray[Any], first: int) -> Weights:
        total = np.zeros(turned.shape[::-1])
        for start in range(first, min(first + SPAN, self._slots), BLOCK):
            stop = min(start + BLOCK, self._slots)
            rows = self._rows.part(start, stop, self._kind.name)
            slopes = self._loss.derivative(rows @ turned, self._labels[start:stop], np)
            total += slopes.T @ rows
        return total

"""Sums in float64 over rows that this process can read: in memory, mapped from a file, or its share of a group's.

Rows are float32 and are widened a cacheful at a time: a table is never copied as a whole. On the way to a solver's answer float32
will do; nothing proven is said of that.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bounds.arithmetic import CHUNK
from ..losses.base import Loss
from .group import ALONE, Group
from .summation import in_a_tree
from .windows import windows

_CACHED = 1 << 17  # numbers of a piece of a chunk in float64, which stays in the processor's cache
_LEAST = 64  # rows of a piece
_FOR_EACH_OUTPUT = 4  # rows of a piece: with fewer, several outputs' products are too small to run at their rate
_HELD = 1 << 22  # numbers of a piece at most, for that
_LABELS = 1 << 20  # of labels alone


class HeldSums:
    """Sums over one table (see `engine.sums.Sums`). Holds views of the rows and no results.

    Args:
        rows: (slots, features) float32, in memory or mapped.
        labels: (slots,).
    """

    def __init__(
        self, rows: NDArray[np.float32], labels: NDArray[np.float64], loss: Loss, group: Group = ALONE
    ) -> None:
        self._rows, self._loss, self._group = rows, loss, group
        self._labels: NDArray[Any] = labels.astype(np.int64) if loss.label_kind == "class" else labels
        self._short = self._labels if loss.label_kind == "class" else labels.astype(np.float32)
        self.slots, self.width = rows.shape
        self._own = group.rows(self.slots, CHUNK)

    def _chunks(self, dtype: str) -> Iterator[Iterator[tuple[NDArray[Any], NDArray[Any]]]]:
        """Chunk by chunk, its rows in this dtype and their labels, a piece at a time."""
        numbers = max(_CACHED, min(_FOR_EACH_OUTPUT * self._loss.outputs * self.width, _HELD))
        most = max(_LEAST, min(CHUNK, numbers // self.width))
        labels = self._labels if dtype == "float64" else self._short
        buffer = np.empty((min(most, self.slots), self.width)) if dtype == "float64" else None

        def pieces(chunk: slice) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
            for start in range(chunk.start, chunk.stop, most):
                rows = self._rows[start : min(start + most, chunk.stop)]
                if buffer is not None:
                    np.copyto(buffer[: len(rows)], rows)
                yield rows if buffer is None else buffer[: len(rows)], labels[start : start + len(rows)]

        for chunk in windows(self._rows, self._own.start, self._own.stop, CHUNK):
            yield pieces(chunk)

    def gradient(self, weights: NDArray[np.float64], dtype: str) -> NDArray[np.float64]:
        """In float32 about three times as fast, and good to some 2⁻²³ nL."""
        return self._group.total(in_a_tree(self._chunk_sums(weights.T.astype(dtype), dtype), weights.shape))

    def _chunk_sums(self, weights: NDArray[Any], dtype: str) -> Iterator[NDArray[np.float64]]:
        """Σ ∇ℓ of each chunk; weights (features, outputs) in this dtype."""
        for chunk in self._chunks(dtype):
            total: NDArray[np.float64] | None = None
            for rows, labels in chunk:
                scores = np.asfortranarray(rows @ weights)  # as objective.py has it
                product = self._loss.derivative(scores, labels, np).T @ rows
                if total is None:
                    total = product.astype(np.float64, copy=False)
                else:
                    total += product
            assert total is not None
            yield total

    def value(self, weights: NDArray[np.float64]) -> float:
        fit = np.zeros(1)
        for chunk in self._chunks("float64"):
            for rows, labels in chunk:
                fit += self._loss.value(np.asfortranarray(rows @ weights.T), labels, np).sum()
        return float(self._group.total(fit)[0])

    def value_at_zero(self) -> float:
        fit = 0.0
        for start in range(0, self.slots, _LABELS):
            labels = self._labels[start : start + _LABELS]
            fit += float(self._loss.value(np.zeros((len(labels), self._loss.outputs)), labels, np).sum())
        return fit

    def strided(self, rows: int) -> tuple[NDArray[np.float32], NDArray[Any]]:
        return self.every(max(1, self.slots // rows))

    def every(self, step: int, first: int = 0) -> tuple[NDArray[np.float32], NDArray[Any]]:
        """Every `step`-th slot from `first` on."""
        return np.ascontiguousarray(self._rows[first::step]), self._short[first::step]

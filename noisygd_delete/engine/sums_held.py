"""Sums in float64 over rows that this process can read: in memory, mapped from a file, or its share of a group's.

Rows are float32 and are widened a cacheful at a time: a table is never copied as a whole. On the way to a solver's answer float32
will do; nothing proven is said of that.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bounds.arithmetic import CHUNK
from ..losses.base import Loss
from .group import ALONE, Group
from .kernel import Kernel, serves
from .summation import in_a_tree
from .threads import side_by_side
from .windows import windows

_CACHED = 1 << 18  # numbers of a piece of a chunk in float64, which stays in the processor's cache
_LEAST = 64  # rows of a piece
_FOR_EACH_OUTPUT = 4  # rows of a piece: with fewer, several outputs' products are too small to run at their rate
_HELD = 1 << 22  # numbers of a piece at most, for that
_TASK = 1 << 20  # numbers worth handing to a thread


class HeldSums:
    """Sums over one table (see `engine.sums.Sums`). Holds views of the rows, and no results but the partial sums of the compiled kernel.

    Args:
        rows: (slots, features) float32, in memory or mapped.
        labels: (slots,).
        readings: how many gradients will be asked for, where that is known: a compiler is not loaded for a few.
    """

    def __init__(
        self,
        rows: NDArray[np.float32],
        labels: NDArray[np.float64],
        loss: Loss,
        group: Group = ALONE,
        readings: int | None = None,
    ) -> None:
        self._rows, self._loss, self._group = rows, loss, group
        self._labels: NDArray[Any] = labels.astype(np.int64) if loss.label_kind == "class" else labels
        self._short = self._labels if loss.label_kind == "class" else labels.astype(np.float32)
        self.slots, self.width = rows.shape
        self._own = group.rows(self.slots, CHUNK)
        self._numbers = self.slots * self.width
        compiled = isinstance(rows, np.ndarray) and serves(loss, rows, readings)
        self._kernel = Kernel(rows, loss, self._own) if compiled else None

    def _tasks(self) -> Iterator[slice]:
        """Whole chunks, so many that a thread is worth waking for them."""
        most = CHUNK
        while most * self.width < _TASK:
            most *= 2
        return windows(self._rows, self._own.start, self._own.stop, most)

    def _pieces(self, part: slice, dtype: str) -> Iterator[tuple[Any, NDArray[Any]]]:
        """Rows in this dtype and their labels, a cacheful at a time (chunks, or an equal part of one); each is gone when the next is asked for."""
        numbers = max(_CACHED, min(_FOR_EACH_OUTPUT * self._loss.outputs * self.width, _HELD))
        most = max(_LEAST, min(CHUNK, numbers // self.width))
        if most == CHUNK:
            most *= max(1, numbers // (CHUNK * self.width))
        labels = self._labels if dtype == "float64" else self._short
        buffer = np.empty((min(most, part.stop - part.start), self.width)) if dtype == "float64" else None
        start = part.start
        while start < part.stop:
            stop = min(start + most, part.stop)
            if most < CHUNK:  # no piece runs over the end of a chunk
                stop = min(stop, start + CHUNK - (start - part.start) % CHUNK)
            rows = self._rows[start:stop]
            if buffer is not None:
                np.copyto(buffer[: len(rows)], rows)
            yield rows if buffer is None else buffer[: len(rows)], labels[start:stop]
            start = stop

    def gradient(self, weights: NDArray[np.float64], dtype: str) -> NDArray[np.float64]:
        """In float32 up to twice as fast, and good to some 2⁻²³ nL."""
        if self._kernel is not None:
            return self._group.total(self._kernel(weights, self._labels if dtype == "float64" else self._short))
        turned = self._of_entries(weights.T.astype(dtype))  # (features, outputs)

        def add(part: slice) -> list[NDArray[np.float64]]:
            sums, begun = list[NDArray[np.float64]](), 0  # rows of the last chunk so far, where more of it is to come
            for rows, labels in self._pieces(part, dtype):
                scores = np.asfortranarray(rows @ turned)  # as objective.py has it
                made = _sums_of_chunks(self._loss.derivative(scores, labels, np).T, rows)
                if begun:
                    sums[-1] += made[0]
                else:
                    sums.extend(made)
                begun = (begun + len(labels)) % CHUNK
            return self._of_features(sums)

        parts = chain.from_iterable(side_by_side(add, self._tasks(), self._numbers))
        return self._group.total(in_a_tree(parts, weights.shape))

    def _of_entries(self, turned: NDArray[Any]) -> NDArray[Any]:
        """What a row's entries are multiplied with, of weights (features, outputs)."""
        return turned

    def _of_features(self, sums: list[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
        """Sums of features, of what was summed of entries."""
        return sums

    def strided(self, rows: int) -> tuple[NDArray[np.float32], NDArray[Any]]:
        return self.every(max(1, self.slots // rows))

    def every(self, step: int, first: int = 0) -> tuple[NDArray[np.float32], NDArray[Any]]:
        """Every `step`-th slot from `first` on."""
        return np.ascontiguousarray(self._rows[first::step]), self._short[first::step]


def _sums_of_chunks(slopes: NDArray[Any], rows: Any) -> list[NDArray[np.float64]]:
    """Σ g_i ⊗ x_i of each chunk of these rows, and of what is left; slopes (outputs, rows)."""
    if not isinstance(rows, np.ndarray):
        return rows.sums(slopes)  # type: ignore[no-any-return]
    if slopes.shape[1] <= CHUNK:
        return [(slopes @ rows).astype(np.float64, copy=False)]
    chunks = slopes.shape[1] // CHUNK
    whole = chunks * CHUNK
    apart = np.ascontiguousarray(slopes[:, :whole]).reshape(-1, chunks, CHUNK).transpose(1, 0, 2)
    sums = list(np.matmul(apart, rows[:whole].reshape(chunks, CHUNK, -1)).astype(np.float64, copy=False))
    return sums + [(slopes[:, whole:] @ rows[whole:]).astype(np.float64, copy=False)] * (whole < len(rows))

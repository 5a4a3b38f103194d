"""The full-batch gradient of the objective, L_D(θ) = (1/n) Σ ℓ(θ; x) + (λ/2)‖θ‖².

Rows stay in float32 where they are, and are read in order. One path per kind of work: the compiled kernel for one model
of one output, matrix products for everything else (several outputs, many chains).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bounds.arithmetic import BLOCK, DTYPES, SPAN
from ..errors import choice
from ..losses.base import Loss
from ..records import Records
from .group import ALONE, Group
from .kernel import Kernel, serves
from .summation import in_a_tree
from .threads import side_by_side
from .windows import windows

_CELLS = 1 << 20  # scores, or numbers of rows, handled at a time: both products read them from cache

Weights = NDArray[np.float64]


class Objective:
    """The objective of one table, loss and λ. Holds views of the table's rows, no copies of rows and no results.

    Weights are (outputs, features) float64, or (chains, outputs, features): many models on one table, side by side.

    Args:
        dtype: of the arithmetic inside a block.
        slots: n, where `records` leaves null slots out; default: the slots of `records`.
        group: the processes that share the rows.
        readings: how many gradients will be asked for, where that is known: a compiler is not loaded for a few.
    """

    def __init__(
        self,
        records: Records,
        loss: Loss,
        *,
        regularization: float,
        dtype: str = "float32",
        slots: int | None = None,
        group: Group = ALONE,
        readings: int | None = None,
    ) -> None:
        self._kind = np.dtype(choice("dtype", dtype, DTYPES))
        self._group, self._own = group, group.rows(records.slots, BLOCK)
        self._rows = records.features
        self._labels = records.labels.astype(np.int64 if loss.label_kind == "class" else self._kind)
        self._loss = loss
        self._slots = records.slots if slots is None else slots
        self._regularization = regularization
        self._kernel = Kernel(self._rows, loss, self._own) if serves(loss, self._rows, readings) else None
        self.shape = (loss.outputs, self._rows.shape[1])

    def gradient_sum(self, weights: Weights) -> Weights:
        """Σ_x ∇ℓ(θ; x), float64 in the shape of the weights."""
        if self._kernel is not None and weights.shape == self.shape:
            return self._group.total(self._kernel(weights, self._labels))
        return self._group.total(self._products(weights))

    def gradient(self, weights: Weights) -> Weights:
        """∇L_D(θ), float64 in the shape of the weights."""
        gradient: Weights = self.gradient_sum(weights) / self._slots + self._regularization * weights
        return gradient

    def _products(self, weights: Weights) -> Weights:
        """The sum by matrix products: one per block, the blocks added in float64."""
        stacked = weights.reshape(-1, self.shape[1]).astype(self._kind)
        parts = side_by_side(lambda part: self._span(stacked, *part), self._parts(len(stacked)), self._rows.size)
        return in_a_tree(parts, stacked.shape).reshape(weights.shape)

    def _parts(self, columns: int) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Rows and labels of this process, so many at a time that they and their scores stay in cache."""
        most, numbers = SPAN, max(columns, self.shape[1])
        while most > BLOCK and most * numbers > _CELLS:
            most //= 2
        for part in windows(self._rows, self._own.start, self._own.stop, most):
            yield self._rows[part].astype(self._kind, copy=False), self._labels[part]

    def _span(self, stacked: NDArray[Any], rows: NDArray[Any], labels: NDArray[Any]) -> Weights:
        outputs, width = self.shape
        scores = rows @ stacked.T
        models, whole = len(stacked) // outputs, len(rows) - len(rows) % BLOCK
        if models == 1:  # column by column: sums over the few outputs of a record run along the many records
            scores, repeated = np.asfortranarray(scores), labels
        else:
            repeated = np.repeat(labels, models)
        slopes = self._loss.derivative(scores.reshape(-1, outputs), repeated, np).reshape(scores.shape)
        blocked = np.ascontiguousarray(slopes[:whole].T).reshape(len(stacked), -1, BLOCK).transpose(1, 0, 2)
        total: Weights = np.matmul(blocked, rows[:whole].reshape(-1, BLOCK, width)).sum(axis=0, dtype=np.float64)
        if whole < len(rows):
            total += slopes[whole:].T @ rows[whole:]
        return total

    def value(self, weights: Weights) -> float:
        """L_D(θ). A function of private data: for solvers and tests, never for a log."""
        stacked, fit = weights.astype(self._kind).T, np.zeros(1)
        for rows, labels in self._parts(len(weights)):
            fit += self._loss.value(rows @ stacked, labels, np).sum(dtype=np.float64)
        penalty = self._regularization / 2 * float(np.vdot(weights, weights))
        return float(self._group.total(fit)[0]) / self._slots + penalty

"""The objective of a solver, and how far its measured gradient may be from the true one.

The engine's gradient (objective.py) is built so that *neighbouring tables* give sums within Δ. A solver needs another
thing: the gradient's true size. So what is measured is measured in float64, from the float32 rows a cacheful at a time: a
table is never copied as a whole. On the way there float32 will do; nothing proven is said of that.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bounds.arithmetic import CHUNK, gradient_error
from ..losses.base import Loss
from ..records import Records
from .group import ALONE, Group
from .linear_term import LinearTerm
from .windows import windows

_CACHED = 1 << 17  # numbers of a piece of a chunk in float64, which stays in the processor's cache
_LEAST = 64  # rows of a piece


class PreciseObjective:
    """L_D of one table, with ∇L_D. Holds views of the rows and no results. Weights are (outputs, features) float64.

    With `linear`, b of objective perturbation: L_D(θ) + ⟨b, θ⟩/n, and its gradient, throughout.
    """

    def __init__(
        self,
        records: Records,
        loss: Loss,
        *,
        regularization: float,
        linear: LinearTerm | None = None,
        group: Group = ALONE,
    ) -> None:
        self._rows = records.features
        self._labels = records.labels.astype(np.int64) if loss.label_kind == "class" else records.labels
        self._short = self._labels if loss.label_kind == "class" else records.labels.astype(np.float32)
        self.loss = loss
        self.regularization = regularization
        self.slots = records.slots
        self.shape = (loss.outputs, self._rows.shape[1])
        self._group = group
        self._own = self._group.rows(records.slots, CHUNK)
        self.linear = linear
        self._pull = np.zeros(self.shape) if linear is None else linear.per_record(records.slots)
        self.pull_norm = 0.0 if linear is None else linear.norm / records.slots * (1 + 1e-12)  # at least ‖b‖/n

    def _chunks(self, dtype: str) -> Iterator[Iterator[tuple[NDArray[Any], NDArray[Any]]]]:
        """Chunk by chunk, its rows in this dtype and their labels, a piece at a time."""
        most = max(_LEAST, min(CHUNK, _CACHED // self.shape[1]))
        labels = self._labels if dtype == "float64" else self._short
        buffer = np.empty((min(most, self.slots), self.shape[1])) if dtype == "float64" else None

        def pieces(chunk: slice) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
            for start in range(chunk.start, chunk.stop, most):
                rows = self._rows[start : min(start + most, chunk.stop)]
                if buffer is not None:
                    np.copyto(buffer[: len(rows)], rows)
                yield rows if buffer is None else buffer[: len(rows)], labels[start : start + len(rows)]

        for chunk in windows(self._rows, self._own.start, self._own.stop, CHUNK):
            yield pieces(chunk)

    def gradient(self, weights: NDArray[np.float64], dtype: str = "float64") -> NDArray[np.float64]:
        """∇L_D(θ) from one pass over the rows; in float32 about three times as fast, and good to some 2⁻²³ L."""
        total, short = np.zeros(self.shape), weights.T.astype(dtype)
        for chunk in self._chunks(dtype):
            part = np.zeros(self.shape)
            for rows, labels in chunk:
                scores = np.asfortranarray(rows @ short)  # as objective.py has it
                part += self.loss.derivative(scores, labels, np).T @ rows
            total += part
        return self._group.total(total) / self.slots + self.regular_part(weights)[1]

    def value(self, weights: NDArray[np.float64]) -> float:
        """L_D(θ)."""
        fit = np.zeros(1)
        for chunk in self._chunks("float64"):
            for rows, labels in chunk:
                fit += self.loss.value(np.asfortranarray(rows @ weights.T), labels, np).sum()
        return float(self._group.total(fit)[0]) / self.slots + self.regular_part(weights)[0]

    def regular_part(self, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """(λ/2)‖θ‖² + ⟨b, θ⟩/n and its gradient: what depends on no record."""
        value = self.regularization / 2 * float(np.vdot(weights, weights)) + float(np.vdot(self._pull, weights))
        return value, self.regularization * weights + self._pull

    def value_at_zero(self) -> float:
        """L_D(0): every score is 0, so this reads labels alone."""
        return float(self.loss.value(np.zeros((self.slots, self.shape[0])), self._labels, np).mean())

    def strided(self, rows: int) -> tuple[NDArray[np.float32], NDArray[Any]]:
        """About `rows` slots, evenly spaced: their rows, and their labels."""
        step = max(1, self.slots // rows)
        return np.ascontiguousarray(self._rows[::step]), self._short[::step]

    def gradient_error(self, weights_norm: float) -> float:
        """Bound on the rounding of a gradient measured in float64, for ‖θ‖ ≤ `weights_norm`; with b, against the *ideal* b.

        Adding b/n rounds by 4u‖b‖/n at most, and ‖b̂ − b‖/n is how far the floats drawn are from the ideal ones.
        """
        constants = self.loss.constants
        pulled = 0.0
        if self.linear is not None:
            pulled = 2.0**-51 * self.pull_norm + self.linear.per_record_rounding(self.slots)
        return pulled + gradient_error(
            lipschitz=constants.lipschitz,
            curvature=constants.curvature,
            outputs=self.loss.outputs,
            records=self.slots,
            features=self.shape[1],
            regularization=self.regularization,
            weights_norm=weights_norm,
        )

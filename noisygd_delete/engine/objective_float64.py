"""The objective in float64, a few thousand float32 rows at a time, and how far its gradient may be from the true one.

The engine's gradient (gradient.py) is built so that *neighbouring tables* give sums within Δ. A solver needs another
thing: the gradient's true size. So arithmetic is float64 throughout, and a table is never copied as a whole.
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
        self.loss = loss
        self.regularization = regularization
        self.slots = records.slots
        self.shape = (loss.outputs, self._rows.shape[1])
        self._group = group
        self._own = self._group.rows(records.slots, CHUNK)
        self.linear = linear
        self._pull = np.zeros(self.shape) if linear is None else linear.per_record(records.slots)
        self.pull_norm = 0.0 if linear is None else linear.norm / records.slots * (1 + 1e-12)  # at least ‖b‖/n

    def _chunks(self) -> Iterator[tuple[NDArray[np.float64], NDArray[Any]]]:
        buffer = np.empty((min(CHUNK, self.slots), self.shape[1]))
        for part in windows(self._rows, self._own.start, self._own.stop, CHUNK):
            rows = buffer[: part.stop - part.start]
            np.copyto(rows, self._rows[part])
            yield rows, self._labels[part]

    def value_and_gradient(self, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """L_D(θ) and ∇L_D(θ) from one pass over the rows."""
        fit, total = np.zeros(1), np.zeros(self.shape)
        for rows, labels in self._chunks():
            scores = np.asfortranarray(rows @ weights.T)  # as objective.py has it
            fit += self.loss.value(scores, labels, np).sum()
            total += self.loss.derivative(scores, labels, np).T @ rows
        summed = self._group.total(np.append(total, fit))
        value, regular = self.regular_part(weights)
        return float(summed[-1]) / self.slots + value, summed[:-1].reshape(self.shape) / self.slots + regular

    def regular_part(self, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """(λ/2)‖θ‖² + ⟨b, θ⟩/n and its gradient: what depends on no record."""
        value = self.regularization / 2 * float(np.vdot(weights, weights)) + float(np.vdot(self._pull, weights))
        return value, self.regularization * weights + self._pull

    def gradient(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """∇L_D(θ)."""
        return self.value_and_gradient(weights)[1]

    def value(self, weights: NDArray[np.float64]) -> float:
        """L_D(θ)."""
        return self.value_and_gradient(weights)[0]

    def value_at_zero(self) -> float:
        """L_D(0): every score is 0, so this reads labels alone."""
        return float(self.loss.value(np.zeros((self.slots, self.shape[0])), self._labels, np).mean())

    def strided(self, rows: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """About `rows` slots, evenly spaced: their rows in float64, and their labels."""
        step = max(1, self.slots // rows)
        return self._rows[::step].astype(np.float64), self._labels[::step]

    def gradient_error(self, weights_norm: float) -> float:
        """Bound on the rounding of a measured gradient, for ‖θ‖ ≤ `weights_norm`; with b, against the *ideal* b.

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

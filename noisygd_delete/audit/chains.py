"""Many independent chains on one table, one matrix product per step: what makes audits affordable.

The kernel is the product's own `noisygd.run`; only the gradient is wider. Null slots add nothing to a gradient sum, so a
table may be given without them: n is stated apart.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..losses.base import Loss
from ..records import Records

Chains = NDArray[np.float64]  # (chains, outputs, features)


class ManyChains:
    """∇L_D at many weights at once, in float64.

    Args:
        records: the occupied slots of the table (null slots are allowed and add nothing).
        slots: n; default the slots of `records`.
    """

    def __init__(self, records: Records, loss: Loss, *, regularization: float, slots: int | None = None) -> None:
        self._rows = records.features.astype(np.float64)
        self._labels = records.labels.astype(np.int64 if loss.label_kind == "class" else np.float64)
        self._loss = loss
        self._slots = records.slots if slots is None else slots
        self._regularization = regularization

    def gradient(self, weights: Chains) -> Chains:
        """(chains, outputs, features) -> the same shape."""
        chains, outputs, width = weights.shape
        scores = self._rows @ weights.reshape(-1, width).T  # (rows, chains · outputs)
        flat = self._loss.derivative(scores.reshape(-1, outputs), np.repeat(self._labels, chains), np)
        total = flat.reshape(len(self._rows), -1).T @ self._rows
        gradient: Chains = total.reshape(weights.shape) / self._slots + self._regularization * weights
        return gradient

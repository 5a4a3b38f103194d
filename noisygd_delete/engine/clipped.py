"""The objective of a network every record's gradient of which is clipped to L: no potential, so no value, only a gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..losses.base import Loss
from ..records import Records
from .summation import in_a_tree
from .threads import side_by_side


class ClippedObjective:
    """(1/n) Σ clipped ∇ℓ + λθ of one table. Weights are (1, dimension) float64.

    A slot stays in its block whether it holds a record or not, and blocks are added in a tree: what the slack counts.

    Args:
        loss: one with `block_sums`, each of which may be summed in a thread of its own.
    """

    def __init__(self, records: Records, loss: Loss, *, regularization: float) -> None:
        self._sums: Any = loss.block_sums(records)  # type: ignore[attr-defined]
        self._slots, self._regularization = records.slots, regularization

    def gradient(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """∇L_D(θ), clipped."""
        return self._mean(weights, None, self._slots)

    def gradient_on(self, weights: NDArray[np.float64], slots: NDArray[np.int64], rate: float) -> NDArray[np.float64]:
        """(1/(rate · n)) Σ of the clipped gradients of these slots + λθ: of a Poisson sample at this rate, the same on average."""
        return self._mean(weights, slots, rate * self._slots)

    def _mean(
        self, weights: NDArray[np.float64], slots: NDArray[np.int64] | None, divisor: float
    ) -> NDArray[np.float64]:
        # a block's arithmetic grows with the weights of its hidden layer
        sums = side_by_side(lambda block: block(), self._sums(weights, slots), self._slots * weights.size)
        total = in_a_tree(sums, (weights.size,))
        gradient: NDArray[np.float64] = total[None] / divisor + self._regularization * weights
        return gradient

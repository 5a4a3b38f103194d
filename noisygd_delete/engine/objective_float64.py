"""The objective of a solver, and how far its measured gradient may be from the true one.

The engine's gradient (objective.py) is built so that *neighbouring tables* give sums within Δ. A solver needs another
thing: the gradient's true size. So what is measured is measured in float64, from sums over the records, whoever holds them
(`sums`); to them this adds what depends on no record.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bounds.arithmetic import gradient_error
from ..losses.base import Loss
from .group import ALONE, Group
from .linear_term import LinearTerm
from .sums import CurrentRecords, sums_of


class PreciseObjective:
    """L_D of one table, with ∇L_D. Holds no rows and no results. Weights are (outputs, features) float64.

    With `linear`, b of objective perturbation: L_D(θ) + ⟨b, θ⟩/n, and its gradient, throughout. With `centre`, a, the regulariser is
    (λ/2)‖θ − a‖².
    """

    def __init__(
        self,
        records: CurrentRecords,
        loss: Loss,
        *,
        regularization: float,
        linear: LinearTerm | None = None,
        centre: NDArray[np.float64] | None = None,
        group: Group = ALONE,
        readings: int | None = None,
    ) -> None:
        self._sums = sums_of(records, loss, group, readings)
        self.loss = loss
        self.regularization = regularization
        self.slots = self._sums.slots
        self.shape = (loss.outputs, self._sums.width)
        self._pull_by(linear, centre)

    def pulled(self, linear: LinearTerm | None, centre: NDArray[np.float64]) -> PreciseObjective:
        """The same of these records with another linear term and centre."""
        other = copy(self)
        other._pull_by(linear, centre)
        return other

    def _pull_by(self, linear: LinearTerm | None, centre: NDArray[np.float64] | None) -> None:
        self.linear = linear
        self.centre = np.zeros(self.shape) if centre is None else centre
        self._pull = np.zeros(self.shape) if linear is None else linear.per_record(self.slots)
        self.pull_norm = 0.0 if linear is None else linear.norm / self.slots * (1 + 1e-12)  # at least ‖b‖/n

    def gradient(self, weights: NDArray[np.float64], dtype: str = "float64") -> NDArray[np.float64]:
        """∇L_D(θ) from one pass over the rows; in float32 about three times as fast, and good to some 2⁻²³ L."""
        gradient: NDArray[np.float64] = self._sums.gradient(weights, dtype) / self.slots + self.regular_gradient(
            weights
        )
        return gradient

    def regular_gradient(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """∇ of (λ/2)‖θ − a‖² + ⟨b, θ⟩/n: what depends on no record."""
        return self.regularization * (weights - self.centre) + self._pull

    def regular_value(self, weights: NDArray[np.float64]) -> float:
        """(λ/2)‖θ − a‖² + ⟨b, θ⟩/n."""
        away = weights - self.centre
        return self.regularization / 2 * float(np.vdot(away, away)) + float(np.vdot(self._pull, weights))

    def strided(self, rows: int) -> tuple[NDArray[np.float32], NDArray[Any]]:
        """About `rows` slots, evenly spaced: their rows, and their labels."""
        return self._sums.strided(rows)

    def gradient_error(self, weights_norm: float) -> float:
        """Bound on the rounding of a gradient measured in float64, for ‖θ‖ ≤ `weights_norm`; with b, against the *ideal* b.

        Adding b/n rounds by 4u‖b‖/n at most, and ‖b̂ − b‖/n is how far the floats drawn are from the ideal ones. λ(θ − a) rounds by
        no more than λθ does for ‖θ‖ + ‖a‖.
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
            weights_norm=weights_norm + float(np.linalg.norm(self.centre)) * (1 + 1e-9),
        )

"""The full-batch gradient of the objective, L_D(θ) = (1/n) Σ ℓ(θ; x) + (λ/2)‖θ‖².

Rows stay in float32; each block of 256 rows is summed by one dense product and the blocks are added in float64. Two
neighbouring tables differ in the rows of one record, so only the rounding inside that record's block can enlarge the
distance between their sums beyond Δ: `sensitivity_slack` bounds it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import AssumptionViolated, InvalidRecords, choice
from .losses.base import Loss
from .records import Records

DTYPES = ("float32", "float64")
BLOCK = 256
_UNIT_ROUNDOFF = {"float32": 2.0**-24, "float64": 2.0**-53}
_NORM_TOLERANCE = 2.0**-20  # rounding a row of norm R to float32 may lengthen it by far less than this


def sensitivity_slack(*, records: int, dtype: str) -> float:
    """Relative rounding slack s: computed gradient sums of neighbouring tables differ by at most Δ(1 + s), for Δ ≥ L.

    Inside a block of b rows the float error is at most γ_b Σ‖g_i ⊗ x_i‖ ≤ γ_b b L with γ_b = bu/(1 − bu); both worlds
    have one, hence 2bγ_b relative to Δ ≥ L. Adding n/b blocks in float64 contributes 2γ_{n/b} n, rounding of the scores'
    derivative and of the row norms 2⁻²⁰. Below 1 % in float32 for any n up to 10⁷. The bound assumes that a block's
    product does not depend on the other blocks, which holds for one fixed BLAS and thread count.
    """
    unit = _UNIT_ROUNDOFF[choice("dtype", dtype, DTYPES)]
    inside = BLOCK * unit / (1 - BLOCK * unit)
    blocks = -(-records // BLOCK)
    outside = blocks * 2.0**-53
    return 2 * BLOCK * inside + 2 * records * outside + _NORM_TOLERANCE


def gradient_error(*, loss: Loss, records: int, features: int, regularization: float, weights_norm: float) -> float:
    """Bound on ‖computed − true ∇L_D(θ)‖ in float64, for float32 rows of norm ≤ R and ‖θ‖ ≤ `weights_norm`.

    With unit roundoff u: scores err by at most d'u R‖θ‖ (d' features), which moves the mean gradient by β d'u‖θ‖; the
    loss's derivative by (16 + 4 · outputs)u relative to L, taking exp and tanh as good to 4u; sums of 256 inside a block
    and n/256 blocks by (256 + n/256)u L; the regulariser by 2uλ‖θ‖. The sum is doubled for the second-order terms.
    """
    constants = loss.constants
    curved = max(constants.smoothness, constants.weak_convexity) * (features + 2) * weights_norm
    summed = (24 + 4 * loss.outputs + BLOCK + -(-records // BLOCK)) * constants.lipschitz
    return 2 * _UNIT_ROUNDOFF["float64"] * (curved + summed + 4 * regularization * weights_norm)


def check_records(records: Records, loss: Loss) -> None:
    """Raise unless every record meets the assumptions behind the loss's constants: row norm ≤ R, labels of its kind."""
    squares = np.einsum("ij,ij->i", records.features, records.features, dtype=np.float64)
    limit = loss.radius * (1 + _NORM_TOLERANCE)
    longest = float(np.sqrt(squares.max()))
    if not longest <= limit:
        slot = int(squares.argmax())
        raise AssumptionViolated(
            f"the row of id {records.ids_by_slot[slot]!r} has norm {longest:.6g} > radius={loss.radius:g}: L and β are proven "
            "for shorter rows only. Divide every row by its own norm, clip it, or give the loss a larger radius"
        )
    check_labels(records.labels, records.occupied, loss)


def check_labels(labels: NDArray[np.float64], occupied: NDArray[np.bool_], loss: Loss) -> None:
    """Raise `InvalidRecords` unless the labels of occupied slots are of the loss's kind."""
    used = labels[occupied]
    if loss.label_kind == "binary" and not np.isin(used, (-1.0, 1.0)).all():
        raise InvalidRecords("labels must be −1 or +1 for this loss; map the two class names to them")
    if loss.label_kind == "class":
        classes = loss.outputs
        if not (np.isin(used, np.arange(classes))).all():
            raise InvalidRecords(f"labels must be whole numbers 0..{classes - 1} for {classes} classes")


class Objective:
    """The objective of one table, loss and λ. Holds views of the table's rows, no copies of float32 rows and no results.

    Weights are (outputs, features) float64.
    """

    def __init__(self, records: Records, loss: Loss, *, regularization: float, dtype: str = "float32") -> None:
        self._kind = np.dtype(choice("dtype", dtype, DTYPES))
        rows = records.features.astype(self._kind, copy=False)
        slots, width = rows.shape
        whole = slots - slots % BLOCK
        self._rows = rows
        self._blocks = rows[:whole].reshape(-1, BLOCK, width)
        self._rest = rows[whole:]
        self._labels = records.labels.astype(np.int64 if loss.label_kind == "class" else self._kind)
        self.loss = loss
        self.slots = slots
        self.regularization = regularization
        self.shape = (loss.outputs, width)

    def gradient_sum(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Σ_x ∇ℓ(θ; x), (outputs, features) float64."""
        return self._gradient_sum(self._rows @ weights.astype(self._kind).T)

    def _gradient_sum(self, scores: NDArray[Any]) -> NDArray[np.float64]:
        derivative = np.ascontiguousarray(self.loss.derivative(scores, self._labels, np).T)
        outputs, whole = len(derivative), len(self._blocks) * BLOCK
        total = np.zeros(self.shape)
        if whole:
            blocked = derivative[:, :whole].reshape(outputs, -1, BLOCK).transpose(1, 0, 2)
            total += np.matmul(blocked, self._blocks).sum(axis=0, dtype=np.float64)
        if len(self._rest):
            total += derivative[:, whole:] @ self._rest
        return total

    def gradient(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """∇L_D(θ), (outputs, features) float64."""
        gradient: NDArray[np.float64] = self.gradient_sum(weights) / self.slots + self.regularization * weights
        return gradient

    def value(self, weights: NDArray[np.float64]) -> float:
        """L_D(θ). A function of private data: for solvers and tests, never for a log."""
        return self._value(self._rows @ weights.astype(self._kind).T, weights)

    def _value(self, scores: NDArray[Any], weights: NDArray[np.float64]) -> float:
        losses = self.loss.value(scores, self._labels, np)
        fit: float = float(losses.sum(dtype=np.float64)) / self.slots
        penalty = self.regularization / 2 * float(np.vdot(weights, weights))
        return fit + penalty

    def value_and_gradient(self, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """L_D(θ) and ∇L_D(θ) from one pass over the rows."""
        scores = self._rows @ weights.astype(self._kind).T
        gradient = self._gradient_sum(scores) / self.slots + self.regularization * weights
        return self._value(scores, weights), gradient

    def value_at_zero(self) -> float:
        """L_D(0): every score is 0, so this reads labels alone."""
        return self._value(np.zeros((self.slots, self.shape[0]), self._kind), np.zeros(self.shape))

    def second_moment(self, rows: int) -> NDArray[np.float64]:
        """(features, features) mean of xxᵀ over about `rows` slots, evenly spaced."""
        spread = self._rows[:: max(1, self.slots // rows)]
        moment: NDArray[np.float64] = (spread.T @ spread).astype(np.float64) / len(spread)
        return moment

"""A classifier with one hidden layer, trained in all its weights, with per-record gradients clipped to L.

No convexity, smoothness or range is claimed. The only guarantee, by construction, is that no record changes the
gradient sum by more than L. So only methods that count noisy steps (`staged`, `noisy-gd:analysis=composition`) apply to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import check_count, check_scale
from .base import MOST_CLASSES, Array, Loss, LossConstants
from .logistic import Logistic
from .softmax import Softmax

MOST_HIDDEN = 100_000

BlockSum = Callable[[], NDArray[np.float64]]
_BLOCK = 4096  # rows whose hidden layer is in memory at once
_ROOM = 1e-9  # relative: clipping to L(1 − 1e-9) keeps the rounding of float64 norms and scales below L


@dataclass(frozen=True)
class MultilayerPerceptron(Loss):
    """The logistic loss (two classes) or cross-entropy (more) of z = A tanh(Wx), W and A trained together.

    Labels are y ∈ {−1, +1} for two classes, else y ∈ {0, …, k−1}.

    With h = tanh(Wx), g = ∂ℓ/∂z and v = (Aᵀg)(1 − h²) the gradient of a record is (v ⊗ x, g ⊗ h), of squared norm
    ‖v‖²‖x‖² + ‖g‖²‖h‖². It is multiplied by min(1, L/norm), so its norm is at most L = `clip`; a gradient that is not
    finite counts as 0. The clipped field is not the gradient of any function; β₋ = ∞ and ω = ∞ state that nothing else
    is proven.

    The null record has h = 0 and x = 0, hence gradient 0: there is no bias except the table's own constant column.

    Attributes:
        classes: k.
        hidden: Number of units of the hidden layer.
        clip: L.
        curvature: Scale for the default step size, 1/(λ + curvature); no guarantee uses it.
    """

    classes: int = 2
    hidden: int = 64
    clip: float = 1.0
    curvature: float = 1.0

    name: ClassVar[str] = "multilayer-perceptron"
    label_kind: ClassVar[str] = ""
    clips_each: ClassVar[bool] = True
    twice_differentiable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "classes", check_count("classes", self.classes, minimum=2, maximum=MOST_CLASSES))
        object.__setattr__(self, "hidden", check_count("hidden", self.hidden, maximum=MOST_HIDDEN))
        for name in ("clip", "curvature"):
            object.__setattr__(self, name, check_scale(name, getattr(self, name)))
        object.__setattr__(self, "label_kind", self.top.label_kind)

    @property
    def top(self) -> Loss:
        """The loss of the scores."""
        return Logistic(self.radius) if self.classes == 2 else Softmax(self.radius, self.classes)

    @property
    def outputs(self) -> int:
        return self.top.outputs

    @property
    def constants(self) -> LossConstants:
        return LossConstants(lipschitz=self.clip, smoothness=self.curvature, weak_convexity=math.inf, proven=True)

    @property
    def init_variance(self) -> float:
        """Variance of every initial weight, for which unit rows start with scores of order 1 at any width."""
        return 0.8 / math.sqrt(self.hidden)

    def value(self, scores: Array, labels: Array, xp: Any) -> Array:
        return self.top.value(scores, labels, xp)

    def derivative(self, scores: Array, labels: Array, xp: Any) -> Array:
        return self.top.derivative(scores, labels, xp)

    def dimension(self, features: int) -> int:
        return self.hidden * (features + self.outputs)

    def shape(self, features: int) -> tuple[int, int]:
        return 1, self.dimension(features)

    def _layers(self, weights: Array) -> tuple[Array, Array]:
        """Return W (hidden, features) and A (outputs, hidden)."""
        flat = np.asarray(weights).reshape(-1)
        inner = flat.shape[0] - self.hidden * self.outputs
        return flat[:inner].reshape(self.hidden, -1), flat[inner:].reshape(self.outputs, self.hidden)

    def width(self, features: int) -> int:
        """Return the number of columns of `representation`."""
        return self.hidden

    def representation(self, weights: Array, features: Array) -> Array:
        """Return tanh(Wx), shape (rows, hidden).

        Each row is a function of its own record; it is 0 for the null record.
        """
        inner, _ = self._layers(weights)
        return np.tanh(np.asarray(features, np.float64) @ inner.T)

    def scores(self, weights: Array, features: Array) -> Array:
        """Return A tanh(Wx), shape (rows, outputs)."""
        return self.representation(weights, features) @ self._layers(weights)[1].T

    def block_sums(self, records: Any) -> Callable[[Array, NDArray[np.int64] | None], Iterator[BlockSum]]:
        """Return a function of (θ, slots) that yields one callable per block of rows.

        Each callable returns the sum of the block's clipped gradients. `slots` None selects all rows. Sums are in
        float64 for any `dtype` of the table, so that rounding is below the slack that the plan includes. Rows may be
        memory-mapped from a file and are read one block at a time.
        """
        rows = records.features
        labels = records.labels.astype(np.int64) if self.label_kind == "class" else records.labels

        def sums(weights: Array, slots: NDArray[np.int64] | None) -> Iterator[BlockSum]:
            for first in range(0, records.slots if slots is None else len(slots), _BLOCK):
                part = slice(first, first + _BLOCK) if slots is None else slots[first : first + _BLOCK]
                yield partial(self.clipped_sum, weights, rows[part], labels[part])

        return sums

    def clipped_sum(self, weights: Array, rows: Array, labels: Array) -> NDArray[np.float64]:
        """Return the sum of the clipped gradients of some records, shape (dimension,)."""
        (inner, outer), x = self._layers(weights), np.asarray(rows, np.float64)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            hidden = np.tanh(x @ inner.T)
            slope = self.derivative(hidden @ outer.T, labels, np)
            back = (slope @ outer) * (1 - hidden**2)
            squares = _squares(back) * _squares(x) + _squares(slope) * _squares(hidden)
            factor = np.minimum(1.0, self.clip * (1 - _ROOM) / np.sqrt(squares))
        lost = ~np.isfinite(squares)
        if lost.any():
            factor, hidden = np.where(lost, 0.0, factor), np.where(lost[:, None], 0.0, hidden)
            back, slope = (np.where(lost[:, None], 0.0, part) for part in (back, slope))
        first, second = (back * factor[:, None]).T @ x, (slope * factor[:, None]).T @ hidden
        return np.concatenate([first.ravel(), second.ravel()])


def _squares(rows: Array) -> Array:
    return np.einsum("ij,ij->i", rows, rows)

"""Several models trained in sequence and published together (staged training).

A later stage starts at an earlier one, or reads its hidden layer. The combined loss is not itself minimized: every
stage has its own loss. It defines how (θ_0, …, θ_S) are stored in one row of weights, what each stage reads of a
record, and how the last stage predicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import AssumptionViolated, InvalidParameter, check_choice
from .base import Array, Loss, LossConstants
from .logistic import Logistic
from .softmax import Softmax

NETWORK, HEAD = "network", "head"
STAGE_KINDS = (NETWORK, HEAD)

_BLOCK = 4096  # rows mapped per block
_SHORTER = 1 - 2.0**-22  # keeps a row within norm R after rounding to float32


@dataclass(frozen=True)
class StagedLoss(Loss):
    """The models (θ_0, …, θ_S) of staged training.

    Stages of kind "network" use `network`; stages of kind "head" use logistic or softmax regression. A head reads the
    representation h of each record by the last network before it, together with the record x itself, as (h/√width, x)
    divided by its norm. So its rows have norm at most R, and the null record's row is 0.

    Attributes:
        network: A loss with `shape` and `scores`, and for heads `representation(weights, rows)` and `width(features)`.
        kinds: Kind of each stage; the first is "network".
    """

    network: Any = None
    kinds: tuple[str, ...] = (NETWORK,)

    name: ClassVar[str] = "staged"
    label_kind: ClassVar[str] = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        for kind in self.kinds:
            check_choice("stage", kind, STAGE_KINDS)
        if not self.kinds or self.kinds[0] != NETWORK:
            raise InvalidParameter(
                f"must begin with {NETWORK!r}; a head reads what a network computes", stages=self.kinds
            )
        if HEAD in self.kinds and not hasattr(self.network, "representation"):
            raise AssumptionViolated(
                f"the {self.network.name} loss has no hidden layer that a head could read; take "
                "losses.MultilayerPerceptron, or stages of kind 'network' alone"
            )
        object.__setattr__(self, "label_kind", self.network.label_kind)

    @property
    def last(self) -> Loss:
        """The loss of the last stage, by which the published model predicts."""
        return self.loss_of(len(self.kinds) - 1)

    @property
    def outputs(self) -> int:
        return self.last.outputs

    @property
    def constants(self) -> LossConstants:
        return self.last.constants

    def value(self, scores: Array, labels: Array, xp: Any) -> Array:
        return self.last.value(scores, labels, xp)

    def predict(self, scores: Array, xp: Any) -> Array:
        return self.last.predict(scores, xp)

    def loss_of(self, stage: int) -> Loss:
        """Return the loss that a stage minimizes."""
        network: Loss = self.network
        if self.kinds[stage] == NETWORK:
            return network
        return Logistic(self.radius) if self.label_kind == "binary" else Softmax(self.radius, network.outputs)

    def count_columns(self, stage: int, features: int) -> int:
        """Return the number of columns that a stage reads: `features`, and for a head the network's width as well."""
        return features + (0 if self.kinds[stage] == NETWORK else int(self.network.width(features)))

    def shapes(self, features: int) -> list[tuple[int, int]]:
        """Return the shape of each stage's weights."""
        return [self.loss_of(j).shape(self.count_columns(j, features)) for j in range(len(self.kinds))]

    def dimension(self, features: int) -> int:
        return sum(outputs * columns for outputs, columns in self.shapes(features))

    def shape(self, features: int) -> tuple[int, int]:
        return 1, self.dimension(features)

    def parts(self, weights: Array, features: int) -> list[NDArray[np.float64]]:
        """Return θ_0, …, θ_S from the one row in which they are published."""
        shapes = self.shapes(features)
        ends = np.cumsum([outputs * columns for outputs, columns in shapes])[:-1]
        cut = np.split(np.asarray(weights).reshape(-1), ends)
        return [part.reshape(shape) for part, shape in zip(cut, shapes, strict=True)]

    @staticmethod
    def join_parts(parts: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return the weights of all stages in the one row that is published; read-only."""
        weights = np.concatenate([np.asarray(part, np.float64).reshape(-1) for part in parts])[None]
        weights.flags.writeable = False
        return weights

    def start(self, stage: int, parts: Sequence[NDArray[np.float64]]) -> NDArray[np.float64] | None:
        """Return the weights of the last network before a stage, from which it starts unchanged.

        Returns:
            The weights; None for the first stage and for heads.
        """
        before = [j for j in range(stage) if self.kinds[j] == NETWORK]
        return parts[before[-1]] if before and self.kinds[stage] == NETWORK else None

    def read(self, stage: int, parts: Sequence[NDArray[np.float64]], features: Array) -> Array:
        """Return the features that a stage reads of these records, given the weights of the earlier stages.

        Returns:
            Array of shape (rows, columns), float32 for a head.
        """
        if self.kinds[stage] == NETWORK:
            return features
        network = parts[max(j for j in range(stage) if self.kinds[j] == NETWORK)]
        width = int(self.network.width(features.shape[1]))
        rows = np.empty((len(features), width + features.shape[1]), np.float32)
        for first in range(0, len(features), _BLOCK):
            x = np.asarray(features[first : first + _BLOCK], np.float64)
            hidden = np.asarray(self.network.representation(network, x), np.float64) / np.sqrt(width)
            both = np.where(np.any(x != 0, axis=1, keepdims=True), np.concatenate([hidden, x], axis=1), 0.0)
            norms = np.linalg.norm(both, axis=1, keepdims=True)
            rows[first : first + _BLOCK] = both / np.where(norms > 0, norms, 1.0) * (self.radius * _SHORTER)
        return rows

    def scores(self, weights: Array, features: Array) -> Array:
        """Return the scores of the last stage, shape (rows, outputs)."""
        parts = self.parts(weights, features.shape[1])
        return self.last.scores(parts[-1], self.read(len(parts) - 1, parts, features))

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "network": self.network.to_dict(), "kinds": list(self.kinds)}

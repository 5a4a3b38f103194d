"""Losses with a public weight for each class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ..errors import AssumptionViolated, InvalidParameter, check_scale
from .base import Array, Loss, LossConstants

_PRODUCT = 1 + 2.0**-22  # covers the rounding of the additional multiplication of a computed slope


@dataclass(frozen=True)
class Weighted(Loss):
    """The loss w_y · ℓ(θ; x, y), with one public weight w > 0 for each class.

    Create it with `losses.with_class_weights`.

    A factor scales gradient, Hessian and range of a record's loss alike, so L, β₊, β₋ and ω are those of the base times
    the largest weight, and the structure of a record's Hessian is unchanged (one direction, or Frobenius norm at most
    β₊/R²). The heaviest class determines the sensitivity: a weight of 10 requires 10 times the noise, for every record.

    Attributes:
        base: The loss to weight.
        weights: w of each class in the order of the labels (−1, +1 for two classes).
    """

    base: Any = None
    weights: tuple[float, ...] = ()

    name: ClassVar[str] = "weighted"
    label_kind: ClassVar[str] = ""
    curving: ClassVar[str] = ""
    twice_differentiable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "weights", tuple(check_scale("weight", weight) for weight in self.weights))
        for fact in ("label_kind", "curving", "twice_differentiable"):
            object.__setattr__(self, fact, getattr(self.base, fact))

    @property
    def heaviest(self) -> float:
        """The largest weight."""
        return max(self.weights)

    @property
    def outputs(self) -> int:
        return int(self.base.outputs)

    @property
    def blocks(self) -> int:
        return int(self.base.blocks)

    @property
    def constants(self) -> LossConstants:
        base: LossConstants = self.base.constants
        factor = self.heaviest * _PRODUCT
        return replace(
            base,
            lipschitz=factor * base.lipschitz,
            smoothness=factor * base.smoothness,
            weak_convexity=factor * base.weak_convexity,
            range=math.inf if base.range == math.inf else factor * base.range,
        )

    @property
    def loss_of_fit(self) -> float:
        return float(self.base.loss_of_fit)

    @property
    def curvature_trace(self) -> float:
        return self.heaviest * float(self.base.curvature_trace)

    def _weight(self, labels: Array, xp: Any) -> Array:
        """Return w of each record; any weight for a null record, whose row is 0."""
        if self.label_kind == "binary":
            return xp.where(labels > 0, self.weights[1], self.weights[0])
        common = max(set(self.weights), key=self.weights.count)
        weight: Any = common
        for number, other in enumerate(self.weights):
            if other != common:
                weight = xp.where(labels == number, other, weight)
        return weight

    def value(self, scores: Array, labels: Array, xp: Any) -> Array:
        return self.base.value(scores, labels, xp) * self._weight(labels, xp)

    def derivative(self, scores: Array, labels: Array, xp: Any) -> Array:
        slopes, weight = self.base.derivative(scores, labels, xp), self._weight(labels, xp)
        slopes *= (
            weight if isinstance(weight, float) else weight[..., None]
        )  # in place, to keep the dtype of the scores
        return slopes

    @property
    def gap_at_zero(self) -> float:
        return self.heaviest * float(self.base.gap_at_zero)

    def largest_at_zero(self, xp: Any) -> float:
        return self.heaviest * float(self.base.largest_at_zero(xp))

    def predict(self, scores: Array, xp: Any) -> Array:
        return self.base.predict(scores, xp)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "base": self.base.to_dict(), "weights": list(self.weights)}


def with_class_weights(loss: Loss, weights: Sequence[float]) -> Loss:
    """Return `loss` with a public weight for each class; `loss` itself if all weights are 1.

    Args:
        loss: An unweighted loss of a linear classifier.
        weights: One weight > 0 for each class, in the order of the labels.

    Raises:
        InvalidParameter: If there is not one weight > 0 for each class, or the loss is already weighted.
        AssumptionViolated: If the loss has no classes.
    """
    if isinstance(loss, Weighted):
        raise InvalidParameter("the loss has weights already; weigh its base by the products")
    classes = {"binary": 2, "class": loss.outputs}.get(loss.label_kind)
    if classes is None or loss.dimension(1) != loss.outputs:
        raise AssumptionViolated(
            f"the {loss.name} loss is no linear model of classes, so there are no classes to weigh"
        )
    given = tuple(check_scale("weight", weight) for weight in weights)
    if len(given) != classes:
        raise InvalidParameter(f"{len(given)} weights were given for {classes} classes; give one for each")
    if set(given) == {1.0}:
        return loss
    return Weighted(radius=loss.radius, base=loss, weights=given)

"""The squared loss: ridge regression, which sums give and no gradient method may."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

from ..errors import AssumptionViolated
from .base import ONE_DIRECTION, Array, Loss


@dataclass(frozen=True)
class Squared(Loss):
    """ℓ = (⟨θ, x⟩ − y)²/2, y in [−1, 1]: for method `sums`, whose sums bound what a record adds whatever θ is.

    It has no L: the gradient (⟨θ, x⟩ − y)x grows with θ. Whatever else asks for constants is refused.
    """

    name: ClassVar[str] = "squared"
    label_kind: ClassVar[str] = "target"
    curving: ClassVar[str] = ONE_DIRECTION

    @property
    def constants(self) -> NoReturn:
        raise AssumptionViolated(
            "the squared loss is not Lipschitz: its gradient (⟨θ, x⟩ − y)x grows with θ, so no L bounds a record's influence on gradient "
            "steps. Use PseudoHuber(radius, delta): the same near 0, gradient at most delta·radius; or method 'sums'"
        )

    def value(self, scores: Array, labels: Array, xp: Any) -> Array:
        return (scores[..., 0] - labels) ** 2 / 2

    @staticmethod
    def slope(score, label, parameter, tanh, sqrt):  # type: ignore[no-untyped-def]
        return score - label

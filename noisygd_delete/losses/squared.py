"""The squared loss: ridge regression from sufficient statistics, not available to gradient methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

from ..errors import AssumptionViolated
from .base import ONE_DIRECTION, Array, Loss


@dataclass(frozen=True)
class Squared(Loss):
    """The squared loss ℓ = (⟨θ, x⟩ − y)²/2, y in [−1, 1], for method `sufficient-statistics` only.

    The sums of that method bound the contribution of a record for any θ. The loss has no L: the gradient (⟨θ, x⟩ − y)x
    grows with θ.
    """

    name: ClassVar[str] = "squared"
    label_kind: ClassVar[str] = "target"
    curving: ClassVar[str] = ONE_DIRECTION

    @property
    def constants(self) -> NoReturn:
        """Not defined.

        Raises:
            AssumptionViolated: Always.
        """
        raise AssumptionViolated(
            "the squared loss is not Lipschitz: its gradient (⟨θ, x⟩ − y)x grows with θ, so no L bounds a record's influence on gradient "
            "steps. Use PseudoHuber(radius, delta): the same near 0, gradient at most delta·radius; or method 'sufficient-statistics'"
        )

    def value(self, scores: Array, labels: Array, xp: Any) -> Array:
        return (scores[..., 0] - labels) ** 2 / 2

    @staticmethod
    def slope(score, label, parameter, tanh, sqrt):  # type: ignore[no-untyped-def]
        return score - label

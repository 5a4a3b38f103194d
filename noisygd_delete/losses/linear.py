"""The linear loss: the worst case for which the tight bounds are equalities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .base import ONE_DIRECTION, Array, Loss, LossConstants


@dataclass(frozen=True)
class Linear(Loss):
    """The linear loss ℓ = ⟨θ, x⟩. The gradient is x: L = R. The Hessian is 0: β₊ = β₋ = 0. Unbounded: ω = ∞.

    Labels are not used. Noisy GD on this loss is a Gaussian chain, so every divergence has a closed form; it serves
    tests and audits.
    """

    name: ClassVar[str] = "linear"
    label_kind: ClassVar[str] = "none"
    curving: ClassVar[str] = ONE_DIRECTION

    @property
    def constants(self) -> LossConstants:
        return LossConstants(lipschitz=self.radius, smoothness=0.0, proven=True)

    def value(self, scores: Array, labels: Array, xp: Any) -> Array:
        return scores[..., 0]

    @staticmethod
    def slope(score, label, parameter, tanh, sqrt):  # type: ignore[no-untyped-def]
        return score * 0.0 + 1.0

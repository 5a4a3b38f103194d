"""Sigmoid loss: a smooth count of misclassified records. It is bounded, so Theorem 5.2 applies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .base import ONE_DIRECTION, Array, Loss, LossConstants


@dataclass(frozen=True)
class Sigmoid(Loss):
    """The sigmoid loss ℓ = 1/(1 + e^{yz}) = s(−yz), z = ⟨θ, x⟩, y ∈ {−1, +1}, with the logistic function s.

    g = −y s(1 − s), so |g| ≤ 1/4 and L = R/4 (attained at z = 0).
    ∂²ℓ/∂z² = s(1 − s)(1 − 2s) at s = s(−yz). With t = 1 − 2s ∈ (−1, 1) this is t(1 − t²)/4, odd in t, stationary at
    t² = 1/3, so its extremes are ±1/(6√3): β₊ = β₋ = R²/(6√3), both attained (s = (1 ∓ 1/√3)/2).
    ℓ takes every value in (0, 1) where x ≠ 0 and is constant where x = 0: ω = 1.
    """

    name: ClassVar[str] = "sigmoid"
    label_kind: ClassVar[str] = "binary"
    curving: ClassVar[str] = ONE_DIRECTION

    @property
    def constants(self) -> LossConstants:
        curvature = self.radius**2 / (6 * 3**0.5)
        return LossConstants(
            lipschitz=self.radius / 4, smoothness=curvature, weak_convexity=curvature, range=1.0, proven=True
        )

    @property
    def gap_at_zero(self) -> float:
        """ℓ(0) = 1/2, an upper bound since ℓ > 0."""
        return 0.5

    def value(self, scores: Array, labels: Array, xp: Any) -> Array:
        # s(−m) = (1 − tanh(m/2))/2: no overflow at either end
        return (1 - xp.tanh(scores[..., 0] * labels * 0.5)) * 0.5

    @staticmethod
    def slope(score, label, parameter, tanh, sqrt):  # type: ignore[no-untyped-def]
        # s(1 − s) = (1 − tanh²(m/2))/4; 0 for a null slot's label 0
        half = tanh(score * label * 0.5)
        return label * ((half * half - 1.0) * 0.25)

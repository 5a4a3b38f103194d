"""Logistic loss for labels −1/+1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from .base import ONE_DIRECTION, Array, Loss, LossConstants


@dataclass(frozen=True)
class Logistic(Loss):
    """The logistic loss ℓ = log(1 + e^{−yz}), z = ⟨θ, x⟩, y ∈ {−1, +1}.

    g = −y s(−yz) with the logistic function s, so |g| < 1 and L = R (approached as yz → −∞).
    ∂²ℓ/∂z² = s(z)(1 − s(z)) ∈ (0, 1/4], so β₊ = R²/4 (attained at z = 0) and β₋ = 0.
    ℓ grows without bound as yz → −∞: ω = ∞.
    """

    name: ClassVar[str] = "logistic"
    label_kind: ClassVar[str] = "binary"
    curving: ClassVar[str] = ONE_DIRECTION

    @property
    def constants(self) -> LossConstants:
        return LossConstants(lipschitz=self.radius, smoothness=self.radius**2 / 4, proven=True)

    @property
    def gap_at_zero(self) -> float:
        """ℓ(0) = log 2, an upper bound since ℓ > 0."""
        return math.log(2)

    def value(self, scores: Array, labels: Array, xp: Any) -> Array:
        margin = scores[..., 0] * labels
        # log(1 + e^{−m}) = max(−m, 0) + log1p(e^{−|m|}): no overflow at either end
        return xp.log1p(xp.exp(-xp.abs(margin))) + (xp.abs(margin) - margin) / 2

    @staticmethod
    def slope(score, label, parameter, tanh, sqrt):  # type: ignore[no-untyped-def]
        # s(−m) = (1 − tanh(m/2))/2: no overflow, and 0 for a null slot's label 0
        return label * ((tanh(score * label * 0.5) - 1.0) * 0.5)

    def unclipped(self, scores: Array, labels: Array, limit: float, xp: Any) -> Array:
        """Return the nearest scores with |g| ≤ limit: s(−yz) ≤ limit where yz ≥ log((1 − limit)/limit)."""
        signs = labels[..., None]
        edge = math.log1p(-limit) - math.log(limit)
        margins = scores * signs
        return signs * (margins + (xp.abs(edge - margins) + edge - margins) / 2)

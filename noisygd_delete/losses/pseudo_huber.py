"""Pseudo-Huber loss: regression with a bounded gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..errors import check_scale
from .base import ONE_DIRECTION, Array, Loss, LossConstants

_SCALE = 2.0**-40  # scaling by a power of two is exact


@dataclass(frozen=True)
class PseudoHuber(Loss):
    """The pseudo-Huber loss ℓ = δ²(√(1 + (r/δ)²) − 1), r = ⟨θ, x⟩ − y.

    g = r/√(1 + (r/δ)²), increasing in r with |g| < δ, so L = δR.
    ∂²ℓ/∂z² = (1 + (r/δ)²)^{−3/2} ∈ (0, 1], so β₊ = R² (attained at r = 0) and β₋ = 0.
    ℓ ~ δ|r| grows without bound: ω = ∞. None of the constants needs a bound on y.

    Attributes:
        delta: δ.
    """

    delta: float = 1.0

    name: ClassVar[str] = "pseudo-huber"
    label_kind: ClassVar[str] = "target"
    curving: ClassVar[str] = ONE_DIRECTION

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "delta", check_scale("delta", self.delta))

    @property
    def constants(self) -> LossConstants:
        return LossConstants(lipschitz=self.delta * self.radius, smoothness=self.radius**2, proven=True)

    def value(self, scores: Array, labels: Array, xp: Any) -> Array:
        ratio = (scores[..., 0] - labels) / self.delta
        small = _SCALE * ratio
        root = xp.sqrt(_SCALE**2 + small * small) / _SCALE
        # √(1+t²) − 1 = t²/(√(1+t²) + 1): no cancellation for small residuals
        return self.delta**2 * (ratio * (ratio / (root + 1)))

    @property
    def parameter(self) -> float:
        return self.delta

    @staticmethod
    def slope(score, label, parameter, tanh, sqrt):  # type: ignore[no-untyped-def]
        residual = 9.094947017729282e-13 * (
            score - label
        )  # scaled by 2⁻⁴⁰: the square of a ratio of 1e20 would overflow float32
        ratio = residual / parameter
        return residual / sqrt(8.271806125530277e-25 + ratio * ratio)

    def unclipped(self, scores: Array, labels: Array, limit: float, xp: Any) -> Array:
        """Return the nearest scores with |g| ≤ limit: residuals of size at most limit/√(1 − (limit/δ)²)."""
        edge = limit / (1 - (limit / self.delta) ** 2) ** 0.5
        residual = scores - labels[..., None]
        return labels[..., None] + (xp.abs(residual + edge) - xp.abs(residual - edge)) / 2

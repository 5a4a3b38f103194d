"""Cross-entropy of a linear multiclass model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from .base import SEVERAL_DIRECTIONS, Array, LossConstants, MulticlassLoss


@dataclass(frozen=True)
class Softmax(MulticlassLoss):
    """The cross-entropy ℓ = log Σ_j e^{z_j} − z_y, z = Wx, y ∈ {0, …, k−1}.

    g = p − e_y with p = softmax(z). ‖p − e_y‖² = (1 − p_y)² + Σ_{j≠y} p_j² ≤ 2(1 − p_y)² < 2, so L = √2 R.
    ∂²ℓ/∂z² = diag(p) − ppᵀ is the covariance of a one-hot vector: it is positive semidefinite (β₋ = 0), and the
    variance of vᵀe_J for ‖v‖ = 1 is at most (max_j v_j − min_j v_j)²/4 ≤ 2/4 (Popoviciu), so β₊ = R²/2, attained at
    p = (1/2, 1/2, 0, …), v = (1, −1, 0, …)/√2. Its Frobenius norm is no larger: with s_k = Σ p^k it is
    √(s₂ − 2s₃ + s₂²) ≤ √(s₂(1 − s₂)) ≤ 1/2, since s₂² ≤ s₁s₃ = s₃ (Cauchy).
    ℓ grows without bound: ω = ∞.
    """

    name: ClassVar[str] = "softmax"
    curving: ClassVar[str] = SEVERAL_DIRECTIONS

    @property
    def constants(self) -> LossConstants:
        return LossConstants(lipschitz=2**0.5 * self.radius, smoothness=self.radius**2 / 2, proven=True)

    @property
    def curvature_trace(self) -> float:
        """R²(1 − 1/k), since tr(diag(p) − ppᵀ) = 1 − ‖p‖² ≤ 1 − 1/k."""
        return self.radius**2 * (1 - 1 / self.classes)

    @property
    def gap_at_zero(self) -> float:
        """ℓ(0) = log k, an upper bound since ℓ > 0."""
        return math.log(self.classes)

    def value(self, scores: Array, labels: Array, xp: Any) -> Array:
        shifted = scores - xp.amax(scores, -1)[..., None]
        chosen = shifted[xp.arange(shifted.shape[0]), labels]
        return xp.log(xp.exp(shifted).sum(-1)) - chosen

    def derivative(self, scores: Array, labels: Array, xp: Any) -> Array:
        probabilities = xp.exp(scores - xp.amax(scores, -1)[..., None])
        probabilities /= probabilities.sum(-1)[..., None]
        probabilities[xp.arange(probabilities.shape[0]), labels] -= 1
        return probabilities

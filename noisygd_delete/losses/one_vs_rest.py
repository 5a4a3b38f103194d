"""Multiclass classification by independent logistic models, one per class, trained as one batch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from .base import ONE_DIRECTION, Array, LossConstants, MulticlassLoss


@dataclass(frozen=True)
class OneVsRest(MulticlassLoss):
    """The one-vs-rest loss ℓ = Σ_j log(1 + e^{−s_j z_j}), z = Wx.

    s_j = +1 for j = y and −1 for every other of the k classes.

    g_j = −s_j s(−s_j z_j) with the logistic function s, so ‖g‖ < √k and L = √k R (approached where every model is
    wrong). ∂²ℓ/∂z² = diag(s(z_j)(1 − s(z_j))) has eigenvalues in (0, 1/4], so β₊ = R²/4 (attained at z = 0) and β₋ = 0.
    ℓ grows without bound: ω = ∞.

    A record affects all k models: for k > 2 softmax, with L = √2 R, needs k/2 times less noise variance. In return
    this loss has half the smoothness, and its k models are independent.
    """

    name: ClassVar[str] = "one-vs-rest"
    curving: ClassVar[str] = ONE_DIRECTION

    @property
    def blocks(self) -> int:
        return self.classes

    @property
    def constants(self) -> LossConstants:
        return LossConstants(lipschitz=self.classes**0.5 * self.radius, smoothness=self.radius**2 / 4, proven=True)

    @property
    def gap_at_zero(self) -> float:
        """ℓ(0) = k log 2, an upper bound since ℓ > 0."""
        return self.classes * math.log(2)

    def value(self, scores: Array, labels: Array, xp: Any) -> Array:
        # log(1 + e^{−sz}) = log(1 + e^{z}) − [s = 1] z
        softplus = xp.log1p(xp.exp(-xp.abs(scores))) + (xp.abs(scores) + scores) / 2
        return softplus.sum(-1) - scores[xp.arange(scores.shape[0]), labels]

    def derivative(self, scores: Array, labels: Array, xp: Any) -> Array:
        derivative = (xp.tanh(scores * 0.5) + 1) * 0.5
        derivative[xp.arange(derivative.shape[0]), labels] -= 1
        return derivative

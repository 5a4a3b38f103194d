"""Logistic loss of a one-hidden-layer tanh network whose outer weights are fixed and public."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from ..errors import InvalidParameter, check_real, check_scale
from .base import Array, Loss, LossConstants


@dataclass(frozen=True)
class TanhNetwork(Loss):
    """The logistic loss ℓ = log(1 + e^{−yf}) of f = Σ_j a_j tanh(z_j), z = Wx, y ∈ {−1, +1}.

    With t_j = tanh(z_j), t′ = 1 − t² ∈ (0, 1] and t″ = −2t(1 − t²), |t″| ≤ 4/(3√3) (at t² = 1/3):

    g_j = −y s(−yf) a_j t′_j with the logistic function s < 1, so ‖g‖ < ‖a‖₂ and L = ‖a‖₂ R. The bound is approached by
    a large, W small: f → −y∞ while every t′_j → 1.
    ∂²ℓ/∂z² = s(f)s(−f)·vvᵀ − y s(−yf)·diag(a_j t″_j) with v_j = a_j t′_j. The first term is positive semidefinite with
    norm ≤ ‖a‖₂²/4, the second has norm < ‖a‖_∞ · 4/(3√3). Hence β₊ = R²(‖a‖₂²/4 + ‖a‖_∞ · 4/(3√3)) and
    β₋ = R²‖a‖_∞ · 4/(3√3), approached by a large: one unit at t² = 1/3, the others holding f far on the wrong side.
    |f| < ‖a‖₁, and log(1 + e^A) − log(1 + e^{−A}) = A, so ω = ‖a‖₁, approached as every |z_j| → ∞.

    Attributes:
        outer_weights: a = (a_1, …, a_h), public and chosen before the data are seen; only W is trained.
    """

    outer_weights: tuple[float, ...] = (1.0,)

    name: ClassVar[str] = "tanh-network"
    label_kind: ClassVar[str] = "binary"

    def __post_init__(self) -> None:
        super().__post_init__()
        given: Any = self.outer_weights
        if isinstance(given, str) or not hasattr(given, "__iter__"):
            raise InvalidParameter("must be a sequence of numbers, one per hidden unit", outer_weights=given)
        weights = tuple(check_real("outer_weights", weight) for weight in given)
        if not any(weights):
            raise InvalidParameter("must hold a number other than 0; else ℓ is constant", outer_weights=weights)
        check_scale("the norm of outer_weights", math.hypot(*weights))
        object.__setattr__(self, "outer_weights", weights)

    @property
    def outputs(self) -> int:
        return len(self.outer_weights)

    @property
    def constants(self) -> LossConstants:
        norm = math.hypot(*self.outer_weights)
        bend = 4 / (3 * 3**0.5) * max(map(abs, self.outer_weights)) * self.radius**2
        return LossConstants(
            lipschitz=norm * self.radius,
            smoothness=(norm * self.radius) ** 2 / 4 + bend,
            weak_convexity=bend,
            range=math.fsum(map(abs, self.outer_weights)),
            proven=True,
        )

    def network(self, scores: Array, xp: Any) -> Array:
        """Return f, shape (n,); its sign is the predicted label."""
        return (xp.tanh(scores) * self._outer(scores, xp)).sum(-1)

    def predict(self, scores: Array, xp: Any) -> Array:
        """Return −1 or +1, the sign of the network's output."""
        return xp.where(self.network(scores, xp) >= 0, 1.0, -1.0)

    def value(self, scores: Array, labels: Array, xp: Any) -> Array:
        margin = self.network(scores, xp) * labels
        return xp.log1p(xp.exp(-xp.abs(margin))) + (xp.abs(margin) - margin) / 2

    def derivative(self, scores: Array, labels: Array, xp: Any) -> Array:
        hidden = xp.tanh(scores)
        outer = self._outer(scores, xp)
        signs = labels[..., None]
        margin = (hidden * outer).sum(-1)[..., None] * signs
        return signs * ((xp.tanh(margin * 0.5) - 1) * 0.5) * ((1 - hidden**2) * outer)

    def _outer(self, scores: Array, xp: Any) -> Array:
        """Return the outer weights as an array with the dtype and device of `scores` (numpy 1 arrays have no device).

        The array is filled on the device, not copied there, since a copy from the host cannot be part of a CUDA graph.
        """
        place = {"device": scores.device} if hasattr(scores, "device") else {}
        return xp.concatenate([xp.full((1,), weight, dtype=scores.dtype, **place) for weight in self.outer_weights])

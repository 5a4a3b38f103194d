"""A loss whose per-record gradient is clipped to norm L, where that is sound: one gradient direction per record.

For ∇ℓ = g(z)·x clipping shortens the scalar g, and a clipped increasing function is increasing: convexity and smoothness
survive. In general they do not, and Lemma F.3 of Chourasia & Shah is false: for ½θᵀHθ, H = diag(1, h), h ≠ 1, the clipped
gradient field has Jacobian (L/‖g‖)(I − ĝĝᵀ)H, whose symmetric part is indefinite off the axes, so it is no gradient of a
convex function, and two runs may move apart. Softmax with three or more classes has the same fault.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ..errors import AssumptionViolated, InvalidParameter, check_scale
from .base import ONE_DIRECTION, Array, Loss, LossConstants, ScalarSlope


@dataclass(frozen=True)
class Clipped(Loss):
    """ℓ where |g| ≤ t = limit/R, continued linearly: g becomes min(max(g, −t), t). Use `losses.clip`.

    |g| ≤ t gives L = limit for rows of norm ≤ R. Where g is not clipped its derivative is ∂²ℓ/∂z² of the base, elsewhere
    0 (C^{1,1}, not C²): β₊ of the base, β₋ = 0. Unbounded: ω = ∞.
    """

    base: Any = None
    limit: float = 1.0

    name: ClassVar[str] = "clipped"
    label_kind: ClassVar[str] = ""
    curving: ClassVar[str] = ONE_DIRECTION
    twice_differentiable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "limit", check_scale("limit", self.limit))
        object.__setattr__(self, "label_kind", self.base.label_kind)

    @property
    def constants(self) -> LossConstants:
        return LossConstants(
            lipschitz=self.limit, smoothness=self.base.constants.smoothness, proven=self.base.constants.proven
        )

    @property
    def loss_of_fit(self) -> float:
        """L/limit: where g is not clipped both losses are equal, beyond it one has slope up to L/R and the other limit/R."""
        return float(self.base.constants.lipschitz / self.limit)

    @property
    def gap_at_zero(self) -> float:
        """That of the base at most: a continuation along tangents lies below a convex function, and leads upwards."""
        return float(self.base.gap_at_zero)

    def value(self, scores: Array, labels: Array, xp: Any) -> Array:
        inside = self.base.unclipped(scores, labels, self.limit / self.radius, xp)
        slope = self.base.derivative(inside, labels, xp)
        return self.base.value(inside, labels, xp) + (slope * (scores - inside))[..., 0]

    def derivative(self, scores: Array, labels: Array, xp: Any) -> Array:
        return xp.clip(self.base.derivative(scores, labels, xp), -self.limit / self.radius, self.limit / self.radius)

    @property
    def scalar_slope(self) -> ScalarSlope | None:
        inner: ScalarSlope | None = self.base.scalar_slope
        return None if inner is None else inner._replace(bound=self.limit / self.radius)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "base": self.base.to_dict(), "limit": self.limit}


def clip_loss(loss: Loss, limit: float) -> Loss:
    """`loss` with per-record gradients clipped to norm `limit`; the loss itself where none is longer.

    Raises:
        AssumptionViolated: clipping would break convexity, or the loss has no unclipped part.
    """
    limit = check_scale("limit", limit)
    clipped: Any = loss
    if hasattr(loss, "clip"):  # a network: its gradients are always clipped, and to any norm
        network: Loss = replace(clipped, clip=limit)
        return network
    if limit >= loss.constants.lipschitz:
        return loss
    if loss.outputs > 1:
        raise AssumptionViolated(
            f"the {loss.name} loss has {loss.outputs} gradient directions per record: clipping its gradient does not "
            "keep convexity or smoothness (Lemma F.3 of the paper is false), so no convex certificate would hold. "
            "Shrink the rows instead (radius), or train it as a torch module (networks.NetworkLoss) under method 'composition'"
        )
    if not loss.constants.convex or not hasattr(loss, "unclipped"):
        raise InvalidParameter(
            f"the {loss.name} loss is not clipped here: give it a smaller radius, which scales its gradient"
        )
    return Clipped(radius=loss.radius, base=loss, limit=limit)

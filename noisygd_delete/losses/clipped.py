"""Losses with per-record gradients clipped to norm L, for losses of one gradient direction per record.

For ∇ℓ = g(z)·x clipping shortens the scalar g, and a clipped increasing function is increasing, so convexity and
smoothness are preserved. In general they are not, and Lemma F.3 of Chourasia & Shah is false: for ½θᵀHθ, H = diag(1,
h), h ≠ 1, the clipped gradient field has Jacobian (L/‖g‖)(I − ĝĝᵀ)H, whose symmetric part is indefinite off the axes.
So it is not the gradient of a convex function, and two runs may move apart. The same holds for softmax with three or
more classes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ..errors import AssumptionViolated, InvalidParameter, check_scale
from .base import ONE_DIRECTION, Array, Loss, LossConstants, ScalarSlope


@dataclass(frozen=True)
class Clipped(Loss):
    """A loss ℓ continued linearly where |g| > t = limit/R, so that g becomes min(max(g, −t), t).

    Create it with `losses.clip_loss`.

    |g| ≤ t gives L = limit for rows of norm ≤ R. Where g is not clipped its derivative is ∂²ℓ/∂z² of the base,
    elsewhere 0 (C^{1,1}, not C²): β₊ of the base, β₋ = 0. Unbounded: ω = ∞.

    Attributes:
        base: The loss to clip.
        limit: Largest gradient norm L.
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
        """L/limit of the base's L.

        Both losses are equal where g is not clipped; beyond, the base has slope up to L/R and this loss limit/R.
        """
        return float(self.base.constants.lipschitz / self.limit)

    @property
    def gap_at_zero(self) -> float:
        """At most that of the base: the tangent continuation is below a convex function, and increases outward."""
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
    """Return `loss` with per-record gradients clipped to norm `limit`; `loss` itself if no gradient is longer.

    Raises:
        AssumptionViolated: If the loss has several gradient directions per record, so that clipping would not preserve
            convexity.
        InvalidParameter: If the loss is not convex or does not implement `unclipped`.
    """
    limit = check_scale("limit", limit)
    clipped: Any = loss
    if hasattr(loss, "clip"):  # a network, whose gradients are always clipped; any norm is allowed
        network: Loss = replace(clipped, clip=limit)
        return network
    if limit >= loss.constants.lipschitz:
        return loss
    if loss.outputs > 1:
        raise AssumptionViolated(
            f"the {loss.name} loss has {loss.outputs} gradient directions per record: clipping its gradient does not "
            "keep convexity or smoothness (Lemma F.3 of the paper is false), so no convex certificate would hold. "
            "Shrink the rows instead (radius), or train it as a torch module (networks.NetworkLoss) under method 'noisy-gd:analysis=composition'"
        )
    if not loss.constants.convex or not hasattr(loss, "unclipped"):
        raise InvalidParameter(
            f"the {loss.name} loss is not clipped here: give it a smaller radius, which scales its gradient"
        )
    return Clipped(radius=loss.radius, base=loss, limit=limit)

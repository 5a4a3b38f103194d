"""What every loss must state and compute.

A loss here is a function of the record's scores z = Wx (W: outputs × features) and its label, so its gradient is
g ⊗ x with g = ∂ℓ/∂z. Two facts follow, and every docstring of a loss uses them:

* ‖∇ℓ‖ = ‖g‖·‖x‖, so L = R · sup‖g‖ for rows of norm at most R;
* the Hessian of ℓ is H ⊗ xxᵀ with H = ∂²ℓ/∂z², so its eigenvalues lie between R² · min(0, inf λ_min(H)) and
  R² · sup λ_max(H): β₊ = R² sup λ_max(H), β₋ = −R² min(0, inf λ_min(H)).

The null record is the zero row (constant column included): its gradient is g ⊗ 0 = 0 whatever its label.

`value` and `derivative` are written against the array module they are handed (numpy or torch) and import neither. A loss of
one score per record states `slope` instead, in arithmetic on plain numbers: arrays and the compiled kernel run that one text.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, NamedTuple

from ..errors import check_count, check_scale

Array = Any


MOST_CLASSES = 1_000_000

ONE_DIRECTION = "one direction"  # ∇ℓ = g·x for a scalar g, so that the Hessian has rank one: in each of `blocks`
SEVERAL_DIRECTIONS = "several directions"  # ∂²ℓ/∂z² has Frobenius norm at most β₊/R²


@dataclass(frozen=True)
class LossConstants:
    """Constants of one record's loss on rows of norm ≤ R.

    lipschitz       L: ‖∇ℓ‖ ≤ L
    smoothness      β₊: largest eigenvalue of the Hessian is at most β₊
    weak_convexity  β₋: smallest eigenvalue is at least −β₋ (0: convex)
    range           ω: sup ℓ − inf ℓ over θ for a fixed record (inf: unbounded)
    proven          whether the loss's docstring proves them; else whoever wrote the loss declares them, and papers say so
    """

    lipschitz: float
    smoothness: float
    weak_convexity: float = 0.0
    range: float = math.inf
    proven: bool = False

    @property
    def convex(self) -> bool:
        return self.weak_convexity == 0

    @property
    def curvature(self) -> float:
        """β: no eigenvalue of the Hessian is larger in size."""
        return max(self.smoothness, self.weak_convexity)


class ScalarSlope(NamedTuple):
    """∂ℓ/∂z of one score, as the compiled kernel takes it.

    formula    slope(score, label, parameter, tanh, sqrt): + − · / on these, on float literals and on local names, nothing else
    parameter  a number of the loss, such as δ of pseudo-Huber
    bound      sup |∂ℓ/∂z|, to which the kernel clamps what it computes, whatever its rounding
    """

    formula: Any
    parameter: float
    bound: float


@dataclass(frozen=True)
class Loss(ABC):
    """A per-record loss with proven constants. `radius` R bounds the norm of every feature row."""

    radius: float

    name: ClassVar[str]
    label_kind: ClassVar[str]  # "binary" (−1/+1), "class" (0..k−1), "target" (real) or "none"
    curving: ClassVar[str] = ""  # how one record's Hessian lies, of the words below; "" where nothing is proven
    clips_each: ClassVar[bool] = False  # whether each gradient is clipped by itself: it then brings `block_sums`
    twice_differentiable: ClassVar[bool] = True  # the printed theorems assume C²; the tight ones need C^{1,1} only
    slope: ClassVar[Any] = None  # a static method, the formula of `ScalarSlope`; None: the loss states `derivative`

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", check_scale("radius", self.radius))

    @property
    def outputs(self) -> int:
        """Scores per record."""
        return 1

    @property
    def blocks(self) -> int:
        """Independent models that the loss is a sum of, each with L/√blocks."""
        return 1

    @property
    def steps_exact(self) -> bool:
        """Whether noisy steps on it are proven to the last bit: only where it is convex, and its gradients and their sum are rounded as is
        proven. Of one that a user declares nobody knows how its slope is rounded."""
        return self.constants.convex and self.constants.proven and not self.clips_each

    @property
    @abstractmethod
    def constants(self) -> LossConstants:
        """L, β₊, β₋ and ω, proven in the class docstring."""

    @abstractmethod
    def value(self, scores: Array, labels: Array, xp: Any) -> Array:
        """Loss per record, shape (n,), from scores (n, outputs) and labels (n,)."""

    def derivative(self, scores: Array, labels: Array, xp: Any) -> Array:
        """g = ∂ℓ/∂z, shape (n, outputs), in the dtype of `scores`."""
        if self.slope is None:
            raise NotImplementedError(f"{type(self).__name__} states neither slope nor derivative")
        return self.slope(scores, labels[..., None], self.parameter, xp.tanh, xp.sqrt)

    @property
    def parameter(self) -> float:
        """The number that `slope` is handed."""
        return 1.0

    @property
    def scalar_slope(self) -> ScalarSlope | None:
        """The slope for the compiled kernel; None where `derivative` is not made of it, in an heir for example."""
        if self.slope is None or type(self).derivative is not Loss.derivative:
            return None
        return ScalarSlope(type(self).slope, self.parameter, self.constants.lipschitz / self.radius)

    def predict(self, scores: Array, xp: Any) -> Array:
        """Labels from scores (rows, outputs), in the coding of `label_kind`."""
        if self.label_kind == "binary":
            return xp.where(scores[..., 0] >= 0, 1.0, -1.0)
        if self.label_kind == "class":
            return scores.argmax(-1)
        return scores[..., 0]

    @property
    def loss_of_fit(self) -> float:
        """A factor: the loss that this one stands for is nowhere more than so many times it; 1 but for a clipped loss."""
        return 1.0

    def largest_at_zero(self, xp: Any) -> float:
        """The largest loss of a record whose scores are 0, whatever its label."""
        return float(self.value(xp.zeros((1, self.outputs)), xp.ones(1, int), xp)[0])

    @property
    def gap_at_zero(self) -> float:
        """By how much a record's loss at scores 0 exceeds its least, at most, whatever its label; ∞ where nothing public bounds it."""
        return math.inf

    @property
    def curvature_trace(self) -> float:
        """Bound on the trace of one record's Hessian, R² · sup tr ∂²ℓ/∂z²; for forecasts of utility alone."""
        return self.constants.smoothness * self.outputs

    def dimension(self, features: int) -> int:
        """d of the theorems: the number of weights."""
        return self.outputs * features

    def shape(self, features: int) -> tuple[int, int]:
        """Shape of the weights inside the engine: (outputs, features), for a loss of scores z = Wx."""
        return self.outputs, features

    def scores(self, weights: Array, features: Array) -> Array:
        """z = Wx per row: (rows, outputs)."""
        return features @ weights.T

    def to_dict(self) -> dict[str, Any]:
        """JSON description; `losses.from_dict` reads it back."""
        return {"name": self.name, **asdict(self)}


@dataclass(frozen=True)
class MulticlassLoss(Loss):
    """A loss of one score for each of `classes` k, y ∈ {0, …, k−1}."""

    classes: int = 2

    label_kind: ClassVar[str] = "class"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "classes", check_count("classes", self.classes, minimum=2, maximum=MOST_CLASSES))

    @property
    def outputs(self) -> int:
        return self.classes

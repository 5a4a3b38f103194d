"""Base classes of the losses: the interface and constants that every loss provides.

A loss here is a function of the record's scores z = Wx (W: outputs × features) and its label, so its gradient is
g ⊗ x with g = ∂ℓ/∂z. Two facts follow, which the docstring of every loss uses:

* ‖∇ℓ‖ = ‖g‖·‖x‖, so L = R · sup‖g‖ for rows of norm at most R;
* the Hessian of ℓ is H ⊗ xxᵀ with H = ∂²ℓ/∂z², so its eigenvalues are between R² · min(0, inf λ_min(H)) and
  R² · sup λ_max(H): β₊ = R² sup λ_max(H), β₋ = −R² min(0, inf λ_min(H)).

The null record is the zero row (constant column included). Its gradient is g ⊗ 0 = 0 for any label.

`value` and `derivative` receive the array module (numpy or torch) as `xp` and import neither. A loss of one score per
record defines `slope` instead, in arithmetic on plain numbers, which both arrays and the compiled kernel evaluate.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, NamedTuple

from ..errors import check_count, check_scale

Array = Any


MOST_CLASSES = 1_000_000

ONE_DIRECTION = "one direction"  # ∇ℓ = g·x for a scalar g, so the Hessian has rank one, in each of `blocks`
SEVERAL_DIRECTIONS = "several directions"  # ∂²ℓ/∂z² has Frobenius norm at most β₊/R²


@dataclass(frozen=True)
class LossConstants:
    """Constants of one record's loss on rows of norm ≤ R.

    Attributes:
        lipschitz: L; ‖∇ℓ‖ ≤ L.
        smoothness: β₊; the largest eigenvalue of the Hessian is at most β₊.
        weak_convexity: β₋; the smallest eigenvalue is at least −β₋ (0: convex).
        range: ω; sup ℓ − inf ℓ over θ for a fixed record (inf: unbounded).
        proven: Whether the loss's docstring proves the constants. If not, they are declared by the author of the loss,
            and documents state this.
    """

    lipschitz: float
    smoothness: float
    weak_convexity: float = 0.0
    range: float = math.inf
    proven: bool = False

    @property
    def convex(self) -> bool:
        """Whether the loss is convex, β₋ = 0."""
        return self.weak_convexity == 0

    @property
    def curvature(self) -> float:
        """β, the largest absolute eigenvalue of the Hessian."""
        return max(self.smoothness, self.weak_convexity)


class ScalarSlope(NamedTuple):
    """∂ℓ/∂z of a loss of one score, in the form that the compiled kernel takes.

    Attributes:
        formula: slope(score, label, parameter, tanh, sqrt); it may use only + − · / on these, on float literals and on
            local names.
        parameter: A number of the loss, such as δ of pseudo-Huber.
        bound: sup |∂ℓ/∂z|, to which the kernel clamps the computed slope to exclude rounding errors.
    """

    formula: Any
    parameter: float
    bound: float


@dataclass(frozen=True)
class Loss(ABC):
    """A per-record loss with proven constants.

    Attributes:
        radius: R, upper bound on the norm of every feature row.
    """

    radius: float

    name: ClassVar[str]
    label_kind: ClassVar[str]  # "binary" (−1/+1), "class" (0..k−1), "target" (real) or "none"
    curving: ClassVar[str] = ""  # structure of one record's Hessian, a constant above; "" if nothing is proven
    clips_each: ClassVar[bool] = False  # whether each gradient is clipped individually; requires `block_sums`
    twice_differentiable: ClassVar[bool] = True  # the printed theorems assume C²; the tight ones need only C^{1,1}
    slope: ClassVar[Any] = None  # static method, the formula of `ScalarSlope`; None if `derivative` is overridden

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", check_scale("radius", self.radius))

    @property
    def outputs(self) -> int:
        """Number of scores per record."""
        return 1

    @property
    def blocks(self) -> int:
        """Number of independent models of which the loss is a sum, each with L/√blocks."""
        return 1

    @property
    def steps_exact(self) -> bool:
        """Whether finite-precision noisy steps on this loss are covered by the proof.

        The loss must be convex, and the rounding of its gradients and of their sum must be bounded by the proof. The
        rounding of a user-defined slope is unknown.
        """
        return self.constants.convex and self.constants.proven and not self.clips_each

    @property
    @abstractmethod
    def constants(self) -> LossConstants:
        """L, β₊, β₋ and ω, proven in the class docstring."""

    @abstractmethod
    def value(self, scores: Array, labels: Array, xp: Any) -> Array:
        """Return the loss of each record.

        Args:
            scores: Scores, shape (n, outputs).
            labels: Labels, shape (n,).
            xp: Array module, numpy or torch.

        Returns:
            Losses, shape (n,).
        """

    def derivative(self, scores: Array, labels: Array, xp: Any) -> Array:
        """Return g = ∂ℓ/∂z, shape (n, outputs), in the dtype of `scores`."""
        if self.slope is None:
            raise NotImplementedError(f"{type(self).__name__} states neither slope nor derivative")
        return self.slope(scores, labels[..., None], self.parameter, xp.tanh, xp.sqrt)

    @property
    def parameter(self) -> float:
        """The number that is passed to `slope`."""
        return 1.0

    @property
    def scalar_slope(self) -> ScalarSlope | None:
        """The slope for the compiled kernel; None if `derivative` does not use it (in a subclass, for example)."""
        if self.slope is None or type(self).derivative is not Loss.derivative:
            return None
        return ScalarSlope(type(self).slope, self.parameter, self.constants.lipschitz / self.radius)

    def predict(self, scores: Array, xp: Any) -> Array:
        """Return labels for scores of shape (rows, outputs), in the coding of `label_kind`."""
        if self.label_kind == "binary":
            return xp.where(scores[..., 0] >= 0, 1.0, -1.0)
        if self.label_kind == "class":
            return scores.argmax(-1)
        return scores[..., 0]

    @property
    def loss_of_fit(self) -> float:
        """Factor c such that the original loss is at most c times this one everywhere; 1 except for clipped losses."""
        return 1.0

    def largest_at_zero(self, xp: Any) -> float:
        """Return the largest loss of a record with scores 0, over all labels."""
        return float(self.value(xp.zeros((1, self.outputs)), xp.ones(1, int), xp)[0])

    @property
    def gap_at_zero(self) -> float:
        """Upper bound on a record's loss at scores 0 minus its minimum, for any label; ∞ if no public bound exists."""
        return math.inf

    @property
    def curvature_trace(self) -> float:
        """Bound on the trace of one record's Hessian, R² · sup tr ∂²ℓ/∂z²; bounds and forecasts of utility use it."""
        return self.constants.smoothness * self.outputs

    def dimension(self, features: int) -> int:
        """Return d of the theorems, the number of weights."""
        return self.outputs * features

    def shape(self, features: int) -> tuple[int, int]:
        """Return the shape of the weights inside the engine, (outputs, features) for a loss of scores z = Wx."""
        return self.outputs, features

    def scores(self, weights: Array, features: Array) -> Array:
        """Return the scores z = Wx of each row, shape (rows, outputs)."""
        return features @ weights.T

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON description, which `losses.from_dict` reads."""
        return {"name": self.name, **asdict(self)}


@dataclass(frozen=True)
class MulticlassLoss(Loss):
    """A loss with one score for each of k classes, y ∈ {0, …, k−1}.

    Attributes:
        classes: k.
    """

    classes: int = 2

    label_kind: ClassVar[str] = "class"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "classes", check_count("classes", self.classes, minimum=2, maximum=MOST_CLASSES))

    @property
    def outputs(self) -> int:
        return self.classes

"""Second-order parts of certified removal: loss curves, perturbed objective, minimiser, missing determinant."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from noisygd_delete.errors import AssumptionViolated

from .base import Weights

Array = NDArray[np.float64]
LOGISTIC_THIRD = 1 / (6 * math.sqrt(3))  # sup|ℓ‴| of the logistic loss, so ℓ″ is this-Lipschitz; the paper uses 1/4


class LossCurve(Protocol):
    """ℓ as a function of the score, as needed for one Newton step."""

    lipschitz: float
    third_derivative: float

    def value(self, scores: Array, labels: Array) -> Array:
        """Return ℓ at each score."""
        ...

    def slope(self, scores: Array, labels: Array) -> Array:
        """Return the first derivative of ℓ by the score."""
        ...

    def curvature(self, scores: Array, labels: Array) -> Array:
        """Return the second derivative of ℓ by the score."""
        ...

    def third(self, scores: Array, labels: Array) -> Array:
        """Return the third derivative of ℓ by the score."""
        ...


class LogisticCurve:
    """log(1 + e^{−yz}): C = 1 and γ = sup|ℓ‴| = 1/(6√3)."""

    lipschitz = 1.0
    third_derivative = LOGISTIC_THIRD

    def value(self, scores: Array, labels: Array) -> Array:
        return np.asarray(np.logaddexp(0, -scores * labels))

    def slope(self, scores: Array, labels: Array) -> Array:
        return np.asarray(labels * (np.tanh(scores * labels / 2) - 1) / 2)

    def curvature(self, scores: Array, labels: Array) -> Array:
        tangent: Array = np.tanh(scores / 2)
        return (1 - tangent) * (1 + tangent) / 4

    def third(self, scores: Array, labels: Array) -> Array:
        return np.asarray(-np.tanh(scores / 2) * self.curvature(scores, labels))


class LeastSquaresCurve:
    """(z − y)²: curvature 2 (the paper prints the Hessian without the 2), not Lipschitz.

    γ = 0, so a Newton step is exact.
    """

    lipschitz = math.inf
    third_derivative = 0.0

    def value(self, scores: Array, labels: Array) -> Array:
        """Return (z − y)², without a factor ½."""
        return (scores - labels) ** 2

    def slope(self, scores: Array, labels: Array) -> Array:
        """Return 2(z − y), the derivative of (z − y)²."""
        return 2 * (scores - labels)

    def curvature(self, scores: Array, labels: Array) -> Array:
        return np.full_like(scores, 2.0)

    def third(self, scores: Array, labels: Array) -> Array:
        return np.zeros_like(scores)


CURVES: dict[str, LossCurve] = {"logistic": LogisticCurve(), "least-squares": LeastSquaresCurve()}


@dataclass(frozen=True)
class SecondOrderProblem:
    """Objective L_b of one table.

    Attributes:
        curve: The loss curve.
        rows: (n, d); null rows do not contribute.
        labels: (outputs, n).
        regularization: λ.
        present: n of the paper.
    """

    curve: LossCurve
    rows: Array
    labels: Array
    regularization: float
    present: int

    def value(self, weights: Weights, perturbation: Weights) -> float:
        used = self.curve.value(weights @ self.rows.T, self.labels) * (self.rows.any(axis=1))
        penalty = self.regularization * self.present / 2 * np.vdot(weights, weights)
        return float(used.sum() + penalty + np.vdot(perturbation, weights))

    def gradient(self, weights: Weights, perturbation: Weights | float = 0.0) -> Weights:
        slopes = self.curve.slope(weights @ self.rows.T, self.labels)
        total: Weights = slopes @ self.rows + self.regularization * self.present * weights + perturbation
        return total

    def hessian(self, weights: Weights) -> Array:
        """Return the Hessian per output, (outputs, d, d)."""
        curvatures = self.curve.curvature(weights @ self.rows.T, self.labels)
        ridge = self.regularization * self.present * np.eye(self.rows.shape[1])
        return np.stack([(self.rows.T * row) @ self.rows + ridge for row in curvatures])


def newton_step(hessian: Array, gradient: Weights) -> Weights:
    """Return H⁻¹g per output."""
    return np.stack([np.linalg.solve(h, g) for h, g in zip(hessian, gradient, strict=True)])


def minimise_perturbed(
    problem: SecondOrderProblem, perturbation: Weights, *, tolerance: float
) -> tuple[Weights, float, int]:
    """Return argmin L_b by damped Newton from 0.

    Args:
        problem: The objective.
        perturbation: b, (outputs, d).
        tolerance: Gradient norm to reach.

    Returns:
        The weights, the final gradient norm, and the number of Newton steps.

    Raises:
        AssumptionViolated: If the gradient norm stays above the tolerance.
    """
    weights = np.zeros_like(perturbation)
    gradient = problem.gradient(weights, perturbation)
    best = float(np.linalg.norm(gradient))
    for step in range(100):
        if best <= tolerance:
            return weights, best, step
        direction = newton_step(problem.hessian(weights), gradient)
        value, slope, scale = problem.value(weights, perturbation), float(np.vdot(gradient, direction)), 1.0
        while scale > 1e-8 and problem.value(weights - scale * direction, perturbation) > value - scale * slope / 4:
            scale /= 2
        moved = weights - (scale if scale > 1e-8 else 1.0) * direction  # near rounding precision: a full step
        gradient = problem.gradient(moved, perturbation)
        norm = float(np.linalg.norm(gradient))
        if norm >= best and best <= 1e3 * tolerance:  # limited by rounding; the residual is charged in any case
            return weights, best, step
        weights, best = moved, norm
    raise AssumptionViolated(f"Newton's method stopped at gradient norm {best:.3g} > tolerance={tolerance:g}")


def lost_determinant(after: SecondOrderProblem, weights: Weights, step: Weights, extra: Array) -> float:
    """Return log|det ∂(b − u)/∂b| of one removal, which the proof of Theorem 2 takes to be 0.

    With H′ and H the Hessians without and with the erased records (H = H′ + `extra`), T the derivative of H′ along the
    step s: b − u = −∇L(w + s; D′), ∂s/∂w = H′⁻¹(H − H′ − T), ∂w/∂b = −H⁻¹, hence ∂(b − u)/∂b = H′(w + s)H′(w)⁻¹(H −
    T)H⁻¹.

    Args:
        after: Objective on the remaining records D′.
        weights: w, the model before the removal.
        step: s, the removal step.
        extra: H − H′, (outputs, d, d).
    """
    thirds = after.curve.third(weights @ after.rows.T, after.labels) * (step @ after.rows.T)
    total = 0.0
    for moved, here, added, third in zip(
        after.hessian(weights + step), after.hessian(weights), extra, thirds, strict=True
    ):
        before = here + added
        along = (after.rows.T * third) @ after.rows
        signs = [(moved, 1), (here, -1), (before - along, 1), (before, -1)]
        total += sum(sign * float(np.linalg.slogdet(matrix)[1]) for matrix, sign in signs)
    return total

"""L-BFGS that starts from the Hessian of a sample of rows, and renews it on the way.

It only steers: what it returns is measured by the caller, and nothing of it enters a certificate. The Hessian of the mean
loss is a mean of A_i ⊗ x_i x_iᵀ over the rows, A_i = ∂²ℓ/∂z². Its inverse is taken

* where factorising costs little beside a gradient, and for one output: of the sample's Hessian itself;
* for several outputs: of Ā ⊗ M + λI, Ā and M the means of A_i and of x_i x_iᵀ (K-FAC; Martens & Grosse 2015). What softmax
  cannot see, the same vector added to every class, is then exact, and M is factorised once;
* for wide tables: by conjugate gradients on products with the sample's Hessian, which is never formed.

A_i is found from differences of the loss's slope, so a loss needs to state no second derivative. A start that nothing speaks
for (0) is first replaced by the minimiser of the sample's own objective, which is cheap and near.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from ..bounds.solver_steps import PER_FEATURE, ROWS, WIDE, factor_passes, share_of_a_pass
from .objective_float64 import PreciseObjective

Vector = NDArray[np.float64]
Function = Callable[[Vector], tuple[float, Vector]]
Operator = Callable[[Vector], Vector]

MEMORY = 20  # pairs that L-BFGS keeps
RENEWED = 6  # evaluations after which the Hessian is taken again
_COUPLING = 200  # rows from which Ā is found
_RESIDUAL = 0.2  # of conjugate gradients
_STEP = 1e-5  # of the differences, in scores
_MOST = 5000  # evaluations; the tolerance usually needs a hundredth of that


class Sample:
    """Every so-manyth slot of an objective's table, in float64, with the objective of those rows alone."""

    def __init__(self, objective: PreciseObjective) -> None:
        outputs, features = objective.shape
        self.passes = 0.0  # gradient passes of the whole table that the work done here amounts to
        self.dense = bool(factor_passes(records=objective.slots, features=features, outputs=outputs))
        rows = max(ROWS, PER_FEATURE * features) if self.dense else min(3000, objective.slots // WIDE)
        self._rows, self._labels = objective.strided(max(1, rows))
        self._objective = objective
        self.share = len(self._rows) / objective.slots
        self._build = share_of_a_pass(len(self._rows), objective.slots, features, outputs)
        self._moment: tuple[Vector, Vector] | None = None

    def _slopes(self, scores: Vector) -> Vector:
        slopes: Vector = self._objective.loss.derivative(scores, self._labels, np)
        return slopes

    def value_and_gradient(self, weights: Vector) -> tuple[float, Vector]:
        """The objective of the sample, regulariser and linear term included."""
        self.passes += self.share
        scores = self._rows @ weights.T
        fit = float(self._objective.loss.value(scores, self._labels, np).mean())
        value, gradient = self._objective.regular_part(weights)
        return fit + value, self._slopes(scores).T @ self._rows / len(self._rows) + gradient

    def inverse(self, weights: Vector) -> Operator:
        """About the inverse Hessian at `weights`, as an operator on (outputs, features)."""
        scores = self._rows @ weights.T
        return self._factored(scores) if self.dense else self._iterated(scores)

    def _change(self, scores: Vector, labels: Vector, direction: Vector) -> Vector:
        """A_i v_i by a central difference."""
        ahead, behind = (
            self._objective.loss.derivative(scores + step * direction, labels, np) for step in (_STEP, -_STEP)
        )
        change: Vector = (ahead - behind) / (2 * _STEP)
        return change

    def _factored(self, scores: Vector) -> Operator:
        convexity, outputs = self._objective.regularization, scores.shape[1]
        if outputs == 1:
            self.passes += self._build
            bend = np.maximum(self._change(scores, self._labels, np.ones_like(scores)), 0.0)
            hessian = (self._rows * bend).T @ self._rows / len(self._rows) + convexity * np.eye(self._rows.shape[1])
            factor = cho_factor(hessian)
            return lambda gradient: cho_solve(factor, gradient.T).T
        if self._moment is None:
            self.passes += self._build
            self._moment = eigh(self._rows.T @ self._rows / len(self._rows))
        few = slice(None, None, max(1, len(scores) // _COUPLING))
        part = scores[few]  # once for every output, all in one call
        repeated, labels = np.tile(part, (outputs, 1)), np.tile(self._labels[few], outputs)
        change = self._change(repeated, labels, np.repeat(np.eye(outputs), len(part), axis=0))
        coupling = change.reshape(outputs, len(part), outputs).mean(axis=1)
        along_classes, classes = eigh((coupling + coupling.T) / 2)
        along_features, features = self._moment
        scale = np.maximum(along_classes, 0)[:, None] * np.maximum(along_features, 0)[None, :] + convexity
        return lambda gradient: classes @ ((classes.T @ gradient @ features) / scale) @ features.T

    def _iterated(self, scores: Vector) -> Operator:
        def product(direction: Vector) -> Vector:
            self.passes += self.share
            along = self._rows @ direction.T
            size = max(float(np.abs(along).max()), 1e-300)
            bent = self._change(scores, self._labels, along / size) * size
            return bent.T @ self._rows / len(self._rows) + self._objective.regularization * direction

        return lambda gradient: conjugate_gradients(product, gradient)


def conjugate_gradients(product: Operator, right: Vector) -> Vector:
    """About the solution of `product`(x) = `right`, to a residual of `_RESIDUAL`."""
    solution, residual, direction = np.zeros_like(right), right, right
    square = float(np.vdot(residual, residual))
    enough = _RESIDUAL**2 * square
    for _ in range(right.size):
        image = product(direction)
        curvature = float(np.vdot(direction, image))
        if not curvature > 0:  # a weakly convex loss on few rows, or nothing left to do
            break
        solution = solution + square / curvature * direction
        residual = residual - square / curvature * image
        before, square = square, float(np.vdot(residual, residual))
        if square <= enough:
            return solution
        direction = residual + square / before * direction
    return solution if solution.any() else right


def descend(function: Function, start: Vector, inverse: Callable[[Vector], Operator], *, until: float = 0.0) -> Vector:
    """L-BFGS from `start`; `inverse(θ)` is asked for every `RENEWED` evaluations.

    Returns when ‖∇‖ ≤ `until`, when no step decreases the function any more, or after `_MOST` evaluations; `function` may
    raise to stop it earlier.
    """
    pairs: list[tuple[Vector, Vector, float]] = []
    point, since, evaluations = start, 0, 1
    value, gradient = function(point)
    initial = inverse(point)
    while evaluations < _MOST and float(np.linalg.norm(gradient)) > until:
        if since >= RENEWED:
            initial, since = inverse(point), 0
        step = _two_loops(gradient, pairs, initial)
        slope = float(np.vdot(gradient, step))
        if not 0 < slope < math.inf:
            step, slope, pairs = gradient, float(np.vdot(gradient, gradient)), []
        length, noise = 1.0, 1e-12 * abs(value)  # the last digits of the value say nothing
        while True:
            moved = point - length * step
            found, bent = function(moved)
            since, evaluations = since + 1, evaluations + 1
            if found <= value - 1e-4 * length * slope + noise:
                break
            rise = found - value + length * slope
            shorter = slope * length / (2 * rise) if math.isfinite(rise) else 0.1
            length *= min(0.5, max(0.1, shorter))
            if length < 1e-12 or evaluations >= _MOST:
                return point
        change, bend = moved - point, bent - gradient
        if (along := float(np.vdot(change, bend))) > 0:
            pairs = [*pairs[1 - MEMORY :], (change, bend, 1 / along)]
        point, value, gradient = moved, found, bent
    return point


def _two_loops(gradient: Vector, pairs: list[tuple[Vector, Vector, float]], initial: Operator) -> Vector:
    """The step of L-BFGS: newest pair first, the initial inverse, then back (Nocedal 1980)."""
    step, shares = gradient, []
    for change, bend, weight in reversed(pairs):
        shares.append(weight * float(np.vdot(change, step)))
        step = step - shares[-1] * bend
    step = initial(step)
    for (change, bend, weight), share in zip(pairs, reversed(shares), strict=True):
        step = step + change * (share - weight * float(np.vdot(bend, step)))
    return step


def steer(sample: Sample, function: Function, start: Vector, *, cold: bool) -> None:
    """Minimise `function`, the measured objective of which `sample` is one; `sample.passes` counts the work beside it.

    Args:
        cold: `start` is 0, so that the sample's own minimiser is a better one.
    """
    point = start
    try:
        if cold and sample.share <= 1 / WIDE:
            first = float(np.linalg.norm(sample.value_and_gradient(point)[1]))
            point = descend(sample.value_and_gradient, point, sample.inverse, until=1e-3 * first)
        descend(function, point, sample.inverse)
    except LinAlgError:  # the loss curves as it said it would not: the caller goes on from the last point measured
        return

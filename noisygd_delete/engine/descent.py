"""Descents that use only gradients: L-BFGS with a given inverse Hessian, and damped Newton where it stalls.

Objective values are not used: the objective is convex, so along a line the derivative shows whether a step was too
long (approximate Wolfe condition; Hager & Zhang 2005), even in float32 where the values of two near points are equal.

The step solves H v = ∇ by conjugate gradients, with H v a difference of two gradients: one pass per product, no
matrix, and no second derivative of the loss. Where there is none (clipped slopes), the difference is one of the
generalized derivatives, and the method is the semismooth Newton method (Qi & Sun 1993).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Operator = Callable[[Vector], Vector]
Gradient = Operator
Pair = tuple[Vector, Vector, float]  # a step, the change of the gradient, 1/⟨step, change⟩

MEMORY = 20  # pairs stored by L-BFGS
RENEWED = 10  # evaluations after which the Hessian is recomputed
PATIENCE = 50  # evaluations in which the gradient norm must halve
_OVERSHOT = 0.8  # relative to the initial derivative of a step: an opposite derivative this large means too far
_SHORTENED = 40  # most evaluations of one step


def lbfgs(
    function: Gradient,
    point: Vector,
    gradient: Vector,
    inverse: Callable[[Vector], Operator],
    *,
    first: Vector | None = None,
    pairs: list[Pair] | None = None,
    until: float = 0.0,
    most: float = math.inf,
) -> tuple[Vector, int]:
    """Run L-BFGS from `point`.

    Args:
        function: Returns the gradient at a point; may raise to stop.
        point: The start.
        gradient: The gradient at the start.
        inverse: Returns the approximate inverse Hessian at a point; called every `RENEWED` evaluations.
        first: Target of the first step, if not that of L-BFGS.
        pairs: Pairs of an earlier descent on the same Hessian; updated in place.
        until: Tolerance of the gradient norm.
        most: Most evaluations.

    Returns:
        The last point and the number of evaluations: at the tolerance, after `most` evaluations, or when the gradient
        norm did not halve within `PATIENCE`.
    """
    pairs = [] if pairs is None else pairs
    norm = least = checked = float(np.linalg.norm(gradient))
    evaluations, renew, check = 0, 0, PATIENCE
    initial: Operator = np.copy
    while norm > until and evaluations < most:
        if evaluations >= check:
            if least > checked / 2:
                break
            checked, check = least, evaluations + PATIENCE
        if first is not None and first is not point:
            step, first = point - first, None
        else:
            if evaluations >= renew:
                initial, renew = inverse(point), evaluations + RENEWED
            step = _two_loops(gradient, pairs, initial)
        slope = float(np.vdot(gradient, step))
        if not 0 < slope < math.inf:
            step, slope = gradient, norm**2
            pairs.clear()
        moved, bent, used = search_along(function, point, step, slope)
        evaluations += used
        change, bend = moved - point, bent - gradient
        if (curved := float(np.vdot(change, bend))) > 0:
            pairs.append((change, bend, 1 / curved))
            del pairs[:-MEMORY]
        point, gradient, norm = moved, bent, float(np.linalg.norm(bent))
        least = min(least, norm)
    return point, evaluations


def search_along(function: Gradient, point: Vector, step: Vector, slope: float) -> tuple[Vector, Vector, int]:
    """Return a point towards `point` − `step` that is not too far, its gradient, and the number of evaluations.

    Args:
        function: Returns the gradient at a point.
        point: The start.
        step: The negative direction.
        slope: ⟨∇, step⟩ > 0 at `point`.
    """
    length, used = 1.0, 0
    while True:
        moved = point - length * step
        gradient, used = function(moved), used + 1
        left = float(np.vdot(gradient, step))
        if left >= -_OVERSHOT * slope or used >= _SHORTENED:
            return moved, gradient, used
        length *= max(0.1, slope / (slope - left))  # zero of the derivative if it is linear


def _two_loops(gradient: Vector, pairs: list[Pair], initial: Operator) -> Vector:
    """Return the step of L-BFGS: newest pair first, the initial inverse, then back (Nocedal 1980)."""
    step, shares = gradient.copy(), []
    for change, bend, weight in reversed(pairs):
        shares.append(weight * float(np.vdot(change, step)))
        step -= shares[-1] * bend
    step = initial(step)
    for (change, bend, weight), share in zip(pairs, reversed(shares), strict=True):
        step += change * (share - weight * float(np.vdot(bend, step)))
    return step


_DIFFERENCE = 1e-6  # length of the difference, relative to 1 + ‖θ‖
_RESIDUAL = 0.05  # relative residual of conjugate gradients


def newton_cg(function: Gradient, point: Vector, *, passes: int) -> None:
    """Run Newton's method from `point` until `function` raises or `passes` passes are used."""
    gradient, spent = function(point), 1
    while spent < passes and np.isfinite(gradient).all() and gradient.any():
        step, used = _newton_step(function, point, gradient, min(passes - spent, gradient.size))
        moved, bent, tried = search_along(function, point, step, float(np.vdot(gradient, step)))
        point, gradient, spent = moved, bent, spent + used + tried


def _newton_step(function: Gradient, point: Vector, gradient: Vector, most: int) -> tuple[Vector, int]:
    """Return an approximation of H⁻¹∇, by conjugate gradients to a residual of `_RESIDUAL`, and the passes used."""
    length = _DIFFERENCE * (1 + float(np.linalg.norm(point)))

    def multiply(direction: Vector) -> Vector:
        scale = length / float(np.linalg.norm(direction))
        return (function(point + scale * direction) - gradient) / scale

    step, used = solve_by_products(multiply, gradient, _RESIDUAL, most)
    return (step if step.any() else gradient), used


def solve_by_products(
    multiply: Operator, right: Vector, residual: float, most: int, approximate: Operator = np.copy
) -> tuple[Vector, int]:
    """Return an approximation of H⁻¹ `right` by preconditioned conjugate gradients, and the number of products used.

    Args:
        multiply: Returns H v.
        right: The right-hand side.
        residual: Relative tolerance of the residual, in the norm of `approximate`.
        most: Most products.
        approximate: Returns an approximation of H⁻¹ v.
    """
    solution, left, direction = np.zeros_like(right), right, approximate(right)
    square = float(np.vdot(left, direction))
    enough, used = residual**2 * square, 0
    while used < most:
        image, used = multiply(direction), used + 1
        curvature = float(np.vdot(direction, image))
        if not curvature > 0:  # dominated by rounding: no further progress
            break
        solution = solution + square / curvature * direction
        left = left - square / curvature * image
        turned = approximate(left)
        before, square = square, float(np.vdot(left, turned))
        if square <= enough:
            break
        direction = turned + square / before * direction
    return solution, used

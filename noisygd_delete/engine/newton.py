"""Damped Newton on a gradient alone, for where the quasi-Newton method stops short: kinks, samples that show nothing.

The step solves H v = ∇ by conjugate gradients, H v by a difference of two gradients: one pass a product, nothing formed, and
no second derivative asked of the loss. Where there is none (clipped slopes) the difference is one of the generalised
derivatives, and the method is the semismooth Newton method (Qi & Sun 1993).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .quasi_newton import Gradient, search_along

Vector = NDArray[np.float64]

_DIFFERENCE = 1e-6  # length of the difference, relative to 1 + ‖θ‖
_RESIDUAL = 0.05  # of conjugate gradients


def newton(function: Gradient, point: Vector, *, passes: int) -> None:
    """From `point`, until `function` raises or so many passes are spent."""
    gradient, spent = function(point), 1
    while spent < passes and np.isfinite(gradient).all() and gradient.any():
        step, used = _step(function, point, gradient, min(passes - spent, gradient.size))
        moved, bent, tried = search_along(function, point, step, float(np.vdot(gradient, step)))
        point, gradient, spent = moved, bent, spent + used + tried


def _step(function: Gradient, point: Vector, gradient: Vector, most: int) -> tuple[Vector, int]:
    """About H⁻¹∇, by conjugate gradients to a residual of `_RESIDUAL`, and the passes it took."""
    length = _DIFFERENCE * (1 + float(np.linalg.norm(point)))
    step, residual, direction = np.zeros_like(gradient), gradient, gradient
    square = float(np.vdot(residual, residual))
    enough = _RESIDUAL**2 * square
    used = 0
    while used < most:
        scale, used = length / float(np.linalg.norm(direction)), used + 1
        image = (function(point + scale * direction) - gradient) / scale
        curvature = float(np.vdot(direction, image))
        if not curvature > 0:  # rounding: nothing left to gain
            break
        step = step + square / curvature * direction
        residual = residual - square / curvature * image
        before, square = square, float(np.vdot(residual, residual))
        if square <= enough:
            break
        direction = residual + square / before * direction
    return (step if step.any() else gradient), used

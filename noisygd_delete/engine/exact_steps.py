"""Noisy-GD down to the last bit: every step ends on a public grid, by an exact discrete Gaussian.

    k = rint((θ̂ − η ĝ)/h) + N,   θ̂⁺ = Π(h k),   N exact discrete Gaussian of parameter 2^b,   h = τ/2^b

What rounding may do to a step is charged (`bounds.exact_steps`): nothing here is a statement about real numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .discrete_gaussian import discrete_gaussian, grid_of
from .noise import Noise
from .noisygd import Progress, Weights

_DRAWS = 1 << 11  # drawn one step at a time, few of them would cost a call each


def run_exactly(
    weights: Weights,
    gradient: Callable[[Weights], Weights],
    *,
    step_size: float,
    noise_variance: float,
    grid_bits: int,
    radius: float,
    steps: int,
    noise: Noise,
    progress: Progress | None = None,
) -> Weights:
    """`steps` steps from `weights`, at least one; what is published is the last grid point, before its projection.

    Args:
        gradient: ∇L_D in float64, for weights of norm at most `radius` but for rounding.
        noise_variance: σ²; the grid has step τ/2^`grid_bits`, τ = σ√(2η).
    """
    grid = grid_of(math.sqrt(2 * step_size * noise_variance), bits=grid_bits)
    point: Weights = np.array(weights, dtype=np.float64)
    together = max(1, _DRAWS // point.size)  # steps whose noise is drawn at once: it depends on nothing
    drawn: NDArray[np.int64] = np.empty((0, *point.shape), np.int64)
    for step in range(1, steps + 1):
        inside = project_to_ball(point, radius)
        centre: Weights = np.rint((inside - step_size * gradient(inside)) / grid)
        if not len(drawn):
            count = min(together, steps + 1 - step)
            drawn = discrete_gaussian(count * point.size, noise, variance=Fraction(4) ** grid_bits).reshape(
                count, *point.shape
            )
        point = (centre + drawn[0]) * grid + 0.0
        drawn = drawn[1:]
        if progress is not None:
            progress(step)
    noise.words(0)  # refused where this process was forked off since: its twin has the same draws
    return point


def project_to_ball(weights: Weights, radius: float) -> Weights:
    """The nearest point of the ball about 0."""
    length = math.sqrt(float(np.vdot(weights, weights)))
    return weights * (radius / length) if length > radius else weights

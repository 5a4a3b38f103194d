"""Noisy gradient descent, Algorithm 2 of Chourasia & Shah (ICML 2023).

    θ_{k+1} = θ_k − η ∇L_D(θ_k) + sqrt(2η) N(0, σ² I_d)

The only state is θ. This is the only module that adds noise to a model certified by a plan.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .noise import Noise, discrete_gaussian, grid_of

Weights = NDArray[np.float64]
Progress = Callable[[int], None]

_GRID_BITS = 20


def initial_weights(shape: tuple[int, ...], *, init_variance: float, noise: Noise) -> Weights:
    """Draw θ_0 ~ N(0, init_variance · I), float64 of the given shape."""
    return math.sqrt(init_variance) * noise.normal(shape)


def run_noisy_steps(
    weights: Weights,
    gradient: Callable[[Weights], Weights],
    *,
    step_size: float,
    noise_variance: float,
    steps: int,
    noise: Noise,
    progress: Progress | None = None,
) -> Weights:
    """Return the weights after `steps` steps of Noisy-GD. The input is not modified.

    Args:
        weights: θ_0.
        gradient: Maps weights to ∇L_D, including the regularizer, of the same shape.
        step_size: η.
        noise_variance: σ².
        steps: K.
        noise: Source of noise.
        progress: Called with the number of steps done, which does not depend on the data.
    """
    weights = np.array(weights, dtype=np.float64)
    scale = math.sqrt(2 * step_size * noise_variance)
    for step in range(1, steps + 1):
        weights -= step_size * gradient(weights)
        if scale:
            weights += scale * noise.normal(weights.shape)
        if progress is not None:
            progress(step)
    return weights


def run_in_blocks(
    weights: Weights,
    descend: Callable[..., Weights],
    *,
    step_size: float,
    noise_variance: float,
    steps: int,
    noise: Noise,
    block: int,
    progress: Progress | None = None,
) -> Weights:
    """Run `run_noisy_steps` on an engine that takes many steps at a time.

    Args:
        weights: θ_0.
        descend: `descend(weights, blocks, step_size=η)` takes a gradient step for each row of each of `blocks` and adds
            that row, which is the step's noise.
        step_size: η.
        noise_variance: σ².
        steps: K.
        noise: Source of noise.
        block: Largest number of rows of a block.
        progress: Called with the number of steps done.
    """
    scale = math.sqrt(2 * step_size * noise_variance)

    def blocks() -> Iterator[Weights]:
        for first in range(0, steps, block):
            yield scale * noise.normal((min(block, steps - first), *weights.shape))
            if progress is not None:
                progress(min(first + block, steps))

    return descend(weights, blocks(), step_size=step_size)


def publication_grid(*, step_size: float, noise_variance: float) -> float:
    """Return the spacing of the grid on which weights are published: a power of two, 2⁻²⁰ of one step's noise.

    It depends only on public numbers. Rounding to it is post-processing; it removes the low bits in which a
    floating-point sum "value + noise" reveals the value (Mironov 2012; Haney et al. 2022). This is tested, not proven.
    """
    scale = math.sqrt(2 * step_size * noise_variance)
    return 2.0 ** (math.frexp(scale)[1] - 1 - _GRID_BITS) if scale else 0.0


def on_grid(weights: Weights, grid: float) -> Weights:
    """Round weights to multiples of `grid` (0: unchanged), as a read-only array without negative zeros."""
    rounded = np.round(weights / grid) * grid + 0.0 if grid else np.array(weights)
    rounded.flags.writeable = False
    return rounded


# --- exact steps ---
#
# Noisy-GD accounted for down to the last bit: every step ends on a public grid, by an exact discrete Gaussian.
#
#     k = rint((θ̂ − η ĝ)/h) + N,   θ̂⁺ = Π(h k),   N exact discrete Gaussian of parameter 2^b,   h = τ/2^b
#
# The effect of rounding on a step is accounted for (`bounds.exact_steps`): no guarantee here assumes real arithmetic.


_DRAWS = 1 << 11  # numbers drawn at once: separate calls for each step would be slow


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
    """Return the weights after `steps` ≥ 1 exact steps: the last grid point, before its projection.

    Args:
        weights: θ_0.
        gradient: ∇L_D in float64, for weights of norm at most `radius` up to rounding.
        step_size: η.
        noise_variance: σ²; the grid has step τ/2^`grid_bits`, τ = σ√(2η).
        grid_bits: b.
        radius: Radius of the ball that every step starts in.
        steps: K.
        noise: Source of noise.
        progress: Called with the number of steps done.
    """
    grid = grid_of(math.sqrt(2 * step_size * noise_variance), bits=grid_bits)
    point: Weights = np.array(weights, dtype=np.float64)
    together = max(1, _DRAWS // point.size)  # steps whose noise is drawn at once, as it depends on nothing
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
    noise.words(0)  # raises if this process was forked since: the other process has the same draws
    return point


def project_to_ball(weights: Weights, radius: float) -> Weights:
    """Return the nearest point of the ball about 0."""
    length = math.sqrt(float(np.vdot(weights, weights)))
    return weights * (radius / length) if length > radius else weights

"""Noisy gradient descent, Algorithm 2 of Chourasia & Shah (ICML 2023).

    θ_{k+1} = θ_k − η ∇L_D(θ_k) + sqrt(2η) N(0, σ² I_d)

The state is θ and nothing else. This is the only module that adds noise to a model certified by a plan.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from .noise import Noise

Weights = NDArray[np.float64]
Progress = Callable[[int], None]

_GRID_BITS = 20


def initial_weights(shape: tuple[int, ...], *, init_variance: float, noise: Noise) -> Weights:
    """θ_0 ~ N(0, init_variance · I), float64 of the given shape."""
    return math.sqrt(init_variance) * noise.normal(shape)


def run(
    weights: Weights,
    gradient: Callable[[Weights], Weights],
    *,
    step_size: float,
    noise_variance: float,
    steps: int,
    noise: Noise,
    progress: Progress | None = None,
) -> Weights:
    """`steps` steps of Noisy-GD from `weights`; the argument is left as it was.

    `gradient` maps weights to ∇L_D (regulariser included), same shape. `progress` is told the steps done so far, a
    data-independent number.
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
    """`run`, by an engine that takes many steps at a time.

    `descend(weights, blocks, step_size=η)` takes a gradient step for each row of each of `blocks` (at most `block` rows)
    and adds that row: the step's noise.
    """
    scale = math.sqrt(2 * step_size * noise_variance)

    def blocks() -> Iterator[Weights]:
        for first in range(0, steps, block):
            yield scale * noise.normal((min(block, steps - first), *weights.shape))
            if progress is not None:
                progress(min(first + block, steps))

    return descend(weights, blocks(), step_size=step_size)


def publication_grid(*, step_size: float, noise_variance: float) -> float:
    """Spacing of the grid on which weights are published: a power of two, 2⁻²⁰ of one step's noise.

    It depends on public numbers only. Rounding to it is post-processing; it removes the low bits in which a
    floating-point sum "value + noise" betrays the value (Mironov 2012; Haney et al. 2022). A test, not a proof.
    """
    scale = math.sqrt(2 * step_size * noise_variance)
    return 2.0 ** (math.frexp(scale)[1] - 1 - _GRID_BITS) if scale else 0.0


def on_grid(weights: Weights, grid: float) -> Weights:
    """Weights rounded to multiples of `grid` (0: unchanged), as a read-only array without negative zeros."""
    rounded = np.round(weights / grid) * grid + 0.0 if grid else np.array(weights)
    rounded.flags.writeable = False
    return rounded

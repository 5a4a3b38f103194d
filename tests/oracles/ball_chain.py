"""Two noisy runs from the ends of a ball under opposite constant drifts: exact Gaussian laws, step by step; and densities for other drifts."""

from __future__ import annotations

import math

import numpy as np


def opposite_drifts(radius, clip, regularization, step_size, noise, steps):
    """μ between two runs from ±radius with drifts ±clip, by following mean and variance."""
    apart, variance = 2 * radius, 0.0
    for _ in range(steps):
        apart = (1 - step_size * regularization) * apart + 2 * step_size * clip
        variance = (1 - step_size * regularization) ** 2 * variance + noise**2
    return apart / math.sqrt(variance)


def same_drift_total_variation(drift, radius, regularization, step_size, noise, steps, cells=3001):
    """Total variation between runs from ±radius under one drift, on a grid."""
    reach = radius + 12 * noise * math.sqrt(steps) + 5
    grid = np.linspace(-reach, reach, cells)
    width = grid[1] - grid[0]
    moved = (1 - step_size * regularization) * grid - step_size * drift(grid)
    kernel = np.exp(-((grid[:, None] - moved[None]) ** 2) / (2 * noise**2))
    kernel /= kernel.sum(axis=0, keepdims=True)
    laws = []
    for start in (radius, -radius):
        where = (1 - step_size * regularization) * start - step_size * float(drift(np.array(start)))
        law = np.exp(-((grid - where) ** 2) / (2 * noise**2))
        law /= law.sum()
        for _ in range(steps - 1):
            law = kernel @ law
        laws.append(law)
    assert width < noise / 4
    return 0.5 * float(np.abs(laws[0] - laws[1]).sum())


def rewound(apart, expansion, steps, back):
    """How far two runs end that differ by `apart` in each of the first steps - back steps, each expanding; by walking."""
    distance = 0.0
    for step in range(steps):
        distance = expansion * distance + (apart if step < steps - back else 0.0)
    return distance

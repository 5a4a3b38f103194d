"""One-dimensional Noisy-GD densities on a grid, by a direct Gaussian kernel (an FFT's error floor fakes violations in the tails).

Every law after the first step is a mixture of Gaussians of width τ. Sums over a grid of spacing h then equal integrals up to
a relative 2e^{−2π²τ²/h²} (Poisson summation): below 10⁻³⁰ for τ ≥ 2h. What lies outside the grid is left out, which can only make a
divergence look smaller; the grids below hold all but 10⁻¹² of each law.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


class Line:
    """A grid on [−width, width] and kernels on it."""

    def __init__(self, width: float, noise: float, cells_per_noise: float = 2.5) -> None:
        count = int(np.ceil(2 * width / (noise / cells_per_noise))) + 1 | 1
        self.points = np.linspace(-width, width, count)
        self.spacing = float(self.points[1] - self.points[0])
        self.noise = noise
        assert self.noise >= 2 * self.spacing

    def kernel(self, gradient: Callable[[np.ndarray], np.ndarray], step_size: float) -> np.ndarray:
        """Masses of one step: column j holds the law of θ_j − η∇L(θ_j) + N(0, τ²)."""
        image = self.points - step_size * gradient(self.points)
        difference = (self.points[:, None] - image[None, :]) / self.noise
        return np.exp(-(difference**2) / 2) * (self.spacing / (self.noise * np.sqrt(2 * np.pi)))

    def gaussian(self, variance: float, mean: float = 0.0) -> np.ndarray:
        weights = np.exp(-((self.points - mean) ** 2) / (2 * variance))
        return weights / weights.sum()

    def point(self) -> np.ndarray:
        weights = np.zeros(len(self.points))
        weights[len(weights) // 2] = 1.0
        return weights

    def gibbs(self, potential: Callable[[np.ndarray], np.ndarray], noise_variance: float) -> np.ndarray:
        energy = potential(self.points) / noise_variance
        weights = np.exp(-(energy - energy.min()))
        return weights / weights.sum()


def renyi(order: float, first: np.ndarray, second: np.ndarray) -> float:
    """R_q of two mass vectors where neither underflows."""
    both = (first > 1e-280) & (second > 1e-280)
    exponent = order * np.log(first[both]) - (order - 1) * np.log(second[both])
    top = exponent.max()
    return float((top + np.log(np.exp(exponent - top).sum())) / (order - 1))

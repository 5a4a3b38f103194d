"""Noisy-GD, Langevin diffusion and Gibbs laws as densities on a grid, in one and two dimensions.

Every law is an array of densities at grid points. One step of Noisy-GD is a direct sum against Gaussian kernels: no
FFT, whose error floor near 1e-17 of the peak fakes violations in the tails, where p^q/π^(q−1) lives.
"""

import numpy as np
from scipy.linalg import eigh_tridiagonal
from scipy.sparse import csr_matrix


def log_normalise(log_density, cell):
    top = log_density.max()
    return log_density - top - np.log(np.exp(log_density - top).sum() * cell)


def renyi(density, log_target, order, cell):
    """R_q(density ‖ target); order 1 is the Kullback-Leibler divergence."""
    inside = density > 0
    log_p, log_r = np.log(density[inside]), log_target[inside]
    if order == 1:
        return float((np.exp(log_p) * (log_p - log_r)).sum() * cell)
    exponent = order * log_p - (order - 1) * log_r
    top = exponent.max()
    return float((top + np.log(np.exp(exponent - top).sum() * cell)) / (order - 1))


def flush(matrix):
    """Entries below 1e-150 to 0: subnormal numbers would make products a hundred times slower."""
    matrix[matrix < 1e-150] = 0.0
    return matrix


class Line:
    """The real line: `potential` and `gradient` are functions of an array of points."""

    def __init__(self, potential, gradient, noise_variance, half_width, spacing):
        self.points = np.arange(-half_width, half_width + spacing / 2, spacing)
        self.cell = spacing
        self.gradient = gradient
        self.noise_variance = noise_variance
        self.log_gibbs = log_normalise(-potential(self.points) / noise_variance, spacing)

    def gaussian(self, mean, variance):
        return np.exp(log_normalise(-((self.points - mean) ** 2) / (2 * variance), self.cell))

    def step_matrix(self, step_size):
        variance = 2 * step_size * self.noise_variance
        means = self.points - step_size * self.gradient(self.points)
        distance = self.points[:, None] - means[None, :]
        return flush(np.exp(-(distance**2) / (2 * variance)) * (self.cell / np.sqrt(2 * np.pi * variance)))

    def run(self, density, step_size, steps):
        """Any number of steps, by repeated squaring."""
        matrix = self.step_matrix(step_size)
        steps = int(steps)
        while steps:
            if steps & 1:
                density = matrix @ density
            steps >>= 1
            if steps:
                matrix = flush(matrix @ matrix)
        return density

    def renyi(self, density, order):
        return renyi(density, self.log_gibbs, order, self.cell)


class Diffusion(Line):
    """The limit η → 0 at fixed time ηK: a reversible jump process between neighbours, solved by its eigenvectors."""

    def __init__(self, potential, noise_variance, half_width, spacing):
        super().__init__(potential, None, noise_variance, half_width, spacing)
        root = np.exp(self.log_gibbs / 2)
        rate = noise_variance / spacing**2  # between i and i+1: rate·sqrt(π_{i+1}/π_i) one way, its inverse the other
        ratio = root[1:] / root[:-1]
        leave = np.zeros_like(root)
        leave[:-1] += rate * ratio
        leave[1:] += rate / ratio
        self.decay, self.modes = eigh_tridiagonal(-leave, np.full(len(root) - 1, rate))
        self.root = root

    def run_time(self, density, time):
        coefficients = self.modes.T @ (density / self.root)
        moved = self.root * (self.modes @ (np.exp(np.minimum(self.decay, 0.0) * time) * coefficients))
        return np.maximum(moved, 0.0)


class Plane:
    """Two dimensions; `gradient` maps (m, 2) to (m, 2). Kernels are cut at seven standard deviations (e^{−24})."""

    def __init__(self, potential, noise_variance, half_width, spacing):
        axis = np.arange(-half_width, half_width + spacing / 2, spacing)
        self.axis, self.spacing, self.cell = axis, spacing, spacing**2
        self.points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
        self.noise_variance = noise_variance
        self.log_gibbs = log_normalise(-potential(self.points) / noise_variance, self.cell)

    def gaussian(self, mean, variance):
        return np.exp(log_normalise(-((self.points - mean) ** 2).sum(-1) / (2 * variance), self.cell))

    def step_matrix(self, gradient, step_size):
        size, variance = len(self.axis), 2 * step_size * self.noise_variance
        means = self.points - step_size * gradient(self.points)
        reach = int(np.ceil(7 * np.sqrt(variance) / self.spacing)) + 1
        nearest = np.rint((means - self.axis[0]) / self.spacing).astype(int)
        offsets = np.arange(-reach, reach + 1)
        weights, indices = [], []
        for k in (0, 1):
            index = nearest[:, k, None] + offsets
            target = self.axis[0] + index * self.spacing
            kernel = np.exp(-((target - means[:, k, None]) ** 2) / (2 * variance))
            kernel *= (index >= 0) & (index < size)
            weights.append(kernel * self.spacing / np.sqrt(2 * np.pi * variance))
            indices.append(np.clip(index, 0, size - 1))
        values = (weights[0][:, :, None] * weights[1][:, None, :]).reshape(-1)
        rows = (indices[0][:, :, None] * size + indices[1][:, None, :]).reshape(-1)
        columns = np.repeat(np.arange(len(self.points)), len(offsets) ** 2)
        return csr_matrix((values, (rows, columns)), shape=(len(self.points),) * 2)

    def renyi(self, density, order):
        return renyi(density, self.log_gibbs, order, self.cell)

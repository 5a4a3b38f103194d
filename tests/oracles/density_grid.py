"""Densities of a 1-D Noisy-GD chain on a grid, by a direct Gaussian kernel.

θ_{k+1} = φ(θ_k) + τN: the density after a step is p'(y) = ∫ p(x) N(y; φ(x), τ²) dx, evaluated as one matrix product. The
integrand is smooth and decays, so the rectangle rule is accurate to rounding once the spacing is well below τ. (A fast
Fourier transform has an error floor that fakes violations in the tails at high order.)
"""

from __future__ import annotations

import numpy as np

from tests.oracles import perturbed_density


def gaussian(y, mean, scale):
    return np.exp(-((y - mean) ** 2) / (2 * scale**2)) / (scale * np.sqrt(2 * np.pi))


def densities(step_maps, *, start, scale, grid):
    """Density on `grid` after the given sequence of maps φ_k, from the fixed point `start`, noise `scale` each step."""
    spacing = grid[1] - grid[0]
    density = gaussian(grid, step_maps[0](np.array(start)), scale)
    kernels = {}
    for step_map in step_maps[1:]:
        if step_map not in kernels:
            kernels[step_map] = gaussian(grid[:, None], step_map(grid)[None, :], scale) * spacing
        density = kernels[step_map] @ density
    return density


def renyi(p, r, order, spacing):
    """R_q(p ‖ r) on the grid; cells where p underflows carry nothing."""
    used = p > 1e-290
    with np.errstate(divide="ignore"):
        return perturbed_density.renyi(order, np.log(p[used]), np.log(r[used]), spacing)

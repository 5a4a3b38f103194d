"""Exact densities of objective perturbation on grids: p(θ) = φ_s(G(θ)) det J(θ). Imports nothing of the package.

In one dimension the world without the record is u ~ N(0, 1) and the one with it has u + a(u) ~ N(0, 1): |a| ≤ A = L/s, and
a′ between −ρ₋ and ρ. Sums over a uniform grid: the integrands are smooth or have kinks, and fall to 0 at the ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

Array = np.ndarray
Shift = tuple[Array, Array]  # a and a′ on the grid


def line(reach: float = 30.0, cells: int = 24_000) -> Array:
    return np.linspace(-reach, reach, cells + 1)


def ramp(u: Array, height: float, slope: float, centre: float = 0.0) -> Shift:
    """a = clip(slope · (u − centre), ±height): constant but for one ramp; the worst shape there is."""
    a = np.clip(slope * (u - centre), -height, height)
    return a, np.where(np.abs(slope * (u - centre)) < height, slope, 0.0)


def random_shift(u: Array, height: float, up: float, down: float, rng: np.random.Generator) -> Shift:
    """A piecewise linear a with |a| ≤ height and slopes in [−down, up], flat where it meets a bound."""
    edges = np.sort(rng.normal(0, 2.5, rng.integers(1, 7)))
    slopes = rng.choice([up, -down, 0.0, up * rng.random()], len(edges) + 1)
    slope = slopes[np.searchsorted(edges, u)]
    a = np.concatenate([[0.0], np.cumsum((slope[1:] + slope[:-1]) / 2 * np.diff(u))])
    middle = len(u) // 2
    a = a - a[middle] + height * rng.uniform(-1, 1)
    return np.clip(a, -height, height), np.where(np.abs(a) < height, slope, 0.0)


def log_density(u: Array, shift: Shift) -> Array:
    a, slope = shift
    return -((u + a) ** 2) / 2 - math.log(2 * math.pi) / 2 + np.log1p(slope)


def renyi(order: float, first: Array, second: Array, cell: float) -> float:
    """R_q(first ‖ second) of log densities on a uniform grid with `cell` the volume of one."""
    exponent = order * first + (1 - order) * second
    top = exponent.max()
    return float(top + math.log(np.exp(exponent - top).sum() * cell)) / (order - 1)


def log_delta(epsilon: float, first: Array, second: Array, cell: float) -> float:
    """log ∫ (p − e^ε p′)₊."""
    gap = first - second - epsilon
    positive = gap > 0
    if not positive.any():
        return -math.inf
    exponent = first[positive] + np.log(-np.expm1(-gap[positive]))
    return float(exponent.max() + math.log(np.exp(exponent - exponent.max()).sum() * cell))


def flow(shift: Shift, u: Array) -> float:
    """sup over events of |Φ⁻¹(P(S)) − Φ⁻¹(P′(S))| over likelihood-ratio sets, between u ~ N(0,1) and u + a(u) ~ N(0,1).

    Exact cell masses: Φ(u + a) differences in one world, Φ differences in the other; both tails kept in full precision.
    """
    moved = u + shift[0]

    def masses(x: Array) -> Array:
        left, right = x[:-1], x[1:]
        near = np.where(right <= 0, ndtr(right) - ndtr(left), ndtr(-left) - ndtr(-right))
        return np.concatenate([[ndtr(x[0])], near, [ndtr(-x[-1])]])

    without, with_record = masses(u), masses(moved)
    used = (without > 0) & (with_record > 0)
    ranked = np.argsort((np.log(with_record[used]) - np.log(without[used])), kind="stable")
    p, r = without[used][ranked], with_record[used][ranked]
    worst = 0.0
    for one, two in ((p, r), (p[::-1], r[::-1])):
        alpha, beta = np.cumsum(one)[:-1], np.cumsum(two)[:-1]
        inside = (alpha > 1e-280) & (beta > 1e-280) & (alpha < 0.5) & (beta < 0.5)
        if inside.any():
            worst = max(worst, float(np.abs(ndtri(alpha[inside]) - ndtri(beta[inside])).max()))
    return worst


class Plane:
    """Worlds on a 2-D grid: G(θ) = base·θ + Σ of the given gradients, in units of the noise (s = 1)."""

    def __init__(self, base: float, reach: float = 9.0, cells: int = 500) -> None:
        axis = np.linspace(-reach, reach, cells + 1) / base
        self.x, self.y = np.meshgrid(axis, axis, indexing="ij")
        self.base, self.cell = base, (axis[1] - axis[0]) ** 2

    def log_density(self, gradients: list[Callable[[Array, Array], tuple[Array, Array, Array, Array, Array]]]) -> Array:
        """`gradients` return (g_x, g_y, h_xx, h_xy, h_yy) on the grid."""
        gx, gy = self.base * self.x, self.base * self.y
        hxx, hxy, hyy = np.full_like(self.x, self.base), np.zeros_like(self.x), np.full_like(self.x, self.base)
        for gradient in gradients:
            for total, part in zip((gx, gy, hxx, hxy, hyy), gradient(self.x, self.y), strict=True):
                np.add(total, part, out=total)
        return -(gx**2 + gy**2) / 2 - math.log(2 * math.pi) + np.log(hxx * hyy - hxy**2)


def ridge_gradient(angle: float, slope: Callable[[Array], tuple[Array, Array]]):
    """One direction: f′(z) x with z = ⟨x, θ⟩ and ‖x‖ = 1; `slope` returns f′ and f″."""
    cosine, sine = math.cos(angle), math.sin(angle)

    def gradient(x: Array, y: Array):
        first, second = slope(cosine * x + sine * y)
        return first * cosine, first * sine, second * cosine**2, second * cosine * sine, second * sine**2

    return gradient


def softmax_gradient(label: int, height: float, scale: float):
    """Cross-entropy of three classes and one feature, seen in the plane of weights that sum to 0, times `height`."""
    directions = np.array(
        [[math.sqrt(2 / 3), 0.0], [-1 / math.sqrt(6), math.sqrt(1 / 2)], [-1 / math.sqrt(6), -math.sqrt(1 / 2)]]
    )

    def gradient(x: Array, y: Array):
        scores = np.stack([d[0] * x + d[1] * y for d in directions]) * scale
        p = np.exp(scores - scores.max(0))
        p /= p.sum(0)
        off = p.copy()
        off[label] -= 1
        g = [height * np.tensordot(directions[:, k], off, 1) for k in (0, 1)]
        mean = [np.tensordot(directions[:, k], p, 1) for k in (0, 1)]
        h = {
            (j, k): height * scale * (np.tensordot(directions[:, j] * directions[:, k], p, 1) - mean[j] * mean[k])
            for j, k in ((0, 0), (0, 1), (1, 1))
        }
        return g[0], g[1], h[0, 0], h[0, 1], h[1, 1]

    return gradient


def gaussian_flow(log_alpha: float) -> float:
    """Φ⁻¹ of a probability given by its logarithm."""
    z = -math.sqrt(max(1e-12, -2 * log_alpha))
    for _ in range(60):
        value = float(log_ndtr(z))
        slope = math.exp(-z * z / 2 - math.log(2 * math.pi) / 2 - value)
        z -= (value - log_alpha) / slope
    return z


def discrete_gaussian_shift(sigma: float, shift: int, reach: int) -> float:
    """sup over thresholds of Φ⁻¹(P(Z + k > j)) − Φ⁻¹(P(Z > j)) for Z discrete Gaussian of parameter σ on the integers."""
    support = np.arange(-reach, reach + 1)
    log_mass = -(support.astype(float) ** 2) / (2 * sigma**2)
    log_mass -= np.logaddexp.reduce(log_mass)
    tail = np.logaddexp.accumulate(log_mass[::-1])[::-1]  # log P(Z ≥ support)
    where = range(reach + 1, reach + math.ceil(12 * sigma) + 1)  # thresholds 1, 2, … up to twelve deviations
    return max(
        gaussian_flow(tail[j - shift]) - gaussian_flow(tail[j]) for j in where if tail[j - shift] < math.log(0.5)
    )

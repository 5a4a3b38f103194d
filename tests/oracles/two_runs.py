"""Two runs that solve for one minimiser within a tolerance, on the linear loss, where every law is Gaussian.

Both runs hold the same table; one never held the erased record. The minimiser θ* of F(θ) = Σ⟨x, θ⟩ + (nm/2)‖θ‖² + ⟨b, θ⟩, b ~ N(0, s²), is
N(·, (s/(nm))²) in one coordinate, and a point is a solve within γ where ‖∇F‖/n = m|θ − θ*| ≤ γ. So one run may stop at θ* + γ/m and the
other at θ* − γ/m, and both publish it with noise τ. The package is not imported.
"""

from __future__ import annotations

import math


def mu_of_two_runs(*, gamma: float, convexity: float, linear_noise: float, records: int, output_noise: float) -> float:
    """Return μ of the worst two runs, exactly."""
    return 2 * (gamma / convexity) / math.hypot(output_noise, linear_noise / (records * convexity))


def total_variation(p: list[float], r: list[float]) -> float:
    return sum(abs(x - y) for x, y in zip(p, r, strict=True)) / 2


def renyi(order: float, p: list[float], r: list[float]) -> float:
    """R_q(p ‖ r) of two laws on finitely many points, r positive."""
    return math.log(sum(x**order * y ** (1 - order) for x, y in zip(p, r, strict=True))) / (order - 1)


def pair_about(order: float, distance: float) -> tuple[float, list[float], list[float]]:
    """Return (ε, p, p′): two laws at Rényi divergence ε from the fair coin, on opposite sides of it."""
    p, mirrored = [(1 + distance) / 2, (1 - distance) / 2], [(1 - distance) / 2, (1 + distance) / 2]
    return renyi(order, p, [0.5, 0.5]), p, mirrored

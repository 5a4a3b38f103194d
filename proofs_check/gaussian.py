"""Closed forms for Noisy-GD on the linear loss: every law is Gaussian. Independent of the package.

Both worlds run θ ← cθ − ηx̄ + N(0, τ²) with c = 1 − ηλ and τ² = 2ησ²; only the drift of one slot differs. In the direction of that
difference the mean gap obeys m ← c m + s with s = ηΔ/n while the record is present, and the variance v ← c²v + τ².
"""

from __future__ import annotations

import numpy as np


def gap_and_variance(
    *, contraction: float, gap: float, noise: float, steps_with: int, steps_without: int, start_variance: float = 0.0
) -> tuple[float, float]:
    """(mean gap, variance) of the last iterate. `gap` is s, `noise` is τ²."""
    mean, variance = 0.0, start_variance
    for step in range(steps_with + steps_without):
        mean = contraction * mean + (gap if step < steps_with else 0.0)
        variance = contraction**2 * variance + noise
    return mean, variance


def joint_squared_mu(
    *, contraction: float, gap: float, noise: float, present: list[bool], observed: list[int]
) -> float:
    """mᵀΣ⁻¹m of the joint law of the iterates numbered in `observed` (1-based), from a common fixed start.

    `present[k]` says whether the record takes part in step k + 1. The covariance of an AR(1) chain from a point is
    Cov(θ_i, θ_j) = c^{|i−j|} v_{min(i,j)}.
    """
    means, variances, mean, variance = [], [], 0.0, 0.0
    for here in present:
        mean = contraction * mean + (gap if here else 0.0)
        variance = contraction**2 * variance + noise
        means.append(mean)
        variances.append(variance)
    index = [k - 1 for k in observed]
    covariance = np.array([[contraction ** abs(i - j) * variances[min(i, j)] for j in index] for i in index])
    vector = np.array([means[i] for i in index])
    return float(vector @ np.linalg.solve(covariance, vector))


def renyi_rate(mean_gap: float, variance: float) -> float:
    """R_q/q of two Gaussians with one variance."""
    return mean_gap**2 / (2 * variance)

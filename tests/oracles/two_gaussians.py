"""(ε, δ) between Gaussians, by 40-digit arithmetic or by sampling; nothing here imports the package."""

from __future__ import annotations

import mpmath
import numpy as np


def delta_of_shift(shift, scale, epsilon):
    """δ(ε) between N(0, scale²) and N(shift, scale²): ∫ (p − e^ε q)₊, in closed form."""
    with mpmath.workdps(40):
        mu, eps = mpmath.mpf(shift) / mpmath.mpf(scale), mpmath.mpf(epsilon)
        return float(mpmath.ncdf(mu / 2 - eps / mu) - mpmath.exp(eps) * mpmath.ncdf(-mu / 2 - eps / mu))


def delta_by_sampling(first, second, epsilon, rng, draws=400_000):
    """max over both directions of E_p[(1 − e^{ε}q/p)₊] for isotropic Gaussians given as (mean vector, scale)."""

    def one_way(p, q):
        (m, s), (m2, s2) = p, q
        x = m + s * rng.standard_normal((draws, len(m)))
        log_p = -((x - m) ** 2).sum(1) / (2 * s**2) - len(m) * np.log(s)
        log_q = -((x - m2) ** 2).sum(1) / (2 * s2**2) - len(m) * np.log(s2)
        return np.maximum(0, 1 - np.exp(epsilon + log_q - log_p)).mean()

    return max(one_way(first, second), one_way(second, first))

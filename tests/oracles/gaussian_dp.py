"""Gaussian DP, (ε, δ) between Gaussians and Rényi conversions in 60-digit arithmetic, typed from their definitions."""

from __future__ import annotations

import mpmath
import numpy as np

DIGITS = 60


def delta(mu, epsilon):
    """Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2)."""
    with mpmath.workdps(DIGITS):
        mu, epsilon = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return mpmath.ncdf(-epsilon / mu + mu / 2) - mpmath.exp(epsilon) * mpmath.ncdf(-epsilon / mu - mu / 2)


def delta_of_shift(shift, scale, epsilon):
    """δ(ε) between N(0, scale²) and N(shift, scale²)."""
    with mpmath.workdps(DIGITS):
        return float(delta(mpmath.mpf(shift) / mpmath.mpf(scale), epsilon))


def delta_by_sampling(first, second, epsilon, rng, draws=400_000):
    """max over both directions of E_p[(1 − e^{ε}q/p)₊] for isotropic Gaussians given as (mean vector, scale)."""

    def one_way(p, q):
        (m, s), (m2, s2) = p, q
        x = m + s * rng.standard_normal((draws, len(m)))
        log_p = -((x - m) ** 2).sum(1) / (2 * s**2) - len(m) * np.log(s)
        log_q = -((x - m2) ** 2).sum(1) / (2 * s2**2) - len(m) * np.log(s2)
        return np.maximum(0, 1 - np.exp(epsilon + log_q - log_p)).mean()

    return max(one_way(first, second), one_way(second, first))


def advantage(mu):
    """2Φ(μ/2) − 1."""
    with mpmath.workdps(DIGITS):
        return mpmath.erf(mpmath.mpf(mu) / mpmath.sqrt(8))


def false_negative(mu, false_positive):
    """Φ(Φ⁻¹(1−α) − μ)."""
    with mpmath.workdps(DIGITS):
        threshold = mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * mpmath.mpf(false_positive))
        return mpmath.ncdf(threshold - mpmath.mpf(mu))


def mironov(order, renyi, target):
    """ε_q + log(1/δ)/(q−1)."""
    with mpmath.workdps(DIGITS):
        order, renyi, target = map(mpmath.mpf, (order, renyi, target))
        return max(mpmath.mpf(0), renyi - mpmath.log(target) / (order - 1))


def canonne(order, renyi, target):
    """ε_q + log((q−1)/q) − (log δ + log q)/(q−1)."""
    with mpmath.workdps(DIGITS):
        order, renyi, target = map(mpmath.mpf, (order, renyi, target))
        shift = mpmath.log((order - 1) / order) - (mpmath.log(target) + mpmath.log(order)) / (order - 1)
        return max(mpmath.mpf(0), renyi + shift)

"""Gaussian DP and Rényi conversions in 60-digit arithmetic, typed from their definitions."""

from __future__ import annotations

import mpmath

DIGITS = 60


def delta(mu, epsilon):
    """Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2)."""
    with mpmath.workdps(DIGITS):
        mu, epsilon = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return mpmath.ncdf(-epsilon / mu + mu / 2) - mpmath.exp(epsilon) * mpmath.ncdf(-epsilon / mu - mu / 2)


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

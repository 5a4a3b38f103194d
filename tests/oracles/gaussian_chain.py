"""The linear loss makes Noisy-GD a Gaussian chain. Its divergence between two worlds, by the plainest recursion."""

from __future__ import annotations

import mpmath


def squared_mu(gaps, *, step_size, regularization, noise_variance):
    """(mean difference)²/variance after the given per-step gradient-mean differences, from one fixed start; 50 digits."""
    with mpmath.workdps(50):
        eta, lam, sigma2 = map(mpmath.mpf, (step_size, regularization, noise_variance))
        difference = variance = mpmath.mpf(0)
        for gap in gaps:
            difference = (1 - eta * lam) * difference + eta * mpmath.mpf(gap)
            variance = (1 - eta * lam) ** 2 * variance + 2 * eta * sigma2
        return difference**2 / variance

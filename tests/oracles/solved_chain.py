"""Solve, then diffuse on the linear loss, from first principles, with 50 digits.

One parameter; world w has the gradient mean s_w + λθ, so its minimiser is −s_w/λ. The solver may stop anywhere with
|gradient| ≤ γ; the worst pair of stopping points is the one that pulls the two worlds apart. From there both run K
noisy steps.
"""

from __future__ import annotations

import mpmath


def squared_mu(slopes, *, tolerance, steps, step_size, regularization, noise_variance):
    """(mean difference)²/variance of the two published models; `slopes` are s_w of the two worlds."""
    with mpmath.workdps(50):
        eta, lam, sigma2, gamma = map(mpmath.mpf, (step_size, regularization, noise_variance, tolerance))
        low, high = sorted(map(mpmath.mpf, slopes))
        points = [(gamma - low) / lam, (-gamma - high) / lam]
        variance = mpmath.mpf(0)
        for _ in range(steps):
            points = [theta - eta * (slope + lam * theta) for theta, slope in zip(points, (low, high), strict=True)]
            variance = (1 - eta * lam) ** 2 * variance + 2 * eta * sigma2
        return (points[0] - points[1]) ** 2 / variance

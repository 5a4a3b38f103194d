"""The tails of the normal law against mpmath, at every depth and at the seams between the ways they are computed."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from noisygd_delete.bounds import gaussian, tails

SEAMS = [-26.6, -26.59, -1e-300, 0.0, 1e-300, 24.999999999, 25.0, 25.000000001, 26.5, 1e3, 1e100, 1e300]


def points() -> list[float]:
    spread = np.random.Generator(np.random.PCG64(11)).uniform(-26.6, 40, 400).tolist()
    return SEAMS + spread + [10.0**power for power in range(-20, 20)]


def scaled(x: float) -> mpmath.mpf:
    """e^{x²} erfc(x), by its continued fraction where the product would take millions of digits."""
    x = mpmath.mpf(x)
    if x < 1000:
        return mpmath.exp(x * x) * mpmath.erfc(x)
    return 1 / (mpmath.sqrt(mpmath.pi) * (x + 1 / (2 * x + 2 / (x + mpmath.mpf(3) / (2 * x)))))


def test_scaled_tail() -> None:
    """Within 1e-14 of the truth wherever it is a double: a square rounded before its exponential would be off by 1e-13."""
    with mpmath.workdps(40):
        for x in points():
            assert abs(tails.erfcx(x) / scaled(x) - 1) < 1e-14, x
    assert tails.erfcx(-26.7) == math.inf
    assert tails.erfcx(math.inf) == 0


def test_a_rounded_square_would_be_seen() -> None:
    with mpmath.workdps(60):
        worst = max(abs(math.exp(x * x) * math.erfc(x) / scaled(x) - 1) for x in points() if 0 < x < 25)
    assert worst > 2e-14


def test_tails() -> None:
    with mpmath.workdps(340):
        for t in (-37.0, -5.0, -1e-9, 0.0, 1e-9, 0.5, 3.0, 8.0, 37.0):
            assert abs(tails.upper_tail(t) / mpmath.ncdf(-t) - 1) < 1e-13, t
            assert abs(tails.log_lower_tail(t) / mpmath.log(mpmath.ncdf(t)) - 1) < 1e-13, t
        for a, b in ((0.0, 0.0), (-700.0, 3.0), (3.0, 3.0 + 1e-9), (-1e6, 1e6)):
            assert abs(tails.log_sum(a, b) - mpmath.log(mpmath.exp(a) + mpmath.exp(b))) <= 1e-15 * max(1, abs(b))
    assert tails.log_lower_tail(-1e6) == pytest.approx(-5e11, rel=1e-9)


def test_points_of_gauss_and_legendre() -> None:
    nodes, weights = np.polynomial.legendre.leggauss(16)
    ours = sorted(gaussian._GAUSS)
    np.testing.assert_allclose([node for node, _ in ours], nodes, rtol=1e-15)
    np.testing.assert_allclose([weight for _, weight in ours], weights, rtol=1e-14)

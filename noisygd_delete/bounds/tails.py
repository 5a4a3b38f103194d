"""Tails of the normal distribution in plain floats, accurate to a few ulps at any depth.

These functions avoid importing scipy, which would dominate the run time of a command that converts a few numbers, and
they are faster than array functions on single numbers. The C library's erfc is accurate to five ulps.
"""

from __future__ import annotations

import math

_SQRT2 = math.sqrt(2)
_SQRT_PI = math.sqrt(math.pi)
_FAR = 25.0  # erfc underflows not far beyond
_SPLIT = 2.0**27 + 1  # Veltkamp: the upper 26 bits of a double, whose square is exact


def erfcx(x: float) -> float:
    """Return e^{x²} erfc(x) to a relative error of 1e-14; infinity below −26.6, where it overflows.

    Up to x = 25 the two factors are multiplied. The square is split as x² = h² + (x − h)(x + h), so that its rounding
    does not enter the exponent. Beyond, the asymptotic series (1 − 1/(2x²) + 3/(2x²)² − 15/(2x²)³ + …)/(x√π) is used.
    Its terms alternate, so the error is less than the first omitted term, 15!!/(2x²)⁸ < 1e-18.
    """
    if x < -26.6:
        return math.inf
    if x > _FAR:
        u, total = 1 / (2 * x * x), 1.0
        for odd in range(13, 0, -2):
            total = 1 - odd * u * total
        return total / (x * _SQRT_PI)
    wide = _SPLIT * x
    high = wide - (wide - x)
    return math.exp(high * high) * math.exp((x - high) * (x + high)) * math.erfc(x)


def upper_tail(t: float) -> float:
    """Return Φ(−t); 0 if it underflows."""
    return math.erfc(t / _SQRT2) / 2


def log_lower_tail(t: float) -> float:
    """Return log Φ(t)."""
    if t > 0:
        return math.log1p(-upper_tail(t))
    return math.log(erfcx(-t / _SQRT2) / 2) - t * t / 2


def log_sum(a: float, b: float) -> float:
    """Return log(eᵃ + eᵇ) for finite a and b."""
    return max(a, b) + math.log1p(math.exp(-abs(a - b)))

"""Tails of the normal law in plain floats, good to a few ulps at any depth.

A command that converts a figure or two would wait longer for scipy than for its answer, and a single number goes through these
faster than through functions of arrays. The C library's erfc is good to five ulps.
"""

from __future__ import annotations

import math

_SQRT2 = math.sqrt(2)
_SQRT_PI = math.sqrt(math.pi)
_FAR = 25.0  # beyond, erfc leaves the range of doubles soon
_SPLIT = 2.0**27 + 1  # Veltkamp: the upper 26 bits of a double, whose square is exact


def erfcx(x: float) -> float:
    """e^{x²} erfc(x), within 1e-14 of it (relative); infinite below −26.6, where it is no double.

    Up to 25 the product of the two, the square split so that its rounding does not enter the exponent: x² = h² + (x − h)(x + h).
    Beyond, (1 − 1/(2x²) + 3/(2x²)² − 15/(2x²)³ + …)/(x√π): the terms alternate, so the error is less than the first one left out,
    15!!/(2x²)⁸ < 1e-18.
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
    """Φ(−t); 0 where it is no double."""
    return math.erfc(t / _SQRT2) / 2


def log_lower_tail(t: float) -> float:
    """log Φ(t)."""
    if t > 0:
        return math.log1p(-upper_tail(t))
    return math.log(erfcx(-t / _SQRT2) / 2) - t * t / 2


def log_sum(a: float, b: float) -> float:
    """log(eᵃ + eᵇ) of finite numbers."""
    return max(a, b) + math.log1p(math.exp(-abs(a - b)))

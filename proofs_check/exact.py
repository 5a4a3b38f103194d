"""Exact and enclosed arithmetic: rationals, and intervals that are rounded outward (mpmath.iv)."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import Any

from mpmath import iv

iv.dps = 40


def enclose(value: Fraction | int | float | Any) -> Any:
    """An interval that contains the number (floats are taken at their exact binary value)."""
    if isinstance(value, int | float | Fraction):
        value = Fraction(value)
        return iv.mpf(value.numerator) / iv.mpf(value.denominator)
    return iv.mpf(value)


def box(low: float, high: float) -> Any:
    """The interval [low, high]."""
    return iv.mpf([low, high])


def surely_less(left: Any, right: Any) -> bool:
    """left < right for every point of the two intervals."""
    return bool(enclose(left).b < enclose(right).a)


def surely_at_most(left: Any, right: Any) -> bool:
    return bool(enclose(left).b <= enclose(right).a)


def normal_cdf(x: Any, terms: int = 120) -> Any:
    """Φ(x) enclosed, |x| ≤ 8: 1/2 + Σ (−1)^k x^{2k+1}/(2^k k! (2k+1)) / sqrt(2π), alternating remainder."""
    x = enclose(x)
    total, power, factorial = iv.mpf(0), x, iv.mpf(1)
    for k in range(terms):
        total += (-1) ** k * power / (factorial * (2 * k + 1))
        power, factorial = power * x * x, factorial * 2 * (k + 1)
    remainder = abs(power) / (factorial * (2 * terms + 1))
    return iv.mpf(1) / 2 + (total + remainder * iv.mpf([-1, 1])) / iv.sqrt(2 * iv.pi)


def root_below(value: Fraction, digits: int = 40) -> Fraction:
    """A rational r with 0 ≤ r ≤ sqrt(value), close to it."""
    scale = 10**digits
    root = isqrt(value.numerator * scale * scale // value.denominator)
    result = Fraction(root, scale)
    assert result * result <= value
    return result


def midpoint(value: Any) -> float:
    return float(value.mid)

"""The one search for a limit: the least number from which on something is safe, or the largest up to which it is.

Search in plain floats, return the last point checked safe: whatever `safe` does between the points it was asked about, the
answer is one at which it said yes.
"""

from __future__ import annotations

import math
from collections.abc import Callable


def first_safe(safe: Callable[[float], bool], low: float, high: float, digits: float = 1e-15) -> float:
    """Bisect between an unsafe `low` and a safe `high`, to a relative width or to neighbouring doubles; the answer was checked
    safe (`high` itself by the caller)."""
    for _ in range(200):
        middle = math.sqrt(low) * math.sqrt(high) if low > 0 and high / low > 4 else low + (high - low) / 2
        if not low < middle < high:
            break
        if safe(middle):
            high = middle
        else:
            low = middle
        if high - low <= digits * high:
            break
    return high


def least_safe(
    safe: Callable[[float], bool],
    *,
    guess: float,
    factor: float = 2.0,
    below: float | None = None,
    most: float = math.inf,
    digits: float = 1e-15,
) -> float:
    """The least x > 0 with `safe(x)`, bracketed from `guess` in steps of `factor`; `math.inf` if none up to `most` is.

    Args:
        safe: false below some number, true from there up to `most`.
        below: a number known to be too small, so that none at or below it is tried; None: found by going down.
        digits: relative width at which the answer is good enough.
    """
    low, high = below, min(guess, most)
    while not safe(high):
        if not high < most:
            return math.inf
        low, high = high, min(factor * high, most)
    while low is None:
        lower = high / factor
        low, high = (None, lower) if lower > 0 and safe(lower) else (lower, high)
    return first_safe(safe, low, high, digits)


def first_whole(safe: Callable[[int], bool], low: int, high: int, digits: float = 0.0) -> int:
    """The same between whole numbers: an unsafe `low`, a safe `high`."""
    while high - low > max(1, digits * high):
        middle = (low + high) // 2
        low, high = (low, middle) if safe(middle) else (middle, high)
    return high


def least_whole(
    safe: Callable[[int], bool], *, guess: int = 1, below: int = 0, most: float = math.inf, digits: float = 0.0
) -> int | None:
    """The least whole number above `below` that is safe, bracketed by doubling `guess`; None if none up to `most` is."""
    low, high = below, guess
    while high <= most:
        if safe(high):
            return first_whole(safe, low, high, digits)
        low, high = high, 2 * high
    return None


def last_whole(fits: Callable[[int], bool], sure: Callable[[int], bool] | None = None) -> int:
    """The largest n ≥ 1 with `fits(n)`, which holds up to some number and not beyond it; 0 if not even for 1.

    `sure` implies `fits` and is asked at less cost: where it ends the search begins.
    """
    begun = 0 if sure is None else last_whole(sure)
    beyond = least_whole(lambda number: not fits(number), guess=begun + 1, below=begun)
    assert beyond is not None
    return beyond - 1

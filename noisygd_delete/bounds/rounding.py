"""Rounding outward, and the search for a best order: in plain floats, the final bound is evaluated rounded outward."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

UNIT = 2.0**-53
MARGIN = 1e-12  # relative; hundreds of times the error of the special functions after any conditioning stated
LEAST_LOG = -sys.float_info.max  # "smaller than any double": still a number, still not below the truth


def exp_up(logarithm: float) -> float:
    """e^x rounded up; 0 only for x = −∞."""
    if logarithm == -math.inf:
        return 0.0
    return math.nextafter(math.exp(min(logarithm, 0.0)), math.inf) if logarithm < 0 else 1.0


def log_down(value: float) -> float:
    """log x for 0 < x < 1, rounded down."""
    logarithm = math.log(value)
    return logarithm - 2 * UNIT * abs(logarithm)


def sum_up(*terms: float) -> float:
    """A sum, raised by more than the rounding of its terms, each good to a few ulps."""
    return math.fsum(terms) + 16 * UNIT * math.fsum(map(abs, terms))


def least(objective: Callable[[float], float], left: float, right: float, rounds: int) -> float:
    """The smallest value seen by a golden-section search. Used where every argument is valid."""
    ratio = (math.sqrt(5) - 1) / 2
    inner, outer = right - ratio * (right - left), left + ratio * (right - left)
    low, high = objective(inner), objective(outer)
    best = min(low, high)
    for _ in range(rounds):
        if low <= high:
            right, outer, high = outer, inner, low
            inner = right - ratio * (right - left)
            low = objective(inner)
        else:
            left, inner, low = inner, outer, high
            outer = left + ratio * (right - left)
            high = objective(outer)
        best = min(best, low, high)
    return best


def best_order(
    objective: Callable[[float], float], low: float = 1e-9, high: float = 1e15, points: int = 128, rounds: int = 36
) -> float:
    """An order q in (1 + low, 1 + high) that makes `objective` small. Every order is valid, so plain floats may search."""
    tried: dict[float, float] = {}

    def at(point: float) -> float:
        order = 1 + math.exp(point)
        tried[order] = objective(order)
        return tried[order]

    grid = [math.log(low) + i * (math.log(high) - math.log(low)) / points for i in range(points + 1)]
    values = [at(point) for point in grid]
    best = min(range(len(grid)), key=values.__getitem__)
    least(at, grid[max(0, best - 1)], grid[min(len(grid) - 1, best + 1)], rounds)
    return min(tried, key=tried.__getitem__)

"""What one record moves the first and second moments of a labelled table by: the sensitivity of a private statistic.

A record is a row x of norm at most R with a label, u = x/R. It adds to the sums

    T(x, y) = (u ⊗ e_y, u uᵀ/√2),      ‖T‖² = ‖u‖² + ‖u‖⁴/2 ≤ 3/2

with e_y the unit vector of its class (or y = ±1 in one column). Against the null record, which adds nothing, that is all: √(3/2). Two
records of norms a and b at an inner product s, with one class,

    ‖T − T′‖² = a² + b² − 2s + (a⁴ + b⁴ − 2s²)/2

falls in s, so it is largest at s = −ab: (a+b)²(1 + (a−b)²/2) ≤ 4, at a = b = 1. With two classes it is a² + b² + (a⁴ + b⁴ − 2s²)/2 ≤ 3; with
y = ±1 in one column a change of sign is the first case with u′ for −u′. Hence 2: as far as the first moments alone. The symmetric
matrix is counted once: entries above the diagonal as they are, those on it divided by √2.

The rows of one person move the sums m times as far at most, by the triangle inequality.
"""

from __future__ import annotations

import math

from .arithmetic import UNIT
from .objective_perturbation import inexact_gdp


def moments_sensitivity(*, between_records: bool, rows: float = 1) -> float:
    """How far apart the sums T of two neighbouring tables are at most, rounded up."""
    return rows * (2.0 if between_records else math.sqrt(1.5)) * (1 + 4 * UNIT)


def coordinates(*, outputs: int, features: int) -> int:
    """Numbers in T: the first moments of every class, and the upper half of the matrix with its diagonal."""
    return outputs * features + features * (features + 1) // 2


def moments_gdp(*, sensitivity: float, deviation: float, coordinates: float, grid: float) -> float:
    """μ of T/deviation, rounded to a grid, plus an exact discrete Gaussian of parameter 1 on it; rounded up.

    Rounding moves each coordinate by half a step in either world.
    """
    spread = (sensitivity / deviation + grid * math.sqrt(coordinates)) * (1 + 8 * UNIT)
    return inexact_gdp(spread=spread, output_noise=1.0, grid=grid)


def least_deviation(*, gdp: float, sensitivity: float, coordinates: float, grid: float) -> float:
    """The least deviation with `moments_gdp` at most `gdp`, rounded up; infinite where the grid alone costs more."""
    free = gdp * math.sqrt(1 - (12 * grid) ** 2) * (1 - 32 * UNIT) - grid * math.sqrt(coordinates) * (1 + 16 * UNIT)
    return sensitivity / free * (1 + 32 * UNIT) if free > 0 else math.inf

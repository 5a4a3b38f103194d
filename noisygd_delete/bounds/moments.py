"""Sensitivity of the first and second moments of a labelled table.

A record is a row x of norm at most R with a label, u = x/R. It adds to the sums

    T(x, y) = (u ⊗ e_y, u uᵀ/√2),      ‖T‖² = ‖u‖² + ‖u‖⁴/2 ≤ 3/2

with e_y the unit vector of its class (or y = ±1 in one column). Against the null record, which adds nothing, the
sensitivity is √(3/2). Two records of norms a and b with inner product s and the same class have

    ‖T − T′‖² = a² + b² − 2s + (a⁴ + b⁴ − 2s²)/2

This decreases in s, so it is largest at s = −ab: (a+b)²(1 + (a−b)²/2) ≤ 4, at a = b = 1. With two classes it is
a² + b² + (a⁴ + b⁴ − 2s²)/2 ≤ 3; with y = ±1 in one column a change of sign is the first case with u′ for −u′. Hence the
sensitivity is 2, as for the first moments alone. The symmetric matrix is counted once: entries above the diagonal
unchanged, those on it divided by √2.

The rows of one person move the sums at most m times as far, by the triangle inequality.
"""

from __future__ import annotations

import math

from .arithmetic import UNIT
from .objective_perturbation import inexact_gdp


def moments_sensitivity(*, between_records: bool, rows: float = 1) -> float:
    """Return the largest distance between the sums T of two neighbouring tables, rounded up.

    Args:
        between_records: Whether neighbours replace a record (replace-one) instead of zeroing it (zero-out).
        rows: Rows m of one person.
    """
    return rows * (2.0 if between_records else math.sqrt(1.5)) * (1 + 4 * UNIT)


def coordinates(*, outputs: int, features: int) -> int:
    """Return the number of entries of T.

    These are the first moments of every class, and the upper half of the matrix with its diagonal.
    """
    return outputs * features + features * (features + 1) // 2


def moments_gdp(*, sensitivity: float, deviation: float, coordinates: float, grid: float) -> float:
    """Return μ of T/deviation, rounded to a grid, plus an exact discrete Gaussian of parameter 1; rounded up.

    Rounding moves each coordinate by half a grid step on either dataset.
    """
    spread = (sensitivity / deviation + grid * math.sqrt(coordinates)) * (1 + 8 * UNIT)
    return inexact_gdp(spread=spread, output_noise=1.0, grid=grid)


def least_deviation(*, gdp: float, sensitivity: float, coordinates: float, grid: float) -> float:
    """Return the smallest deviation with `moments_gdp` at most `gdp`, rounded up.

    It is infinite if the grid alone costs more.
    """
    free = gdp * math.sqrt(1 - (12 * grid) ** 2) * (1 - 32 * UNIT) - grid * math.sqrt(coordinates) * (1 + 16 * UNIT)
    return sensitivity / free * (1 + 32 * UNIT) if free > 0 else math.inf

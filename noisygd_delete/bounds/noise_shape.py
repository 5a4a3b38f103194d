"""Public shapes Σ = diag(v) for the noise of objective perturbation, from a schema alone.

Every theorem holds for b ~ N(0, s² Σ) with Δ = s · sup ‖Σ^{-1/2}(g − g′)‖: in coordinates Σ^{-1/2}, a row x counts as
√(xᵀΣ⁻¹x), while ρ stays as it is (xᵀH⁻¹x). So any Σ with xᵀΣ⁻¹x ≤ R² for every allowed row leaves Δ as for Σ = I.

One-hot schema: G blocks of k_g categories, the constant column (a block of one, where there is one), j numbers in [−1, 1];
rows divided by their norm, R = 1. With N blocks in all and S = Σ√k over them,

    v = S/(N√k_g) on block g,   1 on numbers:    xᵀΣ⁻¹x = (N + Σv²)/(N + Σv²) = 1   where every block is hot,
    tr Σ = S²/N + j ≤ Σk + j                     (Cauchy; these v minimise it)

A row with a cold block, divided by its own norm, may have up to xᵀΣ⁻¹x = S/(N' min…) > 1: every block wants an "unknown"
category, and every row is divided by `row_divisor` in any case, which makes the statement true whatever the row. Columns of a
category that may be cold can also stand among the numbers, v = 1: there a row counts as in ‖x‖², whatever is in it.
Several outputs: I_K ⊗ Σ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def block_variances(*, categories: Sequence[float], constant: bool = True) -> tuple[float, ...]:
    """v of each one-hot block, in the order given; with `constant`, that of the constant column comes last.

    Args:
        categories: k_g of each block, its "unknown" category counted.
    """
    roots = [math.sqrt(k) for k in (*categories, *((1,) if constant else ()))]
    return tuple(math.fsum(roots) / (len(roots) * root) for root in roots)


def column_variances(*, blocks: Sequence[int]) -> tuple[float, ...]:
    """v of every column.

    Args:
        blocks: the columns in order: k for a one-hot block of k columns, always hot (the constant column is one of 1), and 0 for
            any other column, which counts like a number: a category that may be cold is so many of them.
    """
    hot = iter(block_variances(categories=[k for k in blocks if k], constant=False))
    return tuple(v for k in blocks for v in ((next(hot),) * k if k else (1.0,)))


def shape_trace(*, categories: Sequence[float], numbers: float, constant: bool = True) -> float:
    """tr Σ = S²/N + j: takes the place of d in the excess risk."""
    roots = [math.sqrt(k) for k in (*categories, *((1,) if constant else ()))]
    return (math.fsum(roots) ** 2 / len(roots) if roots else 0.0) + numbers


def row_divisor(*, norm: float, shaped_norm: float, radius: float) -> float:
    """max(1, ‖x‖/R, √(xᵀΣ⁻¹x)/R): divide every row by it and both norms are at most R; 1 for the null row.

    Args:
        norm: ‖x‖.
        shaped_norm: √(xᵀΣ⁻¹x) = ‖x/√v‖.
    """
    return max(1.0, norm / radius, shaped_norm / radius)

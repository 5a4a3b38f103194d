"""How far rounding may carry the gradient sums of two neighbouring tables apart, and the order of addition behind it.

Rows are added in blocks of 256, in the table's own dtype; blocks in spans of 64, in float64; spans in a balanced tree; the
sums of the processes of a group by one all-reduce.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..distributed import MOST
from ..errors import choice

DTYPES = ("float32", "float64")
BLOCK = 256  # rows whose sum is formed in the table's own dtype
SPAN = 64 * BLOCK  # rows whose blocks are added one after another
NORM_TOLERANCE = 2.0**-20  # rounding a row of norm R to float32 may lengthen it by far less than this

_SLOPE_TOLERANCE = 2.0**-21  # a computed ∂ℓ/∂z may exceed its supremum by a few units in the last place of float32
_UNIT_ROUNDOFF = {"float32": 2.0**-24, "float64": 2.0**-53}


def sensitivity_slack(*, records: int, dtype: str) -> float:
    """Relative rounding slack s: computed gradient sums of neighbouring tables differ by at most Δ(1 + s), for Δ ≥ L.

    Rows are float32 and a score depends on its own row alone, so the tables differ in one term g ⊗ x, longer than L by
    less than 2⁻²⁰ (the row) and 2⁻²¹ (its slope g), and in the rounding that follows from it. Inside its block of b rows
    the float error is at most γ_b Σ‖g_i ⊗ x_i‖ ≤ γ_b b L with γ_b = bu/(1 − bu), in whatever order the terms are added;
    both worlds have one, hence 2bγ_b relative to Δ ≥ L. After it only the float64 additions on the way from that block
    to the total round differently: k = 64 in its span, 2⌈log₂⌉ of the number of spans in the tree, one per process, each
    of a sum no longer than nL: 2nk·2⁻⁵³ (doubled again for second-order terms). Below 1 % in float32 for any n up to
    10¹⁰. The bound assumes that a block's sum does not depend on the other blocks: the compiled kernel has it by
    construction, matrix products for one fixed BLAS and thread count.
    """
    unit = _UNIT_ROUNDOFF[choice("dtype", dtype, DTYPES)]
    inside = BLOCK * unit / (1 - BLOCK * unit)
    additions = SPAN // BLOCK + 2 * (records // SPAN + 1).bit_length() + MOST
    return 2 * BLOCK * inside + 4 * records * additions * 2.0**-53 + NORM_TOLERANCE + _SLOPE_TOLERANCE


def in_a_tree(parts: Iterable[NDArray[Any]], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """The sum of arrays as they come, each addition of two sums of equally many: a part is in ⌈log₂⌉ of them, or twice that."""
    held: list[NDArray[Any] | None] = []
    for part in parts:
        level, carried = 0, part
        while level < len(held) and (other := held[level]) is not None:
            carried, held[level] = other + carried, None
            level += 1
        held[level : level + 1] = [carried]
    total = np.zeros(shape)
    for rest in held:
        if rest is not None:
            total = total + rest
    return total

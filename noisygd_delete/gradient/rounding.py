"""How far rounding may carry the gradient sums of two neighbouring tables apart."""

from __future__ import annotations

from ..errors import choice

DTYPES = ("float32", "float64")
BLOCK = 256  # rows whose sum is formed in the table's own dtype; blocks are added in float64
NORM_TOLERANCE = 2.0**-20  # rounding a row of norm R to float32 may lengthen it by far less than this

_SLOPE_TOLERANCE = 2.0**-21  # a computed ∂ℓ/∂z may exceed its supremum by a few units in the last place of float32
_UNIT_ROUNDOFF = {"float32": 2.0**-24, "float64": 2.0**-53}


def sensitivity_slack(*, records: int, dtype: str) -> float:
    """Relative rounding slack s: computed gradient sums of neighbouring tables differ by at most Δ(1 + s), for Δ ≥ L.

    Rows are float32 and a score depends on its own row alone, so the tables differ in one term g ⊗ x, longer than L by
    less than 2⁻²⁰ (the row) and 2⁻²¹ (its slope g), and in the rounding of the block that holds it. Inside a block of b
    rows the float error is at most γ_b Σ‖g_i ⊗ x_i‖ ≤ γ_b b L with γ_b = bu/(1 − bu), in whatever order its terms are
    added; both worlds have one, hence 2bγ_b relative to Δ ≥ L. Adding n/b blocks in float64, in whatever order,
    contributes 2γ_{n/b} n. Below 1 % in float32 for any n up to 10⁷. The bound assumes that a block's sum does not depend
    on the other blocks: the compiled kernel has it by construction, matrix products for one fixed BLAS and thread count.
    """
    unit = _UNIT_ROUNDOFF[choice("dtype", dtype, DTYPES)]
    inside = BLOCK * unit / (1 - BLOCK * unit)
    blocks = -(-records // BLOCK)
    outside = blocks * 2.0**-53
    return 2 * BLOCK * inside + 2 * records * outside + NORM_TOLERANCE + _SLOPE_TOLERANCE

"""What rounding may add: to the sensitivity of a gradient sum, and to a measured gradient.

The engine adds in a fixed order (blocks, spans, a tree, processes), and the bounds count that order, so its constants
stand here, where planning reads them without loading the engine.
"""

from __future__ import annotations

from ..errors import choice

DTYPES = ("float32", "float64")
BLOCK = 256  # rows whose sum is formed in the table's own dtype
SPAN = 64 * BLOCK  # rows whose blocks are added one after another
CHUNK = 2048  # rows of a chunk of the float64 objective: it stays in the processor's cache
GRID_BITS = 24  # exact noise of parameter τ lies on a grid of step τ/2²⁴
MOST_PROCESSES = 128  # of a group: the slack counts an addition for each
MOST_PARTITIONS = 1 << 16  # of a table that a cluster holds
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
    additions = SPAN // BLOCK + 2 * (records // SPAN + 1).bit_length() + MOST_PROCESSES
    return 2 * BLOCK * inside + 4 * records * additions * 2.0**-53 + NORM_TOLERANCE + _SLOPE_TOLERANCE


def gradient_error(
    *,
    lipschitz: float,
    curvature: float,
    outputs: int,
    records: int,
    features: int,
    regularization: float,
    weights_norm: float,
) -> float:
    """Bound on ‖computed − true ∇L_D(θ)‖ of the float64 objective, for rows of norm ≤ R and ‖θ‖ ≤ `weights_norm`.

    With unit roundoff u and d' features: scores err by at most d'uR‖θ‖, which moves the mean gradient by βd'u‖θ‖
    (`curvature` is β = max(β₊, β₋)); the loss's derivative errs by (16 + 4 · outputs)u relative to L, taking exp as good
    to 4u and tanh to 8u. A sum errs by u times, over its terms, their length and the additions that each goes through (Higham 2002,
    §4.2), to first order: at most CHUNK inside its chunk, in whatever order and pieces; those of a tree over the chunks (of at
    least BLOCK rows) of its partition; then one for each process of a group, or those of a tree over the partitions of a
    cluster, which are fewer: (CHUNK + ⌈log₂(n/BLOCK)⌉ + MOST_PROCESSES)uL, however the rows are dealt out, which hardly grows
    with n. The regulariser errs by 2uλ‖θ‖. The sum is doubled for the second-order terms.
    """
    curved = curvature * (features + 2) * weights_norm
    last = max(MOST_PROCESSES, _in_a_tree(MOST_PARTITIONS))
    additions = min(CHUNK, records) + _in_a_tree(-(-records // BLOCK)) + last
    summed = (24 + 4 * outputs + additions) * lipschitz
    return 2 * _UNIT_ROUNDOFF["float64"] * (curved + summed + 4 * regularization * weights_norm)


def _in_a_tree(parts: int) -> int:
    """Additions that one of so many parts goes through in `engine.summation.in_a_tree`, at most.

    ⌈log₂⌉: with L = ⌊log₂⌋, a part of a sum of 2^l parts went through l; sums of different l ≤ L are left, one for each binary
    digit of the number, and that sum goes through one more with those before it and at most L − l with those after it. Where only
    the sum of all 2^L is left, there are none of these.
    """
    return (parts - 1).bit_length()

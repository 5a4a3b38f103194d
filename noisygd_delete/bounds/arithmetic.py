"""What rounding may add: to the sensitivity of a gradient sum, and to a measured gradient.

The engine adds in a fixed order (blocks, spans, a tree, processes), and the bounds count that order, so its constants
stand here, where planning reads them without loading the engine.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

from ..errors import check_choice

DTYPES = ("float32", "float64")
BLOCK = 256  # rows whose sum is formed in the table's own dtype
SPAN = 64 * BLOCK  # rows whose blocks are added one after another
CHUNK = 2048  # rows of a chunk of the float64 objective: it stays in the processor's cache
GRID_BITS = 24  # exact noise of parameter τ lies on a grid of step τ/2²⁴
MOST_PROCESSES = 128  # of a group: the slack counts an addition for each
MOST_PARTITIONS = 1 << 16  # of a table that a cluster holds
NORM_TOLERANCE = 2.0**-20  # rounding a row of norm R to float32 may lengthen it by far less than this
ROOM = 1 + 2 * NORM_TOLERANCE  # so much longer a row is taken for, its constants rounded; squared for curvatures

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
    unit = _UNIT_ROUNDOFF[check_choice("dtype", dtype, DTYPES)]
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
    last = max(MOST_PROCESSES, _pairwise_additions(MOST_PARTITIONS))
    additions = min(CHUNK, records) + _pairwise_additions(-(-records // BLOCK)) + last
    summed = (24 + 4 * outputs + additions) * lipschitz
    return 2 * _UNIT_ROUNDOFF["float64"] * (curved + summed + 4 * regularization * weights_norm)


def _pairwise_additions(parts: int) -> int:
    """Additions that one of so many parts goes through in `engine.kernel.in_a_tree`, at most.

    ⌈log₂⌉: with L = ⌊log₂⌋, a part of a sum of 2^l parts went through l; sums of different l ≤ L are left, one for each binary
    digit of the number, and that sum goes through one more with those before it and at most L − l with those after it. Where only
    the sum of all 2^L is left, there are none of these.
    """
    return (parts - 1).bit_length()


# --- rounding ---
#
# Rounding outward, and the search for a best order: in plain floats, the final bound is evaluated rounded outward.


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


def golden_section_minimum(objective: Callable[[float], float], left: float, right: float, rounds: int) -> float:
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
    golden_section_minimum(at, grid[max(0, best - 1)], grid[min(len(grid) - 1, best + 1)], rounds)
    return min(tried, key=tried.__getitem__)


# --- search ---
#
# The one search for a limit: the least number from which on something is safe, or the largest up to which it is.
#
# Search in plain floats, return the last point checked safe: whatever `safe` does between the points it was asked about, the
# answer is one at which it said yes.


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

"""Bounds on floating-point error, and searches that round conservatively.

The rounding bounds cover the sensitivity of a gradient sum and the error of a measured gradient. The engine adds in a
fixed order (blocks, spans, a tree, processes), and the bounds depend on that order. Its constants are defined here so
that planning can read them without importing the engine.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

from ..errors import check_choice

DTYPES = ("float32", "float64")
BLOCK = 256  # rows summed in the table's own dtype
SPAN = 64 * BLOCK  # rows whose blocks are added sequentially
CHUNK = 2048  # rows per chunk of the float64 objective, small enough for the processor's cache
GRID_BITS = 24  # exact noise of parameter τ is drawn on a grid of step τ/2²⁴
MOST_PROCESSES = 128  # largest process group; the slack includes one addition for each
MOST_PARTITIONS = 1 << 16  # most partitions of a table on a cluster
NORM_TOLERANCE = 2.0**-20  # rounding a row of norm R to float32 lengthens it by far less than this
ROOM = 1 + 2 * NORM_TOLERANCE  # factor on row norms that covers rounding; squared for curvatures
SHARE_BITS = 20  # a row of a person with k rows weighs ⌊2²⁰/k⌋/2²⁰, exact in float32
MOST_SHARES = 1 << 10  # largest k: beyond it the rounding of weights would no longer be negligible

_SLOPE_TOLERANCE = 2.0**-21  # a computed ∂ℓ/∂z may exceed its supremum by a few float32 ulps
_UNIT_ROUNDOFF = {"float32": 2.0**-24, "float64": 2.0**-53}


def sensitivity_slack(*, records: int, dtype: str) -> float:
    """Return the relative rounding slack s of a gradient sum's sensitivity.

    Computed gradient sums of neighbouring tables differ by at most Δ(1 + s), for Δ ≥ L.

    Rows are float32 and a score depends only on its own row. So the tables differ in one term g ⊗ x, which exceeds L by
    less than 2⁻²⁰ (the row) and 2⁻²¹ (its slope g), and in the rounding errors that follow from it:

    * Inside its block of b rows the float error is at most γ_b Σ‖g_i ⊗ x_i‖ ≤ γ_b b L with γ_b = bu/(1 − bu), for any
      order of addition. Both tables have one such error, hence 2bγ_b relative to Δ ≥ L.
    * After the block, only the float64 additions on the path from that block to the total round differently: k = 64 in
      its span, 2⌈log₂⌉ of the number of spans in the tree, and one per process, each of a sum of norm at most nL. This
      adds 2nk·2⁻⁵³ (doubled again for second-order terms).

    The slack is below 1 % in float32 for any n up to 10¹⁰. The bound assumes that the sum of a block does not depend on
    the other blocks. The compiled kernel guarantees this by construction; matrix products do for one fixed BLAS and
    thread count.

    Args:
        records: Number of records n.
        dtype: Data type of the table, "float32" or "float64".
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
    """Return a bound on ‖computed − true ∇L_D(θ)‖ of the float64 objective.

    With unit roundoff u and d' features, to first order:

    * Scores err by at most d'uR‖θ‖, which changes the mean gradient by βd'u‖θ‖.
    * The derivative of the loss errs by (16 + 4 · outputs)u relative to L, assuming that exp is accurate to 4u and tanh
      to 8u.
    * A sum errs by at most u times the sum, over its terms, of their norm times the number of additions they pass
      through (Higham 2002, §4.2). These additions are at most CHUNK inside the chunk of the term, for any order and
      partition; those of a tree over the chunks (of at least BLOCK rows) of its partition; then one for each process of
      a group, or those of a tree over the partitions of a cluster, which are fewer. The sum is
      (CHUNK + ⌈log₂(n/BLOCK)⌉ + MOST_PROCESSES)uL, independent of how the rows are distributed, and it hardly grows
      with n.
    * The regularizer errs by 2uλ‖θ‖.

    The total is doubled for second-order terms.

    Args:
        lipschitz: L, Lipschitz constant of one record's loss.
        curvature: β = max(β₊, β₋), for rows of norm at most R.
        outputs: Scores per record.
        records: Number of records n.
        features: Number of features d'.
        regularization: λ.
        weights_norm: Upper bound on ‖θ‖.
    """
    curved = curvature * (features + 2) * weights_norm
    last = max(MOST_PROCESSES, _pairwise_additions(MOST_PARTITIONS))
    additions = min(CHUNK, records) + _pairwise_additions(-(-records // BLOCK)) + last
    summed = (24 + 4 * outputs + additions) * lipschitz
    return 2 * _UNIT_ROUNDOFF["float64"] * (curved + summed + 4 * regularization * weights_norm)


def _pairwise_additions(parts: int) -> int:
    """Return the maximum number of additions a part passes through in `engine.kernel.in_a_tree`, ⌈log₂ parts⌉.

    With L = ⌊log₂ parts⌋, a part of a sum of 2^l parts has passed through l additions. Sums with different l ≤ L
    remain, one for each binary digit of `parts`. Such a sum passes through one more addition with those before it and
    at most L − l with those after it. If only the sum of all 2^L parts remains, there are no further additions.
    """
    return (parts - 1).bit_length()


# --- rounding ---
#
# Conservative rounding, and the search for a best order in plain floats; only the final bound is rounded
# conservatively.


UNIT = 2.0**-53
MARGIN = 1e-12  # relative; hundreds of times the error of the special functions after conditioning
LEAST_LOG = -sys.float_info.max  # logarithm of a number too small for a double: finite, and still an upper bound


def probability_from_log(logarithm: float) -> float:
    """Return min(1, e^x) rounded up, the probability of logarithm x; 0 only for x = −∞."""
    if logarithm == -math.inf:
        return 0.0
    return math.nextafter(math.exp(min(logarithm, 0.0)), math.inf) if logarithm < 0 else 1.0


def log_down(value: float) -> float:
    """Return log x rounded down, for 0 < x < 1."""
    logarithm = math.log(value)
    return logarithm - 2 * UNIT * abs(logarithm)


def sum_up(*terms: float) -> float:
    """Return the sum of `terms`, rounded up by more than the error of the terms if each is accurate to a few ulps."""
    return math.fsum(terms) + 16 * UNIT * math.fsum(map(abs, terms))


def golden_section_minimum(objective: Callable[[float], float], left: float, right: float, rounds: int) -> float:
    """Return the smallest value found by a golden-section search.

    Use it only if every point of the interval is a valid argument.
    """
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
    """Return an order q in (1 + low, 1 + high) that makes `objective` small.

    Every order gives a valid bound, so the search may use plain floats.
    """
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
# Searches for a limit: the smallest number from which a predicate holds, or the largest up to which it holds.
#
# They search in plain floats and return the last point at which `safe` was evaluated and true, so the result is safe
# even if `safe` is not monotone.


def first_safe(safe: Callable[[float], bool], low: float, high: float, digits: float = 1e-15) -> float:
    """Bisect between an unsafe `low` and a safe `high` and return a safe number.

    The search stops at relative width `digits` or at neighbouring doubles. The result was checked to be safe (`high`
    itself by the caller).
    """
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
    """Return the smallest x > 0 for which `safe(x)` holds; `math.inf` if there is none up to `most`.

    Args:
        safe: Predicate that is false below some number and true from there up to `most`.
        guess: Starting point of the bracketing.
        factor: Ratio of successive bracketing points.
        below: Number known to be too small, so that no number at or below it is tried; None to search downward.
        most: Largest number to try.
        digits: Relative width at which the search stops.
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
    """Bisect between an unsafe integer `low` and a safe integer `high` and return a safe integer."""
    while high - low > max(1, digits * high):
        middle = (low + high) // 2
        low, high = (low, middle) if safe(middle) else (middle, high)
    return high


def least_whole(
    safe: Callable[[int], bool], *, guess: int = 1, below: int = 0, most: float = math.inf, digits: float = 0.0
) -> int | None:
    """Return the smallest safe integer above `below`; None if there is none up to `most`.

    The bracket is found by doubling `guess`.

    Args:
        safe: Predicate that is false below some number and true from there up to `most`.
        guess: Starting point of the bracketing.
        below: Number known to be unsafe.
        most: Largest number to try.
        digits: Relative width at which the search stops.
    """
    low, high = below, guess
    while high <= most:
        if safe(high):
            return first_whole(safe, low, high, digits)
        low, high = high, 2 * high
    return None


def last_whole(fits: Callable[[int], bool], sure: Callable[[int], bool] | None = None) -> int:
    """Return the largest n ≥ 1 for which `fits(n)` holds; 0 if `fits(1)` is false.

    Args:
        fits: Predicate that is true up to some number and false beyond it.
        sure: Cheaper predicate that implies `fits`; the search starts where it ends.
    """
    begun = 0 if sure is None else last_whole(sure)
    beyond = least_whole(lambda number: not fits(number), guess=begun + 1, below=begun)
    assert beyond is not None
    return beyond - 1

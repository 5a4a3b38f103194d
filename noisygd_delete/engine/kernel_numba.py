"""The compiled inner loop. Imported on use: it loads numba, and compiles on the first call on a machine.

Indices are unsigned and rows are addressed in one flat array, so that the compiler can use vector instructions; it may
reorder sums and fuse multiplications with additions, nothing else. The slope is compiled from the loss's own formula:
`add_for` compiles one loop for each formula and precision, with the constants in that precision.
"""

from __future__ import annotations

import hashlib
from functools import cache
from types import CodeType, FunctionType
from typing import Any

import numpy as np
from numba import njit, uintp

from ..bounds.arithmetic import BLOCK

_WORDS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz"}}
_compiled: Any = njit(cache=True, inline="always", **_WORDS)
_GROUP = uintp(16)
_BLOCK = uintp(BLOCK)


def tanh(x):  # type: ignore[no-untyped-def]
    """Return tanh in [−1, 1] for every x, including NaN.

    Accurate to 2⁻²² in float32, tested on every float, and to 8 · 2⁻⁵³ in float64: its roundings add up to 7.2, all in
    one direction.

    At a = x/8, clamped to |a| ≤ 5/2, Lambert's continued fraction a/(1 + a²/(3 + a²/(5 + …))) is truncated after a²/15:
    its convergents are on alternate sides of tanh a. Then tanh 2a = 2t/(1 + t²) is applied three times to t = p/q: p
    becomes 2pq, q becomes p² + q², with one division at the end. The truncation error is at most 10⁻³ · 2⁻⁵³ by then,
    and 1 − tanh|x| < 10⁻¹⁷ where the clamp applies.
    """
    a = x * 0.125
    a = a if a < 2.5 else 2.5
    a = a if a > -2.5 else -2.5
    s = a * a
    p = a * (1.0 + s * (270270 / 2027025 + s * (6930 / 2027025 + s * (36 / 2027025))))
    q = 1.0 + s * (945945 / 2027025 + s * (51975 / 2027025 + s * (630 / 2027025 + s * (1 / 2027025))))
    p, q = (p + p) * q, p * p + q * q
    p, q = (p + p) * q, p * p + q * q
    t = ((p + p) * q) / (p * p + q * q)
    t = t if t < 1.0 else 1.0
    return t if t > -1.0 else -1.0


@_compiled
def root(x):  # type: ignore[no-untyped-def]
    """Return √x."""
    return np.sqrt(x)


@_compiled
def clamp(g, bound):  # type: ignore[no-untyped-def]
    """Return g in [−bound, bound], including NaN."""
    g = g if g < bound else bound
    return g if g > -bound else -bound


@_compiled
def _score(rows, at, weights):  # type: ignore[no-untyped-def]
    total = weights.dtype.type(0)
    for j in range(uintp(weights.shape[0])):
        total += rows[at + j] * weights[j]
    return total


@_compiled
def _score_four(rows, a, weights, scores, k):  # type: ignore[no-untyped-def]
    width = uintp(weights.shape[0])
    b = a + width
    c = b + width
    d = c + width
    zero = weights.dtype.type(0)
    p, q, r, s = zero, zero, zero, zero
    for j in range(width):
        weight = weights[j]
        p += rows[a + j] * weight
        q += rows[b + j] * weight
        r += rows[c + j] * weight
        s += rows[d + j] * weight
    scores[k], scores[k + 1], scores[k + 2], scores[k + 3] = p, q, r, s


@_compiled
def _add_eight(rows, a, slopes, total):  # type: ignore[no-untyped-def]
    width = uintp(total.shape[0])
    b = a + width
    c = b + width
    d = c + width
    e = d + width
    f = e + width
    g = f + width
    h = g + width
    p, q, r, s = slopes[0], slopes[1], slopes[2], slopes[3]
    t, u, v, w = slopes[4], slopes[5], slopes[6], slopes[7]
    for j in range(width):
        total[j] += ((p * rows[a + j] + q * rows[b + j]) + (r * rows[c + j] + s * rows[d + j])) + (
            (t * rows[e + j] + u * rows[f + j]) + (v * rows[g + j] + w * rows[h + j])
        )


_slope: Any = None  # replaced by the loss's formula, and `_tanh` by that of its precision, in compiled copies of `_add`
_tanh: Any = None


def _add(rows, labels, weights, first, last, parameter, bound, sum_of_blocks):  # type: ignore[no-untyped-def]
    """Add Σ g(⟨θ, x⟩, y) x over the rows from `first` to `last` to `sum_of_blocks` (float64).

    Blocks are added one after another, each computed in the precision of the weights.
    """
    width = uintp(weights.shape[0])
    start, stop = uintp(first), uintp(last)
    block_sum = np.zeros(width, weights.dtype)
    g = np.empty(_GROUP, weights.dtype)
    for block in range(start, stop, _BLOCK):
        end = min(block + _BLOCK, stop)
        grouped = end - (end - block) % _GROUP
        for row in range(block, grouped, _GROUP):
            for k in range(uintp(0), _GROUP, uintp(4)):
                _score_four(rows, (row + k) * width, weights, g, k)
            for k in range(_GROUP):
                g[k] = clamp(_slope(g[k], labels[row + k], parameter, _tanh, root), bound)
            for k in range(uintp(0), _GROUP, uintp(8)):
                _add_eight(rows, (row + k) * width, g[k : k + uintp(8)], block_sum)
        for row in range(grouped, end):
            score = _score(rows, row * width, weights)
            one = clamp(_slope(score, labels[row], parameter, _tanh, root), bound)
            for j in range(width):
                block_sum[j] += one * rows[row * width + j]
        for j in range(width):
            sum_of_blocks[j] += block_sum[j]
            block_sum[j] = 0


def to_single_precision(code: CodeType) -> CodeType:
    """Return the code with its float literals in float32: a float64 literal would make the arithmetic float64."""
    return code.replace(co_consts=tuple(np.float32(c) if isinstance(c, float) else c for c in code.co_consts))


@cache
def formula_for(formula: FunctionType, dtype: str) -> Any:
    """Return a loss's formula, or `tanh`, compiled in this precision for inlining."""
    code = to_single_precision(formula.__code__) if dtype == "float32" else formula.__code__
    return njit(inline="always", **_WORDS)(FunctionType(code, {}, "formula"))


@cache
def add_for(formula: FunctionType, dtype: str) -> Any:
    """Return `_add` for one loss. Its cache on disk is keyed by the formula, so an edited one is recompiled."""
    code = formula.__code__
    digest = hashlib.sha256(repr((code.co_code, code.co_consts, code.co_names)).encode()).hexdigest()[:16]
    parts = {"_slope": formula_for(formula, dtype), "_tanh": formula_for(tanh, dtype)}
    own = FunctionType(_add.__code__, {**globals(), **parts}, f"add_{dtype}_{digest}")
    own.__qualname__ = own.__name__
    return njit(cache=True, **_WORDS)(own)

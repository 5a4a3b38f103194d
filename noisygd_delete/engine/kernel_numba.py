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
from llvmlite import ir
from numba import njit, types, uintp
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from ..bounds.arithmetic import BLOCK, SPAN

_WORDS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz"}}
_compiled: Any = njit(cache=True, inline="always", **_WORDS)
_intrinsic: Any = intrinsic
_insert: Any = cgutils.get_or_insert_function
_GROUP = uintp(16)
_BLOCK, _SPAN = uintp(BLOCK), uintp(SPAN)


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


# --- lanes ---
#
# Four adjacent float64 numbers as one value, which every backend of LLVM maps to its vector registers. Left to itself,
# the compiler groups 16 columns at a time, computes the other columns of a row one by one, and converts each number
# twice. In float32 it needs no help.


_VECTOR = ir.VectorType(ir.DoubleType(), 4)
_LANES = uintp(4)


class _Lanes(types.Type):
    """The type of four float64 numbers."""


_lanes = _Lanes("four_float64")


@register_model(_Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: _Lanes) -> None:
        super().__init__(manager, kind, _VECTOR)  # type: ignore[no-untyped-call]


def _pointer_at(context: Any, builder: Any, kind: Any, array: Any, index: Any, target: Any) -> Any:
    view = context.make_array(kind)(context, builder, array)
    return builder.bitcast(builder.gep(view.data, [index]), target.as_pointer())


@_intrinsic
def _load(_context, array, index):  # type: ignore[no-untyped-def]
    """Return four numbers of a float32 or float64 array from `index` on."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        stored = ir.VectorType(context.get_value_type(array.dtype), _VECTOR.count)
        place = _pointer_at(context, builder, array, arguments[0], arguments[1], stored)
        numbers = builder.load(place, align=array.dtype.bitwidth // 8)
        return numbers if stored == _VECTOR else builder.fpext(numbers, _VECTOR)

    return _lanes(array, index), generate


@_intrinsic
def _store(_context, array, index, lanes):  # type: ignore[no-untyped-def]
    """Write lanes to a float64 array from `index` on."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        place = _pointer_at(context, builder, array, arguments[0], arguments[1], _VECTOR)
        builder.store(arguments[2], place, align=8)
        return context.get_dummy_value()

    return types.void(array, index, lanes), generate


@_intrinsic
def _spread(_context, number):  # type: ignore[no-untyped-def]
    """Return lanes that all hold `number`."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        anything = ir.Constant(_VECTOR, ir.Undefined)
        first = builder.insert_element(anything, arguments[0], cgutils.int32_t(0))
        zeros = ir.Constant(ir.VectorType(cgutils.int32_t, _VECTOR.count), [0] * _VECTOR.count)
        return builder.shuffle_vector(first, anything, zeros)

    return _lanes(types.float64), generate


@_intrinsic
def _multiply_add(_context, lanes, factor, summand):  # type: ignore[no-untyped-def]
    """Return lanes · factor + summand, rounded once or twice."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
        return builder.call(_insert(builder.module, kind, "llvm.fmuladd.v4f64"), arguments)

    return _lanes(lanes, factor, summand), generate


@_intrinsic
def _total(_context, lanes):  # type: ignore[no-untyped-def]
    """Return the sum of the lanes."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        a, b, c, d = (builder.extract_element(arguments[0], cgutils.int32_t(lane)) for lane in range(_VECTOR.count))
        return builder.fadd(builder.fadd(a, c), builder.fadd(b, d))

    return types.float64(lanes), generate


@_intrinsic
def _prefetch(_context, array, index):  # type: ignore[no-untyped-def]
    """Begin to load the cache line of array[index]; an index beyond the end is harmless."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        place = _pointer_at(context, builder, array, arguments[0], arguments[1], ir.IntType(8))
        kind = ir.FunctionType(ir.VoidType(), [place.type, *[cgutils.int32_t] * 3])
        function = _insert(builder.module, kind, "llvm.prefetch.p0i8")
        read, all_levels, data = (cgutils.int32_t(number) for number in (0, 3, 1))
        builder.call(function, [place, read, all_levels, data])
        return context.get_dummy_value()

    return types.void(array, index), generate


# --- loops ---


_AHEAD = uintp(800)  # numbers to load ahead: rows arrive from memory while others are computed


@_compiled
def _score(rows, at, weights):  # type: ignore[no-untyped-def]
    total = weights.dtype.type(0)
    for j in range(uintp(weights.shape[0])):
        total += rows[at + j] * weights[j]
    return total


@_compiled
def _score_four_in_single(rows, a, weights, scores, k, _kept):  # type: ignore[no-untyped-def]
    """Score four rows of a flat array from place `a` on."""
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
def _next_seven(a, width):  # type: ignore[no-untyped-def]
    """Return the places of the seven rows that follow the row at place `a`."""
    b = a + width
    c = b + width
    d = c + width
    e = d + width
    f = e + width
    g = f + width
    return b, c, d, e, f, g, g + width


@_compiled
def _add_eight_in_single(rows, a, slopes, _kept, _k, total):  # type: ignore[no-untyped-def]
    """Add eight rows of a flat array from place `a` on, each times its slope."""
    width = uintp(total.shape[0])
    b, c, d, e, f, g, h = _next_seven(a, width)
    p, q, r, s = slopes[0], slopes[1], slopes[2], slopes[3]
    t, u, v, w = slopes[4], slopes[5], slopes[6], slopes[7]
    for j in range(width):
        total[j] += ((p * rows[a + j] + q * rows[b + j]) + (r * rows[c + j] + s * rows[d + j])) + (
            (t * rows[e + j] + u * rows[f + j]) + (v * rows[g + j] + w * rows[h + j])
        )


@_compiled
def _score_four_in_double(rows, a, weights, scores, k, kept):  # type: ignore[no-untyped-def]
    """Score four rows from place `a` on; keep them in float64 as rows `k` to `k` + 3 of `kept`."""
    width = uintp(weights.shape[0])
    whole, b, c, d = width - width % _LANES, a + width, a + uintp(2) * width, a + uintp(3) * width
    e = k * width
    f, g, h = e + width, e + uintp(2) * width, e + uintp(3) * width
    p = _spread(0.0)
    q, r, s = p, p, p
    for j in range(uintp(0), whole, _LANES):
        _prefetch(rows, a + _AHEAD + uintp(4) * j)
        weight = _load(weights, j)
        x = _load(rows, a + j)
        _store(kept, e + j, x)
        p = _multiply_add(x, weight, p)
        x = _load(rows, b + j)
        _store(kept, f + j, x)
        q = _multiply_add(x, weight, q)
        x = _load(rows, c + j)
        _store(kept, g + j, x)
        r = _multiply_add(x, weight, r)
        x = _load(rows, d + j)
        _store(kept, h + j, x)
        s = _multiply_add(x, weight, s)
    one, two, three, four = _total(p), _total(q), _total(r), _total(s)
    for j in range(whole, width):
        weight = weights[j]
        kept[e + j], kept[f + j], kept[g + j], kept[h + j] = rows[a + j], rows[b + j], rows[c + j], rows[d + j]
        one += rows[a + j] * weight
        two += rows[b + j] * weight
        three += rows[c + j] * weight
        four += rows[d + j] * weight
    scores[k], scores[k + 1], scores[k + 2], scores[k + 3] = one, two, three, four


@_compiled
def _add_eight_in_double(_rows, _a, slopes, kept, k, total):  # type: ignore[no-untyped-def]
    """Add rows `k` to `k` + 7 of `kept`, each times its slope."""
    width = uintp(total.shape[0])
    whole, a = width - width % _LANES, k * width
    b, c, d, e, f, g, h = _next_seven(a, width)
    p, q, r, s = _spread(slopes[0]), _spread(slopes[1]), _spread(slopes[2]), _spread(slopes[3])
    t, u, v, w = _spread(slopes[4]), _spread(slopes[5]), _spread(slopes[6]), _spread(slopes[7])
    for j in range(uintp(0), whole, _LANES):
        x = _multiply_add(_load(kept, a + j), p, _load(total, j))
        x = _multiply_add(_load(kept, b + j), q, x)
        x = _multiply_add(_load(kept, c + j), r, x)
        x = _multiply_add(_load(kept, d + j), s, x)
        x = _multiply_add(_load(kept, e + j), t, x)
        x = _multiply_add(_load(kept, f + j), u, x)
        x = _multiply_add(_load(kept, g + j), v, x)
        x = _multiply_add(_load(kept, h + j), w, x)
        _store(total, j, x)
    for j in range(whole, width):
        for row in range(uintp(8)):
            total[j] += slopes[row] * kept[a + row * width + j]


_score_four: Any = None  # replaced by those of the precision in compiled copies of `_add`, like the loss's formula
_add_eight: Any = None
_slope: Any = None
_tanh: Any = None


def _add(rows, labels, weights, origin, first, last, parameter, bound, spans):  # type: ignore[no-untyped-def]
    """Add Σ g(⟨θ, x⟩, y) x over the rows from `first` to `last` to `spans` (float64), a row for each span from `origin`.

    Blocks are added one after another, each computed in the precision of the weights.
    """
    width = uintp(weights.shape[0])
    begin, start, stop = uintp(origin), uintp(first), uintp(last)
    block_sum = np.zeros(width, weights.dtype)
    g = np.empty(_GROUP, weights.dtype)
    kept = np.empty(_GROUP * width, weights.dtype)
    for block in range(start, stop, _BLOCK):
        end = min(block + _BLOCK, stop)
        grouped = end - (end - block) % _GROUP
        for row in range(block, grouped, _GROUP):
            for k in range(uintp(0), _GROUP, uintp(4)):
                _score_four(rows, (row + k) * width, weights, g, k, kept)
            for k in range(_GROUP):
                g[k] = clamp(_slope(g[k], labels[row + k], parameter, _tanh, root), bound)
            for k in range(uintp(0), _GROUP, uintp(8)):
                _add_eight(rows, (row + k) * width, g[k : k + uintp(8)], kept, k, block_sum)
        for row in range(grouped, end):
            score = _score(rows, row * width, weights)
            one = clamp(_slope(score, labels[row], parameter, _tanh, root), bound)
            for j in range(width):
                block_sum[j] += one * rows[row * width + j]
        span = (block - begin) // _SPAN
        for j in range(width):
            spans[span, j] += block_sum[j]
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
    single = dtype == "float32"
    parts = {
        "_slope": formula_for(formula, dtype),
        "_tanh": formula_for(tanh, dtype),
        "_score_four": _score_four_in_single if single else _score_four_in_double,
        "_add_eight": _add_eight_in_single if single else _add_eight_in_double,
    }
    own = FunctionType(_add.__code__, {**globals(), **parts}, f"add_{dtype}_{digest}")
    own.__qualname__ = own.__name__
    return njit(cache=True, **_WORDS)(own)

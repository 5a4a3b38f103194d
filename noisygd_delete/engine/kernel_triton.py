"""The fused kernel for CUDA, in Triton: a row is scored and added up while it is in registers, so a step reads the table once.

Imported where it is used: it loads triton, which CUDA builds of torch bring along. What the declared sensitivity
(rounding.py) rests on is as in kernel.py: a score depends on its own row, a slope is clamped to its bound whatever the error
of exp, and a block's sum, formed in float32, depends on that block alone; blocks are added in float64.
"""

from __future__ import annotations

from functools import cache
from types import FunctionType
from typing import Any

import triton
import triton.language as tl

_compiled: Any = triton.jit


@_compiled
def tanh(x):  # type: ignore[no-untyped-def]
    """To about 2⁻²³ of 1, and ±1 where exp overflows or vanishes."""
    return 1 - 2 / (1 + tl.exp(2 * x))


@_compiled
def root(x):  # type: ignore[no-untyped-def]
    return tl.sqrt(x)


@cache
def slope_for(formula: FunctionType) -> Any:
    """A loss's own formula (`losses.base.ScalarSlope`), to be part of a kernel."""
    return triton.jit(FunctionType(formula.__code__, {"tl": tl, "__name__": formula.__module__}, formula.__name__))


@_compiled  # type: ignore[untyped-decorator]
def add_blocks(  # type: ignore[no-untyped-def]
    rows, labels, weights, partials, blocks, parameter, bound,
    SLOPE: tl.constexpr, STRIDE: tl.constexpr, WIDE: tl.constexpr,
    BLOCK: tl.constexpr, AT_ONCE: tl.constexpr, EACH: tl.constexpr,
):  # fmt: skip
    """partials[p] = Σ g(⟨θ, x⟩, y) x, |g| ≤ bound, over the rows of the `EACH` blocks of program p, float64.

    Rows lie `STRIDE` numbers apart, filled up with zeros as the weights are; `WIDE` is the power of two from STRIDE up, as the
    shapes of tiles must be.
    """
    program = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, WIDE)
    inside = columns < STRIDE
    weight = tl.load(weights + columns, mask=inside, other=0.0)
    total = tl.zeros((WIDE,), tl.float64)
    for block in range(program * EACH, min(program * EACH + EACH, blocks)):
        block_sum = tl.zeros((AT_ONCE, WIDE), tl.float32)
        for start in range(0, BLOCK, AT_ONCE):
            at = block * BLOCK + start + tl.arange(0, AT_ONCE)
            x = tl.load(rows + at[:, None] * STRIDE + columns[None, :], mask=inside[None, :], other=0.0)
            z = tl.sum(x * weight[None, :], axis=1)
            g = SLOPE(z, tl.load(labels + at), parameter, tanh, root)
            g = tl.minimum(tl.maximum(g, -bound), bound)
            block_sum += g[:, None] * x
        total += tl.sum(block_sum, axis=0).to(tl.float64)
    tl.store(partials + program * STRIDE + columns, total, mask=inside)


@_compiled  # type: ignore[untyped-decorator]
def update(  # type: ignore[no-untyped-def]
    theta, single, partials, noise, turns, facts, parts,
    WIDTH: tl.constexpr, STRIDE: tl.constexpr, COLUMNS: tl.constexpr, AT_ONCE: tl.constexpr,
):  # fmt: skip
    """θ ← θ − η(Σ partials / n + λθ) + noise[turn], its float32 copy, and the next turn. `facts`: η, λ and n in float64.

    Each program has columns and a turn of its own: none waits for another.
    """
    program = tl.program_id(0)
    columns = program * COLUMNS + tl.arange(0, COLUMNS)
    inside = columns < WIDTH
    total = tl.zeros((AT_ONCE, COLUMNS), tl.float64)
    for start in range(0, parts, AT_ONCE):
        at = start + tl.arange(0, AT_ONCE)
        place = partials + at[:, None] * STRIDE + columns[None, :]
        total += tl.load(place, mask=(at < parts)[:, None] & inside[None, :], other=0.0)
    step_size, regularization, slots = tl.load(facts), tl.load(facts + 1), tl.load(facts + 2)
    turn = tl.load(turns + program)
    old = tl.load(theta + columns, mask=inside, other=0.0)
    gradient = tl.sum(total, axis=0) / slots + regularization * old
    new = old - step_size * gradient + tl.load(noise + turn * WIDTH + columns, mask=inside, other=0.0)
    tl.store(theta + columns, new, mask=inside)
    tl.store(single + columns, new.to(tl.float32), mask=inside)
    tl.store(turns + program, turn + 1)

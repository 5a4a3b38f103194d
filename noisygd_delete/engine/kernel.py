"""Gradient sums of one-output losses in one pass: a row is scored and added while it is in cache.

Compiled by numba (the extra `fast`), for float32 rows, in float32 or float64. Where it is not supported, callers use
matrix products, which support every loss.

The declared sensitivity (bounds/arithmetic.py) relies on this: the score of a row depends on that row alone; |∂ℓ/∂z|
keeps its bound whatever the error of tanh, as it is clamped; the sum of a block depends on that block alone. The order
of addition does not depend on threads, so neither does the result, bit for bit. A measured gradient relies on this:
the term of a row goes through BLOCK additions in its block, 64 in its span and those of a tree over the spans, fewer
than are counted for a chunk and a tree over chunks.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bounds.arithmetic import BLOCK, SPAN
from ..losses.base import Loss
from ..records.values import file_mapping, release_memory
from .execution import control_group_limits, thread_count, thread_pool

# --- windows ---
#
# Reading a table in order, without holding more of it than fits in memory.
#
# Rows of a store are mapped from their file. Pages of a mapping count as memory of the process once read, so they are
# released after reading; a table that fits is kept. The arithmetic, and so every bit of the result, is the same as long as
# half of the limit holds a chunk of rows; a smaller limit, which is public, changes the order of addition within the bound.


LIMIT: int | None = None  # bytes of a mapped table to hold at a time; None: a quarter of the machine's memory


@cache
def quarter_of_memory() -> int:
    """Return a quarter of the memory of the machine, or of its control group if that is less, in bytes."""
    if not hasattr(os, "sysconf"):  # Windows pages out mapped files automatically
        return 1 << 62
    groups = [size for (size,) in control_group_limits("memory.max")]
    return min([os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), *groups]) // 4


def memory_limit() -> int:
    """Return the number of bytes of a table to hold at a time."""
    return quarter_of_memory() if LIMIT is None else LIMIT


@contextmanager
def limit_memory(size: int | None) -> Iterator[None]:
    """Set the number of bytes of a table to hold at a time in this process; None changes nothing."""
    global LIMIT  # noqa: PLW0603
    before = LIMIT
    LIMIT = before if size is None else size
    try:
        yield
    finally:
        LIMIT = before


def row_windows(rows: Any, first: int, last: int, most: int) -> Iterator[slice]:
    """Yield slices from `first` to `last` in order, of `most` rows, or fewer by a power of two to save memory."""
    limit = memory_limit()
    pages, row = file_mapping(getattr(rows, "source", rows)), rows[:1].nbytes
    releases = pages is not None and rows.nbytes > limit
    while releases and most > BLOCK and most * row > limit // 2:
        most //= 2
    held = 0
    for start in range(first, last, most):
        stop = min(start + most, last)
        yield slice(start, stop)
        held += (stop - start) * row
        if releases and pages is not None and (held > limit // 2 or stop == last):
            release_memory(pages)
            held = 0


# --- summation ---
#
# The order in which parts of a gradient sum are added: `bounds.arithmetic` bounds its rounding, which hardly grows with
# the number of rows.
#
# Noisy steps: rows are added in blocks of 256, in the table's own dtype; blocks in spans of 64, in float64; spans in a
# balanced tree. Solvers and exact steps: the same in the compiled kernel, in float64; else rows in chunks of at most
# 2048, and chunks in a tree, as are the partitions of a cluster. One all-reduce adds the sums of the processes of a
# group.


def sum_pairwise(parts: Iterable[NDArray[Any]], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Sum arrays as they arrive, adding only sums of equally many: a part is in at most ⌈log₂⌉ additions."""
    held: list[NDArray[Any]] = []  # sums of decreasing size, one for each binary digit 1 of the number of parts
    for number, part in enumerate(parts):
        carried, ones = part, number  # like the carry of a binary counter: its trailing ones are sums to merge
        while ones & 1:
            carried, ones = held.pop() + carried, ones >> 1
        held.append(carried)
    total = np.zeros(shape)
    for rest in reversed(held):
        total = total + rest
    return total


LEAST = 1 << 20  # numbers in a table worth a compiled loop
WORTH = 1 << 31  # numbers read in a run worth loading the compiler for: about the measured break-even
_TASKS = 8  # per thread
_WINDOW = 64 * SPAN  # rows of one compiled call


_worth = [False]  # whether a run of this process was worth the compiler, however its rows were read


def is_worth(loss: Loss, rows: NDArray[Any], readings: int | None) -> bool:
    """Return whether loading the compiler pays off for the gradients of this table, or did earlier in this process.

    It never does for a table of fewer than `LEAST` numbers.

    It is a function of public facts, evaluated before the zeros of the rows are counted: an erased record must not
    determine how later sums are added.

    Args:
        loss: The loss.
        rows: The rows.
        readings: Number of gradients; None: many.
    """
    if loss.scalar_slope is None or rows.size < LEAST:
        return False
    _worth[0] = _worth[0] or readings is None or rows.size * readings >= WORTH
    return _worth[0]


def is_supported(loss: Loss, rows: NDArray[Any], readings: int | None) -> bool:
    """Return whether the compiled kernel supports this loss, table and number of gradients (None: many)."""
    return is_worth(loss, rows, readings) and rows.flags.c_contiguous and _can_compile()


class Kernel:
    """Σ_x ∇ℓ(θ; x) over the rows of one table. Holds a view of the rows and buffers for the partial sums."""

    def __init__(self, rows: NDArray[np.float32], loss: Loss, own: range) -> None:
        slope = loss.scalar_slope
        assert slope is not None
        self._slope, self._rows, self._flat = slope, rows, rows.reshape(-1)
        self._own, spans = own, -(-len(own) // SPAN)
        self._sums = np.zeros((spans, rows.shape[1]))
        self._threads = min(spans, thread_count(rows.size))
        tasks = min(spans, _TASKS * self._threads)
        cuts = [own.start + spans * task // tasks * SPAN for task in range(tasks)] + [own.stop]
        self._tasks = [range(*pair) for pair in pairwise(cuts)]

    def __call__(self, weights: NDArray[np.float64], labels: NDArray[Any]) -> NDArray[np.float64]:
        """Return the sum at weights (1, features), in their shape; blocks are summed in the labels' dtype."""
        from .kernel_numba import add_for

        kind, self._sums[:] = labels.dtype, 0
        own, add = weights[0].astype(kind), add_for(self._slope.formula, kind.name)
        facts = kind.type(self._slope.parameter), kind.type(self._slope.bound)

        def work(task: range) -> None:
            for part in row_windows(self._rows, task.start, task.stop, _WINDOW):
                add(self._flat, labels, own, self._own.start, part.start, part.stop, *facts, self._sums)

        if self._threads > 1:
            list(thread_pool(self._threads, os.getpid()).map(work, self._tasks))
        else:
            for task in self._tasks:
                work(task)
        return sum_pairwise(self._sums, self._sums.shape[1:])[None]


@cache
def _can_compile() -> bool:
    """Return whether numba is installed and has a cache directory (without one it would compile at every start)."""
    try:
        from . import kernel_numba  # noqa: F401
    except (ImportError, RuntimeError):
        return False
    return True

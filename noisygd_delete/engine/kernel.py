"""Gradient sums of one-output losses in one reading of the rows: a row is scored and added up while it is in cache.

Compiled by numba (the extra `fast`), for float32 rows, in float32 or float64; where it does not serve, whoever asks has matrix products for
every loss.

What the declared sensitivity (bounds/arithmetic.py) rests on: a row's score depends on that row alone; |∂ℓ/∂z| keeps its bound
whatever the error of tanh, for it is clamped; a block's sum depends on that block alone. The order of addition does not
depend on threads, so neither does the result, bit for bit. What a measured gradient rests on: a row's term goes through BLOCK
additions in its block, 64 in its span and those of a tree over the spans, fewer than are counted for a chunk and a tree over chunks.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bounds.arithmetic import BLOCK, SPAN
from ..losses.base import Loss
from ..records.values import file_mapping, release_memory
from .execution import thread_count, thread_pool

# --- windows ---
#
# Reading a table in order, without holding more of it than memory has room for.
#
# Rows of a store are mapped from their file. The pages of a mapping count as the process's own memory once read, so behind
# the reader they are let go of; a table that fits is kept. The arithmetic is the same, hence the result, bit for bit.


LIMIT: int | None = None  # bytes of a mapped table to hold at a time; None: a quarter of the machine's memory


@cache
def quarter_of_memory() -> int:
    """Of the machine, in bytes."""
    if not hasattr(os, "sysconf"):  # Windows pages mapped files out by itself
        return 1 << 62
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4


def memory_limit() -> int:
    """Bytes of a table to hold at a time."""
    return quarter_of_memory() if LIMIT is None else LIMIT


def row_windows(rows: Any, first: int, last: int, most: int) -> Iterator[slice]:
    """Slices from `first` to `last` in order, of `most` rows, or less by a power of two where memory asks for it."""
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
# The order in which parts of a gradient sum are added: `bounds.arithmetic` counts it, and it hardly grows with the rows.
#
# Noisy steps: rows are added in blocks of 256, in the table's own dtype; blocks in spans of 64, in float64; spans in a balanced
# tree. A solver, and exact steps: so too by the compiled kernel, in float64; else rows in chunks of 2048 at most, and chunks in a tree,
# as the partitions of a cluster. The sums of the processes of a group are added by one all-reduce.


def sum_pairwise(parts: Iterable[NDArray[Any]], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """The sum of arrays as they come, each addition of two sums of equally many: a part is in ⌈log₂⌉ of them at most."""
    held: list[NDArray[Any]] = []  # of falling sizes, one for each binary digit of how many parts there were
    for number, part in enumerate(parts):
        carried, ones = part, number  # as a binary counter carries: the last ones of its digits are sums to join
        while ones & 1:
            carried, ones = held.pop() + carried, ones >> 1
        held.append(carried)
    total = np.zeros(shape)
    for rest in reversed(held):
        total = total + rest
    return total


LEAST = 1 << 20  # numbers in a table worth a compiled loop
WORTH = 1 << 31  # in all readings of a run worth loading the compiler for: about where both were measured to be even
_TASKS = 8  # for each thread


_worth = [False]  # whether a run of this process was worth the compiler, however its rows were read then


def is_worth(loss: Loss, rows: NDArray[Any], readings: int | None) -> bool:
    """Whether so many gradients of this table (None: many), or an earlier run of this process, are worth loading the compiler.

    A function of public facts: asked before it is looked at how many numbers are 0, for a record that is gone must not decide how later
    sums are added.
    """
    if loss.scalar_slope is None or rows.size < LEAST:
        return False
    _worth[0] = _worth[0] or readings is None or rows.size * readings >= WORTH
    return _worth[0]


def is_supported(loss: Loss, rows: NDArray[Any], readings: int | None) -> bool:
    """Whether the compiled kernel is there for this loss, table and number of gradients (None: many)."""
    return is_worth(loss, rows, readings) and rows.flags.c_contiguous and _can_compile()


class Kernel:
    """Σ_x ∇ℓ(θ; x) over the rows of one table. Holds a view of the rows, and room for the partial sums."""

    def __init__(self, rows: NDArray[np.float32], loss: Loss, own: range) -> None:
        slope = loss.scalar_slope
        assert slope is not None
        self._slope, self._rows, self._flat = slope, rows, rows.reshape(-1)
        self._own, spans = own, -(-len(own) // SPAN)
        self._sums = np.zeros((spans, rows.shape[1]))
        self._threads = min(spans, thread_count(rows.size))
        tasks = 1 if self._threads == 1 else min(spans, _TASKS * self._threads)
        cuts = [own.start + spans * task // tasks * SPAN for task in range(tasks)] + [own.stop]
        self._tasks = [range(*pair) for pair in pairwise(cuts)]

    def __call__(self, weights: NDArray[np.float64], labels: NDArray[Any]) -> NDArray[np.float64]:
        """The sum at weights (1, features), in their shape; the arithmetic inside a block is that of the labels' dtype."""
        from .kernel_numba import add_for

        kind, self._sums[:] = labels.dtype, 0
        own, add = weights[0].astype(kind), add_for(self._slope.formula, kind.name)
        facts = kind.type(self._slope.parameter), kind.type(self._slope.bound)

        def work(task: range) -> None:
            for part in row_windows(self._rows, task.start, task.stop, SPAN):
                span = self._sums[(part.start - self._own.start) // SPAN]
                add(self._flat, labels, own, part.start, part.stop, *facts, span)

        if self._threads > 1:
            list(thread_pool(self._threads, os.getpid()).map(work, self._tasks))
        else:
            for task in self._tasks:
                work(task)
        return sum_pairwise(self._sums, self._sums.shape[1:])[None]


@cache
def _can_compile() -> bool:
    """Whether numba is installed, and has a place to keep what it compiles (one without it would compile at every start)."""
    try:
        from . import kernel_numba  # noqa: F401
    except (ImportError, RuntimeError):
        return False
    return True

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
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bounds.arithmetic import SPAN
from ..losses.base import Loss
from .summation import in_a_tree
from .threads import pool, processors
from .windows import windows

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


def serves(loss: Loss, rows: NDArray[Any], readings: int | None) -> bool:
    """Whether the compiled kernel is there for this loss, table and number of gradients (None: many)."""
    return is_worth(loss, rows, readings) and rows.flags.c_contiguous and _compiles()


class Kernel:
    """Σ_x ∇ℓ(θ; x) over the rows of one table. Holds a view of the rows, and room for the partial sums."""

    def __init__(self, rows: NDArray[np.float32], loss: Loss, own: range) -> None:
        slope = loss.scalar_slope
        assert slope is not None
        self._slope, self._rows, self._flat = slope, rows, rows.reshape(-1)
        self._own, spans = own, -(-len(own) // SPAN)
        self._sums = np.zeros((spans, rows.shape[1]))
        self._threads = min(spans, processors(rows.size))
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
            for part in windows(self._rows, task.start, task.stop, SPAN):
                span = self._sums[(part.start - self._own.start) // SPAN]
                add(self._flat, labels, own, part.start, part.stop, *facts, span)

        if self._threads > 1:
            list(pool(self._threads, os.getpid()).map(work, self._tasks))
        else:
            for task in self._tasks:
                work(task)
        return in_a_tree(self._sums, self._sums.shape[1:])[None]


@cache
def _compiles() -> bool:
    """Whether numba is installed, and has a place to keep what it compiles (one without it would compile at every start)."""
    try:
        from . import kernel_numba  # noqa: F401
    except (ImportError, RuntimeError):
        return False
    return True

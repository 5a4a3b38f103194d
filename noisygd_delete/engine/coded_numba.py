"""Compiled loops of `engine.coded`, with its results to the last bit: scores are added in its order, sums are whole."""

from __future__ import annotations

from typing import Any

from numba import njit, uintp

_compiled: Any = njit(cache=True, nogil=True, error_model="numpy")


@_compiled
def score(codes, groups, starts, cells, table, scores):  # type: ignore[no-untyped-def]
    """See `coded._score`."""
    for row in range(uintp(codes.shape[0])):
        base, total = uintp(groups[row]) * uintp(cells), 0.0
        for block in range(uintp(codes.shape[1])):
            total += table[base + uintp(starts[block]) + uintp(codes[row, block])]
        scores[row] = total


@_compiled
def add(codes, groups, starts, cells, steps, sums):  # type: ignore[no-untyped-def]
    """See `coded._add`."""
    for row in range(uintp(codes.shape[0])):
        base, step = uintp(groups[row]) * uintp(cells), steps[row]
        for block in range(uintp(codes.shape[1])):
            sums[base + uintp(starts[block]) + uintp(codes[row, block])] += step

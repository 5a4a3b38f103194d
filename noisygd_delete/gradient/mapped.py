"""Reading a table in order, without holding more of it than memory has room for.

Rows of a store are mapped from their file. The pages of a mapping count as the process's own memory once read, so behind
the reader they are let go of; a table that fits is kept. The arithmetic is the same, hence the result, bit for bit.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rounding import BLOCK

LIMIT: int | None = None  # bytes of a mapped table to hold at a time; None: a quarter of the machine's memory


@cache
def _quarter_of_memory() -> int:
    if not hasattr(os, "sysconf"):  # Windows pages mapped files out by itself
        return 1 << 62
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4


def _mapping(rows: NDArray[Any]) -> mmap.mmap | None:
    """The file mapping under an array, if that is where it lives."""
    base: Any = rows
    while isinstance(base, np.ndarray):
        base = base.base
    return base if isinstance(base, mmap.mmap) else None


def windows(rows: NDArray[Any], first: int, last: int, most: int | None = None) -> Iterator[slice]:
    """Slices from `first` to `last` in order, whole blocks of rows each, at most `most` rows (rounded down to blocks)."""
    limit = _quarter_of_memory() if LIMIT is None else LIMIT
    mapping = _mapping(rows)
    releases = mapping is not None and rows.nbytes > limit and hasattr(mapping, "madvise")
    step = last - first if most is None else most
    if releases:
        step = min(step, limit // (2 * rows[:1].nbytes))
    step = max(BLOCK, step - step % BLOCK) if step < last - first else max(step, 1)
    held = 0
    for start in range(first, last, step):
        stop = min(start + step, last)
        yield slice(start, stop)
        held += (stop - start) * rows[:1].nbytes
        if releases and mapping is not None and (held >= limit // 2 or stop == last):
            let_go(mapping)
            held = 0


def let_go(mapping: mmap.mmap) -> None:
    """Drop the pages of a mapping from this process's memory; they are read again when they are needed."""
    mapping.madvise(mmap.MADV_DONTNEED)

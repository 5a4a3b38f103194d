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

from ..bounds.arithmetic import BLOCK

LIMIT: int | None = None  # bytes of a mapped table to hold at a time; None: a quarter of the machine's memory


@cache
def _quarter_of_memory() -> int:
    if not hasattr(os, "sysconf"):  # Windows pages mapped files out by itself
        return 1 << 62
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4


def _mapping(rows: NDArray[Any]) -> mmap.mmap | None:
    """The file mapping under an array, if that is where it lives and nothing but the file's content can be in it.

    A copy-on-write mapping (mode "c") would lose its changes with its pages, an erasure among them.
    """
    if getattr(rows, "mode", None) != "r":
        return None
    base: Any = rows
    while isinstance(base, np.ndarray):
        base = base.base
    return base if isinstance(base, mmap.mmap) else None


def windows(rows: NDArray[Any], first: int, last: int, most: int) -> Iterator[slice]:
    """Slices from `first` to `last` in order, of `most` rows, or less by a power of two where memory asks for it."""
    limit = _quarter_of_memory() if LIMIT is None else LIMIT
    mapping, row = _mapping(rows), rows[:1].nbytes
    releases = mapping is not None and rows.nbytes > limit and hasattr(mapping, "madvise")
    while releases and most > BLOCK and most * row > limit // 2:
        most //= 2
    held = 0
    for start in range(first, last, most):
        stop = min(start + most, last)
        yield slice(start, stop)
        held += (stop - start) * row
        if releases and mapping is not None and (held > limit // 2 or stop == last):
            let_go(mapping)
            held = 0


def let_go(mapping: mmap.mmap) -> None:
    """Drop the pages of a mapping from this process's memory; they are read again when they are needed."""
    mapping.madvise(mmap.MADV_DONTNEED)

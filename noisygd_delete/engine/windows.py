"""Reading a table in order, without holding more of it than memory has room for.

Rows of a store are mapped from their file. The pages of a mapping count as the process's own memory once read, so behind
the reader they are let go of; a table that fits is kept. The arithmetic is the same, hence the result, bit for bit.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from typing import Any

from numpy.typing import NDArray

from ..bounds.arithmetic import BLOCK
from ..records.values import let_go, mapping

LIMIT: int | None = None  # bytes of a mapped table to hold at a time; None: a quarter of the machine's memory


@cache
def _quarter_of_memory() -> int:
    if not hasattr(os, "sysconf"):  # Windows pages mapped files out by itself
        return 1 << 62
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4


def windows(rows: NDArray[Any], first: int, last: int, most: int) -> Iterator[slice]:
    """Slices from `first` to `last` in order, of `most` rows, or less by a power of two where memory asks for it."""
    limit = _quarter_of_memory() if LIMIT is None else LIMIT
    pages, row = mapping(rows), rows[:1].nbytes
    releases = pages is not None and rows.nbytes > limit
    while releases and most > BLOCK and most * row > limit // 2:
        most //= 2
    held = 0
    for start in range(first, last, most):
        stop = min(start + most, last)
        yield slice(start, stop)
        held += (stop - start) * row
        if releases and pages is not None and (held > limit // 2 or stop == last):
            let_go(pages)
            held = 0

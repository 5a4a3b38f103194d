"""Arrays mapped from a file: the pages of a mapping that were read count as the process's own memory until they are let go of."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

# a copy-on-write mapping (mode "c") would lose its changes with its pages, an erasure among them
_SHARED = ("r", "r+", "w+")


def mapping(rows: NDArray[Any]) -> mmap.mmap | None:
    """The file mapping under an array, if that is where it lives and nothing but the file's content can be in it."""
    if getattr(rows, "mode", None) not in _SHARED:
        return None
    base: Any = rows
    while isinstance(base, np.ndarray):
        base = base.base
    return base if isinstance(base, mmap.mmap) else None


def let_go(pages: mmap.mmap) -> None:
    """Drop the pages of a mapping from this process's memory; they are read again when they are needed."""
    if hasattr(pages, "madvise"):
        pages.madvise(mmap.MADV_DONTNEED)

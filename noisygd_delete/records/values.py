"""Numbers from a caller, checked: a table of rows, a column of labels; and arrays that are mapped from a file."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Id = int | str
Rows = NDArray[np.float32]
Labels = NDArray[np.float64]

_CHUNK = 4096  # rows checked at a time
# Smaller entries make subnormal products in float32, and many processors take ten times as long over those: the time
# of a release would tell such a table from another.
LEAST_ENTRY = 2.0**-100
_HELD = 1 << 26  # bytes of a mapped table that its check keeps in memory
# a copy-on-write mapping (mode "c") would lose its changes with its pages, an erasure among them
_SHARED = ("r", "r+", "w+")


def numbers(name: str, value: ArrayLike, error: type[Exception]) -> NDArray[np.float64]:
    """`value` as finite float64, or `error` naming what is wrong. Strings, objects and booleans are refused."""
    try:
        array = np.asarray(value)
    except ValueError as problem:
        raise error(f"{name} must be a rectangular array of numbers: {problem}") from problem
    if array.dtype.kind not in "iuf":
        raise error(f"{name} has dtype {array.dtype}; it must hold numbers (encode categories with a schema first)")
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        raise error(f"{name} holds NaN or infinite values; replace or remove them: a certificate cannot cover them")
    return array


def matrix(name: str, value: ArrayLike, error: type[Exception]) -> Rows:
    """`value` as a float32 table of its own, made a few rows at a time: no other copy of it is. A float32 table that is mapped
    from its file stays there.

    Entries below `LEAST_ENTRY` in size become 0, which no bound on a row's norm notices; a mapped table must not have any.
    """
    try:
        given = value if isinstance(value, np.memmap) else np.asarray(value)
    except ValueError:
        given = numbers(name, value, error)  # says what is wrong
    if given.ndim != 2:
        given = numbers(name, given, error)
        raise error(f"{name} has shape {given.shape}; it must be (rows, features)")
    pages = mapping(given) if given.dtype == np.float32 and given.flags.c_contiguous else None
    rows = np.empty(given.shape, np.float32) if pages is None else given
    held = 0
    for first in range(0, max(1, len(given)), _CHUNK):
        part = numbers(name, given[first : first + _CHUNK], error)
        if part.size and not np.abs(part).max() <= np.finfo(np.float32).max:
            raise error(f"{name} holds values too large for float32; scale the features by public bounds first")
        tiny = np.abs(part) < LEAST_ENTRY
        if pages is None:
            rows[first : first + _CHUNK] = np.where(tiny, 0, part)
            continue
        if part[tiny].any():
            raise error(
                f"{name} holds values below {LEAST_ENTRY:.0e} in size; write 0 in their place into the mapped file"
            )
        held += part.nbytes // 2  # as float32
        if held > _HELD or first + _CHUNK >= len(given):
            let_go(pages)
            held = 0
    return rows


def column(name: str, value: ArrayLike, length: int, error: type[Exception]) -> Labels:
    array = numbers(name, value, error)
    if array.shape != (length,):
        raise error(f"{name} has shape {array.shape}; it must be ({length},): one per row")
    return array


def mapping(rows: NDArray[Any]) -> mmap.mmap | None:
    """The file mapping under an array, if that is where it lives and nothing but the file's content can be in it."""
    if getattr(rows, "mode", None) not in _SHARED:
        return None
    base: Any = rows
    while isinstance(base, np.ndarray):
        base = base.base
    return base if isinstance(base, mmap.mmap) else None


def let_go(pages: mmap.mmap) -> None:
    """Drop the pages of a mapping from this process's memory, where those that were read count; they are read again when needed."""
    if hasattr(pages, "madvise"):
        pages.madvise(mmap.MADV_DONTNEED)

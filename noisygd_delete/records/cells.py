"""Names in cells of a fixed number of 64-bit words, little-endian, which numpy packs, compares and hashes by the million.

All zeros: the slot is free.

text cells     UTF-8 bytes, zeros, and in the last byte the number of bytes + 2; 1 there: the name lies elsewhere
number cells   one word, the number + 2; 1: elsewhere
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import WIDTHS

WORD = np.dtype("<u8")
Cells = NDArray[np.uint64]
Slots = NDArray[np.int64]
_SHARE = 1 << 22  # names sorted at a time
_BLOCK = 1 << 14  # cells looked at at a time
ELSEWHERE, SHIFT = 1, 2  # of a length or a number
_COST = 4096 // WORD.itemsize  # words that a name takes elsewhere, on disk (see store.names)
TAG = np.uint64(56)  # bits below the last byte of a word
_MASKS = np.array([(1 << 8 * held) - 1 for held in range(9)], WORD)
# powers of an odd number near 2⁶⁴ over the golden ratio
_MIX = np.cumprod(np.full(max(WIDTHS), 0x9E3779B97F4A7C15, np.uint64))


def pack_texts(buffer: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64], words: int) -> Cells:
    """Text cells of the texts that begin at `starts` in a buffer with at least 8 bytes behind the last of them."""
    cells = gather_bytes(buffer, starts, lengths, words)
    cells[:, -1] |= (lengths + SHIFT).astype(WORD) << TAG
    return cells


def gather_bytes(buffer: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64], words: int) -> Cells:
    """(texts, words): the bytes of each text and zeros, eight to a word, as far as `words` go."""
    everywhere: Cells = np.ndarray(len(buffer) - 7, WORD, buffer, strides=(1,))  # the word at every byte
    cells = np.empty((len(starts), words), WORD)
    for word in range(words):
        left = np.clip(lengths - 8 * word, 0, 8)
        cells[:, word] = everywhere[np.minimum(starts + 8 * word, len(everywhere) - 1)] & _MASKS[left]
    return cells


def width_for(lengths: NDArray[Any]) -> int:
    """The cell, in words, with which texts of so many bytes take least room in a store."""

    def cost(words: int) -> int:
        return len(lengths) * words + int(np.count_nonzero(lengths >= 8 * words)) * _COST

    return min(WIDTHS, key=cost)


def widen(cells: Cells, into: Cells, *, texts: bool) -> None:
    """Put cells into wider ones: a length moves to the new last byte."""
    words = cells.shape[1]
    into[:, :words] = cells
    if texts and words < into.shape[1]:
        tag = cells[:, -1] >> TAG
        into[:, words - 1] &= _MASKS[7]
        into[:, -1] = tag << TAG


def hash_cells(cells: Cells) -> NDArray[np.uint64]:
    """(slots,) one word for a cell: equal cells have equal words."""
    hashes: NDArray[np.uint64] = cells[:, 0] * _MIX[0]
    for word in range(1, cells.shape[1]):
        hashes += cells[:, word] * _MIX[word]
    hashes ^= hashes >> np.uint64(32)
    hashes *= _MIX[0]
    return hashes


def first_repeat(cells: Cells, elsewhere: np.uint64) -> tuple[int, int] | None:
    """Two slots that hold the same name, the second of them as early as any; None if all names in cells are different.

    elsewhere: the last word of a cell whose name lies elsewhere.
    """
    found: list[tuple[int, int]] = []
    for slots, again in _sorted(cells, elsewhere):
        behind = slots[1:][again]
        if len(behind):
            first = int(behind.argmin())
            found.append((int(slots[:-1][again][first]), int(behind[first])))
    return min(found, key=lambda pair: pair[1], default=None)


def most_alike(cells: Cells, elsewhere: np.uint64) -> int:
    """How many slots the commonest name in a cell has; 0 where there is none."""
    most = 0
    for slots, again in _sorted(cells, elsewhere):
        starts = np.flatnonzero(np.concatenate([np.ones(min(1, len(slots)), bool), ~again]))
        most = max(most, int(np.diff(starts, append=len(slots)).max(initial=0)))
    return most


def _sorted(cells: Cells, elsewhere: np.uint64) -> Iterator[tuple[Slots, NDArray[np.bool_]]]:
    """Slots whose names lie in cells, equal names together and in order of their slots, some at a time; and of each slot but the first
    of them whether it has the name of the one before."""
    shares = max(1, -(-len(cells) // _SHARE))
    for share in range(shares):
        some = [np.zeros(0, np.int64)]
        for first in range(0, len(cells), _BLOCK):
            block = cells[first : first + _BLOCK]
            here = (block[:, -1] != 0) & (block[:, -1] != elsewhere)
            some.append(first + np.flatnonzero(here & (hash_cells(block) % np.uint64(shares) == share)))
        slots = np.concatenate(some)
        held = cells[slots]
        order = np.lexsort(held.T)
        slots, held = slots[order], held[order]
        yield slots, (held[1:] == held[:-1]).all(axis=1)

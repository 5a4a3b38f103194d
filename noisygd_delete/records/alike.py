"""Which cells are alike, in a table of any size: by their hashes, a share of all hashes at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .cells import Cells, hashed

_SHARE = 1 << 22  # hashes held at a time
_BLOCK = 1 << 14  # cells looked at at a time
Slots = NDArray[np.int64]


def first_repeat(cells: Cells, elsewhere: np.uint64) -> tuple[int, int] | None:
    """Two slots that hold the same name, the second of them as early as any; None if all names in cells are different.

    elsewhere: the last word of a cell whose name lies elsewhere.
    """
    found: list[tuple[int, int]] = []
    for hashes in _shares(cells, elsewhere):
        again = np.unique(hashes[1:][hashes[1:] == hashes[:-1]])
        if len(again):
            slots, their = _slots_of(cells, elsewhere, again)
            order = np.argsort(their, kind="stable")
            before, behind = slots[order[:-1]], slots[order[1:]]
            close = their[order[:-1]] == their[order[1:]]
            same = close & (cells[before] == cells[behind]).all(axis=1)
            if (same != close).any():  # two names of one hash: go through them one by one
                found += _one_by_one(cells, slots)
            elif same.any():
                first = int(behind[same].argmin())
                found.append((int(before[same][first]), int(behind[same][first])))
    return min(found, key=lambda pair: pair[1], default=None)


def _one_by_one(cells: Cells, slots: Slots) -> list[tuple[int, int]]:
    seen: dict[bytes, int] = {}
    for slot in slots.tolist():
        if (first := seen.setdefault(cells[slot].tobytes(), slot)) != slot:
            return [(first, slot)]
    return []


def most_alike(cells: Cells, elsewhere: np.uint64) -> int:
    """How many slots the commonest name in a cell has; 0 where there is none."""
    most = 0
    for hashes in _shares(cells, elsewhere):
        if not len(hashes):
            continue
        starts = np.concatenate([[0], np.flatnonzero(hashes[1:] != hashes[:-1]) + 1, [len(hashes)]])
        runs = np.diff(starts)
        longest = int(runs.max())
        if longest <= max(1, most):
            most = max(1, most)
            continue
        for value in hashes[starts[:-1][runs == longest]]:
            alike = cells[_slots_of(cells, elsewhere, np.array([value]))[0]]
            if (alike == alike[0]).all():
                most = longest
                break
        else:  # two names of one hash: count them as they are
            slots, _ = _slots_of(cells, elsewhere, np.unique(hashes))
            most = max([most, *Counter(cell.tobytes() for cell in cells[slots]).values()])
    return most


def _shares(cells: Cells, elsewhere: np.uint64) -> Iterator[NDArray[np.uint64]]:
    """The hashes of all names in cells, in order, some at a time; those that are equal come together."""
    shares = -(-len(cells) // _SHARE)
    for share in range(shares):
        some = []
        for _, hashes in _hashes(cells, elsewhere):
            some.append(hashes if shares == 1 else hashes[hashes % np.uint64(shares) == share])
        together = np.concatenate(some)
        some.clear()
        together.sort()
        yield together


def _slots_of(cells: Cells, elsewhere: np.uint64, wanted: NDArray[np.uint64]) -> tuple[Slots, NDArray[np.uint64]]:
    """The slots, in order, whose names have one of these hashes, given in order; and the hash of each."""
    found = []
    for slots, hashes in _hashes(cells, elsewhere):
        here = wanted[np.minimum(np.searchsorted(wanted, hashes), len(wanted) - 1)] == hashes
        found.append((slots[here], hashes[here]))
    return np.concatenate([slots for slots, _ in found]), np.concatenate([hashes for _, hashes in found])


def _hashes(cells: Cells, elsewhere: np.uint64) -> Iterator[tuple[Slots, NDArray[np.uint64]]]:
    """The slots whose cells hold a name, and its hash, a block at a time."""
    for first in range(0, len(cells), _BLOCK):
        block = cells[first : first + _BLOCK]
        last = block[:, -1]
        here = np.flatnonzero((last != 0) & (last != elsewhere))
        yield first + here, hashed(block if len(here) == len(block) else block[here])

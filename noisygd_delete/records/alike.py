"""Which cells are alike, in a table of any size: sorted a share of all names at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .cells import Cells, hash_cells

_SHARE = 1 << 22  # names sorted at a time
_BLOCK = 1 << 14  # cells looked at at a time
Slots = NDArray[np.int64]


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

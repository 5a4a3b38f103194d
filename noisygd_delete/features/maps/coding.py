"""Rows of an additive map as a few whole numbers: one code for each block of features, which says all entries of the row there.

A row of 1,500 features is a dozen codes. Whatever sums over rows need of pairs of features is in tables of how often two codes stand
together, which any database counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidRecords

Codes = NDArray[np.int64]
NO_ENTRY = -1
_AT_ONCE = 1 << 22  # numbers of dense rows looked at


@dataclass(frozen=True)
class Coding:
    """What codes mean: public, as the map.

    places    of each block (codes, entries): the features that a code gives an entry, filled up with `NO_ENTRY`. A code without any
              may only be the last one. The largest place of a code is no other code's.
    width     features of a row, the constant included
    constant  whether the last one is
    """

    places: tuple[tuple[tuple[int, ...], ...], ...]
    width: int
    constant: bool = True

    @cached_property
    def tables(self) -> tuple[NDArray[np.intp], ...]:
        return tuple(np.array(block, np.intp) for block in self.places)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Codes of each block."""
        return tuple(len(block) for block in self.places)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where the codes of each block begin when all are counted through, and their number."""
        return tuple(accumulate(self.sizes, initial=0))

    @cached_property
    def entries(self) -> tuple[NDArray[np.int64], ...]:
        """(codes,) of each block: how many entries a code gives."""
        return tuple((table != NO_ENTRY).sum(axis=1) for table in self.tables)

    @cached_property
    def _code_at(self) -> tuple[NDArray[np.int64], tuple[int, ...]]:
        """(width + 1,) the code whose largest place this is, and of each block the code of a row without entries there, or `NO_ENTRY`."""
        found = np.full(self.width + 1, NO_ENTRY)
        empty = []
        for table, entries in zip(self.tables, self.entries, strict=True):
            there = np.flatnonzero(entries)
            found[table.max(axis=1)[there]] = there
            empty.append(len(table) - 1 if not entries[-1] else NO_ENTRY)
        return found, tuple(empty)

    def of_last_places(self, last: NDArray[np.intp]) -> Codes:
        """(rows, blocks) codes from the largest place that each block has an entry at, `NO_ENTRY` for none.

        Raises:
            InvalidRecords: no code is written so.
        """
        at, empty = self._code_at
        codes = np.where(last == NO_ENTRY, empty, at[last])
        if (codes < 0).any():
            raise InvalidRecords("a row is none of this map: make rows by the schema whose map the plan names")
        return codes

    def of_rows(self, rows: Any) -> Codes:
        """(rows, blocks) codes of rows: codes already, or (rows, width) features of which those that are not 0 tell them.

        Raises:
            InvalidRecords: they are neither.
        """
        given = np.asarray(rows)
        if given.ndim != 2 or given.shape[1] not in (len(self.sizes), self.width):
            raise InvalidRecords(
                f"rows have shape {given.shape}; they must have {len(self.sizes)} codes or {self.width} features"
            )
        if given.shape[1] == len(self.sizes):
            codes = given.astype(np.int64)
            if not ((codes == given) & (codes >= 0) & (codes < np.array(self.sizes))).all():
                raise InvalidRecords("a code is not one of its block")
            return codes
        step = max(1, _AT_ONCE // self.width)
        parts = [self._of_features(given[first : first + step]) for first in range(0, len(given), step)]
        return np.concatenate(parts) if parts else np.empty((0, len(self.sizes)), np.int64)

    def _of_features(self, rows: NDArray[Any]) -> Codes:
        last = np.empty((len(rows), len(self.sizes)), np.intp)
        for block, table in enumerate(self.tables):
            used = table[table != NO_ENTRY]
            first, stop = int(used.min()), int(used.max()) + 1
            there = (rows[:, first:stop] != 0)[:, ::-1]
            last[:, block] = np.where(there.any(axis=1), stop - 1 - there.argmax(axis=1), NO_ENTRY)
        return self.of_last_places(last)

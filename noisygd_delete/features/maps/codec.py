"""Conversion between the rows of an additive map and the codes that determine them.

A stored row is one small unsigned integer per block of features, counted from 1; the null record is 0 in every block. A
row is recomputed from its codes by the arithmetic that made it from the record, so it has the same bits.

>>> from noisygd_delete.features.maps import Additive
>>> from noisygd_delete.features.maps.codec import RowCodec
>>> codec = RowCodec(Additive((0,), levels=2).coding)
>>> codec.to_stored([[3]]), codec.decode(codec.to_stored([[3]])).nonzero()[1]
(array([[4]], dtype=uint8), array([1, 5, 6]))
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import InvalidRecords
from ...records import Rows, SparseRows
from .base import PublicMap, shrink_factors
from .coding import NO_ENTRY, Coding

Codes = NDArray[np.unsignedinteger[Any]]
_AT_ONCE = 4096  # rows
_NUMBERS = 1 << 22  # of dense rows processed at a time
_MOST_PATTERNS = 64  # combinations of lengths looked for in a block of rows


@dataclass(frozen=True, eq=False)
class RowCodec:
    """Codes of the rows of one map, with a constant column and of norm `radius`; public, like the map.

    Attributes:
        coding: The blocks of the map and what their codes mean.
        radius: R.
    """

    coding: Coding
    radius: float = 1.0

    @property
    def width(self) -> int:
        """Number of features of a row, including the constant."""
        return self.coding.width

    @property
    def blocks(self) -> int:
        """Number of codes of a row."""
        return len(self.coding.sizes)

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """Smallest little-endian unsigned integer that holds the codes of every block."""
        kind = np.min_scalar_type(max(self.coding.sizes))
        return kind.newbyteorder("<")

    @cached_property
    def entries(self) -> int:
        """Largest number of non-zero values of a row."""
        return 1 + sum(int(block.places.shape[1]) for block in self.coding.blocks)

    def to_stored(self, codes: ArrayLike) -> Codes:
        """Return (rows, blocks) codes, which count from 0, as stored: plus 1, since 0 marks a null row, in `dtype`."""
        return (np.asarray(codes) + 1).astype(self.dtype)

    def to_codes(self, stored: Codes) -> NDArray[np.int64]:
        """Return (rows, blocks) int64 codes, counted from 0, of stored rows (minus 1), none of which may be null."""
        return stored.astype(np.int64) - 1

    def check(self, stored: Codes) -> NDArray[np.bool_]:
        """Return (rows,), whether a row is not null.

        Raises:
            InvalidRecords: If a code is not one of its block, or a row is null in some blocks only.
        """
        used: NDArray[np.bool_] = stored[:, 0] != 0
        if stored.size and 0 < stored.min() <= stored.max() <= min(self.coding.sizes):  # valid in every block
            return used
        if ((stored != 0) != used[:, None]).any() or (stored > np.array(self.coding.sizes)).any():
            raise InvalidRecords("a stored row is none of the map; restore the table from a backup")
        return used

    def encode(self, rows: Any, error: type[Exception] = InvalidRecords) -> Codes:
        """Return the stored form, (rows, blocks) of `dtype`, of rows of the map, dense or sparse; 0 for a null row.

        Raises:
            error: If a row is neither null nor, bit for bit, a row of the map.
        """
        parts = [np.zeros((0, self.blocks), self.dtype)]
        step = max(1, _NUMBERS // self.width)
        for first in range(0, len(rows), step):
            last = min(first + step, len(rows))
            given = rows.part(first, last).toarray() if isinstance(rows, SparseRows) else rows[first:last]
            parts.append(self._encode(np.ascontiguousarray(given, np.float32), error))
        return np.concatenate(parts)

    def _encode(self, rows: Rows, error: type[Exception]) -> Codes:
        used, stored = rows.any(axis=1), np.zeros((len(rows), self.blocks), self.dtype)
        try:
            stored[used] = self.to_stored(self.coding.of_rows(rows[used]))
        except InvalidRecords as problem:
            raise error(str(problem)) from None
        if not np.array_equal(self.decode(stored), rows):
            raise error("a row is none of this map: make rows by the schema whose map the plan names")
        return stored

    def decode(self, stored: Codes) -> Rows:
        """Return (rows, width) dense float32 rows of norm `radius`, bit for bit as the map makes them; 0 if null.

        Args:
            stored: (rows, blocks), see `encode`.

        Raises:
            InvalidRecords: As `check`.
        """
        rows = np.zeros((len(stored), self.width), np.float32)
        for part, places, values, there in self._parts(stored):
            row, entry = np.nonzero(there)
            rows[part.start + row, places[row, entry]] = values[row, entry]
        return rows

    @cached_property
    def parents(self) -> NDArray[np.int32]:
        """(width,) the feature that each feature implies, the entry before its own in every row; −1 for none."""
        found = np.full(self.width, NO_ENTRY, np.int32)
        for block in self.coding.blocks:
            before, after = block.places[:, :-1], block.places[:, 1:]
            found[after[before != NO_ENTRY]] = before[before != NO_ENTRY]
        return found

    def decode_sparse(self, stored: Codes, *, last: bool = False, padded: bool = False) -> SparseRows:
        """Return the rows of `decode` without their zeros, as SparseRows.

        Args:
            stored: The codes.
            last: Only the last value of each block, which implies the others.
            padded: A value 0 in column 0 for every missing entry, so that all rows have as many values.

        Raises:
            InvalidRecords: As `check`.
        """
        most = len(stored) * (self.blocks + 1 if last else self.entries)
        data, columns = np.empty(most, np.float32), np.empty(most, np.int32)
        starts, filled = np.zeros(len(stored) + 1, np.int64), 0
        given = self._parts(stored, last=last)
        for part, places, values, there in map(_pad, given) if padded else given:
            lengths = there.sum(axis=1)
            end = filled + int(lengths.sum())
            whole = end - filled == there.size
            data[filled:end] = values.reshape(-1) if whole else values[there]
            columns[filled:end] = places.reshape(-1) if whole else places[there]
            starts[part.start + 1 : part.stop + 1] = filled + lengths.cumsum()
            filled = end
        return SparseRows(data[:filled], columns[:filled], starts, self.width)

    @cached_property
    def _entry_values(self) -> list[NDArray[np.float64]]:
        """(codes, entries) values of each block before a row is brought to its norm: `Additive` makes the same."""
        found = []
        for block in self.coding.blocks:
            there = block.places != NO_ENTRY
            found.append(there / np.sqrt(np.maximum(1, there.sum(axis=1)))[:, None])
        return found

    @cached_property
    def code_values(self) -> list[NDArray[np.float64]]:
        """(codes,) of each block: the value of all entries of a code, before a row is brought to its norm."""
        return [values.max(axis=1) for values in self._entry_values]

    def factors(self, stored: Codes) -> NDArray[np.float64]:
        """Return (rows,) factors that bring rows to norm `radius`; those of null rows mean nothing.

        Raises:
            InvalidRecords: As `check`.
        """
        self.check(stored)
        return self._factors(np.maximum(stored.T, 1) - 1)

    def _factors(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        """Return (rows,) factors of (blocks, rows) codes, counted from 0."""
        squares: Any = 0.0  # of the entries, added from left to right, as `row_sums` adds those of all features
        for code, columns in zip(codes, self._entry_squares, strict=True):
            for column in columns:
                squares = squares + (column if isinstance(column, float) else column[code])
        factors = shrink_factors(np.sqrt(1.0 + np.asarray(squares)), self.radius, clip=False)
        return np.broadcast_to(factors, codes.shape[1])

    @cached_property
    def _entry_squares(self) -> list[list[float | NDArray[np.float64]]]:
        """(codes,) squares of each block's first entries, second ones, …; a number where they are equal for all codes."""
        columns = [(values * values).T for values in self._entry_values]
        return [[float(own[0]) if (own == own[0]).all() else own for own in block] for block in columns]

    @cached_property
    def _patterns(self) -> list[tuple[int, NDArray[np.int32]]]:
        """Blocks with (codes + 1,) equal numbers for codes with equal entry values; the first is the null row's.

        A block whose codes all have equal ones is left out, unless it is the first: every block has the null row's or none.
        """
        found = []
        for block, values in enumerate(self._entry_values):
            numbers = np.unique(values, axis=0, return_inverse=True)[1].reshape(-1)
            if numbers.any() or not block:
                found.append((block, np.concatenate([[-1], numbers]).astype(np.int32)))
        return found

    def rows_of_each_norm(self, stored: Codes) -> NDArray[np.intp]:
        """Return the indices of rows among which is every norm of these rows, usually very few.

        The values of a row, in the order of its features, are a function of how long each of its blocks' entries are
        (`_parts`): one row is returned for each combination of these, and further rows if there are over 64
        combinations.

        Raises:
            InvalidRecords: As `check`.
        """
        self.check(stored)
        patterns = [own[stored[:, block]] for block, own in self._patterns]
        left, found = np.arange(len(stored)), list[int]()
        while len(left) and len(found) < _MOST_PATTERNS:
            found.append(int(left[0]))
            other = np.zeros(len(left), bool)
            for own in patterns:
                other |= own[left] != own[found[-1]]
            left = left[other]
        return np.concatenate([np.array(found, np.intp), left])

    def _parts(
        self, stored: Codes, *, last: bool = False
    ) -> Iterator[tuple[slice, NDArray[np.int32], Rows, NDArray[np.bool_]]]:
        """Yield slices of rows with (rows, entries) places, ascending, values, and where there is an entry."""
        places_of = [block.places.astype(np.int32) for block in self.coding.blocks]
        if last:
            places_of = [own.max(axis=1, keepdims=True) for own in places_of]
        for first in range(0, len(stored), _AT_ONCE):
            given = stored[first : first + _AT_ONCE]
            used = self.check(given)
            codes = np.maximum(given.astype(np.intp) - 1, 0).T
            places = np.empty((len(given), 1 + sum(own.shape[1] for own in places_of)), np.int32)
            places[:, -1], at = self.width - 1, 0
            for code, own in zip(codes, places_of, strict=True):
                places[:, at : at + own.shape[1]] = own[code]
                at += own.shape[1]
            factors = self._factors(codes)
            rows, at = np.empty(places.shape, np.float32), 0
            for code, values in zip(codes, self._entry_values, strict=True):
                kept = values.max(axis=1, keepdims=True) if last else values
                end = at + kept.shape[1]
                np.multiply(kept[code], factors[:, None], out=rows[:, at:end], casting="same_kind")
                at = end
            rows[:, -1] = factors
            yield slice(first, first + len(given)), places, rows, (places != NO_ENTRY) & used[:, None]


def _pad(
    part: tuple[slice, NDArray[np.int32], Rows, NDArray[np.bool_]],
) -> tuple[slice, NDArray[np.int32], Rows, NDArray[np.bool_]]:
    """Return a part of `_parts` with a value 0 in column 0 for every missing entry."""
    rows, places, values, there = part
    return rows, np.where(there, places, 0).astype(np.int32), values * there, np.ones_like(there)


@lru_cache(maxsize=16)
def codec_of(map: PublicMap, radius: float) -> RowCodec | None:
    """Return the codec of the rows of a map, the same object for equal maps; None if they have no codes."""
    return None if map.coding is None else RowCodec(map.coding, radius)

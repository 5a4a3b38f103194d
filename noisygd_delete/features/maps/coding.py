"""Rows of an additive map as integers: one code per block of features, which determines all entries of the row there.

A row of 1,500 features is a dozen codes. Sums over rows of products of features are then tables of how often two codes
occur together, which any database can count.

Rows span fewer directions than features, and these are represented exactly. With L levels, two cells of a number whose
bins separate below depth s of the tree share s of L entries 1/√L. The same inner products follow from the tree's nodes,
one direction each: a code has ±√λ_d at its node of depth d, + in its lower half, and in addition √κ, the same for all,

    λ_d = (1 − 2^{d − L})/L,    κ = λ_0        (κ + Σ_{d < s} λ_d − λ_s = s/L; κ + Σ_d λ_d = 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidRecords
from ...records import CodedRows

Codes = NDArray[np.int64]
NO_ENTRY = -1
_AT_ONCE = 1 << 22  # numbers of dense rows processed at a time


@dataclass(frozen=True, eq=False)
class CodedBlock:
    """Meaning of the codes of one block.

    Attributes:
        places: (codes, entries) the features with an entry of a code, ascending, and `NO_ENTRY` for the rest.
        first: First feature of the block.
        stop: End of the block's features.
        make_signs: Returns `signs`, which takes more memory than all else and has one use only.
        shares: (directions,) squared length of a direction, if a row's square is its number of filled blocks.
        features: (direction, feature, factor): how weights of directions give those of the map's features.
    """

    places: NDArray[np.intp]
    first: int
    stop: int
    make_signs: Callable[[], NDArray[np.int8]]
    shares: tuple[Fraction, ...]
    features: tuple[tuple[int, int, float], ...]

    @cached_property
    def signs(self) -> NDArray[np.int8]:
        """(codes, directions) int8 of −1, 0, 1: the sign of a code in each direction, from `make_signs`."""
        return self.make_signs()

    @cached_property
    def last(self) -> NDArray[np.intp]:
        """(codes,) largest feature with an entry of a code, different for every code; `NO_ENTRY` for no entry."""
        return np.asarray(self.places.max(axis=1))


@dataclass(frozen=True, eq=False)
class Coding:
    """Meaning of codes; public, like the map.

    Attributes:
        blocks: Blocks of the map, in the order of their features.
        width: Features of a row, including the constant's, which is the last one.
        common: Square of the component that all rows share: the constant's 1, and what numbers without another code
            have in common.
    """

    blocks: tuple[CodedBlock, ...]
    width: int
    common: Fraction

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of codes of each block."""
        return tuple(len(block.places) for block in self.blocks)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Index of each block's first direction, then the number of directions; direction 0 is that of all rows."""
        return tuple(accumulate((len(block.shares) for block in self.blocks), initial=1))

    @property
    def directions(self) -> int:
        """Number of directions of all blocks together, including the one that all rows share."""
        return self.starts[-1]

    def filled(self, codes: Codes) -> NDArray[np.int64]:
        """Return (rows,), the number of blocks with an entry, including the constant's.

        A row has norm R whatever its number of filled blocks.

        Args:
            codes: (rows, blocks) codes, counted from 0.
        """
        there = [(block.last != NO_ENTRY)[codes[:, place]] for place, block in enumerate(self.blocks)]
        return np.asarray(1 + np.sum(there, axis=0, dtype=np.int64))

    def steps(self, norm_squared: int, filled: int) -> tuple[int, list[NDArray[np.int64]]]:
        """Return a row of `filled` filled blocks in integers, with square at most `norm_squared`; cached.

        Args:
            norm_squared: R² in squared steps of the grid, a whole number.
            filled: See `filled`.

        Returns:
            The component that all rows share, and for each block an array (codes, directions): the sign times ⌊√(R²
            share/filled)⌋, by integer arithmetic.
        """
        known = self._steps.get((norm_squared, filled))
        if known is None:

            def of(share: Fraction) -> int:
                return math.isqrt(norm_squared * share.numerator // (share.denominator * filled))

            made = [block.signs * np.array(list(map(of, block.shares))) for block in self.blocks]
            known = self._steps[norm_squared, filled] = of(self.common), made
        return known

    @cached_property
    def _steps(self) -> dict[tuple[int, int], tuple[int, list[NDArray[np.int64]]]]:
        return {}

    def to_features(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (outputs, directions) weights as (outputs, width) float64 weights of the map's rows of full norm.

        The weight of the shared direction goes to the constant, the last feature.
        """
        found = np.zeros((len(weights), self.width))
        found[:, -1] = weights[:, 0] * math.sqrt(self.common)
        for start, block in zip(self.starts, self.blocks, strict=False):
            for direction, feature, factor in block.features:
                found[:, feature] += weights[:, start + direction] * factor
        return found

    @cached_property
    def _code_at(self) -> tuple[NDArray[np.int64], tuple[int, ...]]:
        """Code by its largest place, (width + 1,), and each block's code of a row without entries, or `NO_ENTRY`."""
        found = np.full(self.width + 1, NO_ENTRY)
        empty = []
        for block in self.blocks:
            last = block.last
            there = np.flatnonzero(last != NO_ENTRY)
            found[last[there]] = there
            none = np.flatnonzero(last == NO_ENTRY)
            empty.append(int(none[0]) if len(none) else NO_ENTRY)
        return found, tuple(empty)

    def of_last_places(self, last: NDArray[np.intp]) -> Codes:
        """Return (rows, blocks) codes from the largest place with an entry in each block, `NO_ENTRY` for none.

        Raises:
            InvalidRecords: If a place belongs to no code.
        """
        at, empty = self._code_at
        codes = np.where(last == NO_ENTRY, empty, at[last])
        if (codes < 0).any():
            raise InvalidRecords("a row is none of this map: make rows by the schema whose map the plan names")
        return codes

    def of_rows(self, rows: Any) -> Codes:
        """Return (rows, blocks) int64 codes, counted from 0, of rows in any of three forms.

        These are `CodedRows` of this coding, (rows, blocks) codes, and (rows, width) features, of which the nonzero
        places are read.

        Raises:
            InvalidRecords: If the rows have another shape, or a row is none of the map.
        """
        if isinstance(rows, CodedRows) and rows.codec.coding is self:
            return rows.codec.to_codes(rows.codes)
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

    @cached_property
    def _block_at(self) -> NDArray[np.intp]:
        """(width,) block of each feature; the constant's index follows the last block's."""
        return np.searchsorted([block.stop for block in self.blocks], np.arange(self.width), side="right")

    def _of_features(self, rows: NDArray[Any]) -> Codes:
        last = np.full((len(rows), len(self.sizes) + 1), NO_ENTRY, np.intp)
        row, place = np.divmod(np.flatnonzero(rows != 0), self.width)
        last[row, self._block_at[place]] = place  # ascending: the last one remains
        return self.of_last_places(last[:, :-1])


def tree_block(first: int, levels: int, *, missing: bool, empty: bool) -> tuple[CodedBlock, Fraction]:
    """Return the codes of a number in 2^L dyadic bins with their orthogonal directions, and the square of what they share.

    A code has one bin on each level 1 to L; bins are ordered by level, each level from the left, followed by one entry
    1 for an empty cell. The squared norm of the component that all codes share is (1 − 2^−L)/L, and 0 with `missing`
    or `empty`: then the codes of values share a direction of their own.

    Args:
        first: First feature of the block.
        levels: L.
        missing: Whether there is a code for an empty cell.
        empty: Whether there is a code for a row without an entry.
    """
    number, bins = 1 << levels, np.arange(1 << levels)
    shares = [Fraction((1 << levels - depth) - 1, (1 << levels - depth) * levels) for depth in range(levels)]
    root = missing or empty
    sizes, features = list[Fraction](), list[tuple[int, int, float]]()
    if root:
        sizes.append(shares[0])
        features += [(0, first + side, math.sqrt(shares[0] * levels)) for side in (0, 1)]
    for depth, share in enumerate(shares):
        start = root + (1 << depth) - 1
        sizes += [share] * (1 << depth)
        child = first + (2 << depth) - 2
        factor = math.sqrt(share * levels)
        features += [
            (start + at, child + 2 * at + side, factor * (1 - 2 * side)) for at in range(1 << depth) for side in (0, 1)
        ]
    places = np.full((number + missing + empty, levels), NO_ENTRY, np.intp)
    places[:number] = np.stack(
        [first + (1 << depth) - 2 + (bins >> levels - depth) for depth in range(1, levels + 1)], axis=1
    )
    stop = first + 2 * number - 2 + missing
    if missing:
        sizes.append(Fraction(1))
        features.append((len(sizes) - 1, stop - 1, 1.0))
        places[number, -1] = stop - 1
    signs = partial(_signs_of_tree, levels, missing=missing, empty=empty)
    block = CodedBlock(places, first, stop, signs, tuple(sizes), tuple(features))
    return block, Fraction(0) if root else shares[0]


def _signs_of_tree(levels: int, *, missing: bool, empty: bool) -> NDArray[np.int8]:
    number, bins, root = 1 << levels, np.arange(1 << levels), missing or empty
    signs = np.zeros((number + missing + empty, number - 1 + root + missing), np.int8)
    if root:
        signs[:number, 0] = 1
    for depth in range(levels):
        signs[bins, root + (1 << depth) - 1 + (bins >> levels - depth)] = 1 - 2 * (bins >> levels - depth - 1 & 1)
    if missing:
        signs[number, -1] = 1
    return signs


def entry_block(first: int, places: list[list[int]]) -> CodedBlock:
    """Return the block of codes with entries of equal length at these features; a direction is a feature.

    Args:
        first: First feature of the block.
        places: For each code the features with an entry, ascending; empty for a code without entry.
    """
    stop, most = max(map(max, filter(None, places))) + 1, max(map(len, places))
    entries = np.array([[*own, *[NO_ENTRY] * (most - len(own))] for own in places], np.intp)
    features = tuple((at, first + at, 1.0) for at in range(stop - first))
    signs = partial(_signs_of_entries, entries - first, stop - first)
    return CodedBlock(entries, first, stop, signs, (Fraction(1, most),) * (stop - first), features)


def _signs_of_entries(places: NDArray[np.intp], directions: int) -> NDArray[np.int8]:
    signs = np.zeros((len(places), directions), np.int8)
    code, entry = np.nonzero(places >= 0)
    signs[code, places[code, entry]] = 1
    return signs

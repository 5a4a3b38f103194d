"""Public bins of every number, and hashed crosses of every pair of columns."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidParameter, check_count, non_negative
from .base import Floats, PublicMap, by_blocks, check_inputs, check_width

_ROWS = 4096  # at a time
_ODD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: Steele, Lea & Flood's SplitMix64, as the two below
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@dataclass(frozen=True)
class BinsAndCrosses(PublicMap):
    """The columns themselves, a 0/1 column for each bin of a number, and ±1 in a bucket for each pair of columns.

    Attributes:
        columns: One entry for each column of the table: 0 for a number in [−1, 1], k for k 0/1 columns of a category
            (set by a schema).
        bins: Number of equal parts of [−1, 1].
        buckets: Of the crosses: the pair of values is hashed by BLAKE2 and SplitMix64, which are the same on every
            machine; 0: none.
        cross_bins: Number of equal parts of [−1, 1] in the crosses: fewer, so that a pair of values is not rare.
        cross_scale: Norm of all crosses of a row, over the norm of its bins and categories.
    """

    columns: tuple[int, ...]
    bins: int = 16
    buckets: int = 4096
    cross_bins: int = 8
    cross_scale: float = 1.0

    kind: ClassVar[str] = "bins"

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(check_count("columns", width, minimum=0) for width in self.columns))
        check_count("bins", self.bins, minimum=2, maximum=1 << 16)
        check_count("cross_bins", self.cross_bins, minimum=2, maximum=1 << 16)
        check_count("buckets", self.buckets, minimum=0, maximum=1 << 17)
        non_negative("cross_scale", self.cross_scale)
        if not self.columns:
            raise InvalidParameter("the map 'bins' needs at least one column")
        check_width(self.kind, self.width)

    @property
    def inputs(self) -> int:
        """Numbers per record: one for a number, k for k 0/1 columns of a category."""
        return sum(width or 1 for width in self.columns)

    @property
    def width(self) -> int:
        """Features per record: the inputs, `bins` for each number, and `buckets`."""
        return self.inputs + self.bins * self.columns.count(0) + self.buckets

    @cached_property
    def _hashes(self) -> list[NDArray[np.uint64]]:
        """Hashes of every value of every column; the last one of a category is for no hot column."""

        def of(column: int, value: int) -> int:
            return int.from_bytes(hashlib.blake2b(f"{column}:{value}".encode(), digest_size=8).digest(), "little")

        sizes = [width + 1 if width else self.cross_bins for width in self.columns]
        return [np.array([of(c, v) for v in range(size)], np.uint64) for c, size in enumerate(sizes)]

    def features(self, inputs: Any) -> Floats:
        """Return (records, width): the columns, 0/1 of each number's bin, and ±size for each pair in its bucket.

        The pair's values, numbers in `cross_bins`, are hashed; size is `cross_scale` · √(columns/pairs), and entries in
        one bucket add up.
        """
        return by_blocks(check_inputs(inputs, self.inputs), self.width, _ROWS, self._block)

    def _block(self, rows: Floats) -> Floats:
        made, every = np.zeros((len(rows), self.width)), np.arange(len(rows))
        made[:, : self.inputs] = rows
        hashes, at, free = [], 0, self.inputs
        for width, known in zip(self.columns, self._hashes, strict=True):
            if width:
                hot = rows[:, at : at + width] > 0
                codes = np.where(hot.any(axis=1), hot.argmax(axis=1), width)
            else:
                made[every, free + _bin(rows[:, at], self.bins)] = 1.0
                codes = _bin(rows[:, at], self.cross_bins)
                free += self.bins
            hashes.append(known[codes])
            at += width or 1
        pairs = list(combinations(hashes, 2)) if self.buckets else []
        size = self.cross_scale * math.sqrt(len(hashes) / len(pairs)) if pairs else 0.0
        for one, other in pairs:
            mixed = _mix(one, other)
            places = free + (mixed % np.uint64(self.buckets or 1)).astype(np.intp)
            made[every, places] += np.where(mixed >> np.uint64(63), size, -size)
        return made


def _bin(values: Floats, bins: int) -> NDArray[np.intp]:
    """Return the index of the part of [−1, 1] that contains each value, for equal parts."""
    return np.clip(np.floor((values + 1) / 2 * bins), 0, bins - 1).astype(np.intp)


def _mix(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return SplitMix64's finaliser of the two hashes; their order matters."""
    word = one + other * _ODD
    word = (word ^ (word >> np.uint64(30))) * _FIRST
    word = (word ^ (word >> np.uint64(27))) * _SECOND
    return np.asarray(word ^ (word >> np.uint64(31)))

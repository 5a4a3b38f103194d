"""Second moments and label sums of coded rows, from how often two codes stand together.

A row of codes with m entries' blocks (the constant one of them) has norm R: an entry of a code that gives e entries is

    ⌊R/√(e m)⌋ steps,

whole-number arithmetic alone, the same on every machine and in every database. So all sums follow from counts, by m, of pairs of codes
and of labels: integers, added in any order. With K blocks a pass counts K(K + 1)/2 tables; features are never written out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..features.maps.coding import Codes, Coding
from ..losses.base import Loss
from ..records import Records
from .assumptions import check_labels
from .integer_moments import IntegerMoments, Integers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_ROWS = 1 << 16  # counted at once


@dataclass(frozen=True)
class CountTables:
    """What a pass brings home: exact, of the rows, and nothing to keep.

    rows    (codes, codes) of pairs by m, upper blocks alone: {m: counts}
    labels  (codes, outputs) sums of labels by m
    """

    rows: dict[int, Integers]
    labels: dict[int, Integers]

    @classmethod
    def added(cls, parts: Iterator[CountTables]) -> CountTables:
        """In any order the same."""
        rows, labels = dict[int, Integers](), dict[int, Integers]()
        for part in parts:
            for whole, some in ((rows, part.rows), (labels, part.labels)):
                for m, counts in some.items():
                    whole[m] = whole[m] + counts if m in whole else counts
        return cls(rows, labels)


@dataclass(frozen=True)
class CodedMoments(IntegerMoments):
    """`IntegerMoments` of rows that a `coding` describes: codes, or the rows of features that they stand for, which are read for them.
    Their norm is R by what is counted, whatever floats say of it."""

    coding: Coding = field(kw_only=True)

    def of(self, rows: ArrayLike, labels: ArrayLike) -> Integers:
        codes, answers = self.coding.of_rows(rows), np.asarray(labels, np.float64)
        spans = range(0, len(codes), _ROWS)
        return self.of_counts(
            CountTables.added(self.count(codes[k : k + _ROWS], answers[k : k + _ROWS]) for k in spans)
        )

    def check_rows(self, records: Records, loss: Loss) -> None:
        occupied = records.occupied
        self.coding.of_rows(records.features[occupied])
        check_labels(records.labels, occupied, loss)

    def count(self, codes: Codes, labels: NDArray[np.float64]) -> CountTables:
        """The tables of some rows."""
        starts, sizes, total = self.coding.starts, self.coding.sizes, self.coding.starts[-1]
        answers = self.answers(labels)
        blocks = np.stack([there[codes[:, b]] > 0 for b, there in enumerate(self.coding.entries)], axis=1).sum(axis=1)
        blocks += self.coding.constant
        rows, sums = dict[int, Integers](), dict[int, Integers]()
        for m in np.unique(blocks).tolist():
            own = blocks == m
            held, said = np.ascontiguousarray(codes[own].T), answers[own]
            pairs = np.zeros((total, total), np.int64)
            told = np.zeros((total, self.outputs), np.int64)
            for b, code in enumerate(held):
                here = slice(starts[b], starts[b + 1])
                np.fill_diagonal(pairs[here, here], np.bincount(code, minlength=sizes[b]))
                for output in range(self.outputs):
                    told[here, output] = np.bincount(code, weights=said[:, output], minlength=sizes[b])
                for other in range(b + 1, len(held)):
                    found = np.bincount(code * sizes[other] + held[other], minlength=sizes[b] * sizes[other])
                    pairs[here, starts[other] : starts[other + 1]] = found.reshape(sizes[b], sizes[other])
            rows[m], sums[m] = pairs, told
        return CountTables(rows, sums)

    def of_counts(self, counts: CountTables) -> Integers:
        """The sums: exact, whoever counted."""
        codes = self.coding.starts[-1]
        square, first = np.zeros((codes + 1, codes + 1), np.int64), np.zeros((codes + 1, self.outputs), np.int64)
        for m, pairs in counts.rows.items():
            step = self._steps(m)
            square[:-1, :-1] += step[:-1, None] * pairs * step[:-1]
            first[:-1] += step[:-1, None] * counts.labels[m]
            if self.coding.constant:
                block = slice(0, self.coding.sizes[0])  # every row has one code there
                alone = np.diag(pairs)
                square[:-1, -1] += step[:-1] * alone * step[-1]
                square[-1, -1] += step[-1] ** 2 * alone[block].sum()
                first[-1] += step[-1] * counts.labels[m][block].sum(axis=0)
        spread = _spread(self.coding).T
        whole = (
            spread @ (spread @ square).T
        ).T  # right from its diagonal up: blocks are in the order of their features
        return np.concatenate([whole[np.triu_indices(self.features)], (spread @ first).T.ravel()])

    def _steps(self, m: int) -> Integers:
        """(codes + 1,) an entry of each code in a row of m blocks, the constant's last."""
        entries = np.concatenate([*self.coding.entries, [1]])
        steps = {0: 0} | {e: math.isqrt(self.norm_squared // (e * m)) for e in set(entries.tolist()) - {0}}
        return np.array([steps[e] for e in entries.tolist()], np.int64)


@lru_cache(8)
def _spread(coding: Coding) -> csr_array:
    """(codes + 1, features): the entries of each code, the constant's last."""
    from scipy.sparse import csr_array

    codes = np.repeat(np.arange(coding.starts[-1]), np.concatenate(coding.entries))
    places = np.concatenate([table[table >= 0] for table in coding.tables])
    if coding.constant:
        codes, places = np.append(codes, coding.starts[-1]), np.append(places, coding.width - 1)
    ones = np.ones(len(codes), np.int64)
    return csr_array((ones, (codes, places)), shape=(coding.starts[-1] + 1, coding.width))

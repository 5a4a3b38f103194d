"""Second moments and label sums of coded rows, from how often two codes stand together.

A row is made of whole numbers, one list for each of its codes (`Coding.steps`). So all sums follow from counts of pairs of codes and from
sums of labels by code: integers, added in any order, the same in every database. With K blocks a pass counts K(K + 1)/2 tables;
features are never written out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..features.maps.coding import Codes, Coding
from ..losses.base import Loss
from ..records import Records
from .moments import IntegerMoments, Integers, record_blocks, upper_triangle_indices
from .sums import check_labels

_FEW = 64  # rows: written out


@dataclass(frozen=True)
class CountTables:
    """What a pass brings home: exact, of the rows, and nothing to keep.

    pairs   by filled blocks m and blocks b < c (codes of b, codes of c): how many rows have both; by m, b, b (codes of b, 1)
    labels  by m and b (codes, outputs) sums of labels
    """

    pairs: dict[tuple[int, int, int], Integers]
    labels: dict[tuple[int, int], Integers]

    @property
    def rows(self) -> int:
        return sum(int(counts.sum()) for (_, b, c), counts in self.pairs.items() if b == c == 0)

    @classmethod
    def added(cls, parts: Iterable[CountTables]) -> CountTables:
        """In any order the same."""
        whole = cls({}, {})
        for part in parts:
            for key, counts in part.pairs.items():
                whole.pairs[key] = whole.pairs.get(key, 0) + counts
            for place, sums in part.labels.items():
                whole.labels[place] = whole.labels.get(place, 0) + sums
        return whole


def check_coded(records: Records, loss: Loss, coding: Coding) -> None:
    """Raise `InvalidRecords` unless every row is one of the coding's, and every label of the loss's kind."""
    assumed = ("coded", coding, loss.label_kind, loss.outputs)
    if not records.is_checked(assumed):
        for rows, _ in record_blocks(records):
            coding.of_rows(rows)
        check_labels(records.labels, records.occupied, loss)
        records.mark_checked(assumed)


@dataclass(frozen=True)
class CodedMoments(IntegerMoments):
    """`IntegerMoments` of rows that a `coding` describes: codes, or the rows of features that they stand for, which are read for them.
    `features` are its directions."""

    coding: Coding = field(kw_only=True)

    def of(self, rows: ArrayLike, labels: ArrayLike) -> Integers:
        codes, answers = self.coding.of_rows(rows), np.asarray(labels, np.float64)
        return (
            self._of_few(codes, self.answers(answers))
            if len(codes) <= _FEW
            else self.of_counts(self.count(codes, answers))
        )

    def of_table(self, records: Records) -> Integers:
        parts = [self.count(self.coding.of_rows(rows), labels) for rows, labels in record_blocks(records)]
        return self.of_counts(CountTables.added(parts))

    def count(self, codes: Codes, labels: NDArray[np.float64]) -> CountTables:
        """The tables of some rows."""
        sizes, filled, answers, found = (
            self.coding.sizes,
            self.coding.filled(codes),
            self.answers(labels),
            CountTables({}, {}),
        )
        for m in np.unique(filled).tolist():
            held, said = np.ascontiguousarray(codes[filled == m].T), answers[filled == m].T
            for b, code in enumerate(held):
                sums = [np.bincount(code, weights=column, minlength=sizes[b]) for column in said]
                found.labels[m, b] = np.stack(sums, axis=1).astype(np.int64)
                found.pairs[m, b, b] = np.bincount(code, minlength=sizes[b])[:, None]
                for c in range(b + 1, len(held)):
                    both = np.bincount(code * sizes[c] + held[c], minlength=sizes[b] * sizes[c])
                    found.pairs[m, b, c] = both.reshape(sizes[b], sizes[c])
        return found

    def of_counts(self, counts: CountTables) -> Integers:
        """The sums: exact, whoever counted. Products of whole numbers stay below 2⁵³, so float64 adds them without rounding."""
        rows = {m: self._steps(m) for m in {m for m, _ in counts.labels}}
        square, first = np.zeros((self.features, self.features)), np.zeros((self.outputs, self.features))
        starts = self.coding.starts
        for (m, b, c), number in counts.pairs.items():
            common, tables = rows[m]
            here, there = slice(starts[b], starts[b + 1]), slice(starts[c], starts[c + 1])
            if b < c:
                square[here, there] += tables[b].T @ (number.astype(np.float64) @ tables[c])
                continue
            square[0, here] += common * (number[:, 0] @ tables[b])
            square[here, here] += tables[b].T @ (number * tables[b])
            first[:, here] += counts.labels[m, b].T @ tables[b]
            if not b:
                square[0, 0] += common**2 * number.sum()
                first[:, 0] += common * counts.labels[m, b].sum(axis=0)
        return np.concatenate([square[upper_triangle_indices(self.features)], first.ravel()]).astype(np.int64)

    def _steps(self, filled: int) -> tuple[int, list[NDArray[np.float64]]]:
        common, tables = self.coding.steps(self.norm_squared, filled)
        return common, [table.astype(np.float64) for table in tables]

    def _of_few(self, codes: Codes, answers: NDArray[np.float64]) -> Integers:
        rows = np.zeros((len(codes), self.features))
        filled = self.coding.filled(codes)
        for m in np.unique(filled).tolist():
            own = np.flatnonzero(filled == m)
            common, tables = self._steps(m)
            parts = [np.full((len(own), 1), common), *(table[codes[own, b]] for b, table in enumerate(tables))]
            rows[own] = np.concatenate(parts, axis=1)
        return np.concatenate(
            [(rows.T @ rows)[upper_triangle_indices(self.features)], (answers.T @ rows).ravel()]
        ).astype(np.int64)

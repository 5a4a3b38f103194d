"""Second moments and label sums of coded rows, computed from counts of pairs of codes.

A row consists of integers, one list for each of its codes (`Coding.steps`). So all sums follow from counts of pairs of
codes and from sums of labels by code: integers, the same in any order of addition and in every database. With K blocks
a pass counts K(K + 1)/2 tables; features are never materialized.
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

_FEW = 64  # at most this many rows are expanded instead of counted


@dataclass(frozen=True)
class CountTables:
    """The exact result of one pass over the rows; not to be stored.

    Attributes:
        pairs: For filled blocks m and blocks b < c, an array (codes of b, codes of c) with the number of rows that have
            both; for m, b, b an array (codes of b, 1).
        labels: For m and b, an array (codes, outputs) with the sums of labels.
    """

    pairs: dict[tuple[int, int, int], Integers]
    labels: dict[tuple[int, int], Integers]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(int(counts.sum()) for (_, b, c), counts in self.pairs.items() if b == c == 0)

    @classmethod
    def sum_tables(cls, parts: Iterable[CountTables]) -> CountTables:
        """Add the tables; the result is independent of their order."""
        whole = cls({}, {})
        for part in parts:
            for key, counts in part.pairs.items():
                whole.pairs[key] = whole.pairs.get(key, 0) + counts
            for place, sums in part.labels.items():
                whole.labels[place] = whole.labels.get(place, 0) + sums
        return whole


def check_coded(records: Records, loss: Loss, coding: Coding) -> None:
    """Raise `InvalidRecords` unless every row fits the coding and every label the loss."""
    assumed = ("coded", coding, loss.label_kind, loss.outputs)
    if not records.is_checked(assumed):
        for rows, _ in record_blocks(records):
            coding.of_rows(rows)
        check_labels(records.labels, records.occupied, loss)
        records.mark_checked(assumed)


@dataclass(frozen=True)
class CodedMoments(IntegerMoments):
    """`IntegerMoments` of rows that a `coding` describes: codes, or features, which are converted to codes.

    `features` is the number of its directions.
    """

    coding: Coding = field(kw_only=True)

    def of(self, rows: ArrayLike, labels: ArrayLike) -> Integers:
        """Return the exact sums over rows, given as codes or features, in the directions of the coding."""
        codes, answers = self.coding.of_rows(rows), np.asarray(labels, np.float64)
        return (
            self._of_few(codes, self.answers(answers))
            if len(codes) <= _FEW
            else self.of_counts(self.count(codes, answers))
        )

    def of_table(self, records: Records) -> Integers:
        """Return the exact sums over the current records."""
        parts = [self.count(self.coding.of_rows(rows), labels) for rows, labels in record_blocks(records)]
        return self.of_counts(CountTables.sum_tables(parts))

    def count(self, codes: Codes, labels: NDArray[np.float64]) -> CountTables:
        """Return the tables of some rows."""
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
        """Return the exact sums. Products of integers stay below 2⁵³, so float64 adds them without rounding."""
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
        common, tables = self.coding.steps(self.norm_squared // self.alike, filled)
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

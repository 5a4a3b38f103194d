"""Texts without a public list, hashed to a public number of buckets, so that nothing is read from the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..maps.base import row_sums
from .cells import Floats
from .columns import Kind, Written
from .published import bucket_of

if TYPE_CHECKING:
    from ..maps import HashedNgrams
    from .files import Table

MOST_BUCKETS = 4096


@dataclass(frozen=True)
class Hashed(Kind):
    """One of many values, as one of `buckets` columns by its hash.

    Values may share a column, and an empty cell is a value too.
    """

    buckets: int

    @property
    def width(self) -> int:
        """Number of columns: `buckets`."""
        return self.buckets

    @property
    def blocks(self) -> tuple[int, ...]:
        """(buckets,), as one column is always hot."""
        return (self.buckets,)

    def names(self, column: str) -> list[str]:
        """Return "NAME: bucket K" for each bucket K from 0."""
        return [f"{column}: bucket {bucket}" for bucket in range(self.buckets)]

    def write(self, out: Floats, table: Table, column: str) -> Written:
        """Fill in 1 in the column of each cell's bucket (`bucket_of`), of an empty cell too; nothing is counted."""
        texts = table.column(column, "hashed in the schema")
        known: dict[str, int] = {}
        for row, text in enumerate(texts):
            if text not in known:
                known[text] = bucket_of(text, self.buckets)
            out[row, known[text]] = 1.0
        return Written(np.ones(len(out)))

    def to_dict(self) -> dict[str, Any]:
        """Return `hashed`, the number of buckets."""
        return {"hashed": self.buckets}


@dataclass(frozen=True)
class Text(Kind):
    """Free text, as hashed n-grams (`maps.HashedNgrams`) brought to norm 1: no vocabulary is read from the data."""

    ngrams: HashedNgrams

    @property
    def width(self) -> int:
        """Number of columns: the buckets of the n-grams."""
        return self.ngrams.width

    def names(self, column: str) -> list[str]:
        """Return "NAME: n-grams K" for each bucket K from 0."""
        return [f"{column}: n-grams {bucket}" for bucket in range(self.width)]

    def write(self, out: Floats, table: Table, column: str) -> Written:
        """Fill in the hashed n-grams of each text, brought to norm 1, or zeros without any; nothing is counted."""
        made = self.ngrams.features(list(table.column(column, "text in the schema")))
        norms = np.sqrt(row_sums(made * made))
        out[:] = made / np.where(norms > 0, norms, 1.0)[:, None]
        return Written(np.where(made.any(axis=1), 1.0, 0.0))  # of norm 1, or empty

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of the schema file: `text` (the units of the n-grams), `longest` and `buckets`."""
        return {"text": self.ngrams.units, "longest": self.ngrams.longest, "buckets": self.ngrams.buckets}

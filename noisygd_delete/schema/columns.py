"""The two kinds of column: a number with public bounds, and one of a public list of values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..maps import HashedNgrams
from ..maps.rows import sums
from .files import Table
from .text import TextColumn, number

TRANSFORMS = {"none": np.positive, "log1p": np.log1p}
UNKNOWN = ("column", "zero", "refuse")

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Numeric:
    """A number with public bounds lo < hi."""

    lower: float
    upper: float
    transform: str = "none"
    missing: float | None = None

    @property
    def width(self) -> int:
        return 1

    def names(self, column: str) -> list[str]:
        return [column]

    def numbers(self, table: Table, column: str) -> Floats:
        """The raw values, missing ones filled in."""
        texts = table.column(column, "a number in the schema")
        if isinstance(texts, TextColumn):
            values = texts.numbers()
            if self.missing is not None:
                values[texts.lengths == 0] = self.missing
        else:
            if self.missing is not None:
                texts = [text or str(self.missing) for text in texts]
            values = np.fromiter(map(number, texts), dtype=np.float64, count=len(texts))
        if not np.isfinite(values).all():
            row = int(np.flatnonzero(~np.isfinite(values))[0])
            what = "not a finite number" if texts[row] else "empty, and the schema has no `missing` value for it"
            raise table.fault(row, column, f"{what}; correct the cell, or the column's type in the schema")
        return values

    def scaled(self, values: Floats) -> Floats:
        """Clipped, transformed, and mapped to [−1, 1]."""
        curve = TRANSFORMS[self.transform]
        lower, upper = curve(self.lower), curve(self.upper)
        unit: Floats = np.clip(
            2 * (curve(np.clip(values, self.lower, self.upper)) - lower) / (upper - lower) - 1, -1.0, 1.0
        )
        return unit

    def raw(self, scaled: Floats) -> Floats:
        """The inverse of `scaled`, for values within the bounds."""
        curve = TRANSFORMS[self.transform]
        lower, upper = curve(self.lower), curve(self.upper)
        values = lower + (np.clip(scaled, -1.0, 1.0) + 1) / 2 * (upper - lower)
        return np.asarray(np.expm1(values) if self.transform == "log1p" else values)

    def outside(self, values: Floats) -> int:
        return int(np.count_nonzero((values < self.lower) | (values > self.upper)))

    def to_dict(self) -> dict[str, Any]:
        rest = {} if self.missing is None else {"missing": self.missing}
        return {"bounds": [self.lower, self.upper], "transform": self.transform, **rest}


@dataclass(frozen=True)
class Category:
    """One of a public list of values, and what any other value becomes."""

    values: tuple[str, ...]
    unknown: str = "column"

    @property
    def width(self) -> int:
        return len(self.values) + (self.unknown == "column")

    def names(self, column: str) -> list[str]:
        return [f"{column}={value}" for value in self.values] + [f"{column}: other"] * (self.unknown == "column")

    def positions(self, table: Table, column: str) -> npt.NDArray[np.intp]:
        """Index of each row's value in the list, len(values) for a value that is not in it."""
        index = {value: position for position, value in enumerate(self.values)}
        other = len(self.values)
        texts = table.column(column, "a category in the schema")
        if isinstance(texts, TextColumn):
            found = texts.positions(self.values)
        else:
            found = np.fromiter((index.get(text, other) for text in texts), dtype=np.intp, count=len(texts))
        if self.unknown == "refuse" and (found == other).any():
            row = int(np.flatnonzero(found == other)[0])
            raise table.fault(
                row, column, f"not one of the {other} listed values; correct the cell or the schema's list"
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        return {"categories": list(self.values), "unknown": self.unknown}


@dataclass(frozen=True)
class Text:
    """Free text, as hashed n-grams (`maps.HashedNgrams`) brought to norm 1: no vocabulary is read off the data."""

    ngrams: HashedNgrams

    @property
    def width(self) -> int:
        return self.ngrams.width

    def names(self, column: str) -> list[str]:
        return [f"{column}: n-grams {bucket}" for bucket in range(self.width)]

    def features(self, table: Table, column: str) -> Floats:
        made = self.ngrams.features(list(table.column(column, "text in the schema")))
        norms = np.sqrt(sums(made * made))
        return made / np.where(norms > 0, norms, 1.0)[:, None]

    def to_dict(self) -> dict[str, Any]:
        return {"text": self.ngrams.units, "longest": self.ngrams.longest, "buckets": self.ngrams.buckets}

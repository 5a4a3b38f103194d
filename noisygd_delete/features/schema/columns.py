"""Kinds of column (number here; value of a list, moment, hash and text beside).

Each writes the features of a cell into the cell's row, independent of other rows. The features of a kind have a squared
norm of at most its `width`; the row is then scaled to its norm (`schema`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .cells import Floats
from .values import Mask, find_empty, read_numbers

if TYPE_CHECKING:
    from .files import Table

_LEAST = 1e-5  # of the larger end: scale below which a signed logarithm does not resolve values
OTHERWISE = "; correct the cell, or the column's entry in the schema"  # of a message about a cell


class Written(NamedTuple):
    """Result of writing a column.

    Attributes:
        squares: (rows,) squared norms.
        clipped: Number of cells beyond their bounds; None if not applicable.
        unknown: Number of cells not in the list; None if not applicable.
    """

    squares: Floats
    clipped: int | None = None
    unknown: int | None = None


class Kind(ABC):
    """A kind of column of the table, which becomes `width` columns of the row."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Number of columns of the row."""

    @property
    def blocks(self) -> tuple[int, ...]:
        """Those columns for `Schema.one_hot_blocks`: by default 0 for each, as none is known to be hot."""
        return (0,) * self.width

    @abstractmethod
    def names(self, column: str) -> list[str]:
        """Return the names of those `width` columns, made of the name of the table's `column`."""

    @abstractmethod
    def write(self, out: Floats, table: Table, column: str) -> Written:
        """Fill `out`, (rows, width) of zeros, with a column's features, and return squared norms and counts.

        Raises:
            InvalidSchema: If there is no such column, or a cell does not fit (`UnreadableRows`, with all such rows).
        """

    def example(self) -> str:
        """Return an example cell made from the schema alone, of no record: "text" unless overridden."""
        return "text"

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the column's entry of the schema file, by whose keys its kind is recognised, without name and `from_data`.

        Every kind defines its own.
        """


def keep_set(**fields: Any) -> dict[str, Any]:
    """Return the fields that are neither empty nor False."""
    return {name: value for name, value in fields.items() if value}


@dataclass(frozen=True)
class Numeric(Kind):
    """A number with public bounds lo < hi.

    Attributes:
        lower: lo.
        upper: hi.
        transform: Of value and bounds: none, log1p, or signed-log, ± log(1 + |value|/(1e-5 · the larger end)), with
            which bounds known only in order of magnitude cost little.
        missing: Value of an empty cell; None: an empty cell is an error.
        indicator: Whether an empty cell is 0 on the scale, and 1 in a separate column (then `missing` is not used).
        empty: Texts that mark a missing value, in addition to the empty one.
        decimal: Decimal mark.
        thousands: Mark of thousands.
        unit: Unit symbol.
    """

    lower: float
    upper: float
    transform: str = "none"
    missing: float | None = None
    indicator: bool = False
    empty: tuple[str, ...] = ()
    decimal: str = "."
    thousands: str = ""
    unit: str = ""

    @property
    def width(self) -> int:
        """1, or 2 with an indicator of empty cells."""
        return 1 + self.indicator

    def names(self, column: str) -> list[str]:
        """Return the column's name, and "NAME: missing" with an indicator."""
        return [column] + [f"{column}: missing"] * self.indicator

    def write(self, out: Floats, table: Table, column: str) -> Written:
        """Fill in `scaled` of each number, with an indicator (0, 1) for an empty cell; count cells out of bounds.

        Raises:
            InvalidSchema: If a cell is not a finite number, or empty without `missing` and indicator.
        """
        found, absent = self._read(table, column)
        out[:, 0] = self.scaled(found)
        squares = out[:, 0] ** 2
        if self.indicator:
            out[absent, 0] = 0.0
            out[:, 1] = absent
            squares = np.where(absent, 1.0, squares)
        return Written(squares, clipped=self.outside(found))

    def example(self) -> str:
        """Return the middle of the bounds, with six digits at most and the column's decimal mark."""
        return f"{(self.lower + self.upper) / 2:.6g}".replace(".", self.decimal)

    def numbers(self, table: Table, column: str) -> Floats:
        """Return (rows,) raw values, neither clipped nor transformed.

        An empty cell is `missing`, or `lower` with an indicator.

        Raises:
            InvalidSchema: If a cell is not a finite number, or empty without `missing` and indicator.
        """
        return self._read(table, column)[0]

    def _read(self, table: Table, column: str) -> tuple[Floats, Mask]:
        texts = table.column(column, "a number in the schema")
        found = read_numbers(texts, self.decimal, self.thousands, self.unit)
        absent = find_empty(texts, self.empty)
        if self.indicator or self.missing is not None:
            found[absent] = self.lower if self.missing is None else self.missing
        elif absent.any():
            raise table.fault(absent, column, "empty, and the schema has no `missing` value for it" + OTHERWISE)
        bad = ~np.isfinite(found)
        if bad.any():
            raise table.fault(bad, column, "not a finite number" + OTHERWISE)
        return found, absent

    def scaled(self, found: Floats) -> Floats:
        """Return values clipped to the bounds, transformed, and mapped from the transformed bounds to [−1, 1]."""
        lower, upper = self.curved_bounds()
        curved = self._curved(np.clip(found, self.lower, self.upper))
        unit: Floats = np.clip(2 * (curved - lower) / (upper - lower) - 1, -1.0, 1.0)
        return unit

    def unscale(self, scaled: Floats) -> Floats:
        """Return values in the column's unit for values on the scale of `scaled`, clipped to [−1, 1]: its inverse."""
        lower, upper = self.curved_bounds()
        found = lower + (np.clip(scaled, -1.0, 1.0) + 1) / 2 * (upper - lower)
        if self.transform == "signed-log":
            return np.asarray(np.copysign(np.expm1(np.abs(found)), found) * self.least)
        return np.asarray(np.expm1(found) if self.transform == "log1p" else found)

    def curved_bounds(self) -> tuple[float, float]:
        """Return the transformed bounds, those of `scaled`; equal if the transform leaves nothing between them."""
        lower, upper = self._curved(np.array([self.lower, self.upper]))
        return float(lower), float(upper)

    @property
    def least(self) -> float:
        """Constant c of ± log(1 + |value|/c): 1e-5 of the larger end in absolute value for signed-log, else 1."""
        return _LEAST * max(-self.lower, self.upper) if self.transform == "signed-log" else 1.0

    def _curved(self, found: Floats) -> Floats:
        if self.transform == "none":
            return found
        if self.transform == "log1p":
            return np.log1p(found)
        return np.copysign(np.log1p(np.abs(found) / self.least), found)

    def outside(self, found: Floats) -> int:
        """Return how many of these raw values are outside the bounds."""
        return int(np.count_nonzero((found < self.lower) | (found > self.upper)))

    def to_dict(self) -> dict[str, Any]:
        """Return `bounds` and `transform`, and only where set `missing`, `empty` and the marks (`marks`).

        `missing` is a number, or "column" for an indicator.
        """
        fields: dict[str, Any] = {"bounds": [self.lower, self.upper], "transform": self.transform}
        if self.indicator or self.missing is not None:
            fields["missing"] = "column" if self.indicator else self.missing
        return fields | keep_set(empty=list(self.empty)) | self.marks()

    def marks(self) -> dict[str, Any]:
        """Return those of `decimal`, `thousands` and `unit` that are not the defaults; often empty."""
        decimal = "" if self.decimal == "." else self.decimal
        return keep_set(decimal=decimal, thousands=self.thousands, unit=self.unit)

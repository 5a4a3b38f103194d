"""The kinds of column: number with public bounds, value of a public list, one of two values, moment (and `hashed`).

Each writes the features of a cell into the cell's row, independent of other rows. The features of a kind have a squared
norm of at most its `width`; the row is then scaled to its norm (`schema`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import values
from .published import NONE, phase, read_moment
from .values import Floats, Mask, TextColumn, make_spelling_patterns, place_of

if TYPE_CHECKING:
    from .files import Table

_LEAST = 1e-5  # of the larger end: scale below which a signed logarithm does not resolve values


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

        Args:
            out: Filled in place.
            table: The table.
            column: Name of its column.

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
        found = values.read_numbers(texts, self.decimal, self.thousands, self.unit)
        absent = values.find_empty(texts, self.empty)
        if self.indicator or self.missing is not None:
            found[absent] = self.lower if self.missing is None else self.missing
        elif absent.any():
            raise table.fault(absent, column, "empty, and the schema has no `missing` value for it" + _OTHERWISE)
        bad = ~np.isfinite(found)
        if bad.any():
            raise table.fault(bad, column, "not a finite number" + _OTHERWISE)
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
        return fields | _unusual(empty=list(self.empty)) | self.marks()

    def marks(self) -> dict[str, Any]:
        """Return those of `decimal`, `thousands` and `unit` that are not the defaults; often empty."""
        decimal = "" if self.decimal == "." else self.decimal
        return _unusual(decimal=decimal, thousands=self.thousands, unit=self.unit)


@dataclass(frozen=True)
class Category(Kind):
    """One of a public list of values, and the treatment of other values."""

    values: tuple[str, ...]
    unknown: str = "column"

    @property
    def width(self) -> int:
        """Number of listed values, and one more if unknown = "column"."""
        return len(self.values) + (self.unknown == "column")

    @property
    def blocks(self) -> tuple[int, ...]:
        """(width,), as one column is always hot; with unknown = "zero", where none may be, 0 for each column."""
        return (0,) * self.width if self.unknown == "zero" else (self.width,)

    def names(self, column: str) -> list[str]:
        """Return "NAME=VALUE" for each listed value, and "NAME: other" if unknown = "column"."""
        return [f"{column}={value}" for value in self.values] + [f"{column}: other"] * (self.unknown == "column")

    def write(self, out: Floats, table: Table, column: str) -> Written:
        """Fill in 1 in the column of each cell's value; count cells not in the list.

        Such a cell has 1 in the last column with unknown = "column", zeros with "zero", and is an error with "refuse".

        Raises:
            UnreadableRows: If unknown = "refuse" and a cell is not in the list.
        """
        found = self.positions(table, column)
        known = found < self.width
        out[np.flatnonzero(known), found[known]] = 1.0
        return Written(np.where(known, 1.0, 0.0), unknown=int(np.count_nonzero(found == len(self.values))))

    def positions(self, table: Table, column: str) -> NDArray[np.intp]:
        """Return each row's index in the list, other spellings of a value included; len(values) for any other text.

        Args:
            table: The table.
            column: Name of its column.

        Raises:
            UnreadableRows: If unknown = "refuse" and a cell is not in the list.
        """
        texts = table.column(column, "a category in the schema")
        return _positions(texts, self.values, table if self.unknown == "refuse" else None, column)

    def example(self) -> str:
        """Return the first listed value."""
        return self.values[0]

    def to_dict(self) -> dict[str, Any]:
        """Return `categories`, the list, and `unknown`."""
        return {"categories": list(self.values), "unknown": self.unknown}


@dataclass(frozen=True)
class Boolean(Kind):
    """One of two values in one column: −1 and +1; 0 for any other.

    With unknown = `GAP`, for rows to predict, only an empty cell is 0 and other values are errors.
    """

    values: tuple[str, str]
    unknown: str = "zero"

    @property
    def width(self) -> int:
        """1, or 2 if other values have a column of their own."""
        return 1 + (self.unknown == "column")

    def names(self, column: str) -> list[str]:
        """Return "NAME=SECOND VALUE", and "NAME: other" if unknown = "column"."""
        return [f"{column}={self.values[1]}"] + [f"{column}: other"] * (self.unknown == "column")

    def write(self, out: Floats, table: Table, column: str) -> Written:
        """Fill in −1 for the first value, +1 for the second, 0 for any other; count the others.

        With unknown = "column" another value has 1 in a second column; other spellings of the two values are read as
        these.

        Raises:
            UnreadableRows: If a cell is another value with unknown = "refuse", or one that is not empty with `GAP`.
        """
        texts = table.column(column, "one of two values in the schema")
        found = _positions(texts, self.values, table if self.unknown == "refuse" else None, column)
        if self.unknown == GAP:
            bad = (found == 2) & ~values.find_empty(texts, ())
            if bad.any():
                raise table.fault(bad, column, "neither of the two listed values" + _OTHERWISE)
        out[:, 0] = np.array([-1.0, 1.0, 0.0])[found]
        other = found == 2
        if self.unknown == "column":
            out[:, 1] = other
        squares = np.ones(len(found)) if self.unknown == "column" else np.where(other, 0.0, 1.0)
        return Written(squares, unknown=int(np.count_nonzero(other)))

    def example(self) -> str:
        """Return the first value."""
        return self.values[0]

    def to_dict(self) -> dict[str, Any]:
        """Return `boolean`, the two values, and `unknown`."""
        return {"boolean": list(self.values), "unknown": self.unknown}


@dataclass(frozen=True)
class Moment(Kind):
    """A date, or a time of day, by its position between two public ones and in the requested cycles.

    Attributes:
        first: First moment in ISO form: `2013-01-31`, `2013-01-31T08:30`, `08:30` for a clock.
        last: Last moment.
        clock: Whether it is a time of day.
        form: Format of cells, None for ISO.
        cycles: "day", "week" or "year".
        missing: Whether an empty cell is 0 everywhere and 1 in a separate column; otherwise it is an error.
        empty: Texts that mark a missing value, in addition to the empty one.
    """

    first: str
    last: str
    clock: bool = False
    form: str | None = None
    cycles: tuple[str, ...] = ()
    missing: bool = False
    empty: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """One for the position, two for each cycle, and one more if `missing`."""
        return 1 + 2 * len(self.cycles) + self.missing

    def names(self, column: str) -> list[str]:
        """Return the column's name, "NAME: cosine of CYCLE" and "NAME: sine of CYCLE" for each cycle.

        The last one is "NAME: missing" if `missing`.
        """
        parts = [f"{column}: {part} of {cycle}" for cycle in self.cycles for part in ("cosine", "sine")]
        return [column, *parts] + [f"{column}: missing"] * self.missing

    def write(self, out: Floats, table: Table, column: str) -> Written:
        """Fill in the position in [−1, 1], then cosine and sine of each cycle; count cells beyond the two ends.

        With `missing`, an empty cell is 0 everywhere and 1 in the last column.

        Raises:
            UnreadableRows: If a cell is not written in the format, or is empty without `missing`.
        """
        texts = table.column(column, "a time in the schema" if self.clock else "a date in the schema")
        at, absent = values.read_moments(texts, self.form, clock=self.clock), values.find_empty(texts, self.empty)
        if absent.any() and not self.missing:
            raise table.fault(absent, column, 'empty, and the schema has no missing = "column" for it')
        lower, upper = self.bounds
        at[absent] = lower
        if (at == NONE).any():
            wanted = self.form or ("a time such as 08:30" if self.clock else "a date such as 2013-01-31")
            raise table.fault(at == NONE, column, f"not written as {wanted}" + _OTHERWISE)
        out[:, 0] = np.clip(2 * (np.clip(at, lower, upper) - lower) / (upper - lower) - 1, -1.0, 1.0)
        for number, cycle in enumerate(self.cycles):
            turn = 2 * np.pi * phase(at, cycle)
            out[:, 1 + 2 * number], out[:, 2 + 2 * number] = np.cos(turn), np.sin(turn)
        if self.missing:
            out[absent] = 0.0
            out[:, -1] = absent
        # added in a fixed order: a row's norm cannot depend on its neighbours
        squares = np.zeros(len(at))
        for feature in range(self.width):
            squares += out[:, feature] ** 2
        return Written(squares, clipped=int(np.count_nonzero((at < lower) | (at > upper))))

    def example(self) -> str:
        """Return the first moment in the format of cells."""
        if self.form is None:
            return self.first
        at = datetime.fromtimestamp(self.bounds[0], UTC)
        return at.strftime(self.form)

    @property
    def bounds(self) -> tuple[int, int]:
        """First and last moment in seconds since 1970-01-01, or since midnight for a clock."""
        lower, upper = (read_moment(text, clock=self.clock) for text in (self.first, self.last))
        return lower, upper

    def to_dict(self) -> dict[str, Any]:
        """Return `dates` or `times`, the two ends, and `cycles`; `format`, `missing` and `empty` only where set."""
        fields: dict[str, Any] = {"times" if self.clock else "dates": [self.first, self.last]}
        fields |= {"format": self.form} if self.form is not None else {}
        fields |= {"cycles": list(self.cycles)} | ({"missing": "column"} if self.missing else {})
        return fields | _unusual(empty=list(self.empty))


GAP = "gap"  # of a boolean: only an empty cell is unknown
_OTHERWISE = "; correct the cell, or the column's entry in the schema"


def _unusual(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}


def _positions(texts: Sequence[str], listed: tuple[str, ...], refusing: Table | None, column: str) -> NDArray[np.intp]:
    """Return the position of each text in the list, or the list's length, which is an error with a `refusing` table."""
    other = len(listed)
    if isinstance(texts, TextColumn):
        found = texts.positions(listed)
    else:
        index = {value: position for position, value in enumerate(listed)}
        found = np.fromiter((index.get(text, other) for text in texts), dtype=np.intp, count=len(texts))
    if make_spelling_patterns(listed):
        known: dict[str, int] = {}
        for cell in np.flatnonzero(found == other).tolist():
            text = texts[cell]
            if text not in known:
                known[text] = place_of(text, listed)
            found[cell] = known[text]
    if refusing is not None and (found == other).any():
        raise refusing.fault(
            found == other, column, f"not one of the {other} listed values; correct the cell or the schema's list"
        )
    return found


def refuse_empty(table: Table, column: str) -> None:
    """Check that no label cell is empty; the error names the first ten lines.

    Args:
        table: The table.
        column: Name of the label column.

    Raises:
        UnreadableRows: If a cell is empty.
    """
    empty = values.find_empty(table.column(column, "the label"), ())
    gaps = np.flatnonzero(empty)
    if len(gaps):
        lines = ", ".join(str(table.lines[row]) for row in gaps[:_SHOWN].tolist())
        more = f" and {len(gaps) - _SHOWN} more" if len(gaps) > _SHOWN else ""
        problem = (
            f"the label is empty in line{'s' * (len(gaps) > 1)} {lines}{more}; a row without a label cannot be learned from: take these rows "
            "out of the file, or fill the cells in"
        )
        raise table.fault(empty, column, problem)


_SHOWN = 10  # lines named in one message

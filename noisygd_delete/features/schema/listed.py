"""Kinds of column with listed values: one of a public list, one of two values; and the label's cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .arrow import TextColumn
from .cells import Floats
from .columns import OTHERWISE, Kind, Written
from .spelling import make_spelling_patterns, place_of
from .values import find_empty

if TYPE_CHECKING:
    from .files import Table

GAP = "gap"  # of a boolean: only an empty cell is unknown


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
            bad = (found == 2) & ~find_empty(texts, ())
            if bad.any():
                raise table.fault(bad, column, "neither of the two listed values" + OTHERWISE)
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

    Raises:
        UnreadableRows: If a cell is empty.
    """
    empty = find_empty(table.column(column, "the label"), ())
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

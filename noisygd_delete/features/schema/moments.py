"""The kind of column of dates and times of day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from .cells import Floats
from .columns import OTHERWISE, Kind, Written, keep_set
from .published import NONE, phase, read_moment
from .values import find_empty, read_moments

if TYPE_CHECKING:
    from .files import Table


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
        at, absent = read_moments(texts, self.form, clock=self.clock), find_empty(texts, self.empty)
        if absent.any() and not self.missing:
            raise table.fault(absent, column, 'empty, and the schema has no missing = "column" for it')
        lower, upper = self.bounds
        at[absent] = lower
        if (at == NONE).any():
            wanted = self.form or ("a time such as 08:30" if self.clock else "a date such as 2013-01-31")
            raise table.fault(at == NONE, column, f"not written as {wanted}" + OTHERWISE)
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
        return fields | keep_set(empty=list(self.empty))

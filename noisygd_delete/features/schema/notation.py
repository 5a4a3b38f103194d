"""Notation of the numbers in a column of text: marks, unit, and whether they can be read in two ways.

It reads the data, for the draft of a schema only, which a person reviews.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .arrow import TextColumn
from .cells import FloatColumn, Floats, Fractions
from .fields import SYMBOLS
from .published import number_reader
from .values import EMPTY

MARKS = ((".", ""), (".", ","), (",", ""), (",", "."), (",", " "), (".", " "), (".", "'"))
_PLAIN, _GROUPED = [(".", "")], (",", ".")
_PLAIN_LETTERS = frozenset("0123456789.+-")
_TRIED = 400  # texts on which a form is tried first
_MOST_ODD, _ROWS_PER_ODD = 10, 20  # fewer rows than this do not settle how all others are read, nor one row in these
STORED = ("", "")  # no marks: the file stores numbers

Counts = Mapping[str, int]  # rows of each text


@dataclass(frozen=True)
class Numbers:
    """Different values, ascending, the rows of each, their notation, whether it is unambiguous, and whether other columns settled it."""

    values: Floats
    rows: NDArray[np.int64]
    decimal: str
    thousands: str
    unit: str
    sure: bool
    inferred: bool = False

    @property
    def whole(self) -> bool:
        """Whether all values are whole numbers."""
        return bool((self.values == np.trunc(self.values)).all())

    @property
    def marks(self) -> dict[str, str]:
        """Those of decimal mark, mark of thousands and unit that are not the defaults, by their keys in a schema."""
        found = {"decimal": self.decimal.strip("."), "thousands": self.thousands, "unit": self.unit}
        return {name: mark for name, mark in found.items() if mark}

    def in_order(self, texts: Counts) -> list[str]:
        """Return the texts in the order of their numbers."""
        return sorted(texts, key=number_reader(self.decimal, self.thousands, self.unit))


def marks_of(columns: Mapping[str, Sequence[str]]) -> tuple[str, str] | None:
    """Return the decimal mark and the mark of thousands on which all columns with an unambiguous notation agree.

    These are (".", "") or (",", "."). None if there is no such column, or if columns disagree: then a person has to
    decide.

    Args:
        columns: Texts of each column; those stored as numbers, and texts without points and commas, are ignored.
    """
    found = set()
    for texts in columns.values():
        if is_stored(texts):
            continue
        plain = dict.fromkeys(drop_texts(count_texts(texts), ("", *EMPTY)), 1)
        if not any("." in text or "," in text for text in plain):
            continue
        numbers = parse_numbers(plain)
        if numbers is not None and numbers.sure:
            found.add(_PLAIN[0] if numbers.decimal == "." else _GROUPED)
    return found.pop() if len(found) == 1 else None


def count_texts(texts: Sequence[str]) -> Counts:
    """Return the number of rows of each text, in the order of their first rows."""
    return texts.counts() if isinstance(texts, TextColumn) else Counter(texts)


def drop_texts(counts: Counts, marks: Sequence[str]) -> Counts:
    """Return the rows of each text that is none of `marks`."""
    left_out = {mark for mark in marks if mark in counts}
    return {text: count for text, count in counts.items() if text not in left_out} if left_out else counts


def is_stored(texts: Sequence[str]) -> bool:
    """Return whether the file stores these texts as numbers, which have no notation."""
    return isinstance(texts, (FloatColumn, Fractions))


def all_hold(texts: Counts, holds: Callable[[str], bool]) -> bool:
    """Return whether every text has a property, tried on a few first."""
    few = list(texts)[:_TRIED]
    return all(map(holds, few)) and all(map(holds, texts))


def parse_numbers(plain: Counts, prefer: tuple[str, str] | None = None) -> Numbers | None:
    """Return the texts as numbers, in the first notation in which all of them are numbers; None if there is none.

    Args:
        plain: Rows of each text.
        prefer: The marks of other columns of the file, which resolve ambiguous notations.

    A notation is ambiguous if another one reads all cells, or all but a few, and reads some of them differently.
    """
    few, rows = list(plain)[:_TRIED], sum(plain.values())
    every = _PLAIN if prefer == STORED else MARKS
    unit = next((mark for mark in SYMBOLS[1:] if any(mark in text for text in few)), "")

    reading = Readings(list(plain), unit)

    def fits(marks: tuple[str, str]) -> bool:
        read = number_reader(*marks, unit)
        if not isinstance(reading.iterate(*marks), np.ndarray) and not all(math.isfinite(read(text)) for text in few):
            return False
        return bool(np.isfinite(reading.values(*marks)).all())

    fitting = list(filter(fits, every[:1])) or list(filter(fits, every[1:]))
    if not fitting:
        return None
    if (
        len(every) > 1 and fitting == _PLAIN and any("." in text for text in plain) and fits(_GROUPED)
    ):  # 2.824: a fraction, or thousands
        # fractions of three digits have them in every row; of whole numbers, those below a thousand have no group
        fitting = [_GROUPED, *_PLAIN] if any("." not in text for text in plain) else [*_PLAIN, _GROUPED]
    rivals = [marks for marks in every if marks not in fitting and _reads_most(plain, reading, marks, rows)]

    def reads_alike(others: Iterable[tuple[str, str]]) -> bool:
        own = list(map(number_reader(*fitting[0], unit), few))
        reads = (list(map(number_reader(*marks, unit), few)) for marks in others)
        return all(
            math.isnan(other) or other == value for read in reads for other, value in zip(read, own, strict=True)
        )

    sure = reads_alike([*fitting, *rivals])
    inferred = False
    preferred = [marks for marks in fitting if prefer and marks[0] == prefer[0]]
    if preferred:
        fitting = preferred
        inferred, sure = not sure, reads_alike(fitting)
    values, places = np.unique(reading.values(*fitting[0]), return_inverse=True)
    counts = np.zeros(len(values), np.int64)
    np.add.at(counts, places, np.fromiter(plain.values(), np.int64, len(plain)))
    return Numbers(values, counts, *fitting[0], unit, sure, inferred and sure)


class Readings:
    """The texts of a column as numbers in one notation or another, each read once.

    A mark of thousands that occurs in no text makes no difference.
    """

    def __init__(self, texts: list[str], unit: str) -> None:
        self._texts, self._unit, self._held = texts, unit, dict[tuple[str, str], Floats]()
        self._letters = set("".join(texts))

    def iterate(self, decimal: str, thousands: str) -> Iterable[float]:
        """Return the values of all texts in this notation, an array if they are known; NaN for no number."""
        marks = self._effective(decimal, thousands)
        if marks not in self._held and (*marks, self._unit) == (".", "", "") and self._letters <= _PLAIN_LETTERS:
            with suppress(ValueError):  # of digits, points and signs, float reads what `number_reader` reads
                self._held[marks] = np.array(list(map(float, self._texts)))
        return self._held[marks] if marks in self._held else map(number_reader(*marks, self._unit), self._texts)

    def values(self, decimal: str, thousands: str) -> Floats:
        """Return (texts,) values in this notation, cached after the first call; NaN for no number."""
        marks = self._effective(decimal, thousands)
        if marks not in self._held:
            self._held[marks] = np.fromiter(self.iterate(*marks), np.float64, len(self._texts))
        return self._held[marks]

    def _effective(self, decimal: str, thousands: str) -> tuple[str, str]:
        occurs = any(map(str.isspace, self._letters)) if thousands == " " else thousands in self._letters
        return decimal, thousands if occurs else ""


def _reads_most(plain: Counts, reading: Readings, marks: tuple[str, str], rows: int) -> bool:
    """Return whether all but a few rows are numbers in this notation."""
    odd, most = 0, min(_MOST_ODD, rows // _ROWS_PER_ODD + 1)
    read = reading.iterate(*marks)
    if isinstance(read, np.ndarray) and np.isfinite(read).all():
        return True
    for value, count in zip(read, plain.values(), strict=True):
        odd += 0 if math.isfinite(value) else count
        if odd >= most:
            return False
    return True

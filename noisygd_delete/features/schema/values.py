"""Cells of text as numbers and moments; the meaning of a cell depends only on its own text and the schema."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, time

import numpy as np
from numpy.typing import NDArray

from .arrow import TextColumn
from .cells import FloatColumn, Floats, Fractions, read_number
from .published import number_reader, read_moment

Mask = NDArray[np.bool_]
Seconds = NDArray[np.int64]

EMPTY = ("NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "Null", "null")  # never a value
_DIRECTIVES = {
    False: frozenset("YmdHMSfyj"),
    True: frozenset("HMSf"),
}  # with the same meaning in every language and on every machine


def find_empty(texts: Sequence[str], marks: Sequence[str]) -> Mask:
    """Return (rows,), True if a cell is "" or equal to one of the marks."""
    if isinstance(texts, FloatColumn) and not marks:
        return texts.missing
    if not isinstance(texts, TextColumn):
        among = {"", *marks}
        return np.fromiter((text in among for text in texts), bool, len(texts))
    there = texts.lengths > 0
    if marks:
        there &= texts.positions(tuple(marks)) == len(marks)
    return np.asarray(~there)


def without_label(texts: Sequence[str], classes: Sequence[str] = ()) -> Mask:
    """Return (rows,), whether a cell is empty or marks a missing value (`EMPTY`), and is not one of the classes.

    If "" is a class, no cell is without a label.
    """
    if "" in classes:
        return np.zeros(len(texts), bool)
    return find_empty(texts, [mark for mark in EMPTY if mark not in classes])


def read_numbers(texts: Sequence[str], decimal: str = ".", thousands: str = "", unit: str = "") -> Floats:
    """Return (rows,) float64, NaN if a text is not a number in this notation; cells stored as numbers ignore it.

    Args:
        texts: Text of each cell.
        decimal: Decimal mark.
        thousands: Mark of thousands; "": none.
        unit: Symbol that may precede or follow a number; "": none.
    """
    if (decimal, thousands, unit) != (".", "", "") and not isinstance(texts, (FloatColumn, Fractions)):
        return np.fromiter(map(number_reader(decimal, thousands, unit), texts), np.float64, len(texts))
    if isinstance(texts, (TextColumn, FloatColumn)):
        return texts.numbers()
    return np.fromiter(map(read_number, texts), np.float64, len(texts))


def read_moments(texts: Sequence[str], form: str | None, *, clock: bool) -> Seconds:
    """Return (rows,) int64 seconds since 1970, or since midnight for a `clock`; `NONE` for texts not in the format.

    Args:
        texts: Text of each cell.
        form: Format of `strptime`; None for ISO.
        clock: Whether they are times of day.
    """
    known: dict[str, int] = {}
    found = np.empty(len(texts), np.int64)
    for row, text in enumerate(texts):
        if text not in known:
            known[text] = read_moment(text, form, clock=clock)
        found[row] = known[text]
    return found


def write_bound(value: object) -> str:
    """Return a bound of a schema as text: a date or time of TOML in ISO form, anything else by `str`."""
    return value.isoformat() if isinstance(value, (date, time)) else str(value)


def may_be_format(form: str, *, clock: bool) -> bool:
    """Return whether a format has at least one directive, and only such as mean the same on every machine.

    Args:
        form: Format of `strptime`.
        clock: Whether it is of a time of day: %H %M %S %f only; otherwise also %Y %m %d %y %j.
    """
    used = set(re.findall(r"%(.?)", form, re.DOTALL)) - {"%"}
    return bool(used) and used <= _DIRECTIVES[clock]

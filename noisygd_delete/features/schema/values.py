"""Cells of text as numbers and moments, each by itself: what a cell means depends on its own text and on the schema alone."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from functools import cache

import numpy as np
from numpy.typing import NDArray

from .arrow import TextColumn
from .text import FloatColumn, Floats, Fractions, read_number

Mask = NDArray[np.bool_]
Seconds = NDArray[np.int64]

DAY, WEEK = 86_400, 604_800  # seconds
EMPTY = ("NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "Null", "null")  # never a value
NONE = np.iinfo(np.int64).min  # of `Seconds`, where a text is no moment
_DIRECTIVES = {
    False: frozenset("YmdHMSfyj"),
    True: frozenset("HMSf"),
}  # they mean the same in every language and on every machine
_START = datetime(1970, 1, 1)
_MONDAY = 3 * DAY  # 1970 began on a Thursday
_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?", re.ASCII
)
_CLOCK = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?", re.ASCII)
_SPACES = "[ \u00a0\u202f]"  # of a group of three digits, as offices write it


def find_empty(texts: Sequence[str], marks: Sequence[str]) -> Mask:
    """(rows,) True where a cell has no text, or one of the marks."""
    if isinstance(texts, FloatColumn) and not marks:
        return texts.missing
    if not isinstance(texts, TextColumn):
        among = {"", *marks}
        return np.fromiter((text in among for text in texts), bool, len(texts))
    there = texts.lengths > 0
    if marks:
        there &= texts.positions(tuple(marks)) == len(marks)
    return np.asarray(~there)


def read_numbers(texts: Sequence[str], decimal: str = ".", thousands: str = "") -> Floats:
    """(rows,) float64, NaN where a text is no number written with these marks; typed numbers have none."""
    if (decimal, thousands) != (".", "") and not isinstance(texts, (FloatColumn, Fractions)):
        return np.fromiter(map(number_reader(decimal, thousands), texts), np.float64, len(texts))
    if isinstance(texts, (TextColumn, FloatColumn)):
        return texts.numbers()
    return np.fromiter(map(read_number, texts), np.float64, len(texts))


@cache
def number_reader(decimal: str, thousands: str) -> Callable[[str], float]:
    """What reads one number with these marks; groups have three digits, or a mark between them is a typing error and no number."""
    mark = _SPACES if thousands == " " else re.escape(thousands)
    whole = rf"[1-9]\d{{0,2}}(?:{mark}\d{{3}})+|\d+" if thousands else r"\d+"
    form = re.compile(rf"([+-]?)({whole})?(?:{re.escape(decimal)}(\d*))?(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)

    def read(text: str) -> float:
        found = form.fullmatch(text)
        if found is None:
            return math.nan
        sign, digits, fraction, power = (part or "" for part in found.groups())
        if not digits and not fraction:
            return math.nan
        return float(f"{sign}{re.sub(r'[^0-9]', '', digits) or 0}.{fraction or 0}{power}")

    return read


def read_moments(texts: Sequence[str], form: str | None, *, clock: bool) -> Seconds:
    """(rows,) whole seconds since 1970, or since midnight for a `clock`; `NONE` where a text is no such moment."""
    known: dict[str, int] = {}
    found = np.empty(len(texts), np.int64)
    for row, text in enumerate(texts):
        if text not in known:
            known[text] = read_moment(text, form, clock=clock)
        found[row] = known[text]
    return found


def read_moment(text: str, form: str | None = None, *, clock: bool = False) -> int:
    """One moment in whole seconds, or `NONE`."""
    try:
        if form is not None:
            read = datetime.strptime(text, form)
            return (read.hour * 60 + read.minute) * 60 + read.second if clock else _since(read)
        parts = (_CLOCK if clock else _ISO).fullmatch(text)
        if parts is None:
            return NONE
        values = [int(part or 0) for part in parts.groups()]
        if not clock:
            return _since(datetime(*values))  # type: ignore[arg-type]  # year to second
        hour, minute, second = values
        return (hour * 60 + minute) * 60 + second if hour < 24 and minute < 60 and second < 60 else NONE
    except ValueError:
        return NONE


def _since(read: datetime) -> int:
    return (read.replace(tzinfo=None) - _START) // timedelta(seconds=1)


def write_bound(value: object) -> str:
    """A bound as text: TOML has dates and times of its own."""
    return value.isoformat() if isinstance(value, (date, time)) else str(value)


def may_be_format(form: str, *, clock: bool) -> bool:
    """Whether a format has only directives that mean the same everywhere, and one at least."""
    used = set(re.findall(r"%(.?)", form, re.DOTALL)) - {"%"}
    return bool(used) and used <= _DIRECTIVES[clock]


def phase(at: Seconds, cycle: str) -> Floats:
    """(rows,) in [0, 1): how much of the day, week (from Monday) or year (from the first of January) has gone by."""
    if cycle == "day":
        return np.asarray((at % DAY) / DAY)
    if cycle == "week":
        return np.asarray(((at + _MONDAY) % WEEK) / WEEK)
    years = at.astype("M8[s]").astype("M8[Y]")
    begins, ends = (part.astype("M8[s]").astype(np.int64) for part in (years, years + 1))
    return np.asarray((at - begins) / (ends - begins))

"""A first draft of a schema, computed from a table. A draft is a proposal for review, not a schema."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...bounds.arithmetic import MOST_SHARES
from ...errors import InvalidSchema
from .arrow import TextColumn
from .cells import FloatColumn, Floats, Fractions
from .fields import JSON_SCHEMA, MIDDLE, SYMBOLS
from .files import Table
from .published import DAY, NONE, number_reader, read_moment
from .spelling import fold_spelling
from .values import EMPTY, without_label

# --- recognise ---
#
# Interpretation of a column of text: id, free text, constant, two values, date, time, number, code, or category of few
# or many values.
#
# It reads the data, for the draft of a schema only, which a person reviews. Nothing here is used when rows are made.


_MAYBE_EMPTY = (  # no value where all others are numbers or dates
    *("None", "none", "?", "-", "--", ".", "missing"),
    *("inf", "-inf", "Inf", "-Inf", "Infinity", "-Infinity"),
)
_MOST_WORDS = 3  # such as "unknown", among numbers that are four fifths of the rows
TRUTHS = (("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("0", "1"), ("0.0", "1.0"), ("off", "on"))
_ON_A_SCALE = ("number", "date", "time")  # their missing cells get a column of their own
_MOST_CATEGORIES = 64
_ROWS_PER_CATEGORY, _LARGEST_LIST = 200, 256  # a large table may list more
_MOST_CODES, _ROWS_PER_CODE = 12, 50
_RARE, _MANY_ROWS = 10, 1000  # a value of fewer rows in a table of this many may identify a person: it is not listed
_EDGE = 0.005  # share of the rows that a range leaves out at either end
_LONG_TAIL = 8
_LEAST_TO_HASH = 16_000  # rows: with fewer, hashed columns cost more in noise than they contribute
_ROWS_PER_BUCKET, _MOST_BUCKETS = 500, 256
_DAYS = ("%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%d.%m.%y", "%d/%m/%y", "%m/%d/%y")
_FORMATS = (None, *(day + hour for day in _DAYS for hour in ("", " %H:%M", " %H:%M:%S")))
_MARKS = ((".", ""), (".", ","), (",", ""), (",", "."), (",", " "), (".", " "), (".", "'"))
_PLAIN, _GROUPED = [(".", "")], (",", ".")
_PLAIN_LETTERS = frozenset("0123456789.+-")
_A_DIGIT = re.compile(r"\d")
_STORED = ("", "")  # no marks: the file stores numbers
_TRIED = 400  # texts on which a form is tried first
_MOST_ODD, _ROWS_PER_ODD = 10, 20  # fewer rows than this do not settle how all others are read, nor one row in these
_ID = re.compile(r"(?i:(^|[_\s.-])(id|uuid|guid|key|no|nr|number|index|rownames?)$|^unnamed: 0$)|[a-z]I[dD]$")
_NEARLY = 0.95  # share of distinct values from which a column with an id's name, or of long numbers, is an id
_DIGITS_OF_ID = 8
_NATURAL = (  # ranges implied by a column's name, if they contain its values
    (re.compile(r"(?i:(^|[_\s.-])age$|^age([_\s.-]|$))|[a-z]Age$"), (0.0, 120.0)),
    (re.compile(r"(?i:percent|(^|[_\s.-])pct([_\s.-]|$))"), (0.0, 100.0)),
)
_NARROWER = (  # a question; the data's own range would not be public
    "the values span less than half of it: is a narrower range public, such as the ages that a study admits? "
    "`explain` draws a curve over the whole range, and shows noise where there are no rows"
)
_ID_FOR_SURE = re.compile(r"(?i:(^|[_\s.-])(id|uuid|guid)$)|[a-z]I[dD]$")
_PERSON = re.compile(  # names of columns that identify persons, who may have several rows
    r"(?i:(^|[_\s.-])(patient|customer|client|person|subject|user|member|employee|student|participant|respondent|citizen)"
    r"([_\s.-]?(no|nr|number|code|key|name))?$)"
)

Counts = Mapping[str, int]  # rows of each text


@dataclass(frozen=True)
class ColumnDraft:
    """Proposed interpretation of a column.

    Attributes:
        seems: number, category, boolean, date, time or hashed, as in a schema; or why it is left out: empty, constant,
            id (every row has its own), shared (an id of several rows), text.
        fields: Its keys; ranges and lists were computed from the data.
        asks: Questions for a person, besides whether they are public.
        doubts: Questions on possible errors in the cells: two readings, rare values of a label, values that read alike.
        public: Why nothing of it depends on the data, if so.
        inferred: Whether other columns settled how its cells are read.
    """

    seems: str
    fields: dict[str, Any] = field(default_factory=dict)
    asks: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    public: str = ""
    inferred: bool = False


@dataclass(frozen=True)
class _Numbers:
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


def draft_column(name: str, texts: Sequence[str], prefer: tuple[str, str] | None = None) -> ColumnDraft:
    """Return the proposed interpretation of a column: its kind and keys for a schema, or why it is left out.

    Args:
        name: Name of the column, which may indicate an id or a natural range.
        texts: Text of each cell.
        prefer: Marks that settle ambiguous notations, from `marks_of`; None: none.
    """
    counts, rows = _count_texts(texts), len(texts)
    marks = sorted({*(mark for mark in (*EMPTY, *_MAYBE_EMPTY) if mark in counts), *_missing_words(counts, rows)})
    plain = _drop_texts(counts, ("", *marks))
    gaps = rows - sum(plain.values())
    if not plain:
        return ColumnDraft("empty")
    if len(plain) == 1:
        return _draft_category(counts, rows) if gaps else ColumnDraft("constant")
    if len(plain) == 2:
        return ColumnDraft("boolean", {"boolean": _pair(plain), "unknown": "column" if gaps else "zero"})
    numbers = _parse_numbers(plain, prefer)
    moments = _draft_datetimes(plain, numbers)
    if moments is None and _is_id(name, plain, numbers, own=len(plain) == rows):
        return ColumnDraft("id" if len(plain) == rows else "shared")
    found = moments or (_draft_category(counts, rows) if numbers is None else _draft_number(name, numbers, plain))
    if not gaps and found.seems == "number":  # the next file may have an empty cell
        return replace(found, fields=found.fields | {"missing": MIDDLE})
    if not gaps or found.seems not in _ON_A_SCALE:
        return found
    missing = {"missing": "column", **({"empty": marks} if marks else {})}
    return replace(found, fields=found.fields | missing)


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
        plain = dict.fromkeys(_drop_texts(_count_texts(texts), ("", *EMPTY)), 1)
        if not any("." in text or "," in text for text in plain):
            continue
        numbers = _parse_numbers(plain)
        if numbers is not None and numbers.sure:
            found.add(_PLAIN[0] if numbers.decimal == "." else _GROUPED)
    return found.pop() if len(found) == 1 else None


def _count_texts(texts: Sequence[str]) -> Counts:
    """Return the number of rows of each text, in the order of their first rows."""
    return texts.counts() if isinstance(texts, TextColumn) else Counter(texts)


def _drop_texts(counts: Counts, marks: Sequence[str]) -> Counts:
    """Return the rows of each text that is none of `marks`."""
    left_out = {mark for mark in marks if mark in counts}
    return {text: count for text, count in counts.items() if text not in left_out} if left_out else counts


def is_stored(texts: Sequence[str]) -> bool:
    """Return whether the file stores these texts as numbers, which have no notation."""
    return isinstance(texts, (FloatColumn, Fractions))


def draft_label(texts: Sequence[str], prefer: tuple[str, str] | None = None) -> ColumnDraft:
    """Return the proposed interpretation of the label: a number with bounds, or a category of classes.

    At most 12 different whole numbers without a unit are classes, as is any label that is not all numbers.

    Args:
        texts: Text of each cell, none of them empty.
        prefer: See `draft_column`.
    """
    counts = _count_texts(texts)
    numbers = _parse_numbers(counts, prefer)
    rare = _rare_values(counts, len(texts))
    asks = (f"{len(rare)} value(s) with fewer than {_RARE} rows each: classes, or typing errors?",) if rare else ()
    if numbers is None:
        return ColumnDraft("category", {"classes": sorted(counts)}, doubts=(*asks, *_ask_about_twins(counts)))
    if not (numbers.whole and len(counts) <= _MOST_CODES) or numbers.unit:
        return _draft_range(numbers, curve=False)
    amounts = "whole numbers: classes? If they are amounts, write bounds = [lo, hi] in place of classes"
    return ColumnDraft("category", {"classes": numbers.in_order(counts)}, (amounts,) if len(counts) > 2 else (), asks)


def _is_id(name: str, plain: Counts, numbers: _Numbers | None, *, own: bool) -> bool:
    """Return whether the values name records.

    Either each row has its `own` value, as text, consecutive integers or under an id's name, or values are shared under
    an unambiguous name.
    """
    if len(plain) <= _MOST_CATEGORIES and not (own and _ID.search(name)):
        return False
    if numbers is None and own:
        return True
    if numbers is not None and not numbers.whole:
        return False
    nearly = len(plain) >= _NEARLY * sum(plain.values())
    named = (_ID if numbers is not None and nearly else _ID_FOR_SURE).search(name)
    return (
        bool(named or _PERSON.search(name))
        or (own and _are_in_a_row(numbers))
        or (nearly and _have_digits_of_ids(plain))
    )


def _are_in_a_row(numbers: _Numbers | None) -> bool:
    return numbers is not None and float(numbers.values[-1] - numbers.values[0]) == len(numbers.values) - 1


def _have_digits_of_ids(plain: Counts) -> bool:
    """Return whether all texts are digits, many and equally long, like numbers of accounts or telephones."""
    length = len(next(iter(plain)))
    return length >= _DIGITS_OF_ID and _all_hold(plain, lambda text: len(text) == length and text.isdecimal())


def _pair(plain: Counts) -> list[str]:
    """Return the two values, no before yes."""
    lowered = {text.lower(): text for text in plain}
    for no, yes in TRUTHS:
        if set(lowered) == {no, yes}:
            return [lowered[no], lowered[yes]]
    numbers = _parse_numbers(plain)
    return sorted(plain) if numbers is None else numbers.in_order(plain)


def _missing_words(counts: Counts, rows: int) -> list[str]:
    """Return words without a digit among many different numbers, which mark missing values."""
    words = [text for text in counts if text and not _A_DIGIT.search(text)]
    few = 0 < len(words) <= _MOST_WORDS and 5 * sum(counts[word] for word in words) <= rows
    if not few or len(counts) <= _MOST_CODES + len(words) or _rare_values({word: counts[word] for word in words}, rows):
        return []
    return [] if _parse_numbers(_drop_texts(counts, ("", *words))) is None else words


def _all_hold(texts: Counts, holds: Callable[[str], bool]) -> bool:
    few = list(texts)[:_TRIED]
    return all(map(holds, few)) and all(map(holds, texts))


def _parse_numbers(plain: Counts, prefer: tuple[str, str] | None = None) -> _Numbers | None:
    """Return the texts as numbers, in the first notation in which all of them are numbers; None if there is none.

    Args:
        plain: Rows of each text.
        prefer: The marks of other columns of the file, which resolve ambiguous notations.

    A notation is ambiguous if another one reads all cells, or all but a few, and reads some of them differently.
    """
    few, rows = list(plain)[:_TRIED], sum(plain.values())
    every = _PLAIN if prefer == _STORED else _MARKS
    unit = next((mark for mark in SYMBOLS[1:] if any(mark in text for text in few)), "")

    reading = _Readings(list(plain), unit)

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
    return _Numbers(values, counts, *fitting[0], unit, sure, inferred and sure)


class _Readings:
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


def _reads_most(plain: Counts, reading: _Readings, marks: tuple[str, str], rows: int) -> bool:
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


def _draft_number(name: str, numbers: _Numbers, plain: Counts) -> ColumnDraft:
    distinct, rows = len(numbers.values), sum(plain.values())
    if not numbers.whole or distinct > _MOST_CODES or rows < _ROWS_PER_CODE * distinct or numbers.unit:
        found = _draft_range(numbers, curve=True)
        called = f"{name} percent" if numbers.unit == "%" else name
        natural = next((ends for form, ends in _NATURAL if form.search(called)), None)
        if natural is None or not natural[0] <= found.fields["bounds"][0] <= found.fields["bounds"][1] <= natural[1]:
            return found
        fields = {name: value for name, value in found.fields.items() if name != "transform"} | {
            "bounds": list(natural)
        }
        low, high = found.fields["bounds"]
        asks = (_NARROWER,) if 2 * (high - low) < natural[1] - natural[0] else ()
        return replace(found, fields=fields, asks=asks, public="by its name or unit")
    codes = f"{distinct} different whole numbers: codes? If they are amounts or ranks, write bounds = [lo, hi] in place of the list"
    rare = _rare_values(plain, rows)
    listed = numbers.in_order({text: count for text, count in plain.items() if text not in rare})
    return ColumnDraft("category", {"categories": listed, "unknown": "column"}, (codes, *_rare_value_questions(rare)))


def _draft_range(numbers: _Numbers, *, curve: bool) -> ColumnDraft:
    """Return a rounded range of all but the outermost rows.

    It does not single out a person, and outliers do not compress the other values.
    """
    low, middle, high = (_quantile(numbers.values, numbers.rows, share) for share in (_EDGE, 0.5, 1 - _EDGE))
    if not low < high:
        low, high = float(numbers.values[0]), float(numbers.values[-1])
    if not low < high:
        high = low + 1
    lower, upper = _round_outward(low, high)
    tail = curve and lower >= 0 and high - middle > _LONG_TAIL * (middle - low)
    asks = ["a long upper tail: log1p proposed"] if tail else []
    doubts = []
    if numbers.inferred:
        asks.append(
            f"the cells can be read in two ways; {numbers.decimal!r} is the decimal mark in the other columns: here too?"
        )
    if not numbers.sure:
        doubts.append(
            f"is {numbers.decimal!r} the decimal mark and {numbers.thousands!r} the mark of thousands? The cells can be read otherwise"
        )
    fields = {"bounds": [lower, upper], **({"transform": "log1p"} if tail else {}), **numbers.marks}
    return ColumnDraft("number", fields, tuple(asks), tuple(doubts), inferred=numbers.inferred)


def _quantile(values: Floats, rows: NDArray[np.int64], share: float) -> float:
    """Return the first of these ascending values up to which there is more than this share of the rows."""
    seen = rows.cumsum()
    return float(values[min(int(seen.searchsorted(share * int(seen[-1]), side="right")), len(values) - 1)])


def _round_outward(low: float, high: float) -> tuple[float, float]:
    """Return the range rounded outwards to multiples of 1, 2 or 5 times a power of ten, about a tenth of the width."""
    tenth = (high - low) / 10
    if not 1e-300 < tenth < 1e300:
        return low, high
    power = 10.0 ** math.floor(math.log10(tenth))
    step = next(power * factor for factor in (10, 5, 2, 1) if power * factor <= tenth * (1 + 1e-9))
    lower, upper = (float(f"{ends * step:.12g}") for ends in (math.floor(low / step), math.ceil(high / step)))
    return (lower, upper) if lower < upper else (low, high)


def _draft_datetimes(plain: Counts, numbers: _Numbers | None) -> ColumnDraft | None:
    """Return dates or times of day, if all texts are such; else None."""

    def fits(form: str | None) -> bool:
        return _all_hold(plain, lambda text: read_moment(text, form) != NONE)

    if numbers is not None:
        days = numbers.marks == {} and _all_hold(plain, lambda text: len(text) == 8 and "1900" <= text[:4] <= "2100")
        return _draft_dates(plain, ["%Y%m%d"]) if days and fits("%Y%m%d") else None
    fitting = list(filter(fits, _FORMATS))
    if fitting:
        return _draft_dates(plain, fitting)
    if not _all_hold(plain, lambda text: read_moment(text, clock=True) != NONE):
        return None
    hours = sorted(read_moment(text, clock=True) / 3600 for text in plain)
    first, last = math.floor(hours[0]), math.ceil(hours[-1])
    ends = [f"{first:02d}:00", f"{last:02d}:00" if first < last < 24 else "23:59"]
    return ColumnDraft("time", {"times": ends, "cycles": ["day"]})


def _draft_dates(plain: Counts, fitting: Sequence[str | None]) -> ColumnDraft:
    """Return a range of whole months."""
    form = fitting[0]
    counts = Counter[float]()
    for text, count in plain.items():
        counts[read_moment(text, form)] += count
    ordered = sorted(counts.items())
    moments, rows = np.array([at for at, _ in ordered]), np.array([count for _, count in ordered])
    first, last = (_START + timedelta(seconds=_quantile(moments, rows, share)) for share in (_EDGE, 1 - _EDGE))
    after = (last.replace(day=1) + timedelta(days=31)).replace(day=1)
    ends = [first.date().replace(day=1).isoformat(), after.date().isoformat()]
    hours = any(at % DAY for at in counts)
    cycles = [*(["day"] if hours else []), "week", "year"]
    fields = {"dates": ends, **({} if form is None else {"format": form}), "cycles": cycles}
    return ColumnDraft(
        "date", fields, tuple(f"or is it format = {other!r}? The cells can be read so too" for other in fitting[1:])
    )


def _draft_category(counts: Counts, rows: int) -> ColumnDraft:
    most = max(_MOST_CATEGORIES, min(_LARGEST_LIST, rows // _ROWS_PER_CATEGORY))
    rare = _rare_values(counts, rows)
    listed = sorted(set(counts) - set(rare))
    if not 0 < len(listed) <= most or len(rare) > most:
        of_many = _is_of_many(counts, rows)
        if of_many and rows >= _LEAST_TO_HASH:
            return ColumnDraft(
                "hashed", {"hashed": _buckets(rows)}, public="columns by a hash of the value; or give categories"
            )
        if not of_many or len(listed) > most:
            return ColumnDraft("text", {"different": len(counts)})
    return ColumnDraft(
        "category", {"categories": listed, "unknown": "column"}, _rare_value_questions(rare), _ask_about_twins(listed)
    )


def _ask_about_twins(values: Iterable[str]) -> tuple[str, ...]:
    """Ask about values that differ by case or by how their letters are composed alone."""
    alike = sum(count for count in Counter(map(fold_spelling, values)).values() if count > 1)
    return (f"{alike} values read alike but for case or composed letters: one value?",) if alike else ()


def _is_of_many(counts: Counts, rows: int) -> bool:
    """Return whether values repeat so often that they are categories, such as cities, and not free text.

    That is, if most rows have a value that is not rare.
    """
    return 2 * sum(count for count in counts.values() if count >= _RARE) > rows


def _buckets(rows: int) -> int:
    """Return a public number of buckets: a power of two, with at least five hundred rows each."""
    return int(min(2 ** math.floor(math.log2(rows / _ROWS_PER_BUCKET)), _MOST_BUCKETS))


def _rare_values(counts: Counts, rows: int) -> list[str]:
    """Return values of few rows among many, which may identify a person: a draft does not list them."""
    return [text for text, count in counts.items() if count < _RARE] if rows >= _MANY_ROWS else []


def _rare_value_questions(rare: Sequence[str]) -> tuple[str, ...]:
    return (f"{len(rare)} value(s) with fewer than {_RARE} rows each: left to the column for others",) if rare else ()


_START = datetime(1970, 1, 1)

_MOST_CLASSES = 64
_MOST_NAMED = 10  # columns in a message
_SUBJECTS = 0.95  # share of subjects of whom a draft keeps all rows if each adds noise

_WARNING = """\
# DRAFT. The ranges and lists below were read off the data, so they are NOT public knowledge: the largest income in
# a table is some person's income. Ranges are rounded outwards and leave out the outermost rows, which hides the most of
# it and proves nothing. For each entry with from_data = true, ask: is this range or list the data's own? Put in its place
# what was known before anyone saw this table (an age between 0 and 120, the answers a form offers) and take the line
# from_data out. Then set confirmed = true: `init` refuses until a person has, and names the entries still from data.
# A column whose entry is taken out is not read.
"""
_LEFT_OUT = {
    "empty": "every cell is empty",
    "constant": "one value in every row tells nothing",
    "id": "a value of its own for every row, like an id",
    "shared": "an id that several rows share; if it is the person's, give --subject",
}


class Draft(NamedTuple):
    """A proposal made from the rows that have a label.

    Attributes:
        text: TOML with one entry per column of the table; `confirmed = false`, and a question at every range and list.
        left_out: Columns that it does not read.
        shared: Of these, ids of several rows: possibly persons.
        doubts: Possible errors in the cells of a column that is read, each with the column's name.
        named_by: Description of the file's index, if it names the rows.
        inferred: Columns whose decimal mark is that of other columns, because their own cells can be read in two ways.
    """

    text: str
    left_out: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    named_by: str | None = None
    inferred: tuple[str, ...] = ()


def draft_schema(
    table: Table, label: str, id: str | None = None, subject: str | None = None, *, weighed: bool = True
) -> Draft:
    """Return a first schema of the table's rows that have a label, as TOML text with questions; nothing is written.

    Ranges and lists are computed from the data. Without `id` the pandas index names the records, or a column whose
    values are all different is proposed.

    Args:
        table: The table.
        label: Label column.
        id: Id column, if any.
        subject: Column of data subjects, if any; `rows_per_subject` is then proposed.
        weighed: Whether rows will be weighted by person, so that a limit on them costs no noise.

    Raises:
        InvalidSchema: If a named column is missing or has two roles, the label has one value or more than 64 classes,
            or no column is left.
    """
    empty = without_label(table.column(label, "the label"))
    if empty.any():
        table = table.part(np.flatnonzero(~empty).tolist())
    index = table.index
    asked = id
    if id is None and index is not None and not index.problem and not index.is_default:
        id = index.column
    if label in (id, subject):
        raise InvalidSchema(
            f"{table.source}: column {label!r}, the label, would name the records or persons too; name another column with --id COL"
        )
    named = {"id": id, "subject": subject}
    for role, name in named.items():
        if name is not None:
            table.column(name, role)
    prefer = marks_of({name: texts for name, texts in table.columns.items() if name not in (id, subject)})
    labelled = _format_label(table, label, prefer)
    looks = {
        name: draft_column(name, texts, _STORED if is_stored(texts) else prefer)
        for name, texts in table.columns.items()
        if name not in (label, id, subject, *(() if index is None else (index.column, *index.stored)))
    }
    ids = [name for name, look in looks.items() if look.seems == "id"] if id is None else []
    proposed = min(ids, key=lambda name: name.startswith("Unnamed: "), default=None)
    if id is None and proposed is None and index is not None:
        id = named["id"] = index.require(table.source)
    lines = [f"#:schema {JSON_SCHEMA.as_uri()}", _WARNING, "confirmed = false", 'rows = "unit"', "intercept = true"]
    if proposed is not None:
        lines.append(f"id = {_format_text(proposed)}  # ASK: every row has its own value: is it the record's id?")
        del looks[proposed]
    lines += [f"{role} = {_format_text(name)}" for role, name in named.items() if name is not None]
    if subject is not None:
        lines.append(_rows_per_subject(table.columns[subject], weighed))
    lines += ["", "[label]", f"column = {_format_text(label)}", *_format_entry(labelled)]
    columns = {name: _format_column(name, look) for name, look in looks.items()}
    left_out = tuple(name for name, entry in columns.items() if entry[0].startswith("#"))
    if len(left_out) == len(columns):
        why = (
            "; ".join(columns[name][0].removeprefix("# ") for name in left_out[:_MOST_NAMED]) or "the file has no other"
        )
        raise InvalidSchema(
            f"{table.source}: no column is left to tell {label!r} by ({why}); bring one that says something"
        )
    lines += [line for entry in columns.values() for line in ("", *entry)]
    shared = tuple(name for name in left_out if looks[name].seems == "shared")
    doubts = tuple(f"{name}: {doubt}" for name, look in (looks | {label: labelled}).items() for doubt in look.doubts)
    by_index = index is not None and asked is None and id == index.column
    named_by = index.text if index is not None and by_index else None
    inferred = tuple(name for name, look in (looks | {label: labelled}).items() if look.inferred)
    return Draft("\n".join(lines) + "\n", left_out, shared, doubts, named_by, inferred)


def _format_label(table: Table, label: str, prefer: tuple[str, str] | None) -> ColumnDraft:
    texts = table.columns[label]
    look = draft_label(texts, _STORED if is_stored(texts) else prefer)
    different = len(_count_texts(texts))
    if different < 2:
        raise InvalidSchema(
            f"{table.source}, column {label!r}: {len(texts)} row(s) with a label, which is the same in all, so there is nothing to tell apart; name another label, or "
            "bring rows that differ in it"
        )
    if look.seems == "category" and different > _MOST_CLASSES:
        raise InvalidSchema(
            f"{table.source}, column {label!r}: {different} different values, not all numbers; "
            f"a label needs 2 to {_MOST_CLASSES} classes or a range of numbers"
        )
    return look


def _rows_per_subject(texts: Sequence[str], weighed: bool) -> str:
    rows = sorted(Counter(texts).values())
    if weighed:
        most = min(1 << (rows[-1] - 1).bit_length(), MOST_SHARES)
        left = sum(max(number - most, 0) for number in rows)
        return (
            f"rows_per_subject = {most}  # ASK: read off the data, and rounded up to a power of two. How many rows of one person are kept is yours to "
            f"say: each counts less where a person has many; that limit would leave out {left} rows"
        )
    most = rows[min(len(rows) - 1, math.floor(_SUBJECTS * len(rows)))]
    left = int(np.maximum(np.array(rows) - most, 0).sum())
    return (
        f"rows_per_subject = {most}  # ASK: read off the data. How many rows of one person are kept is yours to say: noise grows with it; "
        f"that limit would leave out {left} rows"
    )


def _format_column(name: str, look: ColumnDraft) -> list[str]:
    header = f"[columns.{_format_text(name)}]"
    if look.seems == "text":
        return [
            f'# {header}: {look.fields["different"]} different texts, names or free text: left out (hashed = 32 or text = "words" would read it)'
        ]
    if look.seems in _LEFT_OUT:
        return [f"# {header}: {_LEFT_OUT[look.seems]}, left out"]
    return [header, *_format_entry(look)]


def _format_entry(look: ColumnDraft) -> list[str]:
    """Return keys as lines; the first holds what was computed from the data, preceded by the questions."""
    first, *rest = (f"{key} = {_format_value(value)}" for key, value in look.fields.items())
    what = "list" if look.seems in ("category", "boolean") else "range"
    asks = [f"# ASK: {ask}" for ask in (*look.asks, *look.doubts)]
    if look.public:
        return [*asks, f"{first}  # {look.public}", *rest]
    own = f"from_data = true  # ASK: is this {what} the data's own? Put a public {what} in its place and take this line out"
    return [*asks, first, *rest, own]


def _format_value(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_format_value, value)) + "]"
    if isinstance(value, str):
        return _format_text(value)
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


def _format_text(text: str) -> str:
    # a JSON string is a TOML basic string once characters that TOML forbids or that are not printable are escaped
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(letter if letter.isprintable() else f"\\U{ord(letter):08x}" for letter in quoted)

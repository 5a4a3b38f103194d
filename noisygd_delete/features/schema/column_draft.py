"""Proposed interpretation of a column: id, free text, constant, two values, date, time, number, code, or category.

It reads the data, for the draft of a schema only, which a person reviews. Nothing here is used when rows are made.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cells import Floats
from .fields import MIDDLE
from .notation import Counts, Numbers, all_hold, count_texts, drop_texts, parse_numbers
from .published import DAY, NONE, read_moment
from .spelling import fold_spelling
from .values import EMPTY

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
_A_DIGIT = re.compile(r"\d")
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


def draft_column(name: str, texts: Sequence[str], prefer: tuple[str, str] | None = None) -> ColumnDraft:
    """Return the proposed interpretation of a column: its kind and keys for a schema, or why it is left out.

    Args:
        name: Name of the column, which may indicate an id or a natural range.
        texts: Text of each cell.
        prefer: Marks that settle ambiguous notations, from `marks_of`; None: none.
    """
    counts, rows = count_texts(texts), len(texts)
    marks = sorted({*(mark for mark in (*EMPTY, *_MAYBE_EMPTY) if mark in counts), *_missing_words(counts, rows)})
    plain = drop_texts(counts, ("", *marks))
    gaps = rows - sum(plain.values())
    if not plain:
        return ColumnDraft("empty")
    if len(plain) == 1:
        return _draft_category(counts, rows) if gaps else ColumnDraft("constant")
    if len(plain) == 2:
        return ColumnDraft("boolean", {"boolean": _pair(plain), "unknown": "column" if gaps else "zero"})
    numbers = parse_numbers(plain, prefer)
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


def draft_label(texts: Sequence[str], prefer: tuple[str, str] | None = None) -> ColumnDraft:
    """Return the proposed interpretation of the label: a number with bounds, or a category of classes.

    At most 12 different whole numbers without a unit are classes, as is any label that is not all numbers.

    Args:
        texts: Text of each cell, none of them empty.
        prefer: See `draft_column`.
    """
    counts = count_texts(texts)
    numbers = parse_numbers(counts, prefer)
    rare = _rare_values(counts, len(texts))
    asks = (f"{len(rare)} value(s) with fewer than {_RARE} rows each: classes, or typing errors?",) if rare else ()
    if numbers is None:
        return ColumnDraft("category", {"classes": sorted(counts)}, doubts=(*asks, *_ask_about_twins(counts)))
    if not (numbers.whole and len(counts) <= _MOST_CODES) or numbers.unit:
        return _draft_range(numbers, curve=False)
    amounts = "whole numbers: classes? If they are amounts, write bounds = [lo, hi] in place of classes"
    return ColumnDraft("category", {"classes": numbers.in_order(counts)}, (amounts,) if len(counts) > 2 else (), asks)


def _is_id(name: str, plain: Counts, numbers: Numbers | None, *, own: bool) -> bool:
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


def _are_in_a_row(numbers: Numbers | None) -> bool:
    return numbers is not None and float(numbers.values[-1] - numbers.values[0]) == len(numbers.values) - 1


def _have_digits_of_ids(plain: Counts) -> bool:
    """Return whether all texts are digits, many and equally long, like numbers of accounts or telephones."""
    length = len(next(iter(plain)))
    return length >= _DIGITS_OF_ID and all_hold(plain, lambda text: len(text) == length and text.isdecimal())


def _pair(plain: Counts) -> list[str]:
    """Return the two values, no before yes."""
    lowered = {text.lower(): text for text in plain}
    for no, yes in TRUTHS:
        if set(lowered) == {no, yes}:
            return [lowered[no], lowered[yes]]
    numbers = parse_numbers(plain)
    return sorted(plain) if numbers is None else numbers.in_order(plain)


def _missing_words(counts: Counts, rows: int) -> list[str]:
    """Return words without a digit among many different numbers, which mark missing values."""
    words = [text for text in counts if text and not _A_DIGIT.search(text)]
    few = 0 < len(words) <= _MOST_WORDS and 5 * sum(counts[word] for word in words) <= rows
    if not few or len(counts) <= _MOST_CODES + len(words) or _rare_values({word: counts[word] for word in words}, rows):
        return []
    return [] if parse_numbers(drop_texts(counts, ("", *words))) is None else words


def _draft_number(name: str, numbers: Numbers, plain: Counts) -> ColumnDraft:
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


def _draft_range(numbers: Numbers, *, curve: bool) -> ColumnDraft:
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


def _draft_datetimes(plain: Counts, numbers: Numbers | None) -> ColumnDraft | None:
    """Return dates or times of day, if all texts are such; else None."""

    def fits(form: str | None) -> bool:
        return all_hold(plain, lambda text: read_moment(text, form) != NONE)

    if numbers is not None:
        days = numbers.marks == {} and all_hold(plain, lambda text: len(text) == 8 and "1900" <= text[:4] <= "2100")
        return _draft_dates(plain, ["%Y%m%d"]) if days and fits("%Y%m%d") else None
    fitting = list(filter(fits, _FORMATS))
    if fitting:
        return _draft_dates(plain, fitting)
    if not all_hold(plain, lambda text: read_moment(text, clock=True) != NONE):
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

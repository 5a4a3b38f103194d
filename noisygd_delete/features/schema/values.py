"""Cells of text as numbers and moments; the meaning of a cell depends only on its own text and the schema."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .published import number_reader, read_moment

# --- text ---
#
# The text of one cell, and the number it represents.


Floats = NDArray[np.float64]


def write_text(value: object) -> str:
    """Return the text, stripped, that a text file would contain for a typed value.

    None and NaN give "", bytes are read as UTF-8, and a datetime with a zone is in UTC.

    Raises:
        ValueError: If it is not a single value, or bytes that are not UTF-8.
    """
    if value is None or (isinstance(value, (float, Decimal)) and math.isnan(value)):
        return ""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).decode("utf-8").strip()
    if isinstance(value, datetime) and value.utcoffset() is not None:
        return str(value.astimezone(UTC))  # as databases write it: whose clock it was is not known elsewhere
    nested = isinstance(value, (Mapping, Set)) or (isinstance(value, Sequence) and not isinstance(value, str))
    if nested or (isinstance(value, np.ndarray) and value.ndim):
        raise ValueError("a list or a record in place of one value")
    return str(value).strip()


def read_number(text: str) -> float:
    """Parse `text` by Python's `float`; NaN if it is no number, has an underscore, or is not in ASCII."""
    if "_" in text or not text.isascii():
        return math.nan
    try:
        return float(text)
    except ValueError:
        return math.nan


def fold_spelling(text: str) -> str:
    """Return a text without what its readers do not see: case, and whether a letter is composed (NFC) or not (NFD)."""
    return unicodedata.normalize("NFC", text).casefold()


class Fractions(list[str]):
    """Texts of fractional numbers, which have no unique text: 1.0 may be 1, and 1e+22 a digit and 22 zeros elsewhere.

    They are never used as ids.
    """


class FloatColumn(Sequence[str]):
    """Fractions that a file stores as numbers; their text is made on access, as Python writes them.

    Args:
        values: (rows,) of any width: 0.1 is the text "0.1" in 32 bits and in 64.
        missing: (rows,) True if there is no value: the text is "".
    """

    def __init__(self, values: NDArray[np.floating[Any]], missing: NDArray[np.bool_]) -> None:
        self._values, self.missing = values, missing

    def __len__(self) -> int:
        return len(self._values)

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return self._values.nbytes + self.missing.nbytes

    def __getitem__(self, cell: Any) -> Any:
        if isinstance(cell, slice):
            return [self[place] for place in range(*cell.indices(len(self)))]
        return "" if self.missing[cell] else repr(float(str(self._values[cell])))

    def part(self, rows: slice) -> FloatColumn:
        """Return the cells of a slice, which share memory with these."""
        return FloatColumn(self._values[rows], self.missing[rows])

    def numbers(self) -> Floats:
        """Return (rows,) float64 by the shortest text of each number (32-bit 0.1 is 0.1); NaN for missing ones."""
        narrow = self._values.dtype.itemsize < 8  # converted through their shorter text: 0.1 is 0.1 in every format
        wide = self._values.astype(str).astype(np.float64) if narrow else self._values
        return np.where(self.missing, math.nan, wide)


# --- arrow ---
#
# A column of an Arrow table as text: equal to each cell's text in Python, without creating Python objects.


# the characters that `str.strip` removes: Arrow's white space lacks \x1c to \x1f
SPACES = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029"
    "\u202f\u205f\u3000"
)
# few enough digits that neither overflow nor exceptions occur; other numbers are read cell by cell
_NUMBER = r"\A-?[0-9]{1,40}(\.[0-9]{1,40})?\z"
_LONGEST = 40
_DIGITS = np.isin(np.arange(256), list(b"0123456789.-"))


_MOST_COUNTED = 1 << 17  # different texts of a column whose counts are kept
_MOST_SHORT = 1 << 30  # bytes of an array whose texts have 32-bit offsets


class TextColumn(Sequence[str]):
    """Texts stored by Arrow, stripped of surrounding space.

    Results equal those of Python on the texts themselves: `float`, `str.strip`, a dictionary's look-up.
    """

    _counts: Mapping[str, int] | None = None

    def __init__(self, texts: Any) -> None:
        from pyarrow import compute

        self._texts = compute.utf8_trim(texts, characters=SPACES)

    @classmethod
    def _of(cls, texts: Any) -> TextColumn:
        made = cls.__new__(cls)
        made._texts = texts
        return made

    @classmethod
    def concatenate(cls, parts: Sequence[TextColumn]) -> TextColumn:
        """Return the texts of all parts, in order."""
        import pyarrow

        arrays = [part._texts for part in parts]
        if sum(array.nbytes for array in arrays) > _MOST_SHORT:
            arrays = [array.cast(pyarrow.large_string()) for array in arrays]
        return cls._of(pyarrow.concat_arrays(arrays))

    def select(self, rows: Sequence[int]) -> TextColumn:
        """Return the texts of these rows, in this order."""
        import pyarrow

        return self._of(self._texts.take(pyarrow.array(rows, pyarrow.int64())))

    def part(self, rows: slice) -> TextColumn:
        """Return the texts of a slice, which share memory with these."""
        return self._of(self._texts[rows])

    def counts(self) -> Mapping[str, int]:
        """Return {text: number of rows}, in the order of first rows; cached up to 2^17 different texts."""
        if self._counts is not None:
            return self._counts
        found = self._texts.value_counts()
        counts = dict(zip(found.field("values").to_pylist(), found.field("counts").to_pylist(), strict=True))
        self._counts = counts if len(counts) <= _MOST_COUNTED else None
        return counts

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return int(self._texts.nbytes)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """(rows,) length of each text, in bytes."""
        from pyarrow import compute

        return np.asarray(compute.binary_length(self._texts), np.int64)

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, cell: Any) -> Any:
        return self._texts[cell].to_pylist() if isinstance(cell, slice) else str(self._texts[int(cell)].as_py())

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts.to_pylist())

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # compared like a list

    def numbers(self) -> Floats:
        """Return (rows,) float64, `read_number` of every text; NaN if it is not a number."""
        import pyarrow
        from pyarrow import compute

        if self._has_only_digits():
            with suppress(pyarrow.ArrowInvalid):
                return np.array(self._texts.cast(pyarrow.float64()))
        plain = compute.match_substring_regex(self._texts, _NUMBER)
        values = np.array(compute.if_else(plain, self._texts, "0").cast(pyarrow.float64()))
        for cell in np.flatnonzero(~np.asarray(plain)).tolist():
            values[cell] = read_number(self[cell])
        return values

    def _has_only_digits(self) -> bool:
        """Return whether all texts are short and of digits, points and minus signs, which Arrow parses as `float`."""
        texts, lengths = self._texts, self.lengths
        if texts.null_count or not 0 < lengths.min(initial=_LONGEST + 1) <= lengths.max(initial=0) <= _LONGEST:
            return False
        _, ends, letters = texts.buffers()
        kind = np.int64 if str(texts.type) == "large_string" else np.int32
        at = np.frombuffer(ends, kind)[[texts.offset, texts.offset + len(texts)]]
        return bool(_DIGITS[np.frombuffer(letters, np.uint8)[at[0] : at[1]]].all())

    def positions(self, values: Sequence[str]) -> NDArray[np.intp]:
        """Return (rows,), the index of every text in `values`; len(values) for a text that is not in it."""
        import pyarrow
        from pyarrow import compute

        found = compute.index_in(self._texts, value_set=pyarrow.array(values, self._texts.type))
        return np.asarray(found.fill_null(len(values)), np.intp)


def is_text(kind: Any) -> bool:
    """Return whether an Arrow type holds texts, or bytes that may be text."""
    from pyarrow import types

    return any(of(kind) for of in (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary))


def split_batch(batch: Any, most: int) -> Sequence[Any]:
    """Return an Arrow batch in slices of equally many rows whose texts take about `most` bytes at most.

    The size is computed before texts are expanded: only dictionary-encoded columns are counted.

    Args:
        batch: The record batch.
        most: Bytes.
    """
    from pyarrow import compute, types

    size = 0
    for array in batch.columns:
        if types.is_dictionary(array.type):
            lengths = compute.binary_length(array.dictionary)
            size += compute.sum(lengths.take(array.indices)).as_py() or 0
    pieces = min(-(-size // most) or 1, max(1, batch.num_rows))
    rows = -(-batch.num_rows // pieces)
    return [batch.slice(start, rows) for start in range(0, batch.num_rows, rows or 1)]


def arrow_column(array: Any) -> Sequence[str]:
    """Return the texts of the cells of an Arrow array, stripped; "" for a missing value.

    Texts and integers are read from Arrow's buffers (`TextColumn`), fractions stay numbers until their text is accessed
    (`FloatColumn`), and other types (dates, decimals) are converted cell by cell. Booleans are "True" and "False".

    Raises:
        pyarrow.ArrowException: If bytes are not valid text.
        ValueError: If cells hold more than one value.
    """
    import pyarrow
    from pyarrow import types

    if types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    if types.is_binary(kind) or types.is_large_binary(kind):
        array, kind = array.cast(pyarrow.large_string()), pyarrow.large_string()  # UTF-8, or an exception
    if types.is_floating(kind):
        missing = np.asarray(array.is_null(nan_is_null=not types.is_float16(kind)))
        found = np.asarray(array if types.is_float16(kind) else array.fill_null(0.0)).astype(kind.to_pandas_dtype())
        return FloatColumn(np.where(missing, 0, found).astype(found.dtype), missing | np.isnan(found))
    if types.is_boolean(kind):
        array = pyarrow.array(["False", "True"]).take(array.cast(pyarrow.int8()))
    elif not (types.is_string(kind) or types.is_large_string(kind) or types.is_integer(kind)):
        if types.is_nested(kind):
            raise ValueError("a list or a record in place of one value")
        texts = _cell_texts(array)
        return Fractions(texts) if types.is_decimal(kind) and kind.scale > 0 else texts
    texts = array.cast(pyarrow.large_string()).fill_null("")
    texts.validate(full=True)
    return TextColumn(texts)


BEYOND = "beyond the years 1 to 9999"  # text of a datetime outside Python's range, such as a database's infinity


def _cell_texts(array: Any) -> list[str]:
    """Return the text of every cell.

    A datetime beyond the calendar gets a text that is not a date, so the reader reports its row.
    """
    from pyarrow import types

    moments = types.is_temporal(array.type)
    texts = []
    for cell in array:
        try:
            texts.append(write_text(cell.as_py()))
        except (OverflowError, ValueError):
            if not moments:
                raise
            texts.append(BEYOND)
    return texts


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


# --- spelling ---
#
# Alternative spellings of a listed value: typed values have no unique text, and a model must not depend on which one a
# program chose.
#
# In a pair such as no and yes, each may be written as any word of its truth value (a database writes t, Python True,
# MySQL 1); in a list with numbers, 3 may be written 3.0 or 3.00. Listed texts always match themselves. The rule is one
# regular expression per value, so that every consumer of a model applies the same one: tables here, model.py and the
# graph elsewhere.


_NO, _YES = ("false", "f", "no", "n", "off"), ("true", "t", "yes", "y", "on")
_TRUTH = ((*_NO, "0"), (*_YES, "1"))
_SPELLED = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?")
_MOST = 1000  # values of a list whose numbers are compared as such


@lru_cache(maxsize=256)
def make_spelling_patterns(listed: tuple[str, ...]) -> tuple[str, ...]:
    """Return one regular expression (of Python and of RE2) per listed value, to match a cell's whole stripped text.

    It matches the value, a number with other trailing zeros, or, in a pair of no and yes, any word of that truth value.

    () if every value has one spelling. In lists of more than 1000, and for a number listed twice, trailing zeros do not
    vary.
    """
    numbers = [_number(value) if len(listed) <= _MOST else None for value in listed]
    others = [[] if number is None or numbers.count(number) > 1 else [number] for number in numbers]
    for place, (words, digit) in zip(_pair(listed), ((_NO, "0"), (_YES, "1")), strict=False):
        others[place] += [rf"(?i:{'|'.join(words)})", rf"{digit}(?:\.0*)?"]
    if not any(others):
        return ()
    return tuple("|".join([re.escape(value), *more]) for value, more in zip(listed, others, strict=True))


def place_of(text: str, listed: tuple[str, ...]) -> int:
    """Return the index of the first value whose pattern (`make_spelling_patterns`) matches a stripped text.

    len(listed) if none matches, and always where no value has a second spelling: look for the text itself first.
    """
    for place, spelling in enumerate(make_spelling_patterns(listed)):
        if text and re.fullmatch(spelling, text):
            return place
    return len(listed)


def _pair(listed: Sequence[str]) -> tuple[int, ...]:
    """Return the positions of the no and yes values of a list of two."""
    values = {value.lower(): place for place, value in enumerate(listed) if value}
    found = [[place for value, place in values.items() if value in words] for words in _TRUTH]
    if len(values) != 2 or [len(places) for places in found] != [1, 1]:
        return ()
    return found[0][0], found[1][0]


def _number(value: str) -> str | None:
    """Return the expression of a number's spellings with more or fewer trailing zeros."""
    parts = _SPELLED.fullmatch(value)
    if parts is None:
        return None
    sign, whole, fraction = parts[1], parts[2], (parts[3] or "").rstrip("0")
    return rf"{sign}{whole}\.{fraction}0*" if fraction else rf"{sign}{whole}(?:\.0*)?"

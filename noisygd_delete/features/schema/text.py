"""A column of text as places in one buffer of bytes: read by the million, without an object of Python's per cell.

Every answer is the one that the texts themselves would give: `float`, `str.strip`, a dictionary's look-up. What is written in
an uncommon way (1e5, +3, letters beyond ASCII at an edge) is asked cell by cell.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import UTC, datetime
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from ...records.cells import WORD, gathered, hashed

PAD = 24  # zero bytes that a buffer has before the first cell, and behind the last
Places = NDArray[np.int64]
Floats = NDArray[np.float64]
Words = NDArray[np.uint64]

SPACES = b"\t\n\v\f\r\x1c\x1d\x1e\x1f "  # of ASCII, as `str.strip` has it
_SPACES = np.isin(np.arange(256), np.frombuffer(SPACES, np.uint8))
_LONGEST_RUN = 64  # of spaces that are stripped together
_LONGEST_WORD = 64  # bytes of a category that is looked up together
_DIGITS = 19  # a number below 10^19 fits a word
_ZERO, _LOW, _HIGH = (np.uint64(0x0101010101010101 * byte) for byte in (0x30, 0x0F, 0xF0))
_SIX, _THREE = np.uint64(0x0606060606060606), np.uint64(0x3333333333333333)
_KEPT = np.array([(1 << 64) - (1 << 8 * (8 - held)) if held else 0 for held in range(9)], WORD)  # a word's last bytes
_TENS = 10 ** np.arange(20, dtype=np.uint64)
_EXACT = 1 << 53  # whole numbers up to here are float64
# an x86 long double has 64 bits: its quotient of two exact numbers rounds on to float64's 53 rightly unless it lies half-way
_LONG = np.finfo(np.longdouble).nmant == 63 and np.dtype(np.longdouble).itemsize == 16 and sys.byteorder == "little"
_MOST_PLACES = 27 if _LONG else 22  # 5^27 fits 64 bits, 5^22 fits 53
_POWERS = np.array([np.ldexp(np.longdouble(5**places), places) for places in range(28 if _LONG else 1)])
_HALF_WAY = np.uint64(1 << 10)


class TextColumn(Sequence[str]):
    """Texts buffer[starts[i] : ends[i]], stripped of the space around them.

    dots  where the buffer has any
    bare  there is no space to strip
    """

    def __init__(
        self, buffer: NDArray[np.uint8], starts: Places, ends: Places, dots: Places, *, bare: bool = False
    ) -> None:
        self._buffer, self._raw, self._dots, self._bare = buffer, (starts, ends), dots, bare

    @cached_property
    def _stripped(self) -> tuple[Places, Places]:
        starts, ends = (np.array(places) for places in self._raw)
        if self._bare:
            return starts, ends
        some = np.flatnonzero(starts < ends)
        for _ in range(_LONGEST_RUN):
            first, last = _SPACES[self._buffer[starts[some]]], _SPACES[self._buffer[ends[some] - 1]]
            if not (first.any() or last.any()):
                some = some[:0]
                break
            starts[some] += first
            ends[some] -= last & (starts[some] < ends[some])
            some = some[(first | last) & (starts[some] < ends[some])]
        at_edge = starts < ends
        edges = self._buffer[np.where(at_edge, starts, 0)] | self._buffer[np.where(at_edge, ends - 1, 0)]
        left = edges > 127
        left[some] = True
        for cell in np.flatnonzero(left & at_edge).tolist():
            text = self._buffer[starts[cell] : ends[cell]].tobytes().decode()
            starts[cell] += len(text.encode()) - len(text.lstrip().encode())
            ends[cell] = starts[cell] + len(text.strip().encode())
        return starts, ends

    @property
    def starts(self) -> Places:
        return self._stripped[0]

    @cached_property
    def lengths(self) -> Places:
        return self._stripped[1] - self._stripped[0]

    @property
    def buffer(self) -> NDArray[np.uint8]:
        return self._buffer

    def __len__(self) -> int:
        return len(self._raw[0])

    @overload
    def __getitem__(self, cell: int) -> str: ...
    @overload
    def __getitem__(self, cell: slice) -> list[str]: ...
    def __getitem__(self, cell: int | slice) -> str | list[str]:
        if isinstance(cell, slice):
            return [self[place] for place in range(*cell.indices(len(self)))]
        starts, ends = self._stripped
        return self._buffer[starts[cell] : ends[cell]].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        whole = self._buffer.tobytes()
        for start, end in zip(*(places.tolist() for places in self._stripped), strict=True):
            yield whole[start:end].decode()

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # compared like a list

    def numbers(self) -> Floats:
        """`float` of every text, NaN where it is none."""
        starts, ends = self._stripped
        negative = (self._buffer[starts] == ord("-")) & (starts < ends)
        starts = starts + negative
        dots = self._first_dots(starts, ends)
        whole, fits = _digits(self._buffer, starts, dots)
        decimals = np.maximum(ends - dots - 1, 0)
        fraction, fraction_fits = _digits(self._buffer, ends - decimals, ends)
        count = dots - starts + decimals
        plain = fits & fraction_fits & (count >= 1) & (count <= _DIGITS) & (decimals <= _MOST_PLACES)
        mantissa = whole * _TENS[np.minimum(decimals, _DIGITS)] + fraction
        values, sure = _quotient(mantissa, np.where(plain, decimals, 0))
        values = np.where(negative, -values, values)
        for cell in np.flatnonzero(~(plain & sure)).tolist():
            values[cell] = number(self[cell])
        return values

    def _first_dots(self, starts: Places, ends: Places) -> Places:
        """Where each text has its first dot, or its end."""
        if not len(self._dots):
            return ends
        after: Places = np.append(self._dots, len(self._buffer))[np.searchsorted(self._dots, starts)]
        return np.minimum(after, ends)

    def positions(self, values: Sequence[str]) -> NDArray[np.intp]:
        """The place of every text in the list, or the list's length."""
        other, index = len(values), {value: place for place, value in enumerate(values)}
        written = [value.encode() for value in values]
        words = -(-min(_LONGEST_WORD, max(map(len, written), default=1)) // 8) or 1
        short = [place for place, value in enumerate(written) if len(value) <= 8 * words]
        buffer = np.frombuffer(b"".join([written[place] for place in short] + [bytes(8)]), np.uint8)
        lengths = np.array([len(written[place]) for place in short], np.int64)
        keys = _keys(buffer, np.cumsum(lengths) - lengths, lengths, words)
        hashes = hashed(keys)
        order = np.argsort(hashes)
        cells = _keys(self._buffer, self.starts, self.lengths, words)
        places = np.minimum(np.searchsorted(hashes[order], hashed(cells)), len(order) - 1)
        found = np.full(len(self), other, np.intp)
        if len(order):
            nearest = order[places]
            same = (keys[nearest] == cells).all(axis=1)
            found[same] = np.array(short, np.intp)[nearest[same]]
        alike = len(set(hashes.tolist())) < len(hashes)  # two values of one hash: only one of them is nearest
        unsure = (found == other) if alike else self.lengths > 8 * words
        for cell in np.flatnonzero(unsure).tolist():
            found[cell] = index.get(self[cell], other)
        return found


def text_of(value: object) -> str:
    """The text that a file of text would have for a typed value.

    Raises:
        ValueError: it is no single value, or bytes that are no UTF-8.
    """
    if value is None:
        return ""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).decode("utf-8").strip()
    if isinstance(value, datetime) and value.utcoffset() is not None:
        return str(value.astimezone(UTC))  # as databases write it: whose clock it was is not known elsewhere
    if isinstance(value, (Mapping, Set)) or (isinstance(value, Sequence) and not isinstance(value, str)):
        raise ValueError("a list or a record in place of one value")
    return str(value).strip()


class Fractions(list[str]):
    """Texts of fractional numbers, which have no one text: 1.0 is 1 elsewhere, and 1e+22 a digit and 22 zeros. No id is made of them."""


class FloatColumn(Sequence[str]):
    """Fractions that a file keeps as such: their text is made when somebody asks for it, as Python writes them.

    missing  (rows,) True where there is none: the text is ""
    """

    def __init__(self, values: Floats, missing: NDArray[np.bool_]) -> None:
        self._values, self.missing = values, missing

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def __getitem__(self, cell: int) -> str: ...
    @overload
    def __getitem__(self, cell: slice) -> list[str]: ...
    def __getitem__(self, cell: int | slice) -> str | list[str]:
        if isinstance(cell, slice):
            return [self[place] for place in range(*cell.indices(len(self)))]
        return "" if self.missing[cell] else repr(float(self._values[cell]))

    def numbers(self) -> Floats:
        """The fractions, NaN where one is missing."""
        return np.where(self.missing, math.nan, self._values)


def number(text: str) -> float:
    """`text` as a float, NaN where it is none: in ASCII's digits, without the underscores that Python's own source may have."""
    if "_" in text or not text.isascii():
        return math.nan
    try:
        return float(text)
    except ValueError:
        return math.nan


def _keys(buffer: NDArray[np.uint8], starts: Places, lengths: Places, words: int) -> Words:
    """(texts, words + 1): the text and its length."""
    return np.column_stack([gathered(buffer, starts, lengths, words), lengths.astype(WORD)])


def _digits(buffer: NDArray[np.uint8], starts: Places, ends: Places) -> tuple[Words, NDArray[np.bool_]]:
    """The whole number that the bytes between write, and whether they are nothing but digits, at most `_DIGITS`."""
    everywhere: Words = np.ndarray(len(buffer) - 7, WORD, buffer, strides=(1,))
    lengths = ends - starts
    fits = lengths <= _DIGITS
    value = np.zeros(len(starts), np.uint64)
    for word in range(2, -1, -1):
        if not (lengths > 8 * word).any():
            continue
        kept = _KEPT[np.clip(lengths - 8 * word, 0, 8)]
        eight = (everywhere[np.maximum(ends - 8 * (word + 1), 0)] & kept) | (_ZERO & ~kept)
        fits &= ((eight & _HIGH) | (((eight + _SIX) & _HIGH) >> np.uint64(4))) == _THREE
        value = value * _TENS[8] + _eight_digits(eight)
    return value, fits


def _eight_digits(eight: Words) -> Words:
    """The number that eight bytes of digits write: neighbours are put together two, four and eight at a time."""
    pairs = (eight & _LOW) * np.uint64((10 << 8) + 1) >> np.uint64(8)
    fours = (pairs & np.uint64(0x00FF00FF00FF00FF)) * np.uint64((100 << 16) + 1) >> np.uint64(16)
    return (fours & np.uint64(0x0000FFFF0000FFFF)) * np.uint64((10_000 << 32) + 1) >> np.uint64(32)


def _quotient(mantissa: Words, places: Places) -> tuple[Floats, NDArray[np.bool_]]:
    """mantissa / 10^places, rounded once, and where that is sure."""
    values = mantissa.astype(np.float64) / 10.0 ** np.minimum(places, 22)  # both exact: one rounding
    sure = (places == 0) | ((mantissa < _EXACT) & (places <= 22))
    hard = np.flatnonzero(~sure)
    if len(hard) and _LONG:
        quotients = mantissa[hard].astype(np.longdouble) / _POWERS[places[hard]]
        values[hard] = quotients.astype(np.float64)
        bits = quotients.view(np.uint64)[::2]
        sure[hard] = bits & np.uint64(2**11 - 1) != _HALF_WAY
    return values, sure

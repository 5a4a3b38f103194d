"""What one cell's text is, and which number it writes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from datetime import UTC, datetime
from decimal import Decimal
from typing import overload

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def write_text(value: object) -> str:
    """The text that a file of text would have for a typed value.

    Raises:
        ValueError: it is no single value, or bytes that are no UTF-8.
    """
    if value is None or (isinstance(value, (float, Decimal)) and math.isnan(value)):
        return ""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).decode("utf-8").strip()
    if isinstance(value, datetime) and value.utcoffset() is not None:
        return str(value.astimezone(UTC))  # as databases write it: whose clock it was is not known elsewhere
    if isinstance(value, (Mapping, Set)) or (isinstance(value, Sequence) and not isinstance(value, str)):
        raise ValueError("a list or a record in place of one value")
    return str(value).strip()


def read_number(text: str) -> float:
    """`text` as a float, NaN where it is none: in ASCII's digits, without the underscores that Python's own source may have."""
    if "_" in text or not text.isascii():
        return math.nan
    try:
        return float(text)
    except ValueError:
        return math.nan


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

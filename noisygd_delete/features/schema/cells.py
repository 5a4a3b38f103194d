"""The text of one cell, and the number it represents; fractions that a file stores as numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

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

    @classmethod
    def concatenate(cls, parts: Sequence[FloatColumn]) -> FloatColumn:
        """Return the cells of all parts, of one width, in order."""
        values, missing = ([getattr(part, name) for part in parts] for name in ("_values", "missing"))
        return cls(np.concatenate(values), np.concatenate(missing))

    def numbers(self) -> Floats:
        """Return (rows,) float64 by the shortest text of each number (32-bit 0.1 is 0.1); NaN for missing ones."""
        narrow = self._values.dtype.itemsize < 8  # converted through their shorter text: 0.1 is 0.1 in every format
        wide = self._values.astype(str).astype(np.float64) if narrow else self._values
        return np.where(self.missing, math.nan, wide)

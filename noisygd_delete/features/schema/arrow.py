"""A column of an Arrow table as text: what each cell would read as in Python, without making it an object of Python's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from .text import FloatColumn, Floats, Fractions, read_number, write_text

# what `str.strip` takes off: Arrow's own idea of white space lacks \x1c to \x1f
SPACES = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029"
    "\u202f\u205f\u3000"
)
# of digits so few that neither an overflow nor an exception can come of them; whatever else is a number is read cell by cell
_NUMBER = r"\A-?[0-9]{1,40}(\.[0-9]{1,40})?\z"


class TextColumn(Sequence[str]):
    """Texts that Arrow holds, stripped of the space around them. Every answer is the one that the texts themselves would give:
    `float`, `str.strip`, a dictionary's look-up.
    """

    def __init__(self, texts: Any) -> None:
        from pyarrow import compute

        self._texts = compute.utf8_trim(texts, characters=SPACES)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """(rows,) of each text, in bytes."""
        from pyarrow import compute

        return np.asarray(compute.binary_length(self._texts), np.int64)

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, cell: int) -> str: ...
    @overload
    def __getitem__(self, cell: slice) -> list[str]: ...
    def __getitem__(self, cell: int | slice) -> str | list[str]:
        return self._texts[cell].to_pylist() if isinstance(cell, slice) else str(self._texts[int(cell)].as_py())

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts.to_pylist())

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # compared like a list

    def numbers(self) -> Floats:
        """`float` of every text, NaN where it is none."""
        import pyarrow
        from pyarrow import compute

        plain = compute.match_substring_regex(self._texts, _NUMBER)
        values = np.array(compute.if_else(plain, self._texts, "0").cast(pyarrow.float64()))
        for cell in np.flatnonzero(~np.asarray(plain)).tolist():
            values[cell] = read_number(self[cell])
        return values

    def positions(self, values: Sequence[str]) -> NDArray[np.intp]:
        """The place of every text in the list, or the list's length."""
        import pyarrow
        from pyarrow import compute

        found = compute.index_in(self._texts, value_set=pyarrow.array(values, self._texts.type))
        return np.asarray(found.fill_null(len(values)), np.intp)


def is_text(kind: Any) -> bool:
    """Whether a column of this type holds texts, or bytes that may be some."""
    from pyarrow import types

    return any(of(kind) for of in (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary))


def split_batch(batch: Any, most: int) -> Sequence[Any]:
    """The batch in pieces whose texts take about `most` bytes at most, told before any is written out: texts may come as numbers of a list."""
    from pyarrow import compute, types

    size = 0
    for array in batch.columns:
        if types.is_dictionary(array.type):
            lengths = compute.binary_length(array.dictionary)
            size += compute.sum(lengths.take(array.indices)).as_py() or 0
    pieces = min(-(-size // most) or 1, max(1, batch.num_rows))
    rows = -(-batch.num_rows // pieces)
    return [batch.slice(start, rows) for start in range(0, batch.num_rows, rows or 1)]


def column(array: Any) -> Sequence[str]:
    """The texts of a column's cells, stripped; "" where a value is missing.

    Texts and whole numbers are taken from Arrow's own buffers, fractions stay numbers until somebody asks for their text, and anything
    else (dates, decimals) goes cell by cell.

    Raises:
        pyarrow.ArrowException: text that is none. ValueError: cells of more than one value.
    """
    import pyarrow
    from pyarrow import types

    if types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    if types.is_binary(kind) or types.is_large_binary(kind):
        array, kind = array.cast(pyarrow.large_string()), pyarrow.large_string()  # UTF-8, or an exception
    if types.is_float64(kind) or types.is_float32(kind):
        missing = np.asarray(array.is_null(nan_is_null=True))
        return FloatColumn(np.asarray(array.fill_null(0.0), np.float64), missing)
    if types.is_boolean(kind):
        array = pyarrow.array(["False", "True"]).take(array.cast(pyarrow.int8()))
    elif not (types.is_string(kind) or types.is_large_string(kind) or types.is_integer(kind)):
        if types.is_nested(kind):
            raise ValueError("a list or a record in place of one value")
        texts = list(map(write_text, array.to_pylist()))
        return Fractions(texts) if types.is_floating(kind) or (types.is_decimal(kind) and kind.scale > 0) else texts
    texts = array.cast(pyarrow.large_string()).fill_null("")
    texts.validate(full=True)
    return TextColumn(texts)

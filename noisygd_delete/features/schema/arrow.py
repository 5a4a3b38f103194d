"""Columns of an Arrow table as text: equal to each cell's text in Python, without creating Python objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cells import FloatColumn, Floats, Fractions, read_number, write_text

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

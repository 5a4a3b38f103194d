"""A column of an Arrow table as text, by its buffers: what each cell would read as in Python, without making it one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .text import PAD, FloatColumn, Fractions, TextColumn, text_of

_DOT = ord(".")


def is_text(kind: Any) -> bool:
    """Whether a column of this type holds texts, or bytes that may be some."""
    from pyarrow import types

    return any(of(kind) for of in (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary))


def held(batch: Any, most: int) -> Sequence[Any]:
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
        missing = np.asarray(array.is_null())
        return FloatColumn(np.asarray(array.fill_null(0.0), np.float64), missing)
    if types.is_boolean(kind):
        array = pyarrow.array(["False", "True"]).take(array.cast(pyarrow.int8()))
    elif not (types.is_string(kind) or types.is_large_string(kind) or types.is_integer(kind)):
        if types.is_nested(kind):
            raise ValueError("a list or a record in place of one value")
        texts = list(map(text_of, array.to_pylist()))
        return Fractions(texts) if types.is_floating(kind) or (types.is_decimal(kind) and kind.scale > 0) else texts
    texts = array.cast(pyarrow.large_string()).fill_null("")
    texts.validate(full=True)
    _, offsets, data = texts.buffers()
    places = (
        np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
        if len(texts)
        else np.zeros(1, np.int64)
    )
    held = b"" if data is None else memoryview(data)[int(places[0]) : int(places[-1])]
    buffer = np.frombuffer(b"".join([bytes(PAD), held, bytes(PAD)]), np.uint8)
    places = places - places[0] + PAD
    return TextColumn(buffer, places[:-1], places[1:], np.flatnonzero(buffer == _DOT))

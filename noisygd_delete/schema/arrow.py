"""A column of an Arrow table as text, by its buffers: what each cell would read as in Python, without making it one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .text import PAD, FloatColumn, TextColumn

_DOT = ord(".")


def column(array: Any) -> Sequence[str]:
    """The texts of a column's cells, stripped; "" where a value is missing.

    Texts and whole numbers are taken from Arrow's own buffers, fractions stay numbers until somebody asks for their text, and anything
    else (dates, decimals) goes cell by cell.

    Raises:
        pyarrow.ArrowException: text that is none.
    """
    import pyarrow
    from pyarrow import types

    if types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    if types.is_float64(kind) or types.is_float32(kind):
        missing = np.asarray(array.is_null())
        return FloatColumn(np.asarray(array.fill_null(0.0), np.float64), missing)
    if types.is_boolean(kind):
        array = pyarrow.array(["False", "True"]).take(array.cast(pyarrow.int8()))
    elif not (types.is_string(kind) or types.is_large_string(kind) or types.is_integer(kind)):
        return ["" if value is None else str(value).strip() for value in array.to_pylist()]
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

"""Byte strings under which a file may hold an embedding vector: little-endian float16, float32 and float64."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisygd_delete.errors import InvalidParameter
from noisygd_delete.records import limited_io

SHORTEST = 4  # numbers; a shorter vector would be found by chance
_PRECISIONS = ("<f2", "<f4", "<f8")


def read_vectors(path: str) -> NDArray[np.float64]:
    """Return the vectors of a .npy file, one a row.

    Raises:
        InvalidParameter: If the file is not an array of floating-point numbers with one or two axes.
    """
    try:
        array = np.load(io.BytesIO(limited_io.read_file(path, limited_io.LIST)))
    except (ValueError, EOFError, OSError, MemoryError) as error:  # a header may claim any size
        raise InvalidParameter(f"{path}: not a .npy file; write the vectors with numpy.save") from error
    if not isinstance(array, np.ndarray) or array.dtype.kind != "f" or array.ndim not in (1, 2):
        raise InvalidParameter(f"{path}: not floating-point vectors, one a row; write them with numpy.save")
    return np.atleast_2d(array).astype(np.float64)


def encode_vectors(vectors: NDArray[Any]) -> list[set[bytes]]:
    """Return for each vector the byte strings to search for.

    A vector is stored in the precision in which it was computed, in a lower one, or in a lower one and then widened.

    Args:
        vectors: Array of shape (vectors, dimension).

    Raises:
        InvalidParameter: If a vector has fewer than 4 numbers, is constant, or contains a NaN or an infinity.
    """
    vectors = np.asarray(vectors, dtype=np.float64)
    if vectors.ndim != 2 or (len(vectors) and vectors.shape[1] < SHORTEST):
        raise InvalidParameter(f"vectors need one row each, of at least {SHORTEST} numbers")
    usable = np.isfinite(vectors).all(axis=1) & (vectors != vectors[:, :1]).any(axis=1) if len(vectors) else np.ones(0)
    if not usable.all():
        row = int(np.argmin(usable))
        raise InvalidParameter(f"vector {row + 1}: constant or not finite, so it identifies nobody; leave it out")
    return [set(_encode(vector)) for vector in vectors]


def _encode(vector: NDArray[np.float64]) -> Iterator[bytes]:
    for computed in _PRECISIONS:
        with np.errstate(over="ignore", under="ignore"):
            rounded = vector.astype(computed)
        if not np.isfinite(rounded).all() or (rounded == rounded[0]).all():
            continue  # out of range at this precision
        yield from (rounded.astype(stored).tobytes() for stored in _PRECISIONS if stored >= computed)


def column_bytes(column: Any) -> Iterator[bytes]:
    """Yield the numbers of the lists of floats in a PyArrow column, as consecutive little-endian bytes."""
    from pyarrow import types

    if types.is_struct(column.type):
        for part in column.flatten():
            yield from column_bytes(part)
        return
    nested = False
    while types.is_list(column.type) or types.is_large_list(column.type) or types.is_fixed_size_list(column.type):
        column, nested = column.flatten(), True
    if nested and types.is_floating(column.type):
        numbers = column.to_numpy(zero_copy_only=False)
        yield numbers.astype(numbers.dtype.newbyteorder("<"), copy=False).tobytes()

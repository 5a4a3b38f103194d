"""Raw rows, dense or sparse, brought to the table's: what is made on the way stays small.

Sparse rows stay sparse where 0 is the middle of every column's bounds. Elsewhere a value that is 0 becomes another, the table is dense,
and sparse raw rows are read a block at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidRecords
from ..records.records import check_size
from .scaling import RowScaling

_CELLS = 1 << 20  # numbers of a dense block: 8 MiB


def blocks(features: Any) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Dense blocks of raw rows (an array, or sparse in CSR), each with its place."""
    rows, columns = features.shape
    most = max(1, _CELLS // max(1, columns))
    for start in range(0, rows, most):
        part = slice(start, min(start + most, rows))
        block = features[part]
        yield part, block.toarray() if hasattr(block, "toarray") else np.asarray(block)


def count_clipped(features: Any, scaling: RowScaling) -> NDArray[np.int64]:
    """(features,): values of each column of raw rows beyond their bounds."""
    if stays_sparse(features, scaling):
        beyond = np.abs(features.data) > scaling.high[features.indices]
        return np.bincount(features.indices[beyond], minlength=features.shape[1])
    counts = np.zeros(features.shape[1], np.int64)
    for _, block in blocks(features):
        counts += ((block < scaling.low) | (block > scaling.high)).sum(axis=0)
    return counts


def scaled_table(features: Any, scaling: RowScaling, slots: int) -> Any:
    """(rows, columns): in the float32 of the table, or as a csr_array of sparse rows that stay sparse.

    Raises:
        InvalidRecords: a dense table of so many slots does not fit into this machine's memory; nothing was made.
    """
    if stays_sparse(features, scaling):
        return scaling.sparse_rows(features)
    try:
        check_size(slots, scaling.columns)
    except InvalidRecords as error:
        if not hasattr(features, "tocsr"):
            raise
        raise InvalidRecords(
            f"{error}. Sparse rows are written out here because 0 is not the middle of every column's bounds; with feature_bounds=(-b, b) "
            "they stay sparse"
        ) from error
    table = np.empty((features.shape[0], scaling.columns), np.float32)
    for part, block in blocks(features):
        table[part] = scaling.rows(block)
    return table


def per_row(features: Any, scaling: RowScaling, of: Callable[[Any], NDArray[np.float64]]) -> NDArray[np.float64]:
    """What `of` says of the scaled rows: all at once where they stay sparse, else a block at a time."""
    if stays_sparse(features, scaling):
        return of(scaling.sparse_rows(features))
    return np.concatenate([of(scaling.rows(block)) for _, block in blocks(features)])


def stays_sparse(features: Any, scaling: RowScaling) -> bool:
    """Whether these raw rows are sparse and their scaling keeps them so."""
    return hasattr(features, "tocsr") and scaling.keeps_zeros

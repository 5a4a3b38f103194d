"""Raw rows, dense or sparse, a block at a time: what is made on the way to the table stays small."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


def scaled_table(features: Any, scaling: RowScaling, slots: int) -> NDArray[np.float32]:
    """(rows, columns) in the float32 of the table. The table itself is dense: a value that is 0 is seldom the middle of its bounds.

    Raises:
        InvalidRecords: a table of so many slots does not fit into this machine's memory; nothing was made.
    """
    check_size(slots, scaling.columns)
    table = np.empty((features.shape[0], scaling.columns), np.float32)
    for part, block in blocks(features):
        table[part] = scaling.rows(block)
    return table

"""Raw rows of numbers -> rows of norm at most R by public bounds, record by record; nothing is fitted.

Intermediate results stay small.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from ..errors import InvalidParameter, InvalidRecords, check_positive
from ..records.records import check_size

Array = NDArray[np.float64]
_CELLS = 1 << 20  # numbers of a dense block: 8 MiB


def public_bounds(name: str, bounds: Any, columns: list[Any]) -> tuple[Array, Array]:
    """Return (low, high), each (columns,), from a pair of numbers, a pair of sequences, or {column: (low, high)}.

    Raises:
        InvalidParameter: If bounds are missing, not finite, or not low < high. Bounds computed from the data would leak
            it.
    """
    if bounds is None:
        raise InvalidParameter(
            f"{name}=None must be given as (low, high), per column or for all: the range a value can take, from "
            "knowledge outside the data (a data sheet, a form, the law). Bounds read off the data would reveal extreme records"
        )
    if isinstance(bounds, Mapping):
        if set(bounds) != set(columns):
            lacking = sorted(str(column) for column in columns if column not in bounds)
            unknown = sorted(str(column) for column in bounds if column not in columns)
            raise InvalidParameter(
                f"{name} names the columns of the data: bounds are missing for {lacking or 'none'}, and "
                f"{unknown or 'none'} are not in the data"
            )
        bounds = tuple(zip(*(bounds[column] for column in columns), strict=True))
    try:
        low, high = (np.broadcast_to(np.asarray(side, dtype=np.float64), (len(columns),)) for side in bounds)
    except (TypeError, ValueError) as error:
        raise InvalidParameter(
            f"must be (low, high): two numbers, or two sequences of {len(columns)} numbers", **{name: bounds}
        ) from error
    if not (np.isfinite(low).all() and np.isfinite(high).all() and (low < high).all()):
        raise InvalidParameter("must be finite with low < high in every column", **{name: bounds})
    return low, high


@dataclass(frozen=True)
class RowScaling:
    """Scaling of one record to one row.

    Each value is clipped to its public bounds and mapped to [−1, 1]; a constant column 1 is appended for the intercept;
    then the row is brought to norm at most `radius`:

    "unit"    divided by its own norm (signs of scores are those of the unscaled row: for classification)
    "bounds"  divided by √columns, which keeps the model linear in the features (for regression)
    a number  the radius; longer rows are shortened to it
    """

    low: Array
    high: Array
    row_norm: str | float
    intercept: bool

    def __post_init__(self) -> None:
        if self.row_norm not in ("unit", "bounds"):
            check_positive("row_norm ('unit', 'bounds' or a number)", self.row_norm)

    @property
    def radius(self) -> float:
        """Largest norm of a scaled row, R of the loss's constants: `row_norm` if it is a number, else 1."""
        return float(self.row_norm) if not isinstance(self.row_norm, str) else 1.0

    @property
    def columns(self) -> int:
        """Columns of a row, the constant one included."""
        return len(self.low) + int(self.intercept)

    @property
    def keeps_zeros(self) -> bool:
        """Whether 0 is the middle of every column's bounds, so that zeros stay zeros."""
        return bool((self.low == -self.high).all())

    def sparse_rows(self, features: Any) -> Any:
        """Return `rows` of a csr_array of raw rows, as a csr_array; requires `keeps_zeros`."""
        raw = csr_array(features, dtype=np.float64, copy=True)
        raw.sum_duplicates()  # the sum of duplicates is clipped
        low, half = self.low[raw.indices], ((self.high - self.low) / 2)[raw.indices]
        raw.data = (np.clip(raw.data, low, -low) - low) / half - 1
        if self.intercept:
            raw = csr_array(hstack([raw, csr_array(np.ones((raw.shape[0], 1)))], format="csr"))
        if self.row_norm == "bounds":
            return raw / np.sqrt(self.columns)
        norms = np.sqrt((raw * raw).sum(axis=1))
        if self.row_norm == "unit":
            divisors = np.where(norms > 0, norms, 1.0)
        else:
            divisors = np.maximum(norms, self.radius) / self.radius
        raw.data /= np.repeat(divisors, np.diff(raw.indptr))
        return raw

    def rows(self, features: Array) -> Array:
        """Return (records, columns) rows from raw (records, features)."""
        half = (self.high - self.low) / 2
        scaled = (np.clip(features, self.low, self.high) - self.low) / half - 1
        if self.intercept:
            scaled = np.column_stack([scaled, np.ones(len(scaled))])
        if self.row_norm == "bounds":
            return np.asarray(scaled / np.sqrt(self.columns))
        norms = np.linalg.norm(scaled, axis=1, keepdims=True)
        if self.row_norm == "unit":
            return np.asarray(scaled / np.where(norms > 0, norms, 1.0))
        return np.asarray(scaled * np.minimum(1.0, self.radius / np.maximum(norms, self.radius)))

    @property
    def divisor(self) -> float | None:
        """Divisor of every row; None if it depends on the row."""
        if self.row_norm == "bounds":
            return math.sqrt(self.columns)
        if self.row_norm == "unit" or float(self.row_norm) < math.sqrt(self.columns):
            return None
        return 1.0  # no row is longer than the radius

    def in_raw_features(self, weights: Array) -> tuple[Array, Array]:
        """Return coefficients (outputs, features) and constants (outputs,) for raw features within their bounds.

        Args:
            weights: (outputs, columns), for scaled rows.

        Raises:
            AttributeError: If rows are divided by their own norm, so that scores are not linear in the features.
        """
        divisor = self.divisor
        if divisor is None:
            raise AttributeError(
                f"row_norm={self.row_norm!r} divides a row by its own norm, so scores are not linear in the features and have no "
                "coefficients; fit with row_norm='bounds', which keeps them linear, or use model_.weights (of scaled rows)"
            )
        half, features = (self.high - self.low) / 2, len(self.low)
        inner = weights[:, :features] / divisor
        constants = -(inner * (self.low / half + 1)).sum(axis=1)
        if self.intercept:
            constants = constants + weights[:, features] / divisor
        return inner / half, constants

    def stays_sparse(self, features: Any) -> bool:
        """Return whether these raw rows are sparse and their zeros stay zeros."""
        return hasattr(features, "tocsr") and self.keeps_zeros

    def count_clipped(self, features: Any) -> NDArray[np.int64]:
        """Return (features,), the number of values of each column beyond its bounds."""
        if self.stays_sparse(features):
            beyond = np.abs(features.data) > self.high[features.indices]
            return np.bincount(features.indices[beyond], minlength=features.shape[1])
        counts = np.zeros(features.shape[1], np.int64)
        for _, block in _row_blocks(features):
            counts += ((block < self.low) | (block > self.high)).sum(axis=0)
        return counts

    def table(self, features: Any, slots: int) -> Any:
        """Return (rows, columns) as float32, or as a csr_array if sparse rows stay sparse.

        Args:
            features: Raw rows.
            slots: Dataset size of the table, for the memory check.

        Raises:
            InvalidRecords: If a dense table of `slots` rows does not fit into memory; nothing is allocated.
        """
        if self.stays_sparse(features):
            return self.sparse_rows(features)
        try:
            check_size(slots, self.columns)
        except InvalidRecords as error:
            if not hasattr(features, "tocsr"):
                raise
            raise InvalidRecords(
                f"{error}. Sparse rows are written out here because 0 is not the middle of every column's bounds; with feature_bounds=(-b, b) "
                "they stay sparse"
            ) from error
        table = np.empty((features.shape[0], self.columns), np.float32)
        for part, block in _row_blocks(features):
            table[part] = self.rows(block)
        return table

    def per_row(self, features: Any, of: Callable[[Any], Array]) -> Array:
        """Return `of` of the scaled rows: all at once if they stay sparse, else in blocks."""
        if self.stays_sparse(features):
            return of(self.sparse_rows(features))
        return np.concatenate([of(self.rows(block)) for _, block in _row_blocks(features)])


def _row_blocks(features: Any) -> Iterator[tuple[slice, Array]]:
    """Yield dense blocks of raw rows (an array, or sparse CSR) with their slices."""
    rows, columns = features.shape
    most = max(1, _CELLS // max(1, columns))
    for start in range(0, rows, most):
        part = slice(start, min(start + most, rows))
        block = features[part]
        yield part, block.toarray() if hasattr(block, "toarray") else np.asarray(block)

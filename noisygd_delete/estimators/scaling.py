"""Raw rows -> rows of norm at most R by public bounds, record by record. Nothing is ever fitted to data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidParameter, positive

Array = NDArray[np.float64]


def public_bounds(name: str, bounds: Any, columns: list[Any]) -> tuple[Array, Array]:
    """(low, high), one per column, from a pair of numbers, a pair of sequences, or {column: (low, high)}.

    Raises:
        InvalidParameter: bounds are missing, not finite, or not low < high; read off the data they would leak it.
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
    """One record in, one row out.

    Each value is clipped to its public bounds and mapped to [−1, 1]; a constant column 1 is appended for the intercept;
    then the row is brought to norm at most `radius`:

    "unit"    divided by its own norm (signs of scores are those of the unscaled row: made for classification)
    "bounds"  divided by √columns, which keeps the model linear in the features (made for regression)
    a number  rows longer than it are shortened to it; it is the radius
    """

    low: Array
    high: Array
    row_norm: str | float
    intercept: bool

    def __post_init__(self) -> None:
        if self.row_norm not in ("unit", "bounds"):
            positive("row_norm ('unit', 'bounds' or a number)", self.row_norm)

    @property
    def radius(self) -> float:
        """R of the loss's constants."""
        return float(self.row_norm) if not isinstance(self.row_norm, str) else 1.0

    @property
    def columns(self) -> int:
        """Columns of a row, the constant one included."""
        return len(self.low) + int(self.intercept)

    @property
    def keeps_zeros(self) -> bool:
        """Whether 0 is the middle of every column's bounds, so that a value that is 0 stays 0."""
        return bool((self.low == -self.high).all())

    def sparse_rows(self, features: Any) -> Any:
        """`rows` of a csr_array of raw rows, as a csr_array; where zeros are kept."""
        from scipy.sparse import csr_array, hstack

        raw = csr_array(features, dtype=np.float64, copy=True)
        raw.sum_duplicates()  # what is clipped is their sum
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
        """(records, columns) from raw (records, features)."""
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
        """What every row is divided by, where that is one number; None where it depends on the row."""
        if self.row_norm == "bounds":
            return math.sqrt(self.columns)
        if self.row_norm == "unit" or float(self.row_norm) < math.sqrt(self.columns):
            return None
        return 1.0  # no row is ever so long that it is shortened

    def in_raw_features(self, weights: Array) -> tuple[Array, Array]:
        """(coefficients (outputs, features), constants (outputs,)): scores are linear in raw features within their bounds.

        Args:
            weights: (outputs, columns), of scaled rows.

        Raises:
            AttributeError: rows are divided by their own norm, so the scores are not linear in the features.
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

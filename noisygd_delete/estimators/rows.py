"""Rows from raw records by public facts only: a map, or column descriptions of a DataFrame.

Intermediate results stay small.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack
from sklearn.base import BaseEstimator, TransformerMixin

from ..errors import InvalidParameter, InvalidRecords, UnreadableRows, check_choice, check_positive
from ..features.maps import Additive, PublicMap, Shapes
from ..features.maps.shapes import score_unit
from ..features.schema import Schema, Table
from ..features.schema.files import refuse_header
from ..features.schema.shapes import named_shapes
from ..features.schema.values import BEYOND, FloatColumn, write_text
from ..records import CodedRows, Id
from ..records.records import check_size

# --- scaling ---
#
# Raw rows -> rows of norm at most R by public bounds, record by record. Nothing is fitted to data.


Array = NDArray[np.float64]


def public_bounds(name: str, bounds: Any, columns: list[Any]) -> tuple[Array, Array]:
    """Return (low, high), each (columns,), from a pair of numbers, a pair of sequences, or {column: (low, high)}.

    Args:
        name: Name of the parameter for messages.
        bounds: The bounds.
        columns: Names of the columns.

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


class MappedRows(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Transformer from raw records to the map's rows of norm at most 1, constant column included. Nothing is fitted.

    Args:
        map: A `maps.PublicMap`, chosen before the records were read.
    """

    def __init__(self, map: PublicMap) -> None:
        self.map = map

    def fit(self, X: Any, y: Any = None) -> Self:
        """Return self; the map is fixed beforehand."""
        return self

    def transform(self, X: Any) -> Any:
        """Return (records, width + 1) float32 rows; a csr_array for an additive map."""
        if isinstance(self.map, Additive):
            return self.map.sparse_rows(np.asarray(X))
        return self.map.rows(list(X) if self.map.inputs is None else np.asarray(X))

    def shapes(self, weights: Any, noise: float, classes: Any) -> Shapes:
        """Return the contribution of each column to the score of a head with these weights, by column number."""
        assert isinstance(self.map, Additive)
        return Shapes.of(self.map, weights, noise=noise, unit=score_unit(classes))

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.string = tags.input_tags.two_d_array = True
        return tags


class TableRows(MappedRows):
    """Transformer from a DataFrame of numbers and categories to rows of norm at most 1. Nothing is fitted.

    Args:
        columns: Public description of each column to read, as in a schema: {"age": {"bounds": [0, 120]}, "town":
            {"categories": ["a", "b"]}}. See docs/schema.md for all keys.
        kind: "additive", a curve for each column (`maps.Additive`), or "columns", the columns themselves.
        levels: Levels of bins of a curve.
    """

    def __init__(self, columns: Mapping[str, Mapping[str, Any]], kind: str = "additive", levels: int = 7) -> None:
        self.columns = columns
        self.kind = kind
        self.levels = levels

    @property
    def schema(self) -> Schema:
        """The schema of the declared columns."""
        fields: dict[str, Any] = {"label": {"column": "(label)", "classes": ["no", "yes"]}, "columns": self.columns}
        schema = Schema.from_dict({**fields, "rows": "unit", "intercept": True, "confirmed": True}, "columns")
        curves = check_choice("kind", self.kind, ("additive", "columns")) == "additive"
        return schema.additive(levels=self.levels) if curves else schema

    @property
    def map(self) -> PublicMap | None:  # type: ignore[override]
        """The public map of the schema; None if columns are read unchanged."""
        return self.schema.map

    def transform(self, X: Any) -> Any:
        """Return (records, width + 1) float32 rows; a csr_array for an additive map."""
        if not hasattr(X, "columns"):
            raise InvalidRecords("give a DataFrame, whose columns have names")
        schema = self.schema
        missing = [name for name in schema.columns if name not in X.columns]
        if missing:
            raise InvalidRecords(
                f"the table has no column {missing[0]!r}; it has {', '.join(str(name) for name in X.columns)}"
            )
        table = Table("the table", {name: _texts(X[name], name) for name in schema.columns}, range(len(X)))
        refuse_header(table)
        try:
            rows = schema.encode(table, labelled=False, coded=True).rows
        except UnreadableRows as error:
            raise _in_frame(error, X, table) from error
        if isinstance(rows, CodedRows):
            return rows.sparse().part(0, len(rows)).copy()
        return rows if schema.map is None else csr_array(rows)

    def shapes(self, weights: Any, noise: float, classes: Any) -> Shapes:
        """Return the contribution of each column to the score of a head with these weights, in the column's unit."""
        return named_shapes(self.schema, weights, noise=noise, unit=score_unit(classes))


def _in_frame(error: UnreadableRows, X: Any, table: Table) -> InvalidRecords:
    """Return the error in DataFrame terms: the index of the first rows, and how to declare missing cells."""
    names = [X.index[row] for row in error.rows[:_NAMED_ROWS]]
    where = f"column {error.column!r}, {len(error.rows)} row(s) (index {', '.join(map(repr, names))}{', …' * (len(error.rows) > len(names))})"
    if all(table.columns[error.column][row] == "" for row in error.rows):
        return InvalidRecords(f"{where}: missing. {format_missing_hint(error.column)}")
    return InvalidRecords(f"{where}: {error.problem.partition(';')[0]}")


def format_missing_hint(column: Any) -> str:
    """Return the sentence of a message that shows how to declare missing cells of a numeric column."""
    return f'Declare missing cells as public: {{{column!r}: {{"bounds": [low, high], "missing": "column"}}}}'


_NAMED_ROWS = 5  # in one message


def _texts(column: Any, name: str) -> Any:
    """Return the cells as the text that a file would contain; "" for a missing one.

    Raises:
        InvalidRecords: If a cell holds a list, a record or bytes that are not text.
    """
    if column.dtype.kind == "f":
        values = column.to_numpy(dtype=getattr(column.dtype, "numpy_dtype", column.dtype), na_value=np.nan)
        return FloatColumn(np.where(np.isnan(values), 0, values).astype(values.dtype), np.isnan(values))
    try:
        cells = column.tolist()
    except (OverflowError, ValueError):  # a datetime beyond Python's calendar
        cells = [BEYOND] * len(column)
    texts = []
    for row, (cell, none) in enumerate(zip(cells, column.isna().to_numpy(), strict=True)):
        try:
            texts.append("" if none else write_text(cell))
        except (OverflowError, ValueError) as error:
            if column.dtype.kind != "M":
                raise InvalidRecords(
                    f"column {name!r}, row {row}: a list, a record or bytes in place of one value; give one number, date or text a cell"
                ) from error
            texts.append(BEYOND)
    return texts


def table_columns(bounds: Any) -> dict[str, dict[str, Any]] | None:
    """Return {column: public description}, as in a schema, if a description is more than two numbers.

    None if all are bounds of numbers.
    """
    if not isinstance(bounds, Mapping) or all(map(_is_pair, bounds.values())):
        return None
    found = {}
    for name, given in bounds.items():
        if isinstance(given, Mapping):
            found[str(name)] = dict(given)
        elif _is_pair(given):
            found[str(name)] = {"bounds": list(given)}
        else:
            found[str(name)] = {"categories": [write_text(value) for value in given]}
    return found


def check_named(table: Any, bounds: Any) -> None:
    """Check that bounds given by name cover every column of the table.

    Raises:
        InvalidParameter: If they omit a column.
    """
    named = set(map(str, bounds)) if isinstance(bounds, Mapping) else None
    unnamed = [] if named is None else [str(name) for name in table.columns if str(name) not in named]
    if unnamed:
        raise InvalidParameter(
            f"feature_bounds names no bounds or values of {', '.join(map(repr, unnamed))}: bounds are missing for them; add them, or "
            "leave these columns out of X"
        )


def check_numbers(table: Any) -> None:
    """Check that a DataFrame has numeric columns only, without missing values.

    Raises:
        InvalidRecords: If it has other columns or missing values; names the first column.
    """
    kinds = getattr(table, "dtypes", None)
    for name, kind in kinds.items() if kinds is not None and hasattr(kinds, "items") else ():
        if getattr(kind, "kind", "O") not in "biuf" and not _are_numbers(table[name]):
            raise InvalidRecords(
                f"column {name!r} is not of numbers: name its values, as they are known without the data: "
                f"feature_bounds={{{name!r}: ['a', 'b'], ...}}"
            )
        if getattr(kind, "kind", "O") in "fiu" and (missing := int(table[name].isna().sum())):
            raise InvalidRecords(
                f"Input X contains NaN: column {name!r} is missing in {missing} row(s). {format_missing_hint(name)} in feature_bounds"
            )


def _are_numbers(column: Any) -> bool:
    with suppress(TypeError, ValueError):
        return bool(np.asarray(column, np.float64).ndim)
    return False


def _is_pair(given: Any) -> bool:
    """Return whether the value is the two ends of a range."""
    return not isinstance(given, (Mapping, str)) and len(given) == 2 and not any(isinstance(end, str) for end in given)


_SAY = "pass ids=, one whole number or string per row, so that a request finds its row"


def ids_of(X: Any, y: Any, ids: Iterable[Id] | None, subjects: Iterable[Id] | None = None) -> Iterable[Id] | None:
    """Return the given ids, else the index of X or y if it differs from the row positions, else None (positions).

    After `train_test_split` a row's index is its owner's name for it, while its position is the original index of
    another row.

    Args:
        X: The records.
        y: The labels.
        ids: Ids given by the caller.
        subjects: Data subjects given by the caller.

    Raises:
        InvalidRecords: If the index is not a list of distinct whole numbers or strings, or X and y, ids or subjects
            have different ones.
    """
    own = next((index for index in (_index(X), _index(y)) if index is not None), None)
    for name, given in (("ids", _index(ids)), ("subjects", _index(subjects))):
        if own is not None and given is not None and len(given) == len(own) and given != own:
            raise InvalidRecords(
                f"X and {name} have different indexes, so it is not known which row is whose: align them, or pass {name}= as a list in X's order"
            )
    if ids is not None:
        return ids
    found = [index for index in (_index(X), _index(y)) if index is not None]
    named = [index for index in found if not _are_positions(index)]
    if not named:
        return None
    if any(len(index) == len(named[0]) and list(index) != list(named[0]) for index in found):
        raise InvalidRecords(
            f"X and y have different indexes, so it is not known which row is whose: align them, or {_SAY}"
        )
    kinds = {type(name) for name in named[0]}
    if not all(issubclass(kind, (int, str, np.integer)) and not issubclass(kind, (bool, np.bool_)) for kind in kinds):
        raise InvalidRecords(
            f"the index holds neither whole numbers nor strings alone, so no request could name a row by it: {_SAY}"
        )
    if len(set(named[0])) < len(named[0]):
        raise InvalidRecords(f"the index names a row twice, so a request for that name would be for both: {_SAY}")
    return list(named[0])


def table_of_one(name: Id, row: Any) -> Any:
    """Return a raw row as a table with one row; a pandas Series keeps its names.

    Raises:
        InvalidRecords: If it is a table with more or fewer rows.
    """
    table = row.to_frame().T if hasattr(row, "to_frame") else row
    if not (hasattr(table, "columns") or hasattr(table, "toarray")):
        return [table]
    if table.shape[0] != 1:
        raise InvalidRecords(f"replace takes one row for a record; {name!r} has {table.shape[0]}. Nothing was changed")
    return table


def _index(table: Any) -> list[Any] | None:
    """Return the index of a pandas object as a list; None for anything else (a list has a method `index`)."""
    index = getattr(table, "index", None)
    return None if index is None or callable(index) or not hasattr(table, "iloc") else list(index)


def _are_positions(index: list[Any]) -> bool:
    return all(isinstance(name, (int, np.integer)) and name == place for place, name in enumerate(index))


_CELLS = 1 << 20  # numbers of a dense block: 8 MiB


def row_blocks(features: Any) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Yield dense blocks of raw rows (an array, or sparse CSR) with their slices."""
    rows, columns = features.shape
    most = max(1, _CELLS // max(1, columns))
    for start in range(0, rows, most):
        part = slice(start, min(start + most, rows))
        block = features[part]
        yield part, block.toarray() if hasattr(block, "toarray") else np.asarray(block)


def count_clipped(features: Any, scaling: RowScaling) -> NDArray[np.int64]:
    """Return (features,), the number of values of each column beyond its bounds."""
    if stays_sparse(features, scaling):
        beyond = np.abs(features.data) > scaling.high[features.indices]
        return np.bincount(features.indices[beyond], minlength=features.shape[1])
    counts = np.zeros(features.shape[1], np.int64)
    for _, block in row_blocks(features):
        counts += ((block < scaling.low) | (block > scaling.high)).sum(axis=0)
    return counts


def scaled_table(features: Any, scaling: RowScaling, slots: int) -> Any:
    """Return (rows, columns) as float32, or as a csr_array if sparse rows stay sparse.

    Args:
        features: Raw rows.
        scaling: The scaling.
        slots: Dataset size of the table, for the memory check.

    Raises:
        InvalidRecords: If a dense table of `slots` rows does not fit into memory; nothing is allocated.
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
    for part, block in row_blocks(features):
        table[part] = scaling.rows(block)
    return table


def per_row(features: Any, scaling: RowScaling, of: Callable[[Any], NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return `of` of the scaled rows: all at once if they stay sparse, else in blocks."""
    if stays_sparse(features, scaling):
        return of(scaling.sparse_rows(features))
    return np.concatenate([of(scaling.rows(block)) for _, block in row_blocks(features)])


def stays_sparse(features: Any, scaling: RowScaling) -> bool:
    """Return whether these raw rows are sparse and their scaling keeps them sparse."""
    return hasattr(features, "tocsr") and scaling.keeps_zeros

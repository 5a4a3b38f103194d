"""Rows from raw records by public facts only: a map, or column descriptions of a DataFrame; nothing is fitted."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin

from ..errors import InvalidParameter, InvalidRecords, UnreadableRows, check_choice
from ..features.maps import Additive, PublicMap, Shapes
from ..features.maps.shapes import score_unit
from ..features.schema import Schema, Table
from ..features.schema.arrow import BEYOND
from ..features.schema.cells import FloatColumn, write_text
from ..features.schema.files import refuse_header
from ..features.schema.shapes import named_shapes
from ..records import CodedRows


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


def described_columns(table: Any, bounds: Any) -> dict[str, dict[str, Any]] | None:
    """Return {column: public description}, as in a schema, of a DataFrame; None if all are bounds of numbers.

    Raises:
        InvalidParameter: If bounds given by name omit a column of the table.
    """
    if not (hasattr(table, "columns") and isinstance(bounds, Mapping)):
        return None
    named = set(map(str, bounds))
    unnamed = [str(name) for name in table.columns if str(name) not in named]
    if unnamed:
        raise InvalidParameter(
            f"feature_bounds names no bounds or values of {', '.join(map(repr, unnamed))}: bounds are missing for them; add them, or "
            "leave these columns out of X"
        )
    return (
        None if all(map(_is_pair, bounds.values())) else {str(name): _describe(given) for name, given in bounds.items()}
    )


def _describe(given: Any) -> dict[str, Any]:
    if isinstance(given, Mapping):
        return dict(given)
    return {"bounds": list(given)} if _is_pair(given) else {"categories": [write_text(value) for value in given]}


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

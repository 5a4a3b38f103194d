"""Check on the records that fitted steps are record-wise.

On neighbouring tables, which differ in one record, the fitted state and the columns must be equal, and a record must be
mapped to the same row alone and among other records.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils import _safe_indexing

from ..errors import AssumptionViolated
from .record_wise import PUBLIC_IF, iterate_leaves, refuse_learned
from .rows import MappedRows, TableRows

_FIRST, _MOST = 6, 16  # records from the beginning of the table; records of a whole sample
_NEIGHBOURS = 5  # tables without one record of the sample, and the same number with one replaced
_ROUNDING = 1e-9  # relative
_COLUMNS = 64  # columns searched for rare records
_STORAGE = {"sparse_output_"}  # whether a ColumnTransformer stores zeros: the numbers are the same


def check_behaviour(steps: Sequence[tuple[str, Any]], X: Any, y: Any) -> None:
    """Check that the steps, fitted to neighbouring tables, are equal and map every record by itself.

    The tables consist of the records that reveal a statistic: the extremes of a column, its missing values and its
    rarest ones.

    Args:
        steps: (name, transformer) pairs that `check_record_wise` accepts. They are cloned, and not changed.
        X: Raw records: an array, a sparse matrix, a DataFrame or a list.
        y: Their labels, or None.

    Raises:
        AssumptionViolated: If the fitted state, the columns or a record's row depend on another record.
    """
    if not steps:
        return

    def fit(table: Any, labels: Any) -> Any:
        return Pipeline([(name, clone(step)) for name, step in steps]).fit(table, labels)

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # the fit that follows repeats them
        whole = fit(X, y)
        public = all(type(step) in PUBLIC_IF for _, step in steps for step in iterate_leaves(step))
        mapped = None if public else fit(X, y).transform(X)  # at once: a later fit may change what a class holds
        places = _revealing_records(X)
        table, labels = _take(X, places), _take(y, places)
        sample = fit(table, labels)
        _check_states(whole, sample)
        ours = all(type(step) in (MappedRows, TableRows) for _, step in steps)  # whose `fit` does nothing
        for place in range(0 if ours else min(_NEIGHBOURS, len(places) - 1)):
            without = [other for other in range(len(places)) if other != place]
            replaced = [(place + 1) % len(places) if other == place else other for other in range(len(places))]
            for rows in (without, replaced):
                _check_states(sample, fit(_take(table, rows), _take(labels, rows)))
        _check_rows(sample, table, sample.transform(table))
        if (gaps := _with_gaps(table)) is not None:
            made = None
            with suppress(ValueError, TypeError):  # a step that takes no missing value
                made = sample.transform(gaps)
            if made is not None:
                _check_rows(sample, gaps, made)
        if not public and (
            _count(mapped) != _count(X) or not _are_close(sample.transform(table), _take(mapped, places))
        ):
            raise _depends()


def _check_states(one: Any, other: Any) -> None:
    """Check that two fitted pipelines learned the same, and that stateless transformers learned nothing."""
    for mine, theirs in zip(iterate_leaves(one), iterate_leaves(other), strict=True):
        equal = _are_equal(vars(mine), vars(theirs)) and _names(mine) == _names(theirs)
        if not equal or (type(mine) not in PUBLIC_IF and _learned_attributes(mine)):
            raise refuse_learned(type(mine).__name__)
    if _names(one) != _names(other) or not _are_equal(_structure(one), _structure(other)):
        raise AssumptionViolated(
            "the columns that the steps make depend on the records: name the columns and their values"
        )


def _learned_attributes(step: Any) -> list[str]:
    """Return the attributes that fitting gave a stateless transformer, besides the names and the number of its columns."""
    before, after = vars(clone(step)), vars(step)
    public = {"n_features_in_", "feature_names_in_", "_sklearn_output_config", "_metadata_request"}
    return [
        name
        for name in after
        if name not in public and (name not in before or not _are_equal(before[name], after[name]))
    ]


def _structure(step: Any) -> list[Any]:
    """Return what a fitted container learned about its columns."""
    if type(step) is ColumnTransformer:
        kept = {name: value for name, value in vars(step).items() if name.endswith("_") and name not in _STORAGE}
        inner = [part[1] for part in step.transformers_]
        kept["transformers_"] = [(part[0], part[2]) for part in step.transformers_]
        return [kept, *map(_structure, inner)]
    parts = step.steps if type(step) is Pipeline else step.transformer_list if type(step) is FeatureUnion else ()
    return [_structure(part) for _, part in parts]


def _names(step: Any) -> list[str] | None:
    with suppress(AttributeError, ValueError, TypeError):
        return [str(name) for name in step.get_feature_names_out()]
    return None


def _are_equal(one: Any, other: Any) -> bool:
    """Compare two values of fitted attributes, arrays and nested objects included; NaN equals NaN."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if hasattr(one, "toarray"):
        return bool(one.shape == other.shape and (one != other).nnz == 0)
    if isinstance(one, np.ndarray):
        if one.shape != other.shape or one.dtype != other.dtype:
            return False
        if one.dtype.kind == "O":
            return all(map(_are_equal, one.ravel().tolist(), other.ravel().tolist()))
        return bool(np.array_equal(one, other, equal_nan=one.dtype.kind in "fcmM"))
    if isinstance(one, Mapping):
        return list(one) == list(other) and all(_are_equal(one[name], other[name]) for name in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(_are_equal, one, other))
    if isinstance(one, np.random.RandomState):
        return _are_equal(one.get_state(), other.get_state())
    if isinstance(one, partial):
        return _are_equal([one.func, one.args, one.keywords], [other.func, other.args, other.keywords])
    if isinstance(one, MethodType):
        return one.__func__ is other.__func__ and _are_equal(one.__self__, other.__self__)
    if hasattr(one, "__dict__") and not isinstance(one, (type, FunctionType)):
        return _are_equal(vars(one), vars(other))
    with suppress(TypeError, ValueError):
        return bool(one == other) or (_is_missing(one) and _is_missing(other))
    return False


def _is_missing(cell: Any) -> bool:
    """Return whether a value is None, or does not equal itself: NaN, NaT, pandas' NA."""
    try:
        return cell is None or bool(cell != cell)  # noqa: PLR0124
    except TypeError:
        return True
    except ValueError:
        return False


def _check_rows(fitted: Any, table: Any, together: Any) -> None:
    """Check that every record has the same row alone, in either half of the table, and in the whole table."""
    count = _count(table)
    parts = [[place] for place in range(count)]
    parts += [list(range(start, count, 2)) for start in range(min(2, count - 1))] + [list(range(count))[::-1]]
    if _count(together) != count or not all(
        _are_close(fitted.transform(_take(table, part)), _take(together, part)) for part in parts
    ):
        raise _depends()


def _depends() -> AssumptionViolated:
    return AssumptionViolated(
        "a step of the pipeline transforms a record differently in the company of others (a mean, a rank?): every step must act on each "
        "record by itself"
    )


def _are_close(one: Any, other: Any) -> bool:
    """Return whether two outputs of a step are equal: numbers up to rounding, other values exactly."""
    if hasattr(one, "toarray") and hasattr(other, "toarray"):
        return bool(one.shape == other.shape and (abs(one - other) > _ROUNDING * abs(other)).nnz == 0)
    one, other = _dense(one), _dense(other)
    if len(one) != len(other):
        return False
    with suppress(TypeError, ValueError):
        one, other = np.asarray(one, np.float64), np.asarray(other, np.float64)
        return one.shape == other.shape and np.allclose(one, other, rtol=_ROUNDING, atol=0.0, equal_nan=True)
    return all(_are_equal(list(mine), list(theirs)) for mine, theirs in zip(one, other, strict=True))


def _dense(rows: Any) -> Any:
    rows = rows.toarray() if hasattr(rows, "toarray") else rows
    return rows if isinstance(rows, list) else np.asarray(rows)


def _count(table: Any) -> int:
    return int(table.shape[0]) if hasattr(table, "shape") else len(table)


def _take(table: Any, places: Sequence[int]) -> Any:
    return None if table is None else _safe_indexing(table.tocsr() if hasattr(table, "tocsr") else table, list(places))


def _revealing_records(X: Any) -> list[int]:
    """Return positions of the first records, of the extremes of each column, its missing values and its rarest ones."""
    count = _count(X)
    found = dict[int, None]()
    for column in _columns(X):
        texts = column.dtype.kind not in "biuf"
        missing = np.array([_is_missing(cell) for cell in column.tolist()], bool)
        cells = np.flatnonzero(~missing)
        places = [int(np.flatnonzero(missing)[0])] if missing.any() else []
        if len(cells) and texts:
            counts = Counter(map(str, column[cells].tolist()))
            rarest = min(counts, key=counts.__getitem__)
            places.append(next(place for place in cells.tolist() if str(column[place]) == rarest))
        elif len(cells):
            places += [int(cells[column[cells].argmin()]), int(cells[column[cells].argmax()])]
        found.update(dict.fromkeys(places))
        if len(found) >= _MOST - _FIRST:
            break
    return list(found | dict.fromkeys(range(min(_FIRST, count))))[:_MOST]


def _columns(X: Any) -> Iterator[Any]:
    """Yield the first columns of the records as arrays; nothing for a sparse matrix or a list of texts."""
    if hasattr(X, "columns"):
        for name in list(X.columns)[:_COLUMNS]:
            with suppress(TypeError, ValueError, AttributeError):
                yield np.asarray(X[name])
    elif not hasattr(X, "tocsr"):
        table = np.asarray(X)
        if table.ndim == 2:
            yield from (table[:, place] for place in range(min(table.shape[1], _COLUMNS)))


def _with_gaps(table: Any) -> Any:
    """Return the records twice, the second time with every number missing; None if no column can have a missing number."""
    if hasattr(table, "iloc"):
        floats = [name for name, kind in table.dtypes.items() if getattr(kind, "kind", "") == "f"]
        if not floats or not table.columns.is_unique:
            return None
        gaps = _take(table, [*range(_count(table))] * 2).copy()
        for name in floats:
            gaps.iloc[_count(table) :, gaps.columns.get_loc(name)] = np.nan
        return gaps
    table = None if hasattr(table, "tocsr") else np.asarray(table)
    if table is None or table.ndim != 2 or table.dtype.kind != "f":
        return None
    return np.vstack([table, np.full_like(table, np.nan)])

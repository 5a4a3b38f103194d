"""Check that a transformer is record-wise: each record is mapped by itself, and fitting reads nothing from the records.

Two checks have to agree, because neither is sufficient alone.

`check_record_wise` reads the type and the parameters of every transformer inside a step. It accepts transformers whose
`fit` is known to read no value of the data under the given parameters, and transformers that declare themselves
stateless.

`check_behaviour` runs the steps on the records: on neighbouring tables, which differ in one record, the fitted state
and the columns must be equal, and a record must be mapped to the same row alone and among other records.

>>> from sklearn.preprocessing import OneHotEncoder, StandardScaler
>>> check_record_wise(OneHotEncoder(categories=[["a", "b"]]))
>>> check_record_wise(StandardScaler())
Traceback (most recent call last):
    ...
noisygd_delete.errors.AssumptionViolated: StandardScaler learns from the data when it is fitted: ...
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from numbers import Integral, Real
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import SparseCoder
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.kernel_approximation import PolynomialCountSketch, RBFSampler, SkewedChi2Sampler
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    SplineTransformer,
)
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection
from sklearn.utils import _safe_indexing, get_tags

from ..errors import AssumptionViolated
from .rows import MappedRows, TableRows


def _is_listed(values: Any) -> bool:
    """Return whether a parameter holds public values, not the name of a rule that reads the data."""
    return isinstance(values, (list, tuple, np.ndarray))


def _is_seeded(step: Any) -> bool:
    return isinstance(step.random_state, Integral)


def _is_public_encoder(step: Any) -> bool:
    return _is_listed(step.categories) and step.min_frequency is None and step.max_categories is None


def _is_public_projection(step: Any) -> bool:
    return _is_seeded(step) and isinstance(step.n_components, Integral)


def _is_public_imputer(step: Any) -> bool:
    return step.strategy == "constant" and step.keep_empty_features is True and not step.add_indicator


# Transformers whose `fit` reads no value of the data if the condition holds, and how to meet it. The exact type is
# required, since a subclass may fit differently.
_PUBLIC_IF: dict[type, tuple[Callable[[Any], bool], str]] = {
    MappedRows: (lambda step: True, ""),
    TableRows: (lambda step: True, ""),
    PolynomialFeatures: (lambda step: True, ""),
    SparseCoder: (lambda step: True, ""),
    OneHotEncoder: (_is_public_encoder, "categories=[[...]] with neither min_frequency nor max_categories"),
    OrdinalEncoder: (_is_public_encoder, "categories=[[...]] with neither min_frequency nor max_categories"),
    SimpleImputer: (_is_public_imputer, "strategy='constant', keep_empty_features=True and no add_indicator"),
    MissingIndicator: (lambda step: step.features == "all", "features='all'"),
    SplineTransformer: (lambda step: _is_listed(step.knots), "knots=[[...], ...], public numbers"),
    CountVectorizer: (lambda step: step.vocabulary is not None, "vocabulary=[...], public words"),
    TfidfTransformer: (lambda step: not step.use_idf, "use_idf=False"),
    RBFSampler: (
        lambda step: _is_seeded(step) and isinstance(step.gamma, Real),
        "a number as gamma and as random_state",
    ),
    SkewedChi2Sampler: (_is_seeded, "a number as random_state"),
    PolynomialCountSketch: (_is_seeded, "a number as random_state"),
    GaussianRandomProjection: (_is_public_projection, "numbers as n_components and random_state"),
    SparseRandomProjection: (_is_public_projection, "numbers as n_components and random_state"),
}
_INSTEAD = "feature_bounds, a FunctionTransformer, OneHotEncoder(categories=[...])"


def check_record_wise(transformer: Any) -> None:
    """Check that every transformer inside `transformer` learns nothing from the data, by its type and parameters.

    Pipelines, unions and column transformers are searched, the `remainder` included. No data is read:
    `RecordWisePipeline.fit` also compares behaviour on neighbouring tables.

    Args:
        transformer: A transformer, "passthrough", "drop" or None.

    Raises:
        AssumptionViolated: If a transformer is fitted to the data (StandardScaler, PCA, an imputer by the mean, ...),
            is of an unknown type, or stores the records elsewhere (`memory`).
    """
    for step in _leaves(transformer):
        _check_leaf(step)


def _check_leaf(step: Any) -> None:
    name = type(step).__name__
    if type(step) in _PUBLIC_IF:
        holds, remedy = _PUBLIC_IF[type(step)]
        if not holds(step):
            raise _learns(name, f"give it {remedy}")
    elif not isinstance(step, BaseEstimator) or get_tags(step).requires_fit:
        raise _learns(name, f"use public constants instead ({_INSTEAD})")
    elif isinstance(step, FunctionTransformer) and (fitted := _fitted_inside(step.func, step.kw_args)):
        raise _learns(fitted, "give FunctionTransformer a function of one record and of public constants")


def _learns(name: str, remedy: str) -> AssumptionViolated:
    return AssumptionViolated(
        f"{name} learns from the data when it is fitted: every prediction would then depend on records that the certificate counts as "
        f"forgotten. To keep the certificate, {remedy}"
    )


def _leaves(step: Any) -> Iterator[Any]:
    """Yield the transformers inside a container, fitted or not; the step itself if it is not a container."""
    if step is None or isinstance(step, str):
        return
    if type(step) is Pipeline:
        refuse_memory(step)
        inner = [part for _, part in step.steps]
    elif type(step) is FeatureUnion:
        inner = [part for _, part in step.transformer_list]
    elif type(step) is ColumnTransformer:
        fitted = getattr(step, "transformers_", None)
        for _, _, columns in step.transformers:
            _check_columns(columns)
        inner = [part[1] for part in fitted or step.transformers] + ([] if fitted else [step.remainder])
    else:
        yield step
        return
    for part in inner:
        yield from _leaves(part)


def refuse_memory(pipeline: Any) -> None:
    """Reject a pipeline with a cache, which would keep transformed records after their deletion."""
    if pipeline.memory is not None:
        raise AssumptionViolated(
            "memory= writes transformed records to a cache, where no deletion reaches them: give memory=None"
        )


def _check_columns(columns: Any) -> None:
    """Reject a rule that chooses columns by their content; a selector by name alone is public."""
    by_name = type(columns) is make_column_selector and columns.dtype_include is None and columns.dtype_exclude is None
    if callable(columns) and not by_name:
        raise AssumptionViolated(
            "a function chooses the columns of a ColumnTransformer when it is fitted, and one record can change a column's type: "
            "give the names of the columns"
        )


_LIBRARIES = {"numpy", "scipy", "pandas", "sklearn"}  # whose functions hold no estimator of a user's


def _fitted_inside(*held: Any) -> str:
    """Return the name of an estimator that a function holds, is bound to or reads from its module; "" if none is found.

    Searched: arguments of a `partial`, defaults, closures, globals that the code names, containers, and attributes of objects.
    """
    waiting, seen = list(held), dict[int, Any]()
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, (type, ModuleType)):
            continue
        seen[id(one)] = one
        if hasattr(type(one), "fit"):
            return type(one).__name__
        waiting += _parts_of(one)
    return ""


def _parts_of(one: Any) -> list[Any]:
    """Return what a function, a container or another object holds."""
    if isinstance(one, partial):
        return [one.func, *one.args, *one.keywords.values()]
    if isinstance(one, MethodType):
        return [one.__self__, one.__func__]
    if isinstance(one, FunctionType):
        if one.__module__ and one.__module__.partition(".")[0] in _LIBRARIES:
            return []
        parts = [*(one.__defaults__ or ()), *(one.__kwdefaults__ or {}).values(), *_globals_of(one)]
        for cell in one.__closure__ or ():
            with suppress(ValueError):  # an empty cell
                parts.append(cell.cell_contents)
        return parts
    if isinstance(one, Mapping):
        return list(one.values())
    if isinstance(one, (list, tuple, set, frozenset)):
        return list(one)
    if isinstance(one, np.ndarray):
        return one.ravel().tolist() if one.dtype.kind == "O" else []
    called = [vars(kind)["__call__"] for kind in type(one).__mro__ if "__call__" in vars(kind)][:1]
    return [*called, *(vars(one).values() if hasattr(one, "__dict__") else ())]


def _globals_of(function: FunctionType) -> list[Any]:
    """Return the globals that a function's code names, and what it names of modules."""
    names, codes = set[str](), [function.__code__]
    while codes:
        code = codes.pop()
        names.update(code.co_names)
        codes += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    found = [function.__globals__[name] for name in names if name in function.__globals__]
    for held in found[:]:
        own = isinstance(held, ModuleType) and held.__name__.partition(".")[0] not in _LIBRARIES
        if own or isinstance(held, type):
            found += [vars(held)[name] for name in names if name in vars(held)]
    return found


# --- behaviour ---


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
        public = all(type(step) in _PUBLIC_IF for _, step in steps for step in _leaves(step))
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
    for mine, theirs in zip(_leaves(one), _leaves(other), strict=True):
        equal = _are_equal(vars(mine), vars(theirs)) and _names(mine) == _names(theirs)
        if not equal or (type(mine) not in _PUBLIC_IF and _learned_attributes(mine)):
            raise _learns(type(mine).__name__, f"use public constants instead ({_INSTEAD})")
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

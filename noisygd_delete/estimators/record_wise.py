"""Check by type and parameters that a transformer learns nothing from the records.

Accepted are transformers whose `fit` is known to read no value of the data under the given parameters, and
transformers that declare themselves stateless. Neither this check nor that of their behaviour on the records
(`behaviour`) is sufficient alone: a step has to pass both.

>>> from sklearn.preprocessing import OneHotEncoder, StandardScaler
>>> check_record_wise(OneHotEncoder(categories=[["a", "b"]]))
>>> check_record_wise(StandardScaler())
Traceback (most recent call last):
    ...
noisygd_delete.errors.AssumptionViolated: StandardScaler learns from the data when it is fitted: ...
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from numbers import Integral, Real
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
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
from sklearn.utils import get_tags

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
PUBLIC_IF: dict[type, tuple[Callable[[Any], bool], str]] = {
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
    for step in iterate_leaves(transformer):
        _check_leaf(step)


def _check_leaf(step: Any) -> None:
    name = type(step).__name__
    if type(step) in PUBLIC_IF:
        holds, remedy = PUBLIC_IF[type(step)]
        if not holds(step):
            raise refuse_learned(name, f"give it {remedy}")
    elif not isinstance(step, BaseEstimator) or get_tags(step).requires_fit:
        raise refuse_learned(name)
    elif isinstance(step, FunctionTransformer) and (fitted := _fitted_inside(step.func, step.kw_args)):
        raise refuse_learned(fitted, "give FunctionTransformer a function of one record and of public constants")


def refuse_learned(name: str, remedy: str = f"use public constants instead ({_INSTEAD})") -> AssumptionViolated:
    """Return the error that the transformer of this name learns from the data."""
    return AssumptionViolated(
        f"{name} learns from the data when it is fitted: every prediction would then depend on records that the certificate counts as "
        f"forgotten. To keep the certificate, {remedy}"
    )


def iterate_leaves(step: Any) -> Iterator[Any]:
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
        yield from iterate_leaves(part)


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
    """Return the name of an estimator that a function holds, is bound to or reads from its module; "" if none is found."""
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
    if isinstance(one, FunctionType):
        if one.__module__ and one.__module__.partition(".")[0] in _LIBRARIES:
            return []
        return [one.__defaults__, one.__kwdefaults__, one.__closure__, *_globals_of(one)]
    if isinstance(one, np.ndarray):
        return one.ravel().tolist() if one.dtype.kind == "O" else []
    called = [vars(kind)["__call__"] for kind in type(one).__mro__ if "__call__" in vars(kind)][:1]
    return [*called, *gc.get_referents(one)]


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

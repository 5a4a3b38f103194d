"""Features of scikit-learn that users try first and that are not available here, each with the reason."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils.parallel import _FuncWrapper

from ..errors import FitsAddUp, InvalidParameter, PrivatePreprocessing, ValuesClipped

NO_PARTIAL_FIT = (
    "{} has no partial_fit: going on training outside the account is what a certificate must exclude. insert, replace and delete "
    "change records and publish, relearn learns afresh, each on one account"
)

_REASONS = {
    "sample_weight": (
        "sample_weight is a private number for each record: it would scale how far one record moves the model, which is what the "
        "noise has to hide. Weights of classes are public: class_weight={class: weight}. Leave rows out instead of weighing them 0"
    ),
    "coef_init": "there is no start to give: a release starts where its plan says, or earlier data could show in it",
    "intercept_init": "there is no start to give: a release starts where its plan says, or earlier data could show in it",
}

_FEWEST = 10  # records from which a mean of 0 in every column is no coincidence
_NEAR = 1e-9  # rounding tolerance per record
_ONE = 1e-6
_MANY, _NAMED = 0.01, 4  # of a column's values; columns in one warning
_WIDTH = 3  # columns of an encoder: two may be a binary answer and its complement


def reject_fit_arguments(estimator: str, given: Mapping[str, Any]) -> None:
    """Reject arguments of `fit` that are not its own; None counts as absent.

    Raises:
        InvalidParameter: If an argument is a known one of scikit-learn; the message has the reason.
        TypeError: If an argument is unknown.
    """
    for name, value in given.items():
        if value is not None and name in _REASONS:
            raise InvalidParameter(f"{estimator}.fit takes no {name}: {_REASONS[name]}")
        if name not in _REASONS:
            raise TypeError(f"{estimator}.fit takes X, y, ids and subjects, not {name!r}")


def warn_clipped(bounds: str, counts: Mapping[Any, int], rows: int) -> None:
    """Warn if more than a hundredth of a column's values are beyond their bounds."""
    many = [f"{name} ({100 * count / rows:.3g} %)" for name, count in counts.items() if count > _MANY * rows]
    if many:
        warnings.warn(
            f"values beyond {bounds} were clipped: {', '.join(many[:_NAMED])}{', …' * (len(many) > _NAMED)}. Wider public bounds lose less",
            ValuesClipped,
            stacklevel=5,
        )


def check_preprocessing(features: Any) -> None:
    """Warn if the rows, dense or CSR, look like the output of a scaler or an encoder fitted to them."""
    if features.shape[0] < _FEWEST:
        return
    marked = _encoded_marker(features) or ("" if hasattr(features, "toarray") else _scaled_marker(features))
    if marked:
        warnings.warn(
            f"{marked} fitted to these records? What it learned is a statistic of all of them, outside any certificate, and stays in every "
            "prediction after a deletion. Give the raw columns with feature_bounds and public lists of categories, or use "
            "RecordWisePipeline, which refuses such a step",
            PrivatePreprocessing,
            stacklevel=4,
        )


def check_target_preprocessing(targets: Any) -> None:
    """Warn if the targets, of shape (records,), look standardized by their own mean and deviation.

    `TransformedTargetRegressor(regressor, transformer=StandardScaler())` hands them over like that. Targets that merely reach
    both ends of [0, 1] are not reported: shares do.
    """
    values = np.asarray(targets, float)
    near = _NEAR * len(values)
    if len(values) < _FEWEST or not (abs(values.mean()) < near and abs(values.std() - 1) < near):
        return
    warnings.warn(
        "the targets have mean 0 and deviation 1: were they standardized by a StandardScaler fitted to these records (as in "
        "TransformedTargetRegressor)? Its mean and deviation are statistics of all of them, outside any certificate, and stay in "
        "every prediction after a deletion. Give the raw targets with target_bounds",
        PrivatePreprocessing,
        stacklevel=4,
    )


def _scaled_marker(features: Any) -> str:
    """Return the scaler that the varying, non-binary columns all look like; "" if none."""
    low, high = features.min(axis=0), features.max(axis=0)
    moving = (high - low > _ONE) & ((features != low) & (features != high)).any(axis=0)
    if not moving.any():
        return ""
    columns, low, high = features[:, moving], low[moving], high[moving]

    def all_are(values: Any, wanted: float) -> bool:
        return bool((np.abs(values - wanted) < _NEAR * len(features)).all())

    if all_are(columns.mean(axis=0), 0) and all_are(columns.std(axis=0), 1):
        return "every column has mean 0 and deviation 1: a StandardScaler"
    if all_are(high, 1) and (all_are(low, 0) or all_are(low, -1)):
        return f"every column runs from {low[0]:.0f} to 1 and reaches both: a MinMaxScaler"
    if all_are(np.maximum(high, -low), 1):
        return "the largest size in every column is 1: a MaxAbsScaler"
    lower, middle, upper = np.percentile(columns, (25, 50, 75), axis=0)
    if all_are(middle, 0) and all_are(upper - lower, 1):
        return "every column has median 0 and quartiles 1 apart: a RobustScaler"
    return ""


def _encoded_marker(features: Any) -> str:
    """Return a marker if adjacent columns look one-hot (exactly one 1 per row, else 0); "" if fewer than three do."""
    found = "columns of which each row has exactly one at 1: an encoder"
    if hasattr(features, "toarray"):
        hot = np.diff(features.indptr)
        return (
            found if (features.data == 1).all() and 0 < hot[0] < features.shape[1] - 1 and (hot == hot[0]).all() else ""
        )
    binary = ((features == 0) | (features == 1)).all(axis=0)
    hot, width = np.zeros(len(features)), 0
    for column in range(features.shape[1]):
        hot, width = (hot + features[:, column], width + 1) if binary[column] else (np.zeros(len(features)), 0)
        if hot.max() > 1:
            hot, width = features[:, column], 1
        if width >= _WIDTH and (hot == 1).all():
            return found
    return ""


_FITTING = ("fit", "fit_transform", "fit_predict", "_fit", "partial_fit")
_FUNCTIONS = ("cross_validate", "cross_val_predict", "learning_curve", "validation_curve", "permutation_test_score")
_ONE_FIT = (Pipeline, FeatureUnion, ColumnTransformer)  # they fit each step once
_TASK = _FuncWrapper.__call__.__code__  # of scikit-learn: one call of several that may run in parallel
_calls: WeakKeyDictionary[Any, tuple[_Call, int]] = (
    WeakKeyDictionary()
)  # the last call of a meta-estimator or function, and fits in it


class _Call:
    """A call on the stack, told from later ones whose frame has the same address by the data that it was given."""

    def __init__(self, frame: FrameType) -> None:
        self._frame = id(frame)
        self._given = [_reference(frame.f_locals.get(name)) for name in ("X", "y")]

    def is_same(self, other: _Call) -> bool:
        """Return whether both are one call: one frame, and data that are still there and the same objects."""
        pairs = zip(self._given, other._given, strict=True)
        return self._frame == other._frame and all(one() is not None and one() == two() for one, two in pairs)


def _reference(data: Any) -> Callable[[], int | None]:
    """Return a function that returns the address of an object while it is alive, then None; rows are not kept alive."""
    address = id(data)
    try:
        found = ref(data)
    except TypeError:  # None, lists and tuples
        return lambda: address
    return lambda: None if found() is None else address


def warn_of_several_fits(estimator: Any) -> None:
    """Warn at the second fit within one call of scikit-learn: of folds, classes, targets, members or candidates.

    The call, of a meta-estimator or of a function such as `cross_validate`, is found on the stack. A fit that it gave to
    another thread or process is recognised there as such, and warned about each time.
    """
    owner, call, is_task = _outermost_call(estimator)
    if owner is None or call is None:
        if is_task:
            _warn_of_fits("scikit-learn, in parallel,")
        return
    before, fits = _calls.get(owner, (call, 0))
    _calls[owner] = (call, fits + 1 if before.is_same(call) else 1)
    if _calls[owner][1] > 1:
        _warn_of_fits(getattr(owner, "__name__", type(owner).__name__))


def warn_of_fits_elsewhere() -> None:
    """Warn if the unfitted estimator that is being pickled goes to a worker process of joblib (`n_jobs`).

    The warnings of a worker are seen in its standard error only, this one in the calling process.
    """
    if any(str(frame.f_globals.get("__name__")).startswith("joblib.externals.loky") for frame in _frames(2)):
        _warn_of_fits("joblib, in other processes,")


def _frames(above: int) -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(above)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _outermost_call(estimator: Any) -> tuple[Any, _Call | None, bool]:
    """Return the outermost call on the stack that may fit several models.

    Returns:
        The other estimator, or the function of scikit-learn; None if there is none.
        The call.
        Whether the stack is that of one task of a parallel call.
    """
    found, outermost, is_task = None, None, False
    for frame in _frames(3):
        code, given = frame.f_code, frame.f_locals
        is_task |= code is _TASK
        owner = None
        if code.co_name in _FITTING and code.co_varnames[:1] == ("self",):
            owner = given.get("self")
            if not isinstance(owner, BaseEstimator) or owner is estimator or isinstance(owner, _ONE_FIT):
                owner = None
        elif code.co_name in _FUNCTIONS and str(frame.f_globals.get("__name__")).startswith("sklearn."):
            owner = frame.f_globals.get(code.co_name)
        if owner is not None:
            found, outermost = owner, frame
    return found, None if outermost is None else _Call(outermost), is_task


def _warn_of_fits(what: str) -> None:
    warnings.warn(
        f"{what} fits several models to the same people, and what it publishes depends on all of them. A certificate covers one model: "
        "the costs of all fits add up. Choose by make_plan, `advise` or public data, and publish one model",
        FitsAddUp,
        stacklevel=4,
    )

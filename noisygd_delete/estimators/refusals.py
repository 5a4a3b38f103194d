"""What users of scikit-learn try first and cannot have here, each with the reason."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InvalidParameter, PrivatePreprocessing

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

_FEWEST = 10  # records from which on a mean of 0 in every column is no accident
_NONE = 1e-9  # of a standard deviation
_ONE = 1e-6


def refuse(estimator: str, given: Mapping[str, Any]) -> None:
    """Raise for the first argument of `fit` that is not one of its own; None is as good as absent.

    Raises:
        InvalidParameter: a known one, with the reason. TypeError: any other.
    """
    for name, value in given.items():
        if value is not None and name in _REASONS:
            raise InvalidParameter(f"{estimator}.fit takes no {name}: {_REASONS[name]}")
        if name not in _REASONS:
            raise TypeError(f"{estimator}.fit takes X, y, ids and subjects, not {name!r}")


def check_preprocessing(features: Any) -> None:
    """Warn where every column has been centred and divided by its own spread: the mark of a StandardScaler fitted to the records."""
    if hasattr(features, "toarray") or len(features) < _FEWEST:
        return
    varying = features.std(axis=0)
    moving = varying > _ONE
    if not moving.any():
        return
    centred = np.abs(features.mean(axis=0)[moving]) < _NONE * len(features)
    if centred.all() and (np.abs(varying[moving] - 1) < _ONE).all():
        warnings.warn(
            "every column has mean 0 and deviation 1: a StandardScaler fitted to these records? Its means and deviations are "
            "statistics of all of them, outside any certificate, and they stay in every prediction after a deletion. "
            "Give the raw columns with feature_bounds, or use RecordWisePipeline, which refuses such a step",
            PrivatePreprocessing,
            stacklevel=4,
        )

"""A public map, or the public columns of a DataFrame, as a step of a pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InvalidParameter
from ..features.maps import PublicMap
from .base import DeletionEstimator
from .pipeline import RecordWisePipeline
from .rows import MappedRows, TableRows


def mapped(map: PublicMap, estimator: DeletionEstimator) -> RecordWisePipeline:
    """`estimator` on the map's rows, as one pipeline that fits, predicts, deletes, replaces and inserts on raw records.

    The estimator's feature_bounds, row_norm and fit_intercept are set to take the rows as they are: the map has brought them to
    norm 1 with their constant column. The plan carries the map's digest.
    """
    return _before("map", MappedRows(map), estimator)


def _before(name: str, rows: MappedRows, estimator: DeletionEstimator) -> RecordWisePipeline:
    if not isinstance(estimator, DeletionEstimator):
        raise InvalidParameter(
            f"a {type(estimator).__name__} erases nothing; give a NoisyGDClassifier or a NoisyGDRegressor"
        )
    estimator.set_params(feature_bounds=(-1, 1), row_norm=1.0, fit_intercept=False)
    return RecordWisePipeline([(name, rows), ("model", estimator)])


def for_table(
    columns: Mapping[str, Mapping[str, Any]], estimator: DeletionEstimator, *, kind: str = "additive"
) -> RecordWisePipeline:
    """`estimator` on a DataFrame as it is, as one pipeline that fits, predicts, deletes, replaces, inserts and explains itself.

    Args:
        columns, kind: as `TableRows` takes them.
    """
    return _before("rows", TableRows(columns, kind), estimator)

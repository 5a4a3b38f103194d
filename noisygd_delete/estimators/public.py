"""A public map as a step of a pipeline."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from ..features.maps import Additive, PublicMap
from .base import DeletionEstimator
from .pipeline import RecordWisePipeline


class MappedRows(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Raw records to the map's rows of norm at most 1, a constant column included. Nothing is fitted.

    Args:
        map: a `maps.PublicMap`, chosen before the records were read.
    """

    def __init__(self, map: PublicMap) -> None:
        self.map = map

    def fit(self, X: Any, y: Any = None) -> Self:
        """Does nothing: the map was fixed beforehand."""
        return self

    def transform(self, X: Any) -> Any:
        """(records, width + 1) float32; of an additive map as a csr_array."""
        if isinstance(self.map, Additive):
            return self.map.sparse_rows(np.asarray(X))
        return self.map.rows(list(X) if self.map.inputs is None else np.asarray(X))

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.string = tags.input_tags.two_d_array = True
        return tags


def mapped(map: PublicMap, estimator: DeletionEstimator) -> RecordWisePipeline:
    """`estimator` on the map's rows, as one pipeline that fits, predicts, deletes, replaces and inserts on raw records.

    The estimator's feature_bounds, row_norm and fit_intercept are set to take the rows as they are: the map has brought them to
    norm 1 with their constant column. The plan carries the map's digest.
    """
    estimator.set_params(feature_bounds=(-1, 1), row_norm=1.0, fit_intercept=False)
    return RecordWisePipeline([("map", MappedRows(map)), ("model", estimator)])

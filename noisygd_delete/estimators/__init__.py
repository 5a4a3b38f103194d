"""scikit-learn estimators that can forget: `fit`, `predict`, `score`, plus `delete`, `replace` and `insert`.

>>> from noisygd_delete.estimators import NoisyGDRegressor
>>> regressor = NoisyGDRegressor(feature_bounds=(0, 10), target_bounds=(0, 1), method="noisy-gd")
>>> regressor = regressor.fit([[1], [2], [8], [9]], [0.1, 0.2, 0.8, 0.9], ids=list("abcd"))
>>> release = regressor.delete(["b"])
>>> regressor.n_records_
3
"""

from __future__ import annotations

from ..errors import MissingDependency

try:
    import sklearn as _sklearn  # noqa: F401
except ImportError as error:
    raise MissingDependency("the estimators need scikit-learn; pip install 'noisygd-delete[sklearn]'") from error

from .base import DeletionEstimator
from .models import NoisyGDClassifier, NoisyGDRegressor
from .pipeline import RecordWisePipeline, for_table, make_mapped_pipeline
from .record_wise import check_record_wise
from .rows import MappedRows, TableRows
from .scaling import RowScaling

__all__ = [
    "DeletionEstimator",
    "MappedRows",
    "NoisyGDClassifier",
    "NoisyGDRegressor",
    "RecordWisePipeline",
    "RowScaling",
    "TableRows",
    "check_record_wise",
    "for_table",
    "make_mapped_pipeline",
]

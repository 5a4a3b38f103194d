"""Pipelines whose steps learn nothing from the data, so that the last step's certificate covers the whole pipeline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
from sklearn.pipeline import Pipeline

from ..curator.release import Release
from ..errors import AssumptionViolated, InvalidParameter, InvalidRecords
from ..features.maps import PublicMap, Shapes
from ..records import Id
from .base import DeletionEstimator
from .behaviour import check_behaviour
from .record_wise import check_record_wise, refuse_memory
from .row_ids import ids_of, table_of_one
from .rows import MappedRows, TableRows


class RecordWisePipeline(Pipeline):  # type: ignore[misc]
    """Pipeline ending in an estimator of this package, with `delete`, `replace` and `insert` on raw rows.

    A `sklearn.pipeline.Pipeline`. `fit` raises `AssumptionViolated` if a step is fitted to data, or transforms a record
    differently depending on other records.
    """

    def fit(self, X: Any, y: Any = None, **parameters: Any) -> Self:
        refuse_memory(self)
        for _, step in self.steps[:-1]:
            check_record_wise(step)
        check_behaviour(self.steps[:-1], X, y)
        maps = [step.map for _, step in self.steps[:-1] if isinstance(getattr(step, "map", None), PublicMap)]
        if len(maps) > 1:
            raise AssumptionViolated("a plan names one public map; give one step with maps.Chain of them")
        name, learner = self.steps[-1]
        if not isinstance(learner, DeletionEstimator):
            super().fit(X, y, **parameters)
            return self
        named = f"{name}__ids"
        if (
            "ids" not in parameters
            and (ids := ids_of(X, y, parameters.get(named), parameters.get(f"{name}__subjects"))) is not None
        ):
            parameters[named] = ids  # a step may lose the index on the way
        with learner._behind(maps):
            super().fit(X, y, **parameters)
        return self

    def delete(self, ids: Iterable[Id] = (), *, subjects: Iterable[Id] = ()) -> Release:
        """Erase records and publish; see `DeletionEstimator.delete`."""
        release: Release = self[-1].delete(ids, subjects=subjects)
        return release

    def replace(self, replacements: Mapping[Id, tuple[Any, Any]]) -> Release:
        """Replace records and publish.

        Args:
            replacements: {id: (raw row, label)}; a row is a sequence in the order of the columns, a Series or a one-row
                DataFrame.
        """
        coded = {}
        for name, (row, label) in replacements.items():
            table = table_of_one(name, row)
            coded[name] = (
                _to_dense(self[:-1].transform(self._named(table if hasattr(table, "shape") else np.asarray(table))))[0],
                label,
            )
        release: Release = self[-1].replace(coded)
        return release

    def _named(self, X: Any) -> Any:
        """Return the rows, checked to have the columns in the order of `fit`: many transformers use positions."""
        fitted, given = getattr(self[0], "feature_names_in_", None), getattr(X, "columns", None)
        if fitted is not None and given is not None and list(given) != list(fitted):
            raise InvalidRecords(
                f"the columns are not {list(fitted)} in this order, as they were when the pipeline was fitted; nothing was changed"
            )
        return X

    def explain(self) -> Shapes:
        """Return the contribution of each column of an additive model: curves with their noise band.

        They are rendered in notebooks, and available as plain numbers (`to_dict`).

        Raises:
            InvalidParameter: If the first step is no additive map, or the model has several scores.
        """
        shapes: Shapes = self[-1]._explain(self.steps[0][1])
        return shapes

    def insert(self, X: Any, y: Any, *, ids: Iterable[Id] | None = None, **options: Any) -> Release:
        """Insert raw rows into free capacity and publish; see `DeletionEstimator.insert`."""
        release: Release = self[-1].insert(
            self[:-1].transform(self._named(X)), y, ids=ids_of(X, y, ids, options.get("subjects")), **options
        )
        return release


def _to_dense(rows: Any) -> Any:
    return rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)


def make_mapped_pipeline(map: PublicMap, estimator: DeletionEstimator) -> RecordWisePipeline:
    """Return a pipeline of the map and `estimator` that fits, predicts, deletes, replaces and inserts on raw records.

    The estimator's feature_bounds, row_norm and fit_intercept are set to use the rows unchanged: the map brings them to
    norm 1 with their constant column. The plan records the map's digest.
    """
    return _make_pipeline("map", MappedRows(map), estimator)


def _make_pipeline(name: str, rows: MappedRows, estimator: DeletionEstimator) -> RecordWisePipeline:
    if not isinstance(estimator, DeletionEstimator):
        raise InvalidParameter(
            f"a {type(estimator).__name__} erases nothing; give a NoisyGDClassifier or a NoisyGDRegressor"
        )
    estimator.set_params(feature_bounds=(-1, 1), row_norm=1.0, fit_intercept=False)
    return RecordWisePipeline([(name, rows), ("model", estimator)])


def for_table(
    columns: Mapping[str, Mapping[str, Any]], estimator: DeletionEstimator, *, kind: str = "additive"
) -> RecordWisePipeline:
    """Return a pipeline on a DataFrame that fits, predicts, deletes, replaces, inserts and explains itself.

    Args:
        columns: See `TableRows`.
        estimator: The final estimator.
        kind: See `TableRows`.
    """
    return _make_pipeline("rows", TableRows(columns, kind), estimator)

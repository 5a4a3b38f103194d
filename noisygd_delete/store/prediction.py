"""What the published model says about new rows: post-processing of a release, which costs no budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..schema import read_table
from .store import Store


@dataclass(frozen=True)
class Predictions:
    """One prediction per row of a file.

    names      ids where the file has the id column, else the number of the row, from 1
    labels     class names, or targets in their own unit
    accuracy   share predicted right, where the file has the labels of a classifier
    mean_absolute_error   of a target, where the file has it
    """

    names: Sequence[str]
    labels: Sequence[str] | Sequence[float]
    accuracy: float | None = None
    mean_absolute_error: float | None = None


def predict(store: Store, path: str | Path, delimiter: str | None = None) -> Predictions:
    """Predictions of the model in force for a CSV or Parquet file with the schema's columns; label and id may be missing.

    Raises:
        InvalidSchema: a cell does not fit the schema.
        NotLearned: no model is in force.
    """
    model, schema, table = store.model, store.schema, read_table(path, delimiter)
    named, labelled = schema.id_column in table.columns, schema.label_column in table.columns
    schema = replace(schema, id_column=schema.id_column if named else None, subject_column=None)
    encoded = schema.encode(table, labelled=labelled)
    found = model.predict(encoded.rows)
    names = encoded.ids or [str(number) for number in range(1, len(table) + 1)]
    labels = schema.decode(found)
    if not labelled:
        return Predictions(names, labels)
    if schema.classes is not None:
        return Predictions(names, labels, accuracy=float((found == encoded.labels).mean()))
    apart = np.abs(np.subtract(labels, schema.decode(encoded.labels)))
    return Predictions(names, labels, mean_absolute_error=float(apart.mean()))

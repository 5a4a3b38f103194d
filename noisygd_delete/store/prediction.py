"""What the published model says about new rows: post-processing of a release, which costs no budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..features.schema import read_table
from ..features.schema.schema import describe_faults
from .store import Store


@dataclass(frozen=True)
class Predictions:
    """One prediction per row of a file.

    names      ids where the file has the id column, else the number of the row, from 1
    labels     class names, or targets in their own unit
    measured   rows with a readable label, on which the three measures rest; each is None where they are 0
    accuracy   share predicted right, where the file has the labels of a classifier
    mean_absolute_error, r2   of a target, where the file has it
    rows_in_table   rows of the file that are in the training table, where it was measured; matched_by: "id", or "content" where they only
               look like rows there
    skipped    rows that could not be read, and are not predicted, or not measured where only the label is the fault: where and why
    probabilities   (rows, classes) in the order of `classes`, where they were asked for
    """

    names: Sequence[str]
    labels: Sequence[str] | Sequence[float]
    measured: int = 0
    accuracy: float | None = None
    mean_absolute_error: float | None = None
    r2: float | None = None
    rows_in_table: int = 0
    classes: Sequence[str] = ()
    probabilities: NDArray[np.float64] | None = None
    skipped: Sequence[str] = ()
    matched_by: str = "id"


def predict(
    store: Store,
    path: str | Path,
    delimiter: str | None = None,
    *,
    probabilities: bool = False,
) -> Predictions:
    """Predictions of the model in force for a CSV or Parquet file with the schema's columns; label and id may be missing.

    Raises:
        InvalidSchema: a cell does not fit the schema.
        InvalidParameter: probabilities of a model that predicts numbers.
        NotLearned: no model is in force.
    """
    model, schema, table = store.model, store.schema, read_table(path, delimiter, store.schema.reads())
    named, labelled = schema.id_column in table.columns, schema.label_column in table.columns
    schema = replace(schema, id_column=schema.id_column if named else None, subject_column=None).for_predictions()
    truth, kept, faults = schema.encode_readable(table, labelled=labelled)
    unlabelled = [fault for fault in faults if fault.column == schema.label_column]
    encoded = truth
    if unlabelled:  # rows whose label alone is the fault are predicted too
        encoded, kept, faults = schema.encode_readable(table, labelled=False)
    if faults and not kept:
        raise faults[0]
    schema.check_listed(encoded)
    found = model.predict(encoded.rows)
    names = encoded.ids or [str(row + 1) for row in kept]
    labels = schema.decode(found)
    chances = model.probabilities(encoded.rows) if probabilities else None
    answer = Predictions(
        names, labels, classes=schema.classes or (), probabilities=chances, skipped=tuple(describe_faults(faults))
    )
    if not labelled:
        return answer
    skipped = (*answer.skipped, *describe_faults(unlabelled, "not measured"))
    if not len(truth.rows):
        return replace(answer, skipped=(*skipped, "no label could be read: nothing was measured"))
    known, matched_by = store.table.rows_among(truth), store.table.matched_by(truth)
    answer = replace(answer, measured=len(truth.rows), rows_in_table=known, matched_by=matched_by, skipped=skipped)
    said = found if truth is encoded else model.predict(truth.rows)
    if schema.classes is not None:
        return replace(answer, accuracy=float((said == truth.labels).mean()))
    assert truth.targets is not None
    numbers = np.asarray(schema.decode(said), np.float64)
    error = float(np.abs(numbers - truth.targets).mean())
    return replace(answer, mean_absolute_error=error, r2=explained_share(truth.targets, numbers))


def explained_share(targets: NDArray[np.float64], found: NDArray[np.float64]) -> float | None:
    """Return R², the share of the targets' variance that the predictions explain; None if the targets are all equal."""
    total = float(np.square(targets - targets.mean()).sum())
    return 1.0 - float(np.square(targets - found).sum()) / total if total > 0 else None

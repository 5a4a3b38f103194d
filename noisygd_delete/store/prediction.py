"""Predictions of the published model for new rows. They are post-processing of a release and cost no budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..features.schema import read_blocks
from ..features.schema.schema import describe_faults
from .store import Store


@dataclass(frozen=True)
class Predictions:
    """One prediction per row of a file.

    Attributes:
        names: Ids if the file has the id column, else row numbers from 1.
        labels: Class names, or targets in their own unit.
        measured: The number of rows with a readable label, from which the three measures are computed; each is None if
            it is 0.
        accuracy: The share predicted correctly, for a classifier whose file has labels.
        mean_absolute_error: For a regression whose file has targets.
        r2: For a regression whose file has targets.
        rows_in_table: The number of measured rows that are in the training set.
        classes: The class names.
        probabilities: Shape (rows, classes), in the order of `classes`, if requested.
        skipped: Rows that could not be read, with place and reason. They are not predicted or, if only the label is at
            fault, not measured.
        matched_by: How `rows_in_table` was found: "id", or "content" if the rows merely equal rows there.
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
    progress: Callable[[int], None] | None = None,
) -> Predictions:
    """Predict a CSV or Parquet file that has the schema's columns with the current model; label and id may be missing.

    Args:
        store: The store.
        path: The file.
        delimiter: The delimiter of a CSV file.
        probabilities: Whether to return class probabilities.
        progress: Called with the number of rows read so far.

    Raises:
        InvalidSchema: If a column is missing, or no row can be read.
        InvalidParameter: If probabilities are requested of a model that predicts numbers.
        NotLearned: If there is no current model.
    """
    model, schema = store.model, store.schema
    columns = next(read_blocks(path, delimiter, rows=1, columns=schema.reads())).columns
    named, labelled = schema.id_column in columns, schema.label_column in columns
    schema = replace(schema, id_column=schema.id_column if named else None, subject_column=None).for_predictions()
    truth, kept, faults = schema.encode_readable_file(path, delimiter, labelled=labelled, progress=progress)
    unlabelled = [fault for fault in faults if fault.column == schema.label_column]
    encoded = truth
    if unlabelled:  # rows in which only the label is at fault are predicted too
        encoded, kept, faults = schema.encode_readable_file(path, delimiter, labelled=False)
    if faults and not len(kept):
        raise faults[0]
    schema.check_listed(encoded)
    found = model.predict(encoded.rows)
    names = encoded.ids or [str(row + 1) for row in kept.tolist()]
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

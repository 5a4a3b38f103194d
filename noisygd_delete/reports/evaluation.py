"""Quality of the current model on labelled rows of a file: standard measures, compared with a constant prediction.

The measures equal scikit-learn's. Nothing is stored and no budget is spent: for rows outside the training table this is
post-processing of a published model. For rows inside it, it is a statistic of private data, and the result counts them;
`private_evaluation.evaluate_records` measures on the table itself under noise, and charges the budget.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..features.schema import Encoded, read_blocks
from ..features.schema.schema import describe_faults
from ..store import Store
from ..store.prediction import explained_share
from .plain_evaluation import PlainScore, measure_without_noise

_BINS = 10


@dataclass(frozen=True)
class Tenth:
    """Rows whose predicted probability, of the predicted class, is between two consecutive tenths.

    Attributes:
        rows: Number of rows.
        predicted: Mean predicted probability.
        right: Share of correct predictions.
    """

    rows: int
    predicted: float
    right: float


@dataclass(frozen=True)
class Evaluation:
    """Measures on one file.

    Attributes:
        rows: Rows of the file.
        rows_in_table: How many of them are in the training table.
        baseline: The best constant prediction on the file: its most frequent class, or its median.
        baseline_accuracy: Accuracy of the baseline.
        accuracy: Accuracy of a classifier.
        balanced_accuracy: Mean of the accuracies of the classes.
        log_loss: Log loss of a classifier.
        auc: Area under the ROC curve (one against the rest, macro average); None if the file lacks a class.
        classes: The classes of a classifier.
        confusion: `confusion[i][j]` is the number of rows of class i predicted as class j.
        calibration: Calibration for each tenth of predicted probability.
        calibration_error: Mean difference of predicted probability and accuracy, weighted by rows.
        mean_absolute_error: Of a regression target, in its own unit and as the file has it, also beyond its bounds.
        root_mean_squared_error: The same for the root mean squared error.
        r2: Coefficient of determination.
        baseline_mean_absolute_error: Mean absolute error of the baseline.
        skipped: Rows that could not be read and were skipped: where and why.
        matched_by: How `rows_in_table` was counted: "id", or "content" if the file has no ids, so that rows only look
            alike.
        without_noise: The score of a fit without noise, if it was asked for; not private.
    """

    rows: int
    rows_in_table: int
    baseline: str | float
    baseline_accuracy: float | None = None
    accuracy: float | None = None
    balanced_accuracy: float | None = None
    log_loss: float | None = None
    auc: float | None = None
    classes: Sequence[str] = ()
    confusion: Sequence[Sequence[int]] = ()
    calibration: Sequence[Tenth] = ()
    calibration_error: float | None = None
    mean_absolute_error: float | None = None
    root_mean_squared_error: float | None = None
    r2: float | None = None
    baseline_mean_absolute_error: float | None = None
    skipped: tuple[str, ...] = ()
    matched_by: str = "id"
    without_noise: PlainScore | None = None

    @property
    def beats_baseline(self) -> bool:
        """Whether the model is better than the best constant prediction."""
        if self.accuracy is not None and self.baseline_accuracy is not None:
            return self.accuracy > self.baseline_accuracy
        assert self.mean_absolute_error is not None
        assert self.baseline_mean_absolute_error is not None
        return self.mean_absolute_error < self.baseline_mean_absolute_error

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as a JSON object."""
        return {**asdict(self), "beats_baseline": self.beats_baseline}


def evaluate(
    store: Store,
    path: str | Path,
    delimiter: str | None = None,
    *,
    plain: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Evaluation:
    """Evaluate the current model on a CSV or Parquet file; rows that do not fit the schema are skipped and listed.

    Args:
        store: The open store.
        path: File with the schema's columns, label included; ids are optional.
        delimiter: Of a CSV file; None detects it.
        plain: Whether to measure a fit without noise too (`plain_evaluation`), which nothing protects.
        progress: Called with the number of rows read so far.

    Raises:
        InvalidSchema: If no row fits the schema, or the label column is missing.
        NotLearned: If there is no current model.
    """
    schema = store.schema
    named = schema.id_column in next(read_blocks(path, delimiter, rows=1, columns=schema.reads())).columns
    schema = replace(schema, id_column=schema.id_column if named else None, subject_column=None)
    encoded, kept, faults = schema.encode_readable_file(path, delimiter, progress=progress)
    if not len(kept):
        raise faults[0]
    beside = measure_without_noise(store, encoded) if plain else None
    return replace(measure(store, encoded), skipped=tuple(describe_faults(faults)), without_noise=beside)


def measure(store: Store, encoded: Encoded) -> Evaluation:
    """Evaluate the current model on rows encoded by the store's schema; raises as `evaluate`."""
    model, schema = store.model, store.schema
    known, matched_by = store.table.rows_among(encoded), store.table.matched_by(encoded)
    predictions = model.predict(encoded.rows)
    if schema.classes is None:
        assert encoded.targets is not None
        targets, found = encoded.targets, np.asarray(schema.decode(predictions))
        middle = float(np.median(targets))
        return Evaluation(
            rows=len(targets),
            rows_in_table=known,
            matched_by=matched_by,
            baseline=middle,
            mean_absolute_error=float(np.abs(targets - found).mean()),
            root_mean_squared_error=float(np.sqrt(np.square(targets - found).mean())),
            r2=explained_share(targets, found),
            baseline_mean_absolute_error=float(np.abs(targets - middle).mean()),
        )
    classes = schema.classes
    truth, found = class_numbers(encoded.labels, len(classes)), class_numbers(predictions, len(classes))
    chances, counts = model.probabilities(encoded.rows), np.bincount(truth, minlength=len(classes))
    tenths = _calibration(chances, truth)
    present = counts > 0
    return Evaluation(
        rows=len(truth),
        rows_in_table=known,
        matched_by=matched_by,
        baseline=classes[int(counts.argmax())],
        baseline_accuracy=float(counts.max() / len(truth)),
        accuracy=float((truth == found).mean()),
        balanced_accuracy=float(
            (np.bincount(truth[truth == found], minlength=len(classes))[present] / counts[present]).mean()
        ),
        log_loss=_log_loss(truth, chances),
        auc=_auc(truth, chances) if present.all() else None,
        classes=classes,
        confusion=np.bincount(truth * len(classes) + found, minlength=len(classes) ** 2)
        .reshape(len(classes), -1)
        .tolist(),
        calibration=tenths,
        calibration_error=_calibration_error(tenths),
    )


def _log_loss(truth: NDArray[np.intp], chances: NDArray[np.float64]) -> float:
    """Return the mean of −log of the true class's probability, which counts as at least one unit in the last place."""
    return float(-np.log(np.maximum(chances[np.arange(len(truth)), truth], np.finfo(chances.dtype).eps)).mean())


def _calibration_error(tenths: Sequence[Tenth]) -> float:
    """Return the mean difference of predicted probability and accuracy, weighted by rows."""
    return sum(tenth.rows * abs(tenth.predicted - tenth.right) for tenth in tenths) / sum(
        tenth.rows for tenth in tenths
    )


def class_numbers(labels: NDArray[np.float64], classes: int) -> NDArray[np.intp]:
    """Return the class numbers of labels in the engine's coding (−1/+1 for two classes)."""
    return ((labels + 1) / 2 if classes == 2 else labels).astype(np.intp)


def _auc(truth: NDArray[np.intp], chances: NDArray[np.float64]) -> float:
    """Return the area under the ROC curve; of several classes the mean over each against the rest."""
    if chances.shape[1] == 2:
        return _area(chances[truth == 1, 1], chances[truth != 1, 1])
    numbers = range(chances.shape[1])
    return sum(_area(chances[truth == k, k], chances[truth != k, k]) for k in numbers) / len(numbers)


def _area(inside: NDArray[np.float64], outside: NDArray[np.float64]) -> float:
    """Return the share of pairs in which the score inside the class is the larger one; equal scores count half."""
    scores = np.sort(outside)
    below = scores.searchsorted(inside) + scores.searchsorted(inside, side="right")
    return float(below.mean() / (2 * len(scores)))


def _calibration(odds: NDArray[np.float64], truth: NDArray[np.intp]) -> tuple[Tenth, ...]:
    chances, right = odds.max(axis=1), truth == odds.argmax(axis=1)
    tenth = np.minimum((chances * _BINS).astype(int), _BINS - 1)
    return tuple(
        Tenth(int(inside.sum()), float(chances[inside].mean()), float(right[inside].mean()))
        for inside in (tenth == number for number in range(_BINS))
        if inside.any()
    )

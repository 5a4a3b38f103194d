"""Quality of the current model on its own training records: counts with exact noise, charged to the budget.

Each record is counted in one cell, by its label and its prediction: for classes a confusion matrix, for a regression
target the size of the error. All results are computed from the noisy counts, so only these cost budget
(`methods.CountedRecords`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..curator.model import Model
from ..engine import Execution
from ..engine.noise import on_noisy_grid
from ..errors import check_positive
from ..methods import CountedRecords
from ..methods.plan import Plan
from ..privacy.guarantee import Guarantee
from ..records import Records
from ..store import Store
from .evaluation import class_numbers

BINS = 50  # bins of the absolute error, over the range of the target
_SHARE = 10.0  # ratio of the budget's μ to that of the default noise
_BLOCK = 1 << 12  # slots predicted together: fixed, so that a record's prediction does not depend on the others
_TWICE = 2.0  # standard deviations of the reported interval


@dataclass(frozen=True)
class CountedEvaluation:
    """Measures of the model on its training records, from noisy counts.

    An overfitted model looks better here than on new rows.

    Attributes:
        release: Number of these counts among the releases.
        deviation: Standard deviation τ of the noise of each count.
        rows: Noisy sum of the counts.
        within: Twice the standard deviation that the noise gives the accuracy, or the error.
        alone: What these counts alone reveal about a record that is still present.
        together: What they reveal together with every release.
        classes: The classes of a classifier.
        confusion: `confusion[i][j]` is the noisy number of records of class i predicted as class j.
        accuracy: Noisy share of correct predictions among `rows`.
        baseline_accuracy: The same for predicting the most frequent class.
        mean_absolute_error: Of a regression target, in its own unit, accurate to half a bin of `bin_width`.
        bin_width: Width of a bin of errors, in the unit of the target.
    """

    release: int
    deviation: float
    rows: float
    within: float
    alone: Guarantee
    together: Guarantee
    classes: Sequence[str] = ()
    confusion: Sequence[Sequence[float]] = ()
    accuracy: float | None = None
    baseline_accuracy: float | None = None
    mean_absolute_error: float | None = None
    bin_width: float | None = None

    def to_dict(self, delta: float) -> dict[str, Any]:
        """Return all fields as JSON types, with (ε, δ) figures at this δ."""
        guarantees = {
            name: {"epsilon": each.with_slack().epsilon(delta), "delta": delta, "adjacency": str(each.adjacency)}
            for name, each in (("alone", self.alone), ("together", self.together))
        }
        measures = {name: fact for name, fact in asdict(self).items() if name not in guarantees}
        return {**measures, **guarantees}


def evaluate_records(store: Store, noise: float | None = None) -> CountedEvaluation:
    """Evaluate the current model on the records of the store under noise, and charge the budget.

    Args:
        store: The open store.
        noise: Least standard deviation of the noise of each count, rounded up to a power of two; None spends a tenth of
            the μ that the budget gives to a release, or to all.

    Raises:
        BudgetExceeded: As `Store.charge`; nothing was charged.
        InvalidRequest: As `Store.charge`; nothing was charged.
        NotLearned: As `Store.charge`; nothing was charged.
    """
    plan, model, records = store.plan, store.model, store.records
    facts = CountedRecords(
        records=plan.problem.records,
        deviation=_power_of_two(_default_epsilon(plan) if noise is None else check_positive("noise", noise)),
        rows_per_subject=plan.problem.rows_per_subject,
    )
    classes = store.schema.classes
    exact = _confusion_counts(model, records, len(classes)) if classes is not None else _error_counts(model, records)
    noisy = on_noisy_grid(exact.astype(np.float64), Execution().noise(), output_noise=facts.deviation)
    number = store.charge(facts)
    adjacency = plan.problem.adjacency
    costs = {
        "release": number,
        "deviation": facts.deviation,
        "rows": float(noisy.sum()),
        "alone": facts.interval("dp", adjacency, steps_with=1),
        "together": store.accountant.dp_cumulative(adjacency=adjacency),
    }
    if classes is None:
        ends = store.schema.decode(np.array([-1.0, 1.0]))
        return _error_evaluation(noisy, abs(float(ends[1]) - float(ends[0])), costs)
    return _class_evaluation(noisy, classes, costs)


def _default_epsilon(plan: Plan) -> float:
    problem = plan.problem
    facts = CountedRecords(records=problem.records, deviation=1.0, rows_per_subject=problem.rows_per_subject)
    return max(1.0, _SHARE * facts.count_distance(problem.adjacency) / problem.budget.dp_gdp())


def _power_of_two(least: float) -> float:
    return 2.0 ** max(0, math.ceil(math.log2(least)))


def _prediction_blocks(model: Model, records: Records) -> Any:
    """Yield labels and predictions of the records, by blocks of slots."""
    occupied = records.occupied
    for start in range(0, records.slots, _BLOCK):
        part = slice(start, start + _BLOCK)
        rows = records.features[part] if records.coded_rows is None else records.coded_rows.select(part)
        predictions, used = model.predict(rows), occupied[part]
        yield records.labels[part][used], predictions[used]


def _confusion_counts(model: Model, records: Records, classes: int) -> NDArray[np.int64]:
    counts = np.zeros((classes, classes), np.int64)
    for truth, predictions in _prediction_blocks(model, records):
        cells = class_numbers(truth, classes) * classes + class_numbers(predictions, classes)
        counts += np.bincount(cells, minlength=classes**2).reshape(counts.shape)
    return counts


def _error_counts(model: Model, records: Records) -> NDArray[np.int64]:
    """Return a histogram of absolute errors, as a share of the target's range; labels are coded in [−1, 1]."""
    counts = np.zeros(BINS, np.int64)
    for truth, predictions in _prediction_blocks(model, records):
        sizes = np.abs(np.clip(predictions, -1, 1) - np.clip(truth, -1, 1)) / 2
        counts += np.bincount(np.minimum((sizes * BINS).astype(int), BINS - 1), minlength=BINS)
    return counts


def _class_evaluation(noisy: NDArray[np.float64], classes: Sequence[str], costs: dict[str, Any]) -> CountedEvaluation:
    total, cells, side = costs["rows"], noisy.size, len(noisy)
    known = total > 0
    accuracy = float(np.clip(np.trace(noisy) / total, 0, 1)) if known else None
    # variance of a noisy ratio a = t/n, to first order: n² var = τ²(cells in t − 2 a · cells in both + a² · cells in n)
    spread = 0.0 if accuracy is None else math.sqrt(side - 2 * accuracy * side + accuracy**2 * cells)
    return CountedEvaluation(
        **costs,
        within=_TWICE * costs["deviation"] * spread / total if known else math.inf,
        classes=classes,
        confusion=noisy.tolist(),
        accuracy=accuracy,
        baseline_accuracy=float(np.clip(noisy.sum(axis=1).max() / total, 0, 1)) if known else None,
    )


def _error_evaluation(noisy: NDArray[np.float64], width: float, costs: dict[str, Any]) -> CountedEvaluation:
    total, middles = costs["rows"], (np.arange(BINS) + 0.5) / BINS
    known = total > 0
    error = float(np.clip(noisy @ middles / total, 0, 1)) if known else None
    spread = 0.0 if error is None else float(np.linalg.norm(middles - error))
    return CountedEvaluation(
        **costs,
        within=_TWICE * costs["deviation"] * spread / total * width if known else math.inf,
        mean_absolute_error=None if error is None else error * width,
        bin_width=width / BINS,
    )

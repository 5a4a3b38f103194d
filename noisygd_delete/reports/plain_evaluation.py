"""The score of the same features and loss without noise: what privacy costs, for the owner of the records alone.

It is computed from the records without any protection. So it is returned to the caller and written nowhere: no store,
ledger, certificate or page holds it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..curator.model import Model
from ..engine.execution import limit_threads
from ..engine.objective import PreciseObjective
from ..engine.solver import solve
from ..engine.sums import numbers_of, to_sparse_records
from ..features.schema import Encoded
from ..losses import PseudoHuber, Squared
from ..losses.base import Loss
from ..losses.clipped import Clipped
from ..records import Records
from ..store import Store
from ..store.prediction import explained_share

MOST_ROWS = 50_000  # learned from; evenly spaced in the table if it has more
_RIDGE = 0.1  # λn
_TOLERANCE = 1e-3  # of the gradient's norm, relative to β₊
_READINGS = 20  # gradients to expect
_ALMOST_SQUARED = 10.0  # δ of pseudo-Huber: its slopes differ from those of squares by 0.5 % at a residual of 1
NOT_PRIVATE = "not private: do not publish"


@dataclass(frozen=True)
class PlainScore:
    """Score of a model fitted without noise.

    Attributes:
        learned_from: Number of records fitted to.
        records: Number of records in the table.
        accuracy: Accuracy of a classifier.
        mean_absolute_error: Of a regression target, in its own unit.
        r2: Coefficient of determination.
        caution: What must not be done with it.
    """

    learned_from: int
    records: int
    accuracy: float | None = None
    mean_absolute_error: float | None = None
    r2: float | None = None
    caution: str = NOT_PRIVATE

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a JSON object."""
        return asdict(self)

    def __str__(self) -> str:
        some = "" if self.learned_from == self.records else f" from {self.learned_from:,} of {self.records:,} records"
        if self.accuracy is not None:
            score = f"{self.accuracy:.1%}"
        else:
            score = f"R² {'not defined' if self.r2 is None else format(self.r2, '.3f')}, {self.mean_absolute_error:.4g}"
        return f"without noise{some}: {score} ({self.caution})"


def measure_without_noise(store: Store, encoded: Encoded) -> PlainScore | None:
    """Return the score, on rows encoded by the store's schema, of a plain fit to the store's records.

    The fit minimizes the loss, without the clip that limits a record's influence, with λ = 1/(10n), on the features as
    the store has them: on six tables its score was within .01 of the best of λn from .002 to 1.

    Args:
        store: The open store.
        encoded: The rows to measure on.

    Returns:
        The score; None if the rows are in a source or the loss has no minimizer that a solver finds, as of a network.
    """
    plan, schema = store.plan, store.schema
    loss = None if plan.calibration.stages or store.source is not None else _plain_loss(plan.problem.loss)
    if loss is None:
        return None
    records = select_records(store.records, MOST_ROWS)
    model = fit_without_noise(records, loss, by_person=plan.problem.by_person)
    size, predictions = (len(records), len(store.records)), model.predict(encoded.rows)
    if schema.classes is not None:
        return PlainScore(*size, accuracy=float((predictions == encoded.labels).mean()))
    assert encoded.targets is not None
    found = np.asarray(schema.decode(predictions))
    error = float(np.abs(encoded.targets - found).mean())
    return PlainScore(*size, mean_absolute_error=error, r2=explained_share(encoded.targets, found))


def select_records(records: Records, most: int) -> Records:
    """Return the records of a table in slots of their own, evenly spaced ones if there are more than `most`."""
    used = np.flatnonzero(records.occupied)
    places = used[np.arange(min(most, len(used))) * len(used) // min(most, len(used))]
    kept: Any = records.coded_rows if records.sparse is None else records.sparse
    rows = records.features[places] if kept is None else kept.select(places)
    owners = None if records.owners is None else [records.owners[slot] for slot in places.tolist()]
    return Records.from_slots(rows, records.labels[places], [records.names[slot] for slot in places.tolist()], owners)


def _plain_loss(loss: Loss) -> Loss | None:
    """Return the convex loss that a plain fit minimizes; None if there is none."""
    if isinstance(loss, Squared):
        return PseudoHuber(loss.radius, _ALMOST_SQUARED)
    plain: Loss = loss.base if isinstance(loss, Clipped) else loss
    return plain if plain.constants.convex and not plain.clips_each else None


def fit_without_noise(records: Records, loss: Loss, *, by_person: bool = False) -> Model:
    """Return the minimizer of the mean loss + ‖θ‖²/20n, for the owner's eyes: nothing protects the records in it.

    Args:
        records: The records.
        loss: A convex loss.
        by_person: Whether each row weighs its person's `person_shares`.
    """
    records, regularization = to_sparse_records(records), _RIDGE / records.slots
    with limit_threads(numbers_of(records) * loss.outputs):
        solution = solve(
            PreciseObjective(records, loss, regularization=regularization, readings=_READINGS, by_person=by_person),
            start=None,
            tolerance=_TOLERANCE * loss.constants.smoothness,
            strong_convexity=regularization,
            objective_smoothness=regularization + loss.constants.smoothness,
        )
    weights = solution.weights
    return Model(weights=weights[0] if loss.outputs == 1 else weights, loss=loss, certified=False)

"""What the constants of a loss assume of the records, checked row by row."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..bounds.arithmetic import BLOCK, NORM_TOLERANCE, SPAN
from ..errors import AssumptionViolated, InvalidRecords
from ..losses.base import Loss
from ..records import Records
from .group import ALONE, Group
from .windows import windows


def check_records(
    records: Records, loss: Loss, group: Group = ALONE, *, variances: NDArray[np.float64] | None = None
) -> None:
    """Raise unless every record meets the assumptions behind the loss's constants: row norm ≤ R, labels of its kind.

    In a group each process reads its own rows, and all of them raise alike.

    Args:
        variances: (features,) v of a shaped noise, for which √(xᵀΣ⁻¹x) ≤ R is assumed as well.
    """
    own = group.rows(records.slots, BLOCK)
    longest, slot = max(group.gather(_longest(records.features, own)))
    if not longest <= loss.radius * (1 + NORM_TOLERANCE):
        raise AssumptionViolated(
            f"the row of id {records.names[slot]!r} has norm {longest:.6g} > radius={loss.radius:g}: L and β are proven "
            "for shorter rows only. Divide every row by its own norm, clip it, or give the loss a larger radius"
        )
    if variances is not None:
        longest, slot = max(group.gather(_longest(records.features, own, 1 / variances)))
        if not longest <= loss.radius * (1 + NORM_TOLERANCE):
            raise AssumptionViolated(
                f"the row of id {records.ids_by_slot[slot]!r} has norm {longest:.6g} > radius={loss.radius:g} in the shape of the "
                'noise: one of its one-hot blocks is cold. Give the block a column for unknown values (unknown = "column"), divide '
                "the row by that norm, or plan without one_hot_blocks"
            )
    check_labels(records.labels, records.occupied, loss)


def _longest(rows: NDArray[np.float32], own: range, weights: NDArray[np.float64] | None = None) -> tuple[float, int]:
    """The largest norm among the rows `own`, its squares weighted by `weights`, and where."""
    longest = (0.0, own.start)
    for part in windows(rows, own.start, own.stop, SPAN):
        if weights is None:
            squares = np.einsum("ij,ij->i", rows[part], rows[part], dtype=np.float64)
        else:
            squares = np.square(rows[part], dtype=np.float64) @ weights
        slot = int(squares.argmax())  # a NaN is the largest of all
        norm = math.inf if np.isnan(squares[slot]) else math.sqrt(squares[slot])
        longest = max(longest, (norm, part.start + slot))
    return longest


def check_labels(labels: NDArray[np.float64], occupied: NDArray[np.bool_], loss: Loss) -> None:
    """Raise `InvalidRecords` unless the labels of occupied slots are of the loss's kind."""
    used = labels[occupied]
    if loss.label_kind == "binary" and not np.isin(used, (-1.0, 1.0)).all():
        raise InvalidRecords("labels must be −1 or +1 for this loss; map the two class names to them")
    if loss.label_kind == "class":
        classes = loss.outputs
        if not (np.isin(used, np.arange(classes))).all():
            raise InvalidRecords(f"labels must be whole numbers 0..{classes - 1} for {classes} classes")

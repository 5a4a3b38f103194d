"""What the constants of a loss assume of the records, checked row by row."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bounds.arithmetic import BLOCK, CHUNK, NORM_TOLERANCE
from ..errors import AssumptionViolated, InvalidParameter, InvalidRecords
from ..losses.base import Loss
from ..records import SparseRows
from ..records.sparse import NO_ARRAY
from .group import ALONE, Group
from .sums import Checked, CurrentRecords
from .windows import windows

_LABELS = 1 << 16  # looked at at a time
_CACHED = 1 << 18  # numbers that are squared at a time, which stay in the processor's cache
_LEAST = 64  # rows of a piece
_TOO_LONG = (
    ": L and β are proven for shorter rows only. Divide every row by its own norm, clip it, or give the loss a larger radius",
    " in the shape of the noise: one of its one-hot blocks is cold. Give the block a column for unknown values "
    '(unknown = "column"), divide the row by that norm, or plan without one_hot_blocks',
)


def check_records(
    records: CurrentRecords | Checked, loss: Loss, group: Group = ALONE, *, variances: NDArray[np.float64] | None = None
) -> None:
    """Raise unless every record meets the assumptions behind the loss's constants: row norm ≤ R, labels of its kind.

    In a group each process reads its own rows, and all of them raise alike. Alone, a table that met them and has only lost records
    since is not read again.

    Args:
        variances: (features,) v of a shaped noise, for which √(xᵀΣ⁻¹x) ≤ R is assumed as well.
    """
    if isinstance(records, Checked):
        return records.check(loss, variances)
    assumed = (loss.radius, loss.label_kind, loss.outputs, None if variances is None else variances.tobytes())
    if group is ALONE and records.is_checked(assumed):
        return
    if records.sparse is not None and group is not ALONE:
        raise InvalidParameter(NO_ARRAY)
    own = group.rows(records.slots, BLOCK)
    longest = group.gather(longest_rows(records.sparse or records.features, own, variances))
    check_norms(list(map(max, zip(*longest, strict=True))), loss, lambda slot: f"the row of id {records.names[slot]!r}")
    for first in range(0, records.slots, _LABELS):
        part = slice(first, first + _LABELS)
        check_labels(records.labels[part], records.names.held_in(part), loss)
    records.mark_checked(assumed)


def check_norms(longest: list[tuple[float, int]], loss: Loss, named: Callable[[int], str]) -> None:
    """Raise `AssumptionViolated` unless these largest norms, of `longest_rows`, are within the loss's radius."""
    for (norm, slot), advice in zip(longest, _TOO_LONG, strict=False):
        if not norm <= loss.radius * (1 + NORM_TOLERANCE):
            raise AssumptionViolated(f"{named(slot)} has norm {norm:.6g} > radius={loss.radius:g}{advice}")


def longest_rows(
    rows: NDArray[np.float32] | SparseRows, own: range, variances: NDArray[np.float64] | None
) -> list[tuple[float, int]]:
    """The largest ‖x‖ among the rows `own`, and where; with `variances`, the largest √(xᵀΣ⁻¹x) as well."""
    weights = [np.ones(rows.shape[1]), *([] if variances is None else [1 / variances])]
    longest = [(0.0, own.start)] * len(weights)
    columns = np.array(weights).T
    for part, squares in _squares(rows, own):
        for which, sums in enumerate((squares @ columns).T):
            slot = int(sums.argmax())  # a NaN is the largest of all
            norm = math.inf if np.isnan(sums[slot]) else math.sqrt(sums[slot])
            longest[which] = max(longest[which], (norm, part.start + slot))
    return longest


def _squares(rows: NDArray[np.float32] | SparseRows, own: range) -> Iterator[tuple[slice, Any]]:
    """The squares of the values of some rows at a time, in float64, and which they are."""
    if isinstance(rows, SparseRows):
        for start in range(own.start, own.stop, CHUNK):
            chunk = slice(start, min(start + CHUNK, own.stop))
            yield chunk, rows.part(chunk.start, chunk.stop, "float64").power(2)
        return
    most = max(_LEAST, min(CHUNK, _CACHED // rows.shape[1], len(own)))
    buffer = np.empty((most, rows.shape[1]))
    for part in windows(rows, own.start, own.stop, most):
        squares = buffer[: part.stop - part.start]
        np.copyto(squares, rows[part])
        yield part, np.square(squares, out=squares)


LARGEST_TARGET = 1e6  # no bound of a theorem: sums of scores and slopes stay finite far beyond it


def check_labels(labels: NDArray[np.float64], occupied: NDArray[np.bool_], loss: Loss) -> None:
    """Raise `InvalidRecords` unless the labels of occupied slots are of the loss's kind."""
    if loss.label_kind == "binary" and not ((np.abs(labels) == 1.0) | ~occupied).all():
        raise InvalidRecords("labels must be −1 or +1 for this loss; map the two class names to them")
    if loss.label_kind == "class":
        classes = loss.outputs
        if not (np.isin(labels, np.arange(classes)) | ~occupied).all():
            raise InvalidRecords(f"labels must be whole numbers 0..{classes - 1} for {classes} classes")
    if loss.label_kind == "target" and not ((np.abs(labels) <= LARGEST_TARGET) | ~occupied).all():
        raise InvalidRecords(
            f"targets must be numbers between -{LARGEST_TARGET:,.0f} and {LARGEST_TARGET:,.0f}; map them to [-1, 1] by public bounds"
        )

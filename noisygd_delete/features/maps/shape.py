"""Contribution of one column, or of a pair of columns, of an additive model, and how a column is presented."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import InvalidParameter
from .base import Floats


@dataclass(frozen=True)
class Axis:
    """How one column of an additive map is presented.

    Attributes:
        name: Name of the column of the table.
        labels: Of its categories or, with `inputs`, of the only numbers in [−1, 1] that it can be.
        inputs: Those numbers, one for each label; empty for a category, and for a number with any value in [−1, 1].
        raw: Conversion from [−1, 1] to the column's own unit.
        scale: Unit of the converted values, see `Shape`.
        may_be_absent: Whether a cell can have no entry in this column.
        indicator: Place of the map's column that is 1 for a cell without a value here, and 0 for any other cell.
        group: Places of the map's other columns that are 0 for such a cell.
        other: Label of such a cell in `labels`; empty if it is reported as `Shape.missing`.
    """

    name: str
    labels: tuple[str, ...] = ()
    inputs: tuple[float, ...] = ()
    raw: Callable[[Floats], Any] | None = None
    scale: str = "number"
    may_be_absent: bool = False
    indicator: int | None = None
    group: tuple[int, ...] = ()
    other: str = ""


@dataclass(frozen=True)
class Side:
    """The second column of a pair: `edges` (on `scale`) or `labels`, see `Shape`."""

    edges: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()
    scale: str = "number"

    @property
    def parts(self) -> int:
        """Number of bins (one less than `edges`), or of labels if there are no edges."""
        return len(self.edges) - 1 if self.edges else len(self.labels)


@dataclass(frozen=True)
class Shape:
    """Contribution of one column, or of a pair, to a score, minus its mean over bins or categories.

    Attributes:
        name: Of the column, or of the two columns of a pair.
        values: By bin or by category; for a pair all parts of the second for the first of the first, and so on.
        edges: (values + 1,) ends of the bins in the column's own unit; empty for a category.
        labels: Of the categories, or of the two values of a boolean.
        missing: For a cell that is empty or not in the list, instead of all the column's shapes; None if every cell has
            a value.
        second: The second column of a pair.
        lowest: At the lower end itself, if that has no bin (`Additive.amounts`); else None.
        scale: Unit of `edges`: "number"; "date", seconds since 1970-01-01; or "time", seconds since midnight.
    """

    name: str
    values: tuple[float, ...]
    edges: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()
    missing: float | None = None
    second: Side | None = None
    lowest: float | None = None
    scale: str = "number"

    def __post_init__(self) -> None:
        beside = Side(labels=("",)) if self.second is None else self.second
        ends = Side(self.edges, self.labels).parts * beside.parts == len(self.values)
        if (
            not self.values
            or not ends
            or not np.isfinite(
                [*self.values, *self.edges, *beside.edges, self.missing or 0.0, self.lowest or 0.0]
            ).all()
        ):
            raise InvalidParameter(
                f"the shape of {self.name!r} has other bins or categories than values; export it again"
            )

    @property
    def importance(self) -> float:
        """Mean absolute value over bins or categories with equal weights; independent of how often rows have each."""
        return float(np.abs(self.values).mean())

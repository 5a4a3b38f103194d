"""Contributions of the columns of an additive model: curves with the band of the noise, as numbers and as pictures."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from ...errors import InvalidParameter, check_real, non_negative
from .additive import Additive
from .base import Floats
from .drawings import draw_shape
from .shape import Axis, Shape, Side

_MOST = 1000  # shapes in a file


@dataclass(frozen=True)
class Shapes:
    """All shapes of a model, the most important first. A row's score is `constant` plus one value of each column.

    A row that has no entry in some columns (an amount of 0, an unlisted category) has a smaller divisor: its score is
    that sum times the root of (1 + columns)/(1 + columns with an entry), so the sign and the order of the contributions
    are the same.

    Attributes:
        shapes: The shapes.
        constant: Contribution to every row.
        noise: Upper bound on the standard deviation of the noise in the value of any bin or category: s√chain/(nλ) for
            objective perturbation of a convex loss. It is less in regions with many rows, which only the rows could
            show.
        unit: Unit of the values.
        release: Number of the store's release, if there is one.
    """

    shapes: tuple[Shape, ...]
    constant: float
    noise: float
    unit: str
    release: int | None = None

    def __post_init__(self) -> None:
        check_real("constant", self.constant)
        non_negative("noise", self.noise)

    @classmethod
    def of(
        cls,
        map: Additive,
        weights: ArrayLike,
        *,
        noise: float,
        unit: str,
        axes: Sequence[Axis] | None = None,
        release: int | None = None,
        radius: float = 1.0,
        clip: bool = False,
    ) -> Shapes:
        """Return the contribution of each column and pair of columns to one score, the most important first.

        Each is centred over its bins or categories with equal weights, and the means are added to the constant. Values
        and noise are multiplied by radius/√(entries of a row, the constant included). An axis with an `indicator` has
        that column's contribution in its `missing`, or as the category `other`, and the indicator no shape.

        Args:
            map: The map.
            weights: Weights of one score.
            noise: Upper bound on the standard deviation of the noise of the weights in any direction.
            unit: Unit of the values.
            axes: How each column of the map is presented; None: by its place, on the map's own scale.
            release: Number of the store's release.
            radius: See `normalize_rows`, as used for the rows.
            clip: See `normalize_rows`, as used for the rows.

        Raises:
            InvalidParameter: If no bound on the noise is known (method 'sufficient-statistics').
        """
        if math.isinf(noise):
            raise InvalidParameter(
                "no bound on the noise of these weights is known, as of method 'sufficient-statistics', so no curve could show what in it is noise: "
                "evaluate the model, or plan by another method"
            )
        given = np.asarray(weights, np.float64).reshape(-1)
        read = [Axis(f"column {place}") for place in range(len(map.columns))] if axes is None else list(axes)
        columns = [_Column.of(map, read[term.column], *term) for term in map.terms(given)]
        indicators = [axis.indicator for axis in read if axis.indicator is not None]
        # one of a boolean and its indicator has an entry, never both
        entries = len(map.blocks) - sum(place in map.signs for place in indicators)
        share, found = radius / math.sqrt((len(given) > map.width) + entries), list[Shape]()
        share = min(1.0, share) if clip else share
        constant = float(given[map.width]) if len(given) > map.width else 0.0

        def scaled(value: float | None) -> float | None:
            return None if value is None else float(share * value)

        for place, (axis, column) in enumerate(zip(read, columns, strict=True)):
            if place in indicators:
                continue
            values, labels, missing = column.values, column.labels, column.missing
            if axis.indicator is not None:
                present, absent = (columns[axis.indicator].at(value) for value in (0.0, 1.0))
                constant += present
                others = [columns[of].at(0.0) - float(columns[of].values.mean()) for of in axis.group]
                missing = column.at(0.0) + sum(others) + absent - present
                if axis.other:
                    values, labels, missing = np.append(values, missing), (*labels, axis.other), None
            mean = float(values.mean())
            constant += mean
            parts = tuple((share * (values - mean)).tolist())
            less = (scaled(None if value is None else value - mean) for value in (missing, column.lowest))
            found.append(Shape(axis.name, parts, column.edges, labels, next(less), None, next(less), axis.scale))
        for pair in map.pair_terms(given):
            sides = [
                _PairSide.of(map, read[place], place, ends)
                for place, ends in zip(pair.columns, pair.edges, strict=True)
            ]
            values = pair.values
            for number, side in enumerate(sides):
                values = values if side.parts is None else values.take(side.parts, axis=number)
            mean = float(values.mean())
            constant += mean
            name, (own, second) = " × ".join(read[place].name for place in pair.columns), (each.side for each in sides)
            parts = tuple((share * (values - mean)).reshape(-1).tolist())
            found.append(Shape(name, parts, own.edges, own.labels, None, second, None, own.scale))
        found.sort(key=lambda shape: -shape.importance)
        return cls(tuple(found), float(share * constant), float(share * noise), unit, release)

    def to_dict(self) -> dict[str, Any]:
        """Return {"kind": "shapes"} with all fields, the shapes as a list of dictionaries, as JSON for `from_dict`."""
        return {"kind": "shapes", **asdict(self)}

    @classmethod
    def from_dict(cls, given: Any) -> Shapes:
        """Return the shapes from the output of `to_dict`, at most 1000 of them.

        Raises:
            InvalidParameter: If `given` has another form.
        """
        try:
            if given["kind"] != "shapes" or len(given["shapes"]) > _MOST:
                raise ValueError
            return msgspec.convert(given, cls)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InvalidParameter(
                "these are no shapes: give a file that `explain STORE --out FILE.json` wrote"
            ) from error

    def farthest(self, before: Shapes) -> float:
        """Return the largest absolute difference of a value from the same value in `before`, over its noise.

        The noise is √(noise² + noise²) of the two models, an upper bound on the standard deviation of a difference.

        Raises:
            InvalidParameter: If a shape is missing in `before`, or has another number of values there.
        """
        known = {shape.name: shape for shape in before.shapes}
        apart = 0.0
        for shape in self.shapes:
            other = known.get(shape.name)
            if other is None or len(other.values) != len(shape.values):
                raise InvalidParameter(
                    f"the other shapes have no column {shape.name!r} like this one: they are of another schema"
                )
            apart = max(apart, float(np.abs(np.subtract(shape.values, other.values)).max()))
        return apart / max(float(np.hypot(self.noise, before.noise)), 1e-300)

    def drawings(self, before: Shapes | None = None) -> list[str]:
        """Return an <svg> for each shape: a curve over bins, a heat map of a pair, or the 12 largest categories.

        A band marks two deviations of the noise. Text has the surrounding colour (`currentColor`), curves `--accent` if
        set.

        Args:
            before: Shapes of an earlier model, drawn over those of the same name and size; None: none.
        """
        known = {} if before is None else {(shape.name, len(shape.values)): shape for shape in before.shapes}
        every = [*self.shapes, *(() if before is None else before.shapes)]
        tallest = max((abs(value) for shape in every for value in shape.values), default=0.0) + 2 * self.noise or 1.0
        earlier = [known.get((shape.name, len(shape.values))) for shape in self.shapes]
        return [draw_shape(*each, 2 * self.noise, tallest) for each in zip(self.shapes, earlier, strict=True)]

    def caption(self) -> str:
        """Return a caption for the drawings: unit, constant, order of the columns, and width of the band of noise."""
        return (
            f"What each column adds to the {self.unit}, beside {self.constant:.2f} for every row; the most important column first. The band, in pairs what is pale, is two "
            f"deviations of the noise, ±{math.ceil(200 * self.noise) / 100:.2f} at most: a bend inside it may be noise alone."
        )


def score_unit(classes: Sequence[Any] | None, of: str = "") -> str:
    """Return the unit of a score: "log odds of" the last class, or the scale of a target if `classes` is None.

    Args:
        classes: Class names.
        of: Text before the class name, such as "income = ".
    """
    return "target, on the scale from −1 to 1" if classes is None else f"log odds of {of}{classes[-1]}"


@dataclass(frozen=True)
class _Column:
    """Contribution of one column of a map to an unscaled score, with `edges` in its own unit, or `labels`."""

    values: Floats
    edges: tuple[float, ...]
    labels: tuple[str, ...]
    missing: float | None
    lowest: float | None
    at: Callable[[float], float] = field(compare=False)  # of any number in [−1, 1]

    @classmethod
    def of(
        cls, map: Additive, axis: Axis, place: int, ends: Floats | None, values: Floats, missing: float | None
    ) -> _Column:
        """Return one term of the map as its axis presents it: values by bin, by category, or by input of the axis.

        Args:
            map: The map.
            axis: How the column is presented.
            place: The column, with `ends`, `values` and `missing` as in `Term`.
            ends: See `Term.edges`.
            values: See `Term`.
            missing: See `Term`; None becomes the value of an absent entry if the axis may be absent.
        """

        def at(value: float) -> float:
            if ends is None:  # of a sign
                return 0.0 if value == 0 else float(values[int(value > 0)])
            if place in map.amounts and value <= -1:
                return 0.0
            return float(values[np.clip(np.searchsorted(ends, value, "right") - 1, 0, len(values) - 1)])

        lowest = 0.0 if place in map.amounts else None
        if missing is None and axis.may_be_absent:
            missing = at(0.0) if place in map.signs or ends is not None else 0.0
        if axis.inputs:
            return cls(np.array([at(value) for value in axis.inputs]), (), axis.labels, missing, None, at)
        if ends is None:
            labels = axis.labels or (("−", "+") if place in map.signs else tuple(str(k) for k in range(len(values))))
            return cls(values, (), labels, missing, None, at)
        return cls(values, _edges(axis, ends), (), missing, lowest, at)


@dataclass(frozen=True)
class _PairSide:
    """One column of a pair, and the parts in which data can be; None: all."""

    side: Side
    parts: list[int] | None

    @classmethod
    def of(cls, map: Additive, axis: Axis, place: int, ends: Floats | None) -> _PairSide:
        """Return one column of a pair as its axis presents it: labels, or edges in the column's own unit.

        Args:
            map: The map.
            axis: How the column is presented.
            place: The column.
            ends: Ends of its bins in [−1, 1]; None for a category.
        """
        if ends is None:
            return cls(Side(labels=axis.labels or tuple(str(k) for k in range(map.columns[place]))), None)
        inputs, labels = axis.inputs, axis.labels
        if not inputs and place in map.signs:
            inputs, labels = (-1.0, 1.0), ("−", "+")
        if inputs:
            parts = np.clip(np.searchsorted(ends, inputs, "right") - 1, 0, len(ends) - 2)
            return cls(Side(labels=labels), parts.tolist())
        return cls(Side(_edges(axis, ends), (), axis.scale), None)


def _edges(axis: Axis, ends: Floats) -> tuple[float, ...]:
    return tuple(np.asarray(ends if axis.raw is None else axis.raw(ends), np.float64).tolist())

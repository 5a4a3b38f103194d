"""Contributions of the columns of an additive model: curves with the band of the noise, as numbers and as pictures."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from html import escape
from typing import Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from ...errors import InvalidParameter, check_real, non_negative
from .additive import Additive
from .base import Floats

_MOST = 1000  # shapes in a file
MOST_BARS = 12  # categories drawn
_WIDE, _HIGH, _LEFT, _ROW = 320.0, 150.0, 44.0, 18.0


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
        return [_draw_panel(*each, 2 * self.noise, tallest) for each in zip(self.shapes, earlier, strict=True)]

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


def format_edge(value: float, scale: str) -> str:
    """Return an end of a bin as readable text: four significant digits, a date, or a time of day.

    Args:
        value: The number; for "date" seconds since 1970-01-01, for "time" seconds since midnight.
        scale: "number", "date" or "time".
    """
    if scale == "number":
        return f"{value:.4g}"
    return datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%d" if scale == "date" else "%H:%M")


def _draw_panel(shape: Shape, before: Shape | None, band: float, tallest: float) -> str:
    title = f'<text x="0" y="12" font-weight="600">{escape(shape.name[:44])}</text>'
    draw = _draw_heat_map if shape.second is not None else _draw_curve if shape.edges else _draw_bars
    body, high = draw(shape, before, band, tallest)
    apart = {"empty": shape.missing, "lowest": shape.lowest}
    title += _draw_text(
        _WIDE - 4, 12, ", ".join(f"{what}: {value:+.2f}" for what, value in apart.items() if value is not None)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE:g} {high:g}" width="100%" role="img" aria-label="{escape(shape.name)}" '
        f'font-family="sans-serif" font-size="10" fill="currentColor">{title}{body}</svg>'
    )


def _draw_text(x: float, y: float, text: str, anchor: str = "end") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _draw_curve(shape: Shape, before: Shape | None, band: float, tallest: float) -> tuple[str, float]:
    low, high = shape.edges[0], shape.edges[-1]

    def across(value: float) -> float:
        return _LEFT + (value - low) / (high - low) * (_WIDE - _LEFT - 4)

    def up(value: float) -> float:
        return 24 + (1 - value / tallest) / 2 * (_HIGH - 46)

    def steps(values: Sequence[float]) -> list[str]:
        ends = zip(values, shape.edges[:-1], shape.edges[1:], strict=True)
        return [f"{across(x):.1f},{up(value):.1f}" for value, first, last in ends for x in (first, last)]

    over, under = ([value + side for value in shape.values] for side in (band, -band))
    parts = [
        f'<polygon points="{" ".join([*steps(over), *reversed(steps(under))])}" fill="var(--accent, #1f5f8b)" opacity="0.18"/>',
        f'<line x1="{_LEFT:g}" x2="{_WIDE - 4:g}" y1="{up(0):.1f}" y2="{up(0):.1f}" stroke="currentColor" opacity="0.4" stroke-width="0.6"/>',
    ]
    if before is not None:
        parts.append(
            f'<polyline points="{" ".join(steps(before.values))}" fill="none" stroke="#c2601c" stroke-width="1.3" stroke-dasharray="4 3"/>'
        )
    parts.append(
        f'<polyline points="{" ".join(steps(shape.values))}" fill="none" stroke="var(--accent, #1f5f8b)" stroke-width="1.6"/>'
    )
    marks = [(tallest, "+"), (0.0, ""), (-tallest, "−")]
    parts += [_draw_text(_LEFT - 4, up(value) + 3, f"{sign}{abs(value):.1f}") for value, sign in marks]
    for value, anchor in ((low, "start"), ((low + high) / 2, "middle"), (high, "end")):
        parts.append(_draw_text(across(value), _HIGH - 8, format_edge(value, shape.scale), anchor))
    return "".join(parts), _HIGH


def _draw_heat_map(shape: Shape, before: Shape | None, band: float, tallest: float) -> tuple[str, float]:
    """Draw one rectangle per pair of parts.

    Blue is positive, orange negative, pale may be noise; outlined cells changed by more than the noise of both models
    explains.
    """
    assert shape.second is not None
    own = Side(shape.edges, shape.labels, shape.scale)
    wide, high = (_WIDE - 2 * _LEFT) / own.parts, max(4.0, min(_ROW, 110 / shape.second.parts))
    table = np.reshape(shape.values, (own.parts, shape.second.parts))
    other = None if before is None else np.reshape(before.values, table.shape)
    bottom, parts = 24 + high * shape.second.parts, []
    for (column, row), value in np.ndenumerate(table):
        x, y, shade = 2 * _LEFT - 4 + column * wide, bottom - (row + 1) * high, min(1.0, abs(value) / tallest)
        colour = "var(--accent, #1f5f8b)" if value > 0 else "#c2601c"
        moved = other is not None and abs(value - other[column, row]) > math.sqrt(2) * band
        edge = 'stroke="currentColor"' if moved else 'stroke="none"'
        pale = 0.35 if abs(value) < band else 1.0
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" fill="{colour}" fill-opacity="{pale * shade:.2f}" {edge}><title>{value:+.2f}'
            "</title></rect>"
        )
    for number, text in _tick_marks(own):
        anchor = "end" if own.edges and number == own.parts else "middle"
        parts.append(_draw_text(2 * _LEFT - 4 + number * wide, bottom + 12, text, anchor))
    for number, text in _tick_marks(shape.second):
        parts.append(_draw_text(2 * _LEFT - 8, bottom - number * high + 3, text))
    parts.append(_draw_text(_WIDE - 4, 12, f"full colour: ±{tallest:.1f}"))
    return "".join(parts), bottom + 20


def _tick_marks(side: Side) -> list[tuple[float, str]]:
    """Return tick positions along a side, in parts, with texts: ends and middle, or as many categories as fit."""
    if side.edges:
        return [(place, format_edge(side.edges[place], side.scale)) for place in (0, side.parts // 2, side.parts)]
    step = -(-side.parts // 6)
    return [(place + 0.5, label[:14]) for place, label in enumerate(side.labels) if place % step == 0]


def _draw_bars(shape: Shape, before: Shape | None, band: float, tallest: float) -> tuple[str, float]:
    order = sorted(range(len(shape.values)), key=lambda place: -abs(shape.values[place]))[:MOST_BARS]
    middle, half = _WIDE * 0.68, _WIDE * 0.3

    def across(value: float) -> float:
        return middle + value / tallest * half

    parts, y = [], 30.0
    for place in order:
        value = shape.values[place]
        parts.append(_draw_text(middle - half - 6, y + 3, shape.labels[place][:18]))
        parts.append(
            f'<line x1="{across(value - band):.1f}" x2="{across(value + band):.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="var(--accent, #1f5f8b)" '
            'stroke-width="7" opacity="0.22"/>'
        )
        if before is not None:
            parts.append(
                f'<circle cx="{across(before.values[place]):.1f}" cy="{y:.1f}" r="4" fill="none" stroke="#c2601c" stroke-width="1.3"/>'
            )
        parts.append(f'<circle cx="{across(value):.1f}" cy="{y:.1f}" r="2.6" fill="var(--accent, #1f5f8b)"/>')
        y += _ROW
    parts.append(
        f'<line x1="{middle:.1f}" x2="{middle:.1f}" y1="20" y2="{y - 8:.1f}" stroke="currentColor" opacity="0.4" stroke-width="0.6"/>'
    )
    for value, sign in ((-tallest, "−"), (0.0, ""), (tallest, "+")):
        parts.append(_draw_text(across(value), y + 4, f"{sign}{abs(value):.1f}", "middle"))
        parts.append(
            f'<line x1="{across(value):.1f}" x2="{across(value):.1f}" y1="{y - 11:.1f}" y2="{y - 7:.1f}" stroke="currentColor" stroke-width="0.6"/>'
        )
    if len(order) < len(shape.values):
        parts.append(_draw_text(0, y + 18, f"{len(shape.values) - len(order)} more in the JSON", "start"))
        y += 14
    return "".join(parts), y + 8

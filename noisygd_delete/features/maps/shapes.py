"""What an additive model says, column by column: curves with the band that the noise alone gives, as plain numbers and as pictures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from ...errors import InvalidParameter, non_negative, real
from .additive import Additive

_MOST = 1000  # shapes of a file
MOST_BARS = 12  # categories drawn
_WIDE, _HIGH, _LEFT, _ROW = 320.0, 150.0, 44.0, 18.0


@dataclass(frozen=True)
class Side:
    """The second column of a pair: `edges` or `labels`, as a `Shape` has its own."""

    edges: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()

    @property
    def parts(self) -> int:
        return len(self.edges) - 1 if self.edges else len(self.labels)


@dataclass(frozen=True)
class Shape:
    """One column's part of a score, or a pair's, its mean over bins or categories taken off.

    values   by bin, or by category; of a pair all parts of the second for the first of the first, and so on
    edges    (values + 1) ends of the bins in the column's own unit; empty for a category
    labels   of the categories
    missing  where the cell was empty; None where no cell may be
    """

    name: str
    values: tuple[float, ...]
    edges: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()
    missing: float | None = None
    second: Side | None = None

    def __post_init__(self) -> None:
        beside = Side(labels=("",)) if self.second is None else self.second
        ends = Side(self.edges, self.labels).parts * beside.parts == len(self.values)
        if (
            not self.values
            or not ends
            or not np.isfinite([*self.values, *self.edges, *beside.edges, self.missing or 0.0]).all()
        ):
            raise InvalidParameter(
                f"the shape of {self.name!r} has other bins or categories than values; export it again"
            )

    @property
    def importance(self) -> float:
        """Mean distance from its mean, every bin or category counting the same: no row is asked how often it has which."""
        return float(np.abs(self.values).mean())


@dataclass(frozen=True)
class Shapes:
    """All of a model's, the most important first. A row's score is `constant` and one value of each column.

    noise     deviation of the noise in the value of any bin or category, at most: s√chain/(nλ) for objective perturbation of a convex
              loss. Where many rows lie it is less, which only the rows could say
    unit      of the values
    release   of the store, where there is one
    """

    shapes: tuple[Shape, ...]
    constant: float
    noise: float
    unit: str
    release: int | None = None

    def __post_init__(self) -> None:
        real("constant", self.constant)
        non_negative("noise", self.noise)

    @classmethod
    def of(
        cls,
        map: Additive,
        weights: ArrayLike,
        *,
        noise: float,
        unit: str,
        names: Sequence[str] | None = None,
        labels: Mapping[int, Sequence[str]] | None = None,
        raw: Any = None,
        release: int | None = None,
    ) -> Shapes:
        """Of a head of one score on the rows of this map.

        Args:
            noise: deviation of the noise of the weights in any direction, at most.
            names: of the columns. labels: of the categories, by column. raw: (column, [−1, 1] values) to the column's own unit.

        Raises:
            InvalidParameter: no bound on the noise is known (of sums).
        """
        if math.isinf(noise):
            raise InvalidParameter(
                "no bound on the noise of these weights is known, as of method 'sums', so no curve could show what in it is noise: "
                "evaluate the model, or plan by another method"
            )
        given = np.asarray(weights, np.float64).reshape(-1)
        terms: list[tuple[tuple[int, ...], tuple[Any, ...], Any, float | None]]
        terms = [((term.column,), (term.edges,), term.values, term.missing) for term in map.terms(given)]
        terms += [(pair.columns, pair.edges, pair.values, None) for pair in map.pair_terms(given)]
        share, found = 1 / np.sqrt(1 + len(map.blocks)), []
        constant = float(given[map.width]) if len(given) > map.width else 0.0

        def side(place: int, ends: Any, parts: int) -> Side:
            if ends is None:
                return Side(labels=tuple(_texts((labels or {}).get(place, range(parts)))))
            return Side(edges=tuple(np.asarray(ends if raw is None else raw(place, ends)).tolist()))

        for columns, ends, values, absent in terms:
            mean = float(values.mean())
            constant += mean
            name = " × ".join(f"column {place}" if names is None else str(names[place]) for place in columns)
            own, *second = (side(*one) for one in zip(columns, ends, values.shape, strict=True))
            parts = tuple((share * (values - mean)).reshape(-1).tolist())
            missing = None if absent is None else float(share * (absent - mean))
            found.append(Shape(name, parts, own.edges, own.labels, missing, *second))
        found.sort(key=lambda shape: -shape.importance)
        return cls(tuple(found), float(share * constant), float(share * noise), unit, release)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "shapes", **asdict(self)}

    @classmethod
    def from_dict(cls, given: Any) -> Shapes:
        """Read back `to_dict`.

        Raises:
            InvalidParameter: it is no such thing.
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
        """Largest difference of a value of these shapes from the same value of others, in deviations of what noise gives their difference
        at most."""
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
        """An <svg> for each shape; colours are those of the text around it, by `currentColor`, and `--accent` where that is set."""
        known = {} if before is None else {(shape.name, len(shape.values)): shape for shape in before.shapes}
        tallest = max((abs(value) for shape in self.shapes for value in shape.values), default=1.0) + 2 * self.noise
        earlier = [known.get((shape.name, len(shape.values))) for shape in self.shapes]
        return [_drawn(*each, 2 * self.noise, tallest) for each in zip(self.shapes, earlier, strict=True)]

    def caption(self) -> str:
        return (
            f"What each column adds to the {self.unit}, beside {self.constant:.2f} for every row; the most important column first. The band, in pairs what is pale, is two "
            f"deviations of the noise, ±{math.ceil(200 * self.noise) / 100:.2f} at most: a bend inside it may be noise alone."
        )


def score_unit(classes: Sequence[Any] | None, of: str = "") -> str:
    """In what a score is: of the last class, or of a target where there are none."""
    return "target, on the scale from −1 to 1" if classes is None else f"log odds of {of}{classes[-1]}"


def _texts(values: Sequence[Any]) -> list[str]:
    return [str(value) for value in values]


def _drawn(shape: Shape, before: Shape | None, band: float, tallest: float) -> str:
    title = f'<text x="0" y="12" font-weight="600">{escape(shape.name[:44])}</text>'
    draw = _heat if shape.second is not None else _curve if shape.edges else _bars
    body, high = draw(shape, before, band, tallest)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE:g} {high:g}" width="100%" role="img" aria-label="{escape(shape.name)}" '
        f'font-family="sans-serif" font-size="10" fill="currentColor">{title}{body}</svg>'
    )


def _text(x: float, y: float, text: str, anchor: str = "end") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _curve(shape: Shape, before: Shape | None, band: float, tallest: float) -> tuple[str, float]:
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
    parts += [_text(_LEFT - 4, up(value) + 3, f"{sign}{abs(value):.1f}") for value, sign in marks]
    for value, anchor in ((low, "start"), ((low + high) / 2, "middle"), (high, "end")):
        parts.append(_text(across(value), _HIGH - 8, f"{value:.4g}", anchor))
    if shape.missing is not None:
        parts.append(_text(_WIDE - 4, 12, f"empty: {shape.missing:+.2f}"))
    return "".join(parts), _HIGH


def _heat(shape: Shape, before: Shape | None, band: float, tallest: float) -> tuple[str, float]:
    """Rectangles, as many as there are pairs of parts: blue adds, orange takes away, pale may be noise; outlined is what moved by more than the
    noise of the two would bear."""
    assert shape.second is not None
    own = Side(shape.edges, shape.labels)
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
    for number, text in _marks(own):
        anchor = "end" if own.edges and number == own.parts else "middle"
        parts.append(_text(2 * _LEFT - 4 + number * wide, bottom + 12, text, anchor))
    for number, text in _marks(shape.second):
        parts.append(_text(2 * _LEFT - 8, bottom - number * high + 3, text))
    parts.append(_text(_WIDE - 4, 12, f"full colour: ±{tallest:.1f}"))
    return "".join(parts), bottom + 20


def _marks(side: Side) -> list[tuple[float, str]]:
    """Where along a side, in parts, which text stands: its ends and middle, or its categories, not more than fit."""
    if side.edges:
        return [(place, f"{side.edges[place]:.3g}") for place in (0, side.parts // 2, side.parts)]
    step = -(-side.parts // 6)
    return [(place + 0.5, label[:14]) for place, label in enumerate(side.labels) if place % step == 0]


def _bars(shape: Shape, before: Shape | None, band: float, tallest: float) -> tuple[str, float]:
    order = sorted(range(len(shape.values)), key=lambda place: -abs(shape.values[place]))[:MOST_BARS]
    middle, half = _WIDE * 0.68, _WIDE * 0.3

    def across(value: float) -> float:
        return middle + value / tallest * half

    parts, y = [], 30.0
    for place in order:
        value = shape.values[place]
        parts.append(_text(middle - half - 6, y + 3, shape.labels[place][:18]))
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
    if len(order) < len(shape.values):
        parts.append(_text(_WIDE - 4, 12, f"{len(shape.values) - len(order)} more in the JSON"))
    return "".join(parts), y + 4

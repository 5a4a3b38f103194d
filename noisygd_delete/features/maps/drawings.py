"""Pictures of the shapes of an additive model, as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape

import numpy as np

from .shape import Shape, Side

MOST_BARS = 12  # categories drawn
_WIDE, _HIGH, _LEFT, _ROW = 320.0, 150.0, 44.0, 18.0


def format_edge(value: float, scale: str) -> str:
    """Return an end of a bin as readable text: four significant digits, a date, or a time of day.

    Args:
        value: The number; for "date" seconds since 1970-01-01, for "time" seconds since midnight.
        scale: "number", "date" or "time".
    """
    if scale == "number":
        return f"{value:.4g}"
    return datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%d" if scale == "date" else "%H:%M")


def draw_shape(shape: Shape, before: Shape | None, band: float, tallest: float) -> str:
    """Return an <svg> of a shape: a curve over bins, a heat map of a pair, or the `MOST_BARS` largest categories.

    Args:
        shape: The shape.
        before: The same shape of an earlier model, drawn too; None: none.
        band: Half of the width of the band that marks noise.
        tallest: Value at the ends of the scale.
    """
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

"""The privacy cost of each release and of all so far, and its picture in a report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from ..accountant import Accountant
from ..methods.plan import Plan
from ..privacy.guarantee import Guarantee
from ..privacy.sentences import format_bound, format_number
from .texts import Language

Curve = NDArray[np.float64]
POINTS = 160
LISTED = 200  # latest releases, listed individually
_BLUE, _ORANGE, _GREY = "#1f5f8b", "#c2601c", "#5b6575"
_WIDE, _LEFT, _TOP, _FOOT, _HIGH = 340.0, 44.0, 26.0, 200.0, 236.0  # a font size of 10 is readable on a phone


@dataclass(frozen=True)
class SpendingCurves:
    """Privacy cost of a present record after each of these releases: ε at δ, rounding slack included.

    Attributes:
        release: Numbers of the releases.
        single: ε of that release alone.
        cumulative: ε of all releases so far.
        allowed: ε of the cap on the sum; None if there is none at this δ.
    """

    release: Curve
    single: Curve
    cumulative: Curve
    allowed: float | None


def displayed_releases(releases: int) -> list[int]:
    """Return the releases that a report shows: the last `LISTED`, and at most `POINTS` of those before."""
    first = max(1, releases - LISTED + 1)
    before = np.unique(np.linspace(1, first - 1, POINTS).astype(int)) if first > 1 else np.array([], int)
    return [*map(int, before), *range(first, releases + 1)]


def compute_spending(accountant: Accountant, plan: Plan, delta: float) -> SpendingCurves:
    """Return ε at δ of each displayed release alone and of all releases up to it, and the cap."""

    def epsilons(guarantees: Sequence[Guarantee]) -> Curve:
        known = {guarantee: guarantee.with_slack().epsilon(delta) for guarantee in dict.fromkeys(guarantees)}
        return np.array([known[guarantee] for guarantee in guarantees])  # equal releases have equal cost

    numbers = displayed_releases(accountant.releases)
    return SpendingCurves(
        release=np.array(numbers, dtype=float),
        single=epsilons(accountant.dp_of_each(at=numbers)),
        cumulative=epsilons(accountant.dp_cumulative_of_each(numbers)),
        allowed=_cap(plan, delta),
    )


def _cap(plan: Plan, delta: float) -> float | None:
    """Return ε at δ of the cap on the sum; None if there is none, or none at this δ."""
    problem = plan.problem
    if problem.total is not None:
        return problem.total.epsilon if problem.total.delta == delta else None
    return plan.allowed.epsilon(delta) if problem.releases > 1 else None


def draw_curve(curve: SpendingCurves, delta: float, words: Language) -> str:
    """Return the picture as an <svg> element; infinite values are not drawn."""
    first, last = curve.release[0], curve.release[-1]
    finite = [one for one in (*curve.cumulative, *curve.single, curve.allowed or 0.0) if math.isfinite(one)]
    most = 1.08 * max(finite) or 1.0

    def across(release: float) -> float:
        return _LEFT + 8 + float((release - first) / max(1.0, last - first)) * (_WIDE - _LEFT - 16)

    def up(epsilon: float) -> float:
        return _FOOT - epsilon / most * (_FOOT - _TOP)

    def line(x: float, y: float, to: float, colour: str, more: str = "") -> str:
        return f'<line x1="{x:.1f}" x2="{to:.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="{colour}"{more}/>'

    def text(x: float, y: float, label: str, more: str = "") -> str:
        return f'<text x="{x:.1f}" y="{y:.1f}"{more}>{escape(label)}</text>'

    def places(values: Curve) -> list[tuple[float, float]]:
        return [(across(x), up(value)) for x, value in zip(curve.release, values, strict=True) if math.isfinite(value)]

    parts = []
    for tick in _ticks(0.0, most):
        parts.append(line(_LEFT, up(tick), _WIDE - 4, "#e4e8ee" if tick else _GREY))
        parts.append(text(_LEFT - 5, up(tick) + 3.5, words.numbers(format_number(tick)), ' text-anchor="end"'))
    parts += [
        text(across(tick), _FOOT + 14, f"{tick:.0f}", ' text-anchor="middle"') for tick in _ticks(first, last, least=1)
    ]
    parts.append(text((_LEFT + _WIDE) / 2, _HIGH - 6, words.say("release"), ' text-anchor="middle"'))
    middle = (_TOP + _FOOT) / 2
    scale = words.say("ε at δ = {n}", n=words.numbers(format_bound(delta)))
    parts.append(text(10, middle, scale, f' text-anchor="middle" transform="rotate(-90 10 {middle:.1f})"'))
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in places(curve.cumulative))
    parts.append(f'<polyline points="{joined}" fill="none" stroke="{_BLUE}" stroke-width="1.5"/>')
    dot = '<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="2.2" fill="{}"/>'
    square = '<rect class="{}" x="{:.1f}" y="{:.1f}" width="4" height="4" fill="{}"/>'
    parts += [square.format("alone", x - 2, y - 2, _GREY) for x, y in places(curve.single)]
    parts += [dot.format("all", x, y, _BLUE) for x, y in places(curve.cumulative)]
    # above the picture, where no curve can run through it
    parts += [dot.format("", _LEFT + 4, 8.5, _BLUE), text(_LEFT + 11, 12, words.say("all releases so far"))]
    parts += [square.format("", _LEFT + 122, 6.5, _GREY), text(_LEFT + 131, 12, words.say("one release alone"))]
    if curve.allowed is not None:
        dashed = ' stroke-dasharray="5 3" stroke-width="1.3"'
        parts.append(line(_LEFT, up(curve.allowed), _WIDE - 4, _ORANGE, dashed))
        parts += [line(_LEFT + 236, 8.5, _LEFT + 250, _ORANGE, dashed), text(_LEFT + 254, 12, words.say("budget"))]
    label = escape(words.say("picture: what the releases reveal, one by one and together"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE:g} {_HIGH:g}" role="img" aria-label="{label}" '
        f'font-family="sans-serif" font-size="10" fill="#1d2430">{"".join(parts)}</svg>'
    )


def _ticks(first: float, last: float, least: float = 0.0) -> list[float]:
    """Return at most seven round numbers between `first` and `last`."""
    span = max(last - first, least)
    unit = 10.0 ** math.floor(math.log10(span / 6))
    step = max(least, next(unit * times for times in (1, 2, 5, 10) if span <= 6 * unit * times))
    return [step * number for number in range(math.ceil(first / step), math.floor(last / step) + 1)]

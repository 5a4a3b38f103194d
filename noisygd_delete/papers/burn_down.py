"""The picture of the report: what the releases reveal of a record that is still there, one by one and together, as inline SVG.

Text stays text, so that a browser can search, scale and read it aloud.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..accountant import Accountant
from ..errors import MissingDependency
from ..methods.plan import Plan
from ..privacy.guarantee import Guarantee
from ..privacy.shown import shown
from .catalogue import Language

Curve = NDArray[np.float64]
POINTS = 160
LISTED = 200  # releases that a report lists one by one, the last ones
_BLUE, _ORANGE, _GREY = "#1f5f8b", "#c2601c", "#5b6575"
_SIZE = (4.6, 3.2)  # inches: on a phone, which is little wider, a letter is as large as beside the picture
_POINT = re.compile(r"(>[−-]?\d+)\.(\d+)(?=</text>)")  # of a number at an axis
_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "noisygd-delete",  # stable ids: the same facts give the same file
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e8ee",
    "axes.edgecolor": _GREY,
    "axes.labelcolor": "#1d2430",
    "legend.frameon": False,
}


@dataclass(frozen=True)
class BurnDown:
    """Cost to a record still there, after each of these releases: ε at δ, rounding slack included, of that release alone and of all
    so far."""

    release: Curve
    single: Curve
    cumulative: Curve
    allowed: float | None


def shown_releases(releases: int) -> list[int]:
    """The releases that a report converts and draws: the last `LISTED`, and of those before as many as a picture can show."""
    first = max(1, releases - LISTED + 1)
    before = np.unique(np.linspace(1, first - 1, POINTS).astype(int)) if first > 1 else np.array([], int)
    return [*map(int, before), *range(first, releases + 1)]


def burn_down(accountant: Accountant, plan: Plan, delta: float) -> BurnDown:
    """What the picture shows, in numbers."""

    def epsilons(guarantees: Sequence[Guarantee]) -> Curve:
        known = {guarantee: guarantee.with_slack().epsilon(delta) for guarantee in dict.fromkeys(guarantees)}
        return np.array(
            [known[guarantee] for guarantee in guarantees]
        )  # releases of one kind cost the same by themselves

    numbers = shown_releases(accountant.releases)
    return BurnDown(
        release=np.array(numbers, dtype=float),
        single=epsilons(accountant.dp_of_each(at=numbers)),
        cumulative=epsilons(accountant.dp_cumulative_of_each(numbers)),
        allowed=_cap(plan, delta),
    )


def _cap(plan: Plan, delta: float) -> float | None:
    """ε at δ of the cap on the sum; None where there is none, or none at this δ."""
    if plan.total is not None:
        return plan.total.epsilon if plan.total.delta == delta else None
    return plan.allowed.epsilon(delta) if plan.releases > 1 else None


def draw(curve: BurnDown, delta: float, words: Language) -> str:
    """The picture as an <svg> element.

    Raises:
        MissingDependency: matplotlib is not installed.
    """
    try:
        import matplotlib
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    except ImportError as error:
        raise MissingDependency("plots need matplotlib; pip install 'noisygd-delete[sklearn]'") from error
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=_SIZE, layout="constrained")
        axes = figure.subplots()
        axes.plot(curve.release, curve.cumulative, "o-", color=_BLUE, ms=4, label=words.say("all releases so far"))
        axes.plot(curve.release, curve.single, "s", color=_GREY, ms=4, label=words.say("one release alone"))
        if curve.allowed is not None:
            axes.axhline(curve.allowed, color=_ORANGE, ls="--", label=words.say("budget"))
        axes.set(xlabel=words.say("release"), ylabel=words.say("ε at δ = {n}", n=words.numbers(shown(delta))))
        axes.set_ylim(0, 1.08 * max(*curve.cumulative, *curve.single, curve.allowed or 0.0))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        # above the picture, where no curve can run through it
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, columnspacing=1, handlelength=1.5, fontsize=9)
        out = io.StringIO()
        FigureCanvasSVG(figure).print_svg(out, metadata={"Date": None, "Creator": None})  # type: ignore[no-untyped-call]
    svg = out.getvalue()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    svg = _POINT.sub(rf"\g<1>{words.decimal}\g<2>", svg)
    said = words.say("picture: what the releases reveal, one by one and together")
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(said)}" ', 1)

"""Curves -> inline SVG. Text stays text, so that a browser can search, scale and read it aloud."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from ..errors import MissingDependency
from ..privacy.shown import shown
from .catalogue import ORIGINAL, Language, labels, language
from .curves import BurnDown, Costs
from .paper import audit_name

BLUE, ORANGE, GREY = "#1f5f8b", "#c2601c", "#5b6575"
_SIZE = (4.6, 3.2)  # inches: on a phone, which is little wider, a letter is as large as beside the picture
_POINT = re.compile(r"(>[−-]?\d+)\.(\d+)(?=</text>)")  # of a number at an axis
_ENGLISH = language(ORIGINAL)
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
    "axes.edgecolor": GREY,
    "axes.labelcolor": "#1d2430",
    "legend.frameon": False,
}


def _drawn(draw: Callable[[Any], None], name: str, words: Language, size: tuple[float, float] = _SIZE) -> str:
    """One figure as an <svg> element whose ids carry `name`: several live in one page."""
    try:
        import matplotlib
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependency("plots need matplotlib; pip install 'noisygd-delete[sklearn]'") from error
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots()
        draw(axes)
        out = io.StringIO()
        FigureCanvasSVG(figure).print_svg(out, metadata={"Date": None, "Creator": None})  # type: ignore[no-untyped-call]
    svg = out.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(\bid="|xlink:href="#|url\(#)', rf"\g<1>{name}-", svg)
    svg = _POINT.sub(rf"\g<1>{words.decimal}\g<2>", svg)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(words.say(_ALOUD[name]))}" ', 1)


_ALOUD = {  # what a picture shows, for whoever has it read aloud
    "budget": "picture: what the releases reveal, one by one and together",
    "cost": "picture: passes over the table, by release",
    "audit": "picture: what attacks showed, beside what is certified",
}


def _whole(axes: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def _legend(axes: Any) -> None:
    """Above the picture, where no curve can run through it."""
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, columnspacing=1, handlelength=1.5, fontsize=9)


def burn_down(curve: BurnDown, delta: float, words: Language = _ENGLISH) -> str:
    def draw(axes: Any) -> None:
        axes.plot(curve.release, curve.cumulative, "o-", color=BLUE, ms=4, label=words.say("all releases so far"))
        axes.plot(curve.release, curve.single, "s", color=GREY, ms=4, label=words.say("one release alone"))
        if curve.allowed is not None:
            axes.axhline(curve.allowed, color=ORANGE, ls="--", label=words.say("budget"))
        axes.set(xlabel=words.say("release"), ylabel=words.say("ε at δ = {n}", n=words.numbers(shown(delta))))
        axes.set_ylim(0, 1.08 * max(*curve.cumulative, *curve.single, curve.allowed or 0.0))
        _whole(axes)
        _legend(axes)

    return _drawn(draw, "budget", words)


def costs(curve: Costs, words: Language = _ENGLISH) -> str:
    def draw(axes: Any) -> None:
        axes.plot(
            curve.release, curve.relearning, "s--", color=ORANGE, ms=4, label=words.say("learning afresh every time")
        )
        axes.plot(curve.release, curve.total, "o-", color=BLUE, ms=4, label=words.say("learn once, then delete"))
        axes.set(xlabel=words.say("release"), ylabel=words.say("passes over the table, summed"))
        axes.set_ylim(0, None)
        _whole(axes)
        _legend(axes)

    return _drawn(draw, "cost", words)


def audits(results: Sequence[Mapping[str, Any]], words: Language = _ENGLISH) -> str:
    def draw(axes: Any) -> None:
        rows = range(len(results))
        claimed = [float(result["claimed_advantage"]) for result in results]
        measured = [float(result["measured_lower_bound"]) for result in results]
        axes.barh(rows, claimed, height=0.36, color="#b9d0df", label=words.say("certified: at most"))
        axes.barh(rows, measured, height=0.18, color=BLUE, label=words.say("attack measured: at least"))
        for row, result in enumerate(results):  # above its bars: names may be long
            axes.text(0, row - 0.24, audit_name(str(result["name"]), labels(words.code)), va="bottom", fontsize=9)
        axes.set_yticks([])
        axes.set(xlabel=words.say("advantage over guessing"), xlim=(0, None), ylim=(len(results) - 0.6, -0.75))
        _legend(axes)

    return _drawn(draw, "audit", words, (_SIZE[0], 1.3 + 0.55 * len(results)))

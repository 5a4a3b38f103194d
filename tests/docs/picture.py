"""The picture of the first page: `python -m tests.docs.picture` writes docs/request.svg.

Above, the trip of a request; below, an attack that was measured: who of twenty candidates was erased between two models? The rates are read
from the committed comparison, the largest of its settings for each method, so that a new measurement draws a new picture.
"""

from __future__ import annotations

import re
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).parents[2]
MEASURED = ROOT / "benchmarks" / "results" / "compare_digits.md"
PICTURE = ROOT / "docs" / "request.svg"
DEFAULT = "objective perturbation (perturbed)"  # the method that `auto` takes there

_WIDTH, _MARGIN, _BOX, _TALL = 660, 20, 280, 104
_INK, _SOFT, _LINE, _FOUND = "#1f2d3a", "#5a6b7b", "#b9c6d2", "#d55e00"
_STEPS = (
    ("1  A request", ("“erase record 42”",)),
    ("2  The table", ("the row and its id are", "overwritten on disk")),
    ("3  The model", ("solved anew on what is left,", "under fresh random noise")),
    ("4  A new model", ("and a signed certificate of", "what can still be learned")),
)


def rates(method: str) -> list[int]:
    """Right guesses of the two-release attack in percent, one for each setting in which `method` was attacked."""
    found: list[int] = []
    column = 0
    for line in MEASURED.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if "two releases" in cells:
            column = cells.index("two releases")
        elif cells[0] == method and column < len(cells) and (rate := re.match(r"(\d+)%", cells[column])):
            found.append(int(rate[1]))
    return found


def drawn() -> str:
    """An SVG on its own light ground, so that it reads on a dark page too; letters stay legible at the width of a phone."""
    tries = 20
    bars = [
        ("retraining without it", max(rates("retrain"))),
        ("this engine", max(rates(DEFAULT))),
        ("blind guessing", 100 // tries),
    ]
    parts: list[str] = []

    def text(x: float, y: float, words: str, size: int = 17, fill: str = _INK, more: str = "") -> None:
        parts.append(f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" fill="{fill}"{more}>{escape(words)}</text>')

    bold = ' font-weight="bold"'
    text(_MARGIN, 38, "How a request flows", 21, more=bold)
    right = _WIDTH - _MARGIN - _BOX
    corners = ((_MARGIN, 56), (right, 56), (_MARGIN, 56 + _TALL + 44), (right, 56 + _TALL + 44))
    for (x, y), (title, lines) in zip(corners, _STEPS, strict=True):
        parts.append(f'<rect x="{x}" y="{y}" width="{_BOX}" height="{_TALL}" rx="8" fill="#eef3f8" stroke="{_LINE}"/>')
        text(x + 14, y + 32, title, 19, more=bold)
        for number, line in enumerate(lines):
            text(x + 14, y + 60 + 24 * number, line, 16)
    middle, below = 56 + _TALL / 2, corners[2][1]
    arrows = (
        f"M{_MARGIN + _BOX + 4} {middle:.0f} H{right - 6}",
        f"M{right + _BOX / 2:.0f} {56 + _TALL + 2} V{below - 22} H{_MARGIN + _BOX / 2:.0f} V{below - 6}",
        f"M{_MARGIN + _BOX + 4} {below + _TALL / 2:.0f} H{right - 6}",
    )
    for arrow in arrows:
        parts.append(f'<path d="{arrow}" fill="none" stroke="{_SOFT}" stroke-width="2" marker-end="url(#head)"/>')
    y = below + _TALL + 30
    text(_MARGIN, y, "Nothing secret is kept between requests: no seed, no noise, no gradient.", 16, _SOFT)

    y += 58
    text(_MARGIN, y, "What can somebody who kept both models tell?", 21, more=bold)
    text(_MARGIN, y + 28, "Twenty tries to pick the erased record out of twenty candidates:", 16, _SOFT)
    y += 66
    for name, percent in bars:
        hits = round(percent * tries / 100)
        text(_MARGIN, y + 6, name, 17)
        for number in range(tries):
            look = f'fill="{_FOUND}"' if number < hits else f'fill="#ffffff" stroke="{_LINE}" stroke-width="2"'
            parts.append(f'<circle cx="{222 + number * 17}" cy="{y}" r="6.5" {look}/>')
        text(_WIDTH - _MARGIN, y + 6, f"{hits} right", 17, more=' text-anchor="end"' + bold)
        y += 36
    text(_MARGIN, y + 8, "One attack, measured on 400 of scikit-learn’s digits. A certificate", 16, _SOFT)
    text(_MARGIN, y + 30, "bounds what any attack can gain, and names what it has seen.", 16, _SOFT)
    said = "; ".join(f"{name}: {round(percent * tries / 100)} of {tries}" for name, percent in bars)
    label = f"A request overwrites the row, then the model is solved anew under fresh noise. Attack on two models: {said} right."
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y + 50}" role="img" '
            f'font-family="Helvetica, Arial, sans-serif" aria-label="{escape(label)}">',
            f'<defs><marker id="head" markerWidth="8" markerHeight="8" refX="6" refY="4" orient="auto"><path d="M0 0 L8 4 L0 8 z" '
            f'fill="{_SOFT}"/></marker></defs>',
            f'<rect width="{_WIDTH}" height="{y + 50}" rx="10" fill="#ffffff"/>',
            *parts,
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    PICTURE.write_text(drawn())

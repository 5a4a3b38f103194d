"""The figures of `docs/note/`, drawn from committed results alone: nothing is measured here.

Each picture carries the numbers that it was drawn from, so a test can tell whether it is of the results that are committed now.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from typing import Any

import numpy as np

from benchmarks import datasets, report

PAPER = datasets.ROOT / "docs" / "note"
Figure = dict[str, Any]  # "across", and by name of each line what is up


def rows(name: str, first: str) -> list[dict[str, str]]:
    """A table of benchmarks/results/NAME.md, the first whose first column has this name."""
    lines = (report.RESULTS / f"{name}.md").read_text(encoding="utf-8").splitlines()
    begin = next(place for place, line in enumerate(lines) if line.startswith(f"| {first} |"))
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[begin:]]
    end = next((place for place, row in enumerate(cells) if not row), len(cells))
    return [dict(zip(cells[0], row, strict=True)) for row in cells[2:end]]


def demonstration() -> dict[str, Any]:
    """What the page of the demonstration shows."""
    page = (datasets.ROOT / "docs" / "demonstration.html").read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def attack() -> Figure:
    """Share of right guesses by old models kept."""
    data = demonstration()
    right = {
        way: np.concatenate([one[way]["right"] for one in data["people"]]).mean(axis=0) for way in ("exact", "ours")
    }
    return {
        "across": list(range(data["old"] + 1)),
        "exact retraining": right["exact"].tolist(),
        "noisygd-delete": right["ours"].tolist(),
        "certified bound": [most / data["rounds"] for most in data["most"]],
    }


def noise() -> Figure:
    """Noise over its lower bound by ε, on Adult at λ = 0.001."""
    found = [row for row in rows("objective_perturbation", "data") if (row["data"], row["λ"]) == ("adult", "0.001")]
    return {
        "across": [float(row["ε_dp"]) for row in found],
        "exact tilt": [float(row["s / bound, x or null"]) for row in found],
        "Redberg et al. (2023)": [float(row["Redberg et al., x or null"]) for row in found],
    }


def capacity() -> Figure:
    """Loss by rows left."""
    found = rows("capacity", "rows left")
    return {
        "across": [int(row["rows left"].replace(",", "")) for row in found],
        "forecast by public numbers": [float(row["forecast loss"]) for row in found],
        "measured": [float(row["measured loss, at random"]) for row in found],
    }


FIGURES = {
    "attack": (
        attack,
        {"xlabel": "old models that the attacker kept", "ylabel": "share of right guesses", "ylim": (0, 1.05)},
    ),
    "noise": (
        noise,
        {"xlabel": "ε at order 10", "ylabel": "noise over the lower bound", "xscale": "log", "yscale": "log"},
    ),
    "capacity": (
        capacity,
        {"xlabel": "rows left of 22,000", "ylabel": "nats per row", "xscale": "log", "yscale": "log"},
    ),
}


def fingerprint(figure: Figure) -> str:
    """Of the numbers that are drawn."""
    return hashlib.sha256(json.dumps(figure).encode()).hexdigest()


def main(arguments: list[str]) -> None:
    argparse.ArgumentParser(prog="python -m benchmarks paper", description=__doc__).parse_args(arguments)
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    for name, (drawn, axes_facts) in FIGURES.items():
        values = drawn()
        figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
        for (label, up), style in zip(list(values.items())[1:], ("o-", "s-", "k--"), strict=False):
            axes.plot(values["across"], up, style, label=label)
        axes.set(**axes_facts)
        if name == "capacity":
            axes.invert_xaxis()
        axes.legend(frameon=False)
        target = PAPER / f"{name}.png"
        figure.savefig(target, dpi=120, metadata={"Software": None, "Description": fingerprint(values)})
        print(target)

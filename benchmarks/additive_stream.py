"""Additive models under one total while rows leave, at random or all of one group: ours, DP-EBM retrained, and a model never updated.

Eleven publications share (ε, δ): the first, and ten as many rows leave as the group has. DP-EBM learns anew for each, at the ε that eleven models
of equal μ may have by its own accounting (Gaussian DP). "Never updated" spends all of ε on the first model, and whoever left is still in it.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.additive import DELTA, TABLES, dp_ebm, prepared
from noisygd_delete import Budget, NoisyGDClassifier
from noisygd_delete.bounds.gaussian import gdp_epsilon, gdp_for

EPSILON, PUBLICATIONS, SPLITS = 2.0, 11, 3
GROUPS = {"Adult": ("sex", "Female"), "wages": ("smsa", "no")}
HEADER = [
    "table",
    "model",
    "at first",
    "at random: everybody",
    "one group: everybody",
    "one group: who left",
    "one group: who stayed",
]


def ours(rows: Any, labels: Any, leaving: Any, releases: int) -> tuple[Any, Any]:
    """P(second class) by the first model and by the last, as functions of rows."""
    budget = Budget.from_epsilon_delta(dp=(EPSILON, DELTA), deletion=(EPSILON / 10, DELTA))
    own: dict[str, Any] = {"feature_bounds": (-1, 1), "row_norm": 1.0, "fit_intercept": False, "total": None}
    model = NoisyGDClassifier(**own, budget=budget, adjacency="zero-out", releases=releases).fit(rows, labels)
    first = model.model_
    for part in np.array_split(leaving, releases - 1) if releases > 1 else ():
        model.delete(part.tolist())
    return (lambda given: first.probabilities(given)[:, 1]), (lambda given: model.model_.probabilities(given)[:, 1])


def right(chance: Any, truth: Any) -> float:
    return float(((chance > 0.5) == truth).mean())


def measure(name: str, splits: int) -> list[list[str]]:
    reader, train_size, test_size = TABLES[name]
    schema, table, _, columns, thin, labels = prepared(reader)
    column, group = GROUPS[name]
    inside = (table[column].astype(str) == group).to_numpy()
    each = gdp_epsilon(mu=gdp_for(epsilon=EPSILON, delta=DELTA) / PUBLICATIONS**0.5, delta=DELTA)
    found: dict[str, list[list[float]]] = {}
    for seed in range(splits):
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(labels))
        train, test = order[:train_size], order[train_size : train_size + test_size]
        known, truth, tested = labels[train], labels[test], inside[test]
        biased = np.flatnonzero(inside[train])
        leaving = {"random": rng.permutation(train_size)[: len(biased)], "group": biased}
        for model, rows, releases in (
            ("additive, ours", thin, PUBLICATIONS),
            ("columns, ours", columns, PUBLICATIONS),
            ("additive, ours, never updated", thin, 1),
        ):
            ends = {kind: ours(rows[train], known, who, releases) for kind, who in leaving.items()}
            first = right(ends["random"][0](rows[test]), truth)
            random, one = (ends[kind][1](rows[test]) for kind in ("random", "group"))
            found.setdefault(model, []).append([first, *scores(random, one, truth, tested)])
        chances = []
        for who in (None, *leaving.values()):
            kept = np.setdiff1d(np.arange(train_size), [] if who is None else who)
            given = table.iloc[train[kept]]
            chances.append(dp_ebm(schema, given, known[kept], each, table.iloc[test], random_state=seed)[0])
        line = [right(chances[0], truth), *scores(*chances[1:], truth, tested)]
        found.setdefault(f"DP-EBM, retrained at ε = {each:.2f}", []).append(line)
        print(name, seed, {model: np.round(runs[-1], 3).tolist() for model, runs in found.items()}, flush=True)
    share = f"{name} ({column} = {group}: {inside.mean():.0%})"
    return [[share, model, *(f"{100 * mean:.1f} %" for mean in np.mean(runs, axis=0))] for model, runs in found.items()]


def scores(random: Any, one: Any, truth: Any, tested: Any) -> list[float]:
    return [right(random, truth), right(one, truth), *(right(one[who], truth[who]) for who in (tested, ~tested))]


def main(arguments: list[str]) -> None:
    parsed, page = report.begin("additive_stream", __doc__, arguments, splits=SPLITS)
    warnings.simplefilter("ignore")
    lines = [line for name in GROUPS for line in measure(name, parsed.splits)]
    body = (
        f"Shares of right answers, means of {parsed.splits} splits; {PUBLICATIONS} publications under a total of (ε, δ) = ({EPSILON:g}, {DELTA:g}), zero-out; "
        "ten of them as so many rows leave as the group has, in ten parts, at random or all of the group and nobody else. Tested on rows of everybody. "
        "DP-EBM learns anew for each publication, here measured for the first and the last alone, as every one is by itself. A model that is never "
        f"updated spends all on its first: nobody is erased.\n\n{report.table(HEADER, lines)}"
    )
    page.write("Additive models while rows leave", body)

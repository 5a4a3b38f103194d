"""A chain of sums while rows leave, at random or all of one group, beside a model that is published once and never updated.

All releases of the chain are together 1-GDP, every one observed; the model that is never updated spends all of it at once, and whoever left is
still in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.additive_stream import GROUPS, HEADER
from benchmarks.sums import Table, alone, default_levels, planned
from noisygd_delete import Curator, Records

RELEASES, SPLITS = 101, 2


def right(model: Any, rows: Any, truth: Any) -> float:
    return float(((model.scores(rows)[:, 0] > 0) == (truth > 0)).mean())


def chain(table: Table, train: Any, leaving: Any) -> tuple[Any, Any]:
    """The first model and the last, when these rows have left in as many parts as there are deletions."""
    batch = -(-len(leaving) // (RELEASES - 1))
    facts: dict[str, Any] = {"records": table.train, "releases": RELEASES, "joiners": False}
    map, codes, _, labels = table.on(default_levels(blocks=table.blocks, **facts))
    curator = Curator(Records(codes[train], labels[train]), planned(map, batch=batch, **facts))
    first = curator.learn().model
    for part in np.array_split(leaving, RELEASES - 1):
        curator.delete(part.tolist())
    return first, curator.model


def measure(name: str, splits: int) -> list[list[str]]:
    table = Table(name.lower())
    column, group = GROUPS[name]
    inside = (table.whole[column].astype(str) == group).to_numpy()
    facts: dict[str, Any] = {"records": table.train, "joiners": False}
    many, once = (default_levels(blocks=table.blocks, releases=releases, **facts) for releases in (RELEASES, 1))
    found: dict[str, list[list[float]]] = {"chain of sums": [], "published once, never updated": []}
    for seed in range(splits):
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(inside))
        train, test = order[: table.train], order[table.train :]
        biased = np.flatnonzero(inside[train])
        _, codes, rows, labels = table.on(many)
        ends = [chain(table, train, who) for who in (rng.permutation(table.train)[: len(biased)], biased)]
        parts = (np.ones(len(test), bool), inside[test], ~inside[test])
        last = [right(ends[1][1], rows[test][part], labels[test][part]) for part in parts]
        found["chain of sums"].append(
            [right(ends[0][0], rows[test], labels[test]), right(ends[0][1], rows[test], labels[test]), *last]
        )
        map, codes, rows, labels = table.on(once)
        model = Curator(Records(codes[train], labels[train]), alone(map, 0.999, **facts)).learn().model
        one = [right(model, rows[test][part], labels[test][part]) for part in parts]
        found["published once, never updated"].append([one[0], one[0], *one])
        print(name, seed, {what: np.round(runs[-1], 3).tolist() for what, runs in found.items()}, flush=True)
    share = f"{name} ({column} = {group}: {inside.mean():.0%})"
    return [[share, what, *(f"{100 * mean:.1f} %" for mean in np.mean(runs, axis=0))] for what, runs in found.items()]


def main(arguments: list[str]) -> None:
    parsed, page = report.begin("sums_stream", __doc__, arguments, splits=SPLITS)
    lines = [line for name in GROUPS for line in measure(name, parsed.splits)]
    body = (
        f"Shares of right answers on rows of everybody, means of {parsed.splits} splits. {RELEASES} releases, all together 1-GDP between two records; {RELEASES - 1} of "
        "them as so many rows leave as the group has, in equal parts, at random or all of the group and nobody else. Later models alone owe whoever left "
        f"exactly nothing if requests did not depend on earlier ones; the model that is never updated owes all.\n\n{report.table(HEADER, lines)}"
    )
    page.write("Sums while rows leave", body)

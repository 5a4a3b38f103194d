"""The ladder on Adult, beside learning afresh with the same passes and beside one whole run: the same budget of a release for every row.

Settings were chosen on the split of the other tables (seed 0) and are fixed here; the splits below are fresh ones.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from benchmarks import datasets, report
from noisygd_delete import Budget, Curator, Records, losses, make_plan
from noisygd_delete.engine import Execution
from noisygd_delete.methods import Ladder, Stage

SPLITS = (1, 2, 3)
TRAIN, ERASED = 26_000, 10
BUDGET = Budget(order=10, dp=1.0, deletion=0.1)
LOSS = losses.MultilayerPerceptron(radius=1.0, hidden=32, clip=1.0)
REGULARIZATION, STEP = 1e-4, 4.0
BASE = Stage("network", 60, STEP)
WAYS = (  # what a row is called, its stages, its level
    ("one whole run, a deletion learns afresh", (Stage("network", 50, STEP), Stage("network", 50, STEP)), -1),
    ("cold start with a fifth of its passes", (Stage("network", 10, STEP), Stage("network", 10, STEP)), -1),
    ("ladder: base, then 20 steps", (BASE, Stage("network", 20, STEP)), 0),
    ("ladder: base, then a convex head", (BASE, Stage("head", regularization=3e-4)), 0),
)


@dataclass(frozen=True)
class Measured:
    """Of one way on one split: held-out accuracy before and after a deletion, passes of both, ε_dp and ε_dd with the slack."""

    learned: float
    deleted: float
    learn_passes: int
    delete_passes: int
    dp: float
    deletion: float
    base: float


def split(data: datasets.Data, seed: int) -> tuple[Records, Records]:
    """A fresh split of all rows."""
    rows = np.concatenate([data.train.features, data.test.features])
    labels = np.concatenate([data.train.labels, data.test.labels])
    order = np.random.default_rng(seed).permutation(len(rows))
    train, test = order[:TRAIN], order[TRAIN:]
    return Records(rows[train], labels[train]), Records(rows[test], labels[test])


def measured(train: Records, test: Records, stages: tuple[Stage, ...], level: int, seed: int) -> Measured:
    plan = make_plan(
        LOSS,
        records=train.slots,
        features=train.features.shape[1],
        regularization=REGULARIZATION,
        budget=BUDGET,
        adjacency="zero-out",
        dtype="float64",
        method=Ladder(stages, level),
    )
    curator = Curator(train.copy(), plan)
    learned = curator.learn(execution=Execution(rng=np.random.default_rng(seed)))
    assert learned.model is not None
    base = plan.model_loss.parts(learned.model.weights, plan.features)[0]  # type: ignore[attr-defined]
    right = (LOSS.predict(LOSS.scores(base, test.features), np) == test.labels).mean()
    deleted = curator.delete(curator.records.ids[:ERASED], execution=Execution(rng=np.random.default_rng(seed + 100)))
    assert deleted.model is not None
    return Measured(
        learned.model.accuracy(test),
        deleted.model.accuracy(test),
        learned.gradient_passes,
        deleted.gradient_passes,
        plan.dp.with_slack().renyi(10),
        plan.deletion.with_slack().renyi(10),
        float(right),
    )


HEADER = ["way", "accuracy", "after a deletion", "passes to learn", "passes per deletion", "ε_dp", "ε_dd"]

LEGEND = """\
Adult, {train} of 32,561 rows, 108 columns, zero-out; (q, ε_dp) = (10, 1) for every release of every row, ε_dd = 0.1 where something is kept.
Network 108-32-1, gradients clipped to 1, λ = 1e-4, η = 4; means over {splits} fresh splits with fixed settings, in brackets the least and the
largest. A deletion erases {erased} records. *cold start*: the same steps as the ladder's later stage, from the initial law, with the whole
budget. ε_dd is that of an observer of later models if requests did not depend on earlier ones; 0 where everything is run again.
The base alone (60 steps at ε_dd = 0.1): {base}."""


def spread(values: list[float]) -> str:
    return f"{np.mean(values):.4f} ({min(values):.4f}-{max(values):.4f})"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks ladder", description=__doc__)
    parser.add_argument("--splits", type=int, nargs="+", default=SPLITS)
    options = parser.parse_args(arguments)
    at, data = report.commit(), datasets.adult()
    tables = [(seed, *split(data, seed)) for seed in options.splits]
    rows, bases = [], []
    for name, stages, level in WAYS:
        found = [measured(train, test, stages, level, seed) for seed, train, test in tables]
        bases += [one.base for one in found] if stages[0] == BASE else []
        rows.append(
            [
                name,
                spread([one.learned for one in found]),
                spread([one.deleted for one in found]),
                f"{max(one.learn_passes for one in found)}",
                f"{max(one.delete_passes for one in found)}",
                f"{max(one.dp for one in found):.3f}",
                f"{max(one.deletion for one in found):.3f}",
            ]
        )
        print(*rows[-1], sep="  ", flush=True)
    legend = LEGEND.format(train=TRAIN, splits=len(tables), erased=ERASED, base=spread(bases))
    body = f"{legend}\n\n{report.table(HEADER, rows)}"
    print(report.write("ladder", "The ladder beside learning afresh", "python -m benchmarks ladder", body, at))

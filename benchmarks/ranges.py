"""What ranges cost that are known in order of magnitude alone: the schema's own, and a hundred times too wide, as they are and under `signed-log`.

python -m benchmarks ranges [--splits N] [--tables NAME ...]

A range of [lo, hi] becomes [−100 m, 100 m], m the larger of |lo| and |hi|, for every number of the table; nothing else changes. Additive
curves by defaults, ε = 1. Every row of a split is equally likely to be tested, and nothing is chosen by looking at test rows.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.metrics import roc_auc_score

from benchmarks import datasets, report
from benchmarks.additive import TABLES, budget_of
from noisygd_delete import NoisyGDClassifier, Schema
from noisygd_delete.features.schema.columns import Numeric

WIDER, EPSILON = 100, 1.0
WAYS = {  # transform, and whether a number that is never negative is known to be so
    "the schema's": ("", True),
    f"{WIDER} times too wide": ("none", False),
    f"{WIDER} times too wide, signed-log": ("signed-log", False),
    f"{WIDER} times too wide, signed-log, from 0 where none is negative": ("signed-log", True),
}


def widened(schema: Schema, transform: str, *, from_zero: bool) -> Schema:
    """The schema with ranges that a hundredth of would do; "" as it is."""
    if not transform:
        return schema
    kinds = {}
    for name, kind in schema.columns.items():
        if isinstance(kind, Numeric):
            most = WIDER * max(abs(kind.lower), abs(kind.upper))
            kind = replace(kind, lower=0.0 if from_zero and kind.lower >= 0 else -most, upper=most, transform=transform)  # noqa: PLW2901
        kinds[name] = kind
    return replace(schema, columns=kinds)


def score(rows: Any, labels: Any, first: Any, last: Any) -> tuple[float, float]:
    """(accuracy, AUC) on the last rows of a model of the first."""
    model = NoisyGDClassifier(
        feature_bounds=(-1, 1),
        row_norm=1.0,
        fit_intercept=False,
        budget=budget_of(EPSILON),
        adjacency="zero-out",
        total=None,
    )
    model.fit(rows[first], labels[first])
    odds = model.predict_proba(rows[last])[:, 1]
    return float(((odds > 0.5) == labels[last]).mean()), float(roc_auc_score(labels[last], odds))


def measure(name: str, splits: int) -> list[list[str]]:
    reader, learned, tested = TABLES[name]
    schema, whole = reader()
    whole = whole[[*schema.columns, schema.label_column]].reset_index(drop=True)
    lines = []
    for way, (transform, from_zero) in WAYS.items():
        wide = replace(widened(schema, transform, from_zero=from_zero), id_column=None, map=None).additive()
        made = datasets.encoded(wide, whole)
        rows, labels = csr_array(made.rows), (made.labels > 0).astype(int)
        found = []
        for split in range(splits):
            order = np.random.default_rng(split).permutation(rows.shape[0])
            found.append(score(rows, labels, order[:learned], order[learned : learned + tested]))
        accuracy, area = np.mean(found, axis=0)
        lines.append([name, way, f"{100 * accuracy:.2f}", f"{area:.4f}"])
        print(*lines[-1], flush=True)
    return lines


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks ranges", description=__doc__)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--tables", nargs="+", choices=list(TABLES), default=["wages", "diamonds"])
    parsed = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    commit = report.commit()
    lines = [line for name in parsed.tables for line in measure(name, parsed.splits)]
    body = (
        f"A range of [lo, hi] became [−{WIDER} m, {WIDER} m], m the larger of |lo| and |hi|, for every number. Additive curves by defaults, "
        f"ε = {EPSILON:g}, mean of {parsed.splits} splits; nothing is chosen by looking at test rows.\n\nA private range, were it free and exact, would win "
        "what lies between the first row of a table and its last. It is not: each release would pay for it, and every deletion would need the cells "
        "themselves, which no store keeps. So there is none."
    )
    table = report.table(["table", "ranges", "accuracy, %", "AUC"], lines)
    command = f"python -m benchmarks ranges --splits {parsed.splits} --tables {' '.join(parsed.tables)}"
    report.write("ranges", "Ranges known in order of magnitude alone", command, f"{body}\n\n{table}", commit)

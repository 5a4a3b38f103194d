"""Additive models at equal (ε, δ) on four tables: `maps.Additive` and the columns, beside DP-EBM; boosting and logistic without privacy.

DP-EBM is `interpret`'s (the extra `additive` of `lab/`), with the schema's ranges for its bounds. Every row of a
split is equally likely to be tested. "Defaults" choose nothing by looking at test rows. "Best of grid" is the setting with the best mean
on the test rows, for ours and for DP-EBM alike: what somebody could get who knew it beforehand.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score

from benchmarks import datasets, report
from noisygd_delete import Budget, NoisyGDClassifier, Schema, losses, make_plan
from noisygd_delete.curator import Curator
from noisygd_delete.errors import PlanInfeasible
from noisygd_delete.features.maps import from_dict
from noisygd_delete.features.schema.columns import Category
from noisygd_delete.methods import Perturbed
from noisygd_delete.records import Records

SPLITS, DELTA, EPSILONS, GRID_AT = 5, 1e-5, (0.5, 1.0, 2.0), 1.0
HEADER = ["table", "method", "ε", "accuracy", "AUC", "log loss", "a deletion over boosting's learning"]
TABLES: dict[
    str, tuple[Callable[[], tuple[Schema, Any]], int, int]
] = {  # how to read it; rows to learn from, and to test on
    "Adult": (datasets.adult_table, 26_000, 6_561),
    "wages": (datasets.wage_table, 22_000, 6_155),
    "diamonds": (datasets.diamond_table, 43_000, 10_940),
    "flights": (datasets.flight_table, 60_000, 40_000),
}
OURS = [{"chain": 3, "clip": 0.6, "regularization": scale} for scale in (0.3, 1.0, 3.0)] + [
    {"chain": 5, "clip": 0.6, "regularization": 1.0},
    {"chain": 1, "clip": 0.6, "regularization": 1.0},
]  # regularization in units of what the defaults took
EBM: list[dict[str, Any]] = [
    {"max_rounds": 100, "max_bins": 16},
    {"max_rounds": 300, "max_bins": 32, "learning_rate": 0.03},
    {"max_rounds": 50, "max_bins": 32, "learning_rate": 0.05},
]
Answer = tuple[np.ndarray, float]


def budget_of(epsilon: float) -> Budget:
    return Budget.from_epsilon_delta(dp=(epsilon, DELTA), deletion=(0.1 * epsilon, DELTA))


def ours(rows: Any, labels: Any, epsilon: float, tested: Any) -> tuple[Answer, float]:
    model = NoisyGDClassifier(
        feature_bounds=(-1, 1),
        row_norm=1.0,
        fit_intercept=False,
        budget=budget_of(epsilon),
        adjacency="zero-out",
        total=None,
    )
    model.fit(rows, labels)
    began = time.process_time()
    model.delete([0])
    return (model.predict_proba(tested)[:, 1], time.process_time() - began), model.plan_.regularization


def ours_as(setting: dict[str, Any], ridge: float, rows: Any, labels: Any, epsilon: float, tested: Any) -> Answer:
    plan = make_plan(
        losses.clip(losses.Logistic(1.0), setting["clip"]),
        records=rows.shape[0],
        features=rows.shape[1],
        regularization=ridge * setting["regularization"],
        budget=budget_of(epsilon),
        adjacency="zero-out",
        method=Perturbed(chain=setting["chain"]),
    )
    curator = Curator(Records(rows, 2.0 * labels - 1), plan)
    curator.learn()
    began = time.process_time()
    curator.delete([0])
    return curator.model.probabilities(tested)[:, 1], time.process_time() - began


def dp_ebm(schema: Schema, table: Any, labels: Any, epsilon: float, tested: Any, **setting: Any) -> Answer:
    from interpret.privacy import DPExplainableBoostingClassifier

    kinds = ["nominal" if isinstance(kind, Category) else "continuous" for kind in schema.columns.values()]
    bounds = {n: (k.lower, k.upper) for n, k in schema.columns.items() if not isinstance(k, Category)}  # type: ignore[attr-defined]
    model = DPExplainableBoostingClassifier(
        feature_types=kinds, privacy_bounds=bounds, epsilon=epsilon, delta=DELTA, n_jobs=1, **setting
    )
    began = time.process_time()
    model.fit(table, labels)
    return model.predict_proba(tested)[:, 1], time.process_time() - began  # a deletion is its learning


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks additive", description=__doc__)
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--tables", nargs="+", choices=list(TABLES), default=list(TABLES))
    parsed = parser.parse_args(arguments)
    splits, commit = parsed.splits, report.commit()
    warnings.simplefilter("ignore")
    lines = []
    for name in parsed.tables:
        lines += measure(name, splits)
    sizes = ", ".join(f"{name} {TABLES[name][1]:,}" for name in parsed.tables)
    body = (
        f"Rows to learn from: {sizes}; {splits} splits, mean ± standard deviation over splits. wages and diamonds were not used before, by anybody here "
        f"(benchmarks/schemas). One release at (ε, {DELTA:g}), zero-out (one record against an empty slot); DP-EBM's is by its own accounting, for one "
        "record added or removed. Ours delete at ε/10. Best of grid: of "
        f"{1 + len(OURS)} settings of ours and {1 + len(EBM)} of DP-EBM, the one best on the test rows. Processor time of a deletion over that of "
        "learning scikit-learn's boosting; DP-EBM deletes by learning anew. diffprivlib 0.6.6 does not import beside scikit-learn 1.9.\n\n"
        f"{report.table(HEADER, lines)}"
    )
    command = f"python -m benchmarks additive --splits {splits}"
    report.write("additive", "Additive models at equal (ε, δ)", command, body, commit)


def prepared(reader: Callable[[], tuple[Schema, Any]]) -> tuple[Schema, Any, Any, Any, Any, Any]:
    """A table's schema, its columns as text and numbers, the same with coded categories, our rows by columns and by the map, labels."""
    schema, whole = reader()
    whole = whole[[*schema.columns, schema.label_column]].reset_index(drop=True)
    widths = tuple(kind.width if isinstance(kind, Category) else 0 for kind in schema.columns.values())
    encoded = datasets.encoded(replace(schema, id_column=None), whole)
    columns, labels = encoded.rows, (encoded.labels > 0).astype(int)
    map = from_dict({"kind": "additive"}, columns=widths)
    thin = csr_array(datasets.encoded(replace(schema, map=map, id_column=None), whole).rows)
    table = whole[list(schema.columns)].copy()
    codes = table.copy()
    for column, kind in schema.columns.items():
        if isinstance(kind, Category):
            table[column] = table[column].astype(str)
            codes[column] = pd.Categorical(table[column], categories=list(kind.values))
    return schema, table, codes, columns, thin, labels


def measure(name: str, splits: int) -> list[list[str]]:
    """The lines of one table."""
    reader, train_size, test_size = TABLES[name]
    schema, table, codes, columns, thin, labels = prepared(reader)
    found: dict[tuple[str, str], list[list[float]]] = {}
    for seed in range(splits):
        order = np.random.default_rng(seed).permutation(len(labels))
        train, test = order[:train_size], order[train_size : train_size + test_size]
        truth, known = labels[test], labels[train]

        def add(method: str, epsilon: str, answer: Answer, truth: Any = truth) -> None:
            chance, cost = answer
            scores = [float(((chance > 0.5) == truth).mean()), float(roc_auc_score(truth, chance))]
            scores += [float(log_loss(truth, np.clip(chance, 1e-6, 1 - 1e-6))), cost]
            found.setdefault((method, epsilon), []).append(scores)
            print(json.dumps([name, method, epsilon, *scores]), flush=True)

        began = time.process_time()
        boosting = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)
        boosting.fit(codes.iloc[train], known)
        unit = time.process_time() - began
        add("boosting, not private", "", (boosting.predict_proba(codes.iloc[test])[:, 1], unit))
        began = time.process_time()
        logistic = LogisticRegression(C=100, max_iter=1000).fit(columns[train], known)
        spent = time.process_time() - began
        add("logistic regression, not private", "", (logistic.predict_proba(columns[test])[:, 1], spent))
        for epsilon in EPSILONS:
            answer, ridge = ours(thin[train], known, epsilon, thin[test])
            add("additive, ours", f"{epsilon:g}", answer)
            add("columns, ours", f"{epsilon:g}", ours(columns[train], known, epsilon, columns[test])[0])
            add("DP-EBM", f"{epsilon:g}", dp_ebm(schema, table.iloc[train], known, epsilon, table.iloc[test]))
            if epsilon != GRID_AT:
                continue
            for place, setting in enumerate(OURS):
                try:
                    answer = ours_as(setting, ridge, thin[train], known, epsilon, thin[test])
                except PlanInfeasible:
                    continue
                add(f"additive, ours, grid {place}", f"{epsilon:g}", answer)
            for place, setting in enumerate(EBM):
                answer = dp_ebm(schema, table.iloc[train], known, epsilon, table.iloc[test], **setting)
                add(f"DP-EBM, grid {place}", f"{epsilon:g}", answer)
        for runs in found.values():
            runs[-1][3] /= unit
    keep_best(found)
    lines = []
    for (method, epsilon), runs in sorted(found.items(), key=lambda item: (item[0][1], item[0][0])):
        means, spread = np.mean(runs, axis=0), np.std(runs, axis=0)
        three = [f"{mean:.3f} ± {wide:.3f}" for mean, wide in zip(means[:3], spread[:3], strict=True)]
        lines.append([name, method, epsilon or "–", *three, f"{means[3]:.2f}"])
    return lines


def keep_best(found: dict[tuple[str, str], list[list[float]]]) -> None:
    """Of every grid, defaults included, the setting with the best mean accuracy on the test rows, under a name of its own."""
    for method in ("additive, ours", "DP-EBM"):
        settings = [key for key in found if key[0].startswith(method) and key[1] == f"{GRID_AT:g}"]
        best = max(settings, key=lambda key: float(np.mean([run[0] for run in found[key]])))
        chosen = found[best]
        for key in settings:
            if "grid" in key[0]:
                del found[key]
        found[f"{method}, best of grid", f"{GRID_AT:g}"] = chosen

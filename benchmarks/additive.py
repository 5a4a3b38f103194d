"""Additive models at equal (ε, δ): `maps.Additive` and the columns under one head, beside DP-EBM; boosting and logistic without privacy.

DP-EBM is `interpret`'s (`pip install interpret-core`, of this measurement alone), by its defaults, with the schema's ranges for its bounds.
Every row of a split is equally likely to be tested; nothing is chosen by looking at test rows: each method runs by its defaults.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score

from benchmarks import datasets, report
from noisygd_delete import Budget, NoisyGDClassifier, Schema, maps
from noisygd_delete.features.maps import from_dict
from noisygd_delete.features.schema.columns import Category

SPLITS, TRAIN, DELTA, EPSILONS = 5, 26_000, 1e-5, (0.5, 1.0, 2.0)
HEADER = ["method", "ε", "accuracy", "AUC", "log loss", "a deletion over its learning"]


def raw_table(schema: Schema) -> tuple[pd.DataFrame, np.ndarray]:
    table = pd.read_csv(datasets.path("adult.csv.gz"), skipinitialspace=True)
    return table[list(schema.columns)], (table[schema.label_column] == schema.classes[1]).to_numpy(int)  # type: ignore[index]


def ours(rows: Any, labels: Any, epsilon: float, tested: Any) -> tuple[np.ndarray, float]:
    budget = Budget.from_epsilon_delta(dp=(epsilon, DELTA), deletion=(0.1 * epsilon, DELTA))
    model = NoisyGDClassifier(
        feature_bounds=(-1, 1), row_norm=1.0, fit_intercept=False, budget=budget, adjacency="zero-out", total=None
    )
    began = time.process_time()
    model.fit(rows, labels)
    learned, began = time.process_time() - began, time.process_time()
    model.delete([0])
    return model.predict_proba(tested)[:, 1], (time.process_time() - began) / learned


def dp_ebm(schema: Schema, table: Any, labels: Any, epsilon: float, tested: Any) -> tuple[np.ndarray, float]:
    from interpret.privacy import DPExplainableBoostingClassifier

    kinds = ["nominal" if isinstance(kind, Category) else "continuous" for kind in schema.columns.values()]
    bounds = {n: (k.lower, k.upper) for n, k in schema.columns.items() if not isinstance(k, Category)}  # type: ignore[attr-defined]
    model = DPExplainableBoostingClassifier(
        feature_types=kinds, privacy_bounds=bounds, epsilon=epsilon, delta=DELTA, n_jobs=1
    )
    model.fit(table, labels)
    return model.predict_proba(tested)[:, 1], 1.0  # a deletion is its learning


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks additive", description=__doc__)
    parser.add_argument("--splits", type=int, default=SPLITS)
    splits, commit = parser.parse_args(arguments).splits, report.commit()
    warnings.simplefilter("ignore")
    schema = Schema.read(datasets.ROOT / "examples" / "schemas" / "adult.toml")
    table, labels = raw_table(schema)
    file = datasets.path("adult.csv.gz")
    sizes = tuple(kind.width if isinstance(kind, Category) else 0 for kind in schema.columns.values())
    columns, additive = schema.encode_file(file).rows, from_dict({"kind": "additive"}, columns=sizes)
    assert isinstance(additive, maps.Additive)
    mapped = replace(schema, map=additive).encode_file(file).rows
    thin = csr_array(mapped)
    found: dict[tuple[str, str], list[list[float]]] = {}
    for seed in range(splits):
        order = np.random.default_rng(seed).permutation(len(labels))
        train, test = order[:TRAIN], order[TRAIN:]

        def add(name: str, epsilon: str, answer: tuple[np.ndarray, float], test: Any = test) -> None:
            chance, cost = answer
            truth = labels[test]
            scores = [float(((chance > 0.5) == truth).mean()), float(roc_auc_score(truth, chance))]
            scores += [float(log_loss(truth, np.clip(chance, 1e-6, 1 - 1e-6))), cost]
            found.setdefault((name, epsilon), []).append(scores)
            print(json.dumps([name, epsilon, *scores]), flush=True)

        codes = table.copy()
        for name, kind in schema.columns.items():
            if isinstance(kind, Category):
                codes[name] = pd.Categorical(codes[name], categories=list(kind.values))
        boosting = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)
        boosting.fit(codes.iloc[train], labels[train])
        add("boosting, not private", "", (boosting.predict_proba(codes.iloc[test])[:, 1], 1.0))
        logistic = LogisticRegression(C=100, max_iter=1000).fit(columns[train], labels[train])
        add("logistic regression, not private", "", (logistic.predict_proba(columns[test])[:, 1], 1.0))
        for epsilon in EPSILONS:
            add("additive, ours", f"{epsilon:g}", ours(thin[train], labels[train], epsilon, thin[test]))
            add("columns, ours", f"{epsilon:g}", ours(columns[train], labels[train], epsilon, columns[test]))
            add("DP-EBM", f"{epsilon:g}", dp_ebm(schema, table.iloc[train], labels[train], epsilon, table.iloc[test]))
    lines = []
    for (name, epsilon), runs in sorted(found.items(), key=lambda item: (item[0][1], item[0][0])):
        means, spread = np.mean(runs, axis=0), np.std(runs, axis=0)
        three = [f"{mean:.3f} ± {wide:.3f}" for mean, wide in zip(means[:3], spread[:3], strict=True)]
        lines.append([name, epsilon or "–", *three, f"{means[3]:.2f}"])
    body = (
        f"Adult, {TRAIN:,} rows to learn from, the other {len(labels) - TRAIN:,} tested; {splits} splits, mean and standard deviation over splits. One release at "
        f"(ε, {DELTA:g}), zero-out (one record against an empty slot); DP-EBM's is by its own accounting, for one record added or removed. Ours delete at "
        f'ε/10. Every method by its defaults; ours by `method="auto"`. {additive.width + 1:,} columns of the additive map, of which a row has at most '
        f"{additive.entries + 1}. DP-EBM and boosting delete by learning anew.\n\n{report.table(HEADER, lines)}"
    )
    report.write(
        "additive", "Additive models at equal (ε, δ)", f"python -m benchmarks additive --splits {splits}", body, commit
    )

"""The first page's table: a deletion by each method beside scikit-learn's refit, on Adult, every chain run whole.

All at one budget and λ. One process, one thread, processor time; rounds take turns, and the least of each is shown; `noisy-gd:analysis=paper` takes part in the first
two. scikit-learn refits on the edited table from nothing in float64 and float32, and from the coefficients it had (float32), each at its default tolerance. Test rows are
looked at by nobody before the end. Then `noisy-gd` on dense random rows, the easiest for a refit: it ends after four or five iterations.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from benchmarks import datasets, report
from benchmarks.objective_perturbation import BLOCKS
from noisygd_delete import Budget, Curator, EditRequest, Records, losses, make_plan

DELETED = (7,)
ORDER, REGULARIZATION = 10, 1e-3
DENSE = ((10**5, 100), (10**6, 20))  # rows and features
METHODS = {  # options of each
    "noisy-gd:analysis=paper": {},
    "noisy-gd": {},
    "output-perturbation": {},
    "objective-perturbation": {},
    "sufficient-statistics": {"releases": 13},  # the learn, and one a month for a year, on one budget
}
FEW = {"noisy-gd:analysis=paper": 2}  # rounds of the slow ones


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    return call(), time.process_time() - start


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks cost")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--methods", nargs="+", default=tuple(METHODS), choices=tuple(METHODS))
    asked, measured = parser.parse_args(arguments), report.commit()
    with threadpool_limits(1):
        body = measure(asked.rounds, asked.methods) + "\n\n" + measure_dense(asked.rounds)
    print(body)
    report.write("cost", "A deletion beside a refit", "OMP_NUM_THREADS=1 python -m benchmarks cost", body, measured)


def measure(rounds: int, methods: tuple[str, ...]) -> str:
    data = datasets.adult()
    edited = data.train.apply(EditRequest.delete(DELETED))
    labels = edited.labels[edited.occupied]
    tables = {kind: edited.features[edited.occupied].astype(kind) for kind in ("float64", "float32")}
    budget = Budget(order=ORDER, dp=1.0, deletion=0.1)
    plans = {
        name: make_plan(
            data.loss,
            records=data.train.slots,
            features=data.train.features.shape[1],
            regularization=REGULARIZATION,
            budget=budget,
            method=name,
            one_hot_blocks=BLOCKS["adult"],
            **METHODS[name],
        )
        for name in methods
    }
    warm = _refitted(LogisticRegression(**_options(data.train.slots), warm_start=True), tables["float32"], labels)
    refits = {
        "float64, from nothing": lambda: _refitted(
            LogisticRegression(**_options(data.train.slots)), tables["float64"], labels
        ),
        "float32, from nothing": lambda: _refitted(
            LogisticRegression(**_options(data.train.slots)), tables["float32"], labels
        ),
        "float32, warm": lambda: _refitted(warm, tables["float32"], labels),
    }
    seconds: dict[str, list[float]] = {name: [] for name in (*refits, *methods)}
    accuracy: dict[str, list[float]] = {name: [] for name in seconds}
    passes: dict[str, float] = {}
    for round_number in range(rounds):
        for name, refit in refits.items():
            found, took = timed(refit)
            seconds[name].append(took)
            right = np.sign(data.test.features @ found.coef_[0]) == data.test.labels
            accuracy[name].append(float(right.mean()))
        for name, plan in plans.items():
            if round_number >= FEW.get(name, rounds):
                continue
            curator = Curator(data.train.copy(), plan)
            curator.learn()
            release, took = timed(lambda curator=curator: curator.delete(DELETED))
            seconds[name].append(took)
            accuracy[name].append(release.model.accuracy(data.test))
            passes[name] = release.gradient_passes
    return _page(plans, seconds, accuracy, passes)


def measure_dense(rounds: int) -> str:
    """Deletions by `noisy-gd` beside refits in float32, on rows of Gaussian directions whose labels a logistic model drew."""
    rows = []
    for slots, features in DENSE:
        generator = np.random.default_rng(0)
        table = generator.standard_normal((slots, features), dtype=np.float32)
        table /= np.linalg.norm(table, axis=1, keepdims=True)
        odds = table @ generator.normal(0, 3, features)
        labels = np.where(generator.random(slots) < 1 / (1 + np.exp(-odds)), 1.0, -1.0)
        plan = make_plan(
            losses.Logistic(1.0),
            records=slots,
            features=features,
            regularization=REGULARIZATION,
            budget=Budget(order=ORDER, dp=1.0, deletion=0.1),
            method="noisy-gd",
        )
        curator = Curator(Records(table, labels), plan)
        curator.learn()
        deletions, refits = [], []
        for row in range(rounds):
            release, took = timed(partial(curator.delete, (row,)))
            deletions.append(took)
            refitted = LogisticRegression(**_options(slots))
            refit = partial(_refitted, refitted, table[rounds:], labels[rounds:])
            refits.append(timed(refit)[1])
        size = f"{slots:,} × {features}"
        ratio = f"{min(deletions) / min(refits):.2g}"
        rows.append([size, f"{release.gradient_passes:,}", f"{int(refitted.n_iter_[0])}", ratio])
    head = "`noisy-gd` on dense random rows, same λ and budget; the refit is scikit-learn's in float32, from nothing."
    return f"{head}\n\n{report.table(['rows × features', 'passes', 'iterations of the refit', 'time / refit'], rows)}"


def _options(slots: int) -> dict[str, Any]:
    return {"C": 1 / (REGULARIZATION * slots), "fit_intercept": False, "max_iter": 5000}


def _refitted(estimator: LogisticRegression, rows: Any, labels: Any) -> LogisticRegression:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return estimator.fit(rows, labels)


def _page(
    plans: dict[str, Any], seconds: dict[str, list[float]], accuracy: dict[str, list[float]], passes: dict[str, float]
) -> str:
    against = [name for name in seconds if name not in plans]
    header = [
        "",
        "passes",
        *(f"time / refit {name}" for name in against),
        "accuracy",
        "runs",
        "ε_dd reached",
        "kept between releases beside rows, model, ledger",
    ]
    rows = []
    for name, took in seconds.items():
        ratios = [f"{min(took) / min(seconds[other]):.2g}" for other in against]
        promise = "" if name not in plans else f"{plans[name].deletion.with_slack().renyi(ORDER):.3g}"
        kept = (
            ""
            if name not in plans
            else "a patch while publication is deferred"
            if plans[name].mechanism.carries
            else "nothing"
        )
        said = "scikit-learn, " + name if name not in plans else f"`{name}`"
        rows.append(
            [
                said,
                f"{passes[name]:,}" if name in passes else "",
                *ratios,
                f"{np.mean(accuracy[name]):.1%}",
                str(len(accuracy[name])),
                promise,
                kept,
            ]
        )
    head = (
        f"Adult, {next(iter(plans.values())).problem.records:,} rows, λ = {REGULARIZATION:g}, (q = {ORDER}, ε_dp = 1, ε_dd = 0.1), replace adjacency, Definition 4.1; "
        f"one row deleted. Up to {max(map(len, seconds.values()))} rounds, methods in turn; least processor time of each; every chain whole. "
        "ε_dd at order 10 of later models alone, if requests did not depend on earlier models; scikit-learn promises none."
    )
    return f"{head}\n\n{report.table(header, rows)}"

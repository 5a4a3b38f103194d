"""Adult: T releases on one budget, total μ = 1 between two records: Markov sums, fresh sums, and `perturbed`.

Every row of a split is equally likely to be tested. Every release has the same variance, so each row of the table scores the first one; on the first split the chain
of 101 is really run too, a record deleted at each release, and scored at every tenth. The map has three levels of bins; it, β and the share of the noise
in the ridge were compared on two other splits (seeds 10 and 11).
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from benchmarks import datasets, report
from noisygd_delete import Budget, Curator, Records, losses, make_plan
from noisygd_delete.curator.markov_sums import SumsCurator
from noisygd_delete.errors import PlanInfeasible
from noisygd_delete.features.maps import from_dict
from noisygd_delete.features.schema.columns import Category
from noisygd_delete.methods.markov_sums import plan_sums

TRAIN, SPLITS, RELEASES, LOSS = 26_000, 5, (101, 1001), losses.Logistic(radius=1.0)
AMOUNTS = ("capital_gain", "capital_loss")
RIDGES = (3e-4, 1e-3, 3e-3, 1e-2)
HEADER = ["releases", "what", "noise beside one release", "accuracy", "AUC"]


def rows() -> tuple[Any, Any]:
    schema, whole = datasets.adult_table()
    names = list(schema.columns)
    widths = tuple(kind.width if isinstance(kind, Category) else 0 for kind in schema.columns.values())
    amounts = [names.index(name) for name in AMOUNTS]
    map = from_dict({"kind": "additive", "levels": 3, "amounts": amounts}, columns=widths)
    encoded = datasets.encoded(replace(schema, map=map, id_column=None), whole[[*names, schema.label_column]])
    return encoded.rows, np.where(encoded.labels > 0, 1.0, -1.0)


def scored(model: Any, tested: Any, truth: Any) -> tuple[float, float]:
    scores = model.scores(tested)[:, 0]
    return float(((scores > 0) == (truth > 0)).mean()), float(roc_auc_score(truth, scores))


def sums(
    train: Any, known: Any, tested: Any, truth: Any, releases: int, joiners: bool
) -> tuple[tuple[float, float], float]:
    """(accuracy, AUC) of a release, and V over the variance of a single one."""
    facts: dict[str, Any] = {"records": len(known), "features": train.shape[1], "joiners": joiners}
    plan = plan_sums(LOSS, releases=releases, **facts)
    release = SumsCurator(Records(train, known), plan).learn()
    return scored(release.model, tested, truth), plan.variance / plan_sums(LOSS, releases=1, **facts).variance


def chain(train: Any, known: Any, tested: Any, truth: Any, releases: int) -> tuple[list[list[float]], float]:
    """(accuracy, AUC) of every tenth release after the first, and what a deletion costs over learning scikit-learn's logistic regression."""
    plan = plan_sums(LOSS, records=len(known), features=train.shape[1], releases=releases, joiners=False)
    curator = SumsCurator(Records(train, known), plan)
    curator.learn()
    began, found = time.process_time(), []
    for number in range(2, releases + 1):
        curator.delete([number])
        if number % 10 == 1:
            found.append(list(scored(curator.model, tested, truth)))
    spent = (time.process_time() - began) / (releases - 1)
    began = time.process_time()
    LogisticRegression(max_iter=1000).fit(train, known)
    return found, spent / (time.process_time() - began)


def fresh(train: Any, known: Any, tested: Any, truth: Any, releases: int) -> tuple[tuple[float, float], float]:
    plan = plan_sums(LOSS, records=len(known), features=train.shape[1], releases=1, gdp=releases**-0.5)
    curator = SumsCurator(Records(train, known), plan)
    return scored(curator.learn().model, tested, truth), float(releases)


def perturbed(
    train: Any, known: Any, tested: Any, truth: Any, releases: int, ridge: float
) -> tuple[float, float] | None:
    try:
        plan = make_plan(
            LOSS, records=len(known), features=train.shape[1], regularization=ridge, method="perturbed", releases=releases,
            budget=Budget.from_gdp(dp=1.0, deletion=0.1), utility=False,
        )  # fmt: skip
    except PlanInfeasible:
        return None
    curator = Curator(Records(train, known), plan)
    curator.learn()
    return scored(curator.model, tested, truth)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks sums", description=__doc__)
    parser.add_argument("--splits", type=int, default=SPLITS)
    parsed = parser.parse_args(arguments)
    commit, (features, labels) = report.commit(), rows()
    found: dict[tuple[int, str], list[Any]] = {}
    beside: dict[tuple[int, str], float] = {}
    ran: list[Any] = []

    def add(releases: int, what: str, scores: Any, noise: float) -> None:
        found.setdefault((releases, what), []).append(scores)
        beside[releases, what] = noise
        print(releases, what, scores, flush=True)

    for releases in RELEASES:
        for seed in range(parsed.splits):
            order = np.random.default_rng(seed).permutation(len(labels))
            train, test = order[:TRAIN], order[TRAIN:]
            parts = (features[train], labels[train], features[test], labels[test])
            for joiners, what in ((False, "Markov sums, deletions only"), (True, "Markov sums, insertions too")):
                add(releases, what, *sums(*parts, releases, joiners))
            add(releases, "fresh sums", *fresh(*parts, releases))
            for ridge in RIDGES:
                scores = perturbed(*parts, releases, ridge)
                if scores is not None:
                    add(releases, f"perturbed, λ = {ridge:g}", scores, float(releases))
            if not seed and releases == RELEASES[0]:
                ran = [*chain(*parts, releases)]
                print(ran, flush=True)
    write(found, beside, ran, parsed.splits, features.shape[1], commit)


def write(found: Any, beside: Any, ran: list[Any], splits: int, width: int, commit: str) -> None:
    lines = []
    for (releases, what), runs in found.items():
        means, spread = np.mean(runs, axis=0), np.std(runs, axis=0)
        two = [f"{mean:.4f} ± {wide:.4f}" for mean, wide in zip(means, spread, strict=True)]
        lines.append([str(releases), what, f"{beside[releases, what]:.2f}", *two])
    scores, cost = ran
    (first, area), (lowest, least) = np.mean(scores, axis=0), np.min(scores, axis=0)
    body = (
        f"{TRAIN:,} rows to learn from, {width} columns (additive, three levels), {splits} splits: mean ± standard deviation over splits. All releases "
        "together are 1-GDP between two records, every one observed; later models alone owe an erased record exactly nothing if requests did not depend "
        "on earlier ones. Noise: a release's variance over that of a single one with the whole budget; of `perturbed`, whose releases are all fresh, the "
        f"square of its share. `perturbed` is given {len(RIDGES)} ridges; those that its budget allows are shown, and which is best was seen on test rows.\n\n"
        f"{report.table(HEADER, lines)}\n\n"
        f"A chain of {RELEASES[0]} releases run on the first split, a deletion at each: every tenth has accuracy {first:.4f} and AUC {area:.4f} in the mean, "
        f"{lowest:.4f} and {least:.4f} at least. A deletion with its release takes {cost:.2f} of the processor time of learning scikit-learn's logistic "
        "regression on these rows."
    )
    report.write("sums", "Many releases on one budget", f"python -m benchmarks sums --splits {splits}", body, commit)

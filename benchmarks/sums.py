"""T releases on one budget, total μ = 1 between two records: Markov sums, fresh sums, and `objective-perturbation`; and what a deletion costs.

Every row of a split is equally likely to be tested. Every release has the same variance, so each row of the table scores the first one; on the first split
of Adult the chain of 101 is really run too, a record deleted at each release, and scored at every tenth. Levels of bins are `default_levels`'; its constant
and the label's weight were chosen by training rows of two other splits of Adult (seeds 10 and 11), flights and diamonds. The ridges of directions were
chosen on ten other tables, wages among them, by the least loss on the worst of them, after a steeper form had been seen to lose on Adult.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from benchmarks import datasets, report
from noisygd_delete import Budget, Curator, Records, losses, make_plan
from noisygd_delete.bounds import correlated_sums
from noisygd_delete.curator.carried_noise import PublishedSums, moments_of
from noisygd_delete.engine.noise import noise_source
from noisygd_delete.errors import PlanInfeasible
from noisygd_delete.features.maps import Additive
from noisygd_delete.features.schema.listed import Category
from noisygd_delete.methods import Plan
from noisygd_delete.methods.sufficient_statistics import LABEL_RATIO
from noisygd_delete.planner.defaults import expected_cost

SPLITS, RELEASES, LOSS = 5, (101, 1001), losses.Logistic(radius=1.0)
TABLES = {"adult": (datasets.adult_table, 26_000), "wages": (datasets.wage_table, 22_000)}  # and rows to learn from
AMOUNTS = ("capital_gain", "capital_loss")
RIDGES = (1e-3, 3e-3)
MOST_LEVELS, BEYOND_NOISE = 7, 3.0  # of `default_levels`
COST_ROWS, COST_LEVELS, PLAIN_LEVELS, MANY = 26_000, 7, 4, 10**6
FORECAST_ROWS, FORECAST_RELEASES = (3_000, 20_000), (6, 36, 300)
FORECAST_HEADER = ["table", "rows", "columns", "releases", "sums: forecast", "lost", "perturbed: forecast", "lost"]
HEADER = ["releases", "what", "levels", "noise beside one release", "accuracy", "AUC"]


def default_levels(*, records: int, blocks: int, releases: int, gdp: float = 1.0, joiners: bool = True) -> int:
    """Return the number of bin levels of an additive map, 1 to 7, from public numbers.

    The largest number at which the finest bin, a 2^−l share of the rows, adds three standard deviations of the noise to
    its own sum; 1 if none does.

    Args:
        records: n.
        blocks: Number of columns of the map.
        releases: Number of releases.
        gdp: μ of all releases together.
        joiners: Whether rows may be inserted.
    """
    carried = correlated_sums.worst_charges(
        draws=correlated_sums.equalizer_schedule(releases=releases, variance=2.0**40), apart=2.0**20, rounded=0.0, joiners=joiners
    )  # fmt: skip
    deviation = math.sqrt(2.0 * carried[-1]) * (1 + LABEL_RATIO**2 / 2) / gdp
    levels = 1
    while levels < MOST_LEVELS:
        share = records / 2.0 ** (levels + 1) / ((levels + 1) * (blocks + 1))
        if share < BEYOND_NOISE * deviation:
            break
        levels += 1
    return levels


class Table:
    """A table's rows on additive maps of any levels."""

    def __init__(self, name: str) -> None:
        load, self.train = TABLES[name]
        self._schema, self.whole = load()
        names = list(self._schema.columns)
        self._widths = tuple(kind.width if isinstance(kind, Category) else 0 for kind in self._schema.columns.values())
        self._amounts = tuple(names.index(column) for column in AMOUNTS if column in names)
        self.blocks, self._made = len(names), dict[int, Any]()

    def on(self, levels: int) -> tuple[Additive, Any, Any, Any]:
        """The map, codes, rows and labels ±1."""
        if levels not in self._made:
            map = Additive(self._widths, levels=levels, amounts=self._amounts)
            schema = replace(self._schema, map=map, id_column=None)
            encoded = datasets.encoded(schema, self.whole[[*schema.columns, schema.label_column]])
            codes = map.coding.of_rows(encoded.rows)
            self._made[levels] = map, codes, encoded.rows, np.where(encoded.labels > 0, 1.0, -1.0)
        return self._made[levels]


def planned(map: Additive, gdp: float = 1.0, **facts: Any) -> Plan:
    """Of two releases at least, all of them `gdp`-GDP together."""
    budget = Budget.from_gdp(dp=gdp, deletion=gdp)
    return make_plan(
        LOSS,
        method="sufficient-statistics",
        map=map,
        features=map.width + 1,
        regularization=1e-4,
        budget=budget,
        **facts,
    )


def alone(map: Additive, gdp: float = 1.0, **facts: Any) -> Plan:
    """The same plan with the noise of which one release is `gdp`-GDP."""
    plan = planned(map, releases=2, **facts)
    charge = plan.mechanism.charges(plan.problem.adjacency)[0]
    return plan.changed(noise_variance=plan.calibration.noise_variance * charge / gdp**2)


def scored(model: Any, tested: Any, truth: Any) -> tuple[float, float]:
    scores = model.scores(tested)[:, 0]
    return float(((scores > 0) == (truth > 0)).mean()), float(roc_auc_score(truth, scores))


def sums(
    table: Table, order: Any, releases: int, joiners: bool, gdp: float = 1.0
) -> tuple[tuple[float, float], float, int]:
    """(accuracy, AUC) of a release, V, and levels."""
    facts: dict[str, Any] = {"records": table.train, "releases": releases, "joiners": joiners, "gdp": gdp}
    levels = default_levels(blocks=table.blocks, **facts)
    map, codes, rows, labels = table.on(levels)
    train, test = order[: table.train], order[table.train :]
    plan = (alone if facts.pop("releases") == 1 else partial(planned, releases=releases))(map, **facts)
    release = Curator(Records(codes[train], labels[train]), plan).learn()
    return scored(release.model, rows[test], labels[test]), plan.calibration.noise_variance, levels


def plain(table: Table, order: Any) -> tuple[float, float]:
    """(accuracy, AUC) of logistic regression on the same rows, which hides nothing: how hard a split is."""
    _, _, rows, labels = table.on(PLAIN_LEVELS)
    train, test = order[: table.train], order[table.train :]
    known = LogisticRegression(max_iter=1000).fit(csr_array(rows[train]), labels[train])
    scores = known.decision_function(csr_array(rows[test]))
    return float(((scores > 0) == (labels[test] > 0)).mean()), float(roc_auc_score(labels[test], scores))


def chain(table: Table, order: Any, releases: int) -> list[list[float]]:
    """(accuracy, AUC) of every tenth release after the first."""
    facts: dict[str, Any] = {"records": table.train, "releases": releases, "joiners": False}
    map, codes, rows, labels = table.on(default_levels(blocks=table.blocks, **facts))
    train, test = order[: table.train], order[table.train :]
    curator = Curator(Records(codes[train], labels[train]), planned(map, **facts))
    curator.learn()
    found = []
    for number in range(2, releases + 1):
        curator.delete([number])
        if number % 10 == 1:
            found.append(list(scored(curator.model, rows[test], labels[test])))
    return found


def spent(run: Any, times: int = 1) -> float:
    """Processor seconds of one thread."""
    began = time.process_time()
    for _ in range(times):
        run()
    return (time.process_time() - began) / times


def costs(table: Table) -> list[str]:
    """Sentences: a deletion beside scikit-learn's logistic regression on the same rows, dense and sparse, one thread each."""
    map, codes, rows, labels = table.on(COST_LEVELS)
    few = slice(0, COST_ROWS)
    plan = planned(map, records=COST_ROWS, releases=101, joiners=False)
    with threadpool_limits(1):
        curator = Curator(Records(codes[few], labels[few]), plan)
        curator.learn()
        ids = iter(range(COST_ROWS))
        deleting = spent(lambda: curator.delete([next(ids)]), 10)
        wide, thin = rows[few].astype(np.float64), csr_array(rows[few])
        dense, sparse = (spent(lambda x=x: LogisticRegression(max_iter=1000).fit(x, labels[few])) for x in (wide, thin))
        del wide
        drawn = np.random.default_rng(0).integers(0, len(codes), MANY)
        moments, going = moments_of(plan.learning.start, plan.shape), codes[drawn[:1]]
        model, run = curator.model, plan.mechanism
        noise = noise_source(None)

        def patch() -> None:
            fresh = moments.noise(noise, variance=int(run.variance) // 4, label_weight=run.label_weight)
            patched = replace(model, sums=model.sums - moments.of(going, labels[drawn[:1]]) + fresh)
            PublishedSums(plan, patched).model(plan.problem.regularization)

        patching = spent(patch, 5)
        passing = spent(lambda: moments.of(codes[drawn], labels[drawn]))
        refit = spent(lambda: LogisticRegression(max_iter=1000).fit(csr_array(rows)[drawn], labels[drawn]))
    return [
        f"{COST_ROWS:,} rows of {rows.shape[1]:,} columns ({map.coding.directions:,} directions, {moments.size:,} numbers with noise): a deletion "
        f"with its release and model takes {deleting / dense:.3f} of the processor time of learning scikit-learn's logistic regression in process, "
        f"{deleting / sparse:.3f} where that is given sparse rows.",
        f"{MANY:,} rows: a patch, which reads the rows that go alone, takes {patching / refit:.4f} of learning it on sparse rows, with its model; a pass over all codes {passing / refit:.3f}.",
    ]


def forecast() -> str:
    """What `compare_plans` expects of either way beside what either loses, on tables of plain columns."""
    tables = {name: load() for name, (load, _) in TABLES.items()}
    tables |= {"pharmacies": datasets.pharmacy_table(), "words": datasets.word_table()}
    lines = []
    for name, (schema, whole) in tables.items():
        kept = replace(schema, id_column=None)
        encoded = datasets.encoded(kept, whole[[*kept.columns, kept.label_column]])
        labels = np.where(encoded.labels > 0, 1.0, -1.0)
        order = np.random.default_rng(0).permutation(len(labels))
        for number, releases in itertools.product(FORECAST_ROWS, FORECAST_RELEASES):
            train, test = order[:number], order[number : number + 7_000]
            known = LogisticRegression(C=1e3, max_iter=2000, fit_intercept=False).fit(
                encoded.rows[train], labels[train]
            )
            best = known.score(encoded.rows[test], labels[test])
            told = [name, f"{number:,}", str(encoded.rows.shape[1]), str(releases)]
            for method in ("sufficient-statistics", "objective-perturbation"):
                plan = make_plan(
                    LOSS, records=number, features=encoded.rows.shape[1], regularization=0.25 / number, ridge="forecast", method=method,
                    releases=releases, budget=Budget.from_gdp(dp=1.0, deletion=1.0), utility=False,
                )  # fmt: skip
                lost = []
                for seed in range(3):
                    curator = Curator(Records(encoded.rows[train], labels[train]), plan)
                    curator.learn(np.random.default_rng(seed))
                    lost.append(best - scored(curator.model, encoded.rows[test], labels[test])[0])
                told += [f"{expected_cost(plan):.4f}", f"{np.mean(lost):.4f}"]
            lines.append(told)
            print(*told, flush=True)
    wrong = sum((float(line[4]) < float(line[6])) != (float(line[5]) < float(line[7])) for line in lines)
    dear = max(
        float(line[5 if float(line[4]) < float(line[6]) else 7]) - min(float(line[5]), float(line[7])) for line in lines
    )
    return (
        "Total μ = 1 (replace), rows join too. Forecast: nats a record, from n, columns, releases and budget alone. Lost: accuracy on rows kept out, less than "
        f"scikit-learn's without noise; means of 3 runs. The way of the smaller forecast is the less accurate one in {wrong} of {len(lines)} cases, by at most "
        f"{dear:.4f}.\n\n" + report.table(FORECAST_HEADER, lines)
    )


def perturbed(
    train: Any, known: Any, tested: Any, truth: Any, releases: int, ridge: float
) -> tuple[float, float] | None:
    try:
        plan = make_plan(
            LOSS, records=len(known), features=train.shape[1], regularization=ridge, method="objective-perturbation", releases=releases,
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
    parser.add_argument("--forecast", action="store_true", help="compare the forecast with runs instead")
    parsed = parser.parse_args(arguments)
    if parsed.forecast:
        report.write(
            "sums_forecast",
            "Sums or perturbed: forecast and runs",
            "python -m benchmarks sums --forecast",
            forecast(),
            report.commit(),
        )
        return
    commit, parts = report.commit(), list[str]()
    for name in TABLES:
        table = Table(name)
        found: dict[tuple[int, str], list[Any]] = {}
        beside: dict[tuple[int, str], tuple[float, int]] = {}
        for seed in range(parsed.splits):
            order = np.random.default_rng(seed).permutation(len(table.on(3)[3]))
            found.setdefault((0, "scikit-learn, no noise"), []).append(plain(table, order))
            beside[0, "scikit-learn, no noise"] = 0.0, PLAIN_LEVELS
            for releases in RELEASES:
                for what, joiners, times, gdp in (
                    ("Markov sums, deletions only", False, releases, 1.0),
                    ("Markov sums, insertions too", True, releases, 1.0),
                    ("fresh sums", True, 1, releases**-0.5),
                ):
                    scores, variance, levels = sums(table, order, times, joiners, gdp)
                    found.setdefault((releases, what), []).append(scores)
                    one = alone(table.on(levels)[0], records=table.train).calibration.noise_variance
                    beside[releases, what] = variance / one, levels
                    print(name, seed, releases, what, levels, scores, flush=True)
                _, _, rows, labels = table.on(3)
                train, test = order[: table.train], order[table.train :]
                for ridge in RIDGES:
                    scores = perturbed(rows[train], labels[train], rows[test], labels[test], releases, ridge)
                    if scores is not None:
                        what = f"perturbed, λ = {ridge:g}"
                        found.setdefault((releases, what), []).append(scores)
                        beside[releases, what] = float(releases), 3
                        print(name, seed, releases, what, scores, flush=True)
        parts.append(told(name, table, found, beside))
        if name == "adult":
            order = np.random.default_rng(0).permutation(len(table.on(3)[3]))
            parts.append(ran(chain(table, order, RELEASES[0])))
            parts += costs(table)
    body = (
        "All releases together are 1-GDP between two records, every one observed; later models alone owe an erased record exactly nothing if requests did not "
        f"depend on earlier ones. {parsed.splits} splits: mean ± standard deviation over splits. Noise: a release's variance over that of a single one with the whole "
        f"budget; of `objective-perturbation`, whose releases are all fresh, the square of its share. `objective-perturbation` is given {len(RIDGES)} ridges; those that its budget allows are "
        "shown, and which is best was seen on test rows.\n\n" + "\n\n".join(parts)
    )
    report.write(
        "sufficient-statistics",
        "Many releases on one budget",
        f"python -m benchmarks sums --splits {parsed.splits}",
        body,
        commit,
    )


def told(name: str, table: Table, found: Any, beside: Any) -> str:
    lines = []
    for (releases, what), runs in sorted(found.items(), key=lambda item: item[0][0]):
        means, spread = np.mean(runs, axis=0), np.std(runs, axis=0)
        two = [f"{mean:.4f} ± {wide:.4f}" for mean, wide in zip(means, spread, strict=True)]
        noise, levels = beside[releases, what]
        lines.append([str(releases), what, str(levels), f"{noise:.2f}", *two])
    return f"{name.capitalize()}, {table.train:,} rows to learn from, {table.blocks} columns:\n\n{report.table(HEADER, lines)}"


def ran(scores: list[list[float]]) -> str:
    (first, area), (lowest, least) = np.mean(scores, axis=0), np.min(scores, axis=0)
    return (
        f"A chain of {RELEASES[0]} releases run on the first split of Adult, a deletion at each: every tenth has accuracy {first:.4f} and AUC {area:.4f} in the mean, "
        f"{lowest:.4f} and {least:.4f} at least."
    )

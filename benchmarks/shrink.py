"""What freeing noisy moments of noise gains: AUC of models read off the same sums with each part of it left out, at three ridges.

python -m benchmarks shrink [--splits N] [--noises N]

One release of a chain of T, all 1-GDP together between two records, rows that leave alone; levels of bins and ridges by public numbers.
The sums of a split get several noises, and every way reads the same noisy sums. The share of the noise in the ridges was chosen before,
on ten tables of which wages alone is on record (`sums`); nothing is chosen here.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks import datasets, report
from benchmarks.additive_default import TABLES as DRAFTED
from benchmarks.linear import drafted
from benchmarks.sums import default_levels, planned
from noisygd_delete import Schema
from noisygd_delete.curator.carried_noise import moments_of
from noisygd_delete.engine import moments as engine
from noisygd_delete.engine.noise import noise_source

RELEASES, MOST, TESTED = (13, 101, 1001), 20_000, 8000
SHARES = (0.15, 0.45, 1.35)  # of the noise in the ridges; the second is the package's
READ = {
    "Adult": datasets.adult_table,
    "wages": datasets.wage_table,
    "votes": datasets.vote_table,
    "opinions": datasets.opinion_table,
}
OTHERS = (("survival", "flchain"), ("Ecdat", "HI"), ("modeldata", "wa_churn"), ("AER", "HealthInsurance"))
SEEN = ("Adult", "wages", "votes")  # tables on which shrinkage or its ridge was tried before
WAYS = {
    "noisy": (False, False),
    "counts": (True, False),
    "blocks": (False, True),
    "both": (True, True),
}  # what is applied
COLUMNS = [
    *((way, SHARES[1]) for way in WAYS),
    *((way, share) for share in (SHARES[0], SHARES[2]) for way in ("noisy", "both")),
]
BUILT = COLUMNS.index(("both", SHARES[1]))  # what the package does
HEADER = ["table", "known to be tried on", "rows", "releases", "levels"]


def free(found: engine.NoisyMoments, *, counts: bool, blocks: bool) -> engine.NoisyMoments:
    """Return raw moments with these parts of `NoisyMoments.of` applied."""
    square, coding = found.square, found.coding
    assert coding is not None
    if counts:
        square = engine._by_numbers(square, coding, found.reach)
    if blocks:
        square = engine._shrink_blocks(square, coding.starts, found.variance)
    return replace(found, square=square)


def encoded_tables(name: str) -> tuple[Schema, Callable[[Schema], Any]]:
    """Return the schema and how it encodes the table."""
    if name in READ:
        schema, whole = READ[name]()
        kept = replace(schema, id_column=None)
        return kept, lambda mapped: datasets.encoded(mapped, whole[[*kept.columns, kept.label_column]])
    package = next(one for one, item in OTHERS if item == name)
    label, dropped = DRAFTED[package, name]

    def encode(mapped: Schema) -> Any:
        with drafted(package, name, label, dropped, MOST + TESTED) as (_, path):
            return mapped.encode_file(path)

    with drafted(package, name, label, dropped, MOST + TESTED) as (schema, _):
        return schema, encode


def auc_of_ways(raw: engine.NoisyMoments, ridge: float, tested: Any, truth: Any) -> list[float]:
    """Return the AUC of each of `COLUMNS`, in per cent, read off the same noisy sums."""
    freed = {way: free(raw, counts=counts, blocks=blocks) for way, (counts, blocks) in WAYS.items()}
    found = []
    for way, share in COLUMNS:
        weights = freed[way].discriminant(freed[way].ridges(ridge, share))[0]
        found.append(100 * float(roc_auc_score(truth, tested @ weights)))
    return found


def measure(name: str, splits: int, noises: int) -> list[list[str]]:
    schema, encode = encoded_tables(name)
    lines, total = [], len(encode(schema).labels)
    records = min(MOST, int(0.72 * total))
    for releases in RELEASES:
        facts: dict[str, Any] = {"records": records, "releases": releases, "joiners": False}
        levels = default_levels(blocks=len(schema.columns), **facts)
        mapped: Any = schema.additive(levels=levels)
        table = encode(mapped)
        codes, labels = mapped.map.coding.of_rows(table.rows), np.where(table.labels > 0, 1.0, -1.0)
        plan, found = planned(mapped.map, **facts), list[list[float]]()
        begin: Any = plan.learning.start
        moments, variance = moments_of(begin, plan.shape), int(begin.variance)
        for split in range(splits):
            order = np.random.default_rng(split).permutation(total)
            train, test = order[:records], order[records : records + TESTED]
            exact, tested = moments.of(codes[train], labels[train]), table.rows[test].astype(float)
            for seed in range(noises):
                source = noise_source(np.random.default_rng([split, seed]))
                noisy = np.add(exact, moments.noise(source, variance=variance, label_weight=begin.label_weight))
                raw = engine.NoisyMoments.of(moments, noisy, variance=variance, coding=None)
                raw = replace(raw, coding=mapped.map.coding)
                found.append(auc_of_ways(raw, begin.ridge, tested, labels[test]))
        lines.append([name, "yes" if name in SEEN else "no", f"{records:,}", str(releases), str(levels), *cells(found)])
        print(*lines[-1], sep=" | ", flush=True)
    return lines


def cells(found: list[list[float]]) -> list[str]:
    """Return the mean and deviation of what the package does, and points of the others beside it."""
    means, built = np.mean(found, axis=0), np.array(found)[:, BUILT]
    shown = [f"{mean - built.mean():+.2f}" for mean in means]
    shown[BUILT] = f"{built.mean():.2f} ± {built.std():.2f}"
    return shown


def main(arguments: list[str]) -> None:
    parsed, page = report.begin("shrink", __doc__, arguments, splits=3, noises=5)
    names = [*READ, *(item for _, item in OTHERS)]
    lines = list(itertools.chain.from_iterable(measure(name, parsed.splits, parsed.noises) for name in names))
    ways = [way if share == SHARES[1] else f"{way}, ridge × {share / SHARES[1]:.2g}" for way, share in COLUMNS]
    gains = [-float(line[len(HEADER)]) for line in lines if line[1] == "no"]
    body = (
        f"AUC in per cent, means of {parsed.splits} splits × {parsed.noises} noises; the others in points beside both, which is what the "
        "package does. Noisy: the sums as published; counts: the moments of each block by counts of its codes; blocks: singular values of each "
        "pair of blocks shrunk (Gavish and Donoho 2017). In the mean over the lines of tables not known to be tried on, both gains "
        f"{np.mean(gains):.2f} points on the noisy sums (at least {min(gains):+.2f}).\n\n"
        + report.table([*HEADER, *ways], lines)
    )
    page.write("Noisy moments freed of noise", body)

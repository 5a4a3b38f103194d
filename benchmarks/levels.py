"""How many bins an additive map may have: 16, 128, or the columns as they are, by the forecast of `advise`, at one budget and size.

python -m benchmarks levels classes|numbers|two [--epsilon E] [--rows N] [--levels L ...] [NAME ...]

On the tables of `additive_others` and `additive_default`, none of which is scored by `quickstart` for the same label; ranges and lists the data's
own. It prints; `benchmarks/results/levels.md` is put together of eight such runs, from which the rule of `Advice.bears_curves` was fixed.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np

from benchmarks.additive_default import TABLES, forecast, measured, rows_of
from benchmarks.additive_others import CLASSES, NUMBERS, scores
from noisygd_delete import Schema

KINDS: dict[str, Any] = {"classes": CLASSES, "numbers": NUMBERS, "two": TABLES}
TESTED, SPLITS = 8000, 2


def score(schema: Schema, rows: Any, labels: Any, train: Any, test: Any, epsilon: float) -> tuple[float, float]:
    """The forecast, all bins counted; R² or the share that is right."""
    if schema.classes is not None and len(schema.classes) == 2:
        advice = forecast(rows, schema.one_hot_blocks, len(train), epsilon)
        return advice.share, measured(advice, rows, labels, train, test)[0]
    return scores(schema, rows, labels, train, test, epsilon)[:2]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks levels", description=__doc__)
    parser.add_argument("kind", choices=list(KINDS))
    parser.add_argument("names", nargs="*")
    parser.add_argument("--epsilon", type=float, default=2.0)
    parser.add_argument("--rows", type=int, default=30_000)
    parser.add_argument("--levels", type=int, nargs="+", default=[4, 7])
    parsed = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    for (package, item), given in KINDS[parsed.kind].items():
        if parsed.names and item not in parsed.names:
            continue
        line = [item]
        for levels in (None, *parsed.levels):
            schema, columns, curves, labels = rows_of(
                package, item, *given, **({} if levels is None else {"levels": levels})
            )
            way, rows = (schema, columns) if levels is None else (schema.additive(levels=levels), curves)
            records, found = min(int(0.8 * len(labels)), parsed.rows), []
            for seed in range(SPLITS):
                order = np.random.default_rng(seed).permutation(len(labels))
                train, test = order[:records], order[records : records + TESTED]
                found.append(score(way, rows, labels, train, test, parsed.epsilon))
            share, right = np.mean(found, axis=0)
            line.append(f"{'columns' if levels is None else levels}: {right:.3f} (forecast {share:.2f})")
        print(f"{records:,} rows", *line, sep=" | ", flush=True)

"""What ranges cost that are known in order of magnitude alone: the data's own, and a hundred times too wide, under each map and by default.

python -m benchmarks ranges [--splits N] [TABLE ...]

A range of [lo, hi] becomes [−100 m, 100 m], m the larger of |lo| and |hi|, for every number but the label, or begins at 0 where none is negative.
Nothing else changes. Tables and scores are those of `linear`, each name's first label; nothing is chosen by looking at test rows.
"""

from __future__ import annotations

import math
import warnings
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from benchmarks import report
from benchmarks.linear import SHARE, TESTED, drafted, groups, scores
from noisygd_delete import Schema
from noisygd_delete.errors import NoisyGDDeleteError
from noisygd_delete.features.schema.columns import Numeric

WIDER, ROWS = 100, 12_000
USUAL = ["mlc_churn", "wa_churn", "Computers", "gapminder", "NOxEmissions", "SLID", "surveys", "weather", "diamonds"]
COLUMNS: dict[str, int] = {}
BINS = {"levels": 5}  # 32: a schema's own choice where ranges are wide
OWN = {"own: columns": COLUMNS, "own: 16 bins": {"levels": 4}}
WIDE = {"columns": COLUMNS, "32 bins": BINS, "128 bins": {"levels": 7}}
HEADER = [
    "table",
    "label",
    *OWN,
    "own: default",
    "100×: columns",
    *(f"signed-log: {way}" for way in WIDE),
    "signed-log: default",
]


def widened(schema: Schema, transform: str, *, from_zero: bool) -> Schema:
    """The schema with ranges that a hundredth of would do."""
    kinds = {}
    for name, kind in schema.columns.items():
        if isinstance(kind, Numeric):
            most = WIDER * max(abs(kind.lower), abs(kind.upper))
            kind = replace(kind, lower=0.0 if from_zero and kind.lower >= 0 else -most, upper=most, transform=transform)  # noqa: PLW2901
        kinds[name] = kind
    return replace(schema, columns=kinds)


def default(schema: Schema, path: Path, splits: int) -> float:
    """By the map that the schema's sizes speak for."""
    for levels, bins in schema.levels:
        with suppress(NoisyGDDeleteError):
            found, advice = scores(schema.additive(levels=levels), path, ROWS, splits)
            if advice.bears_curves(bins):
                return found
    return scores(schema, path, ROWS, splits)[0]


def measure(name: tuple[str, str, str], dropped: tuple[str, ...], splits: int) -> list[str]:
    def of(schema: Schema, fields: dict[str, int]) -> float:
        return scores(schema.additive(**fields) if fields else schema, path, ROWS, splits)[0]

    with drafted(*name, dropped, math.ceil(ROWS / SHARE) + TESTED) as (schema, path):
        wide = widened(schema, "signed-log", from_zero=True)
        found = [
            *(of(schema, fields) for fields in OWN.values()),
            default(schema, path, splits),
            of(widened(schema, "none", from_zero=False), COLUMNS),
            *(of(wide, fields) for fields in WIDE.values()),
            default(wide, path, splits),
        ]
    line = [*name[1:], *(f"{score:.1f}" for score in found)]
    print(*line, sep=" | ", flush=True)
    return line


def main(arguments: list[str]) -> None:
    parsed, page = report.begin("ranges", __doc__, arguments, names=USUAL, splits=2)
    warnings.simplefilter("ignore")
    known = {name[1]: (name, dropped) for tables in reversed(groups().values()) for name, dropped in tables.items()}
    lines = [measure(*known[name], parsed.splits) for name in parsed.names]
    body = (
        f"Accuracy, or R² of numbers, in per cent; means of {parsed.splits} splits, at most {ROWS:,} rows, ε = 2. A range of [lo, hi] became [−{WIDER} m, {WIDER} m], "
        "m the larger of |lo| and |hi|, for every number but the label; `signed-log` ranges begin at 0 where no number is negative."
    )
    if parsed.names == USUAL:
        page.write("Ranges known in order of magnitude alone", f"{body}\n\n{report.table(HEADER, lines)}")

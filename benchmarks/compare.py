"""The comparison of all deletion methods, one table per data set and λ."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from noisygd_delete_lab.calibrated import CLOSE, Setting
from noisygd_delete_lab.comparison import LONGEST, ComparisonRow, compare

from . import datasets, report

DP = {"adult": 1.0, "mnist": 8.0, "digits": 8.0}
DELETION, DELTA = 0.1, 1e-5
LAMBDAS = (1e-3, 1e-2)
HEADINGS = {"adult": "Adult", "mnist": "MNIST 3-vs-8", "digits": "digits (ten classes)"}

LEGEND = f"""\
Every row erases records at the (ε, δ) of its second column, δ = {DELTA:g}; "DP" is ε for the records still there, from one
release. Times are processor times as ratios to one plain gradient step over the table, measured in the same run on one
thread of a shared machine; counts of gradients are exact. "n·" counts passes over the table: per-record
gradients divided by n. Certified removal also forms one Hessian per deletion (d² numbers per record), between requests: neither
column has it.
A deletion of more than {LONGEST:,} steps is counted, not run (—).
Noise scales that no theorem fixes (certified removal, perturbed GD, noisy-m-A-SGD) are the largest on a grid of threes
that cost at most {CLOSE:.0%} test accuracy; this choice looks at the test set, in those methods' favour.
"Until retrain": removals before certified removal's residual budget forces a fresh learn (~: extrapolated linearly).
Attacks, on 400 of the records with every method calibrated anew, 20 trials, share of right guesses:
*two releases*: which of 20 candidates was erased between two releases (guessing: 5 %; the better of two attackers);
*adaptive*: the requester sees the first release and erases the target together with one of two groups; from the next
release alone, was the target ever there (guessing: 50 %). "survives": the one-sided 99 % bound on the rate includes
guessing; "within its DP": it does not, and the method's own privacy at its ε promises no better; "falls": neither.
The adversary knows every other record. A low score is what this attack found, not a proof. Rows without attack run the
same noisy gradient descent as the first row, or have no calibration for so few records.
"Kept" is secret state between requests, besides the records and the published model."""


def _rate(value: float | None, verdict: str | None) -> str:
    return "—" if value is None else f"{value:.0%} ({verdict})"


def _times(value: float | None) -> str:
    return "—" if value is None else f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def line(row: ComparisonRow, records: int) -> list[str]:
    until = "—"
    if row.until_retrain is not None:
        until = ("~" if row.until_retrain_extrapolated else "") + f"{row.until_retrain:,.0f}"
    after = "—" if row.accuracy_after is None else f"{row.accuracy_after:.3f}"
    passes = row.delete_gradients / records
    return [
        row.method,
        "none" if row.deletion is None else f"{row.deletion:.3g}",
        "none" if row.existing is None else f"{row.existing:.3g}",
        f"{row.accuracy:.3f} / {after}",
        f"{row.learn_gradients / records:,.1f}",
        f"{passes:,.1f}" if passes >= 0.05 else f"{passes:.1g}",
        _times(row.learn_time),
        _times(row.delete_time),
        until,
        "yes" if row.private else "no",
        "yes" if row.stateless else "no",
        _rate(row.two_releases, row.two_releases_verdict),
        _rate(row.adaptive, row.adaptive_verdict),
        f"{row.memory:,} B",
    ]


HEADER = [
    "method",
    "ε deleted",
    "DP ε",
    "accuracy before / after 5 deletions",
    "learn, n·",
    "delete, n·",
    "learn, time",
    "delete, time",
    "until retrain",
    "private for existing",
    "stateless",
    "two releases",
    "adaptive",
    "kept",
]


def _with_attacks(rows: list[ComparisonRow], before: list[dict[str, Any]]) -> list[ComparisonRow]:
    """The rows with the attack columns of an earlier run."""
    columns = ("two_releases", "two_releases_verdict", "adaptive", "adaptive_verdict")
    earlier = {row["method"]: {column: row[column] for column in columns} for row in before}
    return [replace(row, **earlier.get(row.method, {})) for row in rows]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks compare")
    parser.add_argument("--data", choices=list(datasets.ALL), action="append")
    parser.add_argument("--no-attack", action="store_true", help="take the attack columns from the last table, if any")
    chosen = parser.parse_args(arguments)
    command = " ".join(["python -m benchmarks compare", *arguments])
    measured = report.commit()
    for name in chosen.data or list(datasets.ALL):
        stored = report.RESULTS / f"compare_{name}.json"
        before = json.loads(stored.read_text()) if stored.exists() else {}
        attacked = before.get("attacked", "") if chosen.no_attack else measured
        parts, everything = [f"{LEGEND}\nThe attack columns are from commit {attacked}."], {"attacked": attacked}
        data = datasets.ALL[name]()
        for regularization in LAMBDAS:
            setting = Setting(data.loss, regularization, deletion=DELETION, dp=DP[name], delta=DELTA)
            rows = compare(
                setting,
                data.train,
                data.test,
                rng=np.random.default_rng(1),
                attack=not chosen.no_attack,
                progress=partial(print, name, regularization, file=sys.stderr, flush=True),
            )
            if chosen.no_attack:
                rows = _with_attacks(rows, before.get(f"{regularization:g}", []))
            everything[f"{regularization:g}"] = [row.to_dict() for row in rows]
            sizes = f"{data.train.slots:,} records × {data.train.features.shape[1]}, λ = {regularization:g}"
            parts += [f"## {sizes}", report.table(HEADER, [line(row, data.train.slots) for row in rows])]
        promises = report.table(
            ["method", "guarantees", "does not guarantee", "secret state"],
            [[row.method, row.guarantees, row.does_not_guarantee, row.secret_state] for row in rows],
        )
        parts += ["## What each promises", promises]
        heading = f"Deletion methods side by side: {HEADINGS[name]}"
        print(report.write(f"compare_{name}", heading, command, "\n\n".join(parts), measured))
        stored.write_text(json.dumps(everything, indent=1) + "\n")

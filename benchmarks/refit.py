"""A deletion against scikit-learn's refit on Adult, both as whole processes: start, reading and writing included."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import numpy as np

from noisygd_delete import Budget, Records, losses, make_plan
from noisygd_delete.features.schema import Schema
from noisygd_delete.store import Store

from . import report
from .datasets import path
from .timing import ratio, rounds

ROOT = Path(__file__).parents[1]
REGULARIZATION = 1e-3
REFIT = """
import sys, numpy as np
from sklearn.linear_model import LogisticRegression
rows, labels = np.load(sys.argv[1]), np.load(sys.argv[2])
LogisticRegression(C=1 / (float(sys.argv[3]) * len(rows)), fit_intercept=False, max_iter=1000).fit(rows, labels)
"""


def stores(folder: Path) -> dict[str, Path]:
    """A store of all of Adult for each method, learnt; beside them the encoded rows, for the refit."""
    schema = Schema.read(ROOT / "examples" / "schemas" / "adult.toml")
    encoded = schema.encode_file(path("adult.csv.gz"))
    np.save(folder / "rows.npy", encoded.rows)
    np.save(folder / "labels.npy", encoded.labels)
    slots, features = encoded.rows.shape
    named = Schema.from_dict({**schema.to_dict(), "id": "id"})
    budget = Budget.from_epsilon_delta(dp=(1.0, 1e-6), deletion=(0.1, 1e-6))
    made = {}
    for method in ("output-perturbation", "objective-perturbation"):
        plan = make_plan(
            losses.Logistic(1.0),
            records=slots,
            features=features,
            regularization=REGULARIZATION,
            method=method,
            budget=budget,
        )
        records = Records(encoded.rows, encoded.labels, [name(k) for k in range(slots)])
        made[method] = folder / method
        with Store.create(made[method], records, named, plan) as store:
            store.learn()
    return made


def name(k: int) -> str:
    return f"record-{k:05d}"


def compiled(folder: Path) -> dict[str, str]:
    """An environment in which modules are compiled once, as those of an installed package are."""
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPYCACHEPREFIX": str(folder / "bytecode")}


def measured(repeats: int) -> str:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        environment = compiled(folder)

        def run(*words: str) -> None:
            subprocess.run([sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, check=True)

        def deleting(store: Path, rows: int, left: Iterator[int]) -> Callable[[], None]:
            return lambda: run("-m", "noisygd_delete", "delete", str(store), *(name(next(left)) for _ in range(rows)))

        made = {method: (store, count()) for method, store in stores(folder).items()}
        arrays = (str(folder / "rows.npy"), str(folder / "labels.npy"), str(REGULARIZATION))
        calls = {"refit": ((lambda: run("-c", REFIT, *arrays)), 1)}
        for method, (store, left) in made.items():
            for rows in (1, 10):
                calls[f"{method}, {rows} record{'s' * (rows > 1)}"] = (deleting(store, rows, left), 1)
        busy: dict[str, list[float]] = {name: [] for name in calls}
        times = rounds({name: (weighed(call, busy[name]), 1) for name, (call, _) in calls.items()}, repeats)
    lines = [[call, f"{ratio(times, call, 'refit'):.2f}", f"{ratio(busy, call, 'refit'):.2f}"] for call in calls]
    return report.table(["deletion of", "whole process / refit", "processor time / refit's"], lines[1:])


def weighed(call: Callable[[], None], busy: list[float]) -> Callable[[], None]:
    """The same, its processes' processor seconds noted."""

    def weighing() -> None:
        before = os.times()
        call()
        after = os.times()
        busy.append(after.children_user + after.children_system - before.children_user - before.children_system)

    return weighing


_NOTE = (
    "Adult, 32,561 records of 108 features, λ = 10⁻³, budgets (1, 10⁻⁶) and (0.1, 10⁻⁶). A deletion is the command `delete`: it starts, finds the "
    "records by their ids, erases them, publishes and writes its ledger. The refit is a process that loads the encoded rows from two files of "
    "numpy's, without any text to read, and fits scikit-learn's LogisticRegression with its defaults and the same λ; it saves nothing. Medians "
    "of interleaved runs on a machine of two processors under load (others at work on it, on its disk too, which a deletion waits for and the "
    "refit does not); ratios move by a tenth between runs. Processor time is that of the whole process, and moves less."
)


def main(arguments: list[str]) -> None:
    parsed, page = report.begin("refit", __doc__, arguments, repeats=7)
    body = measured(parsed.repeats)
    print(body)
    page.write("A deletion against a refit", f"{_NOTE}\n\n{body}")

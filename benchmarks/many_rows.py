"""A deletion in a table of millions of rows: the whole process of the command over its computing.

python -m benchmarks many_rows [--rows N] [--features D] [--repeats K]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from itertools import count
from pathlib import Path
from statistics import median

import numpy as np

from noisygd_delete import Budget, Records, Schema, losses, make_plan
from noisygd_delete.records import Names
from noisygd_delete.store import Store

from . import report
from .refit import compiled

ROOT = Path(__file__).parents[1]
METHODS = ("output-perturbation", "objective-perturbation")
_NAME = b"record-%08d"

# a process that deletes one record as the command does, and another in the same process, where everything is loaded
DELETE = """
import json, sys, time
began = time.perf_counter(), time.process_time()
from noisygd_delete.cli import main
from noisygd_delete.curator import learning, release
computing, train = [], learning.train

def timed(*arguments):
    before = time.perf_counter(), time.process_time()
    training = train(*arguments)
    computing.append([time.perf_counter() - before[0], time.process_time() - before[1]])
    return training

learning.train = release.train = timed
sys.stdout = sys.stderr
assert main(["delete", sys.argv[1], sys.argv[2]]) == 0
whole = time.perf_counter() - began[0], time.process_time()
assert main(["delete", sys.argv[1], sys.argv[3]]) == 0
print(json.dumps([whole, *computing]), file=sys.__stdout__)
"""


def _rows(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    truth, rows, labels = rng.standard_normal(d), np.empty((n, d), np.float32), np.empty(n)
    for first in range(0, n, 1 << 16):
        part = rng.standard_normal(rows[first : first + (1 << 16)].shape, dtype=np.float32)
        here = slice(first, first + len(part))
        rows[here] = part / (np.linalg.norm(part, axis=1, keepdims=True) * (1 + 2.0**-20))
        labels[here] = np.where(part @ truth + rng.standard_normal(len(part)) > 0, 1.0, -1.0)
    return rows, labels


def _names(n: int) -> Names:
    return Names.of([(_NAME % k).decode() for k in range(n)])


def made(folder: Path, n: int, d: int) -> dict[str, Path]:
    """A store for each method, learnt."""
    columns = {f"x{k}": {"bounds": [-1, 1]} for k in range(d)}
    label = {"column": "y", "classes": ["no", "yes"]}
    schema = Schema.from_dict({"id": "id", "intercept": False, "label": label, "columns": columns})
    budget = Budget.from_epsilon_delta(dp=(1.0, 1e-8), deletion=(0.1, 1e-8))
    table = Records(*_rows(n, d), _names(n))
    for method in METHODS:
        plan = make_plan(losses.Logistic(1.0), records=n, features=d, regularization=1e-3, method=method, budget=budget)
        with Store.create(folder / method, table, schema, plan) as store:
            store.learn()
    return {method: folder / method for method in METHODS}


def measured(n: int, d: int, repeats: int) -> str:
    with tempfile.TemporaryDirectory() as place:
        folder, left = Path(place), count()
        stores, environment = made(folder, n, d), compiled(folder)

        def deleted(store: Path) -> list[list[float]]:
            names = [(_NAME % next(left)).decode() for _ in range(2)]
            program = [sys.executable, "-c", DELETE, str(store), *names]
            done = subprocess.run(program, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
            return json.loads(done.stdout)  # type: ignore[no-any-return]

        times = [{method: deleted(store) for method, store in stores.items()} for _ in range(repeats + 1)][1:]
    lines = []
    for method in METHODS:
        ratios = [
            median(each[method][0][clock] / each[method][turn][clock] for each in times)
            for turn in (1, 2)
            for clock in (0, 1)
        ]
        lines.append([method, *(f"{value:.2f}" for value in ratios)])
    return report.table(["method", "wall / computing", "processor", "wall / computing again", "processor"], lines)


_NOTE = (
    "A deletion is the command `delete` in a process of its own: it starts, opens the store, checks its names and rows, finds the record, "
    "erases it, publishes, writes its ledger and prints. Computing is what `Release.seconds` counts, the solver's passes and the noise steps, "
    "with the loading of the compiled kernel where there are steps; again: the same for one more deletion in that process, where everything is "
    "loaded. By the clock on the wall, and by the processor's time of all threads, which others at work on the machine do not lengthen. "
    "Medians of ratios, each within one process."
)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks many_rows", description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=5)
    chosen = parser.parse_args(arguments)
    commit, body = report.commit(), measured(chosen.rows, chosen.features, chosen.repeats)
    print(body)
    command = (
        f"python -m benchmarks many_rows --rows {chosen.rows} --features {chosen.features} --repeats {chosen.repeats}"
    )
    heading = f"A deletion in {chosen.rows:,} rows of {chosen.features} features"
    report.write("many_rows", heading, command, f"{_NOTE}\n\n{body}", commit)

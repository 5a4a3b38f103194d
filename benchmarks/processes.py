"""Whole processes beside scikit-learn: processor time, peak memory and disk, from a CSV of numbers to a model and a deletion.

python -m benchmarks processes [--sizes 200000x10 1000000x20 5000000x20 adult] [--interpret PYTHON]

A table is random: numbers of four decimals, an id, and a label that depends on two of the columns; or Adult's training rows. `quickstart` drafts a schema,
writes a store, plans, learns and evaluates; `delete`, `predict` and `verify` follow. The other processes read the same file with pandas, fit, and write the
model: texts are one-hot columns for logistic regression, categories for boosting. EBM of interpret runs under a Python that has it, if one is given, on
tables of at most 200,000 rows. In one process, with all loaded and read, a deletion from the store and the same two fits are timed once more.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from . import datasets
from .report import commit, table, write

_REFIT = """
import sys, pickle, pandas
rows = pandas.read_csv(sys.argv[2]).drop(columns="id")
y, X = rows["y"], rows.drop(columns="y")
texts = [name for name in X if not pandas.api.types.is_numeric_dtype(X[name])]
if sys.argv[1] == "EBM":
    from interpret.glassbox import ExplainableBoostingClassifier
    model = ExplainableBoostingClassifier(n_jobs=1)
elif sys.argv[1] == "boosting":
    from sklearn.ensemble import HistGradientBoostingClassifier
    X[texts] = X[texts].astype("category")
    model = HistGradientBoostingClassifier()
else:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    X, model = pandas.get_dummies(X) if texts else X, make_pipeline(StandardScaler(), LogisticRegression())
pickle.dump(model.fit(X, y), open(sys.argv[3], "wb"))
"""
_FITS = """
import json, pickle, sys, time
from noisygd_delete.records import EditRequest
from noisygd_delete.store import Store
import pandas
def timed(run):
    began = time.process_time()
    run()
    return time.process_time() - began
found = {}
with Store.open(sys.argv[1]) as store:
    first, second = (store.records.ids[at] for at in (1, 2))
    store.serve(EditRequest.delete([first]))
    found["deletion"] = timed(lambda: store.serve(EditRequest.delete([second])))
rows = pandas.read_csv(sys.argv[2]).drop(columns="id")
y, X = rows["y"], rows.drop(columns="y")
for kind in ("logistic", "boosting"):
    with open(f"{sys.argv[3]}-{kind}", "rb") as file:
        model = pickle.load(file)
    texts = [name for name in X if not pandas.api.types.is_numeric_dtype(X[name])]
    own = X.astype({name: "category" for name in texts}) if kind == "boosting" else pandas.get_dummies(X) if texts else X
    found[f"{kind} fit"] = timed(lambda: model.fit(own, y))
print(json.dumps(found))
"""
_EBM_ROWS = 200_000  # most rows of the slowest process
_WARM_UP = "2000x2"
_ROWS = 10_000  # written at a time: the peak of a child begins at the memory of its parent


class Cost(NamedTuple):
    """What a process took."""

    seconds: float
    mebibytes: float | None


def environment() -> dict[str, str]:
    """Return the environment of the processes: one thread, and modules that stay compiled, as those of an installed package."""
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def run(*arguments: str) -> Cost:
    """Run a process with one thread, and return its processor time and its peak memory."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=errors, env=environment())
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            raise RuntimeError(f"{' '.join(arguments)}: {errors.read().decode()[-1000:]}")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def write_csv(path: Path, rows: int, columns: int) -> None:
    """Write the table, a part at a time."""
    rng = np.random.default_rng(1)
    with path.open("w") as file:
        file.write(",".join(["id", *(f"c{k}" for k in range(columns)), "y"]) + "\n")
        for first in range(0, rows, _ROWS):
            cells = rng.normal(size=(min(_ROWS, rows - first), columns))
            yes = cells[:, 0] + np.sin(2 * cells[:, 1]) + rng.normal(size=len(cells)) > 0
            for at, (row, label) in enumerate(zip(cells.tolist(), yes.tolist(), strict=True)):
                file.write(f"n{first + at},{','.join(f'{value:.4f}' for value in row)},{'yes' if label else 'no'}\n")


def _first_id(store: str) -> str:
    """Return the id of a record that was not held out, read by a process of its own."""
    program = "import sys; from noisygd_delete.store import Store; print(Store.open(sys.argv[1]).records.ids[0])"
    return subprocess.run(
        [sys.executable, "-c", program, store], capture_output=True, text=True, check=True
    ).stdout.strip()


def write_adult(path: Path) -> None:
    """Write Adult's training rows, with ids and the label as `y`."""
    import pandas

    rows = pandas.read_csv(datasets.path("adult.csv.gz"), skipinitialspace=True).rename(columns={"income": "y"})
    rows.insert(0, "id", [f"n{row}" for row in range(len(rows))])
    rows.to_csv(path, index=False)


def measure(size: str, interpret: str | None) -> tuple[dict[str, Cost], int, int]:
    """Return the cost of each process, and the bytes of the CSV file and of the store."""
    with tempfile.TemporaryDirectory() as given:
        folder = Path(given)
        file, store, model = folder / "t.csv", str(folder / "made" / "store"), f"{folder / 'model'}-"
        if size == "adult":
            write_adult(file)
        else:
            write_csv(file, *map(int, size.split("x")))
        own = (sys.executable, "-m", "noisygd_delete")
        asked = ("--label", "y", "--id", "id", "--yes", "--output-dir", str(folder / "made"))
        costs = {
            "quickstart": run(*own, "quickstart", str(file), *asked),
            "delete": run(*own, "delete", store, _first_id(store)),
            "predict": run(*own, "predict", store, "--data", str(file), "--out", str(folder / "p.csv")),
            "verify": run(*own, "verify", store),
        }
        for kind in ("logistic", "boosting"):
            costs[f"{kind} refit"] = run(sys.executable, "-c", _REFIT, kind, str(file), model + kind)
        if interpret is not None and (size == "adult" or int(size.split("x", maxsplit=1)[0]) <= _EBM_ROWS):
            costs["EBM refit"] = run(interpret, "-c", _REFIT, "EBM", str(file), model + "EBM")
        costs |= {
            f"in process: {name}": Cost(seconds, None)
            for name, seconds in time_fits(store, str(file), model[:-1]).items()
        }
        held = sum(path.stat().st_size for path in Path(store).rglob("*") if path.is_file())
        return costs, file.stat().st_size, held


def time_fits(store: str, file: str, models: str) -> dict[str, float]:
    """Return the processor time of a deletion and of two fits in one process that has loaded and read all."""
    arguments = [sys.executable, "-c", _FITS, store, file, models]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True, env=environment())
    return dict(json.loads(done.stdout))


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks processes")
    parser.add_argument("--sizes", nargs="+", default=["50000x10", "200000x10"])
    parser.add_argument("--interpret", metavar="PYTHON", help="an interpreter of an environment with interpret-core")
    asked = parser.parse_args(arguments)
    measured, found = commit(), dict[str, tuple[dict[str, Cost], int, int]]()
    measure(_WARM_UP, None)  # every module is compiled
    for size in asked.sizes:
        found[size] = measure(size, asked.interpret)
        body = report(found)
        write(
            "processes",
            "Whole processes beside scikit-learn",
            f"python -m benchmarks processes --sizes {' '.join(found)}"
            + " --interpret PYTHON" * (asked.interpret is not None),
            body,
            measured,
        )
    print(body)


def report(found: dict[str, tuple[dict[str, Cost], int, int]]) -> str:
    """Return the table of all sizes, and exponents of growth between the first two with the same columns."""
    lines = list[list[str]]()
    for size, (costs, csv, held) in found.items():
        for name, cost in costs.items():
            disk = f"{csv / 2**20:.1f} / {held / 2**20:.1f}" if name == "quickstart" else ""
            among = "in process: logistic fit" if cost.mebibytes is None else "logistic refit"
            ratio, peak = cost.seconds / costs[among].seconds, "" if cost.mebibytes is None else f"{cost.mebibytes:.0f}"
            lines.append([size, name, f"{cost.seconds:.2f}", f"{ratio:.2g}", peak, disk])
    body = table(
        ["rows x columns", "process", "CPU s", "over logistic regression", "peak MiB", "CSV / store, MiB"], lines
    )
    widths = [size.split("x")[1] for size in found if size != "adult"]
    same = [size for size in found if size != "adult" and widths.count(size.split("x")[1]) > 1]
    if same:
        step = math.log(int(same[-1].split("x")[0]) / int(same[0].split("x")[0]))
        (first, *_), (last, *_) = found[same[0]], found[same[-1]]
        rows = [
            [name, f"{math.log(cost.seconds / first[name].seconds) / step:.2f}"]
            for name, cost in last.items()
            if name in first
        ]
        body += f"\n\nGrowth of processor time from {same[0]} to {same[-1]}, as an exponent of the rows (start-up included):\n\n"
        body += table(["process", "exponent"], rows)
    return body + (
        "\n\nOne run of each, one thread, processor time: the machine was shared. `quickstart` includes drafting a schema, planning and evaluation. "
        f"EBM was not run on more than {_EBM_ROWS:,} rows."
    )

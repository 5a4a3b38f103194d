"""Sparse rows beside the same rows with their zeros: a pass, a learn and a deletion, and peak memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from benchmarks import report
from benchmarks.wide import least
from noisygd_delete import Records, losses
from noisygd_delete.engine.objective import Objective
from noisygd_delete.engine.sums import sums_of

PASSES = ((10_000, 20_000, 200, 2), (10_000, 20_000, 200, 10), (10_000, 20_000, 20, 2), (10_000, 2_000, 200, 2))
RUNS = ((10_000, 100_000, 100, 2), (10_000, 100_000, 100, 10), (100_000, 100_000, 100, 2))

_PROGRAM = """
import sys
from pathlib import Path
import numpy as np
from benchmarks.sparse import labels_for, rows_of
from noisygd_delete import Budget, Curator, Records, losses, make_plan

def resident(which):
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith(which))

def run(n, width, values, classes, method):
    rows, labels = rows_of(n, width, values), labels_for(n, classes)
    loss = losses.Softmax(1.0, classes=classes) if classes > 2 else losses.Logistic(1.0)
    budget = Budget.from_epsilon_delta(dp=(2.0, 1e-6), deletion=(1.0, 1e-6))
    plan = make_plan(loss, records=n, features=width, regularization=1e-2, budget=budget, method=method)
    curator = Curator(Records(rows, labels), plan)
    curator.learn()
    release = curator.delete([3])
    return rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes, release.gradient_passes

n, width, values, classes = map(int, sys.argv[1:5])
run(5000, 1000, 5, classes, sys.argv[5])  # libraries loaded
Path("/proc/self/clear_refs").write_text("5")  # the peak begins again at what is resident now
before = resident("VmRSS")
own, passes = run(n, width, values, classes, sys.argv[5])
print(resident("VmHWM") - before, own, passes)
"""


def rows_of(n: int, width: int, values: int) -> csr_array:
    """Rows of norm below 1 with so many values each, or one or two fewer, in float32."""
    rng = np.random.default_rng(0)
    columns, starts = rng.integers(0, width, n * values).astype(np.int32), np.arange(n + 1, dtype=np.int32) * values
    numbers = rng.standard_normal(n * values).astype(np.float32) / np.float32(4 * values**0.5)
    rows = csr_array((numbers, columns, starts), shape=(n, width))
    rows.sum_duplicates()
    return rows


def labels_for(n: int, classes: int) -> np.ndarray:
    """Of no meaning: what is measured does not depend on them."""
    rng = np.random.default_rng(1)
    return rng.choice([-1.0, 1.0], n) if classes == 2 else rng.integers(0, classes, n).astype(float)


def passes(n: int, width: int, values: int, classes: int, repeats: int) -> list[str]:
    """Processor time of a pass over sparse rows, over that of the same pass over the rows with their zeros."""
    rows, labels = rows_of(n, width, values), labels_for(n, classes)
    thin, dense = Records(rows, labels), Records(rows.toarray(), labels)
    loss = losses.Softmax(1.0, classes=classes) if classes > 2 else losses.Logistic(1.0)
    weights = np.random.default_rng(2).standard_normal((loss.outputs, width))
    facts = {"regularization": 0.01}
    steps = {"thin": Objective(thin, loss, **facts), "dense": Objective(dense, loss, **facts)}
    sums = {"thin": sums_of(thin, loss), "dense": sums_of(dense, loss)}
    calls = {
        **{f"float32 {form}": lambda each=each: each.gradient(weights, "float32") for form, each in sums.items()},
        **{f"float64 {form}": lambda each=each: each.gradient(weights, "float64") for form, each in sums.items()},
        **{f"step {form}": lambda each=each: each.gradient_sum(weights) for form, each in steps.items()},
    }
    found = least(calls, repeats)
    ratios = [f"{found[f'{kind} thin'] / found[f'{kind} dense']:.3f}" for kind in ("float32", "float64", "step")]
    return [f"{n:,} × {width:,}", f"{values / width:.2g}", str(classes), *ratios]


def run(n: int, width: int, values: int, classes: int, method: str) -> list[str]:
    """Peak memory of a learn and a deletion beyond the libraries, over the bytes of the rows (Linux), and passes."""
    program = [sys.executable, "-c", _PROGRAM, *map(str, (n, width, values, classes)), method]
    done = subprocess.run(program, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1])
    peak, own, taken = map(int, done.stdout.split())
    weights = 8 * width * (1 if classes == 2 else classes)
    ratios = [f"{peak / own:.1f}", f"{peak / (4 * n * width):.3f}", f"{peak / weights:.0f}"]
    return [f"{n:,} × {width:,}", str(values), str(classes), method, *ratios, str(taken)]


_NOTE = (
    "One BLAS thread (OMP_NUM_THREADS=1), a machine under load. First table: a pass over sparse rows over the same pass over the rows with their "
    "zeros, least processor times, each in every round. Second table: peak memory of learning and one deletion, beyond the libraries and with "
    "the caller's own copy of the rows included, over the bytes of the CSR arrays, over the bytes that the rows take with their zeros, and over "
    "those of the weights (the solver keeps 20 pairs of gradients and steps); and the passes of the deletion."
)


def main(arguments: list[str]) -> None:
    parsed, page = report.begin("sparse", __doc__, arguments, prefix="OMP_NUM_THREADS=1 ", repeats=5)
    header = ["table", "filled", "classes", "solver's pass, float32", "solver's pass, float64", "noisy step, float32"]
    first = report.table(header, [passes(*size, parsed.repeats) for size in PASSES])
    print(first)
    header = ["table", "values a row", "classes", "method", "over the CSR", "with zeros", "over the weights", "passes"]
    second = report.table(
        header, [run(*size, method) for size in RUNS for method in ("objective-perturbation", "output-perturbation")]
    )
    print(second)
    page.write("Sparse rows", f"{_NOTE}\n\n{first}\n\n{second}")

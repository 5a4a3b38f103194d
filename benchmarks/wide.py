"""Softmax on wide tables and on many classes: a pass over the rows beside the two matrix products that it cannot do without."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import numpy as np

from benchmarks import report
from noisygd_delete import Records, losses
from noisygd_delete.engine.objective import Objective
from noisygd_delete.engine.sums import HeldSums

SIZES = ((5_000, 20_000, 10), (4_000, 5_000, 10), (500, 100_000, 10), (4_000, 5_000, 50), (8_000, 1_000, 100))


def least(candidates: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Least processor seconds of each, every one in every round."""
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(repeats):
        for name, call in candidates.items():
            began = time.process_time()
            call()
            times[name].append(time.process_time() - began)
    return {name: min(seconds) for name, seconds in times.items()}


def measured(rows: int, features: int, classes: int, repeats: int) -> list[str]:
    rng = np.random.default_rng(0)
    table = rng.standard_normal((rows, features), dtype=np.float32)
    table /= 1.001 * np.linalg.norm(table, axis=1, keepdims=True)
    labels = rng.integers(0, classes, rows).astype(np.float64)
    weights, loss = rng.standard_normal((classes, features)), losses.Softmax(1.0, classes=classes)
    sums = HeldSums(table, labels, loss)
    steps = Objective(Records.from_slots(table, labels, [None] * rows, None), loss, regularization=0.1)
    short, slopes = weights.astype(np.float32), rng.random((rows, classes), dtype=np.float32)
    products = "products"
    found = least(
        {
            products: lambda: (table @ short.T, slopes.T @ table),
            "float32": lambda: sums.gradient(weights, "float32"),
            "float64": lambda: sums.gradient(weights, "float64"),
            "step": lambda: steps.gradient_sum(weights),
        },
        repeats,
    )
    ratios = [f"{found[name] / found[products]:.2f}" for name in ("float32", "float64", "step")]
    return [f"{rows:,} × {features:,}", str(classes), *ratios]


_NOTE = (
    "Softmax, one BLAS thread (OMP_NUM_THREADS=1). Unit: the two products of all rows with the weights and with the slopes, in float32 and at "
    "once. A float64 product takes twice that alone, and its rows are widened from float32 besides; the solver measures its last point so, and "
    "what comes before in float32. Ratios of least processor times, every candidate in every round, on a machine under load."
)


def main(arguments: list[str]) -> None:
    parsed, page = report.begin("wide", __doc__, arguments, prefix="OMP_NUM_THREADS=1 ", repeats=7)
    header = ["table", "classes", "solver's pass, float32", "solver's pass, float64", "noisy step, float32"]
    body = report.table(header, [measured(*size, parsed.repeats) for size in SIZES])
    print(body)
    page.write("Softmax on wide tables", f"{_NOTE}\n\n{body}")

"""One gradient pass of the same rows by whoever holds them: memory, a mapped file, workers of Ray, executors of Spark.

python -m benchmarks engines [--largest N] [--on ray spark]

Writes benchmarks/results/engines.md. Times are the shortest of passes taken in turn, over those of memory at the same size; a machine
that does other work makes all of them longer. What crosses to the workers and back is counted, not measured.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from noisygd_delete import Budget, Curator, Records, Schema, losses, make_plan
from noisygd_delete.clusters import files
from noisygd_delete.clusters.opening import opened
from noisygd_delete.clusters.partition import Encoder
from noisygd_delete.engine.objective_float64 import PreciseObjective
from noisygd_delete.schema import Encoded
from noisygd_delete.schema.encoded import Gathered

RESULTS = Path(__file__).parent / "results" / "engines.md"
D, TURNS, LAMBDA = 20, 5, 1e-3
SIZES = (10_000, 100_000, 1_000_000, 10_000_000, 30_000_000)
READ = 1_000_000  # rows: larger tables are made in place, and held by this process alone
SCHEMA = Schema.from_dict(
    {
        "id": "id",
        "intercept": False,
        "label": {"column": "y", "classes": ["-1", "1"]},
        "columns": {f"x{k}": {"bounds": [-1, 1]} for k in range(D)},
    }
)
LOSS = losses.Logistic(1.0)


def _write(folder: Path, n: int) -> None:
    """So many rows in four files, in row groups of a partition each."""
    import pyarrow
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    for part in range(4):
        size = n // 4
        cells = np.round(rng.uniform(-1, 1, (size, D)), 4)
        columns = {f"x{k}": cells[:, k] for k in range(D)}
        named = {"id": np.arange(part * size, (part + 1) * size), **columns, "y": rng.choice([-1, 1], size)}
        parquet.write_table(pyarrow.table(named), folder / f"{part}.parquet", row_group_size=files.ROWS_EACH)


def _read(folder: Path) -> Records:
    """The same rows in memory."""
    encoder, whole = Encoder.for_rows(SCHEMA, str(folder)), Gathered(D)
    for part in files.dealt(str(folder), files.listed(str(folder))):
        whole.add(encoder.encoded(files.read(str(folder), part, encoder.columns)))
    found: Encoded = whole.encoded()
    return Records(found.rows, found.labels)


def _made(n: int) -> Records:
    rng = np.random.default_rng(0)
    rows = np.empty((n, D), np.float32)
    for first in range(0, n, 1 << 18):
        part = rng.standard_normal(rows[first : first + (1 << 18)].shape, dtype=np.float32)
        rows[first : first + len(part)] = part / (np.linalg.norm(part, axis=1, keepdims=True) * (1 + 2.0**-20))
    return Records(rows, rng.choice([-1.0, 1.0], n))


def _mapped(records: Records, path: Path) -> Records:
    rows = np.memmap(path, np.float32, mode="w+", shape=records.features.shape)
    rows[:] = records.features
    return Records.from_slots(rows, np.array(records.labels), records.names, None)


def _passes(records: Records) -> int:
    """Gradient passes of a learn by objective perturbation."""
    plan = make_plan(
        LOSS, records=records.slots, features=D, regularization=LAMBDA, budget=Budget(order=10, dp=1.0, deletion=0.1),
        method="perturbed", utility=False,
    )  # fmt: skip
    return Curator(records, plan).learn().gradient_passes


def _shortest(runs: dict[str, Callable[[], object]]) -> dict[str, float]:
    best = dict.fromkeys(runs, math.inf)
    for _ in range(TURNS):
        for name, run in runs.items():
            began = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - began)
    return best


def measured(n: int, engines: list[str]) -> dict[str, str]:
    """One row of the table."""
    weights = np.full((1, D), 0.3)
    with tempfile.TemporaryDirectory(prefix="engines", dir="/tmp") as root, ExitStack() as stack:
        folder = Path(root) / "files"
        folder.mkdir()
        if n <= READ:
            _write(folder, n)
        records = _read(folder) if n <= READ else _made(n)
        held = {"memory": records, "map": _mapped(records, Path(root) / "rows")}
        parts = 1
        for engine in engines if n <= READ else ():
            held[engine], _ = stack.enter_context(opened(engine, str(folder), SCHEMA, n))
            parts = max(parts, held[engine].partitions)
        objectives = {name: PreciseObjective(each, LOSS, regularization=LAMBDA) for name, each in held.items()}
        sums = {name: each.gradient(weights) for name, each in objectives.items()}
        bound = max(each.gradient_error(float(np.linalg.norm(weights))) for each in objectives.values())
        off = max(float(np.linalg.norm(each - sums["memory"])) for each in sums.values())
        best = _shortest({name: lambda each=each: each.gradient(weights) for name, each in objectives.items()})
    ratios = {name: f"{best[name] / best['memory']:.2f}" if name in best else "—" for name in ("map", *engines)}
    return {
        "rows": f"{n:,}",
        "passes of a learn": str(_passes(records)) if n <= 10 * READ else "—",
        "bytes read in a pass": f"{4 * D * n:,}",
        "partitions": str(parts) if n <= READ else "1",
        "bytes sent and answered": f"{8 * D * (1 + parts):,}" if n <= READ else "—",
        **ratios,
        "sums apart, over the declared rounding": f"{off / (2 * bound):.2g}",
    }


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=SIZES[-1])
    parser.add_argument("--on", nargs="*", default=["ray", "spark"], choices=["ray", "spark"])
    parsed = parser.parse_args(arguments)
    missing = [each for each in parsed.on if not find_spec({"ray": "ray", "spark": "pyspark"}[each])]
    if missing:
        raise SystemExit(f"{', '.join(missing)}: not installed here; `make engines` makes an environment that has them")
    rows: list[dict[str, str]] = []
    for n in (size for size in SIZES if size <= parsed.largest):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows.append(measured(n, parsed.on))
        RESULTS.write_text(table(rows))  # the next size may be more than this machine has
        print(rows[-1], flush=True)
    print(table(rows))


def table(rows: list[dict[str, str]]) -> str:
    """The file."""
    lines = [
        "# Who holds the rows",
        "",
        f"Made by `python -m benchmarks engines`: float64 gradient passes over rows of {D} features, logistic loss, on one machine of two",
        "processors that did much other work at the same time: a ratio may be off by a factor of three. Columns of engines are times of a pass over that",
        f"of memory, the shortest of {TURNS} taken in turn. Ray: one actor for each processor. Spark: local executors.",
        "",
        "| " + " | ".join(rows[0]) + " |",
        "|" + "---:|" * len(rows[0]),
        *("| " + " | ".join(row.values()) + " |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main([])

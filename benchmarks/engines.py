"""One gradient pass, and one learn, over the same rows by whoever holds them: memory, a mapped file, workers of Ray, executors of Spark.

python -m benchmarks engines [--sizes 10000 1000000 [--keep]] [--on ray spark]

Writes benchmarks/results/engines.md after every size and engine, from what has been measured by then. A pass: the shortest of passes
that are taken in turn with one in memory, over the shortest of memory's among them; learn and opening: once, over once. What crosses to the
workers and back is counted, not measured.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from noisygd_delete_sources import parquet_files as files
from noisygd_delete_sources.factory import open_rows
from noisygd_delete_sources.workers import on_ray, on_spark
from noisygd_delete_sources.workers.questions import Encoder

from noisygd_delete import Budget, Curator, Records, Schema, losses, make_plan
from noisygd_delete.engine import CurrentRecords
from noisygd_delete.engine.objective import PreciseObjective
from noisygd_delete.engine.sums import RowsElsewhere
from noisygd_delete.features.schema import Encoded
from noisygd_delete.features.schema.encoded import GatheredRows

RESULTS = Path(__file__).parent / "results" / "engines.md"
D, TURNS, LAMBDA = 8, 5, 1e-3
LARGE, LAMBDA_OF_LARGE = 25_000_000, 1e-2  # as it was measured, when there was no plan with LAMBDA
SIZES = (10_000, 100_000, 1_000_000, 10_000_000, 30_000_000)
FILES, ROWS_AT_ONCE = 4, 1 << 16
HEAP = "4g"  # of Spark, for the largest table
SESSIONS: dict[str, Any] = {"ray": on_ray._connect_ray, "spark": on_spark.open_session}
ABSENT = "—"
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
    names = [f"x{k}" for k in range(D)]
    kinds = [("id", pyarrow.int64()), *((name, pyarrow.float32()) for name in names), ("y", pyarrow.int64())]
    for part in range(FILES):
        with parquet.ParquetWriter(folder / f"{part}.parquet", pyarrow.schema(kinds)) as file:
            for first in range(n * part // FILES, n * (part + 1) // FILES, ROWS_AT_ONCE):
                size = min(ROWS_AT_ONCE, n * (part + 1) // FILES - first)
                cells = 2 * rng.random((D, size), np.float32) - 1
                columns = {**dict(zip(names, cells, strict=True)), "y": rng.choice([-1, 1], size)}
                file.write_table(pyarrow.table({"id": np.arange(first, first + size), **columns}))


def _read(folder: Path) -> Records:
    """The same rows in memory."""
    encoder, whole = Encoder.for_rows(SCHEMA, str(folder)), GatheredRows(D)
    for part in files.partition_row_groups(str(folder), files.list_files(str(folder))):
        whole.add(encoder.encoded(files.read(str(folder), part, encoder.columns)))
    found: Encoded = whole.encoded()
    return Records(found.rows, found.labels)


def _mapped(records: Records, path: Path) -> Records:
    rows = np.memmap(path, np.float32, mode="w+", shape=records.features.shape)
    rows[:] = records.features
    return Records.from_slots(rows, np.array(records.labels), records.names, None)


def _weight(n: int) -> float:
    return LAMBDA_OF_LARGE if n >= LARGE else LAMBDA


def _learn(records: CurrentRecords) -> int:
    """Learn by objective perturbation; its gradient passes."""
    plan = make_plan(
        LOSS, records=records.slots, features=D, regularization=_weight(records.slots), budget=Budget(order=10, dp=1.0, deletion=0.1),
        method="objective-perturbation", utility=False,
    )  # fmt: skip
    plan = plan.allow_any_order() if isinstance(records, RowsElsewhere) else plan
    return Curator(records, plan).learn().gradient_passes


def _timed(run: Callable[[], Any]) -> tuple[Any, float]:
    began = time.perf_counter()
    done = run()
    return done, time.perf_counter() - began


class Size:
    """One row of the table, filled as it is measured; `told` is called whenever a cell was."""

    def __init__(self, n: int, root: Path, told: Callable[[dict[str, str]], None]) -> None:
        self._told, self._folder, self._root = told, root / "files", root
        self._folder.mkdir()
        _write(self._folder, n)
        self.records, self._reading = _timed(lambda: _read(self._folder))
        few = slice(SIZES[0])  # whatever is done once a process
        _learn(Records(self.records.features[few], self.records.labels[few]))
        passes, self._learning = _timed(lambda: _learn(self.records))
        self.objective = PreciseObjective(self.records, LOSS, regularization=_weight(n))
        self.weights = np.full((1, D), 0.3)
        self.sum = self.objective.gradient(self.weights)
        once = min(_timed(lambda: self.objective.gradient(self.weights))[1] for _ in range(TURNS))
        self.row = {
            "rows": f"{n:,}",
            "passes of a learn": str(passes),
            "bytes of a pass": f"{4 * D * n:,}",
            "memory: reading, in passes": f"{self._reading / once:.0f}",
        }

    def map(self) -> None:
        self._pass("map", _mapped(self.records, self._root / "rows"))

    def engine(self, name: str) -> None:
        began = time.perf_counter()
        with open_rows(name, str(self._folder), SCHEMA, self.records.slots) as (held, *_):
            opening = time.perf_counter() - began
            self._pass(name, held)
            _, learning = _timed(lambda: _learn(held))
            parts = held.partitions
        facts = {
            "learn": f"{learning / self._learning:.2f}",
            "opening": f"{opening / self._reading:.2f}",
            "partitions": str(parts),
            "bytes sent and answered": f"{8 * D * 2 * parts:,}",
        }
        self._add(name, facts)

    def _pass(self, name: str, held: CurrentRecords) -> None:
        theirs = PreciseObjective(held, LOSS, regularization=_weight(held.slots))
        apart = float(np.linalg.norm(theirs.gradient(self.weights) - self.sum))
        length = float(np.linalg.norm(self.weights))
        bound = theirs.gradient_error(length) + self.objective.gradient_error(length)
        assert apart <= bound
        turns = [
            [_timed(lambda each=each: each.gradient(self.weights))[1] for each in (self.objective, theirs)]
            for _ in range(TURNS)
        ]
        memory, other = (min(times) for times in zip(*turns, strict=True))
        self._add(
            name, {"pass": f"{other / memory:.2f}", "sums apart, over the declared rounding": f"{apart / bound:.1g}"}
        )

    def _add(self, name: str, facts: dict[str, str]) -> None:
        self.row.update({f"{name}: {fact}": value for fact, value in facts.items()})
        self._told(self.row)


@contextmanager
def _sessions(engines: list[str]) -> Iterator[None]:
    """Every engine started once, for all sizes."""
    if not engines:
        yield
        return
    with SESSIONS[engines[0]](), _sessions(engines[1:]):
        yield


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--on", nargs="*", default=["ray", "spark"], choices=["ray", "spark"])
    parser.add_argument("--keep", action="store_true", help="rows of other sizes stay as they stand in the file")
    parsed = parser.parse_args(arguments)
    missing = [each for each in parsed.on if not find_spec({"ray": "ray", "spark": "pyspark"}[each])]
    if missing:
        raise SystemExit(f"{', '.join(missing)}: not installed here; `make engines` makes an environment that has them")
    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", f"--driver-memory {HEAP} pyspark-shell")
    rows = _kept(parsed.sizes) if parsed.keep else {}
    warnings.simplefilter("ignore")
    with _sessions(parsed.on):
        for n in parsed.sizes:

            def told(row: dict[str, str], n: int = n) -> None:
                rows[n] = row
                # what comes next may be more than this machine has
                RESULTS.write_text(table([rows[size] for size in sorted(rows)]))

            with tempfile.TemporaryDirectory(prefix="engines", dir="/tmp") as root:
                size = Size(n, Path(root), told)
                size.map()
                for engine in parsed.on:
                    size.engine(engine)
            print(rows[n], flush=True)
    print(RESULTS.read_text())


def _kept(sizes: list[int]) -> dict[int, dict[str, str]]:
    """The rows of other sizes in the file."""
    lines = [line.strip("| ").split(" | ") for line in RESULTS.read_text().splitlines() if line.startswith("| ")]
    found = [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]
    return {n: row for row in found if (n := int(row["rows"].replace(",", ""))) not in sizes}


def table(rows: list[dict[str, str]]) -> str:
    """The file."""
    of_engines = ("pass", "learn", "opening", "partitions", "bytes sent and answered")
    apart = "sums apart, over the declared rounding"
    counted = [
        "rows",
        "passes of a learn",
        "bytes of a pass",
        "memory: reading, in passes",
        "map: pass",
        *(f"{e}: {f}" for f in of_engines for e in SESSIONS),
    ]
    columns = [*counted, *(f"{holder}: {apart}" for holder in ("map", *SESSIONS))]
    lines = [
        "# Who holds the rows",
        "",
        f"Made by `python -m benchmarks engines`: float64 over rows of {D} features, logistic loss, on one machine of two processors that did other work",
        f"meanwhile. Ratios to one process with the rows in memory. pass: a gradient pass, the shortest of {TURNS} taken in turn with memory's; learn: all of one by",
        "objective perturbation, without opening; opening: reading and encoding the files, over one process that does. Ray: one actor for each",
        f"processor. Spark: local executors with a heap of {HEAP}. Bytes sent and answered are counted: weights to every partition, and a sum of",
        f"their size from each. A cell that was not measured is left empty. λ = {LAMBDA:g}; from {LARGE:,} rows on {LAMBDA_OF_LARGE:g}, because the",
        "plan is refused there with less: it leaves the solver less than the declared rounding of its sums.",
        "",
        "| " + " | ".join(columns) + " |",
        "|" + "---:|" * len(columns),
        *("| " + " | ".join(row.get(name, ABSENT) for name in columns) + " |" for row in rows),
        "",
    ]
    return "\n".join(lines)

"""A table from CSV to rows, over what pandas takes to read, normalise and save it; peak memory over the rows made; bytes per id.

python -m benchmarks tables [--rows N] [--out FILE]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "tables.md"


def write(path: Path, rows: int, *, decimals: int, quoted: bool = False) -> dict[str, object]:
    """A CSV table with an id, six numbers and six categories, and its schema. No library writes it: any seed gives the same."""
    rng = np.random.default_rng(7)
    words = [f"value-{k}" for k in range(12)]
    quote = '"' if quoted else ""
    with path.open("w") as file:
        file.write(",".join(["id", *(f"n{k}" for k in range(6)), *(f"c{k}" for k in range(6)), "y"]) + "\n")
        for first in range(0, rows, 10_000):
            numbers = rng.uniform(0, 100, (10_000, 6))
            chosen = rng.integers(0, 12, (10_000, 6))
            for k, (values, places) in enumerate(zip(numbers, chosen, strict=True), start=first):
                if k == rows:
                    break
                cells = [f"record-{k:08d}", *(f"{x:.{decimals}f}" if decimals < 17 else repr(float(x)) for x in values)]
                cells += [*(words[place] for place in places), "yes" if values[0] > 50 else "no"]
                file.write(",".join(f"{quote}{cell}{quote}" for cell in cells) + "\n")
    columns: dict[str, object] = {f"n{k}": {"bounds": [0, 100]} for k in range(6)}
    columns |= {f"c{k}": {"categories": words} for k in range(6)}
    return {"id": "id", "label": {"column": "y", "classes": ["no", "yes"]}, "columns": columns}


def by_pandas(path: Path, fields: dict[str, object], out: Path) -> None:
    """Read, one column per category, unit rows, saved: what a table costs without this package."""
    import pandas as pd

    table = pd.read_csv(path)
    columns: dict[str, dict[str, object]] = fields["columns"]  # type: ignore[assignment]
    parts = [((2 * table[[name for name in columns if name[0] == "n"]] / 100) - 1).to_numpy(np.float32)]
    for name, kind in columns.items():
        if "categories" in kind:
            parts.append(pd.get_dummies(pd.Categorical(table[name], kind["categories"])).to_numpy(np.float32))
    rows = np.concatenate([*parts, np.ones((len(table), 1), np.float32)], axis=1)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    np.save(out / "rows.npy", rows)
    np.save(out / "labels.npy", (table["y"] == "yes").to_numpy(float))
    table["id"].to_csv(out / "ids.csv", index=False)


def by_this_package(path: Path, fields: dict[str, object], out: Path) -> None:
    """Read, rows, and the files of a store's table, as `init` writes them."""
    from noisygd_delete import Budget, losses, make_plan
    from noisygd_delete.features.schema import RecordFile, Schema
    from noisygd_delete.store import table_import
    from noisygd_delete.store.disk import Disk
    from noisygd_delete.store.layout import Layout

    schema = Schema.from_dict(fields)
    facts: dict[str, Any] = {"features": schema.features, "regularization": 0.1, "method": "noisy-gd", "utility": False}
    budget = Budget.from_gdp(dp=0.5, deletion=0.1)
    plan = partial(make_plan, losses.Logistic(1.0), budget=budget, **facts)
    table_import.fill_table(Disk(), Layout(out), RecordFile(schema, path), lambda rows: plan(records=rows))


def by_pyarrow(path: Path, fields: dict[str, object], out: Path) -> None:
    """Text columns from pyarrow's reader and nothing else: the part of `by_this_package` that a library could do."""
    import pyarrow as pa
    from pyarrow import csv

    names = path.open().readline().strip().split(",")
    kinds = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()))
    csv.read_csv(path, convert_options=kinds, read_options=csv.ReadOptions(use_threads=False))


def cells_only(path: Path, fields: dict[str, object], out: Path) -> None:
    """What `by_pyarrow` does, by this package: cells found, nothing read from them."""
    from noisygd_delete.features.schema import read_blocks

    for _ in read_blocks(path):
        pass


def seconds(run: Callable[[Path, dict[str, object], Path], None], path: Path, fields: dict[str, object]) -> float:
    with tempfile.TemporaryDirectory() as out:
        began = time.perf_counter()
        run(path, fields, Path(out))
        return time.perf_counter() - began


def ratio(
    run: Callable[[Path, dict[str, object], Path], None],
    over: Callable[[Path, dict[str, object], Path], None],
    path: Path,
    fields: dict[str, object],
    times: int = 3,
) -> float:
    """The shortest of `run` over the shortest of `over`, taken in turn."""
    pairs = [(seconds(run, path, fields), seconds(over, path, fields)) for _ in range(times)]
    return min(one for one, _ in pairs) / min(other for _, other in pairs)


def peak(rows: int) -> float:
    """Bytes of memory that a table from CSV takes beyond the libraries, in a process of its own."""
    program = "import sys; from benchmarks.tables import _peak; _peak(int(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", program, str(rows)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def _peak(rows: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        few = write(path, 10, decimals=2)
        by_this_package(path, few, Path(folder))
        fields = write(path, rows, decimals=2)
        for file in (Path(folder) / "records").iterdir():
            file.unlink()
        before = _held()
        by_this_package(path, fields, Path(folder))
        print(_held() - before)


def _held() -> int:
    """The most memory that this process has had."""
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))


def bytes_per_id(rows: int) -> tuple[float, float]:
    """Of the default ids, and of ids of text."""
    from noisygd_delete.records import Names

    texts = Names.of([f"record-{k:08d}" for k in range(min(rows, 10**6))])
    return Names.of(range(rows)).cells.nbytes / rows, texts.cells.nbytes / len(texts)


def facts(rows: int) -> dict[str, float]:
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        for name, options in _FILES.items():
            fields = write(path, rows, **options)  # type: ignore[arg-type]
            found[f"init over pandas, {name}"] = ratio(by_this_package, by_pandas, path, fields)
            if name == "two decimals":
                found["cells found over pyarrow's reader, one thread each"] = ratio(
                    cells_only, by_pyarrow, path, fields
                )
    numbers, texts = bytes_per_id(10**7)
    few, many = peak(2 * _PIECE), peak(20 * _PIECE)
    return found | {
        "peak memory of 20 pieces of a file (272 MB of rows) over that of 2": many / few,
        "peak memory of 20 pieces over their rows": many / (20 * _PIECE * 4 * 85),
        "bytes per default id": numbers,
        "bytes per id of 15 letters": texts,
    }


_PIECE = 40_000  # rows of such a file that are cut into cells at a time, about
_FILES: dict[str, dict[str, object]] = {
    "two decimals": {"decimals": 2},
    "seventeen digits": {"decimals": 17},
    "every cell quoted": {"decimals": 2, "quoted": True},
}


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parsed = parser.parse_args(arguments)
    lines = [
        "# Tables: from CSV to rows",
        "",
        f"Made by `python -m benchmarks tables`: {parsed.rows:,} rows, an id, six numbers, six categories of twelve values, a label.",
        "The shortest of three, taken in turn. pandas: read_csv, one column per category, unit rows, np.save; this package: the",
        "schema's rows and the files of a store's table, synced.",
        "",
        "| | ratio |",
        "|---|---:|",
        *(f"| {name} | {value:.2f} |" for name, value in facts(parsed.rows).items()),
    ]
    parsed.out.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))

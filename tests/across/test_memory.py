"""Peak memory of whole processes: a constant and a few bytes a row, for tables whose features would take 10 kB a row."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

COLUMNS = 10
A_ROW = {"quickstart": 140, "delete": 140, "predict": 250}  # bytes: codes, label, id and score, and copies of them
CHILD = """
import sys
exec(sys.argv[1])
from noisygd_delete.cli import main
status = main(sys.argv[2:])
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")), file=sys.stderr)
sys.exit(status)
"""
EXPANDING = {
    "delete": "from noisygd_delete.engine import sums; sums._EXPANDED = 1 << 40",
    "predict": "from noisygd_delete.features.schema import Schema; own = Schema.encode\n"
    "Schema.encode = lambda self, table, **given: own(self, table, **given | {'coded': False})",
}

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")


def write_table(rows: int) -> str:
    rng, name = np.random.default_rng(rows), f"t{rows}.csv"
    with open(name, "w") as file:
        file.write("id," + ",".join(f"x{k}" for k in range(COLUMNS)) + ",y\n")
        for first in range(0, rows, 10_000):
            values = rng.normal(size=(min(10_000, rows - first), COLUMNS))
            marks = (values[:, 0] + rng.normal(size=len(values)) > 0).astype(int)
            for row, (own, mark) in enumerate(zip(values, marks, strict=True)):
                file.write(f"r{first + row}," + ",".join(f"{value:.4f}" for value in own) + f",{mark}\n")
    return name


def peak(*command: str, before: str = "") -> int:
    """Return the bytes that a command takes at most, after a piece of code."""
    done = subprocess.run([sys.executable, "-c", CHILD, before, *command], capture_output=True, text=True, check=True)
    return int(done.stderr.split("VmHWM:")[1].split()[0]) << 10


def growth(few: int, many: int, *limit: str, before: dict[str, str] | None = None) -> dict[str, float]:
    """Return by how many bytes a row the peak of each command grows from a table of few rows to one of many."""
    found, planted = dict[str, list[int]](), before or {}
    for rows in (few, many):
        table, store = write_table(rows), f"q{rows}/store"
        drafted = (
            "--label",
            "y",
            "--id",
            "id",
            "--yes",
            "--map",
            "additive",
            "--holdout",
            "0",
            "--output-dir",
            f"q{rows}",
        )
        commands = {
            "quickstart": (table, *drafted, *limit),
            "delete": (store, "r7", "--memory", "1M"),
            "predict": (store, "--data", table, "--out", f"p{rows}.csv"),
        }
        for name, arguments in commands.items():
            found.setdefault(name, []).append(peak(name, *arguments, before=planted.get(name, "")))
    return {name: (large - small) / (many - few) for name, (small, large) in found.items()}


@pytest.mark.parametrize("limit", [("--memory", "1M"), ()])
def test_peak_memory_grows_by_a_few_bytes_a_row(
    limit: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a limit `quickstart` keeps the texts of the file."""
    monkeypatch.chdir(tmp_path)
    found = growth(100_000, 300_000, *limit)  # both are read by Arrow
    over = {name for name, bytes_a_row in found.items() if bytes_a_row > A_ROW[name]}
    assert over == (set() if limit else {"quickstart"}), found


def test_rows_written_out_take_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = growth(4_000, 16_000, before=EXPANDING)
    assert all(found[name] > 5 * A_ROW[name] for name in EXPANDING), found

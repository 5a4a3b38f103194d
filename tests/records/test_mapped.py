"""Tables mapped from a file: not copied, never held whole beyond the limit that the machine's memory sets, erased in their file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from noisygd_delete import EditRequest, Records
from noisygd_delete.engine import kernel
from noisygd_delete.errors import InvalidRecords

ROOT = Path(__file__).parents[2]


def mapped(path: Path, rows: int, features: int, mode: str = "r+") -> np.memmap:
    path.touch()
    os.truncate(path, 4 * rows * features)
    return np.memmap(path, np.float32, mode=mode, shape=(rows, features))


@pytest.mark.parametrize("mode", ["r", "r+", "w+"])
def test_a_mapped_table_is_a_view_and_edits_reach_its_file(tmp_path: Path, mode: str) -> None:
    rows = mapped(tmp_path / "rows", 4, 2, "r+")
    rows[:] = 0.5
    rows = np.memmap(tmp_path / "rows", np.float32, mode=mode, shape=(4, 2))
    table = Records(rows, np.ones(4))
    assert np.shares_memory(table.features, rows)
    if mode == "r":
        with pytest.raises(InvalidRecords, match='mode="r\\+"'):
            table.edit(EditRequest.delete([1]))
        assert len(table) == 4
    else:
        table.edit(EditRequest.delete([1]))
        on_disk = np.fromfile(tmp_path / "rows", np.float32).reshape(4, 2)
        assert not on_disk[1].any()
        assert on_disk[0].all() == (mode == "r+")


def test_what_a_view_would_not_keep_is_copied(tmp_path: Path) -> None:
    """Another type of number, a map that loses its changes, and a table with more slots than the file has rows."""
    doubles = np.memmap(tmp_path / "doubles", np.float64, mode="w+", shape=(4, 2))
    mapped(tmp_path / "rows", 4, 2)
    private = np.memmap(tmp_path / "rows", np.float32, mode="c", shape=(4, 2))
    for rows, slots in ((doubles, 4), (private, 4), (mapped(tmp_path / "rows", 4, 2), 6)):
        assert not np.shares_memory(Records(rows, np.ones(4), slots=slots).features, rows)


def test_bad_values_in_a_map_are_refused(tmp_path: Path) -> None:
    rows = mapped(tmp_path / "rows", 5000, 2)
    rows[4999, 1] = np.nan
    with pytest.raises(InvalidRecords, match="NaN"):
        Records(rows, np.ones(5000))
    rows[4999, 1] = 1e-38  # a copy would hold 0 in its place
    with pytest.raises(InvalidRecords, match="write 0 in their place"):
        Records(rows, np.ones(5000))


def test_the_limit_is_a_quarter_of_the_machine_s_memory_unless_told_otherwise(tmp_path: Path, monkeypatch) -> None:
    """At its default, on a machine that says it has 64 MiB: never more than 16 MiB are held, by the table's check or by a
    reading of it; and a table that fits is kept."""
    assert kernel.LIMIT is None
    pages = (64 << 20) // os.sysconf("SC_PAGE_SIZE")
    real = os.sysconf
    monkeypatch.setattr(os, "sysconf", lambda name: pages if name == "SC_PHYS_PAGES" else real(name))
    kernel.quarter_of_memory.cache_clear()
    try:
        for megabytes, kept in ((15, True), (40, False)):
            rows = mapped(tmp_path / f"{megabytes}", megabytes << 10, 256)
            released: list[int] = []
            monkeypatch.setattr(kernel, "release_memory", lambda pages, released=released: released.append(1))
            table = Records(rows, np.zeros(len(rows)))
            read = sum(part.stop - part.start for part in kernel.row_windows(table.features, 0, len(rows), 1 << 13))
            assert read == len(rows)
            assert bool(released) != kept
            if not kept:
                assert len(released) >= 40 // 16
    finally:
        kernel.quarter_of_memory.cache_clear()


PROGRAM = """
import sys
from pathlib import Path
import numpy as np
from noisygd_delete import Records, losses
from noisygd_delete.engine import check_records
from noisygd_delete.engine.objective import PreciseObjective

def peak():
    return next(int(line.split()[1]) << 10 for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)

n, d = int(sys.argv[2]), 256
before = peak()
table = Records(np.memmap(sys.argv[1], np.float32, mode="r", shape=(n, d)), np.ones(n))
check_records(table, losses.Logistic(1.0))
PreciseObjective(table, losses.Logistic(1.0), regularization=0.1).gradient(np.zeros((1, d)))
print(peak() - before)
"""


@pytest.mark.long
def test_a_table_larger_than_the_limit_is_read_within_it(tmp_path: Path) -> None:
    """The machine's own quarter: a file without blocks, larger than that by a third, is checked and read."""
    limit = kernel.quarter_of_memory()
    rows = limit * 4 // 3 // 1024
    (tmp_path / "rows").touch()
    os.truncate(tmp_path / "rows", rows * 1024)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "rows"), str(rows)], cwd=ROOT, capture_output=True, text=True, check=True
    )  # fmt: skip
    assert int(done.stdout) < limit + 64 * rows + (64 << 20)  # and labels, ids and their checks

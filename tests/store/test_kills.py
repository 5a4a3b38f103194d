"""SIGKILL at instants that nobody chose, inside SQLite's own writes as well; and several processes at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from noisygd_delete.store import Store, status, verify

from .conftest import found, name, traces

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {
    **os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"
}  # fmt: skip


@pytest.mark.skipif(os.name == "nt", reason="fork and SIGKILL")
@pytest.mark.parametrize("kills", [20, pytest.param(500, marks=pytest.mark.long)])
def test_killed_at_random_nothing_is_lost_twice_or_left(tmp_path: Path, kills: int) -> None:
    command = [sys.executable, "-m", "tests.store.kill_worker", str(tmp_path), str(kills), "7"]
    done = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    assert {key: counts[key] for key in ("lost", "twice", "left", "unsound")} == dict.fromkeys(
        ("lost", "twice", "left", "unsound"), 0
    )
    assert counts["before"] + counts["in flight"] + counts["after"] == kills
    assert counts["in flight"] > 0, "the kills must fall inside the transaction"


def test_several_processes_at_once_are_served_one_after_another(path: Path) -> None:
    def start(*arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "noisygd_delete", *arguments, "--json"]
        return subprocess.Popen(
            command, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    writers = [start("delete", str(path), name(k), "--wait", "120") for k in range(4)]
    readers = [start("status", str(path)) for _ in range(2)]
    answers = [json.loads(writer.communicate(timeout=120)[0]) for writer in writers]
    seen = [json.loads(reader.communicate(timeout=120)[0]) for reader in readers]
    assert {process.returncode for process in writers + readers} == {0}
    assert sorted(answer["release"] for answer in answers) == [2, 3, 4, 5]
    assert all(1 <= state["releases"] <= 5 for state in seen)
    assert status(path)["records"] == 5
    assert found(path, [trace for k in range(4) for trace in traces(k)]) == []
    assert verify(path).passed
    with Store.open(path) as store:
        assert [event.edits for event in store.accountant.events] == [0, 1, 1, 1, 1]

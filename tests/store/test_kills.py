"""Faults below the store's own file layer: system calls that fail or kill, random kills, crowds. See `fault_table`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from noisygd_delete.errors import StoreLocked
from noisygd_delete.store import Store

from .conftest import memory_folder
from .fault_table import BAD, BELOW, OTHERS, ROOT, THREADS, counts, library, table
from .fault_worker import STRUCK

ENVIRONMENT = {**os.environ, **THREADS, "PYTHONPATH": str(ROOT)}
pytestmark = pytest.mark.skipif(os.name == "nt", reason="fork and SIGKILL")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with memory_folder() as made:
        yield made


def in_order(counted: dict[str, int]) -> bool:
    return not any(counted[kind] for kind in BAD)


@pytest.mark.parametrize("stride", [70, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("fault", STRUCK)
def test_a_struck_system_call_leaves_before_or_after(folder: Path, fault: str, stride: int, record_property) -> None:
    preload = library(folder)
    if preload is None:
        pytest.skip("no C compiler here")
    counted = counts(folder, preload, trial=fault, stride=stride)
    record_property("evidence", f"{counted['tried']} of {counted['calls']} system calls, each once: {counted}")
    assert counted["calls"] > 400
    assert counted["tried"] >= counted["calls"] // stride - len(STRUCK)
    assert in_order(counted), counted


@pytest.mark.parametrize("full", [False, pytest.param(True, marks=pytest.mark.long)])
@pytest.mark.parametrize("trial", OTHERS)
def test_nothing_is_lost_twice_or_left(folder: Path, trial: str, full: bool, record_property) -> None:
    text, often, few = OTHERS[trial]
    preload = library(folder) if trial in BELOW else None
    if trial in BELOW and preload is None:
        pytest.skip("no C compiler here")
    counted = counts(folder, preload, trial=trial, count=often if full else few)
    record_property("evidence", f"{text}: {counted}")
    assert in_order(counted), counted
    assert counted["tried"] >= (often if full else few)
    if trial in ("random kills", "sums", "sums elsewhere") and (full or trial != "sums elsewhere"):
        assert counted["inside"] > 0, "the kills must fall inside the transaction"
    if trial == "bits":
        assert counted["named"] > counted["tried"] / 4


@pytest.mark.parametrize(
    ("broken", "seen"), [("no journal", "in part"), ("no sweep", "uncharged"), ("no charge", "unsound")]
)
def test_a_store_without_one_of_its_parts_is_caught(folder: Path, broken: str, seen: str) -> None:
    preload = library(folder)
    if preload is None:
        pytest.skip("no C compiler here")
    counted = counts(folder, preload, trial="kill -9 before a system call", stride=8, planted=broken, only=["delete"])
    assert counted[seen] > 0
    assert not in_order(counted)


def test_a_journal_of_sums_that_is_merely_replaced_is_caught(folder: Path) -> None:
    preload = library(folder)
    if preload is None:
        pytest.skip("no C compiler here")
    assert counts(folder, preload, trial="sums", count=6, planted="journal replaced")["below"] > 0


def test_the_committed_table_has_zeros_where_it_must() -> None:
    text = (ROOT / "benchmarks" / "results" / "faults.md").read_text()
    assert text.startswith(table([])[:200])
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    named = {row[0]: [int(cell) for cell in row[1:]] for row in cells[2:]}
    assert set(named) == {*STRUCK, *(row for row, _, _ in OTHERS.values()), "**all**"}
    assert all(row[0] > 0 and not any(row[1:]) for row in named.values())
    assert named[OTHERS["random kills"][0]][0] >= 500


def test_the_lock_of_a_dead_process_is_nobodys(path: Path) -> None:
    """The holder is killed while it holds the lock; the next opens at once, without --wait."""
    code = "import sys, time\nfrom noisygd_delete.store import Store\nStore.open(sys.argv[1])\nprint('held', flush=True)\ntime.sleep(60)"
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(StoreLocked):
        Store.open(path)
    holder.kill()
    holder.communicate()
    Store.open(path).close()

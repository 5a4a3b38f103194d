"""The driver killed while a pass of a release is under way: the next command ends what was accepted, by the same law, and no paper says
before that anybody was forgotten."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from noisygd_delete_sources import source_at

from noisygd_delete import Curator
from noisygd_delete.evidence import erasure_certificate
from noisygd_delete.evidence.erasure import erasure_in
from noisygd_delete.store import Store, verify
from noisygd_delete.store.layout import Layout
from noisygd_delete.store.ledger import Ledger
from noisygd_delete.store.position import position_covers
from tests.sources.rows import records_of

from .conftest import ROOT, SCHEMA, SLOTS, Start, name, plan, table
from .held_up import marked
from .test_engines import engine_folders, holding, psutil, pytestmark

__all__ = ["pytestmark"]

GONE = name(17)


def in_delta(folder: Path) -> Path:
    pytest.importorskip("deltalake").write_deltalake(str(folder), table())
    return folder


@pytest.fixture(scope="session")
def must_end() -> Iterator[list[Any]]:
    """Processes that end by themselves, looked after when all tests are done: workers of Ray take a minute."""
    started: list[Any] = []
    yield started
    _, left = psutil.wait_procs(started, timeout=120)
    assert not left, "workers go with their driver"


def killed_in_a_pass(store: Path, mark: Path) -> list[Any]:
    """`delete` in a process of its own, which is killed while a worker computes; the processes that it had started."""
    asked = [sys.executable, "-m", "tests.engines.driver", str(mark), "delete", str(store), GONE, "--request-id", "r"]
    with subprocess.Popen(asked, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as driver:
        worker = marked(mark)
        started = psutil.Process(driver.pid).children(recursive=True)
        assert worker in [each.pid for each in started]
        driver.kill()
    return started


def paper_of(ledger: Ledger) -> dict[str, Any]:
    erasure, made, events = erasure_in(ledger, request_id="r")
    return erasure_certificate(erasure, plan=made, events=events)


@pytest.mark.parametrize("engine", ["ray", "spark"])
def test_a_driver_killed_in_a_pass_leaves_a_request_that_the_next_command_ends(
    engine: str, short_folder: Path, start: Start, must_end: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    start(engine)
    monkeypatch.setenv("MASTER", "local[2,8]")
    folder, store = in_delta(short_folder / "lake"), short_folder / "store"
    source = source_at(str(folder), engine=engine, id="id")
    with Store.create_over(store, source, SCHEMA, plan()) as made:
        made.learn()
    others = set(engine_folders())
    must_end += killed_in_a_pass(store, short_folder / "mark")
    ledger = Ledger.read(Layout.at(store).ledger)
    assert ledger.releases == 1, "nothing was published"
    assert source.held([GONE], []) == 0, "the deletion is committed"
    waiting = paper_of(ledger)
    assert waiting["action"]["status"] != "published"
    assert waiting["action"]["release"] is None, "no paper says that a model without the record is out"
    left = sorted(set(engine_folders()) - others)
    memory, _ = records_of(source, SCHEMA, SLOTS)
    rows = [row.tobytes() for row in memory.features[:2000:97]]
    assert holding([*left, store], [GONE.encode(), name(18).encode(), *rows]) == []

    with Store.open(store) as again:
        assert (again.ledger.releases, again.pending_edits) == (2, 0)
        noted = again.ledger.position("r")
        covering = again.ledger.find_covering_release(noted)
        assert position_covers(again.ledger.entry(covering).position, again.ledger.entry(noted).position)
        made = paper_of(again.ledger)["action"]
        assert (made["release"], made["status"]) == (2, "published")
        ours = again.accountant.last
    undisturbed = Curator(memory, plan())
    undisturbed.learn()
    theirs = undisturbed.accountant.last
    same_law = replace(theirs.mechanism, in_place=False)  # workers' rows come in any order, which is charged
    assert (ours.mechanism, ours.fresh) == (same_law, theirs.fresh), "the law of a release that nothing disturbed"
    assert ours.counts.deleted == 1
    assert verify(store).passed

"""Death at every write point, of every operation: before or after, never between; and nothing of the erased row left."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

from noisygd_delete import EditRequest
from noisygd_delete.errors import StoreCorrupt, StoreError
from noisygd_delete.store import Store, verify
from noisygd_delete.store.disk import Disk

from .conftest import (
    SCHEMA,
    Crash,
    CrashAt,
    changes,
    crashed,
    deaths,
    found,
    made,
    name,
    plan,
    records,
    traces,
)
from .operations import OPERATIONS, Operation, check_deaths, serve

ROOT = Path(__file__).parents[2]


delete = serve(EditRequest.delete([name(3)], request_id="r"))


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
def test_a_crash_at_any_point_leaves_before_or_after(path: Path, operation: Operation) -> None:
    assert check_deaths(path, operation) > 15


def test_the_crash_test_sees_a_journal_that_is_overwritten_in_place(path, monkeypatch) -> None:
    """The planted fault: clearing the journal by zeros first, removal second, leaves half a request to a crash."""
    monkeypatch.setattr(Disk, "discard", Disk.erase)
    with pytest.raises(StoreCorrupt):
        check_deaths(path, OPERATIONS[0])


def test_a_half_made_candidate_is_never_reused(path: Path) -> None:
    """The model written just before the crash is not the one published after it: fresh noise."""
    assert crashed(path, delete, changes(path, delete).index(("commit", "ledger.sqlite")))
    candidate = (path / "model-2.safetensors").read_bytes()
    with Store.open(path) as store:
        assert store.recovered_release is not None
        assert store.recovered_release.release == 2
    assert (path / "model-2.safetensors").read_bytes() != candidate


def test_a_crash_while_withholding_still_erases(tmp_path: Path) -> None:
    path = made(tmp_path / "store", releases=2)
    with Store.open(path) as store:
        store.serve(EditRequest.delete([name(0)]))
    for copy, _ in deaths(path, delete):
        with Store.open(copy) as store:
            delete(store)
            assert (store.ledger.head.kind, store.ledger.releases, store.pending_edits) == ("withheld", 2, 1)
        assert found(copy, traces(3)) == []
        assert list(copy.glob("model-*")) == []


def test_a_crash_while_creating_is_cleared_by_creating_again(tmp_path: Path) -> None:
    disk = CrashAt()
    Store.create(tmp_path / "whole", records(), SCHEMA, plan(), disk=disk).close()
    for at in range(0, len(disk.points), 2):
        path = tmp_path / f"store-{at}"
        with pytest.raises(Crash):
            Store.create(path, records(), SCHEMA, plan(), disk=CrashAt(at))
        if path.exists():
            with pytest.raises(StoreError, match="init"):
                Store.open(path)
        Store.create(path, records(), SCHEMA, plan()).close()
        assert verify(path).faults == ()


USERS = (
    "notes.tmp",
    "model-7.safetensors",
    "plan.json",
    "ledger.sqlite-journal",
    "records/features.f32",
    "lock",
    "x.csv",
)


@pytest.mark.parametrize("file", USERS)
def test_a_folder_with_somebodys_own_files_is_left_alone(tmp_path: Path, file: str) -> None:
    """Whatever they are called: only a new or an empty folder becomes a store."""
    path, kept = tmp_path / "mine", tmp_path / "mine" / file
    kept.parent.mkdir(parents=True)
    kept.write_text("years of work")
    with pytest.raises(StoreError, match="new or an empty folder"):
        Store.create(path, records(), SCHEMA, plan())
    assert [entry for entry in path.rglob("*") if entry.is_file()] == [kept]
    assert kept.read_text() == "years of work"


@pytest.mark.parametrize("file", ["notes.tmp", "model-7.safetensors", "x.csv"])
def test_files_that_came_into_a_half_made_store_are_left_alone(tmp_path: Path, file: str) -> None:
    path = tmp_path / "store"
    with pytest.raises(Crash):
        Store.create(path, records(), SCHEMA, plan(), disk=CrashAt(20))
    (path / file).write_text("years of work")
    with pytest.raises(StoreError, match="move it away"):
        Store.create(path, records(), SCHEMA, plan())
    assert (path / file).read_text() == "years of work"
    (path / file).unlink()
    Store.create(path, records(), SCHEMA, plan()).close()


def test_somebody_s_file_in_a_store_is_named_and_not_erased(path: Path) -> None:
    """Only half-written files of the store's own are cleared away."""
    (path / "notes.tmp").write_text("years of work")
    (path / "plan.json.tmp").write_text("half")
    assert any("notes.tmp: does not belong" in fault for fault in verify(path).faults)
    assert not any("plan.json.tmp: does not belong" in fault for fault in verify(path).faults)
    Store.open(path).close()
    assert (path / "notes.tmp").read_text() == "years of work"
    assert not (path / "plan.json.tmp").exists()


class Failing(Disk):
    """The k-th raw call of one kind fails, once; writes are cut short throughout."""

    def __init__(self, kind: str, at: int) -> None:
        self.kind, self.left = kind, at

    def _count(self, kind: str) -> None:
        if kind == self.kind:
            self.left -= 1
            if self.left == -1:
                raise OSError(errno.ENOSPC if kind == "write" else errno.EIO, "planted")

    def write(self, descriptor: int, data: memoryview) -> int:
        self._count("write")
        return super().write(descriptor, data[: max(1, len(data) // 2)])

    def fsync(self, descriptor: int) -> None:
        self._count("fsync")
        super().fsync(descriptor)

    def rename(self, source: Path, target: Path) -> None:
        self._count("rename")
        super().rename(source, target)


def failure(store: Store) -> str | None:
    """What the store said when the deletion failed."""
    try:
        delete(store)
    except StoreError as error:
        return str(error)
    return None


@pytest.mark.parametrize("kind", ["write", "fsync", "rename"])
def test_a_failing_disk_is_one_error_and_the_same_object_goes_on(path: Path, tmp_path: Path, kind: str) -> None:
    failures = 0
    for at in range(0, 200, 1 if kind == "rename" else 9):
        copy = tmp_path / "copy"
        shutil.copytree(path, copy)
        with Store.open(copy, disk=Failing(kind, at)) as store:
            message = failure(store)
            if message is not None:
                assert "nothing was changed" in message or "next command" in message
                delete(store)  # the same request again, on the same object, once there is space
            assert store.ledger.releases == 2
        assert found(copy, traces(3)) == []
        assert verify(copy).faults == ()
        shutil.rmtree(copy)
        if message is None:
            break
        failures += 1
    assert failures >= 2

"""Nothing that held a request id, a record's id or a row is unlinked, or replaced, before it is zeros: looked for at the system's own
calls, so that a `Disk` that forgets to overwrite is caught too."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from noisygd_delete_compliance.case import RegisterPolicy
from noisygd_delete_compliance.register import Register

from noisygd_delete import EditRequest
from noisygd_delete.store import Store
from noisygd_delete.store.disk import Disk, is_blank
from noisygd_delete.store.layout import Layout

from .conftest import made, name, row

SOMEBODY = (b"identifier-token", b"subject-token", b"request-of-somebody", *(row(k).tobytes() for k in range(9)))


def forgets(path: Path) -> None:
    with Store.open(path) as store:
        store.request_log.forget(["request-of-somebody-1"])


def adopts(path: Path) -> None:
    with Store.open(path) as store:
        Register(store.request_log).adopt(RegisterPolicy(controller="C"))


def deletes(path: Path) -> None:
    with Store.open(path) as store:
        store.serve(EditRequest.delete([name(3)], request_id="request-of-somebody-2"))
        store.serve(EditRequest.insert([name(3)], [row(3)], [1.0], subjects=["p"], request_id="request-of-somebody-3"))


WORK: dict[str, Callable[[Path], None]] = {
    "a request id is forgotten": forgets,
    "the policy is stated": adopts,
    "records go and come": deletes,
}


def unlinked(path: Path, work: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of files that somebody's bytes were in when they lost their last name."""
    found = []

    def looked_at(file: object) -> None:
        place = Path(os.fsdecode(file))
        if place.is_file() and path in place.parents and place.stat().st_nlink == 1:
            content = place.read_bytes()
            found.extend(place.name for trace in SOMEBODY if trace in content)

    with monkeypatch.context() as patch:
        unlink, replace = os.unlink, os.replace
        patch.setattr(os, "unlink", lambda file, **more: (looked_at(file), unlink(file, **more))[1])
        patch.setattr(os, "replace", lambda one, other, **more: (looked_at(other), replace(one, other, **more))[1])
        work(path)
    return found


@pytest.fixture
def served(tmp_path: Path) -> Path:
    with Store.open(made(tmp_path / "store")) as store:
        store.serve(EditRequest.delete([name(0)], request_id="request-of-somebody-1"))
    return tmp_path / "store"


@pytest.mark.parametrize("work", WORK)
def test_no_file_loses_its_name_with_somebody_in_it(served: Path, monkeypatch, work: str) -> None:
    assert unlinked(served, WORK[work], monkeypatch) == []
    assert all(map(is_blank, Layout(served).leftovers()))


def test_a_disk_that_only_removes_is_caught(served: Path, monkeypatch) -> None:
    monkeypatch.setattr(Disk, "erase", lambda self, file, **_: file.unlink(missing_ok=True))
    assert "register.sqlite.old" in unlinked(served, forgets, monkeypatch)
    assert "request.json.tmp" in unlinked(served, deletes, monkeypatch)

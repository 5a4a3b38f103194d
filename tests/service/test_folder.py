"""Requests as files in a folder: each asked once, however often the file is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from noisygd_delete_server.folder import FolderIntake

from noisygd_delete.errors import InvalidParameter, StoreError
from noisygd_delete.store import status
from noisygd_delete.store.disk import Disk
from tests.store.conftest import found

from .conftest import Opened, killed_at_every_change, name, person


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "incoming"
    made.mkdir()
    return made


def lines(*asked: object) -> str:
    return "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in asked)


def test_each_line_is_kept_or_refused_and_the_file_is_gone(store: Path, folder: Path, opened: Opened) -> None:
    desk = opened(store, batch=1)
    (folder / "may.jsonl").write_text(
        lines(
            {"request_id": "one", "delete": [name(1)]},
            "{",
            "",
            {"delete": [name(2)]},
            {"request_id": "two", "subjects": [person(10)]},
        )
    )
    (folder / "half.part").write_text("not yet")
    FolderIntake(desk.service, folder).process_files()
    answers = [json.loads(line) for line in (folder / "may.jsonl.answers").read_text().splitlines()]
    assert [(one["line"], one.get("state", "error")) for one in answers] == [
        (1, "accepted"),
        (2, "error"),
        (4, "error"),
        (5, "accepted"),
    ]
    assert {path.name for path in folder.iterdir()} == {"may.jsonl.answers", "half.part"}
    assert found(folder, [name(1).encode(), person(10).encode()]) == []
    desk.turn()
    assert [desk.state(token) for token in ("one", "two")] == ["published"] * 2


def test_killed_at_every_change_of_the_disk_each_is_asked_once(store: Path, folder: Path, opened: Opened) -> None:
    desk = opened(store, batch=1)
    (folder / "may.jsonl").write_text(lines(*({"request_id": f"t{k}", "delete": [name(k)]} for k in range(3))))
    assert killed_at_every_change(lambda disk: FolderIntake(desk.service, folder, disk).process_files()) > 3
    FolderIntake(desk.service, folder).process_files()
    assert found(folder, [name(k).encode() for k in range(3)]) == []
    assert not list(folder.glob("*.taken"))
    desk.turn()
    assert desk.service.accepted == 3
    assert status(store)["records"] == 57


def test_a_full_disk_leaves_the_file_for_later(
    store: Path, folder: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = opened(store, batch=1)
    (folder / "may.jsonl").write_text(lines({"request_id": "one", "delete": [name(1)]}))
    with monkeypatch.context() as patched:
        patched.setattr(Disk, "write", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        with pytest.raises(StoreError):
            FolderIntake(desk.service, folder).process_files()
    assert (folder / "may.jsonl").exists()
    FolderIntake(desk.service, folder).process_files()
    assert desk.service.accepted == 1


def test_no_folder_or_one_inside_a_store_is_refused(store: Path, folder: Path, opened: Opened) -> None:
    desk = opened(store)
    for wrong in (folder / "absent", store):
        with pytest.raises(InvalidParameter, match="--folder"):
            FolderIntake(desk.service, wrong)

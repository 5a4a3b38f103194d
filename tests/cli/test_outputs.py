"""Where a command may write: never into a store, over a key or an input, or through a link; whole, and for the owner only."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from noisygd_delete.cli import main
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.evidence.atomic_write import check_output

CERTIFICATE = ["certificate", "store", "--request-id", "first"]
posix = pytest.mark.skipif(sys.platform == "win32", reason="links and modes of POSIX systems")


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


WRITERS = {
    "predict": ["predict", "store", "--data", "people.csv", "--out"],
    "report": ["report", "store", "--out"],
    "certificate": [*CERTIFICATE, "--out"],
    "page": [*CERTIFICATE, "--html"],
    "draft": ["init", "--data", "people.csv", "--label", "y", "--draft-schema"],
    "keygen": ["keygen"],
    "list key": ["keygen", "--tombstones", "list"],
    "list": ["keygen", "key", "--tombstones"],
}


@posix
@pytest.mark.parametrize("writer", WRITERS)
def test_no_command_writes_into_a_store_or_through_a_link(folder: Path, complaint, writer: str) -> None:
    (folder / "way").symlink_to(folder / "store")
    (folder / "link").symlink_to("people.csv")
    (folder / "dangling").symlink_to("elsewhere")
    (folder / "folder").mkdir()
    before = snapshot(folder)
    for target in (
        "store/ledger.sqlite",
        "store/new",
        "store/records/new",
        "folder/../store/new",
        "way/new",
        "way/records/../new",
        str(folder / "store" / "plan.json"),
        "link",
        "dangling",
        "people.csv",
        "schema.toml",
        "folder",
        "no/such/folder",
        "x" * 300,
        "/dev/full",
    ):
        complaint(*WRITERS[writer], target)
        assert snapshot(folder) == before, target


@posix
def test_an_output_is_for_its_owner_only_and_takes_an_earlier_ones_place(folder: Path, complaint, capsys) -> None:
    before = os.umask(0)
    try:
        for number, (writer, suffix) in enumerate((("predict", "csv"), ("report", "html"), ("certificate", "json"))):
            target = folder / f"out-{number}.{suffix}"
            for _ in range(2):
                assert main([*WRITERS[writer], str(target)]) == 0
                assert stat.S_IMODE(target.stat().st_mode) == 0o600
            target.chmod(0o644)
            assert main([*WRITERS[writer], str(target)]) == 0
            assert stat.S_IMODE(target.stat().st_mode) == 0o600
            (folder / "own.csv").write_text("id,notes\n")
            complaint(*WRITERS[writer], "own.csv")
            assert (folder / "own.csv").read_text() == "id,notes\n"
    finally:
        os.umask(before)
    assert not [path for path in folder.iterdir() if path.name.startswith(".noisygd")]


def test_a_key_an_input_or_a_twin_is_never_written_over(folder: Path, complaint, capsys) -> None:
    assert main(["keygen", "key.pem"]) == 0
    assert main([*CERTIFICATE, "--key", "key.pem", "--out", "paper.json"]) == 0
    (folder / "audit.json").write_text(json.dumps({"rows": []}))
    os.link("key.pem", "other-name.pem")
    before = snapshot(folder)
    for more in (
        ["--out", "key.pem"],
        ["--html", "./key.pem"],
        ["--out", "other-name.pem"],
        ["--out", "key.pem.pub"],
        ["--out", "new", "--html", "new"],
        ["--out", "new", "--html", "../" + folder.name + "/new"],
        ["--audit", "audit.json", "--out", "audit.json"],
        ["--out", "paper.json", "--html", "paper.json"],
    ):
        complaint(*CERTIFICATE, "--key", "key.pem", *more)
        assert snapshot(folder) == before, more
    complaint("report", "store", "--audit", "audit.json", "--out", "audit.json")
    complaint("report", "store", "--out", "paper.json")
    complaint("predict", "store", "--data", "people.csv", "--out", "people.csv")
    complaint("keygen", "key", "--tombstones", "key")
    assert snapshot(folder) == before


def test_a_failed_write_leaves_what_was_there_and_no_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "page").write_text("begin old")
    place = check_output("--out", str(tmp_path / "page"), begins=b"begin")
    fresh = check_output("--out", str(tmp_path / "fresh"))
    monkeypatch.setattr(os, "fsync", lambda descriptor: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    for target in (place, fresh):
        with pytest.raises(InvalidParameter, match="No space left"):
            target.write("begin new")
    monkeypatch.undo()
    assert snapshot(tmp_path) == {str(tmp_path / "page"): b"begin old"}
    (tmp_path / "fresh").write_text("somebody was quicker")
    with pytest.raises(InvalidParameter, match="cannot write"):
        fresh.write("begin new")
    assert (tmp_path / "fresh").read_text() == "somebody was quicker"
    assert len(snapshot(tmp_path)) == 2


def test_keygen_makes_both_halves_or_none(folder: Path, complaint, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "key.pem.pub").write_text("taken")
    complaint("keygen", "key.pem")
    assert not (folder / "key.pem").exists()
    (folder / "list").write_text("taken")
    complaint("keygen", "key", "--tombstones", "list")
    assert not (folder / "key").exists()
    long = "x" * 253  # a name, but not with .pub after it
    complaint("keygen", long)
    assert not (folder / long).exists()


def test_a_key_may_lie_anywhere_but_in_a_store(folder: Path, complaint, capsys) -> None:
    assert main(["keygen", "key.pem"]) == main(["keygen", "list.key", "--tombstones", "list"]) == 0
    (folder / "way").symlink_to("store")
    for name in ("key.pem", "list.key", "list"):
        (folder / "store" / "journal" / name).write_bytes((folder / name).read_bytes())
    for place in ("store/journal", "way/journal", "store/../store/journal"):
        assert "inside the store" in complaint(*CERTIFICATE, "--key", f"{place}/key.pem")
        for pair in ((f"{place}/list", "list.key"), ("list", f"{place}/list.key")):
            told = complaint("delete", "store", "identifier-002", "--tombstones", pair[0], "--tombstone-key", pair[1])
            assert "inside the store" in told


@posix
def test_a_list_is_not_kept_through_a_link(folder: Path, complaint) -> None:
    assert main(["keygen", "list.key", "--tombstones", "list"]) == 0
    (folder / "link").symlink_to("list")
    told = complaint("delete", "store", "identifier-002", "--tombstones", "link", "--tombstone-key", "list.key")
    assert "is a link" in told

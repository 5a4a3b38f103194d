"""File operations: what is written is synced before it has its name, every change of a name is synced, and old content is overwritten."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from noisygd_delete.store.disk import FORMER, TEMPORARY, Disk, is_blank

NAMES = ("rename", "remove", "link")


class Noted(Disk):
    """Notes every change in order."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Path]] = []

    def reached(self, what: str, path: Path) -> None:
        self.told.append((what, path))


def beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def exchanged(disk: Disk, path: Path) -> None:
    disk.create(beside(path, TEMPORARY), b"new")
    disk.exchange(path)


# operation, content afterwards (None: no file), whether the old content is overwritten
OPERATIONS: dict[str, tuple[Callable[[Disk, Path], None], bytes | None, bool]] = {
    "replace": (lambda disk, path: disk.replace(path, b"new"), b"new", False),
    "replace in pieces": (lambda disk, path: disk.replace(path, iter([b"n", b"ew"])), b"new", False),
    "place over": (lambda disk, path: disk.place(path, b"new", over=True), b"new", False),
    "overwrite": (lambda disk, path: disk.overwrite(path, [(0, b"O"), (2, b"D!")]), b"OlD! content", True),
    "extend": (lambda disk, path: disk.extend(path, 14), b"old! content\0\0", False),
    "exchange": (exchanged, b"new", True),
    "erase": (lambda disk, path: disk.erase(path), None, True),
    "blank": (lambda disk, path: disk.blank(path), bytes(12), True),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_power_failure_after_it_takes_nothing_back(name: str, tmp_path: Path) -> None:
    operation, after, overwritten = OPERATIONS[name]
    path, disk = tmp_path / "file", Noted()
    path.write_bytes(b"old! content")
    with path.open("rb") as old:
        operation(disk, path)
        assert (old.read(12) != b"old! content") == overwritten
    assert (path.read_bytes() if path.exists() else None) == after
    assert [one.name for one in tmp_path.iterdir()] == ["file"] * (after is not None)
    for at, (what, changed) in enumerate(disk.told):
        later = disk.told[at + 1 :]
        if what in NAMES:
            assert ("sync", changed.parent) in later
        if what in ("write", "extend"):
            assert ("sync", changed) in later
        if what == "rename":  # the content is durable before it has the name
            assert any(kind == "sync" and before != changed.parent for kind, before in disk.told[:at])


def test_a_file_that_is_new_is_whole_or_absent_and_nobody_elses(tmp_path: Path) -> None:
    disk, path = Noted(), tmp_path / "file"
    disk.place(path, b"content")
    assert [what for what, _ in disk.told] == ["create", "write", "sync", "rename", "sync"]
    assert disk.told[-1] == ("sync", tmp_path)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"content", 0o600)
    for again in (lambda: disk.place(path, b"other"), lambda: disk.create(path, b"other")):
        with pytest.raises(FileExistsError):
            again()
        assert [one.name for one in tmp_path.iterdir()] == ["file"]
        assert path.read_bytes() == b"content"
    disk.told.clear()
    disk.discard(path)
    assert not list(tmp_path.iterdir())
    assert disk.told[:2] == [("rename", path), ("sync", tmp_path)]
    disk.erase(path)
    assert disk.told[-1][0] == "remove"  # the name is gone already: nothing of it need last


@pytest.mark.parametrize("stopped", range(8))
def test_an_exchange_that_was_stopped_is_ended_by_another(stopped: int, tmp_path: Path) -> None:
    class Stopped(Exception):
        pass

    class Stopping(Noted):
        def reached(self, what: str, path: Path) -> None:
            super().reached(what, path)
            if len(self.told) > stopped:
                raise Stopped

    path = tmp_path / "file"
    path.write_bytes(b"old! content")
    beside(path, TEMPORARY).write_bytes(b"new")
    with path.open("rb") as old:
        with pytest.raises(Stopped):
            Stopping().exchange(path)
        Disk().exchange(path)
        assert path.read_bytes() == b"new"
        assert old.read() == bytes(12)
    assert [one.name for one in tmp_path.iterdir()] == ["file"]
    os.link(path, beside(path, FORMER))
    Disk().exchange(path)  # there is nothing to exchange, or the new one was taken away: the file stays
    assert (path.read_bytes(), beside(path, FORMER).exists()) == (b"new", False)


@pytest.mark.parametrize("last", [b"", b"x"])
@pytest.mark.parametrize("hole", [0, 1, 2, 40])
def test_a_file_with_holes_is_blank_exactly_if_it_holds_zeros(hole: int, last: bytes, tmp_path: Path) -> None:
    page, path = 4096, tmp_path / "file"
    with path.open("wb") as file:
        file.write(bytes(page))
        file.seek((1 + hole) * page)
        file.write(bytes(20 * page) + last)
        file.truncate(1 << 20)
    assert is_blank(path) == (not last)
    assert is_blank(tmp_path / "absent")

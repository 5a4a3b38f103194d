"""File operations: what is written is synced before it has its name, every change of a name is synced, and old content is overwritten."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from noisygd_delete.errors import StoreCorrupt
from noisygd_delete.store.disk import FORMER, HALF, TEMPORARY, Disk, is_blank, is_odd, open_own, read_file
from noisygd_delete.store.layout import try_lock

NAMES = ("rename", "remove", "link")


class Noted(Disk):
    """Notes every change in order, and requires that each raw call was announced just before it, and writes one byte at a time."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Path]] = []
        self.calls: list[str] = []

    def reached(self, what: str, path: Path) -> None:
        self.told.append((what, path))

    def _call(self, what: str) -> None:
        assert self.told[-1][0] == what
        self.calls += [what] * (what != "rename")

    def write(self, descriptor: int, data: memoryview) -> int:
        self._call("write")
        return super().write(descriptor, data[:1])

    def fsync(self, descriptor: int) -> None:
        self._call("sync")
        super().fsync(descriptor)

    def rename(self, source: Path, target: Path) -> None:
        self._call("rename")
        super().rename(source, target)

    @property
    def kinds(self) -> list[str]:
        return [what for what, _ in self.told]

    def is_honest(self) -> bool:
        """Whether every write and every sync that was announced was made."""
        return [what for what in self.kinds if what in ("write", "sync")] == self.calls


def descriptors() -> int:
    """The number of open files of this process."""
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


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
    before = descriptors()
    with path.open("rb") as old:
        operation(disk, path)
        assert (old.read(12) != b"old! content") == overwritten
    assert (path.read_bytes() if path.exists() else None) == after
    assert [one.name for one in tmp_path.iterdir()] == ["file"] * (after is not None)
    assert (descriptors(), disk.is_honest()) == (before, True)
    for at, (what, changed) in enumerate(disk.told):
        later = disk.told[at + 1 :]
        if what in NAMES:
            assert ("sync", changed.parent) in later
        if what in ("write", "extend"):
            assert ("sync", changed) in later
        if what == "rename":  # the content is durable before it has the name
            assert any(kind == "sync" and before != changed.parent for kind, before in disk.told[:at])


def test_a_discarded_file_has_another_name_first_and_an_absent_one_is_erased(tmp_path: Path) -> None:
    disk, path = Noted(), tmp_path / "file"
    path.write_bytes(b"content")
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
    taken = path.stat().st_blocks
    Disk().blank(path)
    assert is_blank(path)
    assert (path.stat().st_size, path.stat().st_blocks) == (1 << 20, taken), "holes stay holes"


@pytest.mark.parametrize("over", [False, True])
@pytest.mark.parametrize("nameless", [False, True])
def test_a_file_placed_in_a_strangers_folder(over: bool, nameless: bool, tmp_path: Path, monkeypatch) -> None:
    """With nameless files and without; what another placing left is erased unless its owner still writes, and nothing else is."""
    if not nameless:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    left, held, odd = (tmp_path / (HALF + digit * 16) for digit in "abc")
    mine, path = tmp_path / f"{HALF}notes", tmp_path / "file"
    for file in (left, held, mine, *([path] if over else [])):
        file.write_bytes(b"earlier")
    os.mkfifo(odd)
    linked = tmp_path / (HALF + "d" * 16)
    os.link(mine, linked)  # complete, under another name
    before, disk = descriptors(), Noted()
    with (
        held.open("rb+") as owner,
        left.open("rb") as old,
        odd.open("rb+", 0),
    ):  # a pipe with two ends keeps nobody waiting
        try_lock(owner.fileno())
        disk.place(path, b"content", over=over)
        assert old.read() == bytes(7), "overwritten before it is removed"
        assert held.exists()
    assert (path.read_bytes(), path.stat().st_mode & 0o777, path.stat().st_nlink) == (b"content", 0o600, 1)
    assert mine.read_bytes() == b"earlier"
    assert sorted(tmp_path.iterdir()) == sorted([path, mine, held, odd])
    assert descriptors() == before
    assert disk.kinds[-11:] == ["create", *["write"] * 7, "sync", "rename", "sync"]
    assert disk.told[-1] == ("sync", tmp_path)
    if not over:
        with pytest.raises(FileExistsError):
            Disk().place(path, b"other")
        assert path.read_bytes() == b"content"
    with monkeypatch.context() as patch:
        patch.setattr(
            Noted, "rename" if over else "write", lambda *_: (_ for _ in ()).throw(OSError(errno.EIO, "planted"))
        )
        with pytest.raises(OSError, match="planted"):
            Noted().place(path if over else tmp_path / "new", b"other", over=over)
    assert path.read_bytes() == b"content"
    assert sorted(tmp_path.iterdir()) == sorted([path, mine, odd]), (
        "nothing half-written stays; the owner is gone by now"
    )
    assert descriptors() == before


@pytest.mark.parametrize("kind", ["write", "sync", "rename"])
def test_a_replacement_that_fails_leaves_the_old_content_alone(kind: str, tmp_path: Path) -> None:
    class Failing(Noted):
        def _call(self, what: str) -> None:
            if what == kind and self.kinds.count(what) == 1:
                raise OSError(errno.ENOSPC, "planted")

    path, before = tmp_path / "file", descriptors()
    path.write_bytes(b"old! content")
    beside(path, TEMPORARY).write_bytes(b"of an earlier crash")
    with pytest.raises(OSError, match="planted"):
        Failing().replace(path, b"new")
    assert path.read_bytes() == b"old! content"
    assert descriptors() == before
    beside(path, TEMPORARY).unlink(missing_ok=True)
    path.rename(tmp_path / "elsewhere")
    beside(path, TEMPORARY).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic"):
        Disk().replace(path, b"new")
    assert (tmp_path / "elsewhere").read_bytes() == b"old! content", "no link is followed"
    beside(path, TEMPORARY).unlink()
    (tmp_path / "elsewhere").rename(path)
    Disk().replace(path, b"new")
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("file", b"new")]


def test_a_folder_is_its_owners_and_synced(tmp_path: Path) -> None:
    disk, folder = Noted(), tmp_path / "folder"
    for _ in range(2):
        disk.make_folder(folder)
        assert folder.stat().st_mode & 0o777 == 0o700
        assert disk.told[-2:] == [("make folder", folder), ("sync", tmp_path)]
        folder.chmod(0o755)


def test_only_a_plain_file_is_read_and_no_more_of_it_than_it_may_have(tmp_path: Path) -> None:
    plain, folder, pipe, link = (tmp_path / name for name in ("plain", "folder", "pipe", "link"))
    plain.write_bytes(b"12345")
    folder.mkdir()
    os.mkfifo(pipe)
    link.symlink_to(plain)
    before = descriptors()
    assert read_file(plain, 5) == b"12345"
    with open_own(plain) as file:
        assert file.read() == b"12345"
    for path, most in ((plain, 4), (folder, 9), (pipe, 9), (link, 9), (tmp_path / "absent", 9)):
        with pytest.raises(StoreCorrupt):
            read_file(path, most)
    assert [path for path in (plain, folder, pipe, link, tmp_path / "absent") if is_odd(path)] == [pipe, link]
    assert descriptors() == before

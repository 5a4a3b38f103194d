"""Files that a command writes outside the store, killed or refused by the disk at any instant: nothing of anybody stays in a file
without a name of its own, and the same command, given again, completes."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from noisygd_delete_compliance.register import Register
from noisygd_delete_server.publishers import publish_to

from noisygd_delete.evidence.atomic_write import check_output
from noisygd_delete.store import Store
from noisygd_delete.store.disk import HALF, Disk
from tests.cli.planned import main
from tests.forks import exit_status

from .conftest import process

pytestmark = pytest.mark.skipif(os.name == "nt", reason="fork and pipes")
NAME = "identifier-005"
ASIDE = f"store {NAME} --to aside.bin --archive-key aside.key --no-publish"
COMMANDS = {
    "keygen": ["keygen", "key.pem"],
    "keygen of a list": ["keygen", "list.key", "--tombstones", "list"],
    "restrict": f"restrict {ASIDE} --request-id t".split(),
    "object": f"object {ASIDE}".split(),
    "predict": ["predict", "store", "--data", "people.csv", "--out", "out.csv"],
    "register": ["register", "list", "store", "--out", "register.csv"],
}


def strike(monkeypatch: pytest.MonkeyPatch, at: int, how: str) -> list[int]:
    seen = [0]
    write = Disk.write

    def reached(self: Disk, operation: str, path: Path) -> None:
        if "store" in path.parts:
            return
        seen[0] += 1
        if seen[0] - 1 == at and how == "kill":
            os._exit(9)

    def writes(self: Disk, descriptor: int, data: memoryview) -> int:
        if seen[0] - 1 == at and how == "full":
            if len(data) > 2:
                return write(self, descriptor, data[: len(data) // 2])
            raise OSError(28, "No space left on device")
        return write(self, descriptor, data)

    monkeypatch.setattr(Disk, "reached", reached)
    monkeypatch.setattr(Disk, "write", writes)
    return seen


def hidden(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("how", ["kill", "full"])
@pytest.mark.parametrize(
    ("command", "unnamed"),
    [*((command, True) for command in COMMANDS), *((command, False) for command in ("keygen", "restrict", "predict"))],
)
def test_the_same_command_given_again_completes(
    folder: Path, tmp_path_factory, monkeypatch, command: str, how: str, unnamed: bool
) -> None:
    aside = tmp_path_factory.mktemp("aside")
    shutil.copytree(folder, aside / "before")
    with monkeypatch.context() as patch:
        seen = strike(patch, -1, how)
        assert main(COMMANDS[command]) == 0
    changes = seen[0]
    assert changes >= 3
    for at in range(changes):
        again = aside / f"again-{at}"
        shutil.copytree(aside / "before", again)
        monkeypatch.chdir(again)
        with monkeypatch.context() as patch:
            if not unnamed:
                patch.delattr(os, "O_TMPFILE", raising=False)
            strike(patch, at, how)
            status = exit_status(partial(main, COMMANDS[command]))
        if unnamed or how == "full":
            assert not hidden(again), (at, status)
        whole = command.startswith("keygen") and {"key.pem.pub", "list"} & set(
            os.listdir()
        )  # a key is never made twice
        assert main(COMMANDS[command]) == (2 if whole else 0), (at, status)
        assert not hidden(again)
        if command in ("restrict", "object"):
            with Store.open("store") as store:
                assert NAME not in store.records
                assert len(Register(store.request_log).cases()) == 2, "one request of the fixture's, one of this"


def test_what_was_killed_while_a_name_was_taken_over_is_swept(tmp_path: Path, monkeypatch) -> None:
    """An earlier output is replaced through a name: killed at that instant, the next output in the folder removes it."""
    (tmp_path / "out.csv").write_text("record,old\n")
    with monkeypatch.context() as patch:
        patch.setattr(Disk, "rename", lambda *_: os._exit(9))
        output = partial(check_output, "--out", str(tmp_path / "out.csv"), begins=b"record,")
        assert exit_status(lambda: output().write("record,identifier-001\n")) == 9
    left = hidden(tmp_path)
    assert len(left) == 1
    assert left[0].stat().st_mode & 0o077 == 0
    (tmp_path / ".noisygd-delete-notes").write_text("somebody's own")
    check_output("--out", str(tmp_path / "other")).write("x")
    assert hidden(tmp_path) == [tmp_path / ".noisygd-delete-notes"]
    assert (tmp_path / "out.csv").read_text() == "record,old\n"


def test_a_file_that_is_being_written_is_not_swept(tmp_path: Path) -> None:
    from noisygd_delete.store.layout import try_lock

    (tmp_path / f"{HALF}{'a' * 16}").write_text("record,identifier-001")
    with (tmp_path / f"{HALF}{'a' * 16}").open("r+") as busy:
        assert try_lock(busy.fileno())
        check_output("--out", str(tmp_path / "other")).write("x")
        assert busy.read() == "record,identifier-001"
    check_output("--out", str(tmp_path / "third")).write("x")
    assert not hidden(tmp_path)


def test_a_key_without_its_public_half_gets_it(folder: Path, complaint, printed) -> None:
    (folder / "word").write_text("a long sentence")
    for more in ([], ["--passphrase-file", "word"]):
        assert main(["keygen", "key.pem", *more]) == 0
        whole = {name: (folder / name).read_bytes() for name in ("key.pem", "key.pem.pub")}
        (folder / "key.pem.pub").unlink()
        assert "only its public half was made" in printed("keygen", "key.pem", *more)
        assert whole == {name: (folder / name).read_bytes() for name in whole}
        assert "never overwritten" in complaint("keygen", "key.pem")
        for name in whole:
            (folder / name).unlink()
    (folder / "other.pem").write_text("-----BEGIN CERTIFICATE-----\n")
    assert "never overwritten" in complaint("keygen", "other.pem")


def test_help_whose_reader_has_left_says_nothing(folder: Path) -> None:
    for asked in ("--help", "init --help", "register --help"):
        done = process(f"set -o pipefail; PYTHONUNBUFFERED=1 noisygd-delete {asked} | true")
        assert (done.returncode, done.stderr) == (0, "")


@contextmanager
def within(seconds: int) -> Iterator[None]:
    def late(*_: object) -> None:
        raise SystemExit("late")

    before = signal.signal(signal.SIGALRM, late)
    limit = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *limit)  # that of the test


def test_a_pipe_in_the_place_of_any_file_of_a_store_is_named_at_once(folder: Path, complaint) -> None:
    with Store.open("store") as store:
        publish_to(store, f"folder:{folder / 'out'}")
    files = sorted(path.relative_to("store") for path in Path("store").rglob("*") if path.is_file())
    assert set(map(str, files)) >= {"lock", "ledger.sqlite", "seal.json", "records/ids.names", "publishers.json"}
    more = map(Path, ("journal/request.json", "ledger.sqlite-journal", "register.sqlite.old", "plan.json.tmp"))
    for file in [*files, *more]:
        there = (Path("store") / file).exists()
        if there:
            (Path("store") / file).rename("kept")
        os.mkfifo(Path("store") / file)
        with within(20):
            for command in (
                ["status", "store"],
                ["delete", "store", NAME],
                ["verify", "store"],
                ["predict", "store", "--data", "people.csv"],
            ):
                status = 2 if str(file) == "ledger.sqlite" else 5
                assert "store" in complaint(*command, status=status), file
        (Path("store") / file).unlink()
        if there:
            Path("kept").rename(Path("store") / file)
    assert main(["verify", "store"]) == 0


def test_a_pipe_in_a_strangers_folder_does_not_hang_init(folder: Path, complaint) -> None:
    for name in ("lock", "ledger.sqlite", "records"):
        own = folder / f"own-{name}"
        own.mkdir()
        os.mkfifo(own / name)
        with within(20):
            said = complaint(
                "init", str(own), "--data", "people.csv", "--schema", "schema.toml", "--method", "noisy-gd"
            )
        assert "holds files already" in said
        assert [path.name for path in own.iterdir()] == [name]

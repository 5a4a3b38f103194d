"""The command line where standard streams are closed, full or without Unicode, files never end, and nothing may be opened."""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
from pathlib import Path

import pytest

from noisygd_delete.cli import main
from noisygd_delete.store import status

from .conftest import one_paragraph, process

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="shell, devices and limits of POSIX systems")


def test_an_answer_that_cannot_leave_is_said_and_what_was_done_stands(folder: Path) -> None:
    done = process("noisygd-delete delete store identifier-002 >/dev/full")
    assert done.returncode == 2
    assert "what the command did remains done" in one_paragraph(done.stderr)
    assert status("store")["records"] == 18
    done = process("noisygd-delete delete store identifier-003 --json >&-")
    assert done.returncode == 2
    assert "standard output is closed" in one_paragraph(done.stderr)
    assert status("store")["records"] == 17


@pytest.mark.parametrize("arguments", ["--help", "--version", "plan --help"])
def test_help_that_cannot_be_written_is_no_success(arguments: str) -> None:
    done = process(f"noisygd-delete {arguments} >/dev/full")
    assert done.returncode == 2
    one_paragraph(done.stderr)


def test_without_standard_error_errors_are_silent_and_go_nowhere_else(folder: Path) -> None:
    done = process("noisygd-delete delete store identifier-002 2>&-")
    assert (done.returncode, done.stdout.split()[:2]) == (0, ["release", "3"])
    done = process("noisygd-delete delete store nobody 2>&-")
    assert (done.returncode, done.stdout) == (2, "")
    done = process("noisygd-delete delete store nobody 2>/dev/full")
    assert (done.returncode, done.stdout) == (2, "")


def test_standard_input_that_is_closed_or_never_ends(folder: Path, complaint, monkeypatch) -> None:
    done = process("noisygd-delete delete store --file - <&-")
    assert done.returncode == 2
    assert "standard input is closed" in one_paragraph(done.stderr)
    done = process("noisygd-delete delete store --file - </dev/zero")
    assert done.returncode == 2
    assert "longer than" in one_paragraph(done.stderr)
    assert status("store")["records"] == 19


def test_letters_that_standard_output_cannot_write_are_spelled_out(folder: Path) -> None:
    narrow = {"PYTHONIOENCODING": "ascii"}
    plan = "noisygd-delete plan --records 100 --features 3 --explain"
    done = process(plan, variables=narrow)
    assert done.returncode == 0
    assert "\\u03c3\\xb2=" in done.stdout
    for encoding in ("ascii", "latin-1"):
        told = process("noisygd-delete budget store --json", variables={"PYTHONIOENCODING": encoding})
        assert "ε" in json.loads(told.stdout)["budget"] + json.dumps(json.loads(told.stdout), ensure_ascii=False)
    done = process("noisygd-delete plan --records 100 --features 3 --regularization ε", variables=narrow)
    assert done.returncode == 2
    assert "\\u03b5" in one_paragraph(done.stderr)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a shell that counts open files as Linux does")
def test_with_no_file_to_spare_every_command_ends_in_one_paragraph(folder: Path) -> None:
    seen = set()
    for most in (5, 6, 7, 9):
        done = process(f"ulimit -n {most}; exec noisygd-delete delete store identifier-002")
        seen.add(done.returncode)
        assert done.returncode in (0, 2)
        assert "Traceback" not in done.stderr
        if done.returncode:  # before it, a line may say that an interrupted request was finished first
            one_paragraph(done.stderr.splitlines(keepends=True)[-1])
    assert 2 in seen
    main(["delete", "store", "identifier-002"])
    assert status("store")["records"] == 18
    assert main(["verify", "store"]) == 0


def test_an_interrupt_while_modules_are_imported_is_answered(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(5)\n")
    variables = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{Path(__file__).parents[2]}"}
    done = process("noisygd-delete delete store 17", variables=variables)
    assert done.returncode == 130
    assert "interrupted" in one_paragraph(done.stderr)
    (tmp_path / "numpy.py").write_text("raise OSError(24, 'Too many open files')")
    done = process("noisygd-delete delete store 17", variables=variables)
    assert done.returncode == 2
    assert "Too many open files" in one_paragraph(done.stderr)


ENDLESS = {
    "ids": ["delete", "store", "--file"],
    "subjects": ["delete", "store", "--subject-file"],
    "tokens": ["verify", "store", "--absent"],
    "last certificate": ["verify", "store", "--certificate"],
    "certificate": ["verify-certificate"],
    "key": ["certificate", "store", "--request-id", "first", "--key"],
    "audit": ["certificate", "store", "--request-id", "first", "--audit"],
    "table": ["insert", "store", "--data"],
    "new rows": ["predict", "store", "--data"],
    "schema": ["init", "new", "--data", "people.csv", "--schema"],
    "list": ["delete", "store", "identifier-002", "--tombstone-key", "people.csv", "--tombstones"],
    "list key": ["delete", "store", "identifier-002", "--tombstones", "people.csv", "--tombstone-key"],
}


@pytest.mark.parametrize("command", ENDLESS)
def test_what_never_ends_or_cannot_be_opened_is_one_paragraph(folder: Path, complaint, command: str) -> None:
    os.mkfifo("pipe")
    for name in ("/dev/zero", "pipe", "store", ".", "x" * 300, "a\0b", "none", "x/" * 2500):
        complaint(*ENDLESS[command], name)
    assert status("store")["records"] == 19


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may do everything")
def test_what_may_not_be_read_or_written_is_one_paragraph(folder: Path, complaint) -> None:
    (folder / "people.csv").chmod(0)
    complaint("predict", "store", "--data", "people.csv")
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        complaint("report", "store", "--out", "page.html")
        complaint("keygen", "key")
    finally:
        folder.chmod(stat.S_IRWXU)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.EMFILE])
def test_a_store_that_may_not_be_written_is_one_paragraph(folder: Path, complaint, monkeypatch, number: int) -> None:
    real = os.open

    def refusing(path, flags, *mode, **options):
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise OSError(number, os.strerror(number), str(path))
        return real(path, flags, *mode, **options)

    Path("plan.toml").write_text('method = "noisy-gd"\n')
    monkeypatch.setattr(os, "open", refusing)
    for command in (
        ["verify", "store"],
        ["learn", "store"],
        ["delete", "store", "identifier-002"],
        ["insert", "store", "--data", "people.csv"],
        ["publish", "store"],
        ["relearn", "store"],
        ["predict", "store", "--data", "people.csv"],
        ["certificate", "store", "--request-id", "first"],
        ["report", "store", "--out", "page.html"],
        ["keygen", "key.pem"],
        ["keygen", "key", "--tombstones", "list"],
        ["init", "new", "--data", "people.csv", "--schema", "schema.toml", "--plan", "plan.toml"],
        ["init", "--data", "people.csv", "--label", "y", "--draft-schema", "draft.toml"],
    ):
        assert os.strerror(number) in complaint(*command), command

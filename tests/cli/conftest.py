"""A small store made by the command line once, copied for each test; and the command line as a process."""

from __future__ import annotations

import io
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.planned import main

SCHEMA = 'id = "id"\n[label]\ncolumn = "y"\nclasses = ["no", "yes"]\n[columns.a]\nbounds = [-10, 10]\n'
ROOT = Path(__file__).parents[2]


def rows(numbers) -> str:
    return "id,a,y\n" + "".join(f"identifier-{k:03d},{k - 10},{'yes' if k % 2 else 'no'}\n" for k in numbers)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    (folder / "people.csv").write_text(rows(range(20)))
    (folder / "schema.toml").write_text(SCHEMA)
    plan = ["--method", "noisy-gd", "--regularization", "0.1", "--no-utility", "--slots", "24"]
    store = str(folder / "store")
    init = ["init", store, "--data", str(folder / "people.csv"), "--schema", str(folder / "schema.toml")]
    assert main([*init, *plan]) == main(["learn", store]) == 0
    assert main(["delete", store, "identifier-001", "--request-id", "first"]) == 0
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> Path:
    """A folder with people.csv, schema.toml and a store that has learned and erased once (request "first")."""
    monkeypatch.chdir(tmp_path)
    for name in ("people.csv", "schema.toml"):
        shutil.copy(made / name, tmp_path / name)
    shutil.copytree(made / "store", tmp_path / "store")
    capsys.readouterr()
    return tmp_path


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(*arguments: str, status: int = 0) -> None:
    assert main(arguments) == status, arguments


def typed(line: str) -> None:
    """Run a command as a person types it."""
    run(*shlex.split(line))


def one_paragraph(text: str) -> str:
    assert text.count("\n") == 1, text
    assert text.startswith("noisygd-delete")
    assert "Traceback" not in text
    assert "fault of this program" not in text
    return text


def process(command: str, **options) -> subprocess.CompletedProcess[str]:
    """A shell line in which `noisygd-delete` is this package; whatever happens, it ends within a minute. Interrupts reach it,
    also where these tests run in the background of a shell, which lets what it starts there ignore them."""
    here = f"'{sys.executable}' -m noisygd_delete"
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(
            [str(ROOT), *(str(ROOT / "packages" / name) for name in ("compliance", "server", "sources"))]
        ),
        **options.pop("variables", {}),
    }
    line = command.replace("noisygd-delete", here)
    return subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, check=False, timeout=60, env=variables,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), **options
    )  # fmt: skip

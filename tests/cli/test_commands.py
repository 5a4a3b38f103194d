"""The command line: text, JSON, one error line, exit status."""

from __future__ import annotations

import argparse
import io
import json
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from noisygd_delete.cli import main, parser, terminal

from .conftest import Terminal

ADULT = ["plan", "--records", "26000", "--features", "108"]


def test_plan_as_text_and_json(as_json, printed) -> None:
    said = printed(*ADULT)
    assert "62 for a publication that deletes" in said
    assert said.endswith("more: --explain\n")
    assert len(said.splitlines()) <= 6
    assert "K_Ā=62" in printed(*ADULT, "--explain")
    answer = as_json(*ADULT, "--method", "noisy-gd")
    assert answer["delete_steps_for_deletion"] == 62
    assert answer["gradient_evaluations"]["delete"] == 26_000 * answer["delete_steps"]
    assert {"step_size", "noise_variance", "init_variance", "learn_steps", "order", "dp", "deletion", "saving"} <= set(
        answer
    )


def test_plan_in_every_measure(as_json) -> None:
    for more in (
        ["--delta", "1e-6", "--dp", "2", "--deletion", "0.5"],
        ["--gdp", "--dp", "0.5", "--deletion", "0.05", "--method", "noisy-gd"],
        ["--loss", "softmax:classes=10"],
        ["--loss", "pseudo-huber:delta=0.5", "--no-utility"],
    ):
        assert as_json(*ADULT, *more)["delete_steps"] > 0


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--regularization", "0"], "--regularization 0.0 must be > 0"),
        (["--deletion", "3"], "must be at most that of present records, 1"),
        (["--dp", "nan"], "finite"),
        (["--delta", "2"], "strictly between"),
        (["--gdp", "--method", "noisy-gd:analysis=paper"], "--gdp --method noisy-gd"),
        (["--order", "3", "--gdp"], "at most one"),
        (["--loss", "softmax"], "--loss softmax:classes=3"),
        (["--loss", "logistic:delta=2"], "does not take"),
    ],
)
def test_errors_are_one_line_on_stderr_and_status_2(more, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*ADULT, *more]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_planning_and_accounting_never_import_torch() -> None:
    code = (
        "import sys; from noisygd_delete import make_plan, Accountant, Budget, losses; "
        "make_plan(losses.Logistic(1.0), records=100, features=2, regularization=1e-2, budget=Budget(order=2)).explain(); "
        "Accountant(); from noisygd_delete.cli import parser; parser(); "
        "sys.exit(any(name in sys.modules for name in ('torch', 'sklearn', 'pandas', 'matplotlib', 'opacus')))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def planned(folder: Path, *asked: str) -> str:
    """A file of what is asked of `plan`."""
    file = str(folder / f"{len(list(folder.iterdir()))}.toml")
    assert main(["plan", *asked, "--out", file]) == 0
    return file


def test_audit_as_text_and_json(tmp_path: Path, as_json, printed) -> None:
    small = ["--records", "100", "--features", "1", "--regularization", "0.25", "--method", "noisy-gd"]
    small += ["--gdp", "--dp", "3", "--deletion", "0.38", "--no-utility"]
    small = ["audit", "--plan", planned(tmp_path, *small), "--chains", "4000", "--seed", "1"]
    assert "likelihood ratio" in printed(*small)
    answer = as_json(*small)
    assert answer["verdict"] == "pass"
    assert all(row["measured_lower_bound"] <= row["claimed_advantage"] for row in answer["rows"])
    assert main([*small, "--chains", "3"]) == 2


def test_audit_by_releases_and_by_one_run(tmp_path: Path, printed) -> None:
    asked = shlex.split("--regularization 0.25 --method noisy-gd --gdp --dp 2 --deletion 0.3 --no-utility")
    few, wide, narrow = (
        ["audit", "--plan", planned(tmp_path, *asked, *sizes.split()), "--seed", "1", "--json"]
        for sizes in ("--records 10 --features 2", "--records 200 --features 200", "--records 200 --features 1")
    )
    answer = json.loads(printed(*few, "--by", "releases", "--runs", "30"))
    assert {row["attack"] for row in answer["rows"]} == {"shadow model", "kernel witness"}
    assert answer["three_samples"]["verdict"] in ("pass", "inconclusive")
    answer = json.loads(printed(*wide, "--by", "one-run"))
    assert [row["attack"] for row in answer["rows"]] == ["one run"] * 2
    assert "of 200 canaries" in answer["notes"][0].replace("about ", "of ")
    assert main([*narrow, "--by", "one-run"]) == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion_scripts_name_every_command(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("shtab", reason="shtab is not installed")
    with pytest.raises(SystemExit) as stopped:
        main(["--print-completion", shell])
    assert stopped.value.code == 0
    script = capsys.readouterr().out
    for command in ("quickstart", "plan", "delete", "certificate", "keygen", "verify-certificate"):
        assert command in script
    assert ("--adjacency" if shell == "tcsh" else "--method") in script  # tcsh completes what has choices


def test_every_command_has_an_example_in_its_help() -> None:
    (commands,) = (a for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    assert len(commands.choices) >= 15
    for name, command in commands.choices.items():
        assert f"noisygd-delete {name}" in " ".join(command.format_help().partition("example")[2].split()), name


def test_a_bar_is_drawn_on_a_terminal_once_a_run_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn(patience: float) -> str:
        screen = Terminal()
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setattr(terminal, "_PATIENCE", patience)
        with terminal.progress_bar("learn", 64) as progress:
            assert progress is not None
            for step in range(1, 65):
                progress(step)
                time.sleep(0.008)  # a bar is redrawn ten times a second at most
        return screen.getvalue()

    told = [int(text) for text in re.findall(r"(\d+)/64", drawn(0.1))]
    assert 2 < len(told) < 10
    assert told == sorted(told)
    assert told[1] > 5
    assert drawn(60.0) == ""
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with terminal.progress_bar("learn", 64) as progress:
        assert progress is None

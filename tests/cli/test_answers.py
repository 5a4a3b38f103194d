"""What a command answers fits a screen of 35 lines at 80 columns, follows the terminal's width, and a slip is met by the word that was meant."""

from __future__ import annotations

import argparse
import shlex
import textwrap
from pathlib import Path

import pytest

from noisygd_delete.cli import main, parser
from noisygd_delete.cli.terminal import wrap_lines

ROWS, COLUMNS = 35, 80  # conditions are stated with each figure, which takes nine lines of a certificate

ANSWERS = [
    "quickstart people.csv --label y --output-dir q --id id --plan p.toml --yes --delete identifier-003",
    "advise --records 20000 --features 30",
    "advise --records 200 --features 300",
    "plan --records 20000 --features 30",
    "plan --records 20000 --features 30 --method objective-perturbation",
    "plan --records 20000 --features 30 --compare",
    "plan --records 20000 --features 30 --method noisy-gd --requests 12 --regularization 0.01",
    "plan --method noisy-gd --out other.toml",
    "init --data people.csv --label y --draft-schema draft.toml",
    "init other --data people.csv --schema schema.toml --plan p.toml",
    "learn other",
    "delete store identifier-004 --request-id second",
    "delete store identifier-005 --no-publish",
    "publish store",
    "budget store",
    "replace store --data one.csv",
    "insert store --data new.csv",
    "relearn store",
    "predict store --data people.csv --out predicted.csv",
    "evaluate store --data people.csv",
    "status store",
    "explain additive",
    "verify store",
    "keygen key.pem",
    "certificate store --request-id first --key key.pem --out c.json --html c.html",
    "verify-certificate c.json --public-key key.pem.pub",
    "report store --out r.html",
    "document store --registry d.yaml --model-card card.html --assessment a.html",
    "export store --plain plain.json",
    "register list store",
    "register show store first",
    "register receive store --request-id third --received 2026-05-04T09:30+02:00",
    "register settings store --contact mail",
    "restrict store identifier-007 --to kept.sealed --archive-key kept.key --request-id fourth",
    "publish-to store folder:elsewhere",
    "residue --tokens gone.txt elsewhere",
]
NOT_TRIED = {
    "stream": "a running command",
    "serve": "a running command",
    "requests": "of a running service",
    "watch": "of a source",
    "object": "as restrict",
    "lift": "as restrict",
    "audit": "takes its own time",
    "token": "prints one token",
}


@pytest.fixture
def walked(folder: Path) -> Path:
    lines = (folder / "people.csv").read_text().splitlines()
    (folder / "one.csv").write_text(f"{lines[0]}\n{lines[7]}\n")
    (folder / "new.csv").write_text(f"{lines[0]}\nidentifier-900,3,yes\n")
    plan = "plan --method noisy-gd --regularization 0.1 --no-utility --out p.toml"
    (folder / "gone.txt").write_text("identifier-001\n")
    (folder / "elsewhere").mkdir()
    assert main(shlex.split(plan)) == 0
    mapped = "--data people.csv --schema schema.toml --map additive --plan p.toml"
    assert main(shlex.split(f"init additive {mapped}")) == main(["learn", "additive"]) == 0
    return folder


def test_every_command_answers_on_one_screen(walked: Path, capsys) -> None:
    capsys.readouterr()
    found = {}
    for command in ANSWERS:
        try:
            status = main(shlex.split(command))
        except SystemExit as stopped:
            status = stopped.code
        said = capsys.readouterr()
        text = said.out + said.err
        shown = [part for line in text.splitlines() for part in textwrap.wrap(line, COLUMNS) or [""]]
        if status or not 0 < len(shown) <= ROWS:
            found[command] = (status, len(shown), said.err)
    print(found)
    assert found == {}


def test_every_command_is_among_them() -> None:
    actions = (action.choices for action in parser()._actions if isinstance(action, argparse._SubParsersAction))
    assert {command.split()[0] for command in ANSWERS} | set(NOT_TRIED) == set(next(actions))


def test_an_answer_is_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "short\n  one two three four five six seven\nnoisygd-delete verify-certificate --a-long-option-that-nobody-breaks"
    assert wrap_lines(text) == text, "no terminal"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "20")
    assert wrap_lines(text).splitlines() == [
        "short",
        "  one two three four",
        "  five six seven",
        "noisygd-delete",
        "verify-certificate",
        "--a-long-option-that-nobody-breaks",
    ]


@pytest.mark.parametrize(
    ("slip", "said"),
    [
        ("statsu store", "did you mean 'status'?"),
        ("register lst", "did you mean 'list'?"),
        ("delete store 1 --request-idd x", "did you mean --request-id?"),
        ("init store --metod sharp", "--method? It is said to `noisygd-delete plan"),
        ("plan --recrods 10", "did you mean --records?"),
        ("status store --nothing-like-it-at-all", "no option --nothing-like-it-at-all;"),
        ("--versoin", "did you mean --version?"),
        ("quickstart d.csv --target y", "did you mean --label?"),
        ("delete store --patient 3", "did you mean --subject?"),
        ("delete store --id 3", "give ID without an option"),
        ("quickstart --data d.csv --label y", "give FILE without an option"),
        ("init store --csv d.csv", "did you mean --data?"),
        ("plan --lambda 1", "did you mean --regularization?"),
        ("init store --lambda 1", "did you mean --regularization? It is said to `noisygd-delete plan"),
        ("delete store 3 --dry_run", "did you mean --dry-run?"),
        ("delete store 3 --reason x", "no option --reason;"),
    ],
)
def test_a_slip_is_met_by_the_word_that_was_meant(slip: str, said: str, capsys) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(shlex.split(slip))
    captured = capsys.readouterr()
    assert stopped.value.code == 2
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert said in captured.err


def test_a_bound_that_does_not_exist_is_null_in_json(folder, printed):
    plan = "--method objective-perturbation --dp 1 --deletion 0.2 --delta 1e-5 --regularization 0.2"
    assert main(shlex.split(f"plan {plan} --out many.toml")) == 0
    assert main(shlex.split("init other --data people.csv --schema schema.toml --plan many.toml")) == 0
    assert main(["learn", "other"]) == main(["delete", "other", "identifier-001"]) == 0
    for command in ("budget other --order 200", "budget other --order 200 --explain", "status other"):
        assert ('"renyi": null' in printed(*command.split(), "--json")) == command.startswith("budget")

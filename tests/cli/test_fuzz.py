"""Odd values for every option of every command that looks: an answer, or one paragraph; never a fault of the program."""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import pytest

from noisygd_delete.cli import main, parser

from .conftest import one_paragraph

NUMBERS = ["0", "-1", "1", "2", "-0.0", "1e-300", "1e300", "nan", "inf", "1e-15", "1000000000000", "9" * 40]
NUMBERS += ["x", "", "0x1", "½"]
TEXTS = ["", " ", "a", "\u2028", "\udcff", "%s", "../..", "-", "x" * 300]
TEXTS += ["people.csv", "store", "/dev/null", "none", "α=1"]
LOOKS = {
    "plan": ["--records", "100", "--features", "3"],
    "advise": ["--records", "100", "--features", "3"],
    "init": ["new", "--data", "people.csv", "--schema", "schema.toml", "--dry-run"],
    "learn": ["store", "--dry-run"],
    "delete": ["store", "identifier-002", "--dry-run"],
    "insert": ["store", "--data", "people.csv", "--dry-run"],
    "publish": ["store", "--dry-run"],
    "relearn": ["store", "--dry-run"],
    "predict": ["store", "--data", "people.csv"],
    "evaluate": ["store", "--data", "people.csv"],
    "status": ["store"],
    "budget": ["store"],
    "verify": ["store"],
    "certificate": ["store", "--request-id", "first"],
    "verify-certificate": ["people.csv"],
    "keygen": ["store"],
    "audit": ["store", "--chains", "99"],
}
SLOW = {"--wait"}  # 1e300 seconds are what was asked for


def options(command: str) -> list[argparse.Action]:
    (commands,) = (a for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    actions = dict.fromkeys(commands.choices[command]._option_string_actions.values())
    return [action for action in actions if action.option_strings[-1] not in {*SLOW, "--help"}]


def odd(action: argparse.Action, chance: random.Random) -> list[str]:
    name = action.option_strings[-1]
    if action.nargs == 0:
        return [name]
    values = [*NUMBERS, *TEXTS] if chance.random() < 0.3 else NUMBERS if action.type else TEXTS
    if action.choices and chance.random() < 0.9:
        values = list(action.choices)
    return [f"{name}={chance.choice(values)}"]


@pytest.mark.parametrize("command", LOOKS)
def test_odd_arguments_are_answered_or_refused(folder: Path, capsys, command: str) -> None:
    chance = random.Random(f"arguments of {command}")
    known = options(command)
    for _ in range(12):
        more = [part for action in chance.sample(known, k=min(3, len(known))) for part in odd(action, chance)]
        arguments = [command, *LOOKS[command], *more]
        try:
            status = main(arguments)
        except SystemExit as stopped:
            status = stopped.code
        said = capsys.readouterr()
        assert status in (0, 2, 5), (arguments, said.err)
        assert "fault of this program" not in said.err, (arguments, said.err)
        if status == 2:
            assert said.out == "", arguments
            one_paragraph(said.err)

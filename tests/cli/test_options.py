"""How much there is to read before a command can be typed: options are counted, and no more may come than leave."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import pytest

from noisygd_delete.cli import parser
from noisygd_delete.cli.overview import COMMON

MOST = 250  # of all commands together, those that mean the same everywhere counted once; 573 before 0.2.0
MOST_OF_ONE = {"init": 20, "quickstart": 10, "relearn": 10, "advise": 10, "audit": 10}


def options(command: argparse.ArgumentParser, name: str = "") -> Iterator[tuple[str, argparse.Action]]:
    """(command, option), of every command below one."""
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, child in action.choices.items():
                yield from options(child, f"{name} {word}".strip())
        elif action.option_strings and not isinstance(action, argparse._HelpAction):
            yield name, action


@pytest.fixture(scope="module")
def every() -> list[tuple[str, argparse.Action]]:
    return list(options(parser()))


def test_options_are_few(every) -> None:
    told = [name for name, action in every if action.help is not argparse.SUPPRESS]
    once = [line for line in COMMON.splitlines() if line.startswith("--") and "," not in line.split("  ")[0]]
    assert len(once) == 10
    assert len(told) + len(once) <= MOST
    for name, most in MOST_OF_ONE.items():
        assert told.count(name) <= most, name


def test_what_a_help_leaves_out_is_told_by_the_first_help(every) -> None:
    left_out = {action.option_strings[0] for _, action in every if action.help is argparse.SUPPRESS}
    assert left_out == {word.rstrip(",") for word in COMMON.split() if word.startswith("--")} - {"--help"}


def test_an_option_that_means_the_same_everywhere_is_one(every) -> None:
    kinds = {}
    for _, action in every:
        if action.help is argparse.SUPPRESS:
            kinds.setdefault(action.option_strings[0], set()).add((action.nargs, action.type, str(action.default)))
    assert {name: len(found) for name, found in kinds.items()} == dict.fromkeys(kinds, 1)

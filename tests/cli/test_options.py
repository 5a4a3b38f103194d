"""How much there is to read before a command can be typed: options are counted, and no more may come than leave."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import pytest

from noisygd_delete.cli import main, parser
from noisygd_delete.cli.arguments import COMMON, GENERAL, Intermixed

MOST = 250  # that all parsers accept together
MOST_OF_ONE = {"init": 20, "quickstart": 12, "relearn": 10, "advise": 10, "audit": 10}  # with the general ones


def commands(parser: Intermixed, name: str = "") -> Iterator[tuple[str, Intermixed]]:
    """Every parser, by the words before its options."""
    yield name, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, child in action.choices.items():
                yield from commands(child, f"{name} {word}".strip())


@pytest.fixture(scope="module")
def every() -> dict[str, Intermixed]:
    return dict(commands(parser()))


def own(parser: Intermixed) -> list[argparse.Action]:
    help_itself = argparse._HelpAction
    return [
        one
        for one in parser._actions
        if one.option_strings and one.help is not argparse.SUPPRESS and not isinstance(one, help_itself)
    ]


def test_options_are_few(every) -> None:
    assert sum(len(own(one)) for one in every.values()) + len(GENERAL) <= MOST
    for name, most in MOST_OF_ONE.items():
        assert len(own(every[name])) + len(every[name].takes) <= most, name


def test_general_options_are_told_by_the_first_help_and_all_of_use(every) -> None:
    told = {word.rstrip(",") for word in COMMON.split() if word.startswith("--")}
    assert set(GENERAL) == told - {"--help"} == {name for one in every.values() for name in one.takes}


def test_a_general_option_stands_anywhere_and_only_where_it_is_of_use(every, capsys) -> None:
    status = every["status"].parse_args
    for words in (["--json", "s", "--wait", "2"], ["--wait=2", "--json", "s"], ["s", "--wait", "2", "--json"]):
        parsed = status(words)
        assert (parsed.store, parsed.json, parsed.wait) == ("s", True, 2.0)
    assert every["delete"].parse_args(["s", "--no-publish", "--", "--json"]).ids == ["--json"]
    for words, said in (
        (["status", "s", "--device", "cpu"], "no option --device"),
        (["status", "s", "--wait"], "argument --wait: expected one argument"),
        (["status", "s", "--wait", "soon"], "argument --wait: 'soon' must be a number"),
        (["init", "s", "--method", "noisy-gd"], "It is said to `noisygd-delete plan --out plan.toml`"),
    ):
        with pytest.raises(SystemExit):
            main(words)
        assert said in capsys.readouterr().err

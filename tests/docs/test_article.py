"""docs/article.md: every function of the table is importable, every proof row exists with that verdict, every command parses."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec

import pytest

from benchmarks.__main__ import MEASUREMENTS
from tests.docs.article import PAGE, VERDICTS, Line, qualify, read_sources, render_page
from tests.docs.options import program
from tests.docs.prose import ROOT
from tests.docs.test_claims import verdicts

LINES = [line for lines in read_sources().values() for line in lines]
WORKS = ("works", "works in the lab")


def missing_function(name: str) -> str | None:
    """Return why a function of the table cannot be imported, None if it can."""
    module, _, member = qualify(name).partition(":")
    try:
        found: object = import_module(module)
        for part in member.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        return f"{name}: {error}"
    return None


def command_fault(command: str) -> str | None:
    """Return why a command does not parse, None if it does."""
    words = shlex.split(command)
    if words[0] in ("noisygd-delete", "noisygd-delete-lab"):
        from noisygd_delete_lab.command import parser as lab_parser

        try:
            (program if words[0] == "noisygd-delete" else lab_parser)().parse_args(words[1:])
        except SystemExit:
            return f"{command}: does not parse"
        return None
    if words[:3] == ["python", "-m", "benchmarks"]:
        if words[3] not in MEASUREMENTS:
            return f"{command}: no such measurement"
        text = (ROOT / "benchmarks" / f"{words[3]}.py").read_text(encoding="utf-8")
        absent = [word for word in words[4:] if f'"{word}"' not in text]
        return f"{command}: {words[3]} does not know {absent}" if absent else None
    if words[0] == "python" and words[1:] and (ROOT / words[1]).is_file():
        return None
    return f"{command}: no such command"


def faults(lines: list[Line], results: dict[str, str]) -> Iterator[str]:
    for line in lines:
        if line.verdict not in VERDICTS:
            yield f"{line.statement}: unknown verdict {line.verdict}"
        for row in line.rows:
            if row not in results:
                yield f"{line.statement}: no row {row}"
        if line.verdict == "false" and line.rows and {results.get(row) for row in line.rows} <= {"holds"}:
            yield f"{line.statement}: stated as false, but every row holds"
        if line.verdict == "reason" and not line.note:
            yield f"{line.statement}: no reason"
        if line.verdict in WORKS and not (line.functions or line.rows or line.commands or line.note):
            yield f"{line.statement}: nothing to look it up"
        yield from filter(None, map(command_fault, line.commands))


def test_the_page_is_generated_from_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == render_page(), "python -m tests.docs.article"


def test_every_row_and_command_of_the_table_exists() -> None:
    assert list(faults(LINES, verdicts())) == []


def test_every_function_of_the_table_is_importable() -> None:
    names = {name for line in LINES for name in line.functions}
    if find_spec("torch") is None or find_spec("opacus") is None:
        names = {name for name in names if not re.search(r"networks|extractor|dp_sgd|device", name)}
    assert len(names) > 60
    assert [problem for name in sorted(names) if (problem := missing_function(name))] == []


def test_the_sources_are_counted() -> None:
    """The 176 statements of two articles, two lectures and the order: at least 150 work, and each of the others has its reason or counter-example."""
    assert len(LINES) == 176
    assert sum(line.verdict in WORKS for line in LINES) >= 150


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        (Line("", "a", "works", [], ["5.1(9)"], [], ""), "no row"),
        (Line("", "a", "false", [], ["5.1(1)"], [], ""), "every row holds"),
        (Line("", "a", "reason", [], [], [], ""), "no reason"),
        (Line("", "a", "works", [], [], [], ""), "nothing to look"),
        (Line("", "a", "works", [], [], ["noisygd-delete budget STORE --planted"], ""), "does not parse"),
        (Line("", "a", "works", [], [], ["python -m benchmarks planted"], ""), "no such measurement"),
        (Line("", "a", "works", [], [], ["python -m benchmarks savings --planted"], ""), "does not know"),
        (Line("", "a", "works", [], [], ["python examples/planted.py"], ""), "no such command"),
    ],
)
def test_a_line_without_ground_is_seen(planted: Line, found: str, capsys) -> None:
    (problem,) = faults([planted], verdicts())
    assert found in problem
    assert missing_function("bounds.renyi:planted") is not None

"""Tables of pages whose rows can be looked up: functions, commands, rows of the proofs and tests are there, and a verdict is that of the proofs."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec

import pytest
from noisygd_delete_lab.command import parser as lab_parser

import noisygd_delete
from benchmarks.__main__ import MEASUREMENTS
from noisygd_delete import errors
from tests.docs import options
from tests.docs.pages import ROOT, cells, named, verdicts

RESULTS = verdicts()
VERDICTS = ("works", "works in the lab", "false", "reason")
COMMANDS = options.children(options.program())
WITH_TORCH = re.compile("networks|extractor|dp_sgd|device")
OURS = {
    *dir(noisygd_delete),
    *dir(errors),
    *re.findall(r"\w+", (ROOT / "docs" / "public-names.txt").read_text()),
    *COMMANDS,
}
RIVALS = {"BudgetAccountant", "BudgetError", "torchrun", "secure_mode"}


def page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


def is_function(name: str) -> bool:
    """Whether docs/article.md names something that can be imported: `name`, `module:name` or `noisygd_delete_lab.module:name`."""
    if WITH_TORCH.search(name) and not (find_spec("torch") and find_spec("opacus")):
        return True
    module, _, member = name.rpartition(":")
    found: object = import_module(
        module if module.startswith("noisygd_delete_lab") else f"noisygd_delete.{module}".rstrip(".")
    )
    for part in member.split("."):
        found = getattr(found, part, None)
    return found is not None


def is_command(command: str) -> bool:
    program, *words = shlex.split(command)
    if program in ("noisygd-delete", "noisygd-delete-lab"):
        try:
            (options.program() if program == "noisygd-delete" else lab_parser()).parse_args(words)
        except SystemExit:
            return False
        return True
    if words[:2] == ["-m", "benchmarks"]:
        text = (ROOT / "benchmarks" / f"{words[2]}.py").read_text(encoding="utf-8") if words[2] in MEASUREMENTS else ""
        return bool(text) and all(f'"{word}"' in text for word in words[3:])
    return program == "python" and (ROOT / words[0]).is_file()


def of_article(text: str) -> Iterator[str]:
    """Statements of the sources that work by nothing, are false by rows that hold, or have no reason."""
    for _, statement, functions, rows, commands, said in cells(text):
        if statement == "statement":
            continue
        verdict, _, note = said.partition(": ")
        grounds = [*named(functions), *named(rows), *named(commands), note]
        yield from (f"{statement}: no {name}" for name in named(functions) if not is_function(name))
        yield from (f"{statement}: no {name}" for name in named(rows) if name not in RESULTS)
        yield from (f"{statement}: no {name}" for name in named(commands) if not is_command(name))
        if verdict not in VERDICTS or not any(grounds) or (verdict == "reason" and not note):
            yield f"{statement}: {said} by nothing"
        if verdict == "false" and named(rows) and {RESULTS.get(name) for name in named(rows)} == {"holds"}:
            yield f"{statement}: its rows hold"


def of_claims(text: str) -> Iterator[str]:
    """Claims whose row of the proofs is not there or says something else, or that name no test."""
    for claim, verdict, rows, tests in (row for row in cells(text) if len(row) == 4 and row[1] != "verdict"):
        if not named(rows) or not named(tests):
            yield f"{claim}: nothing to look it up"
        yield from (f"{claim}: {name}" for name in named(rows) if RESULTS.get(name) != verdict)


def of_comparison(text: str) -> Iterator[str]:
    """Rows with other marks than yes, partly and no, or a note that is not there; names of nothing."""
    text, _, rest = text.partition("## Where the others are better")
    for name in named(text):
        first = re.split(r"[.=]", name, maxsplit=1)[0]
        if first not in OURS | RIVALS and not (ROOT / name.replace("*", "adult")).exists():
            yield f"what is {name}?"
    for name, *marks, where in cells(text):
        if where != "where to look" and (len(marks) != 7 or not set(marks) <= {"Y", "p", "–"} or set(marks) == {"–"}):
            yield f"{name}: {marks}"
        if re.fullmatch(r"\d", where) and f"\n{where}. " not in text + rest:
            yield f"{name}: no note {where}"


def of_conformance(text: str) -> Iterator[str]:
    """Rows with an empty cell, without evidence, or with a command that is not there."""
    for row in cells(text):
        if len(row) != 4 or not all(row):
            yield f"{row[0]}: a cell is missing"
        elif row[0] != "requirement":
            places = named(row[2])
            yield from [] if places else [f"{row[0]}: nothing to look at"]
            commands = [place.split()[1] for place in places if place.startswith("noisygd-delete ")]
            yield from (f"{row[0]}: no command {word}" for word in commands if word not in COMMANDS)


def of_threats(text: str) -> Iterator[str]:
    """Faults without a grade, an outcome or a test."""
    for row in cells(text):
        if len(row) == 4 and row[0] != "grade" and not (row[0] in "ABCD" and all(row) and "`tests/" in row[3]):
            yield f"{row[1]}: not graded or not shown"


FAULTS: dict[str, tuple[Callable[[str], Iterator[str]], int]] = {  # page -> its faults, and rows that it has at least
    "article": (of_article, 176),
    "claims": (of_claims, 20),
    "comparison": (of_comparison, 20),
    "conformance": (of_conformance, 21),
    "threat-model": (of_threats, 25),
}


@pytest.mark.parametrize("name", FAULTS)
def test_every_row_can_be_looked_up(name: str) -> None:
    faults, least = FAULTS[name]
    assert list(faults(page(name))) == []
    assert len(cells(page(name))) > least


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("article", "`privacy:Budget`", "`privacy:Bugdet`"),
        ("article", "| `3.1` |", "| `3.9` |"),
        ("article", "`noisygd-delete budget STORE --delta 1e-6`", "`noisygd-delete budget STORE --delt-a 1e-6`"),
        ("article", "`python -m benchmarks savings`", "`python -m benchmarks saving`"),
        ("article", "`python -m benchmarks savings --data adult`", "`python -m benchmarks savings --planted adult`"),
        ("article", "`python examples/attacks/counterexamples.py`", "`python examples/attacks/counterexample.py`"),
        ("article", "| `5.2-saving` |  | false: ", "| `3.1` |  | false: "),
        ("article", "| reason: ", "| reasons: "),
        ("claims", "| fails | `4.3` |", "| holds | `4.3` |"),
        ("claims", "`S.gdp-bound`", "`S.gdp-bond`"),
        ("comparison", "| no secret state between requests | Y | – |", "| no secret state between requests | Y | ? |"),
        ("comparison", "| scikit-learn estimators | Y | – |", "| scikit-learn estimators | Y |"),
        ("comparison", "| p | – | – | 2 |", "| p | – | – | 9 |"),
        ("comparison", "`verify-certificate`", "`verify-certficate`"),
        ("conformance", "`noisygd-delete budget`", "`noisygd-delete bugdet`"),
        ("conformance", "| the cap; alerting; tuning on the data is not counted |", "| |"),
        ("threat-model", "| A | ", "| E | "),
    ],
)
def test_a_row_without_ground_is_seen(name: str, old: str, new: str) -> None:
    assert old in page(name)
    assert list(FAULTS[name][0](page(name).replace(old, new, 1)))


def test_the_statements_of_the_sources_are_counted() -> None:
    """At least 150 of the 176 statements of two articles, two lectures and the order work."""
    found = Counter(row[5].partition(":")[0] for row in cells(page("article")) if row[1] != "statement")
    total = ", ".join(f"{found[verdict]} {verdict}" for verdict in VERDICTS)
    assert f"**{found.total()} statements: {total}.**" in page("article")
    assert found["works"] + found["works in the lab"] >= 150


def test_whatever_failed_is_told() -> None:
    """No statement of the paper that fails is left out of the claims, but lemmas of others' proofs of removal, and lectures: docs/article.md has those."""
    told = {name for row in cells(page("claims")) if len(row) == 4 for name in named(row[2])}
    failed = {key for key, verdict in RESULTS.items() if verdict == "fails" and not key.startswith(("Guo", "DP"))}
    assert len(failed) >= 5
    assert failed <= told

"""Every key in every language: the same names in every sentence, and no key that is asked for and missing."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import noisygd_delete_compliance
import pytest
from noisygd_delete_compliance.case import Channels, Grounds, Rights

import noisygd_delete
from noisygd_delete import Budget
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.evidence.notices import Reasons
from noisygd_delete.privacy.budget import format_numbers
from noisygd_delete.reports.texts import ORIGINAL, Figure, Language, language_codes, load_language, localized_sentence

from ..syntax import parse_source

CODES = language_codes()
OTHERS = [code for code in CODES if code != ORIGINAL]
PACKAGE, COMPLIANCE = Path(noisygd_delete.__file__).parent, Path(noisygd_delete_compliance.__file__).parent


def documents(pattern: str) -> Iterator[Path]:
    """The files that make documents, of the engine and of this package."""
    yield from (PACKAGE / "reports").glob(pattern)
    yield from COMPLIANCE.glob(pattern)


VALUES = {"day": date(2026, 5, 4), "day2": date(2026, 5, 5), "n": 3}  # others: the name itself


def names(sentence: Any) -> set[str]:
    """What is filled into a sentence, whichever of its entries is taken."""
    entries = [sentence["one"], sentence["many"]] if isinstance(sentence, Mapping) else [sentence]
    found = {part[1] for text in entries for part in string.Formatter().parse(text) if part[1]}
    return found | ({sentence["by"]} if isinstance(sentence, Mapping) else set())


@pytest.mark.parametrize("code", OTHERS)
def test_every_key_of_every_language_is_said_with_the_same_names(code: str) -> None:
    english, other = load_language(ORIGINAL), load_language(code)
    assert set(english.sentences) <= set(other.sentences)
    assert len(other.months) == len(english.months) == 12
    for key, sentence in other.sentences.items():
        asked = names(english.sentences.get(key, key))
        if not isinstance(sentence, Mapping) and not isinstance(english.sentences.get(key, key), Mapping):
            assert names(sentence) == asked, key
        values = {name: VALUES.get(name, name) for name in asked | names(sentence)}
        for words in (english, other):
            told = words.say(key, **values)
            assert told
            assert "{" not in told
    assert other.missing == english.missing == []


def test_every_word_of_the_register_has_its_sentence() -> None:
    for code in CODES:
        assert {f"ground.{word}" for word in Grounds} <= set(load_language(code).sentences)
        assert {f"letter.subject_{word}" for word in Rights} <= set(load_language(code).sentences)
    with pytest.raises(InvalidParameter, match="language"):
        load_language("../en")


def asked_for() -> Iterator[str]:
    """The keys that papers ask for by their text: in Python and in templates."""
    for file in documents("*.py"):
        for node in ast.walk(parse_source(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if function in ("say", "said") and isinstance(node.args[0].value, str):
                    yield node.args[0].value
    for file in documents("templates/*.html"):
        yield from re.findall(r'\b(?:t|rows?|stated)\("([^"]*)"', file.read_text())


@pytest.mark.parametrize("code", OTHERS)
def test_whatever_a_paper_asks_for_is_in_every_language(code: str) -> None:
    keys = set(asked_for())
    assert len(keys) > 150
    assert sorted(keys - set(load_language(code).sentences)) == []


@pytest.mark.parametrize("code", OTHERS)
def test_every_budget_is_said_in_every_language(code: str) -> None:
    pairs = Budget.from_epsilon_delta(dp=(1.0, 1e-6), deletion=(0.1, 1e-6))
    for budget in (Budget(order=10), pairs, Budget.from_gdp(dp=1.0, deletion=0.1)):
        assert format_numbers(budget)[0] in load_language(code).sentences


def written_down() -> set[str]:
    """Every text that stands where papers take their labels from, and those that are put together of a word from a list."""
    package = PACKAGE
    files = [
        *documents("*.py"),
        *package.glob("methods/*.py"),
        *package.glob("privacy/*.py"),
        package / "accountant" / "events.py",
    ]
    nodes = [node for file in files for node in ast.walk(parse_source(file.read_text("utf-8")))]
    found = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    found |= {text for file in documents("templates/*.html") for text in re.findall('"([^"]*)"', file.read_text())}
    audits = [node for file in package.glob("audit/*.py") for node in ast.walk(parse_source(file.read_text("utf-8")))]
    found |= {f"audit.{node.value}" for node in audits if isinstance(node, ast.Constant)}
    made = {f"by {channel}" for channel in Channels} | {f"extended because of the {reason}" for reason in Reasons}
    made |= {f"rows {what} {{day}}: {{n}}" for what in ("erased", "rectified", "restricted")}
    return found | made | {f"changed in the source, counted there ({by})" for by in ("trigger", "versions")}


@pytest.mark.parametrize("code", OTHERS)
def test_no_language_keeps_a_label_that_no_paper_has(code: str) -> None:
    assert sorted(set(load_language(code).sentences) - set(load_language(ORIGINAL).sentences) - written_down()) == []


def test_a_missing_key_is_said_in_english_and_noted() -> None:
    words = Language("xx", {}, ("",) * 12, "{day}", ",", "X")
    assert words.say("right at most {n} times", n=51) == "right at most 51 times"
    assert words.missing == ["right at most {n} times"]


def test_values_are_written_as_people_of_the_language_write_them() -> None:
    german = load_language("de")
    inner = localized_sentence("ε at δ = {n}", n=0.25)
    assert inner == "ε at δ = 0.25"
    assert german.say("{part}, per release", part=inner) == "ε bei δ = 0,25, je Veröffentlichung"
    assert german.written(Figure("1.5e-6")) == "1,5e-6"
    assert german.written("Modell 1.5") == "Modell 1.5"  # somebody's own words
    assert german.written(date(2026, 5, 4)) == "4. Mai 2026"
    assert german.written(datetime(2026, 5, 4, 9, 30, tzinfo=UTC)) == "4. Mai 2026, 09:30 UTC"
    assert german.figure(12345) == "12 345"

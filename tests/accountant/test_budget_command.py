"""`noisygd-delete budget`: the same answers as the library, from the ledger alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from noisygd_delete import Accountant
from noisygd_delete.accountant import build_report
from noisygd_delete.store import Store
from tests.cli.planned import main

SCHEMA = '[label]\ncolumn = "y"\nclasses = ["no", "yes"]\n[columns.a]\nbounds = [-10, 10]\n'


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four releases, which no test here changes."""
    folder = tmp_path_factory.mktemp("budget")
    path, table, schema = (folder / name for name in ("store", "people.csv", "schema.toml"))
    rows = "".join(f"name-{k},{k - 10},{'yes' if k % 2 else 'no'}\n" for k in range(20))
    table.write_text("id,a,y\n" + rows)
    schema.write_text(SCHEMA)
    facts = ["--data", f"{table}", "--label", "y", "--id", "id", "--schema", f"{schema}"]
    plan = ["--method", "noisy-gd", "--regularization", "0.1", "--no-utility", "--releases", "6"]
    assert main(["init", f"{path}", *facts, *plan]) == 0
    assert main(["learn", f"{path}"]) == 0
    for k in (3, 5, 7):
        assert main(["delete", f"{path}", f"name-{k}"]) == 0
    return path


def accountant_of(path: Path) -> Accountant:
    with Store.open(path) as opened:
        return opened.accountant


def test_every_question_reaches_the_library(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    accountant = accountant_of(store)
    words = "--order 4 --delta 1e-5 --present-from 2 --erased-at 3 --observed 1,3-4 --models-seen 1 --requests 9"
    assert main(["budget", f"{store}", "--json", *words.split(), "--attack-advantage", "0.5"]) == 0
    answer = json.loads(capsys.readouterr().out)
    asked = {"present_from": 2, "erased_at": 3, "observed": [1, 3, 4], "models_seen": 1, "requests": 9}
    direct = build_report(accountant, order=4, delta=1e-5, attack_advantage=0.5, **asked).to_dict()
    assert answer["statement"] == json.loads(json.dumps(direct))
    assert (
        answer["statement"]["deletion"]["erased-vs-never"]["gdp"]
        == accountant.deletion(2, 3, [1, 3, 4]).with_slack().gdp
    )
    assert answer["publications_left"] == accountant.remaining().publications == 2
    for entry in answer["releases"]:
        number = entry["release"]
        assert entry["dp"]["renyi"] == pytest.approx(accountant.dp(number).with_slack().renyi(4), rel=1e-12)
        if number > 1:
            later = accountant.deletion(1, number, range(number, 5))
            assert entry["deletion"]["epsilon"] == pytest.approx(later.with_slack().epsilon(1e-5), rel=1e-9)


def test_the_text_answers_in_words_and_lists_each_release_once(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["budget", f"{store}", "--models-seen", "1"]) == 0
    text = capsys.readouterr().out
    for phrase in (
        "was it ever there?",
        "was it x or x′?",
        "requests that saw 1 earlier models",
        "if 30 more requests came",
    ):
        assert phrase in text
    assert "beyond the budget: publication would be withheld" in text
    assert text.count("unlearn") == 3


@pytest.mark.parametrize(
    "words", [["--observed", "1-x"], ["--observed", ""], ["--observed", "3-1"], ["--models-seen", "many"]]
)
def test_a_question_that_makes_no_sense_is_a_usage_error(store: Path, words: list[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["budget", f"{store}", *words])
    assert stopped.value.code == 2


@pytest.mark.parametrize("words", ["1,9", "1-999999999999"])
def test_a_release_that_does_not_exist_is_named(store: Path, capsys: pytest.CaptureFixture[str], words: str) -> None:
    assert main(["budget", f"{store}", "--observed", words]) == 2
    assert "must be at most 4" in capsys.readouterr().err

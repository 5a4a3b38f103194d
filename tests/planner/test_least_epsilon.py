"""`plan --accuracy` and `advise --accuracy`: the least ε at which an accuracy is forecast, and what they refuse."""

from __future__ import annotations

import json
import math
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from noisygd_delete import Budget, losses
from noisygd_delete.cli import main
from noisygd_delete.errors import NothingWorthHaving
from noisygd_delete.planner import advise
from noisygd_delete.planner.advise import Advice
from noisygd_delete.planner.least_epsilon import (
    EPSILONS,
    LARGEST_ERROR,
    MEAN_ERROR,
    AccuracyTarget,
    find_least_epsilon,
)

TARGET = AccuracyTarget(wanted=0.84, without_noise=0.85, majority=0.76)
SIZES = ["--records", "26000", "--features", "108"]
ONE_WAY = ["--method", "objective-perturbation"]
FIGURES = ["--accuracy", "0.84:without_noise=0.85,majority=0.76"]
TABLE = Path(__file__).parents[2] / "benchmarks" / "results" / "least_epsilon.md"


def advise_at(epsilon: float, records: int) -> Advice:
    budget = Budget.from_epsilon_delta(dp=(epsilon, 1e-6), deletion=(epsilon / 10, 1e-6))
    way = "objective-perturbation"
    return advise(losses.Logistic(1.0), records=records, features=108, budget=budget, method=way, adjacency="zero-out")


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main([*words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("lost", [0.001, 0.01, 0.08])
def test_the_largest_forecast_is_the_one_of_the_accuracy_wanted(lost: float) -> None:
    target = AccuracyTarget(0.85 - lost, 0.85, 0.76)
    assert target.accuracy(target.most_excess_risk) == pytest.approx(target.wanted)
    assert target.accuracy(0.0) == pytest.approx(0.85)
    assert target.accuracy(100.0) == pytest.approx(0.76)


def test_a_majority_not_given_asks_for_more() -> None:
    assert AccuracyTarget(0.84, 0.85, 0.5).most_excess_risk < TARGET.most_excess_risk


def test_the_epsilon_found_is_enough_and_the_one_before_is_not() -> None:
    (found,) = find_least_epsilon([TARGET], advise_at, 26_000)
    assert found.accuracy >= TARGET.wanted
    before = EPSILONS[EPSILONS.index(found.epsilon) - 1]
    assert TARGET.accuracy(advise_at(before, 26_000).chosen.excess_risk) < TARGET.wanted
    (wider,) = find_least_epsilon([TARGET], advise_at, 2600)
    assert wider.epsilon > found.epsilon


def test_a_refusal_names_an_n_at_which_it_is_reached() -> None:
    with pytest.raises(NothingWorthHaving) as refused:
        find_least_epsilon([TARGET], advise_at, 40)
    (records,) = (int(text.replace(",", "")) for text in re.findall(r"about ([\d,]+) records", str(refused.value)))
    assert records > 40
    assert find_least_epsilon([TARGET], advise_at, math.ceil(1.05 * records))  # two digits were shown


def test_the_plan_file_has_the_least_epsilon_and_plans_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "plan.toml"
    found = answer(capsys, "plan", *FIGURES, *SIZES, "--out", str(file))
    (least,) = found["least_epsilon"]["least_epsilon"]
    written = tomllib.loads(file.read_text())
    assert written["dp"] == least["epsilon"] in EPSILONS
    assert written["adjacency"] == "zero-out"
    assert least["forecast"] >= 0.84
    again = answer(capsys, "advise", "--plan", str(file), *SIZES)
    assert again["options"]["regularization"] == written["regularization"]
    advised = answer(capsys, "advise", *FIGURES, *SIZES)
    assert advised["least_epsilon"] == found["least_epsilon"]


def test_without_the_accuracy_without_noise_the_answer_is_one_line_for_each_supposed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["plan", "--accuracy", "0.84", *ONE_WAY, *SIZES]
    found = answer(capsys, *words)["least_epsilon"]
    without = [one["accuracy_without_noise"] for one in found["least_epsilon"]]
    epsilons = [one["epsilon"] for one in found["least_epsilon"]]
    assert found["supposed"]
    assert without == pytest.approx([0.85, 0.86, 0.88, 0.92])
    assert epsilons == sorted(epsilons, reverse=True)
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert f"{MEAN_ERROR:.1f} points" in printed
    assert "without_noise=A" in printed


@pytest.mark.parametrize(
    "words",
    [
        ["--accuracy", "0.84", "--dp", "1"],
        ["--accuracy", "0.84", "--gdp"],
        ["--accuracy", "0.84", "--loss", "pseudo-huber"],
        ["--accuracy", "0.84", "--out", "plan.toml"],
        ["--accuracy", "0.84:without_noise=0.85", "--out", "taken.toml"],
        ["--accuracy", "0.84:other=0.5"],
        ["--accuracy", "much"],
        ["--accuracy", "0.84:without_noise=most"],
        ["--requests-per-year", "9"],
    ],
)
def test_what_contradicts_it_is_refused_before_anything_is_computed(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("noisygd_delete.planner.least_epsilon.find_least_epsilon", lambda *_: pytest.fail("computed"))
    Path("taken.toml").write_text("somebody's")
    assert main(["plan", *words, *SIZES]) == 2
    assert ("--out" if "--out" in words else words[0]) in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["taken.toml"]


def test_the_error_printed_is_the_committed_tables() -> None:
    summary = re.search(
        r"forecasts: ([\d.]+) points from the accuracy wanted in the mean, ([\d.]+) at most", TABLE.read_text()
    )
    assert summary is not None
    assert (float(summary[1]), float(summary[2])) == (MEAN_ERROR, LARGEST_ERROR)
    assert len({line.split("|")[1] for line in TABLE.read_text().splitlines() if line.startswith("| ")}) == 2 + 20

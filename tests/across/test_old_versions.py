"""What earlier versions wrote still opens, and means what it meant: plans, ledger events and stores."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from noisygd_delete import Accountant, Store
from noisygd_delete.accountant import Event
from noisygd_delete.cli import main
from noisygd_delete.methods.reading import plan_from_dict

SAMPLES = Path(__file__).parents[1] / "samples" / "version-0.1"
PLANS = json.loads((SAMPLES / "plans.json").read_text())


@pytest.mark.parametrize("name", [name for name in PLANS if "plan" in PLANS[name]])
def test_a_plan_of_version_0_1_still_means_what_it_meant(name: str) -> None:
    sample = PLANS[name]
    plan = plan_from_dict(sample["plan"])
    for fact, value in sample["summary"].items():
        assert plan.summary()[fact] == value
    events = [Event.from_dict(event) for event in sample["events"]]
    assert [event.mechanism for event in events] == [plan.mechanism] * 2
    accountant = Accountant(plan, events)
    assert accountant.dp_cumulative().renyi(2.0) == pytest.approx(sample["dp_cumulative"], rel=1e-12)
    assert accountant.deletion().renyi(2.0) == pytest.approx(sample["deletion"], rel=1e-12)
    again = plan.method.plan(plan.problem)
    assert (again.noise_variance, again.init_variance) == pytest.approx(
        (plan.noise_variance, plan.init_variance), rel=1e-11
    )  # the search for the least noise ends at another of the neighbouring numbers that are safe
    free = {"learn_solver_passes": 0, "delete_solver_passes": 0, "noise_variance": 1.0, "init_variance": 1.0}
    assert replace(again, **free) == replace(plan, **free)  # passes are the forecast of a solver that is faster now
    assert plan_from_dict(json.loads(json.dumps(plan.to_dict()))) == plan


def test_an_extractor_of_version_0_1_is_one_more_mechanism() -> None:
    (event,) = (Event.from_dict(event) for event in PLANS["extractor"]["events"])
    assert event.mechanism.method == "sampled-gaussian"
    assert event.mechanism.carried


def test_a_store_of_version_0_1_opens_verifies_and_serves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(SAMPLES / "store", tmp_path / "store")
    (tmp_path / "store" / "journal").mkdir(exist_ok=True)  # empty between releases: a checkout has no empty folders
    for path in [tmp_path / "store", *(tmp_path / "store").rglob("*")]:
        path.chmod(0o700 if path.is_dir() else 0o600)
    assert main(["verify", str(tmp_path / "store")]) == 0
    assert main(["delete", str(tmp_path / "store"), "r4"]) == 0
    assert main(["verify", str(tmp_path / "store")]) == 0
    with Store.open(tmp_path / "store") as store:
        assert [event.kind for event in store.accountant.events] == ["learn", "unlearn", "unlearn"]
        assert len(store.records) == 3
    capsys.readouterr()

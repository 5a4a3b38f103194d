"""What earlier versions wrote still opens, and means what it meant: plans, ledger events, stores and certificates, one sample of each format."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from noisygd_delete import Accountant, Store
from noisygd_delete.accountant import Event
from noisygd_delete.cli import main
from noisygd_delete.evidence import verify_certificate
from noisygd_delete.evidence.verification import SCHEMES
from noisygd_delete.methods import MECHANISMS
from noisygd_delete.methods.reading import plan_from_dict
from noisygd_delete.store import layout

SAMPLES = Path(__file__).parents[1] / "samples" / "version-0.1"
PLANS = json.loads((SAMPLES / "plans.json").read_text())
NEXT = (
    SAMPLES.parent / "version-0.2"
)  # stores of formats 2 to 4; they are from before the release, and stay as they are
LATER = SAMPLES.parent / "version-0.3"  # from before the release, too
NEXT_PLANS = json.loads((NEXT / "plans.json").read_text()) | json.loads((LATER / "plans.json").read_text())
STORES = {1: SAMPLES / "store", 2: NEXT / "store-format-2", 3: NEXT / "store-format-3", 4: NEXT / "store-format-4"}


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
    assert again.changed(**free) == plan.changed(**free)  # passes are the forecast of a solver that is faster now
    assert plan_from_dict(json.loads(json.dumps(plan.to_dict()))) == plan


def test_an_extractor_of_version_0_1_is_one_more_mechanism() -> None:
    (event,) = (Event.from_dict(event) for event in PLANS["extractor"]["events"])
    assert event.mechanism.method == "sampled-gaussian"
    assert event.mechanism.left == "extractor"


@pytest.mark.parametrize("name", [name for name in NEXT_PLANS if "plan" in NEXT_PLANS[name]])
def test_a_plan_of_a_later_version_still_means_what_it_meant(name: str) -> None:
    sample = NEXT_PLANS[name]
    plan = plan_from_dict(sample["plan"])
    assert (plan.method.name, plan.learn_steps, plan.delete_steps) == (
        name,
        sample["learn_steps"],
        sample["delete_steps"],
    )
    assert plan.noise_variance == sample["noise_variance"]
    accountant = Accountant(plan, [Event.from_dict(event) for event in sample["events"]])
    assert accountant.dp_cumulative().renyi(2.0) == pytest.approx(sample["dp_cumulative"], rel=1e-12)
    assert accountant.deletion().renyi(2.0) == pytest.approx(sample["deletion"], rel=1e-12)
    assert plan_from_dict(json.loads(json.dumps(plan.to_dict()))) == plan


def test_every_format_that_is_read_or_written_has_its_sample() -> None:
    assert tuple(STORES) == layout.READABLE
    assert max(STORES) == layout.FORMAT, (
        "a new format: a store of it goes into tests/samples, and never changes afterwards"
    )
    papers = {json.loads(path.read_text())["format"] for path in SAMPLES.parent.glob("version-*/certificates/*.json")}
    assert papers == set(SCHEMES)
    samples = [*PLANS.values(), *NEXT_PLANS.values()]
    sampled = {Event.from_dict(event).mechanism.method for sample in samples for event in sample["events"]}
    assert sampled == set(MECHANISMS)


@pytest.mark.parametrize("path", sorted((NEXT / "certificates").glob("*.json")), ids=lambda path: path.stem)
def test_a_certificate_of_version_0_2_still_verifies(path: Path) -> None:
    paper = json.loads(path.read_text())
    assert verify_certificate(paper).passed
    figures = (
        paper["statement"]["guarantees"]["erased_all_models"]
        if "statement" in paper
        else next(claim["values"] for claim in paper["claims"] if claim["key"] in ("erased.all", "erased.before"))
    )
    figures["advantage"] /= 2
    assert not verify_certificate(paper).passed


@pytest.mark.parametrize("version", STORES)
def test_a_store_of_each_format_opens_verifies_and_serves(
    version: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(STORES[version], tmp_path / "store")
    (tmp_path / "store" / "journal").mkdir(exist_ok=True)  # empty between releases: a checkout has no empty folders
    for path in [tmp_path / "store", *(tmp_path / "store").rglob("*")]:
        path.chmod(0o700 if path.is_dir() else 0o600)
    before = 4 if version == 1 else 6
    with Store.open(tmp_path / "store") as store:
        assert len(store.records) == before
    assert main(["verify", str(tmp_path / "store")]) == 0
    assert main(["delete", str(tmp_path / "store"), "r4"]) == 0
    assert main(["verify", str(tmp_path / "store")]) == 0
    with Store.open(tmp_path / "store") as store:
        assert [event.kind for event in store.accountant.events] == ["learn", "unlearn", "unlearn"]
        assert len(store.records) == before - 1
    capsys.readouterr()

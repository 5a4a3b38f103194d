"""A plan that promises nothing better than guessing says so: every start and method, every door."""

from __future__ import annotations

import json
import math
import warnings

import numpy as np
import pytest

from noisygd_delete import Budget, losses, make_plan
from noisygd_delete.errors import NothingPromised
from tests.cli.planned import main

BUDGET = Budget(order=10, dp=1.0, deletion=0.1)
WAYS = {
    "noisy-gd:analysis=paper": {"method": "noisy-gd:analysis=paper"},
    "noisy-gd": {"method": "noisy-gd"},
    "few steps": {"method": "noisy-gd", "utility": False},
    "output-perturbation": {"method": "output-perturbation"},
    "cold minimiser": {"method": "output-perturbation", "solver": "cold"},
    "fixed minimiser": {"method": "output-perturbation", "solver": "fixed"},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("records", [100, 26_000])
def test_the_warning_comes_where_the_bound_is_no_better_than_zero_weights(way: str, records: int) -> None:
    sizes = {"records": records, "features": 10, "regularization": 1e-2, "budget": BUDGET}
    plan = make_plan(losses.Logistic(1.0), **sizes, **WAYS[way])
    poor = not plan.outlook.excess_risk < math.log(2)
    assert poor == (records == 100)
    assert bool(plan.worth()) == poor == ("does not promise a model better than guessing" in plan.explain())


def test_composition_promises_no_accuracy_and_says_so() -> None:
    sizes = {"records": 100, "features": 3, "regularization": 0.1, "budget": BUDGET}
    plan = make_plan(losses.Sigmoid(1.0), **sizes, method="noisy-gd:analysis=composition")
    assert "does not promise a model better than guessing" in plan.explain()
    linear = make_plan(losses.Linear(1.0), **sizes, method="noisy-gd")
    assert linear.worth() == ""  # nothing is guessed


@pytest.mark.parametrize(
    "more",
    [
        ["--method", "noisy-gd:analysis=paper"],
        ["--method", "output-perturbation"],
        ["--method", "noisy-gd", "--no-utility"],
    ],
)
def test_plan_init_and_learn_say_so(tmp_path, monkeypatch, capsys, more: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.toml").write_text('id = "id"\n[label]\ncolumn = "y"\nclasses = ["a", "b"]\n')
    (tmp_path / "table.csv").write_text("id,y\n" + "".join(f"{k},{'ab'[k % 2]}\n" for k in range(30)))
    plan = ["plan", "--records", "30", "--features", "1"]
    init = ["init", "store", "--data", "table.csv", "--schema", "schema.toml"]
    for command in ([*plan, *more], [*init, *more], ["learn", "store", "--dry-run"]):
        assert main([*command, "--json"]) == 0
        assert "better than guessing" in json.loads(capsys.readouterr().out)["warning"]
    monkeypatch.setattr("noisygd_delete.store.Store.learn", _instead)
    for command in ([*plan, *more], ["learn", "store"]):
        assert main(command) == 0
        assert "better than guessing" in " ".join(capsys.readouterr().out.split())


def _instead(store, *_, **__):
    """A release without its steps: the door is tested, not the engine."""
    from noisygd_delete.curator.release import Release

    return Release(1, "learn", 1, 1, 0, {}, None, "published", None)


def test_a_plan_that_promises_something_carries_no_warning(capsys) -> None:
    assert main(["plan", "--records", "26000", "--features", "10", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["warning"] is None


def test_estimators_warn_once_for_a_fit_with_a_class_of_its_own() -> None:
    estimators = pytest.importorskip("noisygd_delete.estimators")
    rng = np.random.default_rng(0)
    rows, labels = rng.uniform(-1, 1, (60, 3)), np.arange(60) % 2
    for more in ({"method": "noisy-gd:analysis=paper"}, {"method": "output-perturbation"}):
        poor = estimators.NoisyGDClassifier(feature_bounds=(-1, 1), regularization=0.02, random_state=0, **more)
        with pytest.warns(NothingPromised, match="better than guessing") as caught:
            poor.fit(rows, labels)
        assert len(caught) == 1
        assert caught[0].filename == __file__
        rich = estimators.NoisyGDClassifier(
            feature_bounds=(-1, 1),
            regularization=0.5,
            budget=Budget(order=2, dp=1e4, deletion=1e4),
            random_state=0,
            **more,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            rich.fit(rows, labels)

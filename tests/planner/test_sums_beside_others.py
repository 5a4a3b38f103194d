"""Sums beside the other methods for a stream: the forecast against the noise that is drawn, the table, and what one release alone would tell."""

from __future__ import annotations

import math

import numpy as np
import pytest

from noisygd_delete import Budget, Curator, Records, losses, make_plan
from noisygd_delete.curator.carried_noise import moments_of
from noisygd_delete.engine.noise import noise_source
from noisygd_delete.features.maps import Additive, RandomFourier
from noisygd_delete.methods.forecast import estimated_norm
from noisygd_delete.planner import advise, compare_plans
from noisygd_delete.planner.defaults import expected_cost

SIZES = {"records": 4000, "features": 8, "regularization": 1e-4}
BUDGET = Budget.from_gdp(dp=1.0, deletion=0.1)


def plan(loss=losses.Logistic(1.0), method="sufficient-statistics", releases=300, **facts):  # noqa: B008 - frozen
    return make_plan(loss, method=method, releases=releases, budget=BUDGET, utility=False, **{**SIZES, **facts})


@pytest.mark.parametrize("loss", [losses.Logistic(1.0), losses.Softmax(0.5, classes=3), losses.Squared(2.0)])
@pytest.mark.parametrize("fault", [False, True])
def test_the_forecast_is_the_pull_of_the_noise_that_is_drawn(loss, fault: bool) -> None:
    """Noise of a release, drawn and put on weights of the guessed norm. Planted: the noise of the label sums left out."""
    chosen = plan(loss)
    begin, (outputs, features) = chosen.learning.start, chosen.shape
    moments, noise = moments_of(begin, chosen.shape), noise_source(np.random.default_rng(1))
    odds = {"target": 1, "binary": 2, "class": outputs}[loss.label_kind]
    weights = np.random.default_rng(0).normal(size=(outputs, features))
    weights *= estimated_norm(chosen.problem) / odds / np.linalg.norm(weights)
    unit, above, pulls = 2.0**begin.bits, np.triu_indices(features), []
    for _ in range(500):
        drawn = moments.noise(noise, variance=int(begin.variance), label_weight=begin.label_weight)
        square = np.zeros((features, features))
        square[above] = drawn[: len(above[0])] / unit**2
        square += np.triu(square, 1).T
        labels = drawn[len(above[0]) :].reshape(outputs, features) / unit / 2.0**begin.label_bits
        pulls.append(float(np.square(weights @ square - (0 if fault else labels)).sum()))
    spread = begin.variance / unit**4
    added = 0.25 * math.sqrt(2 * spread * features) / chosen.problem.records
    norm, factor = float(np.linalg.norm(weights)), outputs if outputs > 1 else 1
    flat = 0.01 if odds > 1 else 0.0
    pull = (chosen.outlook.forecast - flat - factor * added * norm**2 / 2) * 2 / factor
    pull *= (chosen.problem.regularization + added) * chosen.problem.records**2
    assert (abs(np.mean(pulls) / pull - 1) < 0.1) != fault


def test_the_forecast_rises_with_releases_and_columns_and_falls_with_rows_and_budget() -> None:
    at = expected_cost(plan())
    assert expected_cost(plan(releases=30)) < at < expected_cost(plan(releases=3000))
    assert expected_cost(plan(records=8000)) < at < expected_cost(plan(features=16))
    assert expected_cost(plan(ridge="forecast")) == at  # it brings a ridge of its own


def test_the_way_of_the_smaller_forecast_is_the_more_accurate_one() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(12_000, 8))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    labels = np.where(rng.random(12_000) < 1 / (1 + np.exp(-rows @ np.full(8, 3.0))), 1.0, -1.0)
    found = {}
    for method in ("sufficient-statistics", "objective-perturbation"):
        chosen = plan(method=method, ridge="forecast")
        right = []
        for seed in range(5):
            curator = Curator(Records(rows[:4000], labels[:4000]), chosen)
            scores = curator.learn(np.random.default_rng(seed)).model.scores(rows[4000:])[:, 0]
            right.append(float(((scores > 0) == (labels[4000:] > 0)).mean()))
        found[method] = expected_cost(chosen), np.mean(right)
    assert found["sufficient-statistics"][0] < found["objective-perturbation"][0] / 1.5
    assert found["sufficient-statistics"][1] > found["objective-perturbation"][1] + 0.01


def test_one_table_weighs_sums_the_others_and_publishing_once() -> None:
    facts = {"loss": losses.Logistic(1.0), **SIZES, "budget": BUDGET, "requests": 300, "ridge": "forecast"}
    found = compare_plans(target=0.2, ways=("objective-perturbation", "sufficient-statistics"), **facts)
    perturbed, sums = found.candidates
    assert found.chosen is sums
    assert (sums.publications, sums.delete_passes) == (300, 1)
    assert perturbed.publications < 300
    present, later, seen = sums.figures
    assert later == 0 < seen < present <= BUDGET_EPSILON * (1 + 1e-9)
    once = found.once
    assert once is not None
    alone = plan(method="objective-perturbation", releases=1, ridge="forecast")
    assert (once.plan.calibration.linear_term, once.plan.problem.regularization) == (
        alone.calibration.linear_term,
        alone.problem.regularization,
    )
    assert once.figures[1] == once.figures[2] == alone.deletion_observed().with_slack().epsilon(once.delta) > later
    assert once.excess_risk < sums.excess_risk
    assert not found.once_will_do
    text = found.table()
    for words in ("once", "erased, later", "all seen", "more than what was asked", "301 releases take the noise of"):
        assert words in text
    told = found.to_dict()
    assert told["once"]["will_do"] is False
    assert told["candidates"][1]["revealed"]["epsilon_erased_later"] == 0
    wide = {**facts, "requests": 6, "records": 26_000, "features": 108}
    few = compare_plans(target=0.0347, ways=("objective-perturbation", "sufficient-statistics"), **wide)
    assert few.chosen.method == "objective-perturbation"
    assert "where there are more releases" in few.table()
    assert compare_plans(ways=("sufficient-statistics",), target=0.2, **facts).once is None


def test_once_is_enough_where_a_deletion_may_tell_as_much() -> None:
    generous = Budget.from_gdp(dp=1.0, deletion=1.0)
    facts = {"loss": losses.Logistic(1.0), **SIZES, "budget": generous, "requests": 20, "ridge": "forecast"}
    found = compare_plans(target=0.2, ways=("objective-perturbation", "sufficient-statistics"), **facts)
    assert found.once_will_do
    assert "within what was asked" in found.table()


def test_rows_that_are_counted_are_forecast_by_their_directions() -> None:
    """Fewer than the map's columns. Planted: a map whose rows have no codes."""
    map = Additive((0, 0, 0), levels=5)
    facts = {"loss": losses.Logistic(1.0), "budget": BUDGET, "requests": 300, "ridge": "forecast", "records": 20_000}
    facts |= {
        "features": map.width + 1,
        "regularization": 1e-4,
        "ways": ("objective-perturbation", "sufficient-statistics"),
    }
    of_columns, counted = (compare_plans(**facts, map=given) for given in (None, map))
    assert counted.candidates[0] == of_columns.candidates[0]
    before, after = of_columns.candidates[1], counted.candidates[1]
    assert after.plan.learning.coding.directions == map.coding.directions < map.width
    assert after.excess_risk < before.excess_risk
    others = RandomFourier(3, size=map.width)
    assert compare_plans(**facts, map=others).candidates == of_columns.candidates
    asked = {name: facts[name] for name in ("loss", "records", "features", "budget", "requests")}
    advice = advise(**asked, method="sufficient-statistics", map=map)
    assert advice.plan.learning.coding is not None
    assert "map" not in advice.list_options()
    assert "additive" not in advice.summarize()


BUDGET_EPSILON = plan(releases=2).allowed.epsilon(plan(releases=2).problem.budget.shown_delta)

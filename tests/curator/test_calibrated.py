"""Probabilities calibrated by the public noise of a plan: the formula against sampling, and what it does on real tables.

The temperature is computed from the plan alone, so no label is looked at; labels are read here to score it.
"""

from __future__ import annotations

import numpy as np
import pytest
from noisygd_delete_lab import sample

from noisygd_delete import Budget, Curator, Model, Records, losses, make_plan
from noisygd_delete.errors import InvalidParameter


def log_loss(model: Model, table, noise: float) -> float:
    """Of the held-out rows, in nats."""
    numbers = table.labels.astype(int) if model.loss.label_kind == "class" else (table.labels > 0).astype(int)
    told = model.log_probabilities(table.features, noise=noise)
    return float(-told[np.arange(len(numbers)), numbers].mean())


def tables(name: str):
    if name == "digits":
        return *sample.digits(), losses.Softmax(1.0, classes=10)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3000, 30)) * np.geomspace(1, 0.05, 30)
    rows /= np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))
    labels = np.where(rng.random(3000) < 1 / (1 + np.exp(-6 * rows[:, 0] + 2 * rows[:, 1])), 1.0, -1.0)
    return Records(rows[:2000], labels[:2000]), Records(rows[2000:], labels[2000:]), losses.Logistic(1.0)


@pytest.mark.parametrize(("name", "method"), [("digits", "minimiser"), ("steep", "sharp"), ("steep", "minimiser")])
def test_much_noise_costs_less_log_loss_when_calibrated(name: str, method: str) -> None:
    """In every one of several draws, at a budget whose noise drowns most of the signal; and with little noise at most a
    tenth is lost: rows lie along directions in which the noise is less than forecast."""
    train, test, loss = tables(name)
    facts = {"records": train.slots, "features": train.features.shape[1], "regularization": 1e-3, "method": method}
    for dp, gain in ((0.02, 0.05), (100.0, -0.1)):
        plan = make_plan(loss, budget=Budget(order=10, dp=dp, deletion=dp / 2), utility=False, **facts)
        for seed in range(2):
            model = Curator(train, plan).learn(np.random.default_rng(seed)).model
            plain, shrunk = (log_loss(model, test, noise) for noise in (0.0, plan.weight_noise))
            assert shrunk < plain - gain * plain
            rows = test.features
            assert (
                model.probabilities(rows, noise=plan.weight_noise).argmax(1) == model.probabilities(rows).argmax(1)
            ).all()


@pytest.mark.parametrize("scores", [[0.5, 3.0, -8.0]])
@pytest.mark.parametrize("noise", [0.1, 2.0, 30.0])
def test_the_factor_is_the_mean_of_the_logistic_function_over_noisy_scores_to_two_hundredths(scores, noise) -> None:
    drawn = np.random.default_rng(0).normal(size=200_000) * np.sqrt(noise)
    for score in scores:
        model = Model(weights=np.array([score, 0.0]), loss=losses.Logistic(1.0), certified=False)
        told = model.probabilities([[1.0, 0.0]], noise=noise)[0, 1]
        assert told == pytest.approx((1 / (1 + np.exp(-(score + drawn)))).mean(), abs=0.02)


def test_the_noise_that_is_forecast_is_that_of_the_weights_where_the_curvature_is_even() -> None:
    """Rows spread evenly over the directions and λ so large that it is most of the curvature: E‖θ − θ*‖² / d is v."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(500, 8))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    records = Records(rows, np.where(rng.random(500) < 0.5, 1.0, -1.0))
    budget = Budget(order=10, dp=0.1, deletion=0.05)
    facts = {"records": 500, "features": 8, "regularization": 0.5, "budget": budget, "utility": False}
    for method in ("sharp", "minimiser", "perturbed"):
        plan = make_plan(losses.Logistic(1.0), method=method, **facts)
        drawn = [Curator(records, plan).learn(np.random.default_rng(seed)).model.weights for seed in range(100)]
        assert np.var(drawn, axis=0).mean() == pytest.approx(plan.weight_noise, rel=0.2)


def test_a_model_whose_scores_are_not_linear_has_no_forecast() -> None:
    loss = losses.TanhNetwork(1.0, outer_weights=(1.0, -1.0))
    plan = make_plan(
        loss,
        records=10_000,
        features=3,
        regularization=10.0,
        budget=Budget(order=2, dp=100.0, deletion=50.0),
        method="composition",
        utility=False,
    )
    with pytest.raises(InvalidParameter, match="cannot be calibrated"):
        _ = plan.weight_noise


def test_a_model_without_odds_has_no_probabilities() -> None:
    """Its two scores are of hidden units, and were taken for those of two classes."""
    loss = losses.TanhNetwork(1.0, outer_weights=(1.0, -1.0))
    model = Model(weights=np.ones((2, 3)), loss=loss, certified=False)
    with pytest.raises(InvalidParameter, match="no probabilities"):
        model.probabilities(np.ones((1, 3)))

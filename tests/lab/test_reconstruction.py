"""The difference attack reads a row off two exactly retrained models, and nothing off two of ours."""

from __future__ import annotations

import numpy as np
import pytest
from noisygd_delete_lab.reconstruction import curvature, difference_direction, reconstruct

from noisygd_delete import EditRequest, Records, learn, losses, unlearn
from tests.bank import sized_plan

N, WIDTH, REGULARIZATION, TRIALS = 400, 20, 1e-2, 25


@pytest.fixture(scope="module")
def population():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(N + 200, WIDTH)) * np.linspace(0.3, 1.5, WIDTH)
    rows[:, 0] = 1.0
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    labels = np.where(rows @ rng.normal(size=WIDTH) + 0.3 * rng.normal(size=len(rows)) > 0, 1.0, -1.0)
    return rows, labels


def newton(rows, labels):
    """Oracle: the minimiser of the regularised logistic objective over N slots."""
    weights = np.zeros(WIDTH)
    for _ in range(40):
        probability = 1 / (1 + np.exp(labels * (rows @ weights)))
        gradient = -(labels * probability) @ rows / N + REGULARIZATION * weights
        hessian = (rows * (probability * (1 - probability))[:, None]).T @ rows / N + REGULARIZATION * np.eye(WIDTH)
        weights = weights - np.linalg.solve(hessian, gradient)
    return weights


def test_exact_retraining_gives_the_row_away_and_noisy_gd_does_not(population) -> None:
    rows, labels = population
    train, public = slice(0, N), slice(N, None)
    whole = newton(rows[train], labels[train])
    hessian = curvature(
        Records(rows[public], labels[public]), losses.Logistic(radius=1.0), whole, regularization=REGULARIZATION
    )

    def retrain(index):
        left = rows[train].copy()
        left[index] = 0
        return whole, newton(left, labels[train])

    exact = reconstruct(retrain, rows[:TRIALS], rows[public], hessian=hessian)
    assert exact.mean_cosine > 0.97
    assert exact.counts(0.9).advantage > 0.5

    plan = sized_plan(losses.Logistic(radius=1.0), N, WIDTH, REGULARIZATION, method="noisy-gd")
    records, rng = Records(rows[train], labels[train]), np.random.default_rng(1)
    learned = learn(records, plan, rng)

    def ours(index):
        return learned.weights, unlearn(records, EditRequest.delete([index]), learned, plan, rng).weights

    noisy = reconstruct(ours, rows[:TRIALS], rows[public], hessian=hessian)
    assert noisy.mean_cosine < noisy.mean_control + 0.15
    assert noisy.counts(0.9).advantage == 0


def test_a_direction_is_a_unit_vector_or_nothing() -> None:
    assert np.linalg.norm(difference_direction([1.0, 2.0], [1.5, 1.0])) == pytest.approx(1)
    assert not difference_direction([1.0, 2.0], [1.0, 2.0]).any()

"""The main job on real records: accuracy beside the non-private figure, steps as designed."""

from __future__ import annotations

import numpy as np
import pytest

from noisygd_delete import Budget, Curator, Records, losses
from tests.bank import sized_plan

sklearn_linear = pytest.importorskip("sklearn.linear_model", reason="the non-private figure is scikit-learn's")


def non_private_accuracy(train, test, regularization: float) -> float:
    model = sklearn_linear.LogisticRegression(
        C=1 / (regularization * len(train[1])), fit_intercept=False, max_iter=2000
    )
    return model.fit(*train).score(*test)


def split(rows, labels, count: int):
    """Rows permuted by numpy's default_rng(0); the first `count` train."""
    order = np.random.default_rng(0).permutation(len(rows))
    rows, labels = rows[order], labels[order]
    return (rows[:count], labels[:count]), (rows[count:], labels[count:])


@pytest.mark.parametrize(
    ("options", "deletion", "utility"),
    [
        # 14,000 passes over the table; its steps here are counted in tests/bounds too
        pytest.param({"method": "noisy-gd:analysis=paper"}, 2_312, 7_164, marks=pytest.mark.long, id="paper"),
        pytest.param({"method": "noisy-gd", "exact": False}, 62, 59, id="sharp over the reals"),
        # exact: not one step more
        pytest.param({"method": "noisy-gd"}, 62, 59, id="noisy-gd"),
        pytest.param({"method": "noisy-gd", "deletion_notion": "pairwise"}, 148, 76, id="sharp pairwise"),
    ],
)
def test_adult(adult, options, deletion: int, utility: int) -> None:
    train, test = split(adult.rows, adult.labels, 26_000)
    assert train[0].shape == (26_000, 108)
    plan = sized_plan(losses.Logistic(1.0), 26_000, 108, 1e-3, **options)
    steps = plan.calibration
    assert (steps.delete_steps_for_deletion, steps.delete_steps_for_utility) == (deletion, utility)
    reference = non_private_accuracy(train, test, 1e-3)
    assert reference == pytest.approx(0.839, abs=0.003)
    curator, held_out = Curator(Records(*train), plan), Records(*test)
    learned = curator.learn()
    assert learned.model.accuracy(held_out) >= reference - 0.005
    deleted = curator.delete([17, 42, 4_711])
    assert deleted.steps == max(deletion, utility)
    assert deleted.model.accuracy(held_out) >= reference - 0.005


def test_mnist_three_against_eight(mnist) -> None:
    rows, digits = mnist
    chosen = np.isin(digits, (3, 8))
    train, test = split(rows[chosen], np.where(digits[chosen] == 3, 1, -1), 1_600)
    budget = Budget.from_epsilon_delta(dp=(8.0, 1e-5), deletion=(0.1, 1e-5))
    plan = sized_plan(losses.Logistic(1.0), 1_600, 784, 1e-2, budget, method="noisy-gd")
    curator = Curator(Records(*train), plan)
    curator.learn()
    release = curator.delete([0, 1])
    assert release.guarantees["deletion"].epsilon(1e-5) <= 0.1
    # 784 weights on 1,600 records is a hard case: the price of (8, 1e-5) is visible and bounded
    assert release.model.accuracy(Records(*test)) >= non_private_accuracy(train, test, 1e-2) - 0.06


def test_digits_ten_classes() -> None:
    datasets = pytest.importorskip("sklearn.datasets")
    pixels, digits = datasets.load_digits(return_X_y=True)
    rows = np.column_stack([pixels / 16, np.ones(len(pixels))])
    train, test = split(rows / np.linalg.norm(rows, axis=1, keepdims=True), digits, 1_497)
    reference = non_private_accuracy(train, test, 3e-3)
    budget = Budget.from_epsilon_delta(dp=(16.0, 1e-5), deletion=(0.1, 1e-5))
    for method in ("noisy-gd", "noisy-gd:analysis=paper"):
        plan = sized_plan(losses.Softmax(1.0, 10), 1_497, 65, 3e-3, budget, method=method, utility=False)
        curator = Curator(Records(*train), plan)
        curator.learn()
        assert curator.delete([5]).model.accuracy(Records(*test)) >= reference - 0.06

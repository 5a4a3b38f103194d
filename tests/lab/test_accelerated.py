"""Ullah et al.: repairing a saved run has exactly the law of a run without the record."""

from __future__ import annotations

import numpy as np
import pytest
from noisygd_delete_lab import NoisyAcceleratedSGD, accelerated
from scipy.stats import ks_2samp, kstest, norm

from noisygd_delete import EditRequest, Records, losses
from tests.bank import unit_records


def test_coupling_keeps_the_law_and_agrees_as_often_as_it_can() -> None:
    rng = np.random.default_rng(0)
    mean, new = np.array([[0.0, 1.0]]), np.array([[0.6, 0.2]])  # distance 1 at noise 1
    drawn, kept = [], 0
    for _ in range(20_000):
        moved, same = accelerated.reflect_or_keep(mean + rng.standard_normal((1, 2)), mean, new, noise=1.0, rng=rng)
        drawn.append(moved[0])
        kept += same
    drawn = np.array(drawn)
    along = (drawn - new[0]) @ np.array([0.6, -0.8])
    across = (drawn - new[0]) @ np.array([0.8, 0.6])
    assert kstest(along, "norm").pvalue > 1e-3
    assert kstest(across, "norm").pvalue > 1e-3
    assert kept / 20_000 == pytest.approx(2 * norm.cdf(-0.5), abs=0.015)  # 1 − total variation


def _laws(method, runs):
    """Final weights of (learn, delete record 0) and of learning without it."""
    records = Records([[1.0], [0.2], [-0.4], [0.3], [-0.2], [0.1]], [1.0, -1.0, 1.0, -1.0, 1.0, 1.0])
    request = EditRequest.delete([0])
    without, rng = records.apply(request), np.random.default_rng(7)
    served = [method.unlearn(records, request, method.learn(records, rng), rng).weights[0, 0] for _ in range(runs)]
    fresh = [method.learn(without, rng).weights[0, 0] for _ in range(runs)]
    return np.array(served), np.array(fresh)


def test_unlearning_has_the_law_of_learning_without_the_record(monkeypatch) -> None:
    """Accepts the truth; rejects keeping every noisy gradient as it was, and keeping the batch as it was (planted)."""
    options = {"regularization": 0.1, "batch": 3, "steps": 6, "noise": 0.15, "step_size": 0.8}
    method = NoisyAcceleratedSGD(losses.Logistic(1.0), **options)
    assert ks_2samp(*_laws(method, 1500)).pvalue > 1e-3
    monkeypatch.setattr(accelerated, "reflect_or_keep", lambda noisy, *_, **__: (noisy, True))
    assert ks_2samp(*_laws(method, 1500)).pvalue < 1e-4


def test_most_deletions_cost_little_and_the_saved_run_stays_consistent() -> None:
    records, rng = unit_records(300, 5), np.random.default_rng(1)
    method = NoisyAcceleratedSGD(losses.Logistic(1.0), regularization=0.01, batch=10, steps=40, noise=0.3)
    held, costs = method.learn(records, rng), []
    for name in range(40):
        held = method.unlearn(records, EditRequest.delete([name]), held, rng)
        records.edit(EditRequest.delete([name]))
        costs.append(held.gradient_evaluations)
        assert all(name not in step[0] and len(set(step[0].tolist())) == 10 for step in held.secret["run"])
    assert np.median(costs) < 20 < 40 * 10
    weights = np.zeros_like(held.weights)
    for _, point, _, noisy in held.secret["run"]:
        weights, _ = method._advance(weights, point, noisy)
    np.testing.assert_allclose(weights, held.weights)

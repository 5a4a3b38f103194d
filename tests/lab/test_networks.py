"""Rivals for networks: their constants against laws worked out step by step, what they keep, and what two releases show."""

from __future__ import annotations

import math

import numpy as np
import pytest
from noisygd_delete_lab import (
    FixedTopNetwork,
    LadderReleases,
    NetworkRetraining,
    NetworkTraining,
    NoisyFineTuning,
    PrivateBaseThenTuning,
    RewindToDelete,
)
from noisygd_delete_lab.base import erasure
from noisygd_delete_lab.network_bounds import fine_tuning_gdp, fine_tuning_noise, rewound_distance
from noisygd_delete_lab.network_game import which_left_network

from noisygd_delete import Budget, EditRequest, Records, losses, make_plan
from noisygd_delete.bounds.gaussian import gdp_advantage, gdp_for
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.methods import Stage, Staged
from tests.bank import unit_rows
from tests.oracles import ball_chain

LOSS = losses.MultilayerPerceptron(radius=1.0, classes=3, hidden=6)
TRAINING = NetworkTraining(LOSS, 1e-4, 2.0, steps=60, tuning=15)
PROMISE = {"epsilon": 0.5, "delta": 1e-5}


def table(n=60, seed=0):
    return Records(unit_rows(n, 5, seed), np.random.default_rng(seed).integers(0, 3, n).astype(float))


def ladder(**options):
    return make_plan(
        LOSS, records=60, features=5, regularization=1e-3, adjacency="zero-out", dtype="float64",
        budget=Budget.from_epsilon_delta(dp=(1.0, 1e-5), deletion=(0.5, 1e-5)),
        method=Staged((Stage("network", 5), Stage("network", 3)), **options),
    )  # fmt: skip


# ---------------------------------------------------------------- constants


@pytest.mark.parametrize("regularization", [0.0, 0.05, 2.0])
@pytest.mark.parametrize("steps", [1, 4, 30])
def test_fine_tuning_costs_what_opposite_drifts_attain(regularization, steps):
    facts = {"radius": 0.7, "clip": 1.3, "regularization": regularization, "step_size": 0.2, "noise": 0.9}
    stated = fine_tuning_gdp(**facts, steps=steps)
    exact = ball_chain.opposite_drifts(**facts, steps=steps)
    assert stated == pytest.approx(exact, rel=1e-9)
    without_drift = ball_chain.opposite_drifts(**{**facts, "clip": 0.0}, steps=steps)
    assert without_drift < stated * 0.95  # the planted fault: gradients taken for equal, so that drifts cancel


def test_the_law_of_fine_tuning_stays_within_its_constant_under_one_drift():
    """The same clipped gradient in both worlds, which pushes the runs apart: never above the bound, and near it."""
    facts = {"radius": 0.5, "regularization": 0.3, "step_size": 0.2, "noise": 0.4, "steps": 2}
    closest = 0.0
    for drift in (lambda x: -np.sign(x), lambda x: np.sin(3 * x), lambda x: -np.clip(4 * x, -1, 1)):
        truth = ball_chain.same_drift_total_variation(drift, **facts)
        bound = gdp_advantage(mu=fine_tuning_gdp(clip=1.0, **facts))
        assert truth <= bound * (1 + 1e-3)
        closest = max(closest, truth / bound)
    assert closest > 0.9


def test_the_noise_of_fine_tuning_meets_its_promise():
    method = NoisyFineTuning(TRAINING, **PROMISE)
    facts = {"radius": 1.0, "clip": 1.0, "regularization": 0.0, "step_size": 0.1, "steps": 10}
    assert ball_chain.opposite_drifts(**facts, noise=method.noise) == pytest.approx(gdp_for(epsilon=0.5, delta=1e-5))
    assert method.noise == pytest.approx(4.0 / (gdp_for(epsilon=0.5, delta=1e-5) * math.sqrt(10)))  # the least of λ = 0
    assert fine_tuning_noise(gdp=0.3, **facts) == pytest.approx(fine_tuning_gdp(noise=0.3, **facts))


@pytest.mark.parametrize("expansion", [1.0, 1.01, 1.2])
def test_rewinding_leaves_what_walking_leaves(expansion):
    for steps, back in ((30, 0), (30, 10), (30, 30)):
        stated = rewound_distance(apart=0.02, expansion=expansion, steps=steps, rewound=back)
        assert stated == pytest.approx(ball_chain.rewound(0.02, expansion, steps, back), rel=1e-9, abs=1e-15)


def test_the_constants_of_public_outer_weights_hold():
    top, rng = FixedTopNetwork(classes=4, hidden=7, scale=0.4), np.random.default_rng(1)
    curved, bent, longest = 0.0, 0.0, 0.0
    for _ in range(150):
        row = rng.normal(size=(1, 3))
        row /= np.linalg.norm(row)
        label = rng.integers(0, 4, 1)
        weights = rng.normal(size=(7, 3)) * rng.uniform(0.1, 4)
        at = top.sum_gradients(weights, row, label)
        longest = max(longest, float(np.linalg.norm(at)))
        odds = top.scores(weights, row)[0]
        exact = math.log(np.exp(odds - odds.max()).sum()) + odds.max() - odds[label[0]]
        towards = rng.normal(size=(7, 3))
        towards /= np.linalg.norm(towards)
        step = 1e-5
        nudged = top.scores(weights + step * towards, row)[0]
        moved = math.log(np.exp(nudged - nudged.max()).sum()) + nudged.max() - nudged[label[0]]
        assert (moved - exact) / step == pytest.approx(float((at * towards).sum()), abs=1e-3)
        bend = float(((top.sum_gradients(weights + step * towards, row, label) - at) * towards).sum()) / step
        curved, bent = max(curved, bend), max(bent, -bend)
    assert 0.2 * top.lipschitz < longest <= top.lipschitz
    assert 0 < curved <= top.smoothness
    assert 0 < bent <= top.weak_convexity


# ---------------------------------------------------------------- the runs


def rivals():
    top = FixedTopNetwork(classes=3, hidden=6, scale=0.4)
    facts = {"network": top, "regularization": 1e-3, "steps": 40, **PROMISE}
    return {
        "afresh": NetworkRetraining(TRAINING),
        "tuned": NoisyFineTuning(TRAINING, **PROMISE),
        "control": NoisyFineTuning(TRAINING, **PROMISE, start="public"),
        "based": PrivateBaseThenTuning(TRAINING, ladder().calibration.stages[0], 1e-5),
        "rewound": RewindToDelete(**facts, rewound=30),
        "staged": LadderReleases(ladder()),
    }


@pytest.mark.parametrize("name", rivals())
def test_a_deletion_runs_and_says_what_it_cost_and_promises(name):
    method, records = rivals()[name], table()
    held = method.learn(records, np.random.default_rng(0))
    request = EditRequest.delete([3])
    after = method.unlearn(records, request, held, np.random.default_rng(1))
    assert np.isfinite(after.weights).all()
    assert after.gradient_evaluations > 0
    assert bool(held.secret) == (not method.stateless)
    promise = method.certificate(after)
    assert promise.deletion is not None
    assert promise.deletion[0] <= 0.5 * (1 + 1e-9)
    assert (promise.existing is not None) == method.private
    assert not promise.adaptive


@pytest.mark.parametrize("name", ["afresh", "tuned", "based", "rewound"])
def test_an_erased_record_is_not_read(name):
    """Another record in the slot that is erased leaves the same model, where what was kept is the same."""
    method = rivals()[name]
    one, other = table(), table()
    other.edit(EditRequest(replacements={3: (np.array([0.6, 0.8, 0, 0, 0]), 1.0)}))
    held = method.learn(one, np.random.default_rng(0))
    gone = [
        method.forget(records.apply(EditRequest.delete([3])), erasure(records, EditRequest.delete([3])), held, np.random.default_rng(1))
        for records in (one, other)
    ]  # fmt: skip
    assert np.array_equal(gone[0].weights, gone[1].weights)


def test_noise_from_a_ball_leaves_nothing_of_the_start():
    """The certificate's noise is far longer than the model: the control ends where the trained model does."""
    method = NoisyFineTuning(TRAINING, **PROMISE)
    size = math.sqrt(LOSS.dimension(5))
    assert method.noise * math.sqrt(10) * size > 50 * method.radius


def test_rewinding_part_of_the_way_needs_noise_beyond_use_and_all_of_it_none():
    top = FixedTopNetwork(classes=10, hidden=64, scale=1 / 8)
    facts = {"network": top, "regularization": 1e-4, "steps": 200, **PROMISE}
    assert RewindToDelete(**facts, rewound=200).noise(1437) == 0.0
    assert RewindToDelete(**facts, rewound=100).noise(1437) > 100.0


def test_the_wrong_start_is_refused():
    with pytest.raises(InvalidParameter, match="start"):
        NoisyFineTuning(TRAINING, **PROMISE, start="last")


# ---------------------------------------------------------------- two releases


def cross_entropy(weights, rows, labels):
    odds = np.asarray(LOSS.scores(weights, rows.astype(float)))
    odds = odds - odds.max(axis=1, keepdims=True)
    return np.log(np.exp(odds).sum(axis=1)) - odds[np.arange(len(rows)), labels.astype(int)]


def test_two_releases_show_who_left_where_tuning_has_no_noise_and_not_on_a_ladder():
    game = {"candidates": 12, "rounds": 2}
    longer = NetworkTraining(LOSS, 0.0, 4.0, steps=60, tuning=150)
    based = PrivateBaseThenTuning(longer, ladder().calibration.stages[0], 1e-5)
    found = which_left_network(based, table(), cross_entropy, rng=np.random.default_rng(2), **game)
    assert found.verdict == "falls"
    climbed = LadderReleases(ladder())

    def last(weights, rows, labels):
        parts = climbed.plan.model_loss.parts(weights, 5)
        return cross_entropy(parts[-1], rows, labels)

    held = which_left_network(climbed, table(), last, rng=np.random.default_rng(3), **game)
    assert held.lower <= held.allowed < 1
    assert held.verdict != "falls"

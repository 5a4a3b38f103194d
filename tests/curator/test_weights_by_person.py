"""Rows weighted by person: one person moves what is summed by no more than one row may, whatever rows they have.

The oracle reads two worlds that differ in one person: present or absent, with other rows in other number, or with one row more. The planted
fault weights every row by 1, which is weighting by row under the noise of weighting by person.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from noisygd_delete import Budget, EditRequest, Records, losses, make_plan
from noisygd_delete.bounds.arithmetic import sensitivity_slack
from noisygd_delete.bounds.correlated_sums import sensitivity as sums_sensitivity
from noisygd_delete.bounds.gaussian import gdp_log_delta
from noisygd_delete.curator import Curator
from noisygd_delete.curator.carried_noise import moments_of, sums_change
from noisygd_delete.curator.learning import check_edit
from noisygd_delete.engine import sums
from noisygd_delete.engine.objective import Objective, PreciseObjective
from noisygd_delete.errors import InvalidParameter, InvalidRequest
from noisygd_delete.methods.serialization import mechanism_from_dict, plan_from_dict
from noisygd_delete.privacy.worlds import Worlds

MOST, WIDTH = 13, 5
BUDGET = Budget.from_epsilon_delta(dp=(2.0, 1e-6), deletion=(0.2, 1e-6))


def plan(method: str = "objective-perturbation", records: int = 120, weighting: str = "by-person", **given):
    facts = {"regularization": 0.1, "budget": BUDGET, "adjacency": "zero-out", "rows_per_subject": MOST, **given}
    loss = facts.pop("loss", losses.Logistic(1.0))
    return make_plan(loss, records=records, features=WIDTH, method=method, weighting=weighting, **facts)


def world(own: int, seed: int = 0, sign: float = 1.0, others: int = 60) -> Records:
    """The rows of others, with persons of one to thirteen rows, and `own` rows of one person, all far on one side."""
    draw = np.random.default_rng(seed)
    rows = draw.normal(size=(others, WIDTH))
    rows = np.concatenate([np.tile(sign * np.eye(WIDTH)[0], (own, 1)), rows])
    rows *= (1 - 2.0**-22) / np.linalg.norm(rows, axis=1, keepdims=True)
    persons = [f"p{k}" for k in draw.integers(0, others // 6, others)]
    labels = np.concatenate([np.ones(own), draw.choice([-1.0, 1.0], others)])
    places = draw.permutation(own + others)
    owners = np.array(["own"] * own + persons)[places].tolist()
    return Records(rows[places], labels[places], subjects=owners, slots=120)


def between(one: Records, other: Records) -> float:
    """The largest distance of the two gradient sums, over a few models and all kinds of sums."""
    found, loss = 0.0, losses.Logistic(1.0)
    for scale in (-40.0, 0.0, 40.0):
        weights = scale * np.eye(WIDTH)[:1]
        for dtype in ("float32", "float64"):
            pair = [Objective(world, loss, regularization=0.1, dtype=dtype, by_person=True) for world in (one, other)]
            found = max(found, float(np.linalg.norm(np.subtract(*(part.gradient_sum(weights) for part in pair)))))
        pair = [PreciseObjective(world, loss, regularization=0.1, by_person=True) for world in (one, other)]
        found = max(found, 120 * float(np.linalg.norm(np.subtract(*(part.gradient(weights) for part in pair)))))
    return found


def check_gradients() -> None:
    slack = MOST * sensitivity_slack(records=120, dtype="float32")
    for own in (1, 2, 3, 7, MOST):
        for less in {0, own - 1}:  # the person, or one row of theirs, erased or never present
            assert between(world(own), world(less)) <= 1 + slack
        for more in (1, MOST):  # another content, of another number of rows
            assert between(world(own), world(more, sign=-1.0)) <= 2 + slack
    assert between(world(MOST), world(0)) >= 0.99  # and the bound is attained


def test_a_person_moves_a_gradient_sum_by_no_more_than_one_row():
    check_gradients()


def test_weights_by_row_are_caught(monkeypatch):
    for module in ("sums", "objective"):
        monkeypatch.setattr(f"noisygd_delete.engine.{module}.person_shares", lambda records: np.ones(records.slots))
    with pytest.raises(AssertionError):
        check_gradients()


def density_delta(
    one: list[tuple[float, float]], other: list[tuple[float, float]], noise: float, epsilon: float
) -> float:
    """δ(ε) between the minimisers of two objectives in one dimension, on a grid.

    The minimiser of Σ w log(1 + e^{−yθ}) + θ²/2 + bθ, b ~ N(0, s²), is at most t where −b ≤ G(t): its density is G′ φ(G/s)/s.
    """
    grid = np.linspace(-12, 12, 50_001) * (noise + 1)
    densities = []
    for rows in (one, other):
        slope, bend = grid.copy(), np.ones_like(grid)
        for weight, label in rows:
            chance = 1 / (1 + np.exp(np.clip(label * grid, -700, 700)))
            slope -= weight * label * chance
            bend += weight * chance * (1 - chance)
        densities.append(bend * np.exp(-((slope / noise) ** 2) / 2) / (noise * math.sqrt(2 * math.pi)))
    return float(np.maximum(densities[0] - math.exp(epsilon) * densities[1], 0).sum() * (grid[1] - grid[0]))


def rows_of(own: int, weight: float, label: float = 1.0) -> list[tuple[float, float]]:
    return [(weight, label)] * own


def check_minimisers(weights=lambda own: 1 / own) -> None:
    """Objective perturbation over m = 1, ρ = 1/4: its μ covers each pair, and changed weights of rows that stay."""
    for noise in (0.5, 0.9):
        run = plan(regularization=0.5).mechanism
        run = replace(run, strong_convexity=1 / 120, linear_term=noise, output_noise=2.0**-10, gradient_tolerance=1e-12)
        mu = math.sqrt(run.curve(Worlds.ZERO_OUT).gdp_squared)
        for own in (1, 2, 3, MOST):
            for less in {0, own - 1}:
                others = rows_of(4, 0.25, -1.0)
                pair = [others + (rows_of(n, weights(n)) if n else []) for n in (own, less)]
                for epsilon in (0.0, 0.5, 1.0):
                    bound = math.exp(gdp_log_delta(mu=mu, epsilon=epsilon))
                    for one, other in (pair, pair[::-1]):
                        assert density_delta(one, other, noise, epsilon) <= bound * (1 + 1e-6) + 1e-7


def test_the_density_of_a_minimiser_moves_by_no_more_than_mu():
    check_minimisers()


def test_a_density_with_weights_by_row_is_caught():
    with pytest.raises(AssertionError):
        check_minimisers(lambda own: 1.0)


@pytest.mark.parametrize("loss", [losses.Logistic(1.0), losses.Softmax(1.0, classes=3), losses.Squared(1.0)])
def test_sums_of_a_person_are_no_further_apart_than_those_of_one_row(loss):
    chosen = plan(
        "sufficient-statistics",
        loss=loss,
        releases=9,
        budget=Budget.from_epsilon_delta(dp=(8.0, 1e-6), deletion=(0.8, 1e-6)),
    )
    moments, run = moments_of(chosen.learning.start, chosen.shape), chosen.mechanism
    unit = moments.norm_squared * 1.0

    def weighed(records: Records, by_person: bool = True) -> np.ndarray:
        total = sums.exact_sums(records, moments, by_person=by_person).astype(float)
        square = np.zeros((WIDTH, WIDTH))
        square[np.triu_indices(WIDTH)] = total[: WIDTH * (WIDTH + 1) // 2]
        square += np.triu(square, 1).T
        first = total[WIDTH * (WIDTH + 1) // 2 :] / 2.0**moments.label_bits * run.label_weight
        return np.concatenate([square.ravel(), first])

    facts = {"norm_squared": run.norm_squared, "label_weight": run.label_weight}
    single, pair = (sums_sensitivity(between_records=both, **facts) for both in (False, True))
    absent = weighed(world(0))
    for own in (1, 2, 3, MOST):
        assert np.linalg.norm(weighed(world(own)) - absent) <= single
        assert np.linalg.norm(weighed(world(own)) - weighed(world(MOST, sign=-1.0))) <= pair
    assert np.linalg.norm(weighed(world(MOST)) - absent) >= 0.99 * unit
    assert np.linalg.norm(weighed(world(MOST), by_person=False) - weighed(world(0), by_person=False)) > 2 * pair


def test_noise_is_that_of_one_row_a_person():
    for method in ("objective-perturbation", "output-perturbation", "noisy-gd"):
        one, weighed, charged = (
            plan(method, regularization=0.5, rows_per_subject=rows, weighting=weighting).calibration
            for rows, weighting in ((1, "by-row"), (MOST, "by-person"), (MOST, "by-row"))
        )
        noise = [one.linear_term**2 or one.noise_variance, weighed.linear_term**2 or weighed.noise_variance]
        assert noise[1] == pytest.approx(noise[0], rel=1e-3)
        assert (charged.linear_term**2 or charged.noise_variance) > 100 * noise[0]


def test_what_the_proof_does_not_cover_is_refused_and_auto_leaves_it_alone():
    for method in ("objective-perturbation", "noisy-gd:analysis=paper"):
        loss = losses.Softmax(1.0, classes=3)
        with pytest.raises(InvalidParameter):
            plan(method, loss=loss)
        assert (
            plan(method, loss=loss, weighting="auto", rows_per_subject=2, regularization=0.9).problem.weighting
            == "by-row"
        )
    assert plan(weighting="auto").problem.by_person
    assert not plan(weighting="auto", rows_per_subject=1).problem.by_person
    with pytest.raises(InvalidParameter):  # rows elsewhere come without the names of persons
        plan().allow_any_order()


def test_plans_and_runs_are_read_back():
    chosen = plan()
    assert plan_from_dict(chosen.to_dict()) == chosen
    assert mechanism_from_dict(chosen.mechanism.to_dict()) == chosen.mechanism
    assert "weighting" not in plan(weighting="by-row", regularization=0.9).mechanism.to_dict()
    assert ("weighed-by-person", {"rows_per_person": MOST}) in chosen.mechanism.conditions()


@pytest.mark.parametrize("method", ["objective-perturbation:solver=cold", "output-perturbation:solver=cold"])
def test_a_row_leaves_nothing_in_the_weights_of_others(method):
    """Once a row is gone the rest weighs as if it had never been there, bit for bit, whatever slots they have."""
    chosen = plan(method, regularization=0.5)
    records, never = world(4), world(3)
    own = [records.names[slot] for slot in records.owners.find(["own"])]
    curator = Curator(records, chosen)
    curator.learn(rng=np.random.default_rng(1))
    curator.serve(EditRequest.delete(own[:1]), rng=np.random.default_rng(2))
    other = Curator(never, chosen)
    other.learn(rng=np.random.default_rng(2))
    assert (curator.model.weights == other.model.weights).all()


def test_sums_take_whole_persons():
    chosen = plan(
        "sufficient-statistics", releases=9, budget=Budget.from_epsilon_delta(dp=(8.0, 1e-6), deletion=(0.8, 1e-6))
    )
    records, moments = world(3), moments_of(chosen.learning.start, chosen.shape)
    own = [records.names[slot] for slot in records.owners.find(["own"])]
    row = np.eye(WIDTH)[:1]
    for refused in (EditRequest.delete(own[:2]), EditRequest.insert([901], row, [1.0], subjects=["own"])):
        with pytest.raises(InvalidRequest):
            check_edit(records, chosen, refused)
    for taken in (
        EditRequest.delete(own),
        EditRequest.delete(subjects=["own"]),
        EditRequest.insert([901, 902], np.repeat(row, 2, 0), [1.0, -1.0], subjects=["new", "new"]),
    ):
        edits = check_edit(records, chosen, taken)
        change = sums_change(moments, records, edits, by_person=True)
        before = sums.exact_sums(records, moments, by_person=True)
        assert (before + change == sums.exact_sums(records.apply(taken), moments, by_person=True)).all()

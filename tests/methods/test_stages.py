"""The other stages of a ladder: least squares on noisy moments, and steps on samples; budgets, laws, what is paid, and planted faults."""

from __future__ import annotations

import math

import numpy as np
import pytest
from noisygd_delete_lab.ancestors import Presence, ancestor_guarantee, stage_runs

from noisygd_delete import Budget, Curator, EditRequest, Records, losses
from noisygd_delete.bounds import moments as bounds
from noisygd_delete.engine import Execution
from noisygd_delete.engine.moments import add_noise, compute_moments, least_squares
from noisygd_delete.engine.noise import ResearchNoise, poisson
from noisygd_delete.engine.objective import ClippedObjective
from noisygd_delete.errors import AssumptionViolated, InvalidParameter
from noisygd_delete.methods import Stage
from noisygd_delete.methods.moments import GRID, MomentsRun

from ..bank import unit_rows
from .test_staged import MOMENTS, OTHERS, SAMPLED, plan_for, table

RENYI = Budget(order=10, dp=1.0, deletion=0.1)
PAIRS = Budget.from_epsilon_delta(dp=(1.0, 1e-5), deletion=(0.5, 1e-5))


# ---------------------------------------------------------------- both


@pytest.mark.parametrize(("stages", "level"), OTHERS, ids=str)
def test_the_account_is_the_sum_over_ancestors(stages, level):
    plan = plan_for(stages, level)
    account = Curator(table(), plan).accountant
    for kind in ("learn", "unlearn", "unlearn", "relearn", "unlearn"):
        account.record(account.planned_event(kind))
    runs = stage_runs(account.events)
    for gone, seen in ((3, [3]), (3, [1, 3]), (5, [5]), (5, [1, 2, 3, 4, 5])):
        numbers = [run.number for run in runs if run.table in seen]
        kept = {run.number for run in runs if run.stage < plan.calibration.kept and run.table <= max(seen)}
        observed = {*numbers, *(number for run in runs if run.number in numbers for number in run.parents)} | (
            kept if len(seen) > 1 else set()
        )
        person = [Presence(0, 1, gone)]
        right = ancestor_guarantee(runs, "deletion", "erased-vs-never", person=person, observed=observed)
        assert account.deletion(1, gone, seen).renyi(8) == pytest.approx(right.renyi(8), rel=1e-9, abs=1e-12)


# ---------------------------------------------------------------- moments


@pytest.mark.parametrize("level", [0, -1])
def test_a_stage_of_moments_reads_the_rows_once_for_a_learn_and_once_for_a_request(level):
    numbers = plan_for((Stage("network", 6), Stage("moments")), level).calibration.stages[1].calibration
    assert (numbers.learn_steps, numbers.delete_steps) == (1, 1)


def test_moments_are_the_sums_over_the_records_that_are_there():
    records = table()
    records.edit(EditRequest.delete([3, 7]))
    used = records.occupied
    rows, labels = records.features[used].astype(float), records.labels[used]
    first, second = compute_moments(records, outputs=1, radius=1.0)
    assert first == pytest.approx(labels[None] @ rows)
    assert second == pytest.approx(rows.T @ rows)
    classes = Records(records.features[used], (labels > 0).astype(float))
    each, again = compute_moments(classes, outputs=2, radius=2.0)
    assert each == pytest.approx(np.stack([rows[labels < 0].sum(0), rows[labels > 0].sum(0)]) / 2)
    assert again == pytest.approx(second / 4)


def test_the_noise_of_moments_is_what_the_plan_counts():
    quiet = np.zeros((2, 60)), np.zeros((60, 60))
    first, second = add_noise(*quiet, deviation=3.0, noise=ResearchNoise(np.random.default_rng(1)))
    assert np.array_equal(second, second.T)
    above = second[np.triu_indices(60, 1)]
    assert above.std() == pytest.approx(3.0, rel=0.06)
    assert np.diag(second).std() == pytest.approx(3.0 * math.sqrt(2), rel=0.25)
    assert first.std() == pytest.approx(3.0, rel=0.15)
    assert np.array_equal(above / 3.0 / GRID, np.rint(above / 3.0 / GRID))  # on the public grid


def test_least_squares_is_ridge_regression_of_the_labels():
    records = table()
    first, second = compute_moments(records, outputs=1, radius=1.0)
    fitted = least_squares(first, second, ridge=0.6)
    rows = records.features.astype(float)
    right = np.linalg.solve(rows.T @ rows + 0.6 * np.eye(4), rows.T @ np.where(records.occupied, records.labels, 0))
    assert fitted[0] / 2 == pytest.approx(right)
    negative = least_squares(first, second - 100 * np.eye(4), ridge=0.6)
    assert np.linalg.norm(negative) <= 2 * np.linalg.norm(first) / 0.6 * (1 + 1e-9)  # no eigenvalue below the ridge


def statistic(row: np.ndarray, label: float, *, half: bool = True) -> np.ndarray:
    """T of one record, written out."""
    above = np.triu_indices(len(row))
    square = np.outer(row, row) * np.where(np.eye(len(row)) > 0, 1 / math.sqrt(2) if half else 1.0, 1.0)
    return np.concatenate([label * row, square[above]])


@pytest.mark.parametrize("worlds", ["zero-out", "replace"])
def test_no_record_moves_the_sums_by_more_than_is_paid_for(worlds):
    rng, largest, planted = np.random.default_rng(2), 0.0, 0.0
    stated = bounds.moments_sensitivity(between_records=worlds == "replace")
    for _ in range(1200):
        width = int(rng.integers(1, 5))
        one = rng.normal(size=width)
        one /= np.linalg.norm(one)
        other = -one if rng.random() < 0.3 else rng.normal(size=width)
        other *= rng.choice([1.0, rng.random()]) / max(np.linalg.norm(other), 1e-9)
        labels = rng.choice([-1.0, 1.0], 2)
        for half in (True, False):
            far = statistic(other, labels[1], half=half) if worlds == "replace" else 0.0
            apart = float(np.linalg.norm(statistic(one, labels[0], half=half) - far))
            if half:
                largest = max(largest, apart)
            else:
                planted = max(planted, apart)
    assert stated * 0.999 <= largest <= stated * (1 + 1e-12)
    if worlds == "zero-out":
        assert planted > stated * 1.1  # the planted fault: the diagonal not divided, the same noise


def test_the_least_noise_meets_the_budget_and_less_does_not():
    for gdp in (1e-3, 0.1, 1.0):
        facts = {"sensitivity": math.sqrt(1.5), "coordinates": 500, "grid": GRID}
        least = bounds.least_deviation(gdp=gdp, **facts)
        assert bounds.moments_gdp(deviation=least, **facts) <= gdp
        assert bounds.moments_gdp(deviation=least * (1 - 1e-6), **facts) > gdp
    assert bounds.least_deviation(gdp=1e-9, sensitivity=1.0, coordinates=10_000, grid=GRID) == math.inf


def test_moments_learn_what_a_head_learns():
    rows = unit_rows(4000, 4, seed=3)
    labels = np.where(rows[:, 0] + 0.3 * rows[:, 1] > 0, 1.0, -1.0)
    plan = plan_for(MOMENTS, records=4000)
    curator = Curator(Records(rows, labels), plan)
    curator.learn(execution=Execution(rng=np.random.default_rng(0)))
    deleted = curator.delete([5], execution=Execution(rng=np.random.default_rng(1)))
    assert (deleted.model.predict(rows) == labels).mean() > 0.9
    assert deleted.gradient_passes == 1


# ---------------------------------------------------------------- steps on samples


def test_samples_hold_every_slot_with_the_stated_probability():
    noise, counts = ResearchNoise(np.random.default_rng(4)), np.zeros(50)
    sizes = []
    for _ in range(4000):
        sample = poisson(50, noise, rate=0.2)
        counts[sample] += 1
        sizes.append(len(sample))
    assert counts / 4000 == pytest.approx(np.full(50, 0.2), abs=4 * math.sqrt(0.16 / 4000))
    assert np.var(sizes) == pytest.approx(50 * 0.16, rel=0.15)  # independent, not a batch of fixed size
    assert len(poisson(50, noise, rate=1.0)) == 50


def test_a_step_on_a_sample_is_the_mean_step_and_its_noise_is_the_multiplier():
    loss = losses.MultilayerPerceptron(radius=1.0, hidden=40)
    plan = plan_for((SAMPLED, Stage("moments")), loss=loss)
    stage, records = plan.calibration.stages[0], table()
    run = stage.mechanism
    step = math.sqrt(2 * stage.calibration.step_size * stage.calibration.noise_variance)
    by_hand = stage.calibration.step_size * run.noise_multiplier / (0.1 * 60)
    assert step == pytest.approx(by_hand * (1 + plan.problem.slack), rel=1e-12)
    objective = ClippedObjective(records, loss, regularization=0.01)
    weights, noise = np.random.default_rng(5).normal(size=(1, 200)) * 0.1, ResearchNoise(np.random.default_rng(6))
    samples = [objective.gradient_on(weights, poisson(60, noise, rate=0.3), 0.3) for _ in range(1500)]
    assert np.mean(samples, axis=0) == pytest.approx(objective.gradient(weights), abs=0.02)
    every = objective.gradient_on(weights, np.arange(60), 1.0)
    assert every == pytest.approx(objective.gradient(weights))


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Stage("moments", 5), InvalidParameter, "one pass"),
        (lambda: Stage("head", 5, sampling_rate=0.1), InvalidParameter, "belongs to a network stage"),
        (lambda: Stage("network", 5, sampling_rate=1.0), InvalidParameter, "must be below 1"),
        (lambda: plan_for((Stage("moments"), Stage("moments"))), InvalidParameter, "must begin with"),
        (lambda: plan_for((SAMPLED, SAMPLED), rows_per_subject=2), AssumptionViolated, "rows_per_subject=2"),
        (lambda: plan_for((SAMPLED, SAMPLED), budget=Budget.from_gdp(dp=1, deletion=0.1)), InvalidParameter, "no μ"),
        (
            lambda: plan_for((SAMPLED, SAMPLED), loss=losses.TanhNetwork(1.0, outer_weights=(1.0, -1.0))),
            AssumptionViolated,
            "clip every record",
        ),
        (lambda: plan_for((SAMPLED, SAMPLED), budget=Budget(order=600, dp=1, deletion=0.1)), InvalidParameter, "512"),
        (lambda: plan_for(MOMENTS, features=5000), InvalidParameter, "Stage\\('head'\\)"),
        (
            lambda: MomentsRun(records=5, deviation=1.0, coordinates=3).check(2),
            InvalidParameter,
            "no noisy steps",
        ),
    ],
)
def test_refusals_say_what_to_do(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_several_rows_of_a_person_count_in_moments_and_are_refused_of_samples():
    two = plan_for(MOMENTS, rows_per_subject=2)
    assert two.deletion.rows == 2
    assert two.calibration.stages[1].mechanism.rows_per_subject == 2
    one = plan_for(MOMENTS)
    assert two.calibration.stages[1].method.deviation == pytest.approx(
        2 * one.calibration.stages[1].method.deviation, rel=1e-4
    )

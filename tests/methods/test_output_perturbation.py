"""method="output-perturbation" from plan to accountant: budgets kept, histories added up, the law of what is published."""

from __future__ import annotations

import math

import numpy as np
import pytest

from noisygd_delete import (
    Accountant,
    Budget,
    Curator,
    EditRequest,
    Plan,
    Records,
    compare_plans,
    learn,
    losses,
    make_plan,
    resume,
)
from noisygd_delete.accountant import Event
from noisygd_delete.engine.objective import Objective, PreciseObjective
from noisygd_delete.engine.solver import solve
from noisygd_delete.errors import InvalidParameter, NoisyGDDeleteError
from noisygd_delete.methods.output_perturbation import forecast_excess_risk
from noisygd_delete.store import Store
from tests.bank import unit_records
from tests.store.conftest import SCHEMA
from tests.store.conftest import plan as store_plan
from tests.store.conftest import records as store_records

ADULT = {"records": 26_000, "features": 108, "regularization": 1e-3}
BUDGET = Budget(order=10, dp=1.0, deletion=0.1)


def solved(loss=None, **changes) -> Plan:
    arguments = {**ADULT, "budget": BUDGET, "method": "output-perturbation", **changes}
    return make_plan(loss or losses.Logistic(1.0), **arguments)


def accountant(plan: Plan, releases: int) -> Accountant:
    kinds = ["learn", *["unlearn"] * (releases - 1)]
    return Accountant(plan, [Event(kind, plan.calibration.delete_steps, 1, plan.mechanism) for kind in kinds])


@pytest.mark.parametrize("solver", ["warm", "cold"])
def test_a_history_costs_its_observed_releases(solver) -> None:
    plan = solved(solver=solver)
    one = plan.dp.gdp_squared  # replace, 2L
    present = plan.mechanism.interval(
        "deletion", "erased-vs-never", steps_with=plan.calibration.delete_steps
    ).gdp_squared  # L
    left = plan.deletion.gdp_squared
    assert one == pytest.approx(4 * present, rel=0.05)
    assert (left > 0) == (solver == "warm")
    history = accountant(plan, 5)
    assert history.dp_cumulative().gdp_squared == pytest.approx(5 * one)
    assert history.dp_cumulative(observed=[2, 4]).gdp_squared == pytest.approx(2 * one)
    assert history.dp().gdp_squared == pytest.approx(one)
    # erased at release 4, present from the start: three looks with it, and what a warm start may carry unseen
    cost = {
        (1, 2, 3, 4, 5): 3 * present,
        (1, 2, 4, 5): 2 * present + left,
        (4, 5): left,
        (5,): left,
        (1, 2, 3, 5): 3 * present,
        (3, 5): present,
        (1, 2): 2 * present,
    }
    for observed, squared in cost.items():
        told = history.deletion(1, 4, observed=observed).gdp_squared
        assert told == pytest.approx(squared, rel=1e-12, abs=0), observed
    assert history.deletion(2, 4).gdp_squared == pytest.approx(2 * present)


def test_a_chain_may_turn_into_another() -> None:
    resumed = make_plan(losses.Logistic(1.0), **ADULT, budget=BUDGET, method="noisy-gd")
    plan = solved()
    history = Accountant(resumed, [Event("learn", resumed.calibration.learn_steps, 0, resumed.mechanism)])
    history.record(
        Event("unlearn", plan.calibration.delete_steps, 1, plan.mechanism)
    )  # solved anew: needs no common chain
    with pytest.raises(InvalidParameter, match="fresh learn"):
        history.record(Event("unlearn", resumed.calibration.delete_steps, 1, resumed.mechanism))
    assert history.deletion(1, 2, observed=[2]).gdp_squared == plan.deletion.gdp_squared
    with pytest.raises(InvalidParameter, match="first release"):
        Accountant(plan).record(Event("unlearn", plan.calibration.delete_steps, 1, plan.mechanism))


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"gradient_tolerance": 1e-17}, InvalidParameter, "rounding"),
        ({"gradient_tolerance": 1.0}, InvalidParameter, "solver 'cold'"),
        ({"solver": "newton"}, InvalidParameter, "'warm', 'cold', 'fixed'"),
    ],
)
def test_refusals_name_the_way_out(arguments, error, words) -> None:
    with pytest.raises(error, match=words):
        solved(**arguments)


def test_a_store_keeps_neither_passes_nor_seconds(tmp_path) -> None:
    plan = store_plan(method="output-perturbation")
    with Store.create(tmp_path / "store", store_records(), SCHEMA, plan) as store:
        store.learn()
        release = store.serve(EditRequest.delete(["identifier-token-0003"]))
        assert release.gradient_passes > release.steps
        assert release.seconds > 0
    ledger = (tmp_path / "store" / "ledger.sqlite").read_bytes()
    assert b"gradient_tolerance" in ledger
    assert b"gradient_passes" not in ledger
    assert b"seconds" not in ledger
    with Store.open(tmp_path / "store") as store:
        assert store.accountant.dp_cumulative().gdp_squared == pytest.approx(2 * plan.dp.gdp_squared)


def test_the_forecast_covers_what_is_measured() -> None:
    records, rng = unit_records(2000, 8), np.random.default_rng(0)
    plan = solved(records=2000, features=8, regularization=1e-2, diffusion_steps=5)
    objective = Objective(records, plan.problem.loss, regularization=1e-2, dtype="float64")
    precise = PreciseObjective(records, plan.problem.loss, regularization=1e-2)
    least = objective.value(
        solve(precise, start=None, tolerance=1e-9, strong_convexity=1e-2, objective_smoothness=0.26).weights
    )
    risks = [objective.value(np.atleast_2d(learn(records, plan, rng).weights)) - least for _ in range(200)]
    told = forecast_excess_risk(
        plan.problem,
        step_size=plan.calibration.step_size,
        noise_variance=plan.calibration.noise_variance,
        steps=plan.calibration.learn_steps,
    )
    assert told / 3 < np.mean(risks) < told
    assert np.mean(risks) < plan.outlook.excess_risk


def test_the_published_law() -> None:
    """Linear loss, from engine to weights: N(θ*, 2ησ² Σ c^{2j}), and the test would see one step too few or too many."""
    rows = np.full((4, 1), 0.5)
    facts = {"records": 4, "features": 1, "regularization": 0.5, "step_size": 0.2, "diffusion_steps": 2}
    plan = solved(losses.Linear(1.0), budget=Budget(order=10, dp=50, deletion=1), **facts)  # c = 0.9
    curator = Curator(Records(rows, np.zeros(4)), plan)
    rng = np.random.default_rng(11)
    curator.learn(rng)
    curator.delete([0], rng=rng)
    after_learn, after_delete = [], []
    intact = Records(rows, np.zeros(4))
    for _ in range(1000):
        after_learn.append(learn(intact, plan, rng).weights[0])
        after_delete.append(resume(curator.records, curator.model, plan, rng).weights[0])
    one = 2 * plan.calibration.step_size * plan.calibration.noise_variance
    variance = one * (1 + 0.81)

    def consistent(sample, mean, variance) -> bool:
        spread = np.var(sample) / variance
        return abs(np.mean(sample) - mean) < 4 * (variance / 1000) ** 0.5 and abs(spread - 1) < 4 * (2 / 1000) ** 0.5

    assert consistent(after_learn, -0.5 / 0.5, variance)
    assert consistent(after_delete, -0.375 / 0.5, variance)
    assert not consistent(after_learn, -0.5 / 0.5, one)  # K − 1
    assert not consistent(after_learn, -0.5 / 0.5, variance + 0.81**2 * one)  # K + 1
    assert not consistent(after_delete, -0.5 / 0.5, variance)  # the record still there


@pytest.mark.parametrize("runs", [300, pytest.param(1500, marks=pytest.mark.long)])
def test_the_best_attack_gains_what_the_certificate_says_and_no_more(runs: int) -> None:
    """Linear loss, one dimension: a threshold is the best test. x against −x, then the same after the record is gone."""
    facts = {"records": 3, "features": 1, "regularization": 0.5, "step_size": 0.2, "diffusion_steps": 3}
    plan = solved(losses.Linear(1.0), budget=Budget(order=2, dp=1.0, deletion=0.01), **facts)
    rng = np.random.default_rng(12)

    def attack(make) -> float:
        minus, plus = (np.sort([make(sign) for _ in range(runs)]) for sign in (1.0, -1.0))
        thresholds = np.concatenate([minus, plus])
        share = [np.searchsorted(sample, thresholds) / runs for sample in (minus, plus)]
        return float(np.max(share[0] - share[1]))

    def table(value: float) -> Records:
        return Records([[value], [0.3], [-0.2]], np.zeros(3))

    luck = 2.2 / runs**0.5  # of the largest difference of two empirical distributions, at about 1e-4
    present = attack(lambda sign: learn(table(sign), plan, rng).weights[0])
    assert plan.dp.advantage - luck < present < plan.dp.advantage + luck

    start = {sign: learn(table(sign), plan, rng) for sign in (1.0, -1.0)}
    gone = attack(lambda sign: resume(table(0.0), start[sign], plan, rng).weights[0])
    assert gone < plan.deletion.advantage + luck < present

    weak = plan.changed(noise_variance=plan.calibration.noise_variance / 4)  # σ/2: the audit must notice
    assert attack(lambda sign: learn(table(sign), weak, rng).weights[0]) > plan.dp.advantage + luck


def adult(**changes):
    return compare_plans(loss=losses.Logistic(1.0), **{**ADULT, "budget": BUDGET, **changes})


def test_the_planner_takes_the_cheapest_way_that_is_good_enough() -> None:
    ways = {candidate.method: candidate for candidate in adult().candidates}
    assert adult().chosen.method == "objective-perturbation"
    assert ways["objective-perturbation"].delete_passes < ways["output-perturbation"].delete_passes
    assert ways["output-perturbation"].delete_passes <= 30
    assert ways["noisy-gd"].delete_passes > ways["output-perturbation"].delete_passes
    assert ways["output-perturbation"].learn_passes <= 60
    assert adult(regularization=1e-4).chosen.method == "noisy-gd"
    assert adult(budget=Budget(order=10, dp=0.01, deletion=0.001)).chosen.method == "noisy-gd"
    # a target between the two noises is met by diffusing longer
    tight = next(found for found in adult(target=0.0025).candidates if found.method == "output-perturbation")
    assert 14 < tight.plan.calibration.delete_steps < 300
    assert tight.excess_risk <= 0.0025


def test_over_many_observed_releases_it_counts_and_batches() -> None:
    for requests in (1, 40):
        comparison = adult(requests=requests)
        for candidate in comparison.candidates:
            plan = candidate.plan
            assert 1 <= candidate.publications <= requests or plan is None
            if plan is None:
                assert requests == 1
                assert "many publications" in candidate.reason
                continue
            assert plan.problem.releases == candidate.publications + 1
            assert plan.problem.batch == math.ceil(requests / candidate.publications)
            history = Accountant(plan)
            history.record(history.planned_event())
            for _ in range(candidate.publications):
                history.record(history.publication(1))
            assert history.dp_cumulative().renyi(10) <= 1 + 1e-9
            if candidate.publications > 1:
                assert candidate.excess_risk <= comparison.target


def test_a_way_that_does_not_apply_says_why() -> None:
    comparison = adult(regularization=1e-7)
    number, missing = next((at, found) for at, found in enumerate(comparison.candidates) if found.plan is None)
    assert missing.method == "objective-perturbation"
    assert missing.reason in comparison.table()
    assert comparison.to_dict()["candidates"][number]["noise_variance"] is None
    with pytest.raises(NoisyGDDeleteError, match="records"):
        compare_plans(loss=losses.Logistic(1.0), **{**ADULT, "records": -1}, budget=BUDGET)


def test_the_passes_of_a_fixed_solver_are_those_that_the_plan_states() -> None:
    plan = solved(records=60, features=4, regularization=0.2, solver="fixed")
    curator = Curator(unit_records(60, 4, seed=3), plan)
    learned, deleted = curator.learn(), curator.delete([0])
    assert learned.gradient_passes == plan.calibration.learn_solver_passes + plan.calibration.learn_steps
    assert deleted.gradient_passes == plan.calibration.delete_solver_passes + plan.calibration.delete_steps


@pytest.mark.parametrize("share", [0.002, 0.3])
def test_the_tolerance_of_a_warm_solver_is_bounded_by_the_deletion_budget_alone(share) -> None:
    """μ_dd = 2γnc^K √(…)/(…) at most the budget's: worked out here, for one step after the solver."""
    budget, problem = Budget.from_gdp(dp=1.0, deletion=share), {"records": 500, "features": 4, "regularization": 0.1}
    plan = solved(**problem, budget=budget, diffusion_steps=1, dtype="float64")
    kept = 1 - plan.calibration.step_size * plan.problem.regularization
    most = (
        share / (1 - share) * 2 * plan.problem.loss.constants.lipschitz / (2 * plan.problem.records * kept)
    )  # of Δ = 2L
    assert solved(**problem, budget=budget, diffusion_steps=1, gradient_tolerance=most * 0.9999)
    with pytest.raises(InvalidParameter, match="gradient_tolerance"):
        solved(**problem, budget=budget, diffusion_steps=1, gradient_tolerance=most * 1.0001)
    equal = Budget.from_gdp(dp=1.0, deletion=1.0)  # what dp allows, deletion allows too: no bound from it
    assert solved(**problem, budget=equal, diffusion_steps=1, gradient_tolerance=1e-3)


@pytest.mark.parametrize("regularization", [1e-4, 1e-2, 1.0])
def test_the_least_tolerance_covers_rounding_at_the_farthest_minimizer(regularization: float) -> None:
    """‖θ‖ ≤ 2L/λ wherever the solver may end: with a small λ that is far, and scores of many features round there."""
    from noisygd_delete.bounds.arithmetic import gradient_error
    from noisygd_delete.methods.output_perturbation import least_tolerance

    plan = make_plan(losses.Logistic(1.0), records=300, features=400, regularization=regularization, method="output-perturbation",
                     budget=Budget(order=4, dp=2.0, deletion=1.0))  # fmt: skip
    facts = {"lipschitz": 1.0, "curvature": 0.25, "outputs": 1, "records": 300, "features": 400}
    at_most = gradient_error(**facts, regularization=regularization, weights_norm=2 / regularization)
    nearby = gradient_error(**facts, regularization=regularization, weights_norm=0.1 / regularization)
    assert at_most <= least_tolerance(plan.problem) <= plan.calibration.gradient_tolerance
    assert regularization > 0.1 or at_most > 3 * nearby

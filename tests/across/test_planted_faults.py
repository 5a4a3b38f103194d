"""One test for each fault that was once planted and that the suite did not see. Public behaviour only."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from noisygd_delete import Accountant, Budget, Guarantee, Records, losses, make_plan, resume
from noisygd_delete.accountant import Event, is_within_budget
from noisygd_delete.curator import Model
from noisygd_delete.methods.sampled_steps import SampledGaussian
from tests.bank import unit_records

BUDGET = Budget(order=10, dp=1.0, deletion=0.1)
LOGISTIC = losses.Logistic(radius=1.0)
NETWORK = losses.TanhNetwork(radius=1.0, outer_weights=(1.0, -1.0))


def planned(loss=LOGISTIC, **options):
    facts = {"records": 300, "features": 4, "regularization": 0.05, "budget": BUDGET, "method": "noisy-gd"}
    return make_plan(loss, **{**facts, **options})


def near_gibbs(method="noisy-gd", **options):
    near = {"records": 40, "features": 1, "regularization": 0.5, "noise_variance": "cheapest"}
    return planned(NETWORK, method=method, budget=Budget(order=2, dp=1.9, deletion=0.5), **{**near, **options})


def table(plan, seed=0):
    return unit_records(plan.problem.records, plan.problem.features, seed)


def resumed(plan, records, weights):
    """Ā from these published weights, always with the same noise."""
    return resume(records, Model(np.array(weights), plan.problem.loss, False), plan, np.random.default_rng(5)).weights


# ---------------------------------------------------------------- what the curator runs


@pytest.mark.parametrize("solver", ["cold", "fixed"])
def test_a_cold_solver_never_looks_at_the_published_model(solver) -> None:
    plan = planned(method="output-perturbation", solver=solver)
    records = table(plan)
    one, other = resumed(plan, records, [0.3, 0, 0, 0]), resumed(plan, records, [-0.2, 0.4, 0.1, 0.2])
    assert (one == other).all()


def test_a_request_starts_from_the_whole_published_model() -> None:
    """Without records the step is θ ↦ (1 − ηλ)θ + noise: two starts stay (1 − ηλ)^K of their distance apart."""
    plan = planned(method="noisy-gd:analysis=paper", utility=False)
    empty = Records(np.zeros((0, 4)), np.zeros(0), slots=plan.problem.records)
    start = np.array([3.0, -1.0, 0.5, 2.0])
    moved = resumed(plan, empty, start) - resumed(plan, empty, np.zeros(4))
    kept = (1 - plan.calibration.step_size * plan.problem.regularization) ** plan.calibration.delete_steps
    np.testing.assert_allclose(moved, kept * start, atol=1e-5)
    assert kept > 1e-3  # else nothing would be left to compare


def test_a_network_divides_by_the_slots_and_not_by_the_records_in_them() -> None:
    torch = pytest.importorskip("torch", reason="networks need torch")
    from noisygd_delete.engine.objective import ClippedObjective
    from noisygd_delete.networks import NetworkLoss

    linear = torch.nn.Linear(3, 2)
    loss = NetworkLoss(radius=1.0, classes=2, module=linear, start="zero", init_variance=0.1, curvature=0.5, clip=1e6)
    rows, labels = np.eye(3)[[0, 1, 2, 0]] * 0.9, np.array([0, 1, 1, 0])
    weights = np.random.default_rng(1).normal(size=(1, 8))

    def slope(slots):
        objective = ClippedObjective(Records(rows, labels, slots=slots), loss, regularization=0.1)
        return objective.gradient(weights) - 0.1 * weights

    np.testing.assert_allclose(slope(4), 10 * slope(40), rtol=1e-9)
    parameters = torch.tensor(weights[0], dtype=torch.float64)
    matrix, shift = parameters[:6].reshape(2, 3).requires_grad_(), parameters[6:].requires_grad_()
    scores = torch.tensor(rows) @ matrix.T + shift
    total = torch.nn.functional.cross_entropy(scores, torch.tensor(labels), reduction="sum")
    flat = torch.cat([part.flatten() for part in torch.autograd.grad(total, [matrix, shift])])
    np.testing.assert_allclose(slope(40)[0], flat.numpy() / 40, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("world", ["replace", "zero-out"])
@pytest.mark.parametrize("notion", ["erased-vs-never", "pairwise"])
def test_estimators_plan_for_the_worlds_they_were_asked_for(world, notion) -> None:
    pytest.importorskip("sklearn", reason="estimators need scikit-learn")
    from noisygd_delete.estimators import NoisyGDClassifier, NoisyGDRegressor

    rng = np.random.default_rng(0)
    rows = rng.uniform(-1, 1, size=(60, 2))
    asked = {
        "adjacency": world,
        "deletion_notion": notion,
        "method": "noisy-gd",
        "budget": BUDGET,
        "regularization": 0.5,
    }
    for model in (
        NoisyGDClassifier(feature_bounds=([-1, -1], [1, 1]), classes=[0, 1], **asked).fit(rows, rows[:, 0] > 0),
        NoisyGDRegressor(feature_bounds=([-1, -1], [1, 1]), target_bounds=(-1, 1), **asked).fit(rows, rows[:, 0]),
    ):
        assert model.plan_.problem.adjacency == world == model.accountant_.dp().adjacency
        assert model.plan_.problem.deletion_notion == notion == model.plan_.deletion.adjacency


# ---------------------------------------------------------------- histories


def separate_learns():
    """A history of fresh learns whose costs differ without any order: every release counts by itself."""
    events = []
    for number, noise in enumerate((3.0, 1.0, 5.0, 0.5, 4.0, 2.0)):
        plan = planned(noise_variance=planned().calibration.noise_variance * noise * 10)
        events.append(Event("relearn" if number else "learn", plan.calibration.learn_steps, 1, plan.mechanism))
    return Accountant(events=events)


def test_requests_that_saw_some_models_pay_for_the_dearest_of_the_record_s_lifetime() -> None:
    accountant = separate_learns()
    alone = [accountant.dp(number, adjacency="zero-out").gdp_squared for number in range(1, 7)]
    for start, erased in itertools.combinations(range(1, 7), 2):
        lifetime = sorted(alone[start - 1 : erased - 1], reverse=True)
        for seen in range(4):
            bound = accountant.deletion_adaptive(seen, start, erased).gdp_squared
            assert bound == pytest.approx(sum(lifetime[:seen]), rel=1e-12, abs=1e-300), (start, erased, seen)


def test_a_model_near_its_law_does_not_make_an_extractor_forget() -> None:
    plan = near_gibbs()
    extractor = SampledGaussian(records=40, sampling_rate=0.5, noise_multiplier=1.0)
    run = [
        Event("learn", plan.calibration.learn_steps, 0, plan.mechanism),
        Event("unlearn", plan.calibration.delete_steps, 1, plan.mechanism),
    ]
    head = Accountant(plan, run)
    carried = Accountant(plan, [Event("extractor", 30, 0, extractor), *run])
    trained = extractor.interval("deletion", "erased-vs-never", steps_with=30).renyi(2)
    assert trained > 1
    assert head.deletion(1, 2, observed=[2]).renyi(2) <= 0.5
    assert carried.deletion(1, 3, observed=[3]).renyi(2) >= trained
    assert carried.deletion_later_releases().renyi(2) >= trained


@pytest.mark.parametrize(
    ("method", "budget"),
    [
        ("noisy-gd", BUDGET),
        ("noisy-gd", Budget.from_gdp(dp=0.5, deletion=0.1)),
        ("noisy-gd", Budget.from_epsilon_delta(dp=(1.0, 1e-6), deletion=(0.1, 1e-6))),
        ("noisy-gd:analysis=paper", BUDGET),
        ("noisy-gd:analysis=paper", Budget.from_epsilon_delta(dp=(1.0, 1e-6), deletion=(0.1, 1e-6))),
    ],
)
def test_a_budget_has_no_room_beyond_itself(method, budget) -> None:
    plan = planned(method=method, budget=budget, releases=3)
    most = (plan.problem.dp_gdp() ** 2, 0.0) if method == "noisy-gd" else (0.0, plan.problem.dp_rate()[0])
    for share, inside in ((0.999, True), (1.001, False), (1.005, False)):
        spent = Guarantee(
            about="dp",
            adjacency="replace",
            gdp_squared=share * most[0],
            rate=share * most[1],
            slack=plan.mechanism.slack,
        )
        assert is_within_budget(spent, plan) == inside


@pytest.mark.parametrize("method", ["noisy-gd:analysis=paper", "noisy-gd"])
def test_one_release_near_its_law_is_charged_for_its_longer_run(method) -> None:
    plan = near_gibbs(method)
    assert plan.calibration.learn_steps != plan.calibration.delete_steps
    per_step = (
        plan.mechanism.sensitivity("replace") ** 2
        * plan.calibration.step_size
        / (4 * plan.calibration.noise_variance * plan.problem.records**2)
    )
    longest = max(plan.calibration.learn_steps, plan.calibration.delete_steps)
    assert plan.dp.renyi(2) == pytest.approx(2 * per_step * longest, rel=1e-9)

"""method="objective-perturbation" from plan to accountant: budgets kept, few refusals, what is published, and what the papers say of it."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
import pytest

from noisygd_delete import Accountant, Budget, Curator, Plan, Records, learn, losses, make_plan, resume
from noisygd_delete.accountant import Event
from noisygd_delete.curator import starts
from noisygd_delete.engine.objective import PreciseObjective
from noisygd_delete.errors import AssumptionViolated, InvalidParameter, PlanInfeasible
from noisygd_delete.losses import CATALOGUE
from noisygd_delete.methods.procedure import InitialLaw, Procedure
from noisygd_delete.privacy.curves import FORMS

ADULT = {"records": 26_000, "features": 108, "regularization": 1e-3}
BUDGET = Budget(order=10, dp=1.0, deletion=0.1)
SMALL = {"records": 400, "features": 6, "regularization": 0.02}


def planned(loss=None, **changes) -> Plan:
    return make_plan(
        loss or losses.Logistic(1.0), **{**ADULT, "budget": BUDGET, "method": "objective-perturbation", **changes}
    )


def table(slots: int = 400, classes: int = 2, seed: int = 0) -> Records:
    generator = np.random.default_rng(seed)
    rows = generator.standard_normal((slots, 6))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    labels = np.where(rows[:, 0] > 0, 1.0, -1.0) if classes == 2 else (rows[:, :classes]).argmax(1).astype(float)
    return Records(rows, labels)


LOSSES = {
    "logistic": losses.Logistic(1.0),
    "clipped": losses.clip_loss(losses.Logistic(1.0), 0.6),
    "pseudo-huber": losses.PseudoHuber(1.0, delta=0.5),
    "linear": losses.Linear(1.0),
    "softmax": losses.Softmax(1.0, classes=3),
    "one-vs-rest": losses.OneVsRest(1.0, classes=3),
    "sigmoid": losses.Sigmoid(1.0),
}


def test_the_noise_is_next_to_the_lower_bound() -> None:
    """s of the linear loss is the least of any: a curve with no curvature, no tolerance."""
    for regularization, dp, most in ((1e-2, 1.0, 1.006), (1e-2, 0.01, 1.006), (1e-3, 1.0, 1.006), (1e-3, 0.1, 1.011)):
        plan = planned(regularization=regularization, budget=Budget(order=10, dp=dp, deletion=dp / 10))
        assert 1 <= plan.calibration.linear_term / (2 * math.sqrt(10 / (2 * dp))) <= most


def test_the_smaller_noise_of_two_proofs() -> None:
    """At one order Rényi is exact; for (ε, δ) Gaussian DP saves what a conversion loses; where κ is large it says nothing."""
    by_order, mechanism = planned(), planned().mechanism
    assert by_order.calibration.linear_term < 4.5  # 2√5 = 4.472
    assert mechanism.curve(by_order.problem.adjacency).gdp_squared is not None
    delta = Budget.from_epsilon_delta(dp=(1.0, 1e-5), deletion=(0.1, 1e-5))
    gaussian = planned(budget=delta)
    several = planned(losses.Softmax(1.0, classes=2), budget=delta)  # √2 longer gradients, no μ
    assert 1.03 < several.calibration.linear_term / (math.sqrt(2) * gaussian.calibration.linear_term) < 1.2
    steep = planned(regularization=2e-4, budget=Budget.from_epsilon_delta(dp=(0.6, 1e-5), deletion=(0.1, 1e-5)))
    assert steep.dp.gdp is None  # κ is above 1/4
    assert steep.dp.epsilon(1e-5) <= 0.6


def test_what_is_not_proven_is_refused() -> None:
    with pytest.raises(AssumptionViolated, match="tanh-network"):
        planned(losses.TanhNetwork(1.0), regularization=5.0)
    with pytest.raises(InvalidParameter, match="one gradient direction"):
        planned(losses.Softmax(1.0, classes=3), budget=Budget.from_gdp(dp=1.0, deletion=0.1))
    with pytest.raises(InvalidParameter, match="one gradient direction"):
        planned(losses.Sigmoid(1.0), regularization=0.2, budget=Budget.from_gdp(dp=1.0, deletion=0.1))
    with pytest.raises(AssumptionViolated, match="rows_per_subject=2"):
        planned(losses.Sigmoid(1.0), regularization=0.2, rows_per_subject=2)
    with pytest.raises(AssumptionViolated, match="weak convexity"):
        planned(losses.Sigmoid(1.0), regularization=0.01)
    with pytest.raises(PlanInfeasible, match="suffices") as refusal:
        planned(regularization=1e-4, budget=Budget(order=10, dp=0.01, deletion=0.001))
    way = refusal.value.alternatives[0]
    assert planned(regularization=float(way.split("=")[1]), budget=Budget(order=10, dp=0.01, deletion=0.001))
    with pytest.raises(InvalidParameter, match="cold"):
        planned(budget=Budget(order=10, dp=1.0, deletion=1e-14))
    assert planned(solver="cold", budget=Budget(order=10, dp=1.0, deletion=1e-14)).deletion.renyi(10) == 0
    with pytest.raises(InvalidParameter, match="solver"):
        planned(solver="lukewarm")


def test_every_loss_says_how_it_curves() -> None:
    assert {loss.curving for loss in CATALOGUE.values()} == {*FORMS[:2], ""}
    assert not CATALOGUE["tanh-network"].curving


@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("solver", ["warm", "cold", "fixed"])
def test_a_release_is_the_perturbed_minimiser_on_the_grid(loss: str, solver: str, monkeypatch) -> None:
    """b is caught as it is drawn: the answer minimises the tilted objective to γ, and the release lies on the grid about it."""
    drawn, answers = [], []
    draw, publish = starts.draw_linear_term, starts.on_noisy_grid

    def caught(*arguments, **words):
        drawn.append(draw(*arguments, **words))
        return drawn[-1]

    def seen(weights, *arguments, **words):
        answers.append(weights)
        return publish(weights, *arguments, **words)

    monkeypatch.setattr(starts, "draw_linear_term", caught)
    monkeypatch.setattr(starts, "on_noisy_grid", seen)
    chosen = LOSSES[loss]
    records = table(classes=chosen.outputs if chosen.label_kind == "class" else 2)
    plan = planned(chosen, **{**SMALL, "regularization": 0.15}, solver=solver)
    curator = Curator(records, plan)
    curator.learn()
    release = curator.delete([3, 4])
    assert len(drawn) == 2
    for answer, term in zip(answers[1:], drawn[1:], strict=True):
        gradient = PreciseObjective(records, chosen, regularization=0.15).gradient(answer) + term.per_record(400)
        assert np.linalg.norm(gradient) <= plan.calibration.gradient_tolerance
    model = curator.model
    off = np.atleast_2d(model.weights) - answers[-1]
    assert 0 < np.abs(off).max() < 10 * plan.calibration.output_noise
    steps = model.weights / plan.mechanism.grid
    assert (steps == np.rint(steps)).all()
    assert model.certified
    assert release.steps == 0
    if solver == "fixed":
        assert release.gradient_passes == plan.calibration.delete_solver_passes
        assert curator.delete([5]).gradient_passes == plan.calibration.delete_solver_passes


def test_the_spread_of_releases_is_that_of_the_plan() -> None:
    """On the linear loss: mean −Σx/(nλ), standard deviation s/(nλ) and τ together."""
    records, rng = table(), np.random.default_rng(7)
    plan = planned(losses.Linear(1.0), **SMALL)
    released = np.array([learn(records, plan, rng).weights for _ in range(400)])
    mean = -records.features.sum(axis=0, dtype=np.float64) / (400 * 0.02)
    deviation = math.hypot(plan.calibration.linear_term / (400 * 0.02), plan.calibration.output_noise)
    assert np.abs(released.mean(axis=0) - mean).max() < 5 * deviation / 20
    assert abs(released.std() / deviation - 1) < 0.08 or abs((released - mean).std() / deviation - 1) < 0.08


def test_unlearning_forgets_whatever_the_start() -> None:
    """From two models that differ wildly a request ends at the same minimiser, given b."""
    records, plan = table(), planned(**SMALL)
    models = [learn(records, plan, np.random.default_rng(seed)) for seed in (1, 2)]
    after = [resume(records, model, plan, np.random.default_rng(9)).weights for model in models]
    assert np.abs(after[0] - after[1]).max() <= 2 * plan.calibration.gradient_tolerance / 0.02 + 2 * plan.mechanism.grid
    assert np.abs(models[0].weights - models[1].weights).max() > 0.01


def test_a_ledger_of_very_many_different_releases_is_answered_in_seconds() -> None:
    """A stranger's: no two alike. What is merged is never below the sum of its parts."""
    first = planned().mechanism
    runs = [
        replace(first, linear_term=first.linear_term * (1 + k / 1e6), smoothness=0.25 - k / 1e6) for k in range(3000)
    ]
    began = time.process_time()
    account = Accountant(None, [Event("relearn" if k else "learn", 0, 0, run) for k, run in enumerate(runs)])
    total = account.dp_cumulative(adjacency="zero-out")
    assert total.epsilon(1e-6) < math.inf
    assert len(total.curves) == 1
    assert time.process_time() - began < 4
    parts = [run.interval("dp", "zero-out", steps_with=1) for run in runs]
    assert total.renyi(5.0) >= math.fsum(part.renyi(5.0) for part in parts) * (1 - 1e-12)
    assert total.gdp >= math.sqrt(math.fsum(part.gdp**2 for part in parts)) * (1 - 1e-12)
    assert total.gdp <= math.sqrt(math.fsum(part.gdp**2 for part in parts)) * (1 + 1e-9)


@pytest.mark.parametrize(
    "wrong", [{"output_noise": 0.003}, {"form": "crooked"}, {"form": "weakly convex"}, {"weak_convexity": 0.1}], ids=str
)
def test_impossible_facts_of_a_release_are_refused(wrong: dict) -> None:
    with pytest.raises(InvalidParameter):
        replace(planned().mechanism, **wrong)


def test_a_linear_term_needs_a_minimiser() -> None:
    with pytest.raises(InvalidParameter, match="start at the minimiser"):
        Procedure(start=InitialLaw(1.0), steps=3, step_size=0.1, noise_variance=1.0, linear_term=2.0)


def test_a_curve_that_ends_where_no_order_is_left_is_refused() -> None:
    """λ so small that ρ is beyond 10⁸⁰: the highest order is 1, and no search over orders may fall over it."""
    budget = Budget.from_epsilon_delta(dp=(500.0, 0.01), deletion=(1.0, 0.01))
    with pytest.raises(PlanInfeasible):
        planned(regularization=1e-90, records=10, budget=budget)
    steep = replace(planned().mechanism, strong_convexity=1e-90)
    assert steep.interval("dp", "replace", steps_with=1).epsilon(1e-6) == math.inf

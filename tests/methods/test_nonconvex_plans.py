"""Non-convex losses from plan to deletion: Theorem 5.2, its sharper form, weak convexity and composition."""

from __future__ import annotations

import math

import numpy as np
import pytest

from noisygd_delete import Accountant, Budget, Curator, Records, losses, make_plan
from noisygd_delete.accountant import Event
from noisygd_delete.bounds import theorem_5_2
from noisygd_delete.engine import Objective
from noisygd_delete.errors import AssumptionViolated, InvalidParameter, PlanInfeasible
from noisygd_delete.planner import explain_plan
from tests.bank import unit_rows
from tests.oracles.gibbs_grid import Line

SIGMOID = losses.Sigmoid(radius=1.0)
BETA = SIGMOID.constants.smoothness
BUDGET = Budget(order=2, dp=0.9, deletion=0.3)


def plan_for(method="noisy-gd:analysis=paper", loss=SIGMOID, **options):
    options = {"records": 200, "features": 2, "regularization": 0.05, "budget": BUDGET, **options}
    return make_plan(loss, method=method, **options)


def table(n, features, seed=0):
    return unit_rows(n, features, seed), np.where(np.random.default_rng(seed).random(n) < 0.8, 1, -1)


# ---------------------------------------------------------------- which certificate answers


def test_the_sharper_plan_is_never_dearer():
    printed, sharper = (plan_for(method, noise_variance=2.0) for method in ("noisy-gd:analysis=paper", "noisy-gd"))
    assert sharper.calibration.learn_steps <= printed.calibration.learn_steps
    assert sharper.calibration.delete_steps < printed.calibration.delete_steps / 5


def test_one_release_more_than_planned_stays_below_the_supremum():
    for method in ("noisy-gd:analysis=paper", "noisy-gd"):
        plan = plan_for(method, noise_variance=2.0, batch=3)
        run, supremum = plan.mechanism, plan.deletion.renyi(2)
        closeness = run.distance_after(None, plan.calibration.learn_steps, 0)
        for _ in range(60):
            closeness = run.distance_after(closeness, plan.calibration.delete_steps, 3)
            assert run.guarantee_at(closeness).renyi(2) <= supremum * (1 + 1e-12)
        assert run.guarantee_at(run.distance_after(closeness, plan.calibration.delete_steps, 50)).renyi(2) > supremum
        assert (
            run.guarantee_at(run.distance_after(closeness, plan.calibration.delete_steps // 3, 3)).renyi(2) > supremum
        )


@pytest.mark.parametrize(("method", "exponent"), [("noisy-gd", 1), ("noisy-gd:analysis=paper", 2)])
def test_the_risk_is_that_of_the_farther_of_a_learned_and_a_requested_model(method, exponent):
    """With the sharper form requests are farther from the Gibbs law, with the printed one the learned model is."""
    plan = plan_for(method, noise_variance=2.0)
    run, gibbs = plan.mechanism, plan.mechanism.gibbs
    models = [run.distance_after(None, plan.calibration.learn_steps, 0), plan.deletion.renyi(gibbs.order)]
    assert (models[0] < models[1]) == (method == "noisy-gd")
    risks = [
        theorem_5_2.excess_risk(
            log_barrier=exponent * gibbs.range / 2.0, range=gibbs.range, noise_variance=2.0, lipschitz=SIGMOID.constants.lipschitz,
            smoothness=gibbs.smoothness, regularization=0.05, dimension=2, deletion=deletion,
        )
        for deletion in models
    ]  # fmt: skip
    assert plan.outlook.excess_risk == pytest.approx(max(risks), rel=1e-9)


def test_edits_before_a_fresh_learn_cost_nothing():
    plan = plan_for("noisy-gd", noise_variance=2.0)
    learned = plan.mechanism.guarantee_at(plan.mechanism.distance_after(None, plan.calibration.learn_steps, 40)).renyi(
        2
    )
    assert learned == plan.mechanism.guarantee_at(
        plan.mechanism.distance_after(None, plan.calibration.learn_steps, 0)
    ).renyi(2)


def test_weak_convexity_takes_over_above_its_threshold():
    plan = plan_for("noisy-gd", regularization=0.2)
    assert not plan.mechanism.fading
    assert plan.mechanism.strong_convexity == pytest.approx(0.2 - BETA)
    assert plan.deletion.gdp is not None
    assert plan.deletion.renyi(2) <= 0.3
    below = plan_for("noisy-gd", regularization=BETA * 0.99, noise_variance="cheapest")
    assert below.mechanism.fading


def test_weakly_convex_chains_contract_as_claimed():
    """Two starts under the same noise, in the direction of worst curvature: |1 − ηm| and no faster certificate."""
    lam = 0.2
    plan = plan_for("noisy-gd", regularization=lam, records=10, features=1)
    score = math.log((1 + 3**-0.5) / (1 - 3**-0.5))  # where ℓ'' = −β₋
    records = Records(np.ones((10, 1)) * (1 - 2.0**-20), np.ones(10))
    objective = Objective(records, SIGMOID, regularization=lam, dtype="float64")
    step = 1e-5
    left, right = (np.array([[sign * step - score]]) for sign in (-1, 1))
    moved = (right - plan.calibration.step_size * objective.gradient(right)) - (
        left - plan.calibration.step_size * objective.gradient(left)
    )
    contraction = 1 - plan.calibration.step_size * plan.mechanism.strong_convexity
    assert moved[0, 0] / (2 * step) == pytest.approx(contraction, rel=1e-5)
    assert moved[0, 0] / (2 * step) > (1 - plan.calibration.step_size * lam) * 1.1  # λ in place of m would be false


def test_infeasible_plans_carry_every_number():
    with pytest.raises(PlanInfeasible) as caught:
        plan_for(
            "noisy-gd:analysis=paper", records=500, regularization=1.0, budget=Budget(order=2, dp=1.0, deletion=0.1)
        )
    error = caught.value
    assert error.plan.calibration.learn_steps > 1e12
    message = str(error)
    for text in ("n=500", "d=2", "λ=1", "ω=1", "ε_dd=0.1", "K_A=", "cheapest", "σ²="):
        assert text in message
    alternatives = "\n".join(error.alternatives)
    ways = ("at the cheapest noise variance", "'noisy-gd'", "'noisy-gd:analysis=composition'", "n=", "ω=", "no d alone")
    assert [way for way in ways if way not in alternatives] == []
    # the alternatives are true: n alone, at the number named
    n = int(next(text for text in error.alternatives if text.startswith("n=")).split("=")[1].split()[0])
    again = plan_for(
        "noisy-gd:analysis=paper", records=n, regularization=1.0, budget=Budget(order=2, dp=1.0, deletion=0.1)
    )
    assert again.calibration.learn_steps < 1e8


def test_what_a_refusal_offers_depends_on_what_there_is_to_change():
    """No regulariser below β₋ gets the tight certificate; no n below the batch; no way out that does not run."""
    hopeless = Budget.from_epsilon_delta(dp=(0.5, 1e-5), deletion=(0.4, 1e-5))
    with pytest.raises(PlanInfeasible) as caught:
        plan_for("noisy-gd:analysis=paper", records=300, batch=300, regularization=0.01, budget=hopeless)
    text = "\n".join(caught.value.alternatives)
    assert "makes the objective strongly convex" in text
    assert "no n alone suffices (tried from 300 to" in text
    assert caught.value.plan.method.order > 2
    with pytest.raises(PlanInfeasible) as caught:
        plan_for("noisy-gd", loss=losses.Sigmoid(radius=3.0), records=10**7, regularization=1e-6)
    assert "\n".join(caught.value.alternatives)


@pytest.mark.parametrize(
    ("method", "facts", "error", "words"),
    [
        ("noisy-gd:analysis=paper", {"budget": Budget(order=2, dp=3.0, deletion=0.1), "noise_variance": "cheapest"}, AssumptionViolated, "ε_dp < d"),
        ("noisy-gd:analysis=paper", {"deletion_notion": "pairwise"}, InvalidParameter, "pairwise"),
        ("noisy-gd:analysis=paper", {"step_size": 0.1}, InvalidParameter, "step_size"),
        ("noisy-gd:analysis=paper", {"budget": Budget.from_gdp(dp=1.0, deletion=0.1)}, InvalidParameter, "Gaussian-DP"),
        ("noisy-gd:analysis=paper", {"noise_variance": 0.1}, InvalidParameter, "below"),
        ("noisy-gd", {"loss": losses.Logistic(1.0), "noise_variance": "cheapest"}, InvalidParameter, "cheapest"),
        ("noisy-gd:analysis=composition", {"loss": losses.Logistic(1.0)}, InvalidParameter, "convex"),
    ],
)  # fmt: skip
def test_refusals_name_the_reason(method, facts, error, words):
    with pytest.raises(error, match=words):
        plan_for(method, **facts)


def test_epsilon_delta_budgets_pick_their_order():
    budget = Budget.from_epsilon_delta(dp=(1.0, 1e-5), deletion=(0.8, 1e-5))
    for method in ("noisy-gd:analysis=paper", "noisy-gd"):
        plan = plan_for(method, budget=budget, noise_variance="cheapest")
        assert plan.method.order > 2
        assert plan.deletion.epsilon(1e-5) <= 0.8
        assert plan.dp.epsilon(1e-5) <= 1.0


def test_plans_name_the_others_and_why_they_lost():
    near = explain_plan(plan_for("noisy-gd:analysis=paper", noise_variance="cheapest"))
    for text in ("Theorem 5.2 as printed", "total variation", "'noisy-gd'", "'noisy-gd:analysis=composition'"):
        assert text in near
    weak = explain_plan(plan_for("noisy-gd", regularization=0.2))
    assert "exceeds the weak convexity" in weak
    assert "K_A=" in weak.split("'noisy-gd:analysis=paper'")[1]  # the infeasible steps of the printed theorem too


# ---------------------------------------------------------------- the accountant: adaptive requests


def chain(plan, requests=3):
    accountant = Accountant(plan)
    accountant.record(Event("learn", plan.calibration.learn_steps, 0, plan.mechanism))
    for _ in range(requests):
        accountant.record(Event("unlearn", plan.calibration.delete_steps, 1, plan.mechanism))
    return accountant


@pytest.mark.parametrize("method", ["noisy-gd:analysis=paper", "noisy-gd"])
def test_observed_pasts_are_certified_by_composition_only(method):
    plan = plan_for(method, noise_variance="cheapest", records=2000)
    accountant = chain(plan)
    composed = accountant.deletion(erased_at=3)  # everything observed: requests may be adaptive
    rate = 0.25 * 0.25 * plan.calibration.step_size / (4 * plan.calibration.noise_variance * 2000**2)
    assert composed.renyi(2) == pytest.approx(2 * rate * (plan.calibration.learn_steps + plan.calibration.delete_steps))
    # steps after the erasure do not make an observed past forget
    assert accountant.deletion(erased_at=3, observed=[1, 4]).renyi(2) == pytest.approx(
        2 * rate * (plan.calibration.learn_steps + plan.calibration.delete_steps)
    )


@pytest.mark.parametrize("method", ["noisy-gd:analysis=paper", "noisy-gd"])
def test_an_observer_after_the_erasure_gets_the_smaller_bound(method):
    plan = plan_for(method, noise_variance=1.0, records=20, budget=Budget(order=2, dp=1.9, deletion=0.02))
    accountant = chain(plan)
    hidden = accountant.deletion(erased_at=3, observed=[3, 4])
    assert hidden.renyi(2) <= 0.02 * (1 + 1e-9)
    assert hidden.non_adaptive
    assert accountant.deletion(erased_at=3, observed=[2, 3]).renyi(2) > 0.02
    assert not accountant.deletion(erased_at=3).non_adaptive


# ---------------------------------------------------------------- composition's horizon


@pytest.mark.parametrize("fresh", ["demand", "automatic"])
def test_a_spent_horizon_needs_a_fresh_learn(fresh):
    plan = plan_for(
        "noisy-gd:analysis=composition",
        records=300,
        requests_per_learn=3,
        fresh_learn=fresh,
        learn_steps=40,
        delete_steps=10,
    )
    assert (
        plan.calibration.learn_steps + 2 * plan.calibration.delete_steps
        <= plan.calibration.horizon
        < plan.calibration.learn_steps + 3 * plan.calibration.delete_steps
    )
    curator = Curator(Records(*table(300, 2)), plan)
    curator.learn()
    for record in range(3):
        release = curator.delete([record])
        assert (release.status, release.kind) == ("published", "unlearn")
        assert release.guarantees["deletion"].renyi(2) <= 0.3
    fourth = curator.delete([3])
    if fresh == "automatic":
        assert (fourth.status, fourth.kind) == ("published", "relearn")
        assert fourth.guarantees["deletion"].renyi(2) == 0
    else:
        assert (fourth.status, fourth.model) == ("withheld", None)
        assert not curator.records.features[3].any()  # the erasure itself is never withheld
        assert curator.relearn().kind == "relearn"
    assert curator.delete([4]).kind == "unlearn"


@pytest.mark.parametrize(("learn_steps", "delete_steps"), [(40, 10), (10, 40)])
def test_the_last_of_the_planned_releases_costs_what_the_plan_states(learn_steps, delete_steps):
    plan = plan_for(
        "noisy-gd:analysis=composition", records=300, releases=3, requests_per_learn=8,
        fresh_learn="demand", learn_steps=learn_steps, delete_steps=delete_steps,
    )  # fmt: skip
    run, longest = plan.mechanism, max(learn_steps, delete_steps) + 2 * delete_steps
    last = run.interval("dp", plan.problem.adjacency, steps_with=longest)
    assert [plan.dp.renyi(order) for order in (2, 8)] == [last.renyi(order) for order in (2, 8)]
    assert longest < plan.calibration.horizon


# ---------------------------------------------------------------- end to end, audited exactly


CASES = {  # n, λ, ε_dd, σ², releases audited exactly
    "noisy-gd:analysis=paper": (60, 1.0, 0.6, 4.0, 7),
    "noisy-gd": (500, 0.09, 0.2, 1.0, 4),
}


@pytest.mark.parametrize("method", CASES)
def test_a_learn_and_six_deletions_audited_against_the_exact_law(method):
    """d = 1, so the law of every published model is a density on a grid; the engine runs the same plan."""
    n, lam, deletion, noise_variance, audited = CASES[method]
    labels = np.where(np.arange(n) % 4, 1.0, -1.0)
    plan = plan_for(
        method, records=n, features=1, regularization=lam, noise_variance=noise_variance,
        budget=Budget(order=2, dp=0.9, deletion=deletion),
    )  # fmt: skip
    assert plan.mechanism.fading
    assert plan.calibration.learn_steps > 500
    curator = Curator(Records(np.full((n, 1), 1 - 2.0**-20), labels), plan)
    releases = [curator.learn()] + [curator.delete([record]) for record in range(6)]
    density = None
    for number, release in enumerate(releases):
        run = plan.mechanism
        said = (
            release.guarantees["deletion"] if number else run.guarantee_at(run.distance_after(None, release.steps, 0))
        )
        assert said.renyi(2) <= deletion * (1 + 1e-9)
        assert release.model.certified
        if number < audited:
            kept = labels[number:]
            grid = exact_chain(plan, positive=np.sum(kept == 1) / n, negative=np.sum(kept == -1) / n)
            density = grid.gaussian(0.0, plan.calibration.init_variance) if density is None else density
            density = grid.run(density, plan.calibration.step_size, release.steps)
            assert density.sum() * grid.cell == pytest.approx(1, abs=1e-5)
            assert grid.renyi(density, 2) <= said.renyi(2)
            deviation = math.sqrt((density * grid.points**2).sum() * grid.cell)
            assert abs(release.model.weights.item()) < 7 * deviation


def exact_chain(plan, *, positive, negative):
    """Shares of the slots hold x = 1 with either label; the sigmoid loss written out, not the package's."""

    numbers = plan.calibration

    def value(t):
        return positive / (1 + np.exp(t)) + negative / (1 + np.exp(-t)) + plan.problem.regularization * t**2 / 2

    def slope(t):
        bell = 1 / (4 * np.cosh(t / 2) ** 2)
        return (negative - positive) * bell + plan.problem.regularization * t

    return Line(
        value, slope, numbers.noise_variance, half_width=6 * math.sqrt(numbers.init_variance) + 0.5,
        spacing=0.8 * math.sqrt(2 * numbers.step_size * numbers.noise_variance),
    )  # fmt: skip

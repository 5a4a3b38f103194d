"""The ridge of the forecast: chosen from public numbers, for every method, and said aloud with its price."""

from __future__ import annotations

import math
from dataclasses import fields

import numpy as np
import pytest

from noisygd_delete import Budget, Curator, NoisyGDClassifier, losses, make_plan
from noisygd_delete.errors import InvalidParameter, NothingPromised
from noisygd_delete.planner import compare_plans
from noisygd_delete.planner.defaults import estimated_norm, expected_cost
from noisygd_delete.records import Records
from tests.bank import unit_rows

ADULT = {"records": 26_000, "features": 108}
METHODS = ("noisy-gd:analysis=paper", "noisy-gd", "output-perturbation")


def tight(dp: float) -> Budget:
    return Budget(order=10, dp=dp, deletion=0.1 * dp)


@pytest.mark.parametrize("method", METHODS)
def test_lambda_is_raised_only_where_the_noise_asks_for_it(method: str) -> None:
    kept, raised = (
        make_plan(losses.Logistic(1.0), **ADULT, regularization=asked, budget=budget, method=method, ridge="forecast")
        for asked, budget in ((1e-2, tight(1.0)), (1e-4, tight(0.1)))
    )
    assert (kept.problem.regularization, kept.problem.ridge_cost) == (1e-2, 0)
    assert raised.problem.regularization > 1e-4 == raised.problem.requested_regularization
    # the balance: what the noise costs is what the regulariser is worth at norm B
    worth = raised.problem.regularization * raised.problem.model_norm**2 / 2
    assert 0.95 * worth <= raised.outlook.forecast <= worth


@pytest.mark.parametrize("method", METHODS)
def test_the_forecast_falls_and_the_budget_is_still_met(method: str) -> None:
    asked = {**ADULT, "regularization": 1e-4, "budget": tight(0.01), "method": method}
    plain, raised = make_plan(losses.Logistic(1.0), **asked), make_plan(losses.Logistic(1.0), **asked, ridge="forecast")
    assert raised.outlook.forecast + raised.problem.ridge_cost < 0.5 * plain.outlook.forecast
    assert raised.dp.with_slack().renyi(10) <= 0.01 * (1 + 1e-9)
    assert raised.deletion.with_slack().renyi(10) <= 0.001 * (1 + 1e-9)


def test_noisy_gd_of_small_steps_meets_the_closed_form() -> None:
    """√d s/(nB), s = Δ/μ: the formula of objective perturbation holds for Noisy-GD too, whose noise has the Gibbs shape."""
    asked = {**ADULT, "regularization": 1e-4, "budget": tight(0.1), "method": "noisy-gd", "step_size": 1e-2}
    plan = make_plan(losses.Logistic(1.0), **asked, ridge="forecast", model_norm=8.0)
    mu = math.sqrt(2 * 0.1 / 10)
    assert plan.problem.regularization == pytest.approx(math.sqrt(108) * (2 / mu) / (26_000 * 8), rel=0.02)


def test_the_guess_of_the_norm_is_public_and_a_wide_table_counts_as_several() -> None:
    """Four times as wide as a narrow one: four models, each with a quarter of the columns. The formula: tests/methods/test_words_and_numbers.py."""
    wide = {"features": 160, "budget": tight(100.0), "regularization": 1e-4, "records": 1000, "method": "noisy-gd"}
    four = make_plan(losses.Softmax(1.0, classes=3), **wide, ridge="forecast")
    assert four.problem.model_norm == pytest.approx(2 * math.log(1000))
    assert expected_cost(four) == pytest.approx((four.outlook.forecast + four.problem.ridge_cost) / 4)
    with pytest.raises(InvalidParameter, match="give a model_norm"):
        estimated_norm(make_plan(losses.Linear(1.0), **wide).problem)


def test_it_takes_a_problem_that_has_no_plan_at_its_lambda() -> None:
    """A sigmoid at λ < β₋ has no tight bound; the ridge carries it to one."""
    asked = {"records": 5000, "features": 5, "regularization": 0.05, "budget": tight(1.0), "method": "noisy-gd"}
    plan = make_plan(losses.Sigmoid(1.0), **asked, ridge="forecast")
    assert plan.problem.regularization > losses.Sigmoid(1.0).constants.weak_convexity


def test_what_does_not_fit_is_refused() -> None:
    asked = {**ADULT, "regularization": 1e-4, "budget": tight(0.1)}
    with pytest.raises(InvalidParameter, match="belongs to ridge 'forecast'"):
        make_plan(losses.Logistic(1.0), **asked, model_norm=3.0)
    with pytest.raises(InvalidParameter, match="ridge"):
        make_plan(losses.Logistic(1.0), **asked, ridge="best")
    with pytest.raises(InvalidParameter, match="not available for convex losses"):
        make_plan(losses.Logistic(1.0), **asked, method="noisy-gd:analysis=composition", ridge="forecast")


def test_a_comparison_counts_the_price_of_the_ridge() -> None:
    asked = {"loss": losses.Logistic(1.0), **ADULT, "regularization": 1e-4, "budget": tight(0.01)}
    for candidate in compare_plans(**asked, ridge="forecast").candidates:
        assert candidate.excess_risk == pytest.approx(
            candidate.plan.outlook.forecast + candidate.plan.problem.ridge_cost
        )
        assert candidate.plan.problem.ridge_cost > 0


def test_estimators_take_it() -> None:
    generator = np.random.default_rng(5)
    rows = generator.uniform(-1, 1, (60, 3))
    model = NoisyGDClassifier(
        feature_bounds=(-1, 1), method="noisy-gd", regularization=1e-4, ridge="forecast", utility=False
    )
    with pytest.warns(NothingPromised):
        model.fit(rows, np.where(rows[:, 0] > 0, 1, 0))
    assert model.plan_.problem.regularization > 1e-4


def test_the_model_is_better_for_it() -> None:
    """Measured, in the objective asked for: 300 records, little budget, λ far too small."""
    generator = np.random.default_rng(6)
    rows = unit_rows(300, 20, seed=6)
    labels = np.where(rows[:, 0] + 0.3 * generator.standard_normal(300) > 0, 1.0, -1.0)
    asked = {
        "records": 300,
        "features": 20,
        "regularization": 1e-4,
        "budget": tight(1.0),
        "method": "output-perturbation",
    }

    def loss_of(ridge: str) -> float:
        plan, paid = make_plan(losses.Logistic(1.0), **asked, ridge=ridge), []
        for _ in range(5):
            curator = Curator(Records(rows.astype(np.float32), labels.copy()), plan)
            weights = curator.learn(rng=generator).model.weights
            paid.append(np.logaddexp(0, -(rows @ weights) * labels).mean() + 5e-5 * weights @ weights)
        return float(np.mean(paid))

    assert loss_of("forecast") < 0.2 * loss_of("given")


def test_a_plan_is_made_again_from_its_problem() -> None:
    """What the problem says are the arguments that make the plan again; with another n the forecast is asked again."""
    plan = make_plan(
        losses.Logistic(1.0), **ADULT, regularization=1e-4, budget=tight(0.1), method="noisy-gd", ridge="forecast"
    )
    arguments = {field.name: getattr(plan.problem, field.name) for field in fields(plan.problem)}
    assert make_plan(**arguments) == plan
    larger = make_plan(**{**arguments, "records": 260_000}, ridge="forecast")
    assert larger.problem.requested_regularization == 1e-4
    assert larger.problem.regularization == pytest.approx(max(1e-4, plan.problem.regularization / 10), rel=0.02)

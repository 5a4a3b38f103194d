"""A target on the excess risk: the plan takes the steps that keep it, or is refused."""

from __future__ import annotations

import json

import pytest

from noisygd_delete import Budget, losses, make_plan
from noisygd_delete.bounds import utility
from noisygd_delete.cli import main
from noisygd_delete.errors import InvalidParameter, PlanInfeasible
from noisygd_delete.methods.noisy_steps import stationary_distance
from noisygd_delete.methods.plan import Plan
from noisygd_delete.methods.serialization import plan_from_dict

LOSS = losses.Logistic(radius=1.0)
SIZES = {"records": 26_000, "features": 108, "regularization": 1e-3, "budget": Budget(order=10, dp=1.0, deletion=0.1)}


def worst_excess(plan: Plan, requests: int = 400) -> float:
    """The bound after a learn and many requests, followed step by step from the plan's own numbers."""
    numbers = plan.calibration
    problem = plan.problem
    contraction = 1 - numbers.step_size * problem.strong_convexity
    facts = {
        "hessian_trace": problem.loss.constants.smoothness
        + plan.problem.dimension * plan.problem.regularization,  # of one output
        "noise_variance": plan.calibration.noise_variance,
        "step_size": plan.calibration.step_size,
        "objective_smoothness": problem.objective_smoothness,
    }
    square = utility.stationary_gradient_square(**facts)
    stationary = utility.stationary_excess(
        dimension=plan.problem.dimension, strong_convexity=problem.strong_convexity, **facts
    )
    moved = (
        2 * plan.problem.loss.constants.lipschitz * problem.batch / (problem.strong_convexity * plan.problem.records)
    )
    far = (
        plan.problem.dimension * plan.calibration.init_variance
    ) ** 0.5 + plan.problem.loss.constants.lipschitz / problem.regularization
    distance = contraction**plan.calibration.learn_steps * (far + stationary_distance(plan) ** 0.5)
    farthest = distance
    for _ in range(requests):
        distance = contraction**numbers.delete_steps * (distance + moved)
        farthest = max(farthest, distance)
    return utility.excess_at_distance(
        stationary=stationary,
        gradient_square=square,
        distance=farthest,
        objective_smoothness=problem.objective_smoothness,
    )


@pytest.mark.parametrize("target", [0.005, 0.01, 0.1, 1.0])
@pytest.mark.parametrize(
    "options", [{}, {"batch": 20}, {"rows_per_subject": 2, "deletion_notion": "pairwise"}, {"releases": 12}]
)
def test_a_target_is_kept_or_refused(target, options):
    try:
        plan = make_plan(LOSS, **SIZES, method="noisy-gd", excess_risk_target=target, **options)
    except PlanInfeasible as error:
        refused = error
    else:
        refused = None
    if refused is not None:
        assert worst_excess(refused.plan) > target or "cost more than the dp budget" in str(refused)
        return
    assert plan.outlook.excess_risk <= target * (1 + 1e-12)
    assert worst_excess(plan) <= target * (1 + 1e-9)
    assert plan.dp.renyi(10) <= 1.0 * (1 + 1e-12)
    assert plan.deletion.renyi(10) <= 0.1 * (1 + 1e-12)
    assert plan.dp_observed().renyi(10) <= 1.0 * (1 + 1e-9)
    assert plan_from_dict(json.loads(json.dumps(plan.to_dict()))) == plan


def test_the_command_takes_a_target_and_refuses_one_that_nobody_meets(capsys):
    words = ["plan", "--records", "26000", "--features", "108", "--method"]
    assert main([*words, "noisy-gd:excess_risk_target=0.1", "--json"]) == 0
    plan = make_plan(LOSS, **SIZES, method="noisy-gd", excess_risk_target=0.1)
    assert json.loads(capsys.readouterr().out)["delete_steps"] == plan.calibration.delete_steps
    assert main([*words, "noisy-gd:excess_risk_target=1e-5"]) == 2
    assert "cannot be promised" in capsys.readouterr().err


def test_a_loss_that_bends_more_than_its_regulariser_has_no_target():
    with pytest.raises(InvalidParameter, match="needs λ > β₋"):
        make_plan(
            losses.Sigmoid(radius=1.0), **SIZES | {"regularization": 1e-4}, method="noisy-gd", excess_risk_target=0.1
        )

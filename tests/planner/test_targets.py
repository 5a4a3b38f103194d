"""The cheapest plan for targets: it keeps every promise, and nothing on a finer grid is cheaper."""

from __future__ import annotations

import json

import pytest

from noisygd_delete import Budget, losses, make_plan
from noisygd_delete.bounds import utility
from noisygd_delete.cli import main
from noisygd_delete.errors import AssumptionViolated, InvalidParameter, PlanInfeasible
from noisygd_delete.methods.plan import Plan
from noisygd_delete.planner.make import cheapest_plan

LOSS = losses.Logistic(radius=1.0)
SIZES = {"records": 26_000, "features": 108, "regularization": 1e-3, "budget": Budget(order=10, dp=1.0, deletion=0.1)}


def worst_excess(plan: Plan, requests: int = 400) -> float:
    """The bound after a learn and many requests, followed step by step from the plan's own numbers."""
    problem = plan.problem
    contraction = 1 - plan.step_size * problem.strong_convexity
    facts = {name: getattr(plan, name) for name in ("dimension", "noise_variance", "step_size")}
    facts["objective_smoothness"] = problem.objective_smoothness
    product = utility.stationary_product(**facts)
    stationary = utility.stationary_excess(**facts, strong_convexity=problem.strong_convexity)
    moved = 2 * plan.loss.constants.lipschitz * problem.batch / (problem.strong_convexity * plan.records)
    far = (plan.dimension * plan.init_variance) ** 0.5 + plan.loss.constants.lipschitz / problem.regularization
    distance = contraction**plan.learn_steps * (far + plan.stationary_distance**0.5)
    farthest = distance
    for _ in range(requests):
        distance = contraction**plan.delete_steps * (distance + moved)
        farthest = max(farthest, distance)
    return utility.excess_at_distance(
        stationary=stationary, product=product, distance=farthest, objective_smoothness=problem.objective_smoothness
    )


@pytest.mark.parametrize("target", [0.005, 0.01, 0.1, 1.0])
@pytest.mark.parametrize(
    "options", [{}, {"batch": 20}, {"rows_per_subject": 2, "deletion_notion": "pairwise"}, {"releases": 12}]
)
def test_the_chosen_plan_keeps_every_promise(target, options):
    try:
        choice = cheapest_plan(LOSS, **SIZES, excess_risk=target, **options)
    except PlanInfeasible as error:
        refused = error.plan
    else:
        refused = None
    if refused is not None:
        assert worst_excess(refused) > target
        return
    for row in choice.table:
        plan = row.plan
        assert row.excess_risk <= target * (1 + 1e-12)
        assert worst_excess(plan) <= target * (1 + 1e-9)
        assert plan.dp.renyi(10) <= 1.0 * (1 + 1e-12)
        assert plan.deletion.renyi(10) <= 0.1 * (1 + 1e-12)
        assert plan.together.renyi(10) <= 1.0 * (1 + 1e-9)
    assert choice.plan in [row.plan for row in choice.table]


def test_the_table_trades_steps_against_noise_and_ends_in_the_choice():
    choice = cheapest_plan(LOSS, **SIZES, excess_risk=0.1)
    noise = [row.plan.noise_variance for row in choice.table]
    steps = [row.plan.delete_steps for row in choice.table]
    assert len(choice.table) > 5
    assert noise == sorted(noise)
    assert steps == sorted(steps, reverse=True)
    assert choice.plan.delete_steps == steps[-1]
    text = choice.text()
    assert text.count("\n") == len(choice.table)
    assert text.splitlines()[-1].startswith("  *")
    answer = json.loads(json.dumps(choice.to_dict(), allow_nan=False))
    assert answer["plan"]["delete_steps"] == choice.plan.delete_steps
    assert len(answer["pareto"]) == len(choice.table)


def test_targets_cost_fewer_steps_than_the_default_plan_at_the_loss_it_can_promise():
    default = make_plan(LOSS, **SIZES, method="sharp")
    choice = cheapest_plan(LOSS, **SIZES, excess_risk=default.excess_risk)
    assert choice.plan.delete_steps < default.delete_steps


def test_asking_for_less_loss_never_takes_fewer_steps():
    steps = [
        cheapest_plan(LOSS, **SIZES, excess_risk=target).plan.delete_steps for target in (0.005, 0.01, 0.03, 0.1, 1.0)
    ]
    assert steps == sorted(steps, reverse=True)


def test_an_unreachable_target_is_refused_with_the_way_out():
    with pytest.raises(PlanInfeasible, match="cannot be promised") as refused:
        cheapest_plan(LOSS, **SIZES, excess_risk=1e-4)
    assert isinstance(refused.value.plan, Plan)
    offered = float(refused.value.alternatives[0].split("=")[1].split()[0])
    assert cheapest_plan(LOSS, **SIZES, excess_risk=offered).excess_risk <= offered


@pytest.mark.parametrize(
    "options", [{"step_size": 1.0}, {"noise_variance": 1.0}, {"method": "theorem"}, {"method": "minimiser"}]
)
def test_what_is_chosen_here_cannot_be_given(options):
    with pytest.raises(InvalidParameter):
        cheapest_plan(LOSS, **SIZES, excess_risk=0.1, **options)


def test_the_command_prints_the_plan_and_its_table(capsys):
    words = ["plan", "--records", "26000", "--features", "108", "--cheapest", "--excess-risk", "0.1"]
    choice = cheapest_plan(LOSS, **SIZES, excess_risk=0.1)
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(choice.to_dict()))
    assert main(words) == 0
    assert capsys.readouterr().out.endswith(choice.text() + "\n")
    assert main([*words[:-1], "1e-5"]) == 2
    assert "cannot be promised" in capsys.readouterr().err


def test_a_loss_that_bends_more_than_its_regulariser_has_no_target():
    with pytest.raises(AssumptionViolated, match="must exceed β₋"):
        cheapest_plan(losses.Sigmoid(radius=1.0), **SIZES | {"regularization": 1e-4}, excess_risk=0.1)

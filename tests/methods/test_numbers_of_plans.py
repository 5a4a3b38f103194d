"""Numbers of plans by their definitions: of a problem, of a summary, the fewest steps and the least noise, forecasts."""

from __future__ import annotations

import math
from dataclasses import fields, replace

import pytest

from noisygd_delete import losses, make_plan
from noisygd_delete.bounds import utility
from noisygd_delete.bounds.arithmetic import sensitivity_slack
from noisygd_delete.bounds.solver_steps import proven_steps
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.methods import CompositionNoisyGD, OutputPerturbation, Stage, Staged, noisy_gd
from noisygd_delete.methods.forecast import estimated_norm, forecast_excess_risk
from noisygd_delete.methods.output_perturbation import diffusion_steps, with_diffusion_for
from noisygd_delete.methods.plan import Plan
from noisygd_delete.methods.procedure import (
    Exactness,
    InitialLaw,
    Minimizer,
    Published,
    forecast_passes,
    quick_passes,
    solver_passes,
)
from noisygd_delete.privacy.budget import Budget, Total

from ..bank import FURTHER, PAIRS, PROBLEMS, RENYI, USUAL, plan_by

BANK = [*PROBLEMS, *FURTHER]


@pytest.mark.parametrize("name", BANK)
@pytest.mark.parametrize("weighting", ["by-row", "by-person"])
def test_numbers_of_a_problem(name: str, weighting: str) -> None:
    asked = replace(plan_by(name).problem, rows_per_subject=3)
    by_person = weighting == "by-person"
    if by_person and not asked.method.covers_weights(asked.loss):
        with pytest.raises(InvalidParameter):
            replace(asked, weighting=weighting)
        return
    problem = replace(asked, weighting=weighting, features=6)
    constants, budget = problem.loss.constants, problem.budget
    assert (problem.by_person, problem.charged_rows) == (by_person, 1 if by_person else 3)
    for world in (problem.adjacency, problem.deletion_notion):
        pair = 2 if world in ("replace", "pairwise") else 1
        assert problem.sensitivity(world) == pair * constants.lipschitz * problem.charged_rows
    slack = sensitivity_slack(records=problem.records, dtype=problem.dtype)
    assert problem.slack == (3 if by_person else 1) * slack
    for included, growth in ((True, 1 + problem.slack), (False, 1.0)):
        own = replace(problem, slack_in_budget=included)
        assert own.growth == growth
        assert (own.dp_gdp(), own.deletion_gdp()) == (budget.dp_gdp() / growth, budget.deletion_gdp() / growth)
        for mine, whole in ((own.dp_rate(), budget.dp_rate()), (own.deletion_rate(), budget.deletion_rate())):
            assert mine == (pytest.approx(whole[0] / growth**2, rel=1e-15), whole[1])
        order = budget.order or 7.0
        left = budget.deletion
        if budget.order is None:  # ε by Canonne, Kamath and Steinke
            left -= math.log1p(-1 / order) - (math.log(budget.deletion_delta) + math.log(order)) / (order - 1)
        assert own.deletion_renyi(order) == pytest.approx(left / growth**2, rel=1e-9)
    assert problem.strong_convexity == problem.regularization - constants.weak_convexity
    assert problem.objective_smoothness == problem.regularization + constants.smoothness
    assert problem.hessian_trace == problem.loss.curvature_trace + problem.dimension * problem.regularization
    assert problem.noise_trace == problem.dimension
    columns = problem.features
    for blocks in ((0,) * columns, (columns,)):
        assert replace(problem, one_hot_blocks=blocks).noise_shape is None
    shaped = replace(problem, one_hot_blocks=(2, columns - 2))
    assert len(set(shaped.noise_shape)) == 2
    assert shaped.noise_trace == pytest.approx(problem.loss.outputs * sum(shaped.noise_shape))
    assert problem.ridge_cost == replace(problem, model_norm=3.0).ridge_cost == 0
    raised = replace(problem, regularization=0.5, requested_regularization=0.125, model_norm=3.0)
    assert raised.ridge_cost == (0.5 - 0.125) * 9 / 2
    capped = replace(problem, releases=1, total=Total(3.0, 1e-7))
    told = [one.is_capped for one in (problem, replace(problem, releases=1), replace(problem, releases=2), capped)]
    assert told == [problem.releases > 1, False, True, True]
    few, gap = problem.dimension / (2 * problem.records), problem.loss.gap_at_zero
    assert noisy_gd.sampling_error(problem) == (0 if gap == math.inf else min(few, gap / 100))
    run = problem.run(step_size=0.5, noise_variance=0.25)
    assert (run["records"], run["row_norm"], run["step_size"], run["noise_variance"]) == (problem.records, problem.loss.radius, 0.5, 0.25)  # fmt: skip
    assert run["strong_convexity"] == (problem.strong_convexity if problem.strong_convexity > 0 else problem.regularization)  # fmt: skip
    assert (run["objective_smoothness"], run["lipschitz"]) == (problem.objective_smoothness, constants.lipschitz)
    assert (run["rows_per_subject"], run["proven"], run["slack"]) == (3, constants.proven, problem.slack)
    assert run.get("weighting") == ("by-person" if by_person else None)


def resumes(plan: Plan) -> bool:
    """Whether a request goes on from the model published before, and keeps something of it."""
    return plan.method.name == "noisy-gd" or plan.calibration.kept > 0


@pytest.mark.parametrize("name", [*BANK, "staged, nothing kept"])
def test_the_summary_states_the_plan(name: str) -> None:
    nothing_kept = {**USUAL, **PROBLEMS["staged"], "method": Staged(level=-1)}
    plan = make_plan(**nothing_kept) if name == "staged, nothing kept" else plan_by(name)
    problem, numbers, n = plan.problem, plan.calibration, plan.problem.records
    learn = n * (numbers.learn_solver_passes + numbers.learn_steps)
    delete = n * (numbers.delete_solver_passes + numbers.delete_steps)
    assert plan.count_gradients() == {"learn": learn, "delete": delete}
    assert f"Cost: {learn // n:,} passes over the table to learn, {delete // n:,} for" in plan.summarize()
    assert numbers.delete_steps == max(numbers.delete_steps_for_deletion, numbers.delete_steps_for_utility)
    told, risk = plan.summary(), plan.outlook.excess_risk
    plain = ("regularization", "requested_regularization", "ridge_cost", "releases", "rows_per_subject")
    assert {key: told[key] for key in plain} == {key: getattr(problem, key) for key in plain}
    own = {field.name for field in fields(numbers)} & told.keys() | {"delete_steps"}
    assert len(own) == 10
    assert {key: told[key] for key in own} == {key: getattr(numbers, key) for key in own}
    assert told["saving"] == learn - delete
    assert told["gradient_evaluations"] == {"learn": learn, "delete": delete}
    assert told["solver_passes"] == {"learn": numbers.learn_solver_passes, "delete": numbers.delete_solver_passes}
    assert told["excess_risk_bound"] == (risk if risk < math.inf else None)
    assert told["noisy_gradient_descent"] == (plan.method.name == "noisy-gd")
    assert "name" not in told["options"]
    assert {"name": plan.method.name, **told["options"]} == plan.method.to_dict()
    assert (told["order"], told["dp"], told["deletion"]) == (problem.budget.order, problem.budget.dp, problem.budget.deletion)  # fmt: skip
    assert (told["adjacency"], told["deletion_notion"]) == (str(problem.adjacency), str(problem.deletion_notion))
    assert (told["budget"], told["total"], told["sensitivity_slack"]) == (problem.budget.to_dict(), None, plan.mechanism.slack)  # fmt: skip
    assert told["fresh_learn_is_cheaper"] == (resumes(plan) and learn <= delete)
    equal = {"learn_solver_passes": numbers.delete_steps, "delete_solver_passes": numbers.learn_steps}
    for more, cheaper in ((0, resumes(plan)), (1, False)):
        changed = replace(
            plan, calibration=replace(numbers, **{**equal, "learn_solver_passes": numbers.delete_steps + more})
        )
        assert changed.is_fresh_learn_cheaper() == cheaper
        assert ("Learn afresh instead (`relearn`)" in changed.summarize()) == cheaper
    for part in (problem.loss.name, f"n={n}", f"d={problem.dimension}", plan.method.variant_name(), f"{numbers.learn_steps} and {numbers.delete_steps} steps"):  # fmt: skip
        assert part in repr(plan)


@pytest.mark.parametrize("name", BANK)
def test_procedures_run_the_numbers(name: str) -> None:
    plan = plan_by(name)
    problem, numbers, solved = plan.problem, plan.calibration, "perturbation" in name
    exact = getattr(plan.mechanism, "exact", None)
    for run, steps, passes, first in (
        (plan.learning, numbers.learn_steps, numbers.learn_solver_passes, InitialLaw(numbers.init_variance)),
        (plan.serving, numbers.delete_steps, numbers.delete_solver_passes, Published()),
    ):
        assert (run.steps, run.counted_steps, run.solver_passes) == (steps, steps, passes)
        assert (run.step_size, run.noise_variance) == (numbers.step_size, numbers.noise_variance)
        assert (run.linear_term, run.output_noise) == (numbers.linear_term, numbers.output_noise)
        assert (run.shape, run.sampling) == (problem.noise_shape if numbers.linear_term else None, None)
        assert run.exactness == (exact and Exactness(exact.radius, exact.grid_bits))
        if solved:
            assert run.start == Minimizer(
                numbers.gradient_tolerance, plan.method.solver, getattr(plan.method, "chain", 1)
            )
        else:
            assert run.start == first or plan.mechanism.carries


def test_a_stage_of_moments_is_ridge_regression_beyond_the_noise_of_its_matrix() -> None:
    plan = make_plan(**{**USUAL, **PROBLEMS["staged"], "method": Staged((Stage("network", 6), Stage("moments")))})
    stage = plan.calibration.stages[1]
    problem, deviation = stage.problem, stage.method.deviation
    penalty = problem.records * problem.regularization / problem.loss.radius**2
    ridge = penalty + 2 * deviation * math.sqrt(problem.features)
    for run in (stage.learning, stage.serving):
        assert (run.start.deviation, run.start.ridge) == (deviation, pytest.approx(ridge, rel=1e-12))
        assert (run.steps, run.counted_steps) == (0, 1)


@pytest.mark.parametrize("name", BANK)
def test_models_that_are_observed_add_up(name: str) -> None:
    plan, models = plan_by(name), 3
    numbers, run = plan.calibration, plan.mechanism
    for about, world, told in (
        ("dp", plan.problem.adjacency, plan.dp_observed(models)),
        ("deletion", plan.problem.deletion_notion, plan.deletion_observed(models)),
    ):
        if run.carries:
            expected = run.interval(about, world, steps_with=models, steps_without=int(about == "deletion")).renyi(4)
        else:
            each = [numbers.learn_steps, *[numbers.delete_steps] * (models - 1)]
            expected = sum(run.interval(about, world, steps_with=run.exposure(steps)).renyi(4) for steps in each)
        assert told.renyi(4) == pytest.approx(expected, rel=1e-9)
    assert plan.dp_observed().renyi(4) == plan.dp_observed(plan.problem.releases).renyi(4)
    assert plan.deletion_observed().renyi(4) == plan.deletion_observed(1).renyi(4)


# ---------------------------------------------------------------- the least that does


@pytest.mark.parametrize(
    "name", [name for name in BANK if name.startswith(("noisy-gd", "output")) and "5-2" not in name]
)
def test_less_noise_or_one_step_less_breaks_a_budget(name: str) -> None:
    plan = plan_by(name)
    budget, numbers = plan.problem.budget, plan.calibration

    def keeps(changed: Plan) -> bool:
        parts = (changed.dp, changed.dp_observed(), changed.deletion)
        return all(budget.affords(part.with_slack()) for part in parts)

    assert keeps(plan)
    if "paper" in name and plan.mechanism.exact is not None:
        return  # the printed noise, where roundings leave room
    assert not keeps(plan.changed(noise_variance=numbers.noise_variance * (1 - 1e-6)))
    if plan.method.analysis == "tight":
        fewest = {"delete_steps_for_utility": 0}
        assert keeps(plan.changed(**fewest))
        if numbers.delete_steps_for_deletion > 1:
            assert not keeps(plan.changed(**fewest, delete_steps_for_deletion=numbers.delete_steps_for_deletion - 1))


@pytest.mark.parametrize("name", ["noisy-gd, over the reals", "noisy-gd, of three classes", "noisy-gd"])
@pytest.mark.parametrize("target", [None, 0.05])
def test_steps_of_a_tight_plan_are_the_fewest_that_keep_the_risk(name: str, target: float | None) -> None:
    plan = plan_by(name)
    method = replace(plan.method, exact=False, excess_risk_target=target)
    problem = replace(plan.problem, method=method)
    sigma, eta = plan.calibration.noise_variance, plan.calibration.step_size
    numbers = method._numbers(problem, eta, sigma)
    lipschitz, n, d = problem.loss.constants.lipschitz, problem.records, problem.dimension
    m, c = problem.strong_convexity, 1 - eta * problem.strong_convexity
    settled = d * sigma / (m * (1 - eta * m / 2))
    usual = noisy_gd._stationary_excess(problem, 1 / problem.objective_smoothness, sigma)
    wanted = target or max(2.5 * usual, min(d / (2 * n), problem.loss.gap_at_zero / 100))
    assert method._target(problem, sigma) == pytest.approx(wanted, rel=1e-12)
    kept = noisy_gd._largest_distance(problem, eta, sigma, wanted)
    slope = utility.stationary_gradient_square(**noisy_gd._law(problem, eta, sigma))
    reached = utility.excess_at_distance(distance=kept, stationary=noisy_gd._stationary_excess(problem, eta, sigma), gradient_square=slope, objective_smoothness=problem.objective_smoothness)  # fmt: skip
    assert reached == pytest.approx(wanted, rel=1e-6)
    farthest = math.sqrt(d * numbers.init_variance) + math.sqrt(settled) + lipschitz / problem.regularization
    moved = kept + 2 * lipschitz * problem.batch / (m * n)
    for steps, before in ((numbers.learn_steps, farthest), (numbers.delete_steps_for_utility, moved)):
        assert before * c**steps <= kept * (1 + 1e-9)
        assert steps <= 1 or before * c ** (steps - 1) > kept * (1 - 1e-9)
    assert method._numbers(replace(problem, utility=False), eta, sigma).delete_steps_for_utility == 0


@pytest.mark.parametrize("share", [0.02, 1.0])
@pytest.mark.parametrize("releases", [1, 9])
@pytest.mark.parametrize("batches", [1, 5])
def test_a_horizon_is_the_most_steps_that_both_budgets_bear(share: float, releases: int, batches: int) -> None:
    method = CompositionNoisyGD(batches=batches, requests_per_learn=3)
    sampled = {"loss": losses.MultilayerPerceptron(1.0, classes=2, hidden=3), "adjacency": "zero-out"}
    facts = {**USUAL, "loss": losses.Sigmoid(1.0), **(sampled if batches > 1 else {})}
    plan = make_plan(**facts, method=method, budget=Budget(order=4, dp=1.0, deletion=share), releases=releases)
    numbers, budget, problem = plan.calibration, plan.problem.budget, plan.problem
    eta = 1 / problem.objective_smoothness
    assert numbers.step_size == eta
    assert numbers.learn_steps == max(1, math.ceil(3 / (batches * eta * problem.regularization)))
    assert numbers.delete_steps == max(1, numbers.learn_steps // 20)
    assert (plan.learning.sampling, plan.serving.sampling) == ((None, None) if batches == 1 else tuple(
        type(plan.learning.sampling)(1 / batches, batches * steps) for steps in (numbers.learn_steps, numbers.delete_steps)
    ))  # fmt: skip

    def keeps(changed: Plan) -> bool:
        alone = releases > 1 or budget.affords(changed.dp.with_slack())
        return budget.affords(changed.deletion.with_slack()) and alone

    assert keeps(plan)
    spare = 0 if batches == 1 else math.ceil(3 * problem.slack * numbers.horizon)  # the slack is in z and in the budget
    assert not keeps(plan.changed(horizon=numbers.horizon + 1 + spare))
    wanted = numbers.learn_steps + 2 * numbers.delete_steps
    assert wanted <= numbers.horizon
    assert numbers.horizon <= wanted + spare or (share == 1 and releases > 1)  # there all publications take more noise
    given = make_plan(
        **facts, method=replace(method, learn_steps=7, delete_steps=3, step_size=0.01), budget=RENYI, releases=releases
    )
    assert [getattr(given.calibration, key) for key in ("learn_steps", "delete_steps", "step_size")] == [7, 3, 0.01]


# ---------------------------------------------------------------- forecasts


@pytest.mark.parametrize(
    "name", ["output-perturbation, cold", "output-perturbation, of three classes", "objective-perturbation"]
)
def test_passes_of_a_solver_are_forecast_by_the_condition_number(name: str) -> None:
    for regularization in (1e-1, 1e-3, 1e-5):
        for features in (5, 20_000):
            problem = replace(plan_by(name).problem, regularization=regularization, features=features)
            kappa = problem.objective_smoothness / problem.strong_convexity
            narrow = features == 5 and problem.loss.outputs == 1
            expected = 1 + math.ceil(2 * kappa**0.25) if narrow else math.ceil(4 * kappa**0.27)
            assert forecast_passes(problem) == expected
            assert quick_passes(problem) == 4 * expected
            assert solver_passes(problem, "warm", 1e-6) == solver_passes(problem, "cold", 1e-6) == expected
            facts = {
                "tolerance": 1e-6,
                "strong_convexity": problem.strong_convexity,
                "objective_smoothness": problem.objective_smoothness,
            }
            reach = (problem.loss.constants.lipschitz + 0.5) / problem.strong_convexity
            assert solver_passes(problem, "fixed", 1e-6, pull=0.5) == 1 + proven_steps(distance=reach, **facts)


@pytest.mark.parametrize("name", [name for name in BANK if name.startswith("output")])
def test_diffusion_takes_the_fewest_steps_that_are_good_enough(name: str) -> None:
    problem = plan_by(name).problem
    for eta in (0.5 / problem.objective_smoothness, 1 / problem.objective_smoothness):
        c = 1 - eta * problem.strong_convexity

        def risk(steps: int, eta: float = eta, c: float = c) -> float:
            return forecast_excess_risk(problem, step_size=eta, noise_variance=1 / (1 - c ** (2 * steps)), steps=steps)

        most = max(1, round(5 / 3 * forecast_passes(problem)))
        steps = diffusion_steps(problem, eta)
        assert 1 <= steps <= most
        assert risk(steps) <= 1.01 * risk(most) * (1 + 1e-12)
        assert steps == 1 or risk(steps - 1) > 1.01 * risk(most)


def test_a_target_is_met_by_diffusing_longer_where_that_helps() -> None:
    plan = plan_by("output-perturbation, over the reals")
    usual, best = plan.outlook.forecast, make_plan(**{**USUAL, "method": OutputPerturbation(exact=False, diffusion_steps=60_000), "budget": RENYI}).outlook.forecast  # fmt: skip
    target = (usual + best) / 2
    longer = with_diffusion_for(plan, target)
    assert longer.outlook.forecast <= target < usual
    assert longer.calibration.delete_steps == longer.method.diffusion_steps > plan.calibration.delete_steps
    fewer = replace(longer.method, diffusion_steps=int(longer.calibration.delete_steps / 1.06))
    assert fewer.plan(replace(plan.problem, method=fewer)).outlook.forecast > target
    assert with_diffusion_for(plan, best / 2) is plan
    other = plan_by("noisy-gd")
    assert with_diffusion_for(other, 0.0) is other


@pytest.mark.parametrize("name", [name for name in BANK if name.startswith("output")])
def test_the_bound_of_a_diffused_minimiser_is_that_of_its_distance(name: str) -> None:
    """E‖θ − θ*‖² after K steps, each of which adds d·2ησ² to c² times the one before, from γ/m."""
    plan = plan_by(name)
    problem, numbers, m = plan.problem, plan.calibration, plan.problem.strong_convexity
    c, distance = 1 - numbers.step_size * m, numbers.gradient_tolerance / m
    left, variance = distance**2, 0.0
    for _ in range(numbers.learn_steps):
        left, variance = (
            c**2 * left,
            c**2 * variance + 2 * numbers.step_size * numbers.noise_variance * problem.dimension,
        )
    assert plan.outlook.excess_risk == pytest.approx(problem.objective_smoothness / 2 * (left + variance), rel=0.05)
    assert plan.outlook.excess_risk >= problem.objective_smoothness / 2 * variance


@pytest.mark.parametrize("name", [name for name in BANK if name.startswith("sufficient")])
@pytest.mark.parametrize("loss", [losses.Logistic(1.0), losses.Softmax(0.5, 3), losses.Squared(2.0)])
def test_the_forecast_of_sums_is_that_of_noisy_least_squares(name: str, loss: losses.Loss) -> None:
    plan = make_plan(**{**USUAL, **{**PROBLEMS, **FURTHER}[name], "loss": loss})
    n, d, ridge, k = plan.problem.records, plan.problem.features, plan.problem.regularization, loss.outputs
    variance = plan.mechanism.variance / 16.0**plan.learning.start.bits
    odds = {"target": 1, "binary": 2, "class": k}[loss.label_kind]
    norm = estimated_norm(plan.problem) / odds
    pull = d * (k * variance / (0.6 * loss.radius) ** 2 + variance * norm**2 / 2)
    added = 0.25 * math.sqrt(2 * variance * d) / n
    cost = pull / (2 * (ridge + added) * n**2) + added * norm**2 / 2
    expected = cost * (k if k > 1 else 1) + (0.01 if odds > 1 else 0.0)
    assert plan.outlook.forecast == pytest.approx(expected, rel=1e-9)
    assert plan.outlook.excess_risk == plan.outlook.weight_deviation == math.inf
    assert plan.learning.start.label_bits == (10 if loss.label_kind == "target" else 0)
    assert plan.learning.start.label_weight == pytest.approx(0.6 * loss.radius * 2.0**plan.learning.start.bits, abs=0.5)
    assert plan.learning.start.ridge == n * ridge
    assert 2.0**14 <= loss.radius * 2.0**plan.learning.start.bits <= 2.0**15
    assert plan.learning.start.targets == (loss.label_kind == "target")


@pytest.mark.parametrize("budget", [RENYI, PAIRS])
def test_stages_share_a_budget_as_they_are_told(budget: Budget) -> None:
    """μ² of each stage in proportion to its share, among those that are kept and among the others."""
    stages = (Stage("network", 6), Stage("network", 3, share=2.0), Stage("network", 5), Stage("network", 2, share=4.0))
    plan = make_plan(**{**USUAL, **PROBLEMS["staged"], "method": Staged(stages, level=1), "budget": budget})
    costs = [
        one.mechanism.interval("dp", "replace", steps_with=one.calibration.learn_steps).gdp_squared / stage.share
        for one, stage in zip(plan.calibration.stages, stages, strict=True)
    ]
    assert costs[0] == pytest.approx(costs[1], rel=1e-9)
    assert costs[2] == pytest.approx(costs[3], rel=1e-9)
    assert costs[2] != pytest.approx(costs[0], rel=0.01)
    for one, stage in zip(plan.calibration.stages, stages, strict=True):
        assert one.calibration.init_variance == one.problem.loss.init_variance
        assert (one.calibration.learn_steps, one.calibration.delete_steps) == (stage.steps, stage.steps)

"""What a plan says and forecasts: every sentence where its fact holds and only there, every number as it is defined."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from noisygd_delete import losses
from noisygd_delete.methods import (
    ObjectivePerturbation,
    explanations,
    forecast,
    objective_perturbation,
    objective_perturbation_noise,
)
from noisygd_delete.methods.noisy_steps import explain_deletion
from noisygd_delete.methods.plan import Plan
from noisygd_delete.methods.procedure import CarriedSums, Exactness, Minimizer, NoisyLeastSquares, Procedure, Published
from noisygd_delete.privacy.budget import Total
from noisygd_delete.privacy.sentences import format_bound, format_number

from ..bank import FURTHER, PROBLEMS, plan_by

BANK = [*PROBLEMS, *FURTHER]
LOGISTIC = losses.Logistic(radius=1.0)


@pytest.mark.parametrize("name", BANK)
def test_the_forecast_is_what_steps_without_records_settle_at(name: str) -> None:
    """Along each of d directions of curvature h: v ← (1 − ηh)² v + 2ησ², from 0; it costs h/2 of that."""
    problem = plan_by(name).problem
    if problem.strong_convexity <= 0 or not math.isfinite(problem.loss.curvature_trace):
        return
    mean = problem.strong_convexity + problem.loss.curvature_trace / problem.dimension
    for size, sigma in ((0.3 / mean, 0.01), (0.8 / mean, 2.0)):
        variance = 0.0
        for steps in range(1, 200):
            variance = (1 - size * mean) ** 2 * variance + 2 * size * sigma
            if steps in (1, 5, 199):
                told = forecast.forecast_excess_risk(problem, step_size=size, noise_variance=sigma, steps=steps)
                assert told == pytest.approx(problem.dimension * mean / 2 * variance, rel=1e-9)
        endless = forecast.forecast_excess_risk(problem, step_size=size, noise_variance=sigma)
        assert endless == pytest.approx(problem.dimension * mean / 2 * variance, rel=1e-6)
        prospects = forecast.Prospects.of_steps(problem, size, sigma, excess_risk=7.0)
        flat = problem.strong_convexity
        deviation = math.sqrt(2 * size * sigma / (1 - (1 - size * flat) ** 2))
        assert (prospects.excess_risk, prospects.forecast) == (7.0, endless)
        assert prospects.weight_deviation == pytest.approx(deviation, rel=1e-9)
    steep = forecast.forecast_excess_risk(problem, step_size=5 / mean, noise_variance=1.0, steps=1)
    assert steep == pytest.approx(problem.dimension, rel=1e-9)
    bent = replace(problem, loss=losses.Sigmoid(radius=1.0), regularization=1e-6)
    assert forecast.steps_deviation(bent, 0.1, 1.0) == math.inf


def test_the_guess_of_a_norm_by_every_kind_of_label() -> None:
    problem = replace(plan_by("noisy-gd").problem, records=1000, regularization=1e-9, features=90)
    odds = math.log(1000)
    for loss, expected in (
        (LOGISTIC, odds),
        (losses.Logistic(radius=2.0), odds / 2),
        (losses.Softmax(radius=1.0, classes=4), odds * math.sqrt(3 / 2) * math.sqrt(90 / 40)),
        (losses.Squared(radius=2.0), math.sqrt(90) / 2),
    ):
        assert forecast.estimated_norm(replace(problem, loss=loss)) == pytest.approx(expected)
        strong = replace(problem, loss=loss, regularization=10.0)
        assert forecast.estimated_norm(strong) == pytest.approx(math.sqrt(2 * loss.largest_at_zero(np) / 10.0))
    narrow = replace(problem, loss=losses.Softmax(radius=1.0, classes=4), features=12)
    assert forecast.parts(narrow) == forecast.parts(replace(problem, loss=LOGISTIC)) == 1.0
    assert forecast.estimated_norm(narrow) == pytest.approx(odds * math.sqrt(3 / 2))


@pytest.mark.parametrize("name", [name for name in BANK if name.startswith("objective")])
def test_numbers_of_objective_perturbation_are_those_of_their_definitions(name: str) -> None:
    plan = plan_by(name)
    problem, numbers, chain = plan.problem, plan.calibration, plan.method.chain
    gdp = problem.budget.dp_gdp()
    share = objective_perturbation_noise.inexact_share(problem, charged=False, chain=chain)
    assert share == pytest.approx(0.01 * gdp**2 / (2 * problem.releases * chain))
    charged = objective_perturbation_noise.inexact_share(problem, charged=True, chain=chain)
    assert charged == pytest.approx(min(share, problem.budget.deletion_gdp() ** 2 / (2 * chain)), rel=1e-6)
    for method, leaves in ((ObjectivePerturbation(), True), (ObjectivePerturbation(solver="cold"), False),
                           (ObjectivePerturbation(solver="fixed"), False), (ObjectivePerturbation(solver="cold", in_place=False), True)):  # fmt: skip
        assert method._leaves_a_trace == leaves
    pull = objective_perturbation_noise.linear_term_bound(problem, numbers.linear_term)
    widest = math.sqrt(max(problem.noise_shape or (1.0,)))
    assert pull == pytest.approx(numbers.linear_term * (math.sqrt(problem.noise_trace) + 9 * widest) / problem.records)
    reach = objective_perturbation_noise.minimizer_norm_bound(problem, pull)
    if math.isfinite(reach):
        assert problem.regularization * reach**2 / 2 == pytest.approx(reach * pull + problem.loss.gap_at_zero)
    rounding = objective_perturbation_noise.rounding_of_gradient(problem, numbers.linear_term, chain)
    assert numbers.gradient_tolerance >= 10 * rounding
    assert math.log2(numbers.output_noise) == int(math.log2(numbers.output_noise))
    facts = objective_perturbation._risk_facts(plan)
    assert facts["records"] == problem.records
    assert facts["output_noise"] == pytest.approx(numbers.output_noise, rel=1e-2)
    assert facts["output_noise"] > numbers.output_noise
    convexity, deviation = problem.strong_convexity, 0.0
    for _ in range(chain):  # each minimiser passes on what the one before deviates by, times λ/m
        stage = numbers.linear_term * widest / (problem.records * convexity)
        deviation = (problem.regularization / convexity) ** 2 * deviation + stage**2 + numbers.output_noise**2
    assert plan.outlook.weight_deviation == pytest.approx(math.sqrt(deviation), rel=1e-9)


def test_sentences_of_an_explanation_stand_where_their_facts_hold() -> None:
    total = Total(3.0, 1e-7)
    assert explanations.explain_total(None) == ""
    for cap, words in (
        (
            replace(total, order=4.0),
            "whatever plans and releases depend on (what is spent is summed as Rényi divergence at order 4)",
        ),
        (replace(total, gdp=True), "summed as μ² of Gaussian DP"),
        (replace(total, gdp=True, late=True), "if the total was not changed because of models seen before"),
        (total, "if no later plan is chosen because of models seen before"),
    ):
        assert words in explanations.explain_total(cap)
        assert cap.describe() in explanations.explain_total(cap)
    saving = explanations.explain_saving
    assert "takes 7 record gradients less" in saving({"learn": 10, "delete": 3}, cheaper=False)
    assert saving({"learn": 3, "delete": 3}, cheaper=False) == saving({"learn": 3, "delete": 10}, cheaper=False) == ""
    assert "takes 10 record gradients and learning afresh 3." in saving({"learn": 3, "delete": 10}, cheaper=True)
    solved, steps = (
        Procedure(Minimizer(1e-6, "warm"), linear_term=2.0, output_noise=0.5),
        Procedure(Published(), 3, 0.1, 0.25),
    )
    carried = Procedure(CarriedSums([(0.0, 1.0)], 512.0, 2, 1, 1, 1, 0.0, 0.0))
    for run, stages, words in (
        (solved, (), "s=2, τ=0.5"), (steps, (), "σ²=0.25"), (replace(solved, noise_variance=0.25), (), "s=2, τ=0.5; between: σ²=0.25"),
        (carried, (), "V=2"), (steps, (steps, solved, replace(steps, noise_variance=9.0)), "σ²=0.25, –, 9"),
    ):  # fmt: skip
        assert explanations.explain_noise(run, stages) == words
    assert [Procedure(NoisyLeastSquares(1.0, 1.0), 5).counted_steps, steps.counted_steps] == [1, 3]
    assert explanations.explain_rounding(None) == explanations.explain_clipping(LOGISTIC) == ""
    assert "step τ/2^12" in explanations.explain_rounding(Exactness(radius=3.5, grid_bits=12))
    assert "norm 3.5." in explanations.explain_rounding(Exactness(radius=3.5, grid_bits=12))
    clipped = losses.clip_loss(LOGISTIC, 0.5)
    for number in (1 / clipped.loss_of_fit, clipped.loss_of_fit):
        assert format_number(number, 3) in explanations.explain_clipping(clipped)
    assert explanations._explain_slack(0.0) == ""
    assert f"(1+{format_bound(1e-5)})²" in explanations._explain_slack(1e-5)


def test_a_ridge_is_explained_only_where_it_was_chosen() -> None:
    problem = plan_by("noisy-gd").problem

    def never() -> float:
        raise AssertionError("the forecast is not needed")

    for facts in ({}, {"model_norm": 5.0}):
        assert explanations.explain_ridge(replace(problem, **facts), never) == ""
    same = replace(problem, requested_regularization=problem.regularization, model_norm=5.0)
    assert "stays, chosen from" in explanations.explain_ridge(same, lambda: 0.0123)
    raised = explanations.explain_ridge(replace(same, requested_regularization=1e-3), lambda: 0.0123)
    assert f"λ'={format_number(problem.regularization)} instead of λ=0.001" in raised
    assert "0.0123, falls" in raised


def test_waiting_is_explained_where_a_step_may_carry_two_runs_apart() -> None:
    plan = plan_by("noisy-gd:analysis=theorem-5-2")
    problem, run = plan.problem, plan.learning
    constants = problem.loss.constants
    assert problem.strong_convexity <= 0
    text = explanations.explain_waiting(problem, run)
    expansion = 1 + run.step_size * (constants.weak_convexity - problem.regularization)
    exponent = (
        constants.lipschitz**2 * (1 / problem.regularization - 1 / constants.weak_convexity) / (2 * run.noise_variance)
    )
    for shown in (f"c={format_number(expansion, 6)}", f"e^−{format_number(exponent, 3)} ", f"in {run.solver_passes + run.counted_steps} passes",
                  f"at most {format_bound((math.log(2) - 0.5) / math.log(expansion))} of its steps"):  # fmt: skip
        assert shown in text
    assert explanations.explain_waiting(replace(problem, regularization=100.0), run) == ""
    assert explanations.explain_waiting(plan_by("noisy-gd").problem, run) == ""
    assert explanations.condition_number(plan_by("noisy-gd").problem) == pytest.approx((0.01 + 0.25) / 0.01)


def test_a_plan_that_may_be_no_better_than_guessing_says_so() -> None:
    zero = math.log(2)
    worth = explanations.explain_worth
    assert worth(LOGISTIC, zero * 0.999, ()) == ""
    assert "takes no step" in worth(LOGISTIC, 0.0, (), untrained=True)
    careful = worth(LOGISTIC, 0.9, iter([(0.1, zero * 0.51), (0.2, zero * 0.49), (0.3, 0.0)]))
    assert "weights of 0 lose 0.693 at most, so 0.9 does not promise" in careful
    assert careful.endswith(f"λ=0.2 would make it {format_number(zero * 0.49, 3)}.")
    assert worth(LOGISTIC, zero, iter([(0.1, zero / 2)])).endswith("lower it.")
    endless = worth(LOGISTIC, math.inf, iter([(0.1, 0.0)]))
    assert "no bound on the loss holds" in endless
    assert endless.endswith("lower it.")


@pytest.mark.parametrize("name", BANK)
def test_a_plan_explains_itself_with_its_own_numbers(name: str) -> None:
    plan = plan_by(name)
    problem, text = plan.problem, plan.explain()
    heading = explanations.plan_heading(problem)
    assert text.startswith(heading)
    for shown in (
        f"n={problem.records} slots",
        f"d={problem.dimension} weights",
        problem.budget.describe(),
        str(problem.adjacency),
    ):
        assert shown in heading
    assert ("observed releases together" in heading) == (problem.releases > 1) != ("; per release." in heading)
    shared = explanations.plan_heading(replace(problem, releases=3))
    assert "; 3 observed releases together stay within the dp part." in shared
    passes = explanations.explain_passes(1234567, 89)
    assert passes == "Cost: 1,234,567 passes over the table to learn, 89 for a publication that deletes."
    assert plan.deletion.at_most in text
    order, delta = problem.budget.order, problem.budget.shown_delta
    promise = explanations.explain_promise(problem.budget, plan.deletion, plan.dp, plan.problem.slack)
    assert f"(ε={format_bound(plan.deletion.with_slack().epsilon(delta))}, δ={format_bound(delta)})" in promise
    assert ("at order" in promise) == (order is not None)
    assert ("real numbers" in promise) == (plan.problem.slack > 0)


def words_of_steps(plan: Plan) -> list[str]:
    """Of the tight and of the printed analysis."""
    problem, numbers = plan.problem, plan.calibration
    eta, m, tight = numbers.step_size, problem.strong_convexity, plan.method.analysis == "tight"
    distance = math.sqrt(problem.dimension * numbers.noise_variance / (m * (1 - eta * m / 2)))
    factor = -1 / (2 * math.log(1 - eta * m)) if tight else 2 / (eta * m)
    forgetting, utility = numbers.delete_steps_for_deletion, numbers.delete_steps_for_utility
    printed = [] if tight or problem.adjacency != "replace" else ["is a quarter of the printed one"]
    return [
        f"Δ={problem.sensitivity(problem.adjacency):g};", f"within about {distance:.3g} of the minimiser", f"costs at most {plan.outlook.excess_risk:.3g} in",
        f"K_A={numbers.learn_steps} steps ({problem.records * numbers.learn_steps} record gradients)",
        f"κ={problem.objective_smoothness / m:.4g} drives it", f"about {factor:.4g} steps.",
        f"K_Ā={numbers.delete_steps} steps per request, {numbers.delete_steps / numbers.learn_steps:.1%} of learning",
        "down to the deletion budget" if problem.budget.order is None else f"from {problem.budget.dp:g} to {problem.budget.deletion:g}",
        f"needs {forgetting}; utility over any number of requests of r={problem.batch} needs {utility}. {'Utility' if utility > forgetting else 'Deletion'} decides",
        *printed,
    ]  # fmt: skip


def runs(stage: Plan) -> str:
    """How a stage's phrase begins."""
    kind, numbers = type(stage.method).__name__, stage.calibration
    return {
        "Moments": "least squares on noisy moments",
        "SampledStage": f"{getattr(stage.method, 'draws', 0)} noisy steps",
        "OutputPerturbation": f"a solve from 0 ({numbers.learn_solver_passes} gradient passes",
    }.get(kind, f"{numbers.learn_steps} noisy steps")


def words_of_method(plan: Plan) -> list[str]:
    problem, numbers, run = plan.problem, plan.calibration, plan.mechanism
    if plan.method.name == "noisy-gd" and plan.method.analysis in ("tight", "paper"):
        return words_of_steps(plan)
    if plan.method.name == "noisy-gd" and plan.method.analysis == "composition":
        served = 1 + (numbers.horizon - numbers.learn_steps) // numbers.delete_steps
        return [f"K_A={numbers.learn_steps} steps ({problem.records * numbers.learn_steps} record", f"After {numbers.horizon} steps", f"about {served} requests", "demanded (relearn)"]  # fmt: skip
    if plan.method.name == "noisy-gd":
        return [f"q={plan.method.order:g} ", f"K_A={numbers.learn_steps} steps", f"for a loss of range {problem.loss.constants.range:g}", "total variation"]  # fmt: skip
    if plan.method.name == "output-perturbation":
        c = 1 - numbers.step_size * problem.strong_convexity
        inflation = 1 / (1 - c ** (2 * numbers.delete_steps))
        return [f"γ={numbers.gradient_tolerance:.3g}, ", f" {numbers.delete_solver_passes} gradient passes", f"K={numbers.delete_steps} steps", f"{inflation:.4g} times the noise", f"regularised loss: {plan.outlook.forecast:.3g} (proven: {plan.outlook.excess_risk:.3g})"]  # fmt: skip
    if plan.method.name == "objective-perturbation":
        curve, order = run.curve(problem.adjacency), problem.budget.order
        bent = [] if order is None else [f"Of ε_dp, {format_bound(curve.hessian(order))} pays for"]
        chained = [] if run.chain == 1 else [f"{run.chain} times in a row"]
        return [f"s={numbers.linear_term:.6g} per weight", f"Δ={problem.sensitivity(problem.adjacency):g}:", f"regularised loss: at most {plan.outlook.excess_risk:.3g}.", f"γ={numbers.gradient_tolerance:.3g}, ", f" {numbers.delete_solver_passes} gradient passes", f"τ={numbers.output_noise:.3g} is", *bent, *chained]  # fmt: skip
    if plan.method.name == "staged":
        kept = ["kept by deletions"] * numbers.kept + ["run again at every deletion"] * (
            len(numbers.stages) - numbers.kept
        )
        learn = numbers.learn_solver_passes + numbers.learn_steps
        delete = numbers.delete_solver_passes + numbers.delete_steps
        each = [one.mechanism.interval("deletion", problem.deletion_notion, steps_with=one.calibration.learn_steps) for one in numbers.stages]  # fmt: skip
        return [f"A learn takes {learn} passes over the table, a deletion {delete},", *(f"stage {place} ({stage.kind}, {fate}): {runs(part)}" for place, (stage, fate, part) in enumerate(zip(plan.method.stages, kept, numbers.stages, strict=True))), *(f"; μ={format_bound(one.gdp)} between" for one in each)]  # fmt: skip
    first, together = (
        run.interval("dp", problem.adjacency, steps_with=draws).gdp_squared for draws in (1, run.releases)
    )
    comes = "whenever a record comes and goes" if run.joiners else "whenever a record goes; none may be inserted"
    return [f"V={run.variance / 16.0**plan.learning.start.bits:.6g} (a row", f"{run.releases} releases together cost {together / first:.4g} times", comes]  # fmt: skip


@pytest.mark.parametrize("name", BANK)
def test_the_words_of_a_method_have_its_numbers(name: str) -> None:
    plan = plan_by(name)
    text = "\n".join(plan.method.words(plan))
    assert [part for part in words_of_method(plan) if part not in text] == []
    assert ("times in a row" in text) == (getattr(plan.method, "chain", 1) > 1)
    if (solver := getattr(plan.method, "solver", None)) is not None:
        started = {
            "fixed": "a number of passes fixed in advance",
            "cold": "always starting from 0",
            "warm": "starting a request from the published model",
        }
        assert [way for way, words in started.items() if words in text] == [solver]
        assert ("leaves exactly nothing" in text) == (plan.method.in_place and solver != "warm")
        assert ("rows in another order may show" in text or "over rows in any order" in text) == (
            not plan.method.in_place
        )


def test_words_on_steps_say_which_condition_decides_or_that_none_was_set() -> None:
    plan = plan_by("noisy-gd")
    for numbers, utility, words in (
        ({"delete_steps_for_deletion": 9, "delete_steps_for_utility": 9}, True, "Deletion decides."),
        ({"delete_steps_for_deletion": 9, "delete_steps_for_utility": 10}, True, "Utility decides;"),
        ({"delete_steps_for_deletion": 9, "delete_steps_for_utility": 10}, False, "no utility condition was set. Deletion decides."),
    ):  # fmt: skip
        assert words in explain_deletion(plan.changed(**numbers, utility=utility))
    assert "inf% of learning" in explain_deletion(plan.changed(learn_steps=0))

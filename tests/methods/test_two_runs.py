"""A figure about whether a record was ever there compares two runs, each as far from the exact law as its tolerance allows."""

import random
from dataclasses import replace

import pytest

from noisygd_delete import Budget, losses, make_plan, methods
from noisygd_delete.errors import InvalidParameter, NoisyGDDeleteError
from noisygd_delete.methods.objective_perturbation_run import ObjectivePerturbationRun
from noisygd_delete.privacy.guarantee import Guarantee
from noisygd_delete.privacy.worlds import DELETION_NOTIONS, Worlds

from ..oracles import two_runs


def warm_plans(number):
    """Plans of large tables, where the noise on the output, not that of the linear term, covers where a solver stopped."""
    chance, found = random.Random(3), []
    for _ in range(40 * number):
        loss = chance.choice(
            [losses.Linear(1.0), losses.Logistic(1.0), losses.PseudoHuber(1.0, 10 ** chance.uniform(-1, 1))]
        )
        size = 10 ** chance.uniform(-0.5, 1.3)
        try:
            plan = make_plan(
                loss,
                records=int(10 ** chance.uniform(2, 14)),
                features=chance.choice([1, 50]),
                regularization=10 ** chance.uniform(-9, 1),
                budget=Budget.from_gdp(dp=size, deletion=size * 10 ** chance.uniform(-4, 0)),
                method=methods.ObjectivePerturbation(solver="warm"),
                adjacency="zero-out",
            )
        except NoisyGDDeleteError:
            continue
        found.append(plan)
        if len(found) == number:
            break
    return found


def excess(plan, stated):
    """The exact μ of the worst two runs of a plan, over what is stated."""
    run = plan.mechanism
    truth = two_runs.mu_of_two_runs(
        gamma=run.gradient_tolerance,
        convexity=run.strong_convexity,
        linear_noise=run.linear_term,
        records=run.records,
        output_noise=run.output_noise,
    )
    return truth / stated


def test_a_warm_solver_is_charged_for_both_runs():
    plans = warm_plans(60)
    assert len(plans) == 60
    for plan in plans:
        for worlds in DELETION_NOTIONS:
            found = plan.mechanism.interval("deletion", worlds, steps_with=1, steps_without=1)
            assert excess(plan, found.gdp) <= 1, (plan.problem.records, worlds)
            assert plan.problem.budget.affords(replace(found, adjacency=plan.problem.deletion_notion))
        assert plan.deletion.adjacency == Worlds.ERASED_VS_NEVER
    one_ball = [excess(plan, plan.deletion.gdp / 2) for plan in plans]  # the planted fault
    assert max(one_ball) > 1.5


@pytest.mark.parametrize("chain", [1, 3])
def test_the_charge_does_not_depend_on_the_question(chain):
    facts = {
        "records": 100, "linear_term": 1.0, "output_noise": 2.0**-8, "gradient_tolerance": 1e-6, "strong_convexity": 0.01,
        "lipschitz": 1.0, "smoothness": 0.0, "form": "one direction", "dimension": 4, "chain": chain,
    }  # fmt: skip
    for run in (ObjectivePerturbationRun(**facts, warm=True), ObjectivePerturbationRun(**facts, in_place=False)):
        never, other = (run.interval("deletion", worlds, steps_with=1, steps_without=1) for worlds in DELETION_NOTIONS)
        assert never.gdp == other.gdp > 0
    assert ObjectivePerturbationRun(**facts).interval("deletion", "pairwise", steps_with=1, steps_without=1).gdp == 0


def near_gibbs_plan():
    return make_plan(
        losses.Sigmoid(1.0),
        records=100_000,
        features=2,
        regularization=1.0,
        budget=Budget(order=2, dp=0.5, deletion=0.1),
        method=methods.GibbsNoisyGD(form="sharper", noise_variance="cheapest"),
    )


def test_a_figure_of_an_ideal_law_names_it_and_counts_both_distances():
    deletion = near_gibbs_plan().deletion
    assert deletion.adjacency == Worlds.IDEAL_LAW
    epsilon = deletion.renyi(2.0)
    low, high = 0.0, 1.0
    for _ in range(80):  # two runs on opposite sides of the law, each at its whole distance
        middle = (low + high) / 2
        low, high = (middle, high) if two_runs.pair_about(2.0, middle)[0] <= epsilon else (low, middle)
    _, one, other = two_runs.pair_about(2.0, low)
    truth = two_runs.total_variation(one, other)
    assert truth <= deletion.advantage * (1 + 1e-9)
    assert deletion.advantage <= 1.01 * truth  # attained
    assert truth > 1.2 * deletion.delta(0.0)  # the planted fault: one distance


def test_no_plan_asks_for_an_ideal_law_as_its_question():
    with pytest.raises(InvalidParameter):
        make_plan(
            losses.Logistic(1.0),
            records=100,
            features=2,
            budget=Budget(order=2.0),
            regularization=0.1,
            deletion_notion="ideal-law",
        )
    with pytest.raises(InvalidParameter):
        Guarantee("dp", "ideal-law")

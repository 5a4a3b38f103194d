"""Fresh publications by objective perturbation with resumed noisy steps between: accounted for exactly, run as planned, chosen by forecast.

On the linear loss every model is Gaussian, so what a set of observed models shows is exact: μ² = mᵀC⁻¹m.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from noisygd_delete import Budget, Curator, Execution, Records, errors, losses, make_plan
from noisygd_delete.accountant import Accountant, Event
from noisygd_delete.curator.learning import train
from noisygd_delete.methods import Interleaved
from noisygd_delete.methods.serialization import mechanism_from_dict, plan_from_dict
from noisygd_delete.planner import compare_plans

from ..bank import RENYI, plan_by, unit_records, unit_rows

ADULT = {"records": 26_000, "features": 108}


def linear_plan(releases: int = 12, every: int | None = 4, steps: int = 2, exact: bool = False):
    budget = Budget.from_gdp(dp=2.0, deletion=2.0)
    own = {"fresh_every": every, "resumed_steps": steps, "exact": exact}
    sizes = {"records": 50, "features": 1, "regularization": 0.2, "dtype": "float64"}
    return make_plan(
        losses.Linear(1.0), budget=budget, releases=releases, method="interleaved", step_size=1.0, **sizes, **own
    )


def exact_gdp(plan, present: list[bool], observed: list[int], delta: float) -> float:
    """μ of the observed models between the world with the record and the one without, by their joint covariance."""
    n, lam, eta = plan.records, plan.regularization, plan.step_size
    noises, mean, means, rows = 0, 0.0, [], []
    coefficients: dict[int, float] = {}
    for number, there in enumerate(present):
        shift = delta if there else 0.0
        if number % plan.method.fresh_every == 0:
            mean, coefficients = (
                shift / (n * lam),
                {noises: math.hypot(plan.linear_term / (n * lam), plan.output_noise)},
            )
            noises += 1
        else:
            for _ in range(plan.delete_steps):
                decay = 1 - eta * lam
                mean = decay * mean + eta * shift / n
                coefficients = {key: decay * value for key, value in coefficients.items()}
                coefficients[noises] = math.sqrt(2 * eta * plan.noise_variance)
                noises += 1
        means.append(mean)
        rows.append(dict(coefficients))
    matrix = np.array([[rows[i].get(key, 0.0) for key in range(noises)] for i in observed])
    gap = np.array([means[i] for i in observed])
    return float(np.sqrt(gap @ np.linalg.solve(matrix @ matrix.T, gap)))


def history(plan, publications: int) -> Accountant:
    account = Accountant(plan)
    account.record(account.planned("learn", 0))
    for _ in range(publications - 1):
        account.record(account.publication(1))
    return account


def test_fresh_ones_come_where_the_plan_says() -> None:
    plan = linear_plan()
    kinds = [event.kind for event in history(plan, 12).events]
    assert kinds == ["learn", *["unlearn"] * 3, "relearn", *["unlearn"] * 3, "relearn", *["unlearn"] * 3]
    assert plan.budget.affords(history(plan, 12).dp_cumulative().with_slack())
    assert history(plan, 12).dp_cumulative().gdp == pytest.approx(plan.together.gdp)
    more = history(plan, 12).what_if(history(plan, 12).planned("relearn", 0))
    assert not plan.budget.affords(more.dp_cumulative())


@pytest.mark.parametrize("exact", [False, True], ids=["over the reals", "exact"])
@pytest.mark.parametrize("seed", range(6))
def test_the_account_bounds_the_exact_joint_law(seed: int, exact: bool) -> None:
    """Random lifetimes and observers. Everything observed: equal up to the share of the solver (a few percent). Never below."""
    rng, plan = np.random.default_rng(seed), linear_plan(exact=exact)
    account = history(plan, 12)
    for _ in range(25):
        start, end = sorted(rng.choice(np.arange(1, 13), 2, replace=False))
        observed = sorted(rng.choice(np.arange(1, 13), rng.integers(1, 13), replace=False))
        if rng.random() < 0.4:
            observed = list(range(1, 13))
        present = [start <= number < end for number in range(1, 13)]
        true = exact_gdp(plan, present, [number - 1 for number in observed], 1.0)
        found = account.deletion(int(start), int(end), [int(number) for number in observed]).gdp
        assert found >= true * (1 - 1e-9)
        if len(observed) == 12:
            # a record that comes and goes where no fresh publication lies costs what its steps show, and no more
            assert found <= 1.05 * true + 1e-9
    staying = exact_gdp(plan, [True] * 12, list(range(12)), 2.0)
    assert staying <= account.dp_cumulative().gdp <= 1.05 * staying


def test_a_hidden_fresh_publication_is_counted() -> None:
    """Only the model after the erasure is seen. What the steps alone would cost (planted) is far too little."""
    plan = linear_plan()
    account = history(plan, 3)
    exact = exact_gdp(plan, [True, True, False], [2], 1.0)
    alone = plan.mechanism.interval("deletion", "definition-4.1", steps_with=4, steps_without=4).gdp
    assert alone < 0.5 * exact
    assert exact <= account.deletion(1, 3, [3]).gdp <= account.deletion_later_releases().gdp
    assert account.deletion_of_each()[-1].gdp == pytest.approx(account.deletion(1, 3, [3]).gdp)
    assert exact_gdp(plan, [True, True, True], [2], 2.0) <= account.dp().gdp
    assert account.dp().gdp == pytest.approx(account.dp_of_each()[-1].gdp)
    assert account.what_if(account.planned("relearn")).deletion(1, 4, [4]).gdp == 0


def test_a_publication_that_would_be_counted_as_another_is_refused() -> None:
    """Exposure tells fresh ones from resumed ones by its parity: neither a learn of steps nor a resume without any may be stated."""
    plan = linear_plan()
    for kind, steps in (("learn", 3), ("unlearn", 0), ("relearn", 1)):
        with pytest.raises(errors.InvalidParameter, match="steps"):
            Event(kind, steps, 0, plan.mechanism)
    for name, steps in (("learn_steps", 3), ("delete_steps_for_deletion", 0)):
        with pytest.raises(errors.InvalidParameter, match="steps"):
            plan_from_dict({**plan.to_dict(), name: steps, "delete_steps_for_utility": 0})


def test_the_deletion_figure_of_the_plan_covers_every_moment() -> None:
    plan = linear_plan(every=5)
    account = history(plan, 10)
    figures = [found.gdp for found in account.deletion_of_each()]
    assert max(figures) <= plan.deletion.gdp * (1 + 1e-12)
    assert plan.deletion.gdp == pytest.approx(figures[3])  # the last before a fresh one
    assert figures[4] == 0


def test_few_fresh_ones_are_enough_and_a_deletion_stays_within_its_budget() -> None:
    """At Adult's sizes: forecast at most a third of as many fresh publications, ε_dd = 0.1 ε_dp included."""
    for regularization, share in ((1e-2, 1.0), (1e-3, 1.0), (1e-3, 0.1)):
        asked = {**ADULT, "regularization": regularization, "releases": 100, "batch": 10}
        budget = Budget(order=10, dp=1.0, deletion=share)
        mix = make_plan(losses.Logistic(1.0), budget=budget, method="interleaved", **asked)
        fresh = make_plan(losses.Logistic(1.0), budget=budget, method="perturbed", **asked)
        assert mix.outlook.forecast < fresh.outlook.forecast / 3
        assert budget.affords(mix.together.with_slack())
        assert budget.affords(mix.deletion.with_slack())
        assert plan_from_dict(mix.to_dict()) == mix


def test_roundings_of_exact_steps_are_charged_and_little_else() -> None:
    """A figure is that of the same steps over the reals and the roundings on top: no more than a thousandth."""
    plan = linear_plan(exact=True)
    real = replace(plan.mechanism, exact=None)
    for with_record, clean in ((4, 0), (4, 4), (12, 4), (math.inf, 4), (5, 4), (1, 4)):
        steps = {"steps_with": with_record, "steps_without": clean}
        found, bound = (run.interval("deletion", "definition-4.1", **steps).gdp for run in (real, plan.mechanism))
        assert found * (1 + 1e-7) < bound < found * 1.001 or (with_record == 1 and bound == found)
    assert plan.mechanism.interval("deletion", "definition-4.1", steps_with=0, steps_without=4).gdp == 0


def test_exact_steps_between_leave_no_sentence_about_real_numbers() -> None:
    plan = plan_by("interleaved")
    said = " ".join(plan.deletion.assumptions)
    assert "real numbers" in " ".join(plan_by("interleaved, over the reals").deletion.assumptions)
    assert "real numbers" not in said
    assert "the noise of every step is an exact discrete Gaussian" in said
    assert plan.mechanism.slack == 0
    assert plan.budget.affords(plan.together)
    assert plan.budget.affords(plan.deletion)
    with pytest.raises(errors.InvalidParameter, match="float64"):
        plan.method.check_plan(plan.changed(dtype="float32"))
    facts = plan.mechanism.to_dict()
    with pytest.raises(errors.InvalidParameter, match="must say of fresh publications"):
        mechanism_from_dict({**facts, "exact": {**facts["exact"], "in_place": False}})
    with pytest.raises(errors.AssumptionViolated, match="leave exact out"):
        make_plan(
            losses.Sigmoid(1.0), **ADULT, regularization=0.3, budget=RENYI, releases=9, method=Interleaved(exact=True)
        )


def test_rows_in_any_order_are_charged_of_a_record_that_is_gone_and_no_cheaper_for_one_that_is_there() -> None:
    """By fresh publications and by the steps between, each for itself; two orders of the same rows are within what is charged."""
    plan = plan_by("interleaved")
    charged = plan.in_any_order()
    assert charged.in_any_order() == charged

    def told(run, with_record: float, clean: int) -> float:
        steps = {"steps_with": with_record, "steps_without": clean}
        return run.interval("deletion", "definition-4.1", **steps).renyi(2)

    run, resumed = charged.mechanism, 2 * charged.delete_steps
    assert told(run, 0, 1) > 0 < told(run, 0, resumed)
    assert told(run, 0, 1 + resumed) == pytest.approx(told(run, 0, 1) + told(run, 0, resumed))
    assert told(plan.mechanism, 0, 1 + resumed) == 0
    for with_record, clean in (
        (1, 0),
        *((steps, resumed) for steps in (resumed, 1 + 3 * resumed, math.inf)),
        (resumed, 0),
    ):
        assert told(run, with_record, clean) >= told(plan.mechanism, with_record, clean)
    rows, models = unit_rows(charged.records, charged.features, seed=3), []
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(charged.records)
        records = Records(rows[order], rows[order, 0])
        execution = Execution(rng=np.random.default_rng(1))
        models.append(
            train(records, charged, charged.serving, np.full((1, charged.features), 0.25), execution).model.weights
        )
    apart = max(float(np.linalg.norm(one - other)) for one in models for other in models)
    assert apart / run.noise_scale <= math.sqrt(told(run, 0, resumed))


@pytest.mark.parametrize("exact", [False, True], ids=["over the reals", "exact"])
def test_the_curator_runs_it(exact: bool) -> None:
    records, method = unit_records(400, 4, seed=8), Interleaved(fresh_every=4, resumed_steps=3, exact=exact)
    facts = {"records": 400, "features": 4, "regularization": 0.05, "budget": Budget(order=10, dp=50.0, deletion=50.0)}
    plan = make_plan(losses.Logistic(1.0), **facts, releases=9, method=method)
    curator = Curator(records, plan)
    releases = [curator.learn(), *(curator.delete([number]) for number in range(8))]
    if exact:
        grid = plan.mechanism.exact.grid(plan.mechanism)
        for release in releases:
            steps = release.model.weights / grid
            assert (np.rint(steps) * grid == release.model.weights).all() == (release.kind == "unlearn")
    assert [release.kind for release in releases] == ["learn", *["unlearn"] * 3, "relearn", *["unlearn"] * 3, "relearn"]
    assert [release.steps for release in releases] == [0, 3, 3, 3, 0, 3, 3, 3, 0]
    assert releases[4].guarantees["deletion"].renyi(10) == 0
    assert releases[3].guarantees["deletion"].renyi(10) > 0
    assert plan.budget.affords(releases[-1].guarantees["dp_cumulative"].with_slack())
    used = records.occupied
    assert all(release.model.accuracy(records) > 0.8 for release in releases)
    assert used.sum() == 392
    with pytest.raises(errors.InvalidParameter, match="shares a budget among many"):
        make_plan(losses.Logistic(1.0), **ADULT, regularization=1e-3, budget=plan.budget, method="interleaved")


def test_the_comparison_takes_it_for_many_requests_and_not_for_one() -> None:
    asked = {**ADULT, "regularization": 1e-3, "budget": Budget(order=10, dp=1.0, deletion=0.1)}
    many = compare_plans(loss=losses.Logistic(1.0), **asked, requests=100, target=0.01)
    assert many.chosen.method == "interleaved"
    assert many.chosen.publications == 100
    one = compare_plans(loss=losses.Logistic(1.0), **asked, target=0.01)
    assert one.chosen.method == "perturbed"

"""`output-perturbation` with exact steps: plan, run, papers; what its bound assumes of the machine, tried on the machine."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from noisygd_delete import Budget, EditRequest, Execution, Records, learn, losses, make_plan
from noisygd_delete.bounds import exact_steps
from noisygd_delete.curator.learning import train
from noisygd_delete.errors import AssumptionViolated, InvalidParameter, PlanInfeasible
from noisygd_delete.methods import OutputPerturbation
from noisygd_delete.methods.serialization import mechanism_from_dict

from ..bank import unit_records

RENYI, PAIRS = Budget(order=10, dp=1.0, deletion=0.1), Budget.from_epsilon_delta(dp=(1.0, 1e-5), deletion=(0.1, 1e-5))


def plan_by(solver: str = "warm", loss: Any = None, **facts: Any) -> Any:
    sizes: dict[str, Any] = {"records": 26_000, "features": 108, "regularization": 1e-3, "budget": RENYI, "exact": True}
    given = {**sizes, **facts}
    own = {name: given.pop(name) for name in ("exact", "in_place", "step_size") if name in given}
    return make_plan(loss or losses.Logistic(1.0), **given, method=OutputPerturbation(solver=solver, **own))


def table(n: int = 400) -> Records:
    return unit_records(n, 5, seed=2)


def test_rows_in_any_order_are_planned_once_and_leave_something() -> None:
    charged = plan_by("cold").allow_any_order()
    assert charged.allow_any_order() == charged
    assert "exactly nothing" in plan_by("cold").explain()
    assert "exactly nothing" not in charged.explain()


@pytest.mark.parametrize(
    ("fact", "change"),
    [
        ("regularization", lambda value: value / 2),
        ("radius", lambda value: value * 2.0**40),
        ("grid_bits", lambda value: 11),
        ("features", lambda value: 0),
        ("curvature", lambda value: math.inf),
        ("curvature", lambda value: 9.0),
    ],
)
def test_facts_that_another_fact_fixes_cannot_be_stated_otherwise(fact: str, change: Any) -> None:
    facts = json.loads(json.dumps(plan_by().mechanism.to_dict()))
    facts["exact"][fact] = change(facts["exact"][fact])
    with pytest.raises(InvalidParameter):
        mechanism_from_dict(facts)


def test_refusals_name_a_way_out() -> None:
    with pytest.raises(AssumptionViolated, match="leave exact out"):
        plan_by(loss=losses.Sigmoid(1.0), regularization=0.3)
    with pytest.raises(InvalidParameter, match="needs exact steps"):
        OutputPerturbation(exact=False, in_place=False)
    with pytest.raises(InvalidParameter, match="solver 'cold', which forgets exactly"):
        plan_by(records=10**13)
    with pytest.raises(InvalidParameter, match="use method 'objective-perturbation'"):
        plan_by("cold", records=10**13, in_place=False)
    plan = plan_by(records=400, features=5, regularization=0.1)
    with pytest.raises(InvalidParameter, match="on the processor"):
        learn(table(), plan, execution=Execution("cpu:0"))
    with pytest.raises(InvalidParameter, match="float64"):
        plan.method.check_plan(plan.changed(dtype="float32"))


@pytest.mark.parametrize("solver", ["warm", "cold", "fixed"])
def test_a_small_deletion_budget_takes_a_finer_tolerance(solver: str) -> None:
    small = Budget(order=10, dp=1.0, deletion=1e-8)
    for plan in (plan_by(solver, budget=small), plan_by(solver, budget=small).allow_any_order()):
        assert small.affords(plan.deletion)
    with pytest.raises((InvalidParameter, PlanInfeasible), match="budget"):
        plan_by("warm", budget=Budget(order=10, dp=1.0, deletion=1e-25))


@pytest.mark.parametrize("solver", ["cold", "fixed"])
def test_what_is_gone_leaves_nothing_where_rows_keep_their_places(solver: str) -> None:
    """The same words, the same rows in the same places: the same bits, whatever stood there once."""
    plan = plan_by(solver, records=400, features=5, regularization=0.1)
    found = [
        train(
            table().apply(EditRequest.delete([7])), plan, plan.serving, start, Execution(rng=np.random.default_rng(1))
        ).model.weights
        for start in (np.full((1, 5), 0.3), np.full((1, 5), -0.2))
    ]
    assert (found[0] == found[1]).all()
    assert plan.deletion.gdp == 0


@pytest.mark.parametrize("solver", ["warm", "cold", "fixed"])
def test_rows_in_another_order_are_apart_within_what_is_charged(solver: str) -> None:
    """The same words, the same rows in six orders: a shift of the last noise, no larger than what a record that is gone is charged."""
    plan = plan_by(solver, records=8000, features=5, regularization=0.05).allow_any_order()
    mechanism, found, rows = plan.mechanism, [], table(8000)
    for seed in range(6):
        order = np.random.default_rng(seed).permutation(8000)
        own = Records(rows.features[order], rows.labels[order])
        start = np.full((1, 5), 0.05 * seed)
        found.append(train(own, plan, plan.serving, start, Execution(rng=np.random.default_rng(3))).model.weights)
    apart = max(float(np.linalg.norm(one - other)) for one in found for other in found)
    gone = mechanism.interval("deletion", "pairwise", steps_with=1, steps_without=plan.calibration.delete_steps).gdp
    assert apart > 0 or solver == "fixed", "a stated 0 would be false; the fixed solver's roundings fall below the grid"
    assert apart / mechanism.noise_scale <= gone
    observed = mechanism.interval("deletion", "pairwise", steps_with=0, steps_without=plan.calibration.delete_steps).gdp
    assert observed == gone, "given the model before, too"
    rounded = replace(mechanism, gradient_tolerance=0.0)
    assert rounded.interval("deletion", "pairwise", steps_with=1, steps_without=plan.calibration.delete_steps).gdp > 0


@pytest.mark.parametrize("fault", ["none", "tolerance", "rounding"])
def test_two_tables_on_the_worst_machine_are_as_far_apart_as_is_stated(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Linear losses whose solvers stop γ/m to either side and whose steps round E to either side: Gaussians of known means."""
    plan = plan_by("warm", losses.Linear(1.0), records=10**9, features=3, regularization=0.1, step_size=4.0)
    mechanism = plan.mechanism
    m, eta, tau, steps = (
        mechanism.strong_convexity,
        plan.calibration.step_size,
        mechanism.noise_scale,
        plan.calibration.learn_steps,
    )
    c, exact = 1 - eta * m, mechanism.exact
    gap = eta * 2.0 / 10**9
    error = eta * exact.measured_error(mechanism)  # of a gradient alone, which is most of E
    apart, variance, gone = (
        2.0 / (m * 10**9) + 2 * plan.calibration.gradient_tolerance / m,
        0.0,
        2 * plan.calibration.gradient_tolerance / m,
    )
    for _ in range(steps):
        apart, gone = c * apart + gap + 2 * error, c * gone + 2 * error
        variance = c**2 * variance + tau**2
    facts = mechanism
    if fault == "tolerance":
        facts = replace(mechanism, gradient_tolerance=plan.calibration.gradient_tolerance / 2)
    if fault == "rounding":
        monkeypatch.setattr(exact_steps, "rounding_gap", lambda **_: 0.0)
    present = facts.interval("dp", "replace", steps_with=steps).gdp / (apart / math.sqrt(variance))
    erased = facts.interval("deletion", "pairwise", steps_with=1, steps_without=steps).gdp / (
        gone / math.sqrt(variance)
    )
    assert (min(present, erased) >= 1) == (fault == "none"), (present, erased)
    assert max(present, erased) < 1.2

"""What is asked for where nobody says: public conventions, and a total that publication stops at and erasure does not."""

from __future__ import annotations

import math

import pytest

from noisygd_delete import Accountant, Budget, losses, make_plan
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.methods.reading import plan_from_dict
from noisygd_delete.planner.usual import capped, usual_budget, usual_delta, usual_slots, usual_total
from noisygd_delete.privacy.total import Total
from tests.oracles import gaussian_dp

LOGISTIC = losses.Logistic(1.0)
SIZES = {"records": 2_000, "features": 5, "regularization": 0.01, "budget": Budget.from_gdp(dp=0.4, deletion=0.1)}


def test_delta_is_below_one_over_n() -> None:
    assert usual_delta(100) == usual_delta(999_999) == 1e-6
    for records in (10**6, 3 * 10**6, 10**9):
        assert records * usual_delta(records) <= 0.5
    assert usual_budget(100) == Budget.from_epsilon_delta(dp=(2, 1e-6), deletion=(0.2, 1e-6))


@pytest.mark.parametrize(("rows", "slots"), [(0, 2), (1, 2), (20, 21), (469, 493), (26_000, 27_300), (32_561, 34_200)])
def test_a_twentieth_of_the_slots_is_free(rows: int, slots: int) -> None:
    assert usual_slots(rows) == slots
    assert slots >= 1.05 * rows


@pytest.mark.parametrize("method", ["sharp", "minimiser"])
def test_the_usual_total_has_room_for_twelve_like_the_learn(method: str) -> None:
    """Gaussian releases of a known μ compose to √12 μ; what δ that is at the stated ε, by a formula of its own."""
    plan = make_plan(LOGISTIC, **SIZES, method=method, dtype="float64")
    total = usual_total(plan)
    mu = plan.mechanism.interval("dp", "replace", steps_with=plan.mechanism.exposure(plan.learn_steps)).gdp
    assert gaussian_dp.delta(math.sqrt(12) * mu, total.epsilon) <= total.delta
    assert gaussian_dp.delta(math.sqrt(12) * mu, 0.9 * total.epsilon) > total.delta
    assert total.epsilon == float(f"{total.epsilon:.2g}")
    assert usual_total(make_plan(LOGISTIC, **SIZES, method=method, releases=3)) is None  # they share a budget already


def test_publication_stops_at_the_total_and_not_before() -> None:
    plan = make_plan(LOGISTIC, **SIZES, method="minimiser")
    plan = capped(plan, usual_total(plan))
    accountant, published = Accountant(plan), 0
    while accountant.affordable(event := accountant.planned()):
        accountant.record(event)
        published += 1
        spent = accountant.dp_cumulative().with_slack().epsilon(plan.total.delta)
        assert spent <= plan.total.epsilon
        assert accountant.remaining().publications == 12 - published
    assert published == 12
    beyond = accountant.what_if(event).dp_cumulative().with_slack().epsilon(plan.total.delta)
    assert beyond > plan.total.epsilon
    assert accountant.publication(1) is None  # withheld
    assert accountant.remaining().to_dict()["total"] == plan.total.to_dict()


def test_both_caps_hold_where_both_are_set() -> None:
    shared = make_plan(LOGISTIC, **SIZES, method="sharp", releases=4)
    tight = capped(shared, Total(0.9 * shared.allowed.epsilon(1e-6), 1e-6))
    assert 0 < Accountant(tight).remaining().publications < Accountant(shared).remaining().publications == 4
    wide = capped(shared, Total(1e3, 1e-6))
    assert Accountant(wide).remaining().publications == 4


def test_a_total_is_a_public_fact_of_the_plan() -> None:
    plan = make_plan(LOGISTIC, **SIZES, method="sharp", total=(9.0, 1e-7))
    assert plan.total == Total(9.0, 1e-7)
    assert plan_from_dict(plan.to_dict()) == plan
    assert plan.summary()["total"] == {"epsilon": 9.0, "delta": 1e-7}
    assert "All publications together stay within (ε=9, δ=1e-7)" in plan.explain()
    without = {**plan.to_dict(), "problem": {k: v for k, v in plan.to_dict()["problem"].items() if k != "total"}}
    assert plan_from_dict(without).total is None  # a plan from before there was one


@pytest.mark.parametrize("total", [(0.5, 1e-6), (0, 1e-6), (1.0, 1.0), (1.0,), "much"])
def test_a_total_that_is_none_or_too_small_for_one_is_refused(total) -> None:
    with pytest.raises(InvalidParameter, match=r"total|delta"):
        make_plan(LOGISTIC, **SIZES, method="sharp", total=total)

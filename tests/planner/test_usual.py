"""What is asked for where nobody says: public conventions, and a total that publication stops at and erasure does not."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from noisygd_delete import Accountant, Budget, losses, make_plan
from noisygd_delete.cli.remaining_budget import left_text
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.methods.serialization import plan_from_dict
from noisygd_delete.planner.defaults import (
    PUBLICATIONS,
    compose_publications,
    default_budget,
    default_delta,
    default_slots,
    default_total,
    with_total,
)
from noisygd_delete.privacy.budget import Total
from tests.oracles import gaussian_dp

LOGISTIC = losses.Logistic(1.0)
SIZES = {"records": 2_000, "features": 5, "regularization": 0.01, "budget": Budget.from_gdp(dp=0.4, deletion=0.1)}


def test_delta_is_below_one_over_n() -> None:
    assert default_delta(100) == default_delta(999_999) == 1e-6
    for records in (10**6, 3 * 10**6, 10**9):
        assert records * default_delta(records) <= 0.5
    assert default_budget(100) == Budget.from_epsilon_delta(dp=(1.2, 1e-6), deletion=(0.12, 1e-6))


@pytest.mark.parametrize(("rows", "slots"), [(0, 2), (1, 2), (20, 21), (469, 493), (26_000, 27_300), (32_561, 34_200)])
def test_a_twentieth_of_the_slots_is_free(rows: int, slots: int) -> None:
    assert default_slots(rows) == slots
    assert slots >= 1.05 * rows


@pytest.mark.parametrize("method", ["noisy-gd", "output-perturbation"])
def test_the_usual_total_has_room_for_releases_like_the_learn(method: str) -> None:
    """Gaussian releases of a known μ compose to √31 μ; what δ that is at the stated ε, by a formula of its own."""
    plan = make_plan(LOGISTIC, **SIZES, method=method, dtype="float64")
    total = default_total(plan)
    mu = plan.mechanism.interval("dp", "replace", steps_with=plan.mechanism.exposure(plan.calibration.learn_steps)).gdp
    assert gaussian_dp.delta(math.sqrt(31) * mu, total.epsilon) <= total.delta
    assert gaussian_dp.delta(math.sqrt(31) * mu, 0.9 * total.epsilon) > total.delta
    assert total.epsilon == float(f"{total.epsilon:.2g}")
    assert default_total(make_plan(LOGISTIC, **SIZES, method=method, releases=3)) is None  # they share a budget already


def test_both_caps_hold_where_both_are_set() -> None:
    shared = make_plan(LOGISTIC, **SIZES, method="noisy-gd", releases=4)
    tight = with_total(shared, Total(0.9 * shared.allowed.epsilon(1e-6), 1e-6))
    assert 0 < Accountant(tight).remaining().publications < Accountant(shared).remaining().publications == 4
    wide = with_total(shared, Total(1e3, 1e-6))
    assert Accountant(wide).remaining().publications == 4


@pytest.mark.parametrize("total", [(0.5, 1e-6), (0, 1e-6), (1.0, 1.0), (1.0,), "much"])
def test_a_total_that_is_none_or_too_small_for_one_is_refused(total) -> None:
    with pytest.raises(InvalidParameter, match=r"total|delta"):
        make_plan(LOGISTIC, **SIZES, method="noisy-gd", total=total)


ONE_RELEASE = Budget.from_epsilon_delta(dp=(2, 1e-6), deletion=(0.2, 1e-6))


@pytest.mark.parametrize(
    ("method", "gdp"),
    [
        ("noisy-gd", True),
        ("objective-perturbation", True),
        ("output-perturbation", True),
        ("noisy-gd:analysis=paper", False),
    ],
)
def test_a_total_is_summed_in_one_measure_that_has_room_for_as_many(method: str, gdp: bool) -> None:
    """The measure is fixed with the total, so that the sum is a filter; what the best of several would afford, it affords."""
    plan = make_plan(LOGISTIC, records=4_000, features=5, regularization=0.01, budget=ONE_RELEASE, method=method)
    usual = default_total(plan)
    fixed = with_total(plan, usual)
    assert (fixed.problem.total.gdp, fixed.problem.total.order is None) == (gdp, gdp)
    assert fixed.problem.total.is_filter
    assert plan_from_dict(fixed.to_dict()) == fixed
    assert "whatever plans and releases depend on" in fixed.explain()
    loose = replace(plan, problem=replace(plan.problem, total=usual))  # as versions before had it
    assert not loose.problem.total.is_filter
    assert "if no later plan is chosen because of models seen before" in loose.explain()
    assert Accountant(fixed).remaining().publications == Accountant(loose).remaining().publications >= PUBLICATIONS


def test_the_best_of_several_sums_would_exceed_a_filter() -> None:
    """μ² and a Rényi rate for the same releases: each alone keeps to the cap that was fixed; the least of the two at the end is a third
    thing, which no filter bounds. A release that the measure does not know is refused, not counted by another."""
    sharp, theorem = (
        make_plan(LOGISTIC, records=4_000, features=5, regularization=0.01, budget=ONE_RELEASE, method=method)
        for method in ("noisy-gd", "noisy-gd:analysis=paper")
    )
    by_mu = with_total(sharp, Total(9.0, 1e-6)).problem.total
    assert by_mu.gdp
    assert not by_mu.affords(compose_publications(theorem, 1))
    assert by_mu.spent(compose_publications(theorem, 1)) == math.inf
    with pytest.raises(InvalidParameter, match="name another method, or begin a new store"):
        with_total(theorem, by_mu)
    by_order = with_total(theorem, Total(9.0, 1e-6)).problem.total
    spent = compose_publications(sharp, 3).with_slack()
    q = by_order.order
    mine = q * spent.gdp**2 / 2 + math.log((q - 1) / q) - (math.log(1e-6) + math.log(q)) / (q - 1)
    assert by_order.spent(compose_publications(sharp, 3)) <= mine * (
        1 + 1e-9
    )  # Canonne, Kamath & Steinke's conversion at that one order


def test_a_later_total_is_no_filter_and_says_so() -> None:
    first = make_plan(LOGISTIC, **SIZES, method="output-perturbation", total=(9.0, 1e-6))
    out = compose_publications(first, 3)
    assert first.after(first, out) == first
    wider = make_plan(LOGISTIC, **SIZES, method="output-perturbation", total=(12.0, 1e-6)).after(first, out)
    assert (wider.problem.total.epsilon, wider.problem.total.gdp, wider.problem.total.late) == (12.0, True, True)
    assert "if the total was not changed because of models seen before" in wider.explain()
    back = make_plan(LOGISTIC, **SIZES, method="output-perturbation", total=(9.0, 1e-6)).after(wider, out)
    assert back.problem.total.late
    other = make_plan(LOGISTIC, **SIZES, method="noisy-gd", total=(9.0, 1e-6)).after(first, out)
    assert other.problem.total == first.problem.total  # another method under the total that was fixed first


def test_a_later_total_is_summed_in_a_measure_that_all_methods_have() -> None:
    """Planted: that of the new plan alone, μ, by which what was published before costs more than any total."""
    sizes = {**SIZES, "budget": Budget(order=10, dp=1.0, deletion=0.1)}
    first = make_plan(LOGISTIC, **sizes, method="noisy-gd:analysis=paper", total=(9.0, 1e-6))
    out = compose_publications(first, 3)
    other = make_plan(LOGISTIC, **sizes, method="noisy-gd", total=(12.0, 1e-6))
    assert (out.gdp, other.problem.total.gdp) == (None, True)
    for former in (first, replace(first, problem=replace(first.problem, total=None))):
        late = other.after(former, out).problem.total
        assert late.late
        left = left_text(
            {
                "capped": True,
                "total": late.to_dict(),
                "spent_epsilon": 1,
                "delta": 1e-6,
                "publications": 2,
                "adjacency": "replace",
            }
        )
        assert "if it was not changed because of models seen before" in left
        assert late.spent(out) < late.spent(out + other.dp) < 12.0
        assert other.after(former, out).after(former, out) == other.after(former, out)


def _spent(plan, publications: int) -> float:
    """By an oracle of its own: μ of a learn, √k of them, the slack of the sums, and the δ that comes of it."""
    mu = plan.mechanism.interval("dp", "replace", steps_with=plan.mechanism.exposure(plan.calibration.learn_steps))
    mu = math.sqrt(publications) * mu.gdp * (1 + mu.slack)
    low, high = 0.0, 1e3
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_dp.delta(mu, middle) > plan.problem.total.delta else (low, middle)
    return high


@pytest.mark.parametrize("share", [1.0001, 0.9999, 1.0 / 1.01])
def test_the_cap_is_neither_exceeded_by_a_hair_nor_measured_without_the_slack(share: float) -> None:
    """Totals a hair above, a hair below and one per cent below what five publications cost, the slack included."""
    plan = make_plan(LOGISTIC, **SIZES, method="output-perturbation", exact=False, total=(9.0, 1e-6))
    slack = plan.mechanism.interval("dp", "replace", steps_with=1).slack
    assert slack > 0
    total = share * _spent(plan, 5)
    capped_ = with_total(plan, Total(total, 1e-6))
    accountant, published = Accountant(capped_), 0
    assert accountant.remaining().publications == (5 if share > 1 else 4)
    while accountant.affordable(event := accountant.planned_event()):
        accountant.record(event)
        published += 1
    assert published == (5 if share > 1 else 4)
    assert _spent(plan, published) <= total * (1 + 1e-9)


def test_the_slack_alone_decides() -> None:
    """A total between what is spent over the reals and what is spent on the machine: without the slack it would be exceeded."""
    plan = make_plan(LOGISTIC, **SIZES, method="output-perturbation")
    spent = replace(compose_publications(plan, 3), slack=1e-3)
    between = (spent.epsilon(1e-6) + spent.with_slack().epsilon(1e-6)) / 2
    assert spent.epsilon(1e-6) < between < spent.with_slack().epsilon(1e-6)
    for total in (Total(between, 1e-6), Total(between, 1e-6, gdp=True), Total(between, 1e-6).measured_for(spent)):
        assert not total.affords(spent)
        assert total.affords(replace(spent, slack=0.0))


def test_where_a_learn_reveals_nothing_the_total_is_measured_by_what_follows() -> None:
    """A wide budget over few rows: no step at all learns, and any number of such publications would fit."""
    loose = Budget.from_epsilon_delta(dp=(8.0, 1e-6), deletion=(1.6, 1e-6))
    sizes = {"records": 21, "features": 33, "regularization": 0.1}
    plan = make_plan(LOGISTIC, **sizes, method="noisy-gd:analysis=paper", budget=loose, releases=20, total=(24.0, 1e-6))
    assert plan.calibration.learn_steps == 0 < plan.calibration.delete_steps
    assert plan.problem.total is not None
    assert plan.problem.total.affords(compose_publications(plan, 1))
    assert (
        plan.problem.total.measure
        == with_total(replace(plan, problem=replace(plan.problem, total=None)), (24.0, 1e-6)).problem.total.measure
    )
    assert not plan.problem.total.affords(compose_publications(plan, 10**6))

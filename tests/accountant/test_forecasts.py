"""Forecasts: what they say of releases to come is what an accountant says once these are recorded, by every method."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from noisygd_delete import Accountant, make_plan
from noisygd_delete.accountant import Event
from noisygd_delete.methods import CompositionNoisyGD
from noisygd_delete.methods.plan import Plan
from noisygd_delete.privacy.budget import Total
from noisygd_delete.privacy.guarantee import Guarantee
from noisygd_delete.privacy.worlds import FIXED_SCHEDULE

from ..bank import PROBLEMS, USUAL, plan_by
from ..reports.histories import history


def figures(guarantee: Guarantee) -> list[float]:
    return [guarantee.total_rate, guarantee.renyi(2.0), guarantee.advantage, guarantee.with_slack().epsilon(1e-6)]


def following(accountant: Accountant, number: int) -> list[Event]:
    """The learn that the plan needs first, if any, and `number` releases, with the fresh learns that its horizon asks for."""
    made: list[Event] = []
    while len(made) < number or (made[0].kind != "unlearn" and len(made) <= number):
        kind = (
            "relearn"
            if accountant.forecast().horizon_spent and accountant.last.mechanism == accountant.plan.mechanism
            else None
        )
        made.append(accountant.planned_event(kind))
        accountant = accountant.what_if(made[-1])
    return made


def limited(plan: Plan, epsilon: float) -> Plan:
    """The plan with no other limit than this total."""
    return replace(plan, problem=replace(plan.problem, releases=1, total=Total(epsilon, 1e-6)))


def starts(plan: Plan, method: str) -> list[list[Event]]:
    """No release; those of an earlier plan; those of a history."""
    earlier = replace(plan.mechanism, slack=plan.mechanism.slack + 1e-3)
    before = [Event("learn", plan.calibration.learn_steps, 0, earlier)]
    return [[], before, *([history(method, 1, most=5)[1]] if method in PROBLEMS else [])]


SHORT = "noisy-gd:analysis=composition, a fresh learn after each request"


def plan_of(method: str) -> Plan:
    if method != SHORT:
        return plan_by(method)
    return make_plan(
        **{**USUAL, **PROBLEMS["noisy-gd:analysis=composition"], "method": CompositionNoisyGD(requests_per_learn=1)}
    )


@pytest.mark.parametrize("method", [*PROBLEMS, SHORT])
def test_an_outlook_is_what_the_account_says_once_the_releases_are_made(method: str) -> None:
    plan = plan_of(method)
    for events in starts(plan, method):
        accountant = Accountant(plan, events)
        outlook, made = accountant.forecast().outlook(5, 2), following(accountant, 3)
        first, released = made[: len(made) - 3], made[len(made) - 3 :]
        assert len(first) == (not events or events[-1].mechanism != plan.mechanism)
        assert [event.kind for event in first] == ([] if not first else ["relearn" if events else "learn"])
        begun = accountant.what_if(*first)
        assert (outlook.requests, outlook.batch, outlook.publications) == (5, 2, 3)
        assert outlook.steps == sum(event.steps for event in released)
        assert outlook.fresh_learns == sum(event.kind == "relearn" for event in released)
        after = begun.what_if(*released).dp_cumulative()
        assert figures(outlook.total) == pytest.approx(figures(after), rel=1e-9)
        if method != SHORT and plan.mechanism not in accountant.account.mechanisms:
            fresh = Accountant(plan).forecast().cost_of_next_releases(3)  # nothing is carried on from another plan
            assert figures(accountant.forecast().cost_of_next_releases(3)) == pytest.approx(figures(fresh), rel=1e-9)
        if plan.mechanism.carries:
            chain = begun.account.since_fresh + 3
            alone = Accountant(
                plan, [Event("learn", 0, 0, plan.mechanism)] + [Event("unlearn", 0, 1, plan.mechanism)] * (chain - 1)
            )
            assert figures(outlook.added) == pytest.approx(figures(alone.dp_cumulative()), rel=1e-9)
        else:
            spent = begun.dp_cumulative()
            assert outlook.added.total_rate + spent.total_rate == pytest.approx(after.total_rate, rel=1e-9)
            assert outlook.added.renyi(2.0) + spent.renyi(2.0) == pytest.approx(after.renyi(2.0), rel=1e-9)
        foresight = accountant.forecast()
        for event in made:
            foresight.add(event)
        before, now = (
            None if not one.releases else one.dp_cumulative().with_slack().epsilon(1e-6)
            for one in (accountant, accountant.what_if(*made))
        )
        assert foresight.foresight(1e-6) == (before, pytest.approx(now, rel=1e-9))


@pytest.mark.parametrize("method", PROBLEMS)
def test_what_remains_is_the_number_of_releases_that_the_total_affords(method: str) -> None:
    plan = plan_by(method)
    for events in starts(plan, method):
        accountant = Accountant(plan, events)
        made = following(accountant, 3)
        first = len(made) - 3
        costs = [
            accountant.what_if(*made[:n]).dp_cumulative().with_slack().epsilon(1e-6)
            for n in range(first, len(made) + 1)
        ]
        for number, cost in enumerate(costs[:-1]):
            if not 0 < cost < costs[number + 1]:
                continue
            held = Accountant(limited(plan, cost * (1 + 1e-9)), events)
            assert held.remaining().publications == first + number
            assert held.affordable(made[0]) == (first + number > 0)
            full = held.what_if(*made[: first + number])
            assert not full.affordable(made[first + number])
            assert full.publication(1) is None or not number
            assert held.forecast().outlook(max(1, number)).affordable == (number > 0)
        if not events:
            assert Accountant(limited(plan, costs[0] / 2)).remaining().publications == 0


def test_a_line_about_an_accountant_has_the_conditions_of_several_releases() -> None:
    plan = plan_by("noisy-gd")
    accountant = Accountant(plan, [Event("learn", plan.calibration.learn_steps, 0, plan.mechanism)])
    assert repr(accountant).startswith("Accountant(releases=1; all observed: advantage at most ")
    assert "schedule fixed beforehand" in repr(accountant)
    assert FIXED_SCHEDULE.startswith("nothing that was seen")
    assert math.isfinite(accountant.dp_cumulative().advantage)

"""How two years of deletion requests are served: by sums, a release for each request, or a calendar, from public numbers."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest

from noisygd_delete import Budget, losses
from noisygd_delete.planner import advise, make_advised_plan
from noisygd_delete.planner.advise import Advice
from noisygd_delete.planner.defaults import PUBLICATIONS, default_budget, expected_cost
from noisygd_delete.planner.service import DeletionService, choose_service


@cache
def served(records: int, features: int, requests: int | None, loss: Any = None) -> tuple[DeletionService, Advice]:
    facts: dict[str, Any] = {"loss": loss or losses.Logistic(1.0), "adjacency": "zero-out"}
    advice = advise(**facts, records=records, features=features, budget=default_budget(records))
    plan = make_advised_plan(advice)
    return choose_service(advice, plan, requests, **facts), advice


def test_an_unknown_number_gets_the_calendar_of_the_default_total() -> None:
    found, advice = served(20_000, 20, None)
    assert (found.kind, found.plan) == ("calendar", make_advised_plan(advice))
    assert "--requests-per-year" in found.reason


def test_sums_are_taken_where_they_cost_less_than_a_point() -> None:
    found, advice = served(20_000, 20, 100)
    total = make_advised_plan(advice).problem.total
    assert total is not None
    assert found.kind == "sums"
    assert found.plan.problem.releases == 200 + PUBLICATIONS  # one for each request, and the dates of a calendar
    assert found.plan.dp_observed().with_slack().epsilon(total.delta) <= total.epsilon
    assert found.plan.deletion.epsilon(total.delta) == 0  # later models are independent of an erased record
    assert served(2000, 60, 100)[0].kind == "calendar"


def test_a_few_requests_get_a_release_each_with_less_noise() -> None:
    found, advice = served(2000, 60, 1)
    total = make_advised_plan(advice).problem.total
    assert total is not None
    assert found.kind == "requests"
    assert 2 < found.plan.problem.releases < PUBLICATIONS
    assert found.plan.dp_observed().with_slack().epsilon(total.delta) <= total.epsilon
    assert found.plan.outlook.forecast < advice.plan.outlook.forecast
    assert served(2000, 60, 12)[0].kind != "requests"


@pytest.mark.parametrize("requests", [1, 100])
def test_a_target_has_no_sums(requests: int) -> None:
    assert served(20_000, 20, requests, losses.PseudoHuber(1.0))[0].kind != "sums"


@pytest.mark.parametrize(
    ("records", "requests", "kind"), [(800, None, "calendar"), (800, 1, "requests"), (6000, 100, "sums")]
)
def test_the_advice_is_of_the_plan_that_serves(records: int, requests: int | None, kind: str) -> None:
    """Its caution and remedies are of that plan, not of the calendar that was not taken."""
    found, _ = served(records, 12, requests)
    assert found.kind == kind
    assert found.advice.plan.mechanism == found.plan.mechanism
    assert found.advice.chosen.excess_risk == pytest.approx(expected_cost(found.plan))


def test_a_doubtful_answer_says_what_batches_and_sums_lose_within_the_same_total() -> None:
    few, total = served(400, 12, None)[1], make_advised_plan(served(400, 12, None)[1]).problem.total
    assert total is not None
    budget = Budget.from_epsilon_delta(dp=(total.epsilon, total.delta), deletion=(total.epsilon / 10, total.delta))
    facts: dict[str, Any] = {"loss": losses.Logistic(1.0), "records": 400, "features": 12, "adjacency": "zero-out"}
    said = [
        round(100 * advise(**facts, budget=budget, method=method, releases=releases).share)
        for method, releases in ((few.chosen.method, 10), ("sufficient-statistics", PUBLICATIONS))
    ]
    assert few.doubt
    assert [int(share) for share in re.findall(r"(\d+) %", few.within_total)] == said
    assert few.within_total in few.advisory
    assert few.share > said[0] / 100  # fewer releases, less noise
    assert served(20_000, 12, None)[1].within_total == ""

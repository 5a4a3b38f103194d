"""How two years of deletion requests are served: by sums, a release for each request, or a calendar, from public numbers."""

from __future__ import annotations

from typing import Any

import pytest

from noisygd_delete import losses
from noisygd_delete.planner import advise, make_advised_plan
from noisygd_delete.planner.advise import Advice
from noisygd_delete.planner.defaults import PUBLICATIONS, default_budget
from noisygd_delete.planner.service import DeletionService, choose_service


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

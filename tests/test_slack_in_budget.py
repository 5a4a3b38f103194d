"""The rounding slack of the gradient sums counts inside the budget, for every method, both dtypes, every measure."""

from __future__ import annotations

import pytest

from noisygd_delete import Accountant, Budget, losses, make_plan
from noisygd_delete.accountant import Event, PrivacyFilter, within
from noisygd_delete.methods.plan import Plan

RENYI = Budget(order=10, dp=1.0, deletion=0.1)
BOTH = Budget.from_epsilon_delta(dp=(1.0, 1e-6), deletion=(0.1, 1e-6))
GDP = Budget.from_gdp(dp=0.4, deletion=0.1)
LOGISTIC, SIGMOID = losses.Logistic(radius=1.0), losses.Sigmoid(radius=1.0)
NETWORK = losses.TanhNetwork(radius=1.0, outer_weights=(1.0, -1.0))
NEAR_PRIOR = {"noise_variance": "cheapest", "regularization": 0.5, "features": 1, "records": 40}
CASES = [
    *((LOGISTIC, {"certificate": "theorem"}, budget) for budget in (RENYI, BOTH)),
    *((LOGISTIC, {"certificate": "sharp"}, budget) for budget in (RENYI, BOTH, GDP)),
    *((LOGISTIC, {"certificate": "sharp", "releases": 7}, budget) for budget in (RENYI, BOTH, GDP)),
    (LOGISTIC, {"certificate": "theorem", "releases": 7}, RENYI),
    *((LOGISTIC, {"certificate": "sharp", "start": "minimiser"}, budget) for budget in (RENYI, BOTH, GDP)),
    *((SIGMOID, {"certificate": "composition"}, budget) for budget in (RENYI, BOTH, GDP)),
    (SIGMOID, {"certificate": "composition", "releases": 7}, GDP),
    *(
        (NETWORK, {"certificate": name, **NEAR_PRIOR}, Budget(order=2, dp=1.9, deletion=0.5))
        for name in ("theorem", "sharp")
    ),
]


def planned(loss, method, budget, **more) -> Plan:
    facts = {"records": 2000, "features": 5, "regularization": 1e-2, **method, **more}
    return make_plan(loss, budget=budget, **facts)


def over(budget: Budget, part: str, guarantee) -> float:
    """The bound with the slack, as a share of what the budget allows."""
    allowed, told = getattr(budget, part), guarantee.with_slack()
    if budget.measure == "gdp":
        return told.gdp / allowed
    return (told.renyi(budget.order) if budget.measure == "renyi" else told.epsilon(1e-6)) / allowed


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("loss", "method", "budget"), CASES, ids=str)
def test_no_promise_with_its_slack_exceeds_the_budget(loss, method, budget, dtype) -> None:
    plan = planned(loss, method, budget, dtype=dtype)
    assert plan.mechanism.slack > (1e-3 if dtype == "float32" else 1e-7)
    releases = plan.releases
    accountant = Accountant(plan)
    accountant.record(Event("learn", plan.learn_steps, 0, plan.mechanism))
    for _ in range(releases - 1):
        accountant.record(Event("unlearn", plan.delete_steps, 1, plan.mechanism))
    assert over(budget, "dp", accountant.dp_cumulative()) <= 1 + 1e-11
    assert over(budget, "deletion", plan.deletion) <= 1 + 1e-11
    assert within(accountant.dp_cumulative(), plan)
    if releases > 1:
        if loss is LOGISTIC:  # under composition the deletion budget decides
            assert over(budget, "dp", accountant.dp_cumulative()) > 0.98  # and little is wasted
            assert accountant.remaining().publications == 0
        gate = PrivacyFilter.for_plan(plan)
        assert over(budget, "dp", gate.guarantee) <= 1 + 1e-11


@pytest.mark.parametrize("releases", [1, 5])
def test_a_plan_from_before_still_opens_and_is_planned_again_as_it_was(releases) -> None:
    old = planned(LOGISTIC, {"certificate": "sharp"}, RENYI, slack_in_budget=False, releases=releases)
    assert over(RENYI, "dp", old.dp if releases == 1 else old.dp.times(releases)) > 1
    fields = old.to_dict()
    del fields["problem"]["slack_in_budget"]  # as it was written then
    read = Plan.from_dict(fields)
    assert read == old
    assert make_plan(**{name: getattr(read.problem, name) for name in read.problem.__dataclass_fields__}) == old
    accountant = Accountant(read)
    for _ in range(releases):
        assert accountant.affordable(accountant.planned())
        accountant.record(accountant.planned())

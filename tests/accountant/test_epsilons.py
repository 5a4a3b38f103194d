"""`Accountant.epsilon_dp` and `epsilon_dd`: one figure of a guarantee, in the measure of the budget or one that is given."""

from __future__ import annotations

import pytest

from noisygd_delete import Accountant, Budget, losses, make_plan
from noisygd_delete.accountant import Event
from noisygd_delete.errors import InvalidParameter

RECORDS, RIDGE, LIPSCHITZ, ORDER = 400, 0.05, 1.0, 8.0


def plan_of(budget: Budget):
    return make_plan(
        losses.Logistic(radius=1.0),
        records=RECORDS,
        features=4,
        regularization=RIDGE,
        budget=budget,
        method="noisy-gd",
        utility=False,
    )


@pytest.fixture(scope="module")
def accountant() -> Accountant:
    plan = plan_of(Budget(order=ORDER, dp=2.0, deletion=0.05))
    accountant = Accountant(plan)
    accountant.record(Event("learn", plan.calibration.learn_steps, 0, plan.mechanism))
    accountant.record(Event("unlearn", plan.calibration.delete_steps, 1, plan.mechanism))
    return accountant


def test_they_are_the_renyi_bounds_of_what_was_observed(accountant: Accountant) -> None:
    """Of everything, and of the releases from the erasure on, unless others are named."""
    for observed in (None, [1], [1, 2]):
        told = accountant.dp_cumulative(observed).with_slack()
        assert accountant.epsilon_dp(order=3.0, observed=observed) == told.renyi(3.0)
        assert accountant.epsilon_dp(delta=1e-5, observed=observed) == told.epsilon(1e-5)
    for observed, seen in ((None, [2]), ([2], [2]), ([1, 2], None)):
        told = accountant.deletion(1, 2, seen).with_slack()
        assert accountant.epsilon_dd(order=3.0, observed=observed) == told.renyi(3.0)
        assert accountant.epsilon_dd(erased_at=2, delta=1e-5, observed=observed) == told.epsilon(1e-5)


def test_the_measure_is_the_budgets_unless_one_is_given(accountant: Accountant) -> None:
    assert accountant.epsilon_dp() == accountant.epsilon_dp(order=ORDER)
    by_delta = Accountant(plan_of(Budget.from_epsilon_delta(dp=(2.0, 1e-5), deletion=(0.1, 1e-6))), accountant.events)
    assert by_delta.epsilon_dp() == by_delta.epsilon_dp(delta=1e-5)
    assert by_delta.epsilon_dd() == by_delta.epsilon_dd(delta=1e-6) < by_delta.epsilon_dd(delta=1e-7)


def test_the_measure_must_be_one(accountant: Accountant) -> None:
    for given in ({"order": 8.0, "delta": 1e-5}, {"order": 1.0}, {"delta": 0.0}):
        with pytest.raises(InvalidParameter):
            accountant.epsilon_dp(**given)
    with pytest.raises(InvalidParameter):
        Accountant(None, accountant.events).epsilon_dd()
    with pytest.raises(InvalidParameter):
        accountant.epsilon_dp(order=8.0, observed=[3])


def test_only_figures_of_which_every_release_is_observed_hold_for_adaptive_requests(accountant: Accountant) -> None:
    whole = range(1, accountant.releases + 1)
    for answer in (accountant.dp_cumulative, lambda seen: accountant.deletion(1, 2, seen)):
        assert not answer(whole).non_adaptive
        assert answer(whole[1:]).non_adaptive

"""`Accountant.epsilon_dp` and `epsilon_dd` against the closed forms, written here a second time."""

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


def mu_squared(plan, sensitivity: float, steps_with: int, steps_without: int) -> float:
    """Shifted interpolation, solved as a sum over steps: shifts proportional to c^(t-k), from a common start."""
    step, c = plan.calibration.step_size, 1 - plan.calibration.step_size * RIDGE
    gap, tau2 = step * sensitivity / RECORDS, 2 * step * plan.calibration.noise_variance
    steps = steps_with + steps_without
    distance = sum(gap * c ** (steps - 1 - k) for k in range(steps_with))
    return distance**2 / (tau2 * sum(c ** (2 * (steps - 1 - k)) for k in range(steps)))


def test_epsilon_dp_is_the_renyi_bound_of_each_interval(accountant: Accountant) -> None:
    plan = accountant.plan
    squares = [
        mu_squared(plan, 2 * LIPSCHITZ, steps, 0)
        for steps in (plan.calibration.learn_steps, plan.calibration.delete_steps)
    ]
    for observed, square in (([1], squares[0]), ([1, 2], sum(squares)), (None, sum(squares))):
        found = accountant.epsilon_dp(order=ORDER, observed=observed)
        assert ORDER * square / 2 <= found * (1 + 1e-12)
        assert found == pytest.approx(ORDER * square / 2, rel=1e-3)


def test_epsilon_dd_compares_with_a_record_that_was_never_there(accountant: Accountant) -> None:
    plan = accountant.plan
    later = mu_squared(plan, LIPSCHITZ, plan.calibration.learn_steps, plan.calibration.delete_steps)
    first = mu_squared(
        plan, LIPSCHITZ, plan.calibration.learn_steps, 0
    )  # the second release starts at an observed model: it adds nothing
    for observed, square in ((None, later), ([2], later), ([1, 2], first)):
        found = accountant.epsilon_dd(order=ORDER, observed=observed)
        assert ORDER * square / 2 <= found * (1 + 1e-12)
        assert found == pytest.approx(ORDER * square / 2, rel=1e-3)
    assert accountant.epsilon_dd(erased_at=2) == accountant.epsilon_dd(order=ORDER)


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

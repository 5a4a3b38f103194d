"""Where the accountant has nothing to say, or must not say it; and what budgets of other measures allow."""

from __future__ import annotations

import pytest

from noisygd_delete import Accountant, Budget
from noisygd_delete.accountant import Event, PrivacyFilter, build_report
from noisygd_delete.errors import BudgetExceeded, InvalidParameter
from noisygd_delete.methods.sampled_steps import SampledGaussian
from tests.accountant import checks

from ..bank import plan_by
from .test_accountant import plan

PHI = Event("extractor", 200, 0, SampledGaussian(records=5000, sampling_rate=0.01, noise_multiplier=4.0))


def test_questions_that_need_a_plan_ask_for_it() -> None:
    for ask in (Accountant().planned_event, Accountant().remaining, lambda: Accountant().publication(1)):
        with pytest.raises(InvalidParameter, match=r"Accountant\(plan\)"):
            ask()


def test_a_release_that_reveals_nothing_is_never_the_last() -> None:
    """A plan without steps for requests (none is made today; stores may hold one): any number of them is free."""
    free = plan(budget=Budget(order=10, dp=1.0, deletion=1.0), adjacency="zero-out", utility=False, releases=3)
    free = free.changed(delete_steps_for_deletion=0)
    accountant = Accountant(free)
    accountant.record(accountant.planned_event())
    assert accountant.remaining().publications is None
    assert "not limited" in build_report(accountant).text()


def test_a_lifetime_runs_forwards() -> None:
    accountant = Accountant(plan())
    for _ in range(15):
        accountant.record(accountant.planned_event())
    with pytest.raises(InvalidParameter, match="must come after present_from=3"):
        accountant.deletion(present_from=3, erased_at=3)
    for seen, words in (
        (range(3, 16), "13 releases from 3 to 15"),
        ({*range(3, 16)}, "13 releases from 3 to 15"),
        ((2, 4), "[2, 4]"),
    ):
        assert any(words in line for line in accountant.dp_cumulative(seen).assumptions)


def test_a_filter_admits_events_only_and_idle_ones_for_free() -> None:
    tight = plan(method="noisy-gd:analysis=paper")
    admitted = PrivacyFilter.for_plan(tight)
    with pytest.raises(InvalidParameter, match="must be an Event"):
        admitted.admit("learn")  # type: ignore[arg-type]
    admitted.admit(Event("learn", tight.calibration.learn_steps, 0, tight.mechanism))
    for _ in range(50):
        admitted.admit(Event("unlearn", 0, 1, tight.mechanism))
    assert len(admitted.admitted) == 51
    step = Event("unlearn", tight.calibration.delete_steps, 1, tight.mechanism)
    checks.fill(admitted, step)
    with pytest.raises(BudgetExceeded):
        admitted.admit(step)
    assert admitted.guarantee.renyi(10) <= 1.0 + 1e-12


@pytest.mark.parametrize(
    ("budget", "affordable"),
    [
        (Budget.from_gdp(dp=50.0, deletion=0.1), False),  # an extractor's Rényi curve gives no μ, however small
        (Budget.from_epsilon_delta(dp=(40.0, 1e-5), deletion=(0.5, 1e-5)), True),
        (Budget.from_epsilon_delta(dp=(0.3, 1e-5), deletion=(0.1, 1e-5)), False),
        (Budget(order=8, dp=40.0, deletion=0.1), True),
        (Budget(order=8, dp=0.01, deletion=0.01), False),
    ],
)
def test_an_extractor_counts_against_every_kind_of_budget(budget: Budget, affordable: bool) -> None:
    accountant = Accountant(plan(budget=budget, releases=2), [PHI])
    assert accountant.affordable(accountant.planned_event("relearn")) is affordable
    if affordable and budget.measure == "epsilon-delta":
        assert accountant.what_if(accountant.planned_event("relearn")).dp_cumulative().epsilon(1e-5) <= budget.dp


def test_the_notes_name_what_a_deletion_does_not_reach() -> None:
    accountant = Accountant(plan(), [PHI])
    accountant.record(accountant.planned_event("relearn"))
    assert "published extractor is not taken back" in build_report(accountant).text()
    text = build_report(Accountant(None, accountant.events)).text()
    assert "more requests came" not in text
    assert "not limited" not in text


def test_a_filter_that_was_never_told_of_a_learn_counts_a_request_by_itself() -> None:
    """Of releases that carry noise on: nothing is carried into the first that it admits."""
    carrying = plan_by("sufficient-statistics")
    event = Event("unlearn", 0, 1, carrying.mechanism)
    cap = carrying.mechanism.interval("dp", carrying.problem.adjacency, steps_with=event.exposure)
    admitted = PrivacyFilter(cap)
    admitted.admit(event)
    with pytest.raises(BudgetExceeded):
        admitted.admit(event)

"""Tallies of releases: every figure is that of the releases one by one, and their number does not grow with the releases."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace

import pytest

from noisygd_delete import Accountant
from noisygd_delete.accountant import Account, Event
from noisygd_delete.accountant.history import History
from noisygd_delete.accountant.tallies import MOST_IN_ORDER, MOST_TALLIES, Tally, TallyAccount, tally_events
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.privacy.guarantee import Guarantee, WorstCase
from noisygd_delete.records import EditCounts

from ..bank import PROBLEMS, plan_by
from ..oracles import tallies as oracle
from ..reports.histories import history

SEEDS = range(12)


def listed(events: list[Event]) -> list[dict]:
    return [event.to_dict() for event in events]


def asked(accountant: Accountant, number: int) -> list[Guarantee]:
    """Everything that a certificate asks."""
    after = range(number, accountant.releases + 1)
    return [
        *(accountant.deletion(erased_at=number, notion=notion) for notion in ("erased-vs-never", "pairwise")),
        *(accountant.deletion(erased_at=number, observed=after, notion=n) for n in ("erased-vs-never", "pairwise")),
        accountant.dp(),
        accountant.dp_cumulative(),
        accountant.dp_cumulative(adjacency="zero-out"),
    ]


def cost(guarantee: Guarantee) -> tuple:
    return (
        guarantee.gdp_squared,
        guarantee.rate,
        guarantee.points,
        guarantee.curves,
        guarantee.non_adaptive,
        guarantee.slack,
    )


@pytest.mark.parametrize("method", PROBLEMS)
def test_every_figure_is_that_of_the_releases_one_by_one(method: str) -> None:
    for seed in SEEDS:
        plan, events, number = history(method, seed)
        one_by_one, counted = Accountant(plan, events), tally_events(events, number)
        assert counted.releases == len(events)
        assert counted.served == events[number - 1]
        here, there = asked(counted.accountant(plan), number), asked(one_by_one, number)
        assert [cost(guarantee) for guarantee in here] == [cost(guarantee) for guarantee in there], seed
        if events[-1].counts.erased:
            assert cost(one_by_one.deletion_observed()) == cost(one_by_one.deletion()), seed
        alone = tally_events(events, None).accountant(plan)
        assert cost(alone.dp_cumulative()) == cost(one_by_one.dp_cumulative())
        assert cost(alone.dp()) == cost(one_by_one.dp())


@pytest.mark.parametrize("method", PROBLEMS)
def test_an_oracle_reads_the_same_facts_from_both(method: str) -> None:
    for seed in SEEDS:
        _, events, number = history(method, seed)
        told = json.loads(json.dumps([tally.to_dict() for tally in tally_events(events, number).tallies]))
        assert oracle.facts(oracle.each(told), number) == oracle.facts(listed(events), number), seed
        assert [Tally.from_dict(fields).to_dict() for fields in told] == told


@pytest.mark.parametrize("method", PROBLEMS)
def test_the_sums_alone_answer_for_the_release_that_is_the_last(method: str) -> None:
    for seed in SEEDS:
        _, events, number = history(method, seed)
        whole, sums = History(), History(Account.of(events[:number]))
        for event in events[:number]:
            whole.record(event)
        assert sums.account_after(number) == whole.account_after(number) == sums.account
        assert sums.hidden_past(number, [number]) == whole.hidden_past(number, [number]), seed
        earlier = number - 1
        assert (sums.account_after(0), sums.account_after(earlier)) == (Account(), None if earlier else Account())


@pytest.mark.parametrize("method", PROBLEMS)
def test_the_last_few_releases_have_the_figures_that_they_have_among_all(method: str) -> None:
    for seed in range(3):
        plan, events, _ = history(method, seed, most=12)
        accountant, number = Accountant(plan, events), len(events)
        erased, alone = accountant.deletion_of_each(), accountant.dp_of_each()
        assert (len(erased), len(alone)) == (number - 1, number)
        for release, one in enumerate(erased, 2):
            if events[release - 1].kind == "statistic":
                continue  # reads the table and erases nothing
            asked = accountant.deletion(1, release, [release])
            assert [one.total_rate, one.renyi(8), one.advantage] == pytest.approx(
                [asked.total_rate, asked.renyi(8), asked.advantage], rel=1e-9
            )
        for last in (1, 2, number - 1, number, number + 1):
            assert accountant.deletion_of_each(last) == erased[-min(last, number - 1) :]
            assert accountant.dp_of_each(last) == alone[-min(last, number) :]


@pytest.mark.parametrize("method", PROBLEMS)
def test_a_worst_case_is_the_largest_of_its_cases_in_every_measure(method: str) -> None:
    for seed in range(2):
        plan, events, _ = history(method, seed, most=9)
        accountant = Accountant(plan, events)
        cases = accountant.deletion_of_each() + [accountant.deletion_observed()] * (events[-1].counts.erased > 0)
        worst = WorstCase(tuple(cases))
        for figure in (
            lambda one: one.advantage, lambda one: one.total_rate, lambda one: one.renyi(8), lambda one: one.epsilon(1e-6),
            lambda one: one.delta(0.1), lambda one: one.delta(2.0), lambda one: one.non_adaptive, lambda one: -one.rows,
        ):  # fmt: skip
            expected = max(map(figure, cases))
            assert figure(worst) == expected
            assert figure(WorstCase.of(cases)) == pytest.approx(expected, rel=1e-9)
        known = [one.gdp for one in cases]
        assert worst.gdp == (None if None in known else max(known))


@pytest.mark.parametrize("method", ["noisy-gd", "output-perturbation, warm", "staged"])
def test_a_hundred_thousand_releases_are_a_few_tallies(method: str) -> None:
    plan = plan_by(method)
    events = [Event("learn", plan.calibration.learn_steps, 0, plan.mechanism)]
    kinds = [
        Event("unlearn", plan.calibration.delete_steps, n, plan.mechanism, EditCounts(deleted=n)) for n in range(1, 8)
    ]
    again = Event("relearn", plan.calibration.learn_steps, 1, plan.mechanism, EditCounts(deleted=1))
    events += [again if number % 50 == 49 else kinds[number % 7] for number in range(99_999)]
    for number in (2, 51_234):
        counted = tally_events(events, number)
        assert counted.releases == 100_000
        assert len(counted.tallies) <= 10
    steady = tally_events([events[0], *(kinds[n % 7] for n in range(99_999))], 70_000)
    assert [tally.releases for tally in steady.tallies] == [1, 69_998, 1, 30_000]
    assert sum(tally.event.edits for tally in steady.tallies) == sum(n % 7 + 1 for n in range(99_999))


def test_what_a_method_keeps_in_order_is_kept_in_order() -> None:
    plan = plan_by("noisy-gd:analysis=theorem-5-2")
    own = plan.mechanism
    learn = Event("learn", plan.calibration.learn_steps, 0, own)
    small, large = (Event("unlearn", plan.calibration.delete_steps, n, own, EditCounts(deleted=n)) for n in (1, 2))
    counted = tally_events([learn, *[small] * 5, large, small, small, large], 10)
    assert [(tally.releases, tally.event.edits) for tally in counted.tallies] == [
        (1, 0),
        (5, 5),
        (1, 2),
        (2, 2),
        (1, 2),
    ]
    with pytest.raises(InvalidParameter, match="as many edits each"):
        Tally(replace(small, edits=3, counts=EditCounts(deleted=3)), 2)
    with pytest.raises(InvalidParameter, match="at most 100000 releases"):
        TallyAccount([Tally(learn), Tally(replace(small, edits=0, counts=EditCounts()), MOST_IN_ORDER + 1)], None)


def test_what_cannot_be_is_refused() -> None:
    plan = plan_by("noisy-gd")
    learn = Tally(Event("learn", plan.calibration.learn_steps, 0, plan.mechanism))
    later = Tally(Event("unlearn", plan.calibration.delete_steps, 3, plan.mechanism, EditCounts(deleted=3)), 3)
    other = replace(later, event=replace(later.event, mechanism=replace(plan.mechanism, records=7)))
    for tallies, about, said in (
        ([later, learn], None, "must be a 'learn'"),
        ([learn, other], None, "fresh learn"),
        ([learn, later], 3, "separately"),
        ([learn] * (MOST_TALLIES + 1), None, "at most 20000 kinds"),
    ):
        with pytest.raises(InvalidParameter, match=said):
            TallyAccount(tallies, about)
    for fields in (
        [],
        {},
        {**later.to_dict(), "releases": 0},
        {**later.to_dict(), "releases": 10**12},
        {**later.to_dict(), "releases": True},
        {**later.to_dict(), "more": 1},
        later.event.to_dict(),
    ):
        with pytest.raises(InvalidParameter):
            Tally.from_dict(fields)
    with pytest.raises(InvalidParameter, match="only the store's ledger"):
        tally_events([learn.event], None).events_since(1)


def test_as_many_as_are_allowed_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_by("noisy-gd:analysis=theorem-5-2")
    learn = Event("learn", plan.calibration.learn_steps, 0, plan.mechanism)
    later = Event("unlearn", plan.calibration.delete_steps, 6, plan.mechanism, EditCounts(deleted=6))
    for name, most in (("MOST_TALLIES", 2), ("MOST_IN_ORDER", 4), ("MOST_RELEASES", 3)):
        for limit, allowed in ((most, True), (most - 1, False)):
            with monkeypatch.context() as patch, nullcontext() if allowed else pytest.raises(InvalidParameter):
                patch.setattr(f"noisygd_delete.accountant.tallies.{name}", limit)
                assert TallyAccount([Tally(learn), Tally(later, 3)], None).releases == 4


def test_the_work_does_not_grow_with_what_a_stranger_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """10⁹ releases: their events are never listed, and few sums are made."""
    from noisygd_delete.accountant import Account

    plan, added = plan_by("noisy-gd"), []
    right = Account._add

    def counted_add(self: Account, event: Event) -> None:
        added.append(event)
        right(self, event)

    monkeypatch.setattr(Account, "_add", counted_add)
    learn = Event("learn", plan.calibration.learn_steps, 0, plan.mechanism)
    one = Event("unlearn", plan.calibration.delete_steps, 1, plan.mechanism, EditCounts(deleted=1))
    many = replace(one, edits=10**9, counts=EditCounts(deleted=10**9))
    counted = TallyAccount([Tally(learn), Tally(one), Tally(many, 10**9)], 2)
    figures = asked(counted.accountant(plan), 2)
    assert figures[5].gdp_squared > figures[0].gdp_squared
    assert len(added) == 5

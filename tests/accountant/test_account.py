"""Running sums: whatever they answer, a walk through the releases answers too."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace

import pytest

from noisygd_delete import Accountant, Budget, losses, make_plan
from noisygd_delete.accountant import Account, Event
from noisygd_delete.accountant import serialization as written
from noisygd_delete.accountant.events import compose_costs, iterate_stretches, releases_alone
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.methods.noisy_gd import NoisyGDRun
from noisygd_delete.methods.noisy_gd_paper import PaperNoisyGDRun
from noisygd_delete.methods.objective_perturbation_run import ObjectivePerturbationRun
from noisygd_delete.methods.output_perturbation import OutputPerturbationRun
from noisygd_delete.methods.sampled_steps import SampledGaussian
from noisygd_delete.records import EditCounts

from ..bank import plan_by

CHAIN = {"records": 100, "step_size": 0.3, "noise_variance": 0.05, "strong_convexity": 0.4, "lipschitz": 1.0}
NEAR = plan_by("noisy-gd:analysis=theorem-5-2").mechanism
FACTS = [
    NoisyGDRun(**CHAIN),
    PaperNoisyGDRun(**CHAIN),
    OutputPerturbationRun(**CHAIN, gradient_tolerance=1e-4, warm=True),
    OutputPerturbationRun(**CHAIN, gradient_tolerance=1e-4, warm=False),
    NEAR,
]
SOLVED = ObjectivePerturbationRun(
    records=100,
    linear_term=40.0,
    output_noise=2.0**-6,
    gradient_tolerance=1e-4,
    strong_convexity=0.4,
    lipschitz=1.0,
    smoothness=0.25,
    form="one direction",
    dimension=3,
)
FACTS += [replace(SOLVED, warm=warm, in_place=in_place) for warm in (True, False) for in_place in (True, False)]
EXACT = make_plan(
    losses.Logistic(radius=1.0),
    records=10**9,  # where roundings are no small part of it
    features=3,
    regularization=1e-3,
    budget=Budget.from_gdp(dp=0.4, deletion=0.1),
    method="noisy-gd",
    utility=False,
)
FACTS += [EXACT.mechanism, EXACT.allow_any_order().mechanism]
PHI = SampledGaussian(records=100, sampling_rate=0.05, noise_multiplier=2.0)


def steps(facts, number):
    """A release by objective perturbation has none."""
    return 0 if isinstance(facts, ObjectivePerturbationRun) else number


def some_history(seed, most=14):
    """Releases of one way, or of several after each other, some of which erase nothing; now and then an extractor."""
    chance = random.Random(seed)
    facts = chance.choice(FACTS)
    events = [Event("learn", steps(facts, chance.randrange(1, 40)), 0, facts)]
    while len(events) < chance.randrange(2, most):
        kind = chance.choice(["unlearn", "unlearn", "unlearn", "relearn", "extractor"][: 5 if seed % 3 else 4])
        if kind == "extractor":
            facts = chance.choice(FACTS)
            events += [Event("extractor", 20, 0, PHI), Event("relearn", steps(facts, 9), chance.randrange(2), facts)]
            continue
        if kind == "relearn":
            facts = chance.choice(FACTS)
        events.append(Event(kind, steps(facts, 30 if kind == "relearn" else 7), chance.randrange(3), facts))
    return events


def cost(guarantee):
    return guarantee.gdp_squared, guarantee.rate, guarantee.points, guarantee.curves


def erasing(events):
    return [number for number, event in enumerate(events, start=1) if number > 1 and event.counts.erased]


def disagreements(events):
    """Every question on which the sums and the walk differ, or a kept sum and the same read back."""
    accountant, end, found = Accountant(events=events), len(events) + 1, []
    account = accountant.account
    if account.published != Counter(iterate_stretches(events, present_from=1, erased_at=None, observed=range(1, end))):
        found.append("what all releases cost")
    if account.last_stretches != list(releases_alone(events))[-1]:
        found.append("what the last release costs")
    for erased in erasing(events):
        for seen in (range(1, end), range(erased, end)):
            walked = accountant.deletion(1, erased, list(seen))
            if cost(accountant.deletion(1, erased, seen)) != cost(walked):
                found.append(f"erased at {erased}, {seen} seen")
    kept = json.loads(json.dumps(written.to_dict(account), allow_nan=False))
    if written.from_dict(kept) != account:
        found.append("read back")
    return found


@pytest.mark.parametrize("seed", range(30))
def test_the_sums_and_a_walk_agree(seed):
    assert disagreements(some_history(seed)) == []


@pytest.mark.parametrize("shown", [(8,), (2, 8), (7, 9)])
def test_of_fresh_releases_in_any_order_an_early_erasure_may_be_the_dearest(shown):
    """What each later one shows of it by the order of its rows adds up, and beside a loose solver is half of what presence shows."""
    facts, gone = replace(SOLVED, gradient_tolerance=1e-2, in_place=False), EditCounts(deleted=1)
    accountant = Accountant(events=[Event("learn", 0, 0, facts), *[Event("unlearn", 0, 1, facts, gone)] * 8])
    dearest = accountant.costliest_deletion(shown).renyi(2.0)
    for number in range(2, 10):
        seen = [*filter(number.__gt__, shown), *range(number, 10)]
        assert accountant.deletion(1, number, seen).renyi(2.0) <= dearest * (1 + 1e-12), number


@pytest.mark.parametrize(("warm", "kind"), [(True, "unlearn"), (False, "unlearn"), (True, "relearn")])
def test_sums_over_rows_in_any_order_read_as_ledgers_state_them(warm, kind):
    """A ledger is refused unless what its entries state is what is counted again: version 0.2 wrote 1 here."""
    facts = replace(SOLVED, warm=warm, in_place=False)
    account = Account.of([Event("learn", 0, 0, facts), Event(kind, 0, 1, facts, EditCounts(deleted=1))])
    assert written.to_dict(account)["erasing"]["since"] == 1
    other = replace(account.erasing, since=0)
    world = "erased-vs-never"
    assert cost(compose_costs("deletion", world, Counter(other.parts), account.last)) == cost(
        compose_costs("deletion", world, Counter(account.erasing.parts), account.last)
    )


def test_closeness_is_that_of_the_whole_chain():
    """Theorem 5.2 release by release, in work that does not grow: `deletion_of_each` of 400 releases in 400 steps of the induction."""
    events = [Event("learn", 30, 0, NEAR), *[Event("unlearn", 7, 1 + number % 3, NEAR) for number in range(400)]]
    runs = [(event.steps, event.edits) for event in events]
    assert Account.of(events).closeness == NEAR.gibbs.closeness(runs=runs, **NEAR._chain())
    steps = Counter()
    right = type(NEAR.gibbs).distance_after
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            type(NEAR.gibbs), "distance_after", lambda self, **given: steps.update(["step"]) or right(self, **given)
        )
        accountant = Accountant(events=events)
        assert len(accountant.deletion_of_each()) == 400
    assert steps["step"] <= 2 * len(events)


def test_an_accountant_of_sums_alone_says_what_follows_from_them():
    events = some_history(4)
    whole = Accountant(events=events)
    resumed = Accountant.from_account(None, whole.account)
    assert (resumed.releases, resumed.last) == (whole.releases, events[-1])
    assert resumed.dp_cumulative() == whole.dp_cumulative()
    assert resumed.dp() == whole.dp()
    with pytest.raises(InvalidParameter, match="only the sums"):
        resumed.events


def stale_before(right, self, event):
    before = self.before
    right(self, event)
    self.before = before


def long_chain(right, self, event):
    since = self.since_fresh
    right(self, event)
    self.since_fresh = since + event.steps


@pytest.mark.parametrize("fault", [stale_before, long_chain])
def test_a_sum_that_goes_wrong_is_noticed(fault, monkeypatch):
    right = Account._add
    monkeypatch.setattr(Account, "_add", lambda self, event: fault(right, self, event))
    assert any(disagreements(some_history(seed)) for seed in range(60))

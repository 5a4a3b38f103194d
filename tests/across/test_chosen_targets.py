"""Whoever chooses whose record is erased, or when, after seeing models: every figure about erased records says that it does not cover him,
and the odds that do are never exceeded more often than stated."""

import json
import math
from dataclasses import replace
from datetime import date
from functools import cache

import numpy as np
import pytest
from noisygd_delete_compliance.case import RegisterPolicy, RequestCase
from noisygd_delete_compliance.letter import render_letter
from noisygd_delete_compliance.row import RegisterRow, Served

from noisygd_delete import Accountant, Budget, Curator, EditRequest, Records, losses, make_plan, methods
from noisygd_delete.accountant import Event
from noisygd_delete.accountant.tallies import tally_events
from noisygd_delete.bounds import stopping
from noisygd_delete.curator.stream import NonAdaptive, interact
from noisygd_delete.evidence.claims import KEYS, conditions_in_words
from noisygd_delete.evidence.derivation import claims_of
from noisygd_delete.evidence.facts import Erasure
from noisygd_delete.evidence.store_claims import claims_of_store
from noisygd_delete.privacy.budget import Total
from noisygd_delete.privacy.guarantee import Guarantee
from noisygd_delete.records import EditCounts

from ..oracles import chosen_targets

DATES, MU, DELTA, MANY = 12, 1.0, 0.01, 20
ABOUT_ERASED = {key for key, about in KEYS.items() if about.role == "figure" and not key.startswith("present.")}


@cache
def plan(total=True):
    """One release of μ=1, between two records; a total that twelve of them and the erasure's own fill."""
    cap = Total(70.0, 1e-6) if total else None
    return make_plan(
        losses.PseudoHuber(1.0, 1.0),
        records=12,
        features=1,
        regularization=1.0,
        budget=Budget.from_gdp(dp=MU, deletion=MU),
        method=methods.ObjectivePerturbation(solver="cold"),
        adjacency="replace",
        deletion_notion="pairwise",
        total=cap,
    )


def history(seen, edits):
    """A learn and releases at fixed dates; the edits are served by the release after so many."""
    run = plan().mechanism
    before = [Event("unlearn", 0, 0, run)] * (seen - 1)
    return [Event("learn", 0, 0, run), *before, Event("unlearn", 0, edits.total, run, edits)]


@cache
def claims(seen, total=True):
    """Every claim about what was erased after so many releases: published, and while it waits."""
    both = EditCounts(deleted=1, replaced=1)
    published = claims_of(
        Erasure(rows=2, replaced=1, release=seen + 1), plan(total), tally_events(history(seen, both), seen + 1), DELTA
    )
    pending = claims_of(
        Erasure(rows=2, replaced=1, release=None, status="pending"),
        plan(total),
        tally_events(history(seen, both)[:-1], None),
        DELTA,
    )
    return {claim.key: claim for claim in (*pending, *published)}


@cache
def played(runs=20_000, records=MANY):
    return chosen_targets.play(np.random.default_rng(7), runs=runs, releases=DATES, mu=MU, records=records)


def exceeded(requester, key):
    """The dates at which those who asked are right more often than the figure of that date says, beyond chance."""
    signs, llr = played()
    asked = requester(np.random.default_rng(1), llr)
    found = []
    for seen, (number, share) in chosen_targets.right_by_date(asked, signs, llr).items():
        stated = claims(seen)[key].values["of_hundred"] / 100
        if number >= 50 and share > stated + 4 * math.sqrt(0.25 / number):
            found.append(seen)
    return found


def test_every_figure_about_erased_records_is_among_these():
    assert {key for key in claims(3) if key in ABOUT_ERASED} == ABOUT_ERASED


@pytest.mark.parametrize("key", sorted(key for key in ABOUT_ERASED if not key.endswith(".later")))
def test_a_figure_holds_for_who_fixed_target_and_date_and_says_so(key):
    for requester in chosen_targets.BLIND.values():
        assert exceeded(requester, key) == []
    for requester in chosen_targets.CHOOSING.values():
        assert exceeded(requester, key) != []  # which is what the condition is for
    for seen in (1, 5, DATES):
        assert "target-fixed" in claims(seen)[key].conditions


def test_figures_of_later_models_and_of_records_still_there_say_so_too():
    for key, claim in claims(5).items():
        if KEYS[key].role == "figure":
            assert ("record-fixed" if key.startswith("present.") else "target-fixed") in claim.conditions, key
    for claim in claims_of_store(Accountant(plan(), history(3, EditCounts(deleted=1))), plan()).values():
        if KEYS[claim.key].role == "figure":
            assert {"record-fixed", "target-fixed"} & set(claim.conditions), claim.key


# --- the odds ---


def margin(runs):
    return 4 * math.sqrt(DELTA / runs)


def test_the_odds_are_of_the_cap_and_not_of_what_was_spent():
    stated = {claims(seen)["odds.ever"].values["epsilon"] for seen in (1, 5, DATES)}
    assert len(stated) == 1
    assert stated == {Accountant(plan()).stopping_epsilon(DELTA)}
    assert claims(5)["odds.ever"].conditions == ("total-fixed",)


def test_no_observer_exceeds_the_odds_more_often_than_stated():
    epsilon = claims(5)["odds.ever"].values["epsilon"]
    _, llr = played(200_000, 1)
    assert plan().problem.total.affords(Accountant(plan(), history(DATES, EditCounts(deleted=1))[:-1]).dp_cumulative())
    assert chosen_targets.ever_beyond(llr, epsilon) <= DELTA + margin(200_000)


CAP = MU * math.sqrt(DATES)  # filled exactly by the dates


def beyond(epsilon, records=1):
    runs = 200_000 if records == 1 else 20_000
    _, llr = played(runs, records)
    return chosen_targets.ever_beyond(llr, epsilon) / DELTA


def test_the_odds_under_a_full_cap_hold_and_the_planted_faults_do_not():
    epsilon = stopping.gdp_stopping_epsilon(mu=CAP, delta=DELTA)
    assert 0.5 < beyond(epsilon) <= 1 + margin(200_000) / DELTA
    spread = stopping.gdp_stopping_epsilon(mu=CAP, delta=DELTA, candidates=MANY)
    assert 0.3 < beyond(spread, MANY) <= 1 + margin(20_000) / DELTA
    assert beyond(epsilon, MANY) > 5  # m left out
    realised = stopping.gdp_stopping_epsilon(mu=MU * math.sqrt(5), delta=DELTA)
    assert beyond(realised) > 5  # the sum after five releases in place of the cap


@pytest.mark.parametrize("mu", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("delta", [1e-6, 1e-3, 0.05])
def test_a_release_of_one_bit_attains_the_odds_and_exceeds_those_of_reflection(mu, delta):
    def either_way(probability):
        return lambda mu, epsilon: (1 + math.exp(-epsilon)) * probability(mu, epsilon)

    epsilon = stopping.gdp_stopping_epsilon(mu=mu, delta=delta)
    truth = either_way(chosen_targets.coarse_release)(mu, epsilon)
    assert truth <= delta * (1 + 1e-6)
    assert truth >= delta * (1 - 1e-3)
    reflected = chosen_targets.least_epsilon(either_way(chosen_targets.by_reflection), mu, delta)
    assert chosen_targets.coarse_release(mu, reflected) * (1 + math.exp(-reflected)) > 1.1 * delta


@pytest.mark.parametrize("order", [2.0, 7.0, 30.0])
def test_odds_by_ville_cover_gaussian_releases_under_a_renyi_cap(order):
    cost = order * CAP**2 / 2
    epsilon = stopping.renyi_stopping_epsilon(order=order, renyi=cost, delta=DELTA)
    assert beyond(epsilon) <= 1 + margin(200_000) / DELTA
    assert epsilon >= stopping.gdp_stopping_epsilon(mu=CAP, delta=DELTA)
    many = stopping.renyi_stopping_epsilon(order=order, renyi=cost, delta=DELTA, candidates=MANY)
    assert many >= epsilon + math.log(MANY) / (order - 1) * (1 - 1e-6)


def test_odds_by_ville_are_nearly_attained_at_their_order():
    """Two points: the likelihood ratio is e^ε with the largest probability that the order allows."""
    order, epsilon = 3.0, 4.0
    for probability in (1e-3, 1e-2, 0.1):  # P₁ of the point whose ratio is e^ε
        rare = probability * math.exp(-epsilon)
        cost = chosen_renyi(order, probability, rare)
        bound = math.exp(stopping.renyi_stopping_log_delta(order=order, renyi=cost, epsilon=epsilon))
        assert probability * (1 + math.exp(-epsilon)) <= bound
    assert bound <= 3 * probability


def chosen_renyi(order, p, r):
    ways = [p**order * r ** (1 - order) + (1 - p) ** order * (1 - r) ** (1 - order)]
    ways.append(r**order * p ** (1 - order) + (1 - r) ** order * (1 - p) ** (1 - order))
    return math.log(max(ways)) / (order - 1)


# --- where a total is enforced, and where none is ---


@pytest.mark.parametrize(
    "total",
    [None, Total(70.0, 1e-6, gdp=True, late=True), Total(70.0, 1e-6)],
    ids=["none", "late", "in no measure"],
)
def test_without_a_total_that_was_fixed_beforehand_no_odds_are_stated(total):
    capped = plan(total=False)
    capped = replace(capped, problem=replace(capped.problem, total=total))
    assert Accountant(capped).stopping_epsilon(DELTA) is None
    assert "odds.ever" not in claims_of_store(Accountant(capped), capped)
    assert "odds.ever" not in claims(5, False)


def test_a_ledger_beyond_its_total_states_no_odds():
    small = make_plan(
        losses.Logistic(1.0), records=100, features=2, regularization=0.1, budget=Budget.from_gdp(dp=1.0, deletion=1.0),
        method=methods.ObjectivePerturbation(solver="cold"), total=(5.0, 1e-6),
    )  # fmt: skip
    events = [Event("learn", 0, 0, small.mechanism)]
    assert Accountant(small, events).stopping_epsilon(1e-6) > 0
    assert Accountant(small, [*events, *[Event("unlearn", 0, 0, small.mechanism)] * 40]).stopping_epsilon(1e-6) is None


@pytest.mark.parametrize(
    ("total", "cost", "odds"),
    [
        (
            Total(4.0, 1e-6, order=6.0),
            lambda most: Guarantee("dp", "replace", rate=most / 6.0),
            lambda most: stopping.renyi_stopping_epsilon(order=6.0, renyi=most, delta=1e-6),
        ),
        (
            Total(4.0, 1e-6, gdp=True),
            lambda most: Guarantee("dp", "replace", gdp_squared=most**2),
            lambda most: stopping.gdp_stopping_epsilon(mu=most, delta=1e-6),
        ),
    ],
    ids=["order", "mu"],
)
def test_a_total_states_odds_above_every_cost_that_it_affords(total, cost, odds):
    low, high = 0.0, 4.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if total.affords(cost(middle)) else (low, middle)
    assert low > 0.5
    assert odds(low) <= total.stopping_epsilon(1e-6) <= odds(low) * (1 + 1e-6)


def test_the_same_total_about_other_worlds_was_fixed_late():
    facts = {
        "records": 100, "features": 2, "regularization": 0.1, "budget": Budget.from_gdp(dp=0.5, deletion=0.5),
        "method": methods.ObjectivePerturbation(solver="cold"), "total": (20.0, 1e-6),
    }  # fmt: skip
    former = make_plan(losses.Logistic(1.0), adjacency="zero-out", **facts)
    assert make_plan(losses.Logistic(1.0), adjacency="zero-out", **facts).after(former).problem.total.is_filter
    for other in ({"adjacency": "replace"}, {"adjacency": "zero-out", "rows_per_subject": 2}):
        assert not make_plan(losses.Logistic(1.0), **facts, **other).after(former).problem.total.is_filter


@pytest.mark.parametrize("code", ["en", "de"])
def test_a_letter_states_the_odds_beside_the_fixed_figure(code):
    case = RequestCase(received="2026-05-04T09:30:00+02:00")
    served = Served(edited="2026-05-05T10:00:00Z", rows=1, published="2026-05-05T10:00:00Z", release=6)
    policy = RegisterPolicy(controller="c", contact="d", authority="a", purposes="p", models="m")
    line = RegisterRow("t0k3n", case, served, policy, date(2026, 5, 20))
    with_total = claims_of(Erasure(rows=1, release=6), plan(), tally_events(history(5, EditCounts(deleted=1)), 6), 1e-6)
    without = [claim for claim in with_total if claim.key != "odds.ever"]
    pages = [render_letter(line, promised, code=code).replace("&#39;", "'") for promised in (with_total, without)]
    claim = next(claim for claim in with_total if claim.key == "odds.ever")
    stated = (f" {math.ceil(claim.values['odds'])} ", "1000000", conditions_in_words(claim, code))
    assert [all(text in page for text in stated) for page in pages] == [True, False]
    for figure in (claim for claim in with_total if claim.key.startswith("erased.")):
        assert conditions_in_words(figure, code) in pages[0]


@pytest.mark.parametrize("total", [True, False])
def test_a_stream_states_the_odds_where_a_total_is_enforced(total):
    records = Records(np.ones((6, 1)), np.arange(6.0), ids=[str(one) for one in range(6)], slots=12)
    curator = Curator(records, plan(total))
    curator.learn(np.random.default_rng(0))
    report = interact(curator, NonAdaptive([EditRequest.delete(["1"]), EditRequest.delete(["2"])]))
    stated = json.loads(json.dumps(report.to_dict()))["odds"]
    epsilon = curator.accountant.stopping_epsilon(1e-6)
    assert stated == (None if not total else {"epsilon": epsilon, "delta": 1e-6})
    if total:
        assert epsilon > report.everything.epsilon(1e-6)


def test_the_value_at_the_end_in_place_of_the_running_maximum_is_seen():
    """Of many small releases, whose maximum is well above their last value."""
    _, llr = chosen_targets.play(np.random.default_rng(3), runs=40_000, releases=192, mu=CAP / math.sqrt(192))
    right = stopping.gdp_stopping_epsilon(mu=CAP, delta=DELTA)
    last = chosen_targets.least_epsilon(chosen_targets.at_the_end, CAP, DELTA)
    assert chosen_targets.ever_beyond(llr, right) <= DELTA + margin(40_000)
    assert chosen_targets.ever_beyond(llr, last) > DELTA + margin(40_000)

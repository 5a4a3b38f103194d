"""Queries of the accountant: what counts, what does not, what is refused."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace

import pytest

from noisygd_delete import Accountant, Budget, losses, make_plan
from noisygd_delete.accountant import Event, PrivacyFilter, build_report
from noisygd_delete.errors import InvalidParameter, NotLearned
from noisygd_delete.methods.noisy_gd import NoisyGDRun
from noisygd_delete.methods.noisy_gd_composition import CompositionNoisyGDRun
from noisygd_delete.methods.noisy_gd_paper import PaperNoisyGDRun
from noisygd_delete.methods.sampled_steps import SampledGaussian

CHAIN = {"records": 100, "step_size": 0.3, "noise_variance": 0.05, "strong_convexity": 0.4, "lipschitz": 1.0}
FACTS = NoisyGDRun(**CHAIN)
LEARN = Event("learn", 30, 0, FACTS)
UNLEARN = Event("unlearn", 6, 1, FACTS)
RELEARN = Event("relearn", 30, 0, FACTS)
PHI = Event("extractor", 200, 0, SampledGaussian(records=100, sampling_rate=0.05, noise_multiplier=2.0))


def plan(**changes):
    arguments = {"records": 5000, "features": 20, "regularization": 1e-2, "method": "noisy-gd"}
    return make_plan(
        losses.Logistic(radius=1.0), **{**arguments, "budget": Budget(order=10, dp=1.0, deletion=0.1), **changes}
    )


def test_composition_never_forgets_but_a_fresh_learn_does():
    facts = CompositionNoisyGDRun(**CHAIN)
    learn, unlearn, again = (Event(kind, 30, 1, facts) for kind in ("learn", "unlearn", "relearn"))
    clean = [Accountant(events=[learn, *[unlearn] * k]).deletion(1, 2, [k + 1]).renyi(4) for k in (1, 5)]
    assert clean[0] == clean[1] > 0
    assert Accountant(events=[learn, unlearn, again]).deletion(1, 2, [3]).renyi(4) == 0
    notes = " ".join(build_report(Accountant(events=[learn, unlearn, again])).notes)
    assert "no number of clean steps forgets" in notes
    assert "one more publication" in notes


def test_adaptive_requests_lie_between_hidden_and_fully_observed():
    accountant = Accountant(events=[LEARN, *[UNLEARN] * 8])
    afterwards = accountant.deletion(1, 9, [9]).gdp_squared
    everything = accountant.deletion(1, 9).gdp_squared
    answers = [accountant.deletion_adaptive(p, 1, 9).gdp_squared for p in range(10)]
    assert answers[0] == pytest.approx(afterwards)
    assert answers[8] == answers[9] == pytest.approx(everything)
    assert answers == sorted(answers)
    for p in range(1, 8):
        for chosen in ([*range(1, p + 1)], [*range(9 - p, 9)], [1, *range(10 - p, 9)]):
            assert accountant.deletion(1, 9, [*chosen, 9]).gdp_squared <= answers[p] * (1 + 1e-12)
    assert "whichever they are" in accountant.deletion_adaptive(3, 1, 9).assumptions[-1]


def test_adaptive_requests_under_theorem_5_1_cost_deletion_plus_p_times_dp():
    facts = PaperNoisyGDRun(**CHAIN)
    accountant = Accountant(events=[Event("learn", 4000, 0, facts), *[Event("unlearn", 4000, 1, facts)] * 30])
    full = facts.interval("deletion", "erased-vs-never", steps_with=math.inf)
    left = facts.interval("deletion", "erased-vs-never", steps_with=math.inf, steps_without=4000)
    assert accountant.deletion_adaptive(3).renyi(7) == pytest.approx(left.renyi(7) + 3 * full.renyi(7), rel=1e-9)


def test_an_extractor_counts_with_the_first_model_that_carries_it():
    accountant = Accountant(events=[PHI, LEARN, UNLEARN])
    trained = PHI.mechanism.interval("dp", "zero-out", steps_with=200)
    heads = Accountant(events=[LEARN, UNLEARN])
    for seen, head in (([1, 2, 3], [1, 2]), ([3], [2]), ([1, 3], [2])):
        both = accountant.dp_cumulative(seen, adjacency="zero-out").renyi(4)
        assert both == pytest.approx(trained.renyi(4) + heads.dp_cumulative(head, adjacency="zero-out").renyi(4))
    assert accountant.dp_cumulative([1], adjacency="zero-out").renyi(4) == trained.renyi(4)
    # a deletion does not take it back; an extractor trained afterwards does, for who saw nothing before
    assert accountant.deletion(1, 3, [3]).renyi(4) > trained.renyi(4)
    assert accountant.deletion_later_releases().renyi(4) == accountant.deletion(1, 3, [3]).renyi(4)
    again = accountant.what_if(PHI, RELEARN)
    assert again.deletion(1, 4, [4, 5]).renyi(4) == 0
    with pytest.raises(InvalidParameter, match="extractor"):
        accountant.what_if(PHI, UNLEARN)


def test_an_extractor_covers_one_row_and_so_does_its_sum_with_a_head_for_subjects():
    subjects = NoisyGDRun(**CHAIN, rows_per_subject=5)
    accountant = Accountant(events=[PHI, Event("learn", 3, 0, subjects)])
    assert accountant.dp_cumulative().rows == 1
    assert accountant.dp_cumulative([2]).unit == "one row"
    assert Accountant(events=[Event("learn", 3, 0, subjects)]).dp().unit == "one data subject with at most 5 rows"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Event("learn", 3, 0, PHI.mechanism), "SampledGaussian"),
        (lambda: Event("extractor", 3, 0, FACTS), "SampledGaussian"),
        (lambda: Event("insert", 3, 1, FACTS), "insert"),
        (lambda: Accountant(events=[LEARN]).record(Event("unlearn", 3, 1, replace(FACTS, records=101))), "relearn"),
        (lambda: Accountant(events=[UNLEARN]), "first release"),
    ],
)
def test_kind_and_facts_must_go_together(make, words):
    with pytest.raises(InvalidParameter, match=words):
        make()


@pytest.mark.parametrize("event", [LEARN, UNLEARN, RELEARN, PHI], ids=lambda event: event.kind)
def test_events_survive_json(event):
    assert Event.from_dict(json.loads(json.dumps(event.to_dict()))) == event
    for broken in ({**event.to_dict(), "extra": 1}, {k: v for k, v in event.to_dict().items() if k != "steps"}):
        with pytest.raises(InvalidParameter):
            Event.from_dict(broken)


def test_the_filter_promises_its_cap_whatever_was_realised():
    gate, accountant = PrivacyFilter.for_plan(plan(releases=5)), Accountant(plan(releases=5))
    for kind in ("learn", "unlearn"):
        gate.admit(accountant.planned_event(kind))
        assert gate.guarantee.with_slack().renyi(10) == pytest.approx(1.0)
    assert "set beforehand" in gate.guarantee.assumptions[-1]


def test_nothing_released_is_an_error_with_advice():
    with pytest.raises(InvalidParameter, match=r"Accountant\(plan\)"):
        Accountant(events=[LEARN, UNLEARN]).deletion_later_releases()
    for question in (
        Accountant().dp_cumulative,
        Accountant().deletion,
        Accountant().dp,
        lambda: build_report(Accountant()),
    ):
        with pytest.raises(NotLearned, match="learn"):
            question()


def test_the_report_is_text_with_a_lower_bound_by_attacks():
    accountant = Accountant(plan(releases=50))
    accountant.record(accountant.planned_event("learn", edits=0))
    accountant.record(accountant.planned_event(), times=4)
    statement = build_report(accountant, models_seen=1, attack_advantage=0.4)
    bound = json.loads(json.dumps(statement.to_dict(), allow_nan=False))["lower_bound"]
    assert bound["sharp"] >= bound["theorem_4_5"] > 0
    text = statement.text()
    for phrase in ("was it ever there?", "was it x or x′?", "publications left", "Theorem 4.5", "replace, one row"):
        assert phrase in text


def test_within_the_budget_is_said_of_a_cap_on_the_sum_only():
    """With a budget per release, any number of publications "fits": the sum has no cap, and the words say so."""
    said = {}
    for releases in (1, 3, 50):
        accountant = Accountant(plan(releases=releases))
        accountant.record(accountant.planned_event("learn", edits=0))
        said[releases] = build_report(accountant).text()
    assert "within the budget" not in said[1]
    assert "no cap was set on the sum" in said[1]
    assert "beyond the budget: publication would be withheld" in said[3]
    assert "within the budget" in said[50]
    assert "no cap" not in said[3] + said[50]


QUERIES = """
import sys
from noisygd_delete.accountant import Accountant, Event, build_report
from noisygd_delete.methods.noisy_gd import NoisyGDRun
{fault}
facts = NoisyGDRun(records=26000, step_size=3.98, noise_variance=2.9e-5, strong_convexity=1e-3, lipschitz=1.0)
def accountant_of(size):
    accountant = Accountant(events=[Event("learn", 1000, 0, facts)])
    for number in range(1, size):
        accountant.record(Event("unlearn", 100 + number % 3, 1 + number % 2, facts))
    return accountant
QUERIES = dict(
    record=lambda a: accountant_of(len(a.events)), dp=lambda a: a.dp(), dp_of_each=lambda a: a.dp_of_each(),
    cumulative=lambda a: a.dp_cumulative(), part=lambda a: a.dp_cumulative(range(1, len(a.events), 3), present_from=5),
    deletion=lambda a: a.deletion(7, len(a.events) // 2),
    seen=lambda a: a.deletion(7, len(a.events) // 2, range(2, len(a.events), 5)),
    each=lambda a: a.deletion_of_each(), totals=lambda a: a.dp_cumulative_of_each(),
    adaptive=lambda a: a.deletion_adaptive(3),
    what_if=lambda a: a.what_if(a.events[-1]).dp_cumulative(), report=lambda a: build_report(a, models_seen=3).text(),
)
def lines_run(query, accountant):
    # lines of Python executed: the work of a query, the same on every machine
    lines = 0
    def step(frame, event, argument):
        nonlocal lines
        lines += event == "line"
        return step
    sys.settrace(step)
    try:
        query(accountant)
    finally:
        sys.settrace(None)
    return lines
small, large = accountant_of(500), accountant_of(2000)
for name, query in QUERIES.items():
    query(small)  # caches and imports
    few, many = lines_run(query, small), lines_run(query, large)
    assert many <= 4.4 * few, (name, few, many)
huge = accountant_of(10_000)
for query in QUERIES.values():
    query(huge)
assert "torch" not in sys.modules
assert "opacus" not in sys.modules
"""

QUADRATIC = """
once = Accountant.deletion
def again_and_again(self, *given, **named):
    for number in range(len(self.events) // 40):
        once(self, *given, **named)
    return once(self, *given, **named)
Accountant.deletion = again_and_again
"""


@pytest.mark.parametrize("fault", ["", QUADRATIC], ids=["as it is", "quadratic"])
def test_ten_thousand_releases_in_one_process_without_torch(fault):
    """Every query on a ledger of 10,000 releases; that the cost is linear is counted in lines executed, not timed."""
    done = subprocess.run(
        [sys.executable, "-c", QUERIES.replace("{fault}", fault)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if fault:
        assert "deletion" in done.stderr.splitlines()[-1]
    else:
        assert done.returncode == 0, done.stderr

"""Numbers about the records, charged beside the models: by an account without them, and what each of them costs by itself."""

from __future__ import annotations

import math
import random

import pytest

from noisygd_delete import Budget, losses
from noisygd_delete.accountant import Accountant, Event, EventKinds
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.methods import CountedRecords
from noisygd_delete.records import EditCounts
from tests.bank import sized_plan

PLANS = [
    sized_plan(losses.Logistic(1.0), 500, 3, 0.05, Budget(order=10), method=method, releases=4)
    for method in ("noisy-gd", "objective-perturbation", "output-perturbation")
]
COUNTED = CountedRecords(records=500, deviation=64.0)


def counts(deviation: float = 64.0) -> Event:
    return Event(EventKinds.STATISTIC, 1, 0, CountedRecords(records=500, deviation=deviation))


def history(plan, rng: random.Random) -> list[Event]:
    """Learns, deletions, insertions and statistics, of two sizes of noise."""
    accountant = Accountant(plan)
    events = [accountant.planned_event("learn", 0)]
    for _ in range(rng.randrange(3, 12)):
        kind = rng.choice(["statistic", "statistic", "delete", "insert", "relearn"])
        if kind == "statistic":
            events.append(counts(rng.choice([32.0, 64.0])))
        else:
            edits = EditCounts(inserted=1) if kind == "insert" else EditCounts(deleted=rng.choice([1, 2]))
            events.append(accountant.planned_event("relearn" if kind == "relearn" else "unlearn", edits))
    return events


def without(plan, events: list[Event]) -> tuple[Accountant, dict[int, int]]:
    """The account of the models alone, and what each release is numbered there: a statistic as the model that it was made with."""
    numbers, made = {}, 0
    for number, event in enumerate(events, start=1):
        made += event.kind != "statistic"
        numbers[number] = made
    return Accountant(plan, [event for event in events if event.kind != "statistic"]), numbers


def cost(events: list[Event], world: str, observed) -> float:
    """Σ Δ²/τ² of the statistics among these."""
    apart = 2.0 if world in ("replace", "pairwise") else 1.0  # squared
    told = [events[number - 1] for number in observed if events[number - 1].kind == "statistic"]
    return sum(apart / event.mechanism.deviation**2 for event in told)


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.method.name)
@pytest.mark.parametrize("seed", range(12))
def test_every_answer_is_that_of_the_models_and_of_the_statistics_that_read_the_record(plan, seed) -> None:
    rng = random.Random(seed)
    events = history(plan, rng)
    accountant, (models, numbers) = Accountant(plan, events), without(plan, events)
    every = range(1, len(events) + 1)

    def agree(found, expected, world, observed) -> None:
        assert found.rate == pytest.approx(expected.rate)
        assert found.gdp_squared == pytest.approx(expected.gdp_squared + cost(events, world, observed), rel=1e-9)
        assert dict(found.curves) == pytest.approx(dict(expected.curves))

    for world in ("replace", "zero-out"):
        agree(accountant.dp_cumulative(adjacency=world), models.dp_cumulative(adjacency=world), world, every)
        seen = sorted(rng.sample(every, rng.randrange(1, len(events) + 1)))
        also = {numbers[number] for number in seen}
        agree(accountant.dp_cumulative(seen, adjacency=world), models.dp_cumulative(also, adjacency=world), world, seen)
        start = rng.choice(seen)
        while events[start - 1].kind == "statistic":
            start -= 1
        agree(
            accountant.dp_cumulative(present_from=start, adjacency=world),
            models.dp_cumulative(present_from=numbers[start], adjacency=world),
            world,
            range(start, len(events) + 1),
        )
        for number in every:
            agree(accountant.dp(number, adjacency=world), models.dp(numbers[number], adjacency=world), world, [number])
    for number, alone in zip(every, accountant.dp_of_each(), strict=True):
        agree(alone, accountant.dp(number), "", [])
    erasing = [n for n in every if n > 1 and events[n - 1].counts.erased]
    for number in erasing:
        for world in ("erased-vs-never", "pairwise"):
            told = accountant.deletion(1, number, notion=world), models.deletion(1, numbers[number], notion=world)
            agree(*told, world, range(1, number))
            later, also = range(number, len(events) + 1), range(numbers[number], models.releases + 1)
            told = (
                accountant.deletion(1, number, later, notion=world),
                models.deletion(1, numbers[number], also, notion=world),
            )
            agree(*told, world, [])
    if erasing:
        adaptive = accountant.deletion_adaptive(len(events), 1, erasing[-1])
        assert adaptive.gdp_squared == pytest.approx(accountant.deletion(1, erasing[-1]).gdp_squared)
    each = accountant.dp_cumulative_of_each()
    assert each[-1].gdp_squared == pytest.approx(accountant.dp_cumulative().gdp_squared)
    assert accountant.model_release == max(n for n in every if events[n - 1].kind != "statistic")


def test_many_equal_statistics_are_recorded_at_once() -> None:
    plan = PLANS[0]
    one, many = Accountant(plan), Accountant(plan)
    for accountant in (one, many):
        accountant.record(accountant.planned_event("learn", 0))
    for _ in range(9):
        one.record(counts())
    many.record(counts(), 9)
    assert many.account == one.account
    many.record(many.planned_event("unlearn"))
    assert many.account.statistic is None
    assert many.model_release == 11


def test_a_statistic_spends_the_budget_of_all_releases() -> None:
    plan = PLANS[0]
    accountant = Accountant(plan)
    accountant.record(accountant.planned_event("learn", 0))
    dear = Event(EventKinds.STATISTIC, 1, 0, CountedRecords(records=500, deviation=1.0))
    assert not accountant.affordable(dear)
    before = accountant.remaining().publications
    accountant.record(counts(4.0))
    assert accountant.remaining().publications < before


def test_what_cannot_have_happened_is_refused() -> None:
    plan = PLANS[0]
    with pytest.raises(InvalidParameter, match="learn first"):
        Accountant(plan, [counts()])
    with pytest.raises(InvalidParameter, match="must be 0 for a statistic"):
        Event(EventKinds.STATISTIC, 1, 1, COUNTED)
    with pytest.raises(InvalidParameter, match="does not go with"):
        Event(EventKinds.UNLEARN, 1, 0, COUNTED)
    with pytest.raises(InvalidParameter, match="does not go with"):
        Event(EventKinds.STATISTIC, 1, 0, plan.mechanism)
    with pytest.raises(InvalidParameter, match="no noisy steps"):
        Event(EventKinds.STATISTIC, 2, 0, COUNTED)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_counts_of_neighbouring_tables_are_never_further_apart_and_once_that_far(rows) -> None:
    """Every way in which the rows of one subject can lie in three cells, against every other, and against their absence."""
    ways = [(a, b, rows - a - b) for a in range(rows + 1) for b in range(rows + 1 - a)]
    facts = CountedRecords(records=10, deviation=8.0, rows_per_subject=rows)
    farthest = max(math.dist(one, other) for one in ways for other in ways)
    absent = max(math.dist(one, (0, 0, 0)) for one in ways)
    for world, apart in (("replace", farthest), ("zero-out", absent)):
        found = facts.interval("dp", world, steps_with=1)
        assert math.sqrt(found.gdp_squared) == pytest.approx(apart / 8.0, rel=1e-9)
        assert math.sqrt(found.gdp_squared) >= apart / 8.0
        assert found.rows == rows
    assert facts.interval("deletion", "erased-vs-never", steps_with=0, steps_without=1).gdp_squared == 0


@pytest.mark.parametrize("deviation", [0.0, 0.5, 3.0, 2.0**25, float("nan")])
def test_only_noise_that_is_drawn_exactly_is_accounted(deviation) -> None:
    with pytest.raises(InvalidParameter):
        CountedRecords(records=10, deviation=deviation)

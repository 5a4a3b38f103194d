"""Random histories of every method: filter, statement, sums as JSON and passes over all releases agree with one question at a time."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from noisygd_delete import Accountant
from noisygd_delete.accountant import Account, Event, PrivacyFilter, build_report, serialization
from noisygd_delete.errors import BudgetExceeded, InvalidParameter
from noisygd_delete.methods import CountedRecords
from noisygd_delete.privacy.guarantee import Guarantee
from noisygd_delete.privacy.sentences import format_bound

from ..bank import PROBLEMS, plan_by
from ..reports.histories import history

NOTIONS = ("erased-vs-never", "pairwise")
COUNTED = CountedRecords(records=2000, deviation=64.0)
FIGURES = (
    lambda one: one.advantage,
    lambda one: one.renyi(2.0),
    lambda one: one.renyi(10.0),
    lambda one: one.with_slack().epsilon(1e-6),
)


@pytest.mark.parametrize("method", PROBLEMS)
def test_a_filter_spends_what_the_account_spends(method: str) -> None:
    """Its cap the total of the first releases, it admits these, and the next one only if that adds nothing."""
    for seed in range(6):
        plan, events, _ = history(method, seed, most=12)
        totals = [Accountant(plan, events[:number]).dp_cumulative() for number in range(1, len(events) + 1)]
        for number in {1, 2, len(events) // 2, len(events) - 1}:
            cap = totals[number - 1]
            gate = PrivacyFilter(cap)
            for event in events[:number]:
                gate.admit(event)
            assert gate.allows(events[number]) == cap.covers(totals[number]), (seed, number)
            if not cap.covers(totals[number]):
                with pytest.raises(BudgetExceeded):
                    gate.admit(events[number])
            assert gate.admitted == tuple(events[:number])


@pytest.mark.parametrize("method", PROBLEMS)
def test_answers_about_each_release_are_those_asked_one_by_one(method: str) -> None:
    for seed in range(3):
        plan, events, _ = history(method, seed, most=12)
        accountant, number = Accountant(plan, events), len(events)
        some = sorted(random.Random(seed).sample(range(1, number + 1), 3))
        totals = [Accountant(plan, events[:last]).dp_cumulative() for last in range(1, number + 1)]
        assert accountant.dp_cumulative_of_each() == totals
        assert accountant.dp_cumulative_of_each(some) == [totals[place - 1] for place in some]
        alone = [accountant.dp(place).renyi(4) for place in range(1, number + 1)]
        assert [one.renyi(4) for one in accountant.dp_of_each()] == pytest.approx(alone, rel=1e-12)
        assert accountant.dp_of_each(at=some) == [accountant.dp_of_each()[place - 1] for place in some]
        for last in (1, 3, number, number + 2):
            assert accountant.latest(last) == list(enumerate(events, 1))[-last:]
        models = [place for place, event in enumerate(events, 1) if event.kind not in ("extractor", "statistic")]
        assert accountant.model_release == models[-1]
        assert accountant.last == [event for event in events if event.kind != "statistic"][-1]


@pytest.mark.parametrize("method", PROBLEMS)
def test_equal_releases_at_once_are_that_many_releases(method: str) -> None:
    for seed in range(6):
        chance = random.Random(seed)
        _, events, _ = history(method, seed, most=9)
        limit = getattr(events[-1].mechanism, "releases", 60)
        again = events[-1] if not events[-1].mechanism.carries else replace(events[-1], kind="relearn")
        singly, at_once = Account.of(events), Account.of(events)
        for event in (again, Event("statistic", 1, 0, COUNTED)) if limit == 60 else (again,):
            times = chance.choice([1, 2, 3, 4, 5, 50])
            at_once.record(event, times)
            for _ in range(times):
                singly.record(event)
            listed = Account.of([*events, *[event] * times]) if event is again else singly
            assert at_once == singly == listed, (seed, event.kind, times)


STEPPING = ["noisy-gd", "noisy-gd:analysis=paper, over the reals"]
MIXED = [name for name in PROBLEMS if name != "noisy-gd:analysis=theorem-5-2"]  # all of 2,000 records


def mixed_history(seed: int) -> list[Event]:
    """Noisy gradient descent of random numbers of steps, and perhaps another method before or after it."""
    chance, events = random.Random(seed), list[Event]()
    methods = [STEPPING[seed % 2], *chance.sample(MIXED, chance.randrange(2))]
    for method in chance.sample(methods, len(methods)):
        first, *later = history(method, seed, most=6)[1]
        for event in (replace(first, kind="relearn" if events else "learn"), *later):
            of_steps = method in STEPPING and event.kind not in ("extractor", "statistic")
            events.append(replace(event, steps=chance.choice([1, 3, 40])) if of_steps else event)
    return events


@pytest.mark.parametrize("seed", range(8))
def test_the_costliest_erasure_has_the_largest_of_every_figure(seed: int) -> None:
    """Of all erasures asked one by one, for who saw some releases before them and all from them on."""
    events = mixed_history(seed)
    accountant, end = Accountant(None, events), len(events) + 1
    exact = not any(facts.shows_order or facts.carries for facts in accountant.account.mechanisms)
    erasing = [n for n, event in enumerate(events, 1) if n > 1 and event.counts.erased and event.kind != "statistic"]
    statistics = [n for n, event in enumerate(events, 1) if event.kind == "statistic"]
    for shown in ((), (1,), (3,), statistics, range(1, end)):
        worst = accountant.costliest_deletion(shown)
        asked = [accountant.deletion(1, n, [*(s for s in shown if s < n), *range(n, end)]) for n in erasing]
        for figure in FIGURES:
            most = max(map(figure, asked))
            assert figure(worst) >= most * (1 - 1e-9), (shown, figure(worst), most)
            assert not exact or figure(worst) <= most * (1 + 1e-9)


# ---------------------------------------------------------------- the statement


def brief(guarantee: Guarantee, delta: float, order: float) -> dict[str, Any]:
    told = guarantee.with_slack()
    return {
        "adjacency": str(told.adjacency), "unit": told.unit, "renyi": {"order": order, "epsilon": told.renyi(order)}, "gdp": told.gdp,
        "epsilon": told.epsilon(delta), "delta": delta, "advantage": told.advantage, "proven": told.proven,
    }  # fmt: skip


def measured(guarantee: Guarantee, delta: float, order: float) -> dict[str, Any]:
    told = guarantee.with_slack()
    return {
        **brief(guarantee, delta, order), "advantage_between_records": told.advantage_between_records, "conversions": told.conversions(delta),
        "source": told.source, "assumptions": list(told.assumptions),
    }  # fmt: skip


def line(told: dict[str, Any]) -> str:
    """The figures of one guarantee as the text shows them."""
    mu = "" if told["gdp"] is None else f"μ={format_bound(told['gdp'])}, "
    return (
        f"(ε={format_bound(told['epsilon'])}, δ={format_bound(told['delta'])}), {mu}Rényi (q={told['renyi']['order']:g}, "
        f"ε={format_bound(told['renyi']['epsilon'])}), advantage at most {format_bound(told['advantage'], percent=True)}"
    )


def finite(value: Any) -> Any:
    """As JSON holds it: without infinities."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return None if value == math.inf else value


@pytest.mark.parametrize("method", ["noisy-gd", "staged", "sufficient-statistics"])
def test_every_figure_of_a_statement_is_the_answer_to_its_question(method: str) -> None:
    plan, events, number = history(method, 2, most=7)
    accountant, end = Accountant(plan, events), len(events) + 1
    delta, order, seen = 1e-5, 3.0, sorted({1, number, end - 1})
    asked = {"models_seen": 1, "requests": 7, "last": 3}
    statement = build_report(accountant, delta=delta, order=order, observed=seen, erased_at=number, **asked)
    told, text = statement.to_dict(), statement.text()
    shown = [row["dp"] for row in told["releases"]]
    shown += [
        told["dp_cumulative"],
        told["remaining"]["spent"],
        *(ahead[part] for ahead in told["forecast"] for part in ("added", "total")),
    ]
    shown += [told["deletion"][part] for part in (*NOTIONS, "seen_only_afterwards", "adaptive")]
    assert [part for part in map(line, shown) if part not in text] == []
    heading = f"{len(events)} releases" + (f" (the first {len(events) - 3} not listed)" if len(events) > 3 else "")
    for part in (
        heading,
        f"present from release 1, erased at release {number}",
        f"observed {seen}",
        "saw 1 earlier models",
        *told["notes"],
    ):
        assert part in text
    assert told["count"] == len(events)
    assert told["observed"] == seen
    assert [(row["release"], row["kind"], row["label"], row["steps"], row["edits"], row["counts"]) for row in told["releases"]] == [
        (place, event.kind, event.label, event.steps, event.edits, event.counts.to_dict()) for place, event in accountant.latest(3)
    ]  # fmt: skip
    assert [row["dp"] for row in told["releases"]] == finite([brief(one, delta, order) for one in accountant.dp_of_each(3)])  # fmt: skip
    assert told["dp_cumulative"] == finite(measured(accountant.dp_cumulative(seen), delta, order))
    assert told["deletion"] == finite({
        "present_from": 1, "erased_at": number,
        **{notion: measured(accountant.deletion(1, number, seen, notion=notion), delta, order) for notion in NOTIONS},
        "seen_only_afterwards": measured(accountant.deletion(1, number, range(number, end)), delta, order),
        "adaptive": {"models_seen": 1, **measured(accountant.deletion_adaptive(1, 1, number), delta, order)},
    })  # fmt: skip
    left = accountant.remaining()
    assert told["remaining"] == finite({
        "publications": left.publications, "capped": plan.problem.is_capped, "allowed": left.allowed,
        "spent": measured(left.spent, delta, order), "spent_of_total": None,
    })  # fmt: skip
    for ahead, batch in zip(told["forecast"], (1, 7), strict=True):
        outlook = accountant.forecast().outlook(7, batch)
        numbers = ("requests", "batch", "publications", "fresh_learns", "steps", "affordable")
        assert {name: ahead[name] for name in numbers} == {name: getattr(outlook, name) for name in numbers}
        assert ahead["added"] == finite(measured(outlook.added, delta, order))
        assert ahead["total"] == finite(measured(outlook.total, delta, order))
    assert len(told["notes"]) == len(set(told["notes"]))
    usual = build_report(accountant).to_dict()
    assert usual["observed"] == "every release"
    assert (usual["deletion"]["present_from"], usual["deletion"]["erased_at"]) == (1, accountant.account.erasing.number)
    later = build_report(accountant, present_from=2, erased_at=end - 1).to_dict()
    whole = range(1, end)
    assert later["dp_cumulative"]["epsilon"] == accountant.dp_cumulative(whole, present_from=2).with_slack().epsilon(
        1e-6
    )
    assert later["deletion"]["pairwise"]["renyi"]["epsilon"] == finite(accountant.deletion(2, end - 1, notion="pairwise").with_slack().renyi(10.0))  # fmt: skip


# ---------------------------------------------------------------- sums as JSON


def leaves(value: Any, path: tuple = ()) -> Iterator[tuple[tuple, Any]]:
    """(path, value) of everything in JSON that holds nothing."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*path, key))
    else:
        yield path, value


def with_leaf(value: Any, path: tuple, leaf: Any) -> Any:
    changed = json.loads(json.dumps(value))
    part = changed
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = leaf
    return changed


@pytest.mark.parametrize("method", ["noisy-gd", "noisy-gd:analysis=theorem-5-2", "sufficient-statistics"])
def test_sums_with_a_number_that_cannot_be_are_refused(method: str) -> None:
    """Each number of them: negative, half, a text, a truth value, nothing."""
    for seed in (2, 5):
        _, events, _ = history(method, seed, most=9)
        kept = json.loads(json.dumps(serialization.to_dict(Account.of(events))))
        assert serialization.to_dict(serialization.from_dict(kept)) == kept
        for path, leaf in leaves({name: part for name, part in kept.items() if name != "mechanisms"}):
            if not isinstance(leaf, int):
                continue
            for wrong in (-1, leaf + 0.5, str(leaf), True, None):
                with pytest.raises(InvalidParameter):
                    serialization.from_dict(with_leaf(kept, path, wrong))
        less = [{name: part for name, part in kept.items() if name != missing} for missing in kept]
        other = [{"published": [[99, 1, 1]]}, {"mechanisms": []}, {"extra": 1}, {"last": None}, {"dearest": 3}]
        for wrong in (*less, *({**kept, **change} for change in other)):
            with pytest.raises(InvalidParameter):
                serialization.from_dict(wrong)


# ---------------------------------------------------------------- the next release


@pytest.mark.parametrize("automatic", [True, False])
@pytest.mark.parametrize("requests", [0, 1, 4])
def test_a_fresh_learn_is_due_from_one_step_beyond_the_horizon(automatic: bool, requests: int) -> None:
    plan = plan_by("noisy-gd:analysis=composition")
    plan = plan.changed(method=type(plan.method)(fresh_learn="automatic" if automatic else "demand"))
    events = [Event("learn", plan.calibration.learn_steps, 0, plan.mechanism)]
    events += [Event("unlearn", plan.calibration.delete_steps, 1, plan.mechanism)] * requests
    since = plan.calibration.learn_steps + requests * plan.calibration.delete_steps
    for horizon, spent in ((since, False), (since - 1, True)):
        accountant = Accountant(plan.changed(horizon=horizon), events)
        assert accountant.forecast().steps_since_learn == since
        assert accountant.forecast().horizon_spent == spent
        followed, outlook = accountant.what_if(), accountant.forecast().outlook(5)
        for _ in range(5):
            followed.record(followed.planned_event("relearn" if followed.forecast().horizon_spent else "unlearn"))
        assert outlook.fresh_learns == sum(event.kind == "relearn" for event in followed.events)
        assert outlook.steps == sum(event.steps for event in followed.events[len(events) :])
        found = accountant.publication(2)
        kind = "unlearn" if not spent else "relearn" if automatic else None
        assert (None if found is None else (found.kind, found.edits)) == (kind and (kind, 2))


@pytest.mark.parametrize("method", PROBLEMS)
def test_rows_that_were_touched_end_a_chain_of_carried_noise_alone(method: str) -> None:
    plan = plan_by(method)
    accountant = Accountant(plan, [Event("learn", plan.calibration.learn_steps, 0, plan.mechanism)])
    kinds = [getattr(accountant.publication(1, touched=touched), "kind", None) for touched in (False, True)]
    # a fresh learn, if the budget bears the second chain
    assert kinds in ([["unlearn", "relearn"], ["unlearn", None]] if plan.mechanism.carries else [["unlearn"] * 2])

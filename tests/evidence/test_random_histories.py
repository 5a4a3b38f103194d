"""Every claim of every paper of random histories, judged by oracles that import nothing of the package: conditions, remarks, units, and figures
against the exact chain."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from typing import Any

import pytest

from noisygd_delete.accountant import Accountant, Event, events
from noisygd_delete.evidence import derivation, erasure_certificate, store_claims
from noisygd_delete.evidence.claims import Claim
from noisygd_delete.evidence.facts import Erasure
from noisygd_delete.evidence.store_claims import claims_of_store
from noisygd_delete.methods import CountedRecords
from noisygd_delete.methods.base import Mechanism
from noisygd_delete.methods.plan import Plan
from noisygd_delete.methods.sampled_steps import SampledGaussian
from noisygd_delete.methods.serialization import plan_from_dict
from noisygd_delete.privacy.guarantee import Guarantee
from noisygd_delete.records import EditCounts

from ..bank import PROBLEMS, plan_by
from ..oracles import linear_history, owed
from .reading_papers import said

IN_ANY_ORDER = [
    "objective-perturbation",
    "noisy-gd",
    "noisy-gd:analysis=paper",
    "output-perturbation, cold",
    "output-perturbation, warm",
]  # what rows in a source can be planned with
MIXED = [name for name in PROBLEMS if name != "noisy-gd:analysis=theorem-5-2"]
EXACT = [
    name for name in MIXED if "over the reals" not in name and name not in ("noisy-gd:analysis=composition", "staged")
]
ALONE = (
    "noisy-gd",
    "noisy-gd:analysis=paper",
    "objective-perturbation",
    "noisy-gd:analysis=composition",
    "staged",
    "output-perturbation, cold",
)


@cache
def plan_of(method: str, rows: int) -> Plan:
    """The plan of a method; of persons with so many rows, as it would be run (its figures then exceed its budget)."""
    plan = plan_by(method)
    if rows == 1 or plan.calibration.stages:
        return plan
    return plan.changed(rows_per_subject=rows)


def history(chance: random.Random, methods: Sequence[str] = MIXED) -> tuple[Plan, list[Event], int]:
    """(the plan in force, releases, rows of a person): methods one after the other, statistics, extractors, all kinds of edits."""
    rows = chance.choice((1, 1, 3))
    names = [chance.choice(methods) for _ in range(chance.choice((1, 1, 2, 3)))]
    events: list[Event] = []
    for name in names:
        plan = plan_of(name, chance.choice((1, rows, rows)))
        plan = plan.allow_any_order() if methods is IN_ANY_ORDER else plan
        if events and chance.random() < 0.15:
            events.append(
                Event("extractor", 20, 0, SampledGaussian(records=2000, sampling_rate=0.05, noise_multiplier=2.0))
            )
        events.append(Event("relearn" if events else "learn", plan.calibration.learn_steps, 0, plan.mechanism))
        for _ in range(chance.randrange(1, 5)):
            counts = EditCounts(*(chance.randrange(3) for _ in range(3)))
            events.append(Event("unlearn", plan.calibration.delete_steps, counts.total, plan.mechanism, counts))
            if chance.random() < 0.1:
                events.append(
                    Event("statistic", 1, 0, CountedRecords(records=2000, deviation=64.0, rows_per_subject=rows))
                )
    events.append(Event("unlearn", plan.calibration.delete_steps, 3, plan.mechanism, EditCounts(deleted=2, replaced=1)))
    return plan, events, rows


def drawn(seed: int, methods: Sequence[str] = MIXED) -> tuple[dict[str, Any], list[Event], dict[str, Any]]:
    """(paper, releases, facts) of a request in a random history: of a release in it, of what waits, or of what was withheld. Methods in any
    order of rows: these lie in a source of their own."""
    chance = random.Random(seed)
    plan, events, _ = history(chance, methods)
    status = chance.choice(("published", "published", "pending", "withheld"))
    release = len(events) if status == "published" else None
    places = chance.choice(
        (
            (),
            ({"kind": "folder", "release": 1, "oldest": 1},),
            ({"kind": "s3", "release": len(events), "oldest": len(events)},),
        )
    )
    stated = {
        "remaining": chance.choice((0, 0, 2, None)),
        "from_data": chance.choice(((), ("age",), None)),
        "publishers": places,
        "by_calendar": chance.random() < 0.3,
    }
    if methods is IN_ANY_ORDER:
        read_at = "snapshot:90:95:" if status == "published" else None
        counted = chance.choice(("trigger", None)) if status == "published" else None
        stated |= {"deleted_at": "transaction:80", "read_at": read_at, "counted": counted}
    delta = chance.choice((1e-6, 1e-3))
    erasure = Erasure(rows=3, replaced=1, release=release, status=status, **stated)
    paper = erasure_certificate(erasure, plan=plan, events=events, delta=delta)
    facts = {
        **stated,
        "rows_per_person": plan.problem.rows_per_subject,
        "delta": delta,
        "slots": plan.problem.records,
        "status": status,
        "release": release,
    }
    return paper, events, facts


def judged(seed: int, methods: Sequence[str] = MIXED) -> list[str]:
    paper, events, facts = drawn(seed, methods)
    return owed.faults(paper, [event.to_dict() for event in events], facts)


OVER = pytest.mark.parametrize("methods", [MIXED, IN_ANY_ORDER], ids=["mixed", "over a source"])


@OVER
def test_every_claim_of_a_few_random_histories_stands_with_what_it_owes(methods: Sequence[str]) -> None:
    assert {seed: found for seed in range(5) if (found := judged(seed, methods))} == {}


@OVER
def test_every_claim_of_random_histories_stands_with_what_it_owes(methods: Sequence[str]) -> None:
    assert {seed: found for seed in range(5, 60) if (found := judged(seed, methods))} == {}


@pytest.mark.parametrize("methods", [MIXED, EXACT, IN_ANY_ORDER], ids=["mixed", "exact", "over a source"])
def test_papers_speak_of_real_numbers_where_a_release_was_made_over_them_alone(
    methods: Sequence[str],
) -> None:
    """Noisy steps without exactness anywhere in the history, however long ago; of exact ones, solvers, sums and objective perturbation, never."""
    seen = set()
    for seed in range(20):
        paper, events, _ = drawn(seed, methods)
        told = [event.to_dict()["mechanism"] for event in events]
        over_reals = any(
            run["method"] in ("noisy-gd-composition", "staged", "noisy-gd-theorem-5-2")
            or (run["method"] in ("noisy-gd-tight", "noisy-gd-paper", "output-perturbation") and not run.get("exact"))
            for run in told
        )
        words = said(paper)
        assert ("real-arithmetic" in {claim["key"] for claim in paper["claims"]}) == over_reals, seed
        assert ("real numbers" in words) == over_reals, seed
        seen.add(over_reals)
    assert seen == ({True, False} if methods is MIXED else {False})


def test_no_sentence_of_a_release_that_resumed_says_that_it_was_learned_afresh() -> None:
    """By `noisy-gd` over rows in a source, too, where nothing counted what else changed."""
    met = 0
    for seed in range(60):
        paper, _, _ = drawn(seed, IN_ANY_ORDER)
        keys = {claim["key"] for claim in paper["claims"]}
        if "published.resumed" in keys:
            met += "source.uncounted" in keys
            assert "afresh" not in said(paper)
    assert met > 0


@pytest.mark.long
def test_every_claim_of_many_random_histories_stands_with_what_it_owes(
    record_property: Callable[[str, str], None],
) -> None:
    wrong = {seed: found for seed in range(1000, 4000) if (found := judged(seed))}
    record_property("evidence", f"3,000 random histories: {len(wrong)} papers with a claim that lacks what it owes")
    assert wrong == {}


def test_papers_about_a_store_state_of_a_record_still_there_what_its_certificates_do() -> None:
    """Of the last model as it was made: a statistic that was made with it shows it too, which no plan knows."""
    beyond = 0
    for seed in range(24):
        paper, events, _ = drawn(seed)
        plan = plan_from_dict(paper["public_facts"]["plan"])
        due = {claim["key"]: claim["values"] for claim in paper["claims"] if claim["key"].startswith("present.")}
        told = claims_of_store(Accountant(plan, events), plan, delta=paper["public_facts"]["delta"])
        for key, values in due.items():
            assert told[key].values["advantage"] == pytest.approx(values["advantage"], rel=1e-9), (seed, key)
        beyond += due["present.one"]["advantage"] > plan.dp.with_slack().advantage * (1 + 1e-6)
    assert beyond > 0


# --- figures of a person whose rows leave in several requests, against the exact chain ---


def runs_of(plan: Plan, steps: Sequence[int], fresh: Sequence[bool]) -> list[linear_history.Run]:
    """Releases of a plan on the linear loss, whose law is known."""
    facts = {
        "step_size": plan.calibration.step_size,
        "regularization": plan.problem.regularization,
        "noise_variance": plan.calibration.noise_variance,
        "records": plan.problem.records,
    }
    return [linear_history.Run(fresh=anew, steps=k, **facts) for anew, k in zip(fresh, steps, strict=True)]


def exact(plan: Plan, gaps: list[float], observed: set[int]) -> float:
    """μ of the linear loss: what each release had of the person, in the sum of gradients."""
    later = len(gaps) - 1
    runs = runs_of(
        plan, [plan.calibration.learn_steps, *[plan.calibration.delete_steps] * later], [True, *[False] * later]
    )
    return math.sqrt(linear_history.squared_mu(runs, gap=gaps, present_from=1, erased_at=None, observed=observed))


@pytest.mark.parametrize("left", [(3, 2, 1, 0), (3, 3, 0, 0), (3, 1, 1, 0, 0)])
def test_a_person_is_counted_until_the_last_row_is_gone(left: tuple[int, ...]) -> None:
    """Rows erased in two or three requests; `left` of them at each release. The printed figure covers the truth from the release that erased the
    last row; from that of the first row (a planted fault) it does not."""
    plan = plan_of("noisy-gd", 3)
    lipschitz, releases = plan.problem.loss.constants.lipschitz, len(left)
    gaps = [lipschitz * rows for rows in left]
    edits = [0, *(before - after for before, after in pairwise(left))]
    events = [
        Event(
            "learn" if number == 0 else "unlearn",
            plan.calibration.delete_steps if number else plan.calibration.learn_steps,
            rows,
            plan.mechanism,
            EditCounts(deleted=rows),
        )
        for number, rows in enumerate(edits)
    ]
    requests = [number for number, rows in enumerate(edits, start=1) if rows]
    for number in requests:
        erasure = Erasure(rows=edits[number - 1], release=number, remaining=left[number - 1])
        paper = erasure_certificate(erasure, plan=plan, events=events)
        figures = {claim["key"]: claim["values"] for claim in paper["claims"] if "advantage" in claim["values"]}
        later, everything = (
            exact(plan, gaps, set(range(number, releases + 1))),
            exact(plan, gaps, set(range(1, releases + 1))),
        )
        last = number == requests[-1]
        assert (figures["erased.later"]["unit"] == "person") == last
        assert (
            figures["erased.later"]["gdp"] >= later * (1 - 1e-9)
        ) == last  # counted from an earlier request it would be false
        if last:
            assert figures["erased.all"]["gdp"] >= everything * (1 - 1e-9)
            assert figures["erased.all"]["gdp"] <= everything * 3


# --- papers about no single request: report, model card, annex, register ---


def standing_faults(seed: int) -> list[str]:
    """What the claims about a store as it stands state less than an observer of a random history is owed, each asked of the ledger by itself."""
    plan, events, _ = history(random.Random(seed))
    accountant = Accountant(plan, events)
    claims = store_claims.claims_of_store(accountant, plan)
    erasing = [number for number, event in enumerate(events, start=1) if event.counts.deleted or event.counts.replaced]
    owing: dict[str, list[Guarantee]] = {
        "present.one": [accountant.dp()],
        "present.all": [accountant.dp_cumulative()],
        "erased.later": [accountant.deletion(1, number, range(number, len(events) + 1)) for number in erasing],
        "erased.all": [accountant.deletion(1, number) for number in erasing],
    }
    faults = []
    for key, guarantees in owing.items():
        claim = claims[key]
        seen_by_all = key.endswith(".all")
        if any(guarantee.advantage > claim.values["advantage"] for guarantee in guarantees):
            faults.append(
                f"{key} states {claim.values['advantage']:.4f}, owed {max(g.advantage for g in guarantees):.4f}"
            )
        if ("schedule-fixed" in claim.conditions) != seen_by_all or (
            "requests-blind" in claim.conditions
        ) == seen_by_all:
            faults.append(f"{key} under {claim.conditions}")
    return faults


def test_papers_about_a_store_state_what_every_observer_is_owed() -> None:
    assert {seed: found for seed in range(60) if (found := standing_faults(seed))} == {}


def test_what_a_deletion_would_cost_is_no_less_than_what_it_costs() -> None:
    for seed in range(60):
        plan, events, _ = history(random.Random(seed))
        ahead, then = Accountant(plan, events).forecast(), Accountant(plan, events)
        ahead.add(then.planned_event())
        then.record(then.planned_event())
        owed_then = [
            guarantee.with_slack().epsilon(1e-6)
            for guarantee in (then.deletion_later_releases(), then.deletion_observed())
        ]
        assert all(told >= owing for told, owing in zip(ahead.deletion(1e-6), owed_then, strict=True)), seed


def test_any_set_of_releases_over_rows_in_any_order_covers_the_exact_chain() -> None:
    """Noisy steps to the last bit, rows in any order, fresh runs in between; a record that came and went, whichever releases were seen. On the
    linear loss the truth is known, and comes so near that a figure stated a hundredth too small would be seen."""
    plan = plan_of("noisy-gd", 1).allow_any_order()
    nearest = 0.0
    for seed in range(60):
        chance = random.Random(seed)
        fresh = [True, *(chance.random() < 0.2 for _ in range(chance.randrange(1, 6)))]
        steps = [
            plan.calibration.learn_steps if anew else plan.calibration.delete_steps + chance.randrange(0, 15, 5)
            for anew in fresh
        ]
        runs = runs_of(plan, steps, fresh)
        kinds = ["learn", *("relearn" if anew else "unlearn" for anew in fresh[1:])]
        events = [
            Event(kind, k, int(number > 0), plan.mechanism, EditCounts(deleted=int(number > 0)))
            for number, (kind, k) in enumerate(zip(kinds, steps, strict=True))
        ]
        accountant = Accountant(plan, events)
        for erased in range(2, len(runs) + 1):
            present = chance.randrange(1, erased)
            seen = set(chance.sample(range(1, len(runs) + 1), chance.randrange(1, len(runs) + 1)))
            facts = {
                "gap": plan.problem.loss.constants.lipschitz,
                "present_from": present,
                "erased_at": erased,
                "observed": seen,
            }
            true, stated = (
                math.sqrt(linear_history.squared_mu(runs, **facts)),
                accountant.deletion(present, erased, seen).gdp,
            )
            assert true <= stated, (seed, facts)
            nearest = max(nearest, true / stated if stated else 0.0)
    assert nearest > 0.99


@pytest.mark.parametrize("fault", ["counted", "in place"])
def test_a_source_spoken_of_like_a_table_here_is_seen(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if fault == "counted":
        right = derivation._source_claims
        monkeypatch.setattr(
            derivation, "_source_claims", lambda *given: (c for c in right(*given) if c.key != "source.uncounted")
        )
    else:
        monkeypatch.setattr(Plan, "allow_any_order", lambda self: self)
    assert any(judged(seed, IN_ANY_ORDER) for seed in range(20))


def newest_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    right = derivation.conditions_of

    def careless(plan: Plan, accountant: Accountant, from_data: Any, runs: Any) -> Any:
        kept = {key for key, _ in plan.mechanism.conditions()}
        mine = [Claim(key, values) for key, values in plan.mechanism.conditions()]
        return [
            *(
                claim
                for claim in right(plan, accountant, from_data, runs)
                if claim.key not in kept and "method" not in claim.values
            ),
            *mine,
        ]

    monkeypatch.setattr(derivation, "conditions_of", careless)


def everyone_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derivation, "are_whole_subjects", lambda erasure, rows: True)


def ranges_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    right = derivation.conditions_of
    monkeypatch.setattr(
        derivation, "conditions_of", lambda plan, accountant, _, runs: right(plan, accountant, (), runs)
    )


def unconditional(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Guarantee, "non_adaptive", property(lambda self: False))


def any_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    right = derivation._figure_claims
    monkeypatch.setattr(
        derivation,
        "_figure_claims",
        lambda *given: (
            replace(c, conditions=tuple(n for n in c.conditions if "schedule" not in n)) for c in right(*given)
        ),
    )


def nothing_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "_PUBLISHED", {})  # by which an event checks its kind
    monkeypatch.setattr(derivation, "_row_norms", lambda runs: [])  # which refuses what does not publish a model
    for kind in (SampledGaussian, CountedRecords, type(plan_by("staged").mechanism)):
        monkeypatch.setattr(kind, "left", "")


def time_unspoken(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (
        type(plan_by("objective-perturbation").mechanism),
        type(plan_by("output-perturbation, cold").mechanism),
    ):
        right = kind.conditions

        def without(self: Mechanism, right: Any = right) -> Any:
            return tuple(one for one in right(self) if one[0] != "time-unseen")

        monkeypatch.setattr(kind, "conditions", without)


def no_publisher_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derivation, "_may_have_used", lambda oldest, release: False)


@pytest.mark.parametrize(
    "fault",
    [
        newest_alone,
        everyone_whole,
        ranges_unasked,
        unconditional,
        any_schedule,
        nothing_left,
        time_unspoken,
        no_publisher_before,
    ],
)
def test_a_planted_fault_is_seen(fault: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    fault(monkeypatch)
    assert any(judged(seed) for seed in range(40))


def test_a_card_by_the_plan_s_own_figure_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan's figure is about its own runs: after other methods, a statistic or an extractor it may be too small."""
    monkeypatch.setattr(store_claims, "claims_of_store", partial(_careless, store_claims.claims_of_store))
    assert sum(bool(standing_faults(seed)) for seed in range(60)) >= 3


def _careless(right: Callable[..., dict[str, Claim]], accountant: Accountant, plan: Plan) -> dict[str, Claim]:
    return {**right(accountant, plan), "present.one": right(Accountant(plan), plan)["present.one"]}

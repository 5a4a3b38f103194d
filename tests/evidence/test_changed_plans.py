"""Stores that learn again under other plans: a certificate says which releases had which range, and three verifiers agree on it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from noisygd_delete_compliance.translator import checker

from noisygd_delete import Budget, losses, make_plan
from noisygd_delete.accountant import Event
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.evidence import Erasure, erasure_certificate, sign_document, verify_certificate
from noisygd_delete.methods.plan import Plan
from noisygd_delete.records import EditCounts
from tests.compliance.browser import in_a_browser, judged

from ..reports.certificate_mutations import dumped
from .test_third_verifier import judged as judged_by_third

ASKED = [
    (radius, lam, method)
    for radius in (0.5, 1.0, 3.0)
    for lam, method in ((0.05, "noisy-gd"), (0.1, "output-perturbation"), (0.1, "sufficient-statistics"))
]


@cache
def plan_of(radius: float, lam: float, method: str) -> Plan:
    budget = Budget(order=8, dp=1.0, deletion=0.2)
    releases = 12 if method == "sufficient-statistics" else 1
    return make_plan(
        losses.Logistic(radius=radius),
        records=4000,
        features=6,
        regularization=lam,
        budget=budget,
        method=method,
        releases=releases,
    )


def store(seed: int) -> tuple[Plan, list[Event], int | None]:
    """(plan in force, releases by two or three plans, the number of one by the last plan that erased a record; None: none did)."""
    chance, events = random.Random(seed), []
    plans = [plan_of(*asked) for asked in chance.sample(ASKED, chance.choice((2, 3)))]
    for plan in plans:
        events.append(Event("relearn" if events else "learn", plan.calibration.learn_steps, 0, plan.mechanism))
        for _ in range(chance.randrange(1, 4)):
            counts = EditCounts(deleted=chance.randrange(1, 3), replaced=1)
            events.append(Event("unlearn", plan.calibration.delete_steps, counts.total, plan.mechanism, counts))
    return plans[-1], events, None if seed % 3 == 0 else len(events)


def certificate(seed: int, key: Path) -> dict[str, Any]:
    plan, events, number = store(seed)
    status = "published" if number is not None else random.Random(seed).choice(("pending", "withheld"))
    erasure = Erasure(rows=2, replaced=1, release=number, status=status)
    return sign_document(json.loads(dumped(erasure_certificate(erasure, plan=plan, events=events))), key)


def radii(paper: dict[str, Any]) -> list[tuple[float, int, int]]:
    listed = [claim["values"] for claim in paper["claims"] if claim["key"] == "row-norm"]
    return [(each["radius"], each["first"], each["last"]) for each in listed]


def forged(paper: dict[str, Any], key: Path) -> list[dict[str, Any]]:
    """The same with a range that its releases were not calibrated for, or without one."""

    def change(alter: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        made = json.loads(dumped(paper))
        alter(made)
        return sign_document(made, key)

    def claims(made: dict[str, Any], begins: str) -> list[dict[str, Any]]:
        return [claim for claim in made["claims"] if claim["key"].startswith(begins)]

    own = paper["public_facts"]["plan"]["problem"]["loss"]["radius"]
    return [
        change(lambda made: made.update(claims=[claim for claim in made["claims"] if claim["key"] != "row-norm"])),
        change(lambda made: claims(made, "row-norm")[0]["values"].update(radius=own + 0.25)),
        change(lambda made: claims(made, "row-norm")[0]["values"].update(last=99)),
        change(lambda made: claims(made, "ranges-")[0]["values"].update(radius=0.25)),
        change(lambda made: made["public_facts"]["ledger"][0]["mechanism"].update(row_norm=None)),
        change(lambda made: made["public_facts"]["ledger"][0]["mechanism"].update(row_norm=own + 0.25)),
        change(lambda made: made["public_facts"]["ledger"][0]["mechanism"].pop("row_norm")),
    ]


def changes_its_range(paper: dict[str, Any]) -> bool:
    return len({tally["mechanism"]["row_norm"] for tally in paper["public_facts"]["ledger"]}) > 1


@in_a_browser
def test_three_verifiers_agree_on_stores_that_changed_their_plan(key: Path, tmp_path: Path) -> None:
    papers = [certificate(seed, key) for seed in range(14)]
    changed = [paper for paper in papers if changes_its_range(paper)]
    texts = [dumped(paper) for paper in papers] + [dumped(one) for paper in changed[:4] for one in forged(paper, key)]
    expected = [True] * len(papers) + [False] * 28
    assert len(changed) > 7
    assert [verify_certificate(json.loads(text)).passed for text in texts] == expected
    assert [judged_by_third(text) for text in texts] == expected
    assert judged(texts, None, checker(), tmp_path) == expected


def test_each_release_stands_under_the_range_that_it_was_calibrated_for(key: Path) -> None:
    for seed in range(14):
        paper, events = certificate(seed, key), store(seed)[1]
        (ranges,) = [claim["values"]["radius"] for claim in paper["claims"] if claim["key"].startswith("ranges-")]
        norms = [event.mechanism.row_norm for event in events]
        assert ranges == max(norms)
        stated = radii(paper) or [(ranges, 1, len(events))]
        assert [norm for norm, first, last in stated for _ in range(first, last + 1)] == norms


@pytest.mark.parametrize("status", ["pending", "withheld"])
def test_a_document_before_a_release_states_the_plan_of_the_last_model(key: Path, status: str) -> None:
    plan, events, _ = store(1)
    other = next(plan_of(*asked) for asked in ASKED if plan_of(*asked).mechanism != plan.mechanism)
    erasure = Erasure(rows=1, release=None, status=status)
    assert erasure_certificate(erasure, plan=plan, events=events)
    with pytest.raises(InvalidParameter):
        erasure_certificate(erasure, plan=other, events=events)
    paper = json.loads(dumped(erasure_certificate(erasure, plan=plan, events=events)))
    paper["public_facts"]["plan"] = json.loads(dumped(erasure_certificate(erasure, plan=other, events=_under(other))))[
        "public_facts"
    ]["plan"]
    assert not verify_certificate(sign_document(paper, key)).passed
    assert not judged_by_third(dumped(sign_document(paper, key)))


def _under(plan: Plan) -> list[Event]:
    return [Event("learn", plan.calibration.learn_steps, 0, plan.mechanism)]

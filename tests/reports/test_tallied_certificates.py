"""Certificates whose size does not grow with the number of releases, and that a stranger recomputes as before."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from noisygd_delete_compliance.translator import checker

from noisygd_delete.accountant import Account, Event
from noisygd_delete.evidence import Erasure, erasure_certificate, sign_document, verify_certificate
from noisygd_delete.records import EditCounts, limited_io
from noisygd_delete.reports import certificate_html
from tests.compliance.browser import in_a_browser, judged

from ..bank import PROBLEMS, plan_by
from ..oracles import tallies as oracle
from .histories import history

MANY = 100_000


def paper_of(plan: Any, events: list[Event], number: int, key: Path) -> dict:
    erasure = Erasure(rows=2, replaced=1, release=number, ledger_entries=len(events) + 1, ledger_sha256="ab" * 32)
    paper = erasure_certificate(erasure, plan=plan, events=events, issued="2026-04-03T00:00:00Z")
    return json.loads(json.dumps(sign_document(paper, key)))


def listing(paper: dict, events: list[Event], key: Path) -> dict:
    """The same paper with every release by itself; its claims are taken over as they are."""
    changed = copy.deepcopy({name: block for name, block in paper.items() if name != "signature"})
    changed["public_facts"]["ledger"] = [{**event.to_dict(), "releases": 1} for event in events]
    return sign_document(changed, key)


@pytest.mark.parametrize("method", PROBLEMS)
def test_the_figures_are_those_of_the_list(method: str, key: Path) -> None:
    for seed in range(3 if method in ("noisy-gd", "noisy-gd:analysis=theorem-5-2") else 1):
        plan, events, number = history(method, seed)
        paper = paper_of(plan, events, number, key)
        assert verify_certificate(paper).passed
        assert sum(tally["releases"] for tally in paper["public_facts"]["ledger"]) == len(events)
        again = listing(paper, events, key)
        assert verify_certificate(again).passed, verify_certificate(again).text()


def with_tallies(paper: dict, tallies: list[dict], key: Path) -> dict:
    """Signed again, by somebody who holds the key and changes the facts alone."""
    changed = copy.deepcopy({name: block for name, block in paper.items() if name != "signature"})
    changed["public_facts"]["ledger"] = tallies
    return sign_document(changed, key)


def test_other_counts_and_another_order_do_not_verify(key: Path) -> None:
    for method, seed in (("noisy-gd", 1), ("noisy-gd:analysis=composition", 5), ("noisy-gd:analysis=theorem-5-2", 4)):
        plan, events, number = history(method, seed)
        paper = paper_of(plan, events, number, key)
        tallies = paper["public_facts"]["ledger"]
        assert verify_certificate(with_tallies(paper, tallies, key)).passed
        for place, tally in enumerate(tallies):
            more = [*tallies[:place], {**tally, "releases": tally["releases"] + 1}, *tallies[place + 1 :]]
            assert not verify_certificate(with_tallies(paper, more, key)).passed, (method, place)
        served = next(k for k in range(len(tallies)) if sum(t["releases"] for t in tallies[: k + 1]) == number)
        for place in (0, len(tallies)):
            rest = [*tallies[:served], *tallies[served + 1 :]]
            there = [*rest[:place], tallies[served], *rest[place:]]
            if there != tallies and verify_certificate(with_tallies(paper, there, key)).passed:
                assert not dearer(there, tallies, number), (
                    method,
                    place,
                )  # no figure may be too small for what is stated


def dearer(other: list[dict], tallies: list[dict], number: int) -> bool:
    """Whether more was published of what stands there: in all, before the release that the paper is about, or by it. By an oracle that reads
    the JSON alone."""
    there, here = oracle.facts(oracle.each(other), number), oracle.facts(oracle.each(tallies), number)
    more = any(there[name] - here[name] for name in ("all", "before"))
    return more and not (here["all"] - there["all"] or here["before"] - there["before"])


def long_history(method: str, releases: int) -> tuple[Any, list[Event]]:
    """Deletions of one to seven records, and a fresh learn now and then."""
    plan = plan_by(method)
    kinds = [
        Event("unlearn", plan.calibration.delete_steps, n + 1, plan.mechanism, EditCounts(deleted=n, replaced=1))
        for n in range(1, 8)
    ]
    again = Event("relearn", plan.calibration.learn_steps, 0, plan.mechanism)
    later = [again if k % 997 == 500 else kinds[k % 7] for k in range(releases - 1)]
    return plan, [Event("learn", plan.calibration.learn_steps, 0, plan.mechanism), *later]


@pytest.mark.parametrize("method", ["noisy-gd", "output-perturbation, warm", "objective-perturbation", "staged"])
def test_size_and_work_are_those_of_a_short_history(method: str, key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, events = long_history(method, MANY)
    added: list[Event] = []
    right = Account._add

    def counted_add(self: Account, event: Event) -> None:
        added.append(event)
        right(self, event)

    monkeypatch.setattr(Account, "_add", counted_add)
    for number in (3, MANY - 3):
        added.clear()
        paper = paper_of(plan, events, number, key)
        assert verify_certificate(paper).passed
        assert sum(tally["releases"] for tally in paper["public_facts"]["ledger"]) == MANY
        assert len(added) < 100  # sums are made a few times, not once for each release
        short = paper_of(plan, events[:1010], 3, key)
        assert len(json.dumps(paper)) < 1.5 * len(json.dumps(short)) < 40_000


@in_a_browser
def test_the_page_answers_for_a_hundred_thousand_releases(key: Path, tmp_path: Path) -> None:
    plan, events = long_history("noisy-gd", MANY)
    paper = paper_of(plan, events, MANY // 2, key)
    assert len(certificate_html(paper)) < 100_000
    other = with_tallies(paper, [{**t, "releases": t["releases"] + 1} for t in paper["public_facts"]["ledger"]], key)
    largest = with_tallies(paper, [{**t, "releases": 10**9} for t in paper["public_facts"]["ledger"]], key)
    texts = [json.dumps(one) for one in (paper, other, largest)]
    assert [verify_certificate(limited_io.parse_json(text)).passed for text in texts] == [True, False, False]
    assert judged(texts, Path(f"{key}.pub").read_text(), checker(), tmp_path) == [True, False, False]


@in_a_browser
def test_the_page_reads_tallies_of_every_method(key: Path, tmp_path: Path) -> None:
    papers = [paper_of(*history(method, seed), key) for seed, method in enumerate(PROBLEMS, 3)]
    found = judged([json.dumps(paper) for paper in papers], None, checker(), tmp_path)
    assert [name for name, held in zip(PROBLEMS, found, strict=True) if not held] == []

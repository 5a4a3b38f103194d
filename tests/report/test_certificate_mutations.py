"""Whoever holds the signing key may state facts; what follows from them, no mutant alters and still verifies."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from noisygd_delete import Budget, losses, make_plan
from noisygd_delete.accountant import Event
from noisygd_delete.bounds import conversion
from noisygd_delete.methods.plan import Plan
from noisygd_delete.records import EditCounts, bounded
from noisygd_delete.report import Erasure, erasure_certificate, new_key, sign, verify_certificate

from .certificate_mutations import dumped, leaves, verdicts, with_value
from .test_format_1 import FOLDER, earlier
from .test_page_methods import PLANS, ROWS

STATED = {
    "request_id": "5b0c7e",
    "controller": "Example Ltd",
    "received": "2026-03-31T01:00:00+02:00",
    "checked": "the store is whole",
    "audit": ({"name": "membership", "measured_lower_bound": 0.02, "claimed_advantage": 0.4},),
    "ledger_entries": 7,
    "ledger_sha256": "ab" * 32,
    "model_before": "1" * 64,
}
# how many of ten thousand are of each kind: certificates of every method; of a mix, whose figures take longest to convert, the fewest
KINDS = {
    ("published", "sharp"): 900, ("withheld", "sharp"): 900, ("pending", "theorem"): 900, ("published", "theorem"): 900,
    ("published", "perturbed"): 900, ("published", "minimiser"): 900, ("withheld", "minimiser"): 900, ("published", "interleaved"): 900,
    ("published", "composition"): 900, ("published", "ladder"): 900, ("pending", "ladder with a head"): 900, ("published", "mixed"): 100,
}  # fmt: skip
PUBLISHED = {"edited": "2026-04-01T10:00:00Z", "served": "2026-04-02T10:00:00Z", "model_after": "2" * 64}


@pytest.fixture
def key(tmp_path: Path) -> Path:
    new_key(tmp_path / "controller.pem")
    return tmp_path / "controller.pem"


@pytest.fixture(autouse=True)
def remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Conversions are functions of numbers; most mutants ask for the same ones again."""
    for name in ("gdp_epsilon", "rate_epsilon", "rate_advantage"):
        monkeypatch.setattr(conversion, name, cache(getattr(conversion, name)))


@cache
def planned(method: str) -> Plan:
    if method in PLANS:
        facts = dict(PLANS[method])
        return make_plan(facts.pop("loss"), **ROWS, **facts)
    return make_plan(
        losses.Logistic(radius=1.0), records=2000, features=12, regularization=1e-2, method=method,
        budget=Budget(order=8, dp=1.0, deletion=0.1),
    )  # fmt: skip


def papers(status: str, method: str) -> dict:
    """A certificate of this status. "mixed": its releases before were made by other methods, one of them by a solver."""
    plan = planned("sharp" if method == "mixed" else method)
    edits = (EditCounts(deleted=1), EditCounts(deleted=2, replaced=1, inserted=1), EditCounts(inserted=2))
    events = []
    for former in (planned("theorem"), planned("perturbed")) if method == "mixed" else ():
        events += [
            Event("relearn" if events else "learn", former.learn_steps, 0, former.mechanism),
            Event("unlearn", former.delete_steps, 1, former.mechanism, EditCounts(replaced=1)),
        ]
    served = len(events) + 3
    events += [
        Event("relearn" if events else "learn", plan.learn_steps, 0, plan.mechanism),
        *(Event("unlearn", plan.delete_steps, counts.total, plan.mechanism, counts) for counts in edits),
    ]
    facts = {"release": served, **PUBLISHED} if status == "published" else {"release": None}
    erasure = Erasure(
        rows=3, replaced=1, inserted=1, status=status, **{**STATED, "ledger_entries": served + 4}, **facts
    )
    return erasure_certificate(erasure, plan=plan, events=events, issued="2026-04-03T00:00:00Z")


def verifier(key: Path) -> Callable[[str], bool]:
    def verify(text: str) -> bool:
        try:
            return verify_certificate(bounded.parsed(text), public_key=f"{key}.pub").passed
        except ValueError:  # what `verify-certificate` answers with exit status 2
            return False

    return verify


def tried(count: int, seed: int, key: Path, *kinds: tuple[str, str]) -> tuple[list[str], int]:
    wrong, passed = [], 0
    for number, (status, certificate) in enumerate(kinds):
        paper = sign(json.loads(dumped(papers(status, certificate))), key)
        assert verifier(key)(dumped(paper))
        found, fine = verdicts(paper, lambda changed: sign(changed, key), verifier(key), count, seed + number)
        wrong, passed = wrong + found, passed + fine
    return wrong, passed


def test_no_mutant_alters_what_follows_from_the_facts(key: Path) -> None:
    wrong, passed = tried(300, 7, key, ("published", "sharp"))
    others = (
        ("published", "perturbed"),
        ("published", "minimiser"),
        ("published", "interleaved"),
        ("published", "ladder"),
    )
    more, _ = tried(30, 5, key, *others, ("published", "composition"))
    few, _ = tried(4, 3, key, ("published", "mixed"))
    assert wrong + more + few == []
    assert passed > 10  # stated facts in their ranges are the signer's word: the verifier does not refuse everything


@pytest.mark.long
def test_no_mutant_of_ten_thousand_alters_what_follows_from_the_facts(
    key: Path, record_property: Callable[[str, str], None]
) -> None:
    assert sum(KINDS.values()) == 10_000
    wrong, passed = [], 0
    for number, (kind, count) in enumerate(KINDS.items()):
        found, fine = tried(count, 1000 + number, key, kind)
        assert fine > count / 50, kind
        wrong, passed = wrong + found, passed + fine
    record_property(
        "evidence",
        f"10,000 mutants of {len(KINDS)} signed certificates: {len(wrong)} judged wrongly, {passed} state other facts",
    )
    assert wrong == []
    assert passed > 300


def test_a_verifier_with_the_old_switch_would_be_caught(key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Power: with sentences unchecked for other versions, as before format 2, mutants get through."""
    from noisygd_delete.evidence import verification

    honest = verification.difference

    def lax(stated: object, again: object, *rest: object, **options: object) -> str | None:
        if isinstance(stated, dict) and "plain_words" in stated and isinstance(again, dict):
            stated, again = ({"guarantees": block["guarantees"]} for block in (stated, again))
        return honest(stated, again, *rest, **options)

    monkeypatch.setattr(verification, "difference", lax)
    wrong, _ = tried(300, 7, key, ("published", "sharp"))
    assert any("plain_words" in done or "statement." in done for done in wrong)


def test_sentences_are_checked_whatever_version_is_named(key: Path) -> None:
    paper = json.loads(dumped(papers("published", "sharp")))
    other = with_value(paper, ("identity", "version"), "9.9.9")
    assert verifier(key)(dumped(sign(other, key)))
    for path in (("statement", "plain_words", 2), ("statement", "not_covered", 0), ("statement", "theorem")):
        forged = sign(with_value(other, path, "Nothing at all can be learned."), key)
        answer = verify_certificate(forged, public_key=f"{key}.pub")
        assert not answer.passed
        assert "check it with that version" in answer.text()


def test_no_mutant_of_a_format_1_paper_verifies() -> None:
    """The same mutants, signed as version 0.1.0 signed."""

    def verify(text: str) -> bool:
        try:
            return verify_certificate(bounded.parsed(text)).passed
        except ValueError:
            return False

    paper = json.loads((FOLDER / "sharp.json").read_text())
    assert verify(dumped(earlier(paper)))
    wrong, passed = verdicts(earlier(paper), earlier, verify, 300, 11)
    numbers = {("statement", *path) for path, value in leaves(paper["statement"]) if isinstance(value, float)}
    assert [done for done in wrong if not _last_digit(numbers, done)] == []
    assert passed > 5


def _last_digit(numbers: set, done: str) -> bool:
    """Figures of format 1 stand there in full, so another machine's last digit must pass."""
    for change in done.split("; "):
        name, _, values = change.partition(": ")
        path = tuple(int(step) if step.isdigit() else step for step in name.split("."))
        if path in numbers:
            old, new = (float(value.strip("'")) for value in values.split(" -> "))
            if not abs(new / old - 1) < 2e-12:
                return False
        elif path[0] == "statement":
            return False
    return True

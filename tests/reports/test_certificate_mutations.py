"""Whoever holds the signing key may state facts; what follows from them, no mutant alters and still verifies."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from noisygd_delete.accountant import Event
from noisygd_delete.bounds import gaussian, renyi
from noisygd_delete.evidence import Erasure, erasure_certificate, sign_document, verification, verify_certificate
from noisygd_delete.evidence.checks import Check
from noisygd_delete.records import EditCounts, limited_io

from ..bank import plan_by
from ..evidence.reading_papers import at
from .certificate_mutations import dumped, leaves, mixtures, mutants, verdicts, with_value

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
    ("published", "noisy-gd"): 990, ("withheld", "noisy-gd"): 990, ("pending", "noisy-gd:analysis=paper"): 990, ("published", "noisy-gd:analysis=paper"): 990,
    ("published", "objective-perturbation"): 990, ("published", "output-perturbation, warm"): 990, ("withheld", "output-perturbation, warm"): 990,
    ("published", "noisy-gd:analysis=composition"): 990, ("published", "staged"): 990, ("pending", "staged with a head"): 990, ("published", "mixed"): 100,
}  # fmt: skip
PUBLISHED = {"edited": "2026-04-01T10:00:00Z", "served": "2026-04-02T10:00:00Z", "model_after": "2" * 64}


@pytest.fixture(autouse=True)
def remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Conversions are functions of numbers; most mutants ask for the same ones again."""
    for module, name in ((gaussian, "gdp_epsilon"), (renyi, "rate_epsilon"), (gaussian, "rate_advantage")):
        monkeypatch.setattr(module, name, cache(getattr(module, name)))


def papers(status: str, method: str) -> dict:
    """A certificate of this status. "mixed": its releases before were made by other methods, one of them by a solver."""
    plan = plan_by("noisy-gd" if method == "mixed" else method)
    edits = (EditCounts(deleted=1), EditCounts(deleted=2, replaced=1, inserted=1), EditCounts(inserted=2))
    events = []
    for former in (plan_by("noisy-gd:analysis=paper"), plan_by("objective-perturbation")) if method == "mixed" else ():
        events += [
            Event("relearn" if events else "learn", former.calibration.learn_steps, 0, former.mechanism),
            Event("unlearn", former.calibration.delete_steps, 1, former.mechanism, EditCounts(replaced=1)),
        ]
    served = len(events) + 3
    events += [
        Event("relearn" if events else "learn", plan.calibration.learn_steps, 0, plan.mechanism),
        *(Event("unlearn", plan.calibration.delete_steps, counts.total, plan.mechanism, counts) for counts in edits),
    ]
    facts = {"release": served, **PUBLISHED} if status == "published" else {"release": None}
    erasure = Erasure(
        rows=3, replaced=1, inserted=1, status=status, **{**STATED, "ledger_entries": served + 4}, **facts
    )
    return erasure_certificate(erasure, plan=plan, events=events, issued="2026-04-03T00:00:00Z")


def verifier(key: Path) -> Callable[[str], bool]:
    def verify(text: str) -> bool:
        try:
            return verify_certificate(limited_io.parse_json(text), public_key=f"{key}.pub").passed
        except ValueError:  # what `verify-certificate` answers with exit status 2
            return False

    return verify


@pytest.mark.parametrize(
    "method", ["noisy-gd", "objective-perturbation", "sufficient-statistics", "staged with a head"]
)
def test_no_number_of_the_facts_ends_the_verifier(method: str) -> None:
    """Squares of the least and the largest floats are 0 or infinite: every check is made, nothing is raised."""
    paper = json.loads(dumped(papers("published", method)))
    stated = [path for path, value in leaves(paper["public_facts"]) if isinstance(value, float) and value]
    assert len(stated) > 6
    for path in stated:
        for value in (1e-300, 1e300):
            checks = verify_certificate(with_value(paper, ("public_facts", *path), value)).checks
            assert [check.name for check in checks] == ["format", "signature", "facts", "claims"], (path, value)


def tried(count: int, seed: int, key: Path, *kinds: tuple[str, str]) -> tuple[list[str], int]:
    """Mutants field by field of papers of these kinds."""
    wrong, passed = [], 0
    for number, (status, certificate) in enumerate(kinds):
        paper = sign_document(json.loads(dumped(papers(status, certificate))), key)
        assert verifier(key)(dumped(paper))
        made = mutants(paper, lambda changed: sign_document(changed, key), count, seed + number)
        found, fine = verdicts(made, verifier(key))
        wrong, passed = wrong + found, passed + fine
    return wrong, passed


def mixed(count: int, seed: int, key: Path) -> tuple[list[str], int]:
    """Mutants made of parts of papers of all kinds."""
    signed = [sign_document(json.loads(dumped(papers(*kind))), key) for kind in KINDS]
    return verdicts(mixtures(signed, lambda changed: sign_document(changed, key), count, seed), verifier(key))


@pytest.mark.parametrize("method", ["noisy-gd", "output-perturbation, warm", "staged"])
def test_a_few_mutants_claim_no_more_than_follows_from_the_facts(key: Path, method: str) -> None:
    assert tried(12, 7, key, ("published", method))[0] == []


def test_no_mutant_claims_more_than_follows_from_the_facts(key: Path) -> None:
    wrong, passed = tried(300, 7, key, ("published", "noisy-gd"))
    others = ("objective-perturbation", "output-perturbation, warm", "staged", "noisy-gd:analysis=composition")
    more, _ = tried(30, 5, key, *(("published", method) for method in others))
    few, _ = tried(4, 3, key, ("published", "mixed"))
    swapped, held = mixed(200, 9, key)
    assert wrong + more + few + swapped == []
    assert passed > 10  # stated facts in their ranges are the signer's word: the verifier does not refuse everything
    assert held > 3


@pytest.mark.long
def test_no_mutant_of_ten_thousand_claims_more_than_follows_from_the_facts(
    key: Path, record_property: Callable[[str, str], None]
) -> None:
    assert sum(KINDS.values()) == 10_000
    wrong, passed = [], 0
    for number, (kind, count) in enumerate(KINDS.items()):
        found, fine = tried(count // 2, 1000 + number, key, kind)
        wrong, passed = wrong + found, passed + fine
    swapped, held = mixed(5000, 77, key)
    record_property(
        "evidence",
        f"10,000 mutants of {len(KINDS)} signed certificates, half of them made of parts of several: {len(wrong + swapped)} unsafe ones "
        f"verify; {passed + held} harmless ones do",
    )
    assert wrong + swapped == []
    assert passed > 300


def test_claims_are_checked_whatever_version_is_named(key: Path) -> None:
    paper = json.loads(dumped(papers("published", "noisy-gd")))
    other = with_value(paper, ("identity", "version"), "9.9.9")
    assert verifier(key)(dumped(sign_document(other, key)))
    for part, value in (("of_hundred", 50), ("advantage", 0.0), ("worlds", "zero-out"), ("unit", "person")):
        forged = sign_document(with_value(other, at(paper, "erased.all", "values", part), value), key)
        assert not verify_certificate(forged, public_key=f"{key}.pub").passed


@pytest.mark.parametrize("values", ["", [], [["rows", 2]]])
def test_values_that_are_no_object_are_no_claim(key: Path, values: object) -> None:
    paper = json.loads(dumped(papers("published", "noisy-gd")))
    place = next(at for at, claim in enumerate(paper["claims"]) if claim["values"] == ({"rows": 2} if values else {}))
    paper["claims"][place]["values"] = values
    assert not verifier(key)(dumped(sign_document(paper, key)))


@pytest.mark.parametrize("fault", ["figures", "conditions", "extras", "facts"])
def test_a_verifier_with_a_check_less_would_be_caught(key: Path, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    """Power: each part of the verification, taken out, lets unsafe mutants through."""
    honest = verification.covers_claim
    if fault == "figures":
        monkeypatch.setattr(verification, "_is_at_least", lambda *_: True)
    elif fault == "conditions":
        monkeypatch.setattr(
            verification, "covers_claim", lambda claim, due: honest(replace(claim, conditions=due.conditions), due)
        )
    elif fault == "extras":
        monkeypatch.setattr(verification, "of_history", lambda key: True)
    else:
        monkeypatch.setattr(verification, "_check_facts", lambda paper: Check("facts", True, ""))
    wrong, _ = tried(200, 7, key, ("published", "noisy-gd"))
    swapped, _ = mixed(150, 9, key)
    assert wrong + swapped != []

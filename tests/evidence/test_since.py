"""A certificate owes the claims of the catalogue that it names: a new claim or fact breaks none, and what it gets wrong still does."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from noisygd_delete.evidence import (
    certificate,
    claims,
    derivation,
    facts,
    sign_document,
    verification,
    verify_certificate,
)
from noisygd_delete.evidence.claims import KEYS, Claim, Claimable
from noisygd_delete.records import limited_io

from ..reports.certificate_mutations import dumped
from ..reports.test_certificate_mutations import papers

NEW = "new-claim"
KINDS = (("published", "noisy-gd"), ("pending", "noisy-gd:analysis=paper"), ("withheld", "output-perturbation, warm"))


@pytest.fixture(scope="module")
def issued(key: Path) -> list[str]:
    """Certificates of catalogue 1, written before anything is changed."""
    return [signed(*kind, key) for kind in KINDS]


def signed(status: str, method: str, key: Path) -> str:
    return dumped(sign_document(papers(status, method), key))


def holds(text: str) -> bool:
    return verify_certificate(limited_io.parse_json(text)).passed


def derive_more(more: Callable[[tuple[Claim, ...]], tuple[Claim, ...]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Have writer and verifier derive other claims than today's."""
    right = derivation.claims_of
    for module in (certificate, verification):
        monkeypatch.setattr(module, "claims_of", lambda *given: more(right(*given)))


def add_claim(role: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Add a claim to the table, of a new catalogue, and derive it from every erasure; a "figure condition" goes with each figure."""
    monkeypatch.setitem(KEYS, NEW, Claimable(role.removeprefix("figure "), {}, since=2))
    for module in (claims, certificate):
        monkeypatch.setattr(module, "CATALOGUE", 2)
    for function in (certificate.facts_to_json,):
        monkeypatch.setitem(function.__kwdefaults__, "catalogue", 2)
    if role == "figure condition":
        derive_more(lambda found: tuple(on_figures(claim) for claim in found), monkeypatch)
    else:
        derive_more(lambda found: (*found, Claim(NEW, {})), monkeypatch)


def on_figures(claim: Claim) -> Claim:
    return replace(claim, conditions=(*claim.conditions, NEW)) if "advantage" in claim.values else claim


ROLES = ("uncovered", "condition", "figure condition", "notice", "duty", "limit", "done")


@pytest.mark.parametrize("role", ROLES)
def test_a_new_claim_breaks_no_certificate_of_an_earlier_catalogue_and_is_owed_from_its_own_on(
    role: str, issued: list[str], key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_claim(role, monkeypatch)
    assert all(map(holds, issued))
    new = signed(*KINDS[0], key)
    assert holds(new)
    assert NEW in new
    without = limited_io.parse_json(new)
    without["claims"] = [
        {**claim, "conditions": [name for name in claim["conditions"] if name != NEW]}
        for claim in without["claims"]
        if claim["key"] != NEW
    ]
    assert not holds(dumped(sign_document(without, key))), "it names the catalogue that has the claim"
    older = limited_io.parse_json(new)
    older["identity"]["catalogue"] = 1
    assert not holds(dumped(sign_document(older, key))), "its catalogue has no such claim"


def test_a_certificate_of_a_later_catalogue_is_not_judged(key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as later:
        add_claim("notice", later)
        new = signed(*KINDS[0], key)
        assert holds(new)
    assert not holds(new)


@pytest.mark.parametrize("number", [0, -1, 2, 1.5, "1", True, None, [1]])
def test_a_catalogue_that_is_none_is_refused(number: Any, key: Path) -> None:
    paper = papers(*KINDS[0])
    paper["identity"]["catalogue"] = number
    assert not holds(dumped(sign_document(paper, key)))


def test_a_new_fact_is_stated_from_its_catalogue_on(
    issued: list[str], key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @dataclass(frozen=True, kw_only=True)
    class Later(facts.Erasure):
        weather: str = "unknown"

    add_claim("notice", monkeypatch)
    known = copy.deepcopy(certificate._FACTS)
    known["evidence"]["weather"] = "weather"
    monkeypatch.setattr(certificate, "_FACTS", known)
    monkeypatch.setattr(certificate, "_SINCE", {"weather": 2})
    monkeypatch.setattr(certificate, "Erasure", Later)
    monkeypatch.setattr("tests.reports.test_certificate_mutations.Erasure", Later)
    assert all(map(holds, issued))
    new = papers(*KINDS[0])
    assert new["evidence"]["weather"] == "unknown"
    assert holds(dumped(sign_document(new, key)))
    del new["evidence"]["weather"]
    assert not holds(dumped(sign_document(new, key)))
    monkeypatch.setattr(certificate, "_SINCE", {})
    assert not any(map(holds, issued)), (
        "power: without its catalogue the fact is missing from every earlier certificate"
    )

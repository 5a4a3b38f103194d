"""A verifier in one file, which shares nothing with the package, agrees on papers of its two methods, and with the package on who may not pass."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from noisygd_delete.accountant import Event
from noisygd_delete.evidence import erasure_certificate, sign_document, verify_certificate
from noisygd_delete.evidence.facts import Erasure
from noisygd_delete.records import EditCounts, limited_io

from ..bank import plan_by
from ..oracles import third_verifier as third
from ..reports.certificate_mutations import dumped, mixtures, mutants
from ..reports.histories import history
from ..reports.test_certificate_mutations import papers

METHODS = (
    "noisy-gd",
    "noisy-gd, over the reals",
    "output-perturbation, over the reals",
    "output-perturbation, cold",
    "output-perturbation, warm",
    "sufficient-statistics",
)


def judged(text: str) -> bool:
    try:
        third.check(limited_io.parse_json(text))
    except (third.Refused, KeyError, TypeError, ValueError, AttributeError, OverflowError, ZeroDivisionError):
        return False
    return True


def test_it_is_short_and_imports_nothing_of_the_package() -> None:
    text = Path(str(third.__file__)).read_text()
    assert len(text.splitlines()) <= 600
    names = {node.module or "" for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)}
    assert not [name for name in names if "noisygd" in name]


@pytest.mark.parametrize("method", METHODS)
def test_it_holds_papers_of_random_histories(method: str, key: Path) -> None:
    found = 0
    for seed in range(0, 30, 3):  # these have neither extractors nor, but for some, statistics
        plan, events, number = history(method, seed)
        if any(str(event.kind) in ("statistic", "extractor") for event in events):
            continue
        for facts in ({"release": number}, {"release": None, "status": "pending"}):
            erasure = Erasure(rows=2, replaced=1, **facts)
            paper = dumped(sign_document(erasure_certificate(erasure, plan=plan, events=events), key))
            third.check(json.loads(paper))
            found += 1
    assert found > 4


def test_it_judges_no_method_but_its_own(key: Path) -> None:
    assert judged(dumped(sign_document(papers("published", "noisy-gd"), key)))
    assert not judged(dumped(sign_document(papers("published", "objective-perturbation"), key)))


def test_no_unsafe_mutant_passes_it_and_what_passes_both_is_the_same(key: Path) -> None:
    """Of what it looks at (figures, conditions, units): nothing that the package refuses for such a claim passes here, and the other way round."""
    signed = [
        sign_document(json.loads(dumped(papers(*kind))), key)
        for kind in (("published", "noisy-gd"), ("withheld", "noisy-gd"))
    ]
    plan, events, number = history("output-perturbation, warm", 6)
    solved = erasure_certificate(Erasure(rows=2, replaced=1, release=number), plan=plan, events=events)
    signed.append(sign_document(json.loads(dumped(solved)), key))
    made = [
        one
        for number, paper in enumerate(signed)
        for one in mutants(paper, lambda changed: sign_document(changed, key), 60, 400 + number)
    ]
    made += mixtures(signed, lambda changed: sign_document(changed, key), 120, 41)
    both = 0
    for text, fine, done in made:
        try:
            here = judged(text)
            there = verify_certificate(limited_io.parse_json(text)).passed
        except ValueError:
            continue
        assert fine or not there, done
        if there:
            # it asks for less than the package, and for more of one thing alone: that every release's exact steps are of this loss
            assert here or ".mechanism.exact" in done, done
            both += 1
    assert both > 10
    weak = 0
    for paper in signed:
        for i, claim in enumerate(paper["claims"]):
            if "advantage" not in claim["values"]:
                continue
            for name in ("gdp", "advantage", "epsilon", "renyi"):
                if claim["values"][name]:
                    changed = json.loads(dumped(paper))
                    changed["claims"][i]["values"][name] *= 0.999
                    text = dumped(sign_document(changed, key))
                    assert not judged(text), (claim["key"], name)
                    assert not verify_certificate(json.loads(text)).passed
                    weak += 1
    assert weak > 20


def test_figures_of_sums_are_near_the_least_and_smaller_ones_refused(key: Path) -> None:
    """Of one chain."""
    plan = plan_by("sufficient-statistics")
    erases = EditCounts(deleted=1, replaced=1)
    events = [Event("learn", 0, 0, plan.mechanism), *[Event("unlearn", 0, 2, plan.mechanism, erases)] * 5]
    paper = sign_document(erasure_certificate(Erasure(rows=2, replaced=1, release=6), plan=plan, events=events), key)
    third.check(json.loads(dumped(paper)))
    refused = 0
    for i, claim in enumerate(paper["claims"]):
        for name in ("gdp", "advantage", "epsilon") if claim["values"].get("gdp") else ():
            changed = json.loads(dumped(paper))
            changed["claims"][i]["values"][name] *= 0.98
            refused += not judged(dumped(sign_document(changed, key)))
    assert refused == 6  # of the erased; one that is still there is charged as if it could have left
    beyond = [*events, *[events[-1]] * 3]
    with pytest.raises(third.Refused, match="more draws"):
        third.of_sums(
            [
                third.Release(str(e.kind), 0, third.Sums(plan.mechanism.to_dict(), plan.problem.to_dict()))
                for e in beyond
            ],
            None,
            True,
        )

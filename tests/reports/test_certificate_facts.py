"""What the operator states in a certificate: types, ranges, order, and words that claim no more than is known."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from noisygd_delete.accountant import Event
from noisygd_delete.accountant.tallies import MOST_TALLIES
from noisygd_delete.cli import main
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.evidence import Erasure, erasure_certificate, sign_document, verify_certificate
from noisygd_delete.evidence.certificate import plan_facts
from noisygd_delete.evidence.notices import Notices
from noisygd_delete.evidence.verification import history_fault
from noisygd_delete.methods.serialization import FORECASTS
from noisygd_delete.records import EditCounts
from noisygd_delete.reports import certificate_html

from ..bank import FURTHER, PROBLEMS, plan_by
from ..evidence.reading_papers import figure, said
from .certificate_mutations import with_value
from .histories import releases, usual_plan


@pytest.fixture(scope="module")
def plan():
    return usual_plan()


@pytest.fixture(scope="module")
def paper(plan):
    erasure = Erasure(
        rows=2, release=2, request_id="5b0c7e", received="2026-03-31T01:00:00+02:00", edited="2026-04-01T10:00:00Z",
        served="2026-04-02T10:00:00Z", controller="Example Ltd", checked="the store is whole", ledger_entries=3,
        ledger_sha256="ab" * 32, model_before="1" * 64, model_after="2" * 64,
        audit=({"name": "membership", "measured_lower_bound": 0.02, "claimed_advantage": 0.4},),
    )  # fmt: skip
    events = releases(plan, EditCounts(deleted=2))
    return json.loads(json.dumps(erasure_certificate(erasure, plan=plan, events=events, issued="2026-04-03T00:00:00Z")))


@pytest.mark.parametrize("name", [*PROBLEMS, *FURTHER])
def test_a_paper_has_the_numbers_of_its_plan_without_forecasts_and_of_each_stage_if_there_are_stages(name: str) -> None:
    def check(facts: dict, whole: dict) -> None:
        assert set(facts) == set(whole) - set(FORECASTS)
        assert set(facts["problem"]) == set(whole["problem"]) - set(FORECASTS)
        for stage, given in zip(facts.get("stages", ()), whole.get("stages", ()), strict=True):
            check(stage, given)

    plan = plan_by(name)
    check(plan_facts(plan), plan.to_dict())
    assert ("stages" in plan_facts(plan)) == name.startswith("staged")


def test_it_verifies(paper, key: Path) -> None:
    assert verify_certificate(sign_document(paper, key), public_key=f"{key}.pub").passed


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("evidence", "audit", 0, "measured_lower_bound"), -5),
        (("evidence", "audit", 0, "measured_lower_bound"), 0.9),  # more than is claimed: a finding, not evidence
        (("evidence", "audit", 0, "claimed_advantage"), 1.5),
        (("evidence", "audit", 0, "claimed_advantage"), True),
        (("evidence", "audit", 0), {"name": "a"}),
        (("evidence", "audit"), [{"name": "a", "measured_lower_bound": 0.0, "claimed_advantage": 1.0}] * 101),
        (("evidence", "ledger_entries"), -1),
        (("evidence", "ledger_entries"), 2),  # two releases and the beginning are three entries
        (("evidence", "ledger_entries"), None),
        (("evidence", "ledger_sha256"), "AB" * 32),
        (("evidence", "checked"), ""),
        (("evidence", "checked"), ["whole"]),
        (("evidence", "extra"), 1),
        (("action", "model_after_sha256"), True),
        (("action", "model_before_sha256"), "0" * 63),
        (("request", "received"), "2026-04-05T00:00:00+02:00"),  # after it was served
        (("request", "edited"), "2026-04-05"),
        (("request", "served"), "2026-04-05"),  # after the certificate was issued
        (("request", "served"), "2026-04-02T12:00:00+02:00"),  # a moment: how long a run took may depend on the records
        (("request", "rows"), 2.5),
        (("request", "rows"), 3),
        (("request", "replaced"), 1),
        (("request", "remaining"), -1),
        (("evidence", "from_data"), ["age"]),
        (("evidence", "from_data"), "age"),
        (("request", "inserted"), 1),
        (("request", "request_id"), 7),
        (("request", "request_id"), "\x1b[2Jeverything is fine"),
        (("identity", "issued"), "yesterday"),
        (("identity", "version"), None),
        (("identity", "version"), {"major": 0}),
        (("identity", "version"), "٠.٢.٠"),
        (("identity", "controller"), "Example \ufffd Ltd"),
        (("identity", "software"), "something else"),
        (("identity", "certificate_id"), "1"),
        (("identity", "controller"), "x" * 5000),
        (("identity", "extra"), "x"),
        (("public_facts", "ledger", 1, "mechanism", "proven"), "yes"),
        (("public_facts", "ledger", 0, "mechanism", "warm"), 0),
        (("public_facts", "delta"), 0.5),
        (("public_facts", "delta"), 1e-7),
        (("public_facts", "extra"), 0.5),
    ],
)
def test_a_signer_may_state_no_fact_outside_its_range(paper, key: Path, path: tuple, value: object) -> None:
    forged = sign_document(with_value(paper, path, value), key)
    answer = verify_certificate(forged, public_key=f"{key}.pub")
    assert answer.checks[1].passed  # honestly signed
    assert not answer.passed, answer.text()


@pytest.mark.parametrize("named", [None, {}, [], 3, *(f"noisygd-delete/erasure-certificate/{n}" for n in (0, 1, 2, 4))])
def test_a_format_that_is_none_is_answered(paper, key: Path, named: object) -> None:
    holds = verify_certificate(sign_document({**paper, "format": named}, key)).passed
    assert holds == (named == "noisygd-delete/erasure-certificate/1")
    for nonsense in (named, [named], {"format": named}):
        assert not verify_certificate(nonsense).passed


def test_a_name_given_twice_is_refused_by_the_command(paper, key: Path, tmp_path: Path, capsys) -> None:
    text = json.dumps(sign_document(paper, key), indent=2)
    for name in ("rows", "advantage", "version", "value"):
        at = text.index(f'"{name}": ')
        file = tmp_path / f"{name}.json"
        file.write_text(f'{text[:at]}"{name}": 0.0001, {text[at:]}')
        assert main(["verify-certificate", str(file), "--public-key", f"{key}.pub"]) == 2
        assert "a second time" in capsys.readouterr().err


def test_no_claim_is_left_out_or_stands_without_its_conditions(paper, key: Path) -> None:
    for i, claim in enumerate(paper["claims"]):
        less = {**paper, "claims": [*paper["claims"][:i], *paper["claims"][i + 1 :]]}
        answer = verify_certificate(sign_document(less, key))
        assert not answer.passed
        assert claim["key"] in answer.text()
        for condition in claim["conditions"]:
            left = [name for name in claim["conditions"] if name != condition]
            assert not verify_certificate(
                sign_document(with_value(paper, ("claims", i, "conditions"), left), key)
            ).passed


def test_no_sentence_claims_more_than_a_bound(paper, key: Path) -> None:
    """What docs/conformance.md and docs/threat-model.md say of the sentences; and what is the operator's word is set apart."""
    page = certificate_html(paper)
    said = json.dumps(paper, ensure_ascii=False) + page
    assert not [
        claim
        for claim in ("forgotten", "contains no personal data", "de-identified", "GDPR-compliant")
        if claim in said
    ]
    assert "a limited statistical trace may remain" in said
    assert "pseudonym" in page
    assert "Stated by the operator" in page
    assert "operator's word" in verify_certificate(sign_document(paper, key)).text()


def test_a_figure_for_later_models_stands_with_its_condition_and_beside_the_sum(paper) -> None:
    figures = [claim for claim in paper["claims"] if claim["key"].startswith(("erased.", "present."))]
    assert [claim["key"] for claim in figures] == ["erased.later", "erased.all", "present.one", "present.all"]
    for claim in figures:
        alone = claim["key"] in ("erased.later", "present.one")
        target = "record-fixed" if claim["key"].startswith("present.") else "target-fixed"
        assert claim["conditions"] == (["requests-blind", target] if alone else [target, "schedule-fixed"])


def test_one_question_to_a_table(plan) -> None:
    """ "Was it ever there?" and "was it x or x′?" are never read off one column."""
    erasure = Erasure(rows=2, replaced=1, release=2)
    page = certificate_html(
        erasure_certificate(erasure, plan=plan, events=releases(plan, EditCounts(deleted=1, replaced=1)))
    )
    titles = re.split("<table[^>]*>", page.split("<h2>Guarantees</h2>")[1].split("<h2>")[0])
    tables = [table.split("</table>")[0] for table in titles[1:]]
    of_another = [any(word in table for word in ("replaced", "rectification", "still there")) for table in tables]
    assert of_another == [False, True]
    assert "ever in the data" in titles[0]


def test_the_page_shows_each_bound_rounded_up_as_the_command_does(paper) -> None:
    odds = 50 + -(-figure(paper, "erased.all")["advantage"] * 50 // 1)
    assert figure(paper, "erased.all")["of_hundred"] == odds
    assert f">{odds:.0f}</td>" in certificate_html(paper)
    assert f"right at most {odds:.0f} times in 100" in said(paper)


@pytest.mark.parametrize(
    ("edits", "asked", "right", "wrong"),
    [
        (EditCounts(deleted=2), {"rows": 2}, ["2 records were erased"], ["rectification", "inserted", "new record in"]),
        (EditCounts(replaced=1), {"rows": 1, "replaced": 1}, ["rectification, Article 16", "which of two contents"], ["was ever in the data"]),
        (
            EditCounts(deleted=1, replaced=2, inserted=3),
            {"rows": 3, "replaced": 2, "inserted": 3},
            ["One record was erased", "earlier content of 2 records was erased", "3 new records in: nothing was erased for that"],
            [],
        ),
    ],
)  # fmt: skip
def test_each_kind_of_edit_is_called_by_its_name(plan, key: Path, edits, asked, right, wrong) -> None:
    made = sign_document(erasure_certificate(Erasure(release=2, **asked), plan=plan, events=releases(plan, edits)), key)
    assert verify_certificate(json.loads(json.dumps(made)), public_key=f"{key}.pub").passed
    told = said(made)
    for words in right:
        assert words in told
    for words in wrong:
        assert words not in told


@pytest.mark.parametrize(
    ("edits", "asked"),
    [
        (EditCounts(inserted=2), {"rows": 2}),
        (EditCounts(replaced=2), {"rows": 1}),
        (EditCounts(deleted=2), {"rows": 1, "replaced": 1}),
        (EditCounts(deleted=2), {"rows": 1, "inserted": 1}),
        (EditCounts(deleted=1, inserted=5), {"rows": 2}),
    ],
)
def test_a_release_is_certified_for_what_it_did_only(plan, edits, asked) -> None:
    with pytest.raises(InvalidParameter, match="covers"):
        erasure_certificate(Erasure(release=2, **asked), plan=plan, events=releases(plan, edits))


def test_edits_of_unknown_kind_are_the_operators_word(plan) -> None:
    """Events may state only how many rows were edited."""
    made = erasure_certificate(Erasure(rows=1, release=2), plan=plan, events=releases(plan, EditCounts(unrecorded=2)))
    assert "is the operator's statement" in said(made)


def test_a_model_learned_afresh_is_not_said_to_start_from_an_earlier_one(plan) -> None:
    events = [*releases(plan), Event("relearn", plan.calibration.learn_steps, 1, plan.mechanism, EditCounts(deleted=1))]
    told = said(erasure_certificate(Erasure(rows=1, release=2), plan=plan, events=events))
    assert "learned afresh from the records that remain" in told
    assert "trace" not in told


@pytest.mark.parametrize(
    "facts",
    [
        {"received": "2026-04-03T00:00:00Z", "served": "2026-04-02T00:00:00Z"},
        {"received": "0001-01-01T00:00:00+14:00"},
        {"received": "9999-12-31T23:00:00-11:00"},
        {"edited": "2026-04-03T00:00:00Z", "served": "2026-04-02T00:00:00Z"},
        {"status": "pending", "release": None, "served": "2026-04-02T00:00:00Z"},
        {"status": "withheld", "release": None, "model_after": "1" * 64},
        {"replaced": 2},
        {"controller": "\u2028"},
        {"ledger_entries": 0, "ledger_sha256": "1" * 64},
        *(
            {"residue": [{"place": "logs", "verdict": verdict, "found": found, "remedy": None}]}
            for verdict, found in (("RESIDUAL", 0), ("ERASED", 1), ("NOT COVERED", 2), ("ERASED", -1), ("GONE", 0))
        ),
        *(
            {"publishers": [{"kind": "folder", "release": release, "oldest": oldest}]}
            for release, oldest in ((2, 3), (1, None), (0, 0))
        ),
    ],
)
def test_facts_that_cannot_be_are_not_certified(plan, facts: dict) -> None:
    with pytest.raises(InvalidParameter):
        Erasure(**{"rows": 1, "release": 2, **facts})


HUGE = {"records": 10**4000, "regularization": 1e-300, "features": 2**62}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        *[(("public_facts", "plan", "problem", name), value) for name, value in HUGE.items()],
        (("public_facts", "plan", "problem", "regularization"), 1e-15),
        (("public_facts", "plan", "problem", "start"), "output-perturbation"),
        (("public_facts", "plan", "learn_steps"), 10**300),
        (("public_facts", "plan", "noise_variance"), 1e-320),
        (("public_facts", "ledger", 0, "steps"), 10**300),
        (("public_facts", "ledger", 0, "releases"), 10**9),
        (("public_facts", "ledger", 0, "releases"), 10**300),
        (("public_facts", "ledger"), [{}] * 200_000),
        (("public_facts", "ledger"), "x" * 10_000_000),
        (("claims",), [{"key": "not-anonymous", "values": {}, "conditions": []}] * 300_000),
        (("identity", "controller"), "\x1b]0;" + "y" * 3_000_000),
    ],
)  # fmt: skip
def test_whatever_a_stranger_hands_in_is_answered_in_seconds(paper, tmp_path: Path, capsys, path, value) -> None:
    """Through the command, signed or not; no long text and no control character comes back."""
    file = tmp_path / "paper.json"
    file.write_text(json.dumps(with_value(paper, path, value)))
    began = time.process_time()
    status = main(["verify-certificate", str(file)])
    assert time.process_time() - began < 10
    said = "".join(capsys.readouterr())
    assert status in (2, 5)
    assert len(said) < 20_000
    assert "\x1b" not in said


def test_a_long_history_of_different_mechanisms_is_answered_in_seconds(paper, key: Path) -> None:
    """No two releases alike, all of them accounted; and more than a certificate may hold."""
    learned, served = paper["public_facts"]["ledger"]
    others = [
        {**learned, "kind": "relearn", "mechanism": {**learned["mechanism"], "noise_variance": 1 + number / 1e6}}
        for number in range(3000)
    ]
    facts = with_value(paper, ("evidence", "ledger_entries"), 10**6)
    for events, answer in (
        ([learned, served, *others], "states too little"),
        ([served] * (MOST_TALLIES + 1), "at most"),
    ):
        signed = sign_document(with_value(facts, ("public_facts", "ledger"), events), key)
        began = time.process_time()  # work, whatever else the machine does
        checks = verify_certificate(signed).checks
        assert time.process_time() - began < 10
        assert not checks[3].passed
        assert answer in checks[3].detail or answer == "states too little"


def check(paper, name: str) -> bool:
    """What the verification says of one check, signature aside."""
    return next(one.passed for one in verify_certificate(paper).checks if one.name == name)


def test_a_plan_is_one_that_its_method_covers_within_its_budget(paper) -> None:
    plan = ("public_facts", "plan")
    assert check(paper, "facts")
    assert not check(with_value(paper, (*plan, "gradient_tolerance"), -0.0), "facts")  # another number to a reader
    for name, factor in (("noise_variance", 0.5), ("step_size", 3.0)):
        value = paper["public_facts"]["plan"][name]
        assert not check(with_value(paper, (*plan, name), type(value)(value * factor)), "facts"), name
    assert not check(with_value(paper, (*plan, "problem", "budget", "dp"), 0.5), "facts")
    for name, factor in (("noise_variance", 2.0), ("step_size", 0.5)):  # another plan than the release was made by
        value = paper["public_facts"]["plan"][name]
        assert not check(with_value(paper, (*plan, name), value * factor), "claims"), name


@pytest.mark.parametrize(
    ("name", "value"), [("proven", 1), ("slack", True), ("rows_per_subject", True), ("rows_per_subject", 1.5)]
)
def test_every_field_of_a_release_has_its_type(paper, name: str, value: object) -> None:
    """1 equals true to Python, and is another value in a file that others read."""
    checks = verify_certificate(with_value(paper, ("public_facts", "ledger", 0, "mechanism", name), value)).checks
    claims = next(one for one in checks if one.name == "claims")
    assert not claims.passed
    assert f"{name}: Expected" in claims.detail


def test_a_whole_number_is_the_fraction_it_equals(plan) -> None:
    """λ = 1.0 as JSON writers of other languages put it."""
    whole = usual_plan(regularization=1.0)
    erasure = Erasure(rows=2, release=2, checked="the store is whole", model_before="1" * 64, model_after="2" * 64)
    events = releases(whole, EditCounts(deleted=2))
    paper = json.loads(json.dumps(erasure_certificate(erasure, plan=whole, events=events)))
    path = ("public_facts", "plan", "problem", "regularization")
    assert check(with_value(paper, path, 1), "claims")
    assert not check(with_value(paper, path, 2), "claims")


def test_a_history_that_ends_exactly_where_the_certificate_was_issued_continues_it(paper, key: Path) -> None:
    def fault(length: int, entries: object) -> str | None:
        ledger = SimpleNamespace(entries=[None] * length, digests=[f"{number:064x}" for number in range(length)])
        evidence = {**paper["evidence"], "ledger_entries": entries, "ledger_sha256": f"{(entries or 1) - 1:064x}"}
        return history_fault(ledger, sign_document({**paper, "evidence": evidence}, key))

    assert fault(length=3, entries=3) is None
    assert fault(length=4, entries=3) is None
    assert fault(length=1, entries=1) is None
    assert "older copy" in str(fault(length=2, entries=3))
    assert "does not say" in str(fault(length=3, entries=0))


@pytest.mark.parametrize(
    "stated",
    [
        {"informed": "2026-03-31"},  # the rows were edited on the 1st of April
        {"informed": "2026-04-04"},  # the paper is of the 3rd
        {"recipients": 2, "recipients_informed": "2026-03-31"},
        {"recipients": 2, "recipients_informed": "2026-04-04"},
        {"backups_until": "2026-03-31"},
        {"withdrawn": "2026-03-31"},
    ],
)
@pytest.mark.parametrize("release", [2, None])
def test_nobody_is_told_before_it_was_done_and_no_paper_knows_what_is_to_come(plan, stated: dict, release) -> None:
    facts = {"rows": 1, "received": "2026-03-31T01:00:00+02:00", "edited": "2026-04-01T10:00:00Z"}
    status = "pending" if release is None else "published"
    erasure = Erasure(**facts, release=release, status=status, notices=Notices(**stated))
    events = releases(plan, EditCounts(deleted=1))
    with pytest.raises(InvalidParameter, match=r"precedes 2026-04-01|follows 2026-04-03"):
        erasure_certificate(erasure, plan=plan, events=events, issued="2026-04-03T00:00:00Z")
    allowed = {name: "2026-04-02" if name != "recipients" else 2 for name in stated}
    told = Erasure(**facts, release=release, status=status, notices=Notices(**allowed))
    erasure_certificate(told, plan=plan, events=events, issued="2026-04-03T00:00:00Z")

"""Certificates of version 0.1.0: recomputed where they can be, and never judged better than they deserve."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from noisygd_delete.cli import main
from noisygd_delete.evidence import verify_certificate

from ..oracles import certificate as oracle
from .certificate_mutations import dumped, with_value

FOLDER = Path(__file__).parents[1] / "samples" / "version-0.1" / "certificates"
SAMPLES = sorted(FOLDER.glob("*.json"))
KEY = Ed25519PrivateKey.generate()


def earlier(paper: dict) -> dict:
    """Signed as version 0.1.0 did."""
    unsigned = {name: part for name, part in paper.items() if name != "signature"}
    text = json.dumps(unsigned, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return oracle.signed(unsigned, KEY, "Ed25519 over canonical JSON", text.encode())


@pytest.fixture(scope="module")
def paper() -> dict:
    return json.loads((FOLDER / "sharp.json").read_text())


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_what_version_0_1_0_issued_still_verifies_and_says_what_it_leaves_open(sample: Path, capsys) -> None:
    assert main(["verify-certificate", str(sample)]) == 0
    said = capsys.readouterr().out
    for words in (
        "/erasure-certificate/1",
        "unaltered since key",
        "figures: each at least",
        "the figures hold, and nothing beyond",
    ):
        assert words in said
    for open_question in ("its sentences", "deadline", "claim more than a bound", "again"):
        assert open_question in said.split("not recomputed:", 1)[1]
    assert "the certificate holds" not in said
    assert main(["verify-certificate", str(sample), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["passed"]
    assert len(answer["not_recomputed"]) == 2


def test_there_are_samples_of_every_kind() -> None:
    assert {path.stem for path in SAMPLES} == {
        *("minimiser-warm", "sharp", "sharp-gdp-pairwise", "sharp-withheld", "theorem-epsilon-delta-pending"),
    }


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("identity", "version"), "9.9.9"),  # switched the check of sentences off
        (("statement", "guarantees", "extra"), 1),
        (("statement", "guarantees", "erased_all_models", "advantage"), 0.01),
        (("statement", "guarantees", "erased_all_models", "holds_only_if"), None),
        (("evidence", "audit"), [{"name": "a", "measured_lower_bound": -5, "claimed_advantage": 0.1}]),
        (("evidence", "ledger_entries"), -1),
        (("request", "received"), "2026-02-05T10:00:00+00:00"),  # after it was served
        (("request", "deadline"), "2026-03-31T10:00:00+00:00"),
        (("request", "rows"), 3),
        (("request", "deleted"), 2),
        (("action", "model_after_sha256"), True),
        (("public_facts", "plan", "noise_variance"), 0.00039),
        (("public_facts", "ledger", 1, "steps"), 44),
        (("public_facts", "ledger", 1, "counts"), {"deleted": 2, "replaced": 0, "inserted": 0, "unrecorded": 0}),
        (("format",), "noisygd-delete/erasure-certificate/2"),
    ],
)
def test_no_fault_of_old_passes_because_a_paper_is_old(paper, path: tuple, value: object) -> None:
    forged = earlier(with_value(paper, path, value))
    answer = verify_certificate(forged)
    assert answer.checks[1].passed == (path != ("format",))
    assert not answer.passed, answer.text()


def test_a_name_given_twice_is_refused(paper, tmp_path: Path) -> None:
    file = tmp_path / "paper.json"
    file.write_text(dumped(paper).replace('"rows": 2', '"rows": 1, "rows": 2', 1))
    assert main(["verify-certificate", str(file)]) == 2


def test_each_format_is_signed_in_its_own_form(paper) -> None:
    unsigned = {name: part for name, part in paper.items() if name != "signature"}
    for algorithm in ("Ed25519 over canonical JSON", "Ed25519 over canonical JSON (RFC 8785)"):
        assert (
            not verify_certificate(oracle.signed(unsigned, KEY, algorithm, oracle.canonical(unsigned))).checks[1].passed
        )
    assert verify_certificate(earlier(paper)).passed

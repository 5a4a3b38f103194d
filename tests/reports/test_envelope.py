"""Certificates in the world's formats, judged by programs that are not ours: securesystemslib."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from noisygd_delete_compliance.translator import checker
from noisygd_delete_compliance.translator.demand import Demand

from noisygd_delete.cli import main
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.evidence import Erasure, erasure_certificate, new_key, sign_document, verify_certificate
from noisygd_delete.evidence.envelope import PAYLOAD, intoto_statement, make_envelope, open_envelope
from noisygd_delete.records import EditCounts
from tests.compliance.browser import in_a_browser
from tests.compliance.browser import judged as judged_by_page

from .histories import releases, usual_plan


@pytest.fixture(scope="module")
def paper(key: Path) -> dict:
    plan = usual_plan()
    events = releases(plan, EditCounts(deleted=1))
    erasure = Erasure(rows=1, release=2, model_after="2" * 64, ledger_entries=3, ledger_sha256="3" * 64)
    return sign_document(erasure_certificate(erasure, plan=plan, events=events), key)


def judged(envelope: dict, key: Path) -> bytes:
    """What securesystemslib says of an envelope: its payload, or an error."""
    from securesystemslib.dsse import Envelope
    from securesystemslib.signer import SSlibKey

    from noisygd_delete.evidence.signing import key_id, read_public

    public = read_public(f"{key}.pub")
    pem = Path(f"{key}.pub").read_text()
    known = SSlibKey(key_id(public), "ed25519", "ed25519", {"public": public.public_bytes_raw().hex()})
    assert pem.startswith("-----BEGIN PUBLIC KEY")
    read = Envelope.from_dict(json.loads(json.dumps(envelope)))
    assert read.payload_type == PAYLOAD
    read.verify([known], 1)
    return read.payload


def test_an_independent_library_opens_the_envelope_and_finds_the_certificate(paper: dict, key: Path) -> None:
    inside = json.loads(judged(make_envelope(paper, key), key))
    assert inside["_type"] == "https://in-toto.io/Statement/v1"
    assert inside["subject"] == [{"name": "model-2.safetensors", "digest": {"sha256": "2" * 64}}]
    assert verify_certificate(inside["predicate"], public_key=f"{key}.pub").passed
    again, check = open_envelope(make_envelope(paper, key), public_key=f"{key}.pub")
    assert check.passed
    assert again == json.loads(json.dumps(paper))


def test_the_published_schema_fits_certificates_and_nothing_else(paper: dict) -> None:
    from jsonschema import Draft202012Validator

    schema = json.loads((Path(__file__).parents[2] / "docs" / "erasure-certificate.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    judge = Draft202012Validator(schema)
    assert schema["$id"] == intoto_statement(paper)["predicateType"]
    assert judge.is_valid(json.loads(json.dumps(paper)))
    assert set(schema["properties"]["request"]["properties"]["notices"]["properties"]) == set(
        paper["request"]["notices"]
    )
    for wrong in (
        {name: block for name, block in paper.items() if name != "action"},
        {**paper, "more": 1},
        {**paper, "action": {**paper["action"], "model_after_sha256": "2"}},
        {**paper, "request": {**paper["request"], "rows": 0}},
        {**paper, "public_facts": {**paper["public_facts"], "ledger": [{"kind": "learn"}]}},
    ):
        assert not judge.is_valid(wrong)


def rewrapped(envelope: dict, **parts) -> dict:
    inside = json.loads(base64.b64decode(envelope["payload"]))
    return {**envelope, "payload": base64.b64encode(json.dumps({**inside, **parts}).encode()).decode()}


def test_what_that_library_refuses_is_refused_here(paper: dict, key: Path, tmp_path: Path) -> None:
    from securesystemslib.exceptions import VerificationError

    good = make_envelope(paper, key)
    (signature,) = good["signatures"]
    other = tmp_path / "other.pem"
    new_key(other)
    stranger = {**good, "signatures": make_envelope(sign_document(paper, other), other)["signatures"]}
    broken = base64.b64encode(bytes(64)).decode()
    for wrong in (
        {**good, "signatures": [{**signature, "sig": broken}]},
        rewrapped(good, subject=[{"name": "model-2.safetensors", "digest": {"sha256": "4" * 64}}]),
        stranger,
    ):
        with pytest.raises(VerificationError):
            judged(wrong, key)
        assert not open_envelope(wrong, public_key=f"{key}.pub")[1].passed
    for wrong in (
        {**good, "payloadType": "text/plain"}, {**good, "signatures": []}, {**good, "payload": "!"},
        {**good, "signatures": [signature, signature]}, {"payloadType": PAYLOAD}, {**good, "payload": base64.b64encode(b"[1]").decode()},
    ):  # fmt: skip
        assert not open_envelope(wrong, public_key=f"{key}.pub")[1].passed


def test_there_must_be_something_to_attest(paper: dict, key: Path) -> None:
    with pytest.raises(InvalidParameter, match="sign it first"):
        make_envelope({name: block for name, block in paper.items() if name != "signature"}, key)
    pending = {**paper, "action": {**paper["action"], "model_after_sha256": None, "release": None}}
    assert intoto_statement(pending)["subject"][0]["digest"] == {"sha256": "3" * 64}
    with pytest.raises(InvalidParameter, match="neither"):
        intoto_statement({**pending, "evidence": {**paper["evidence"], "ledger_sha256": None}})


def url_safe(text: str) -> str:
    return text.replace("+", "-").replace("/", "_")


def neighbours(good: dict, stranger: dict) -> list[dict]:
    """Envelopes that differ from a good one in what a reader of DSSE may meet: alphabets, further fields and signers, what is missing."""
    (one,), (other,) = good["signatures"], stranger["signatures"]
    listed = lambda *signatures: {**good, "signatures": list(signatures)}  # noqa: E731
    short, padded = one["sig"].rstrip("="), base64.b64encode(b"a").decode()
    return [
        {**good, "payload": url_safe(good["payload"])},
        {**good, "more": {"a": 1}},
        {**good, "payload": f" {good['payload']}"},
        {**good, "payload": f"={good['payload']}"},
        *({name: part for name, part in good.items() if name != left} for left in good),
        *({**good, "signatures": odd} for odd in (None, {}, {"a": 1}, "", "a", 1, [None], ["a"], [[]], [{}])),
        *(
            listed({**one, "sig": sig})
            for sig in (url_safe(one["sig"]), short, f"{one['sig']}\n", padded, "é", None, 1)
        ),
        *(listed({**one, "keyid": name}) for name in (None, "", one["keyid"].upper(), 1, [], {})),
        listed({"sig": one["sig"]}),
        listed({"keyid": one["keyid"]}),
        listed({**one, "cert": "x"}),
        listed(one, other),
        listed(other, one),
        listed(other),
        listed(one, {**other, "sig": "!"}),
        listed(one, {"sig": other["sig"]}),
        listed(one, one),
        listed(one, {**one, "sig": other["sig"]}),
        listed({**one, "sig": other["sig"]}, one),
        listed(one, {**other, "keyid": None}),
        listed({**one, "sig": other["sig"]}, {**other, "keyid": "x"}),
    ]


def accepted(envelope: dict, key: Path) -> bool:
    """Whether securesystemslib, the reference implementation, accepts an envelope."""
    from securesystemslib.exceptions import VerificationError

    try:
        judged(envelope, key)
    except (VerificationError, ValueError, KeyError, TypeError, AttributeError):
        return False
    return True


def test_envelopes_are_answered_as_the_reference_implementation_does(paper: dict, key: Path, tmp_path: Path) -> None:
    new_key(tmp_path / "other.pem")
    good = make_envelope(paper, key)
    made = neighbours(good, {"signatures": [_signature_by(tmp_path / "other.pem", good)]})
    here = [open_envelope(json.loads(json.dumps(one)), public_key=f"{key}.pub")[1].passed for one in made]
    assert here == [accepted(one, key) for one in made]
    assert 5 < sum(here) < len(made) - 20


def _signature_by(other: Path, envelope: dict) -> dict:
    """The signature of another key over the same envelope."""
    from noisygd_delete.evidence.envelope import pre_authentication_encoding
    from noisygd_delete.evidence.signing import key_id, read_private

    private = read_private(other)
    raw = private.sign(pre_authentication_encoding(PAYLOAD, base64.b64decode(envelope["payload"])))
    return {"keyid": key_id(private.public_key()), "sig": base64.b64encode(raw).decode()}


@in_a_browser
def test_the_page_opens_envelopes_as_the_command_does(paper: dict, key: Path, tmp_path: Path) -> None:
    new_key(tmp_path / "other.pem")
    good = make_envelope(paper, key)
    altered = rewrapped(good, predicate={**json.loads(base64.b64decode(good["payload"]))["predicate"], "format": "x"})
    made = [good, altered, *neighbours(good, {"signatures": [_signature_by(tmp_path / "other.pem", good)]})]
    made = [one for one in made if "payloadType" in one]
    command = []
    for number, one in enumerate(made):
        (tmp_path / f"{number}.json").write_text(json.dumps(one))
        command.append(
            main(["verify-certificate", str(tmp_path / f"{number}.json"), "--public-key", f"{key}.pub"]) == 0
        )
    assert (
        judged_by_page([json.dumps(one) for one in made], Path(f"{key}.pub").read_text(), checker(), tmp_path)
        == command
    )
    assert command[:2] == [True, False]


@pytest.mark.parametrize("name", ["opened", "no_such_function"])
def test_a_root_of_the_page_that_its_module_lacks_stops_the_build(name: str) -> None:
    with pytest.raises(LookupError):
        Demand(frozenset()).reach([("evidence.envelope", name)])

"""Certificates in one canonical form: RFC 8785's own vectors, and verifiers that share no code with the package."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from noisygd_delete.errors import InvalidParameter
from noisygd_delete.evidence import Erasure, erasure_certificate, sign_document, verify_certificate
from noisygd_delete.evidence.canonical import canonical_bytes
from noisygd_delete.records import EditCounts

from ..docs.test_documentation import ROOT, blocks
from ..oracles import certificate as oracle
from .histories import releases, usual_plan

NUMBERS = {  # RFC 8785, Appendix B
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}
NAMES = {  # RFC 8785, section 3.2.3, here in their canonical order
    "\r": "Carriage Return",
    "1": "One",
    "\u0080": "Control",
    "\u00f6": "Latin Small Letter O With Diaeresis",
    "\u20ac": "Euro Sign",
    "\U0001f600": "Emoji: Grinning Face",
    "\ufb33": "Hebrew Letter Dalet With Dagesh",
}


@pytest.mark.parametrize("written", [canonical_bytes, oracle.canonical])
def test_the_standards_own_vectors(written) -> None:
    for bits, text in NUMBERS.items():
        assert written(struct.unpack(">d", bytes.fromhex(bits))[0]).decode() == text
    shuffled = dict(sorted(NAMES.items(), key=lambda pair: pair[1]))
    assert list(json.loads(written(shuffled))) == list(NAMES)
    assert written('\u20ac$\x0f\nA\'B"\\\\"/').decode() == '"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'
    assert written([True, False, None, 1e30, 4.5, 2e-3, 1e-27]) == b"[true,false,null,1e+30,4.5,0.002,1e-27]"


NUMBER = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53) + 1, 2**53 - 1)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBER | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # the machine may be busy
@given(VALUES)
def test_the_package_and_the_oracle_write_the_same(value) -> None:
    assert canonical_bytes(value) == oracle.canonical(value)
    assert canonical_bytes(oracle.as_javascript_writes_it(value)) == canonical_bytes(value)


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 2**53 + 1, 10**400, "\ud800", {"\udfff": 1}, {1: 1}, object()]
)
def test_what_has_no_canonical_form_is_refused(value) -> None:
    with pytest.raises(InvalidParameter, match="RFC 8785"):
        canonical_bytes({"a": [value]})


def test_a_stranger_cannot_keep_it_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """More values than a certificate can hold are counted, not written; the depth of a document is bounded too."""
    monkeypatch.setattr("noisygd_delete.evidence.canonical.MOST_VALUES", 100)
    assert canonical_bytes([0] * 99)
    for value in ([0] * 100, {str(number): {} for number in range(100)}, [[0] * 50, {"a": [0] * 50}]):
        with pytest.raises(InvalidParameter, match="more than 100 values"):
            canonical_bytes(value)
    monkeypatch.undo()
    nested: list = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(InvalidParameter, match="RFC 8785"):
        canonical_bytes(nested)


@pytest.fixture(scope="module")
def paper(key: Path) -> dict:
    plan = usual_plan()
    events = releases(plan, EditCounts(deleted=1))
    erasure = Erasure(rows=1, release=2, request_id="5b0c7e", controller="Société Générale d’Exemples 😀")
    return json.loads(json.dumps(sign_document(erasure_certificate(erasure, plan=plan, events=events), key)))


def test_a_verifier_without_the_package_agrees(paper) -> None:
    assert oracle.fault(paper) is None
    assert oracle.fault(oracle.as_javascript_writes_it(paper)) is None
    assert oracle.fault({**paper, "identity": {**paper["identity"], "version": "0.1"}}) == "signature"
    assert oracle.fault({**paper, "signature": {**paper["signature"], "key_id": "0" * 16}}) == "key_id"


def test_a_paper_that_another_language_wrote_again_still_verifies(paper) -> None:
    again = oracle.as_javascript_writes_it(paper)
    assert json.dumps(again) != json.dumps(paper)
    assert verify_certificate(again).passed, verify_certificate(again).text()


def test_the_verifier_in_the_documentation(paper, tmp_path: Path) -> None:
    """docs/certificates has one in JavaScript; here it meets an honest paper, and an altered one."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no JavaScript here")
    (code,) = blocks(ROOT / "docs" / "certificate-format.md", "javascript")
    (tmp_path / "verify.mjs").write_text(code)
    altered = json.loads(json.dumps(paper))
    altered["claims"][0]["values"] = {"rows": 2}
    for name, document, answer in (("honest", paper, "true"), ("altered", altered, "false")):
        file = tmp_path / f"{name}.json"
        file.write_text(json.dumps(document, indent=2))
        done = subprocess.run([node, "verify.mjs", str(file)], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["signature", answer], done.stdout

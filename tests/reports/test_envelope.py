"""Certificates in the world's formats, judged by programs that are not ours: securesystemslib and `openssl ts`."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from noisygd_delete_compliance.translator import checker
from noisygd_delete_compliance.translator.demand import Demand

from noisygd_delete.cli import main
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.evidence import Erasure, erasure_certificate, new_key, sign_document, verify_certificate
from noisygd_delete.evidence.signing import PAYLOAD, intoto_statement, make_envelope, open_envelope
from noisygd_delete.evidence.timestamp import check_stamp, request_timestamp
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


CONFIGURATION = """
[tsa]
default_tsa = here
[here]
serial = {folder}/serial
crypto_device = builtin
signer_cert = {folder}/tsa.pem
signer_key = {folder}/tsa.key
signer_digest = sha256
default_policy = 1.2.3.4
digests = sha256, sha512
accuracy = secs:1
ess_cert_id_alg = sha256
"""


def openssl(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["openssl", *arguments], capture_output=True, check=False, timeout=60)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A time-stamp server of `openssl ts`, and the folder with its root certificate."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl here")
    folder = tmp_path_factory.mktemp("authority")
    (folder / "tsa.conf").write_text(CONFIGURATION.format(folder=folder))
    (folder / "serial").write_text("01\n")
    (folder / "purpose").write_text(
        "extendedKeyUsage = critical, timeStamping\nkeyUsage = critical, digitalSignature\n"
    )
    at = lambda name: str(folder / name)  # noqa: E731
    made = [
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", at("root.key"), "-out", at("root.pem"), "-subj", "/CN=root", "-days", "30"),
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", at("tsa.key"), "-out", at("tsa.csr"), "-subj", "/CN=tsa"),
        openssl("x509", "-req", "-in", at("tsa.csr"), "-CA", at("root.pem"), "-CAkey", at("root.key"), "-CAcreateserial", "-out", at("tsa.pem"),
                "-days", "30", "-extfile", at("purpose")),
    ]  # fmt: skip
    assert not any(done.returncode for done in made), made

    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            (folder / "query").write_bytes(self.rfile.read(int(self.headers["Content-Length"])))
            query = folder / ("another" if self.path == "/another" else "query")
            asked = ("-config", at("tsa.conf"), "-section", "here", "-queryfile", str(query), "-out", at("reply"))
            openssl("ts", "-reply", *asked)
            self.send_response(200)
            self.end_headers()
            answer = (
                bytes(1 << 17)
                if self.path == "/long"
                else b"no"
                if self.path == "/none"
                else (folder / "reply").read_bytes()
            )
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Nothing on the screen."""

    (folder / "data").write_bytes(b"another")
    openssl("ts", "-query", "-data", at("data"), "-sha512", "-cert", "-out", at("another"))
    with HTTPServer(("127.0.0.1", 0), Answering) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", folder
        server.shutdown()


def test_a_stamp_that_openssl_accepts_is_accepted_and_of_nothing_else(
    authority: tuple[str, Path], tmp_path: Path
) -> None:
    server, folder = authority
    data, root = tmp_path / "certificate.json", folder / "root.pem"
    data.write_bytes(b'{"a": 1}')
    stamp = tmp_path / "stamp.tsr"
    stamp.write_bytes(request_timestamp(data.read_bytes(), server))
    said = openssl("ts", "-verify", "-data", str(data), "-in", str(stamp), "-CAfile", str(root))
    assert b"Verification: OK" in said.stdout + said.stderr
    assert check_stamp(data.read_bytes(), stamp, root).passed
    data.write_bytes(b'{"a": 2}')
    said = openssl("ts", "-verify", "-data", str(data), "-in", str(stamp), "-CAfile", str(root))
    assert said.returncode != 0
    assert not check_stamp(data.read_bytes(), stamp, root).passed
    openssl(
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-keyout",
        str(tmp_path / "k"),
        "-out",
        str(tmp_path / "other.pem"),
        "-subj",
        "/CN=o",
    )
    assert not check_stamp(b'{"a": 1}', stamp, tmp_path / "other.pem").passed


def test_a_server_that_misbehaves_is_one_error(authority: tuple[str, Path]) -> None:
    server, _ = authority
    for path, message in (("/long", "more than"), ("/none", "no stamp"), ("/another", "no stamp")):
        with pytest.raises(InvalidParameter, match=message):
            request_timestamp(b"data", server + path)
    with pytest.raises(InvalidParameter, match="http"):
        request_timestamp(b"data", "file:///etc/passwd")
    with pytest.raises(InvalidParameter, match="did not answer"):
        request_timestamp(b"data", "http://127.0.0.1:1")


def test_on_the_command_line(authority: tuple[str, Path], paper: dict, key: Path, tmp_path: Path, capsys) -> None:
    server, folder = authority
    out, stamp, envelope = (str(tmp_path / name) for name in ("paper.json", "paper.tsr", "paper.dsse.json"))
    Path(out).write_text(json.dumps(paper))
    Path(stamp).write_bytes(request_timestamp(Path(out).read_bytes(), server))
    Path(envelope).write_text(json.dumps(make_envelope(paper, key)))
    trusted = ["--timestamp", stamp, "--timestamp-root", str(folder / "root.pem")]
    assert main(["verify-certificate", out, "--public-key", f"{key}.pub", *trusted]) == 0
    assert "it existed on" in capsys.readouterr().out
    assert main(["verify-certificate", envelope, "--public-key", f"{key}.pub"]) == 0
    assert "an in-toto statement" in capsys.readouterr().out
    assert main(["verify-certificate", envelope, *trusted]) == 5  # the stamp is of the other file
    assert main(["verify-certificate", out, "--timestamp", stamp]) == 2


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
    from noisygd_delete.evidence.signing import key_id, pre_authentication_encoding, read_private

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
        Demand(frozenset()).reach([("evidence.signing", name)])

"""Time stamps of certificates, judged by `openssl ts`."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from noisygd_delete_compliance.timestamp import check_stamp, request_timestamp

from noisygd_delete.cli import main
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.evidence import Erasure, erasure_certificate, sign_document
from noisygd_delete.evidence.envelope import make_envelope
from noisygd_delete.records import EditCounts

from ..reports.histories import releases, usual_plan

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


def test_the_command_checks_a_stamp_of_its_file_alone(
    authority: tuple[str, Path], key: Path, tmp_path: Path, capsys
) -> None:
    server, folder = authority
    out, stamp, envelope = (str(tmp_path / name) for name in ("paper.json", "paper.tsr", "paper.dsse.json"))
    plan = usual_plan()
    erasure = Erasure(rows=1, release=2, model_after="2" * 64, ledger_entries=3, ledger_sha256="3" * 64)
    paper = erasure_certificate(erasure, plan=plan, events=releases(plan, EditCounts(deleted=1)))
    paper = sign_document(paper, key)
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

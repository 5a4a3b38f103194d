"""`noisygd-delete serve`: what it refuses before it listens, https, and publishers beside it."""

from __future__ import annotations

import os
import ssl
import time
import urllib.request
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from noisygd_delete.cli import main
from noisygd_delete.store import Store
from tests.oracles import deletion_hash

from .conftest import Opened, name, person, token_file
from .processes import Begin


def certified(folder: Path) -> tuple[Path, Path]:
    """A certificate of this machine by itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(who)
        .issuer_name(who)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    certificate, private = folder / "certificate.pem", folder / "tls.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return certificate, private


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--host", "0.0.0.0"], "--behind-proxy"),
        (["--host", "192.0.2.1", "--behind-proxy"], "cannot listen"),
        (["--port", "65536"], "between 0 and 65535"),
        (["--port", "-1"], "between 0 and 65535"),
        (["--tls-certificate", "absent.pem"], "give both"),
        (["--tls-certificate", "absent.pem", "--tls-key", "absent.pem"], "cannot be read"),
        (["--key", "absent.pem"], "cannot be read"),
        (["--hooks", "absent.toml"], "cannot be read"),
        (["--folder", "absent"], "not a folder"),
        (["--drop", "absent.toml"], "cannot be read"),
        (["--batch", "0"], "whole number >= 1"),
        (["--period", "0"], "must be > 0"),
        (["--deadline", "-1"], "must be > 0"),
        (["--tokens", "absent.toml"], "cannot be read"),
    ],
)
def test_what_cannot_be_served_is_refused_in_one_paragraph(
    store: Path, tmp_path: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    token_file(tmp_path / "given.toml")
    port = [] if "--port" in arguments else ["--port", "0"]
    assert main(["serve", str(store), "--tokens", str(tmp_path / "given.toml"), *port, *arguments]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
    Store.open(store).close()  # nothing is held


@pytest.mark.skipif(os.name == "nt", reason="forks")
@pytest.mark.usefixtures("secrets")
def test_https_with_a_certificate_of_ones_own(store: Path, tmp_path: Path, serving: Begin) -> None:
    certificate, key = certified(tmp_path)
    with serving(tmp_path, str(store), "--tls-certificate", str(certificate), "--tls-key", str(key)) as service:
        assert service.address.startswith("https://")
        port = service.address.rpartition(":")[2]
        trusting = ssl.create_default_context(cafile=str(certificate))
        with urllib.request.urlopen(f"https://localhost:{port}/health", timeout=30, context=trusting) as answer:
            assert answer.status == 200
        assert service.call("GET", "/health", None)[0] == 0  # whoever does not trust the certificate
        assert service.end() == 0


def test_a_publisher_gets_the_release_before_anybody_is_told(store: Path, tmp_path: Path, opened: Opened) -> None:
    """The former release is gone from the folder; while the folder cannot be written, the request is not told as published."""
    folder = tmp_path / "published"
    assert main(["publish-to", str(store), f"folder:{folder}"]) == 0
    before = sorted(path.name for path in folder.glob("release-*"))
    desk = opened(store, batch=1)
    desk.ask(request_id="one", delete=[name(1)])
    desk.turn()
    after = sorted(path.name for path in folder.glob("release-*"))
    assert (len(before), len(after)) == (1, 1)
    assert before != after
    assert desk.service.inbox.counts()["edited"] == 0
    hidden = folder.rename(tmp_path / "hidden")
    folder.write_text("something else took the place")
    desk.ask(request_id="two", delete=[name(2)])
    desk.turn()
    assert desk.state("two") == "published"
    assert desk.service.inbox.counts()["edited"] == 1  # nobody was told
    folder.unlink()
    hidden.rename(folder)
    desk.service.writer._next_try = 0.0
    desk.turn()
    assert desk.service.inbox.counts()["edited"] == 0
    assert sorted(path.name for path in folder.glob("release-*")) != after


@pytest.mark.usefixtures("secrets")
def test_a_deletion_list_is_served_beside_http(store: Path, tmp_path: Path, serving: Begin) -> None:
    (tmp_path / "drop").mkdir()
    (tmp_path / "drop.toml").write_text('folder = "drop"\n[lists]\nCTVID = ["subject"]\n')
    digest = deletion_hash.hashed(str(deletion_hash.standardised("ctvid", person(4))))
    listed, answered = (tmp_path / "drop" / place / "20260312_4821_CTVID.csv" for place in (".", "answers"))
    with serving(tmp_path, str(store), "--batch", "1", "--drop", str(tmp_path / "drop.toml")) as service:
        listed.with_suffix(".part").write_text(f"ID,Hash\nA7kP2xQ9Lm4R,{digest}\n")
        listed.with_suffix(".part").rename(listed)
        for _ in range(600):
            if answered.exists():
                break
            time.sleep(0.1)
        assert service.end() == 0
    assert answered.read_text() == "Id,Status\nA7kP2xQ9Lm4R,3\n"

"""Keys: made whole or not at all, read only as what they are; a signature fits one text written one way."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from noisygd_delete.errors import InvalidParameter
from noisygd_delete.evidence.atomic_write import Output
from noisygd_delete.evidence.signing import key_id, new_key, read_private, read_public, sign_document, signed_by


@pytest.fixture
def key(tmp_path: Path) -> Path:
    new_key(tmp_path / "key.pem")
    return tmp_path / "key.pem"


def test_a_key_reads_back_and_both_halves_are_one(key: Path) -> None:
    assert key_id(read_private(key).public_key()) == key_id(read_public(f"{key}.pub"))
    assert key.stat().st_mode & 0o077 == 0
    with pytest.raises(InvalidParameter, match="never overwritten"):
        new_key(key)


def test_half_a_key_is_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The public file cannot be written: the private one is taken back."""
    write, written = Output.write, []

    def fails(self, content) -> None:
        written.append(self.path.name)
        if self.path.name.endswith(".pub"):
            raise InvalidParameter("the disk is full")
        write(self, content)

    monkeypatch.setattr(Output, "write", fails)
    with pytest.raises(InvalidParameter, match="full"):
        new_key(tmp_path / "key.pem")
    assert written == ["key.pem", "key.pem.pub"]
    assert list(tmp_path.iterdir()) == []


def test_a_passphrase_is_asked_for_where_there_is_one_and_nowhere_else(tmp_path: Path, key: Path) -> None:
    new_key(tmp_path / "closed.pem", password=b"a long sentence")
    assert b"ENCRYPTED" in (tmp_path / "closed.pem").read_bytes()
    assert read_private(tmp_path / "closed.pem", password=b"a long sentence")
    for path, password, said in (
        (tmp_path / "closed.pem", None, "give its passphrase"),
        (tmp_path / "closed.pem", b"another", "another passphrase"),
        (key, b"a long sentence", "leave the passphrase out"),
    ):
        with pytest.raises(InvalidParameter, match=said):
            read_private(path, password=password)


def test_other_files_and_other_keys_are_refused_by_name(tmp_path: Path) -> None:
    curve = ec.generate_private_key(ec.SECP256R1())
    (tmp_path / "curve").write_bytes(curve.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    (tmp_path / "curve.pub").write_bytes(
        curve.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )
    (tmp_path / "text").write_text("no key at all")
    for read, file, said in (
        (read_private, "curve", "Ed25519 key"),
        (read_private, "text", "cannot read a signing key"),
        (read_public, "curve.pub", "Ed25519 public key"),
        (read_public, "text", "cannot read a public key"),
        (read_public, "absent", "absent"),
        (read_private, "absent", "absent"),
    ):
        with pytest.raises(InvalidParameter, match=said) as refused:
            read(tmp_path / file)
        assert file in str(refused.value)


def test_a_key_longer_than_any_key_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(b"-" * 10**7)
    for read in (read_private, read_public):
        with pytest.raises(InvalidParameter):
            read(tmp_path / "long")


def test_a_signature_has_one_form(key: Path) -> None:
    """The last letter of base64 holds bits that decoding drops: with another letter it is another document, so it does not fit."""
    signed = sign_document({"n": 1, "text": "ε"}, key)
    assert signed_by(signed) is not None
    value = signed["signature"]["value"]
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    body, end = value.rstrip("="), "=" * (len(value) - len(value.rstrip("=")))
    same = [
        other
        for letter in letters
        if (other := body[:-1] + letter + end) != value and base64.b64decode(other) == base64.b64decode(value)
    ]
    assert len(same) == 15  # the other writings of the same 64 bytes
    for other in same:
        assert signed_by({**signed, "signature": {**signed["signature"], "value": other}}) is None

"""Ed25519 signatures over canonical JSON, and signing keys.

Keys are separate files outside the store and do not depend on data.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from ..errors import InvalidParameter
from ..records import limited_io
from ..store.disk import Disk
from .atomic_write import check_output
from .canonical import canonical_bytes

# points of order 1, 2, 4 and 8 in every encoding, with either sign: a signature by such a "key" fits any document
_OF_SMALL_ORDER = (
    *("00" * 31 + sign for sign in ("00", "80")),
    *("01" + "00" * 30 + sign for sign in ("00", "80")),
    *("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc" + sign for sign in ("05", "85")),
    *("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03" + sign for sign in ("7a", "fa")),
    *(low + "ff" * 30 + sign for low in ("ec", "ed", "ee") for sign in ("7f", "ff")),
)
ALGORITHM = "Ed25519 over canonical JSON (RFC 8785)"


def new_key(path: str | Path, *, password: bytes | None = None) -> str:
    """Write a new signing key to `path` and its public half to `path`.pub, and return the key id.

    If the private key exists without its public half, because its creation was interrupted, write that half.

    Args:
        path: File of the private key.
        password: Encrypts the stored key (PKCS #8); None stores it unencrypted.

    Raises:
        InvalidParameter: If one of the files exists (then neither is made), or a key must not be written there.
    """
    whole = None if is_incomplete_key(path) else check_output("key file", str(path))
    half = check_output("public key file", f"{path}.pub")
    if whole is None:
        key = read_private(path, password=password)
    else:
        key = Ed25519PrivateKey.generate()
        protection: KeySerializationEncryption = (
            NoEncryption() if password is None else BestAvailableEncryption(password)
        )
        whole.write(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, protection))
    try:
        half.write(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    except InvalidParameter:
        if whole is not None:
            Disk().erase(whole.path)
        raise
    return key_id(key.public_key())


def is_incomplete_key(path: str | Path) -> bool:
    """Return whether there is a private key whose public half was never written."""
    if not Path(path).is_file() or Path(f"{path}.pub").exists():
        return False
    with limited_io.open_plain(path) as file:
        return file.readline(64) in (b"-----BEGIN PRIVATE KEY-----\n", b"-----BEGIN ENCRYPTED PRIVATE KEY-----\n")


def key_id(key: Ed25519PublicKey) -> str:
    """Return the first 16 hexadecimal digits of the public key's SHA-256, to compare by eye."""
    return hashlib.sha256(key.public_bytes(Encoding.Raw, PublicFormat.Raw)).hexdigest()[:16]


def is_encrypted(pem: bytes) -> bool:
    """Return whether a PEM file holds an encrypted key."""
    return b"ENCRYPTED" in pem


def read_private(path: str | Path, *, password: bytes | None = None) -> Ed25519PrivateKey:
    """Return the signing key in a PEM file, decrypted with `password` if it is encrypted.

    Raises:
        InvalidParameter: If the file is no Ed25519 key in PEM form, or `password` is missing, wrong or not needed.
    """
    pem = limited_io.read_file(path, limited_io.KEY)
    if is_encrypted(pem) != (password is not None):
        raise InvalidParameter(
            f"{path}: the key is encrypted; give its passphrase"
            if password is None
            else f"{path}: the key is not encrypted; leave the passphrase out"
        )
    try:
        key = load_pem_private_key(pem, password)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        wrong = "or another passphrase " if password is not None else ""
        raise InvalidParameter(
            f"cannot read a signing key from {path}: not a key in PEM form {wrong}({error})"
        ) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise InvalidParameter(f"{path} does not hold an Ed25519 key; make one with `noisygd-delete keygen`")
    return key


def read_public(path: str | Path) -> Ed25519PublicKey:
    """Return the public key in a PEM file.

    Raises:
        InvalidParameter: If the file is no Ed25519 public key.
    """
    try:
        key = load_pem_public_key(limited_io.read_file(path, limited_io.KEY))
    except (ValueError, UnsupportedAlgorithm) as error:
        if isinstance(error, InvalidParameter):
            raise
        raise InvalidParameter(f"cannot read a public key from {path}: {error}") from error
    if not isinstance(key, Ed25519PublicKey):
        raise InvalidParameter(f"{path} does not hold an Ed25519 public key")
    return key


def sign_document(document: dict[str, Any], key: str | Path, *, password: bytes | None = None) -> dict[str, Any]:
    """Return the document with a `signature` block over everything else in it.

    Args:
        document: The document; an existing signature is replaced.
        key: PEM file of the signing key.
        password: Passphrase of the key; None if it is not encrypted.

    Raises:
        InvalidParameter: If the key cannot be read, or the document has no canonical form.
    """
    private = read_private(key, password=password)
    unsigned = {name: block for name, block in document.items() if name != "signature"}
    raw = private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    block = {
        "algorithm": ALGORITHM,
        "key_id": key_id(private.public_key()),
        "public_key": base64.b64encode(raw).decode(),
        "value": base64.b64encode(private.sign(canonical_bytes(unsigned))).decode(),
    }
    return {**unsigned, "signature": block}


def signed_by(document: dict[str, Any]) -> Ed25519PublicKey | None:
    """Return the key that signed the document; None if there is no valid signature."""
    unsigned = {name: block for name, block in document.items() if name != "signature"}
    try:
        block = document["signature"]
        raw = decode_base64(block["public_key"])
        if raw.hex() in _OF_SMALL_ORDER:
            return None
        key = Ed25519PublicKey.from_public_bytes(raw)
        if block["key_id"] != key_id(key) or block["algorithm"] != ALGORITHM or len(block) != 4:
            return None
        key.verify(decode_base64(block["value"]), canonical_bytes(unsigned))
    except (InvalidSignature, LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return None
    return key


def decode_base64(coded: str) -> bytes:
    """Decode base64 in its canonical form: unused bits of the last character must be zero.

    Raises:
        ValueError: If `coded` is not in this form.
    """
    raw = base64.b64decode(coded, validate=True)
    if base64.b64encode(raw).decode() != coded:
        raise ValueError("not base64 as it is written")
    return raw

"""Ed25519 signatures over canonical JSON (RFC 8785). Keys are files of their own, outside the store: they depend on no data."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
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
from ..records import bounded
from ..store.disk import Disk
from .canonical import canonical
from .outputs import output


@dataclass(frozen=True)
class Scheme:
    """How documents of one format are signed: the name that stands in the signature, and the byte string it covers."""

    algorithm: str
    written: Callable[[Any], bytes]


# points of order 1, 2, 4 and 8 in every form, with either sign: a signature by such a "key" fits any document
_OF_SMALL_ORDER = (
    *("00" * 31 + sign for sign in ("00", "80")),
    *("01" + "00" * 30 + sign for sign in ("00", "80")),
    *("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc" + sign for sign in ("05", "85")),
    *("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03" + sign for sign in ("7a", "fa")),
    *(low + "ff" * 30 + sign for low in ("ec", "ed", "ee") for sign in ("7f", "ff")),
)
SIGNED = Scheme("Ed25519 over canonical JSON (RFC 8785)", canonical)


def new_key(path: str | Path, *, password: bytes | None = None) -> str:
    """Write a new signing key to `path` and its public half to `path`.pub; returns the key id.

    A key that is there and lacks its public half, because making it was interrupted, gets that half.

    Args:
        password: the key is stored encrypted under it (PKCS #8); None: in the clear.

    Raises:
        InvalidParameter: one of the files exists (neither is made), or the place is not one for a key.
    """
    whole = None if half_made(path) else output("key file", str(path))
    half = output("public key file", f"{path}.pub")
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


def half_made(path: str | Path) -> bool:
    """Whether a key is there whose public half was never written."""
    if not Path(path).is_file() or Path(f"{path}.pub").exists():
        return False
    with bounded.opened(path) as file:
        return file.readline(64) in (b"-----BEGIN PRIVATE KEY-----\n", b"-----BEGIN ENCRYPTED PRIVATE KEY-----\n")


def key_id(key: Ed25519PublicKey) -> str:
    """Sixteen hexadecimal digits of the public key's SHA-256, to compare by eye."""
    return hashlib.sha256(key.public_bytes(Encoding.Raw, PublicFormat.Raw)).hexdigest()[:16]


def encrypted(pem: bytes) -> bool:
    """Whether a PEM file holds a key under a passphrase."""
    return b"ENCRYPTED" in pem


def read_private(path: str | Path, *, password: bytes | None = None) -> Ed25519PrivateKey:
    """The signing key in a PEM file, decrypted with `password` if it is encrypted."""
    pem = bounded.content(path, bounded.KEY)
    if encrypted(pem) != (password is not None):
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
    """The public key in a PEM file."""
    try:
        key = load_pem_public_key(bounded.content(path, bounded.KEY))
    except (ValueError, UnsupportedAlgorithm) as error:
        if isinstance(error, InvalidParameter):
            raise
        raise InvalidParameter(f"cannot read a public key from {path}: {error}") from error
    if not isinstance(key, Ed25519PublicKey):
        raise InvalidParameter(f"{path} does not hold an Ed25519 public key")
    return key


def sign(document: dict[str, Any], key: str | Path, *, password: bytes | None = None) -> dict[str, Any]:
    """The document with a `signature` block over everything else in it."""
    private = read_private(key, password=password)
    unsigned = {name: block for name, block in document.items() if name != "signature"}
    raw = private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    block = {
        "algorithm": SIGNED.algorithm,
        "key_id": key_id(private.public_key()),
        "public_key": base64.b64encode(raw).decode(),
        "value": base64.b64encode(private.sign(SIGNED.written(unsigned))).decode(),
    }
    return {**unsigned, "signature": block}


def signed_by(document: dict[str, Any], scheme: Scheme = SIGNED) -> Ed25519PublicKey | None:
    """The key that signed the document as it stands; None if there is no signature or it does not fit."""
    unsigned = {name: block for name, block in document.items() if name != "signature"}
    try:
        block = document["signature"]
        raw = decoded(block["public_key"])
        if raw.hex() in _OF_SMALL_ORDER:
            return None
        key = Ed25519PublicKey.from_public_bytes(raw)
        if block["key_id"] != key_id(key) or block["algorithm"] != scheme.algorithm or len(block) != 4:
            return None
        key.verify(decoded(block["value"]), scheme.written(unsigned))
    except (InvalidSignature, LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return None
    return key


def decoded(coded: str) -> bytes:
    """Base64 in its one form: the last letter may hold bits that decoding ignores, and then it is another text."""
    raw = base64.b64decode(coded, validate=True)
    if base64.b64encode(raw).decode() != coded:
        raise ValueError("not base64 as it is written")
    return raw

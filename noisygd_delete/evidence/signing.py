"""Ed25519 signatures over canonical JSON (RFC 8785), and signing keys.

Keys are separate files outside the store and do not depend on data.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import rfc8785
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
from .checks import Check, with_whole_numbers

# --- canonical JSON ---
#
# One byte string per JSON value, by RFC 8785, which is signed and hashed; the same in every language.
#
# Names are ordered by UTF-16 code units, without spaces, in UTF-8; numbers as ECMAScript writes a double. A value
# without such a form (NaN, infinity, half a surrogate pair, an integer that no double equals) cannot be signed.


MOST_VALUES = 1_000_000  # in one document: bounds the time spent on an untrusted one; no certificate is nearly as large


def canonical_bytes(document: Any) -> bytes:
    """Return the canonical bytes of a parsed JSON document (RFC 8785).

    Raises:
        InvalidParameter: If it has no canonical form, or more than `MOST_VALUES` values.
    """
    if _count_values(document) > MOST_VALUES:
        raise InvalidParameter(
            f"a document of more than {MOST_VALUES} values is not signed; give one with fewer releases"
        )
    try:
        try:
            return rfc8785.dumps(document)
        except rfc8785.IntegerDomainError:
            return rfc8785.dumps(_as_doubles(document))
    except (ValueError, OverflowError, RecursionError) as error:
        reason = str(error)[:200] or type(error).__name__
        raise InvalidParameter(f"no canonical JSON (RFC 8785): {reason}") from error


def _count_values(document: Any) -> int:
    """Return the number of values in a document, itself included; counting stops above `MOST_VALUES`."""
    found, left = 0, [document]
    while left and found <= MOST_VALUES:
        value = left.pop()
        found += 1
        if isinstance(value, dict):
            left.extend(value.values())
        elif isinstance(value, (list, tuple)):
            left.extend(value)
    return found


def _as_doubles(value: Any) -> Any:
    """Return the document with exactly representable integers of magnitude 2⁵³ or more as floats.

    Most languages write 1e20 without an exponent.
    """
    if isinstance(value, dict):
        return {name: _as_doubles(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_doubles(inner) for inner in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**53 and float(value) == value:
        return float(value)
    return value


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


# --- envelope ---
#
# A certificate in the form that supply-chain tools read: an in-toto Statement v1 in a DSSE envelope.
#
# The statement's subject is the model published without the erased rows (or, before there is one, the current ledger);
# its predicate is the signed certificate unchanged, which `verify_certificate` recomputes. DSSE signs
# "DSSEv1 LENGTH TYPE LENGTH BODY" (github.com/secure-systems-lab/dsse, protocol.md), here with the certificate's own
# Ed25519 key.


PAYLOAD = "application/vnd.in-toto+json"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:noisygd-delete:erasure-certificate:"  # followed by the number of the format
BEGINS = b'{\n  "payload": "'  # how every envelope on disk begins


def intoto_statement(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """Return the in-toto statement about a signed certificate.

    Raises:
        InvalidParameter: If the certificate names neither a model nor a ledger as its subject.
    """
    action, evidence = certificate["action"], certificate["evidence"]
    if action["model_after_sha256"] is not None:
        subject = {"name": f"model-{action['release']}.safetensors", "digest": {"sha256": action["model_after_sha256"]}}
    elif evidence["ledger_sha256"] is not None:
        subject = {"name": f"ledger-{evidence['ledger_entries']}", "digest": {"sha256": evidence["ledger_sha256"]}}
    else:
        raise InvalidParameter(
            "an attestation is about a model or a ledger, and this certificate names neither; issue it from a store"
        )
    kind = PREDICATE + str(certificate["format"]).rpartition("/")[2]
    return {"_type": STATEMENT, "subject": [subject], "predicateType": kind, "predicate": dict(certificate)}


def make_envelope(certificate: Mapping[str, Any], key: str | Path, *, password: bytes | None = None) -> dict[str, Any]:
    """Return a signed certificate in a DSSE envelope, signed by the same key.

    Args:
        certificate: The signed certificate.
        key: PEM file of the signing key.
        password: Passphrase of the key; None if it is not encrypted.

    Raises:
        InvalidParameter: If the certificate is not signed, or names neither a model nor a ledger.
    """
    if "signature" not in certificate:
        raise InvalidParameter("an envelope holds a signed certificate; sign it first")
    body, private = canonical_bytes(intoto_statement(certificate)), read_private(key, password=password)
    signature = base64.b64encode(private.sign(pre_authentication_encoding(PAYLOAD, body))).decode()
    return {
        "payload": base64.b64encode(body).decode(),
        "payloadType": PAYLOAD,
        "signatures": [{"keyid": key_id(private.public_key()), "sig": signature}],
    }


def pre_authentication_encoding(kind: str, body: bytes) -> bytes:
    """Return the bytes that DSSE signs, including both lengths, so that no byte can move between the parts."""
    return f"DSSEv1 {len(kind.encode())} {kind} {len(body)} ".encode() + body


def is_envelope(document: Any) -> bool:
    """Return whether a document is an envelope rather than a bare certificate."""
    return isinstance(document, Mapping) and "payloadType" in document


def open_envelope(envelope: Mapping[str, Any], *, public_key: str | Path | None = None) -> tuple[Any, Check]:
    """Return the certificate in an untrusted envelope, and the check of the envelope.

    Args:
        envelope: The parsed JSON.
        public_key: PEM file of the expected signer; None takes the key of the certificate inside.
    """
    certificate: Any = None
    try:
        if envelope["payloadType"] != PAYLOAD:
            raise InvalidParameter(f"not an envelope of {PAYLOAD}")
        body, signatures = decode_dsse(envelope["payload"]), _signatures(envelope["signatures"])
        inside = with_whole_numbers(limited_io.parse_json(body.decode()))
        certificate = inside["predicate"]
        if canonical_bytes(inside) != canonical_bytes(intoto_statement(certificate)):
            raise InvalidParameter("its statement is not the one that this certificate gives")
        signer = signed_by(dict(certificate))
        if signer is None:
            raise InvalidParameter("the certificate inside is unsigned, or was altered")
        expected = signer if public_key is None else read_public(public_key)
        if key_id(expected) not in signatures:
            raise InvalidParameter("it was signed by another key")
        expected.verify(signatures[key_id(expected)], pre_authentication_encoding(PAYLOAD, body))
    except InvalidSignature:
        return certificate, Check("envelope", False, "altered after signing")
    except (InvalidParameter, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        return certificate, Check("envelope", False, str(error)[:200] or type(error).__name__)
    return certificate, Check("envelope", True, f"an in-toto statement, signed by key {key_id(expected)}")


def decode_dsse(coded: str) -> bytes:
    """Decode base64 of either alphabet, standard or URL-safe, as DSSE allows.

    Raises:
        ValueError: If it is neither, or its last letter holds bits that decoding ignores.
    """
    return decode_base64(coded.replace("-", "+").replace("_", "/"))


def _signatures(listed: Any) -> dict[Any, bytes]:
    """Return all signatures of an envelope by key id, including those of other signers.

    Each has a `keyid` and a `sig`, and may have further fields (as in securesystemslib, the reference implementation).

    Raises:
        InvalidParameter: If two signatures have the same key id.
    """
    found: dict[Any, bytes] = {}
    for signature in listed:
        raw, name = decode_dsse(signature["sig"]), signature["keyid"]
        if name in found:
            raise InvalidParameter("two of its signatures have the same key id")
        found[name] = raw
    return found

"""A certificate in the form that supply-chain tools read: an in-toto Statement v1 in a DSSE envelope.

The statement's subject is the model published without the erased rows (or, before there is one, the current ledger);
its predicate is the signed certificate unchanged, which `verify_certificate` recomputes. DSSE signs
"DSSEv1 LENGTH TYPE LENGTH BODY" (github.com/secure-systems-lab/dsse, protocol.md), here with the certificate's own
Ed25519 key.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature

from ..errors import InvalidParameter
from ..records import limited_io
from .canonical import canonical_bytes
from .checks import Check, with_whole_numbers
from .signing import decode_base64, key_id, read_private, read_public, signed_by

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

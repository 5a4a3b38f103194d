"""A certificate in the form that supply-chain tools read: an in-toto Statement v1 in a DSSE envelope.

The statement's subject is the model published without the erased rows (before there is one, the ledger as it stood), its predicate the
signed certificate as it is: whoever unwraps it has the JSON that `verify_certificate` recomputes. DSSE signs
"DSSEv1 LENGTH TYPE LENGTH BODY" (github.com/secure-systems-lab/dsse, protocol.md), here with the certificate's own Ed25519 key.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature

from ..errors import InvalidParameter
from ..records import bounded
from .canonical import canonical
from .checks import Check
from .signing import decoded, key_id, read_private, read_public, signed_by

PAYLOAD = "application/vnd.in-toto+json"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:noisygd-delete:erasure-certificate:"  # and the number of the format
BEGINS = b'{\n  "payload": "'  # how every envelope on disk begins


def statement(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """The in-toto statement about a signed certificate.

    Raises:
        InvalidParameter: it names neither a model nor a ledger, so there is nothing it could be about.
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


def enveloped(certificate: Mapping[str, Any], key: str | Path, *, password: bytes | None = None) -> dict[str, Any]:
    """A signed certificate in a DSSE envelope, signed by the same key."""
    if "signature" not in certificate:
        raise InvalidParameter("an envelope holds a signed certificate; sign it first")
    body, private = canonical(statement(certificate)), read_private(key, password=password)
    signature = base64.b64encode(private.sign(encoded(PAYLOAD, body))).decode()
    return {
        "payload": base64.b64encode(body).decode(),
        "payloadType": PAYLOAD,
        "signatures": [{"keyid": key_id(private.public_key()), "sig": signature}],
    }


def encoded(kind: str, body: bytes) -> bytes:
    """What DSSE signs: both lengths stand in it, so that nothing moves from one part into the other."""
    return b"DSSEv1 %d %b %d %b" % (len(kind.encode()), kind.encode(), len(body), body)


def is_envelope(document: Any) -> bool:
    """Whether this is an envelope, and not a certificate as it is."""
    return isinstance(document, Mapping) and "payloadType" in document


def opened(envelope: Mapping[str, Any], *, public_key: str | Path | None = None) -> tuple[Any, Check]:
    """The certificate in an envelope, and whether the envelope holds. It may come from anywhere.

    Args:
        public_key: PEM file of the signer expected; None: the key of the certificate inside.
    """
    certificate: Any = None
    try:
        if set(envelope) != {"payload", "payloadType", "signatures"} or envelope["payloadType"] != PAYLOAD:
            raise InvalidParameter(f"not an envelope of {PAYLOAD}")
        body = decoded(envelope["payload"])
        inside = bounded.parsed(body.decode())
        certificate = inside["predicate"]
        if canonical(inside) != body or canonical(statement(certificate)) != body:
            raise InvalidParameter("its statement is not the one that this certificate gives")
        signer = signed_by(dict(certificate))
        if signer is None:
            raise InvalidParameter("the certificate inside is unsigned, or was altered")
        expected = signer if public_key is None else read_public(public_key)
        ((signature),) = envelope["signatures"]
        if set(signature) != {"keyid", "sig"} or signature["keyid"] != key_id(expected):
            raise InvalidParameter("it was signed by another key")
        expected.verify(decoded(signature["sig"]), encoded(PAYLOAD, body))
    except InvalidSignature:
        return certificate, Check("envelope", False, "altered after signing")
    except (InvalidParameter, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        return certificate, Check("envelope", False, str(error)[:200] or type(error).__name__)
    return certificate, Check("envelope", True, f"an in-toto statement, signed by key {key_id(expected)}")

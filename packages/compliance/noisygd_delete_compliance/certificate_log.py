"""An append-only Merkle log of certificates, which shows all readers the same list and is never rewritten.

A leaf is a certificate's random id and the SHA-256 of its canonical form, so that the whole file may be published. The
tree is that of RFC 9162 (section 2.1). A proof is the leaf, its path to the root and the current root, signed with the
key of the certificates. With a proof and the published file, its holder detects changes of earlier leaves.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO
from uuid import UUID

from noisygd_delete.dates import parse_datetime
from noisygd_delete.errors import InvalidParameter, StoreLocked
from noisygd_delete.evidence.atomic_write import check_output
from noisygd_delete.evidence.canonical import canonical_bytes
from noisygd_delete.evidence.checks import Check
from noisygd_delete.evidence.signing import sign_document, signed_by
from noisygd_delete.records import limited_io
from noisygd_delete.store.layout import Lock

BEGINS = b'{"format":"noisygd-delete/certificate-log/1"}\n'  # the first line of every log
_PROOF_FORMAT = "noisygd-delete/log-proof/1"
PROOF = f'{{\n  "format": "{_PROOF_FORMAT}"'.encode()  # how every proof begins
MOST_LEAVES = 200_000  # in one log: verified in seconds, about 27 MB
_PATIENCE = 30.0  # seconds to wait for other processes that issue certificates
_FIELDS = {"format", "leaf", "index", "size", "path", "root", "issued", "signature"}


def leaf_of(certificate: Mapping[str, Any]) -> dict[str, str]:
    """Return the log entry of a certificate."""
    return {
        "certificate_id": certificate["identity"]["certificate_id"],
        "sha256": hashlib.sha256(canonical_bytes(certificate)).hexdigest(),
    }


def leaf_hash(leaf: Mapping[str, str]) -> bytes:
    """Return the SHA-256 of a zero byte followed by the leaf's canonical form."""
    return hashlib.sha256(b"\0" + canonical_bytes(leaf)).digest()


def _hash_pair(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()


def _parent_level(level: Sequence[bytes]) -> list[bytes]:
    """Return the next level of the tree; a last node without a sibling moves up unchanged."""
    pairs = [_hash_pair(left, right) for left, right in zip(level[::2], level[1::2], strict=False)]
    return [*pairs, *level[len(pairs) * 2 :]]


def tree_root(leaves: Sequence[bytes]) -> bytes:
    """Return the root of the tree over these leaf hashes; without leaves, the SHA-256 of the empty string."""
    level = list(leaves)
    while len(level) > 1:
        level = _parent_level(level)
    return level[0] if level else hashlib.sha256().digest()


def path_to_root(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """Return the siblings on the path from leaf `index` (from 0) to the root, lowest first."""
    level, found = list(leaves), []
    while len(level) > 1:
        if index ^ 1 < len(level):
            found.append(level[index ^ 1])
        level, index = _parent_level(level), index // 2
    return found


def root_from_path(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """Return the root that a path leads to; None if no tree of `size` leaves has such a path at `index`.

    Args:
        leaf: Hash of the leaf.
        index: Position of the leaf, from 0.
        size: Number of leaves.
        path: Siblings on the path, lowest first.
    """
    if not 0 <= index < size:
        return None
    found, last, steps = leaf, size - 1, iter(path)
    while last:
        if index % 2 or index < last:
            step = next(steps, None)
            if step is None:
                return None
            found = _hash_pair(step, found) if index % 2 else _hash_pair(found, step)
        index, last = index // 2, last // 2
    return found if next(steps, None) is None else None


def enter_certificate(
    log: str | Path, certificate: Mapping[str, Any], key: str | Path, *, password: bytes | None = None
) -> dict[str, Any]:
    """Append the certificate to the log in this file and return the signed proof.

    The file is created if it does not exist. Several processes may append concurrently; a line torn by a crash is
    removed. The operation is idempotent: a certificate that is already in the log is not entered again.

    Args:
        log: File of the log.
        certificate: The signed certificate.
        key: PEM file of the key that signs the proof.
        password: Passphrase of the key.

    Raises:
        InvalidParameter: If the certificate is not signed, or the file is no log, cannot be written, or is full.
    """
    if "signature" not in certificate:
        raise InvalidParameter("a certificate is entered into a log with its signature; give --key")
    leaf = leaf_of(certificate)
    with _lock_log(log) as file:
        data = limited_io.read_limited(file, limited_io.DOCUMENT, str(log))
        kept = data[: data.rfind(b"\n") + 1]  # ignores a line torn by a crash
        leaves = _read_leaves(kept or BEGINS, str(log))
        if leaf not in leaves:
            if len(leaves) >= MOST_LEAVES:
                raise InvalidParameter(
                    f"{log} holds {MOST_LEAVES} certificates, as many as a log can; begin another file"
                )
            leaves.append(leaf)
            file.seek(len(kept))
            file.truncate()
            file.write((b"" if kept else BEGINS) + canonical_bytes(leaf) + b"\n")
            file.flush()
            os.fsync(file.fileno())
    hashes = [leaf_hash(each) for each in leaves]
    index = leaves.index(leaf)
    proof = {
        "format": _PROOF_FORMAT,
        "leaf": leaf,
        "index": index,
        "size": len(leaves),
        "path": [node.hex() for node in path_to_root(hashes, index)],
        "root": tree_root(hashes).hex(),
        "issued": parse_datetime("issued", datetime.now(UTC).isoformat()),
    }
    return sign_document(proof, key, password=password)


def check_log_proof(certificate: Any, proof: str | Path, log: str | Path | None = None) -> Check:
    """Check that a proof shows this certificate in its signer's log and, if `log` is given, in that log.

    Args:
        certificate: The parsed certificate.
        proof: File of the proof.
        log: File of the current log; it must begin with the entries that were signed.

    Raises:
        InvalidParameter: If a file cannot be read, or `log` is no log.
    """
    text = limited_io.read_text(proof, limited_io.SCHEMA)
    try:
        return _check_proof(certificate, limited_io.parse_json(text), log)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        if isinstance(error, InvalidParameter) and log is not None:
            raise
        return Check("log", False, "not a proof as `certificate --log-proof` writes it")


def _check_proof(certificate: Any, proof: Any, log: str | Path | None) -> Check:
    if set(proof) != _FIELDS or proof["format"] != _PROOF_FORMAT:
        return Check("log", False, "not a proof as `certificate --log-proof` writes it")
    signer, issuer = signed_by(proof), signed_by(certificate)
    if signer is None or issuer is None or signer.public_bytes_raw() != issuer.public_bytes_raw():
        return Check("log", False, "the proof is not signed by the key that signed the certificate")
    if proof["leaf"] != leaf_of(certificate):
        return Check("log", False, "it is the proof of another certificate")
    place, size = proof["index"], proof["size"]
    if type(place) is not int or type(size) is not int or not 0 <= place < size <= MOST_LEAVES:
        return Check("log", False, "the proof names a place that no log has")
    found = root_from_path(leaf_hash(proof["leaf"]), place, size, [bytes.fromhex(node) for node in proof["path"]])
    if found is None or found.hex() != proof["root"]:
        return Check("log", False, "the path does not lead to the root that was signed")
    where = f"entry {place + 1} of the {size} that its signer's log had on {proof['issued']}"
    if log is None:
        return Check("log", True, where)
    leaves = _read_leaves(limited_io.read_file(log, limited_io.DOCUMENT), str(log))
    if len(leaves) < size or tree_root([leaf_hash(leaf) for leaf in leaves[:size]]) != found:
        return Check(
            "log", False, f"the log given does not begin with the {size} entries that were signed: it was rewritten"
        )
    return Check("log", True, f"{where}; the log given still begins with them")


def _read_leaves(data: bytes, source: str) -> list[dict[str, str]]:
    """Return the entries of a log.

    Raises:
        InvalidParameter: If `data` is no log, or a line is no entry.
    """
    if not data.startswith(BEGINS):
        raise InvalidParameter(f"{source} is not a log of certificates; give the file of `certificate --log`")
    lines = data[len(BEGINS) :].split(b"\n")[:-1]
    if len(lines) > MOST_LEAVES:
        raise InvalidParameter(f"{source} has more than {MOST_LEAVES} entries, so it is not a log of certificates")
    found = []
    for number, line in enumerate(lines, start=2):
        try:
            leaf = limited_io.parse_json(line.decode())
            right = canonical_bytes(
                {"certificate_id": str(UUID(leaf["certificate_id"])), "sha256": bytes.fromhex(leaf["sha256"]).hex()}
            )
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
            right = b""
        if right != line or len(leaf["sha256"]) != 64:
            raise InvalidParameter(f"{source}: line {number} is not an entry of a log of certificates")
        found.append(leaf)
    return found


@contextmanager
def _lock_log(log: str | Path) -> Iterator[BinaryIO]:
    """Open the log for reading and writing, locked for one process at a time."""
    path = check_output("--log", str(log), begins=BEGINS).path
    try:
        lock = Lock(path, wait=_PATIENCE)
    except (OSError, StoreLocked) as error:
        reason = "another process is writing to it" if isinstance(error, StoreLocked) else error.strerror
        raise InvalidParameter(f"--log {log}: cannot be written ({reason}); nothing was issued") from error
    try:
        with path.open("r+b") as file:
            yield file
    finally:
        lock.release()

"""Time stamps and the log of certificates, as `certificate` writes and `verify-certificate` checks them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from noisygd_delete.errors import InvalidParameter
from noisygd_delete.evidence.atomic_write import Output, check_output
from noisygd_delete.evidence.checks import Check
from noisygd_delete.records import limited_io

from . import certificate_log, timestamp

Files = list[tuple[Output, str | bytes]]


def prepare_files(
    parsed: argparse.Namespace, inputs: Sequence[str | None]
) -> Callable[[Mapping[str, Any], str, bytes | None], Files]:
    """Check the paths of --timestamp, --log and --log-proof, and return what obtains the files.

    Args:
        parsed: Arguments of `certificate`.
        inputs: Files that the command reads, or also writes.

    Returns:
        Called with the signed certificate, the text of its file and the passphrase of the key: has the text stamped, enters the
        certificate into the log, and returns each file to write with its content.

    Raises:
        InvalidParameter: If a path cannot be written to, or options that go together are not all given.
    """
    stamp = None if parsed.timestamp is None else check_output("--timestamp", parsed.timestamp, inputs=inputs)
    proof = None
    if parsed.log is not None:
        check_output("--log", parsed.log, begins=certificate_log.BEGINS, inputs=inputs)
    if parsed.log_proof is not None:
        proof = check_output(
            "--log-proof", parsed.log_proof, begins=certificate_log.PROOF, inputs=[*inputs, parsed.log]
        )
    if (parsed.log is None) != (proof is None) or (proof is not None and None in (parsed.key, parsed.out)):
        raise InvalidParameter(
            "--log, --log-proof, --out and --key go together: the signed file of --out is what is entered"
        )
    if (parsed.timestamp_server is None) != (stamp is None) or (stamp is not None and parsed.out is None):
        raise InvalidParameter(
            "--timestamp-server, --timestamp and --out go together: the file of --out is what is stamped"
        )

    def obtain(certificate: Mapping[str, Any], text: str, password: bytes | None) -> Files:
        files: Files = []
        if stamp is not None:
            files.append((stamp, timestamp.request_timestamp(text.encode(), parsed.timestamp_server)))
        if proof is not None:
            entry = certificate_log.enter_certificate(parsed.log, certificate, parsed.key, password=password)
            files.append((proof, json.dumps(entry, indent=2) + "\n"))
        return files

    return obtain


def check_files(parsed: argparse.Namespace, certificate: Any) -> list[Check]:
    """Check the time stamp of the file, and the proof that the certificate is in its signer's log.

    Args:
        parsed: Arguments of `verify-certificate`.
        certificate: The parsed certificate.

    Raises:
        InvalidParameter: If options that go together are not all given, or a file cannot be read.
        MissingDependency: If a stamp is given and rfc3161-client is not installed.
    """
    if (parsed.timestamp is None) != (parsed.timestamp_root is None):
        raise InvalidParameter("--timestamp and --timestamp-root go together: a stamp is worth what its root is")
    if parsed.log is not None and parsed.log_proof is None:
        raise InvalidParameter("--log needs --log-proof: the proof says which entry of the log is this certificate's")
    checks = []
    if parsed.timestamp is not None:
        data = limited_io.read_file(parsed.file, limited_io.DOCUMENT)
        checks.append(timestamp.check_stamp(data, parsed.timestamp, parsed.timestamp_root))
    if parsed.log_proof is not None:
        checks.append(certificate_log.check_log_proof(certificate, parsed.log_proof, parsed.log))
    return checks

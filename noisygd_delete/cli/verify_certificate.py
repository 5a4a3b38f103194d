"""`noisygd-delete verify-certificate`: recompute a certificate offline and check its signature."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from ..errors import InvalidParameter
from ..extensions import load_extension, missing_package
from ..records import limited_io
from .arguments import add_command
from .terminal import print_result


def register(commands: Any) -> None:
    """Add the `verify-certificate` command and its options to the parser."""
    parser = add_command(
        commands,
        "verify-certificate",
        description="Needs neither the store nor the data nor a network. Exit status 0 if every check passes, 5 if one fails.",
        epilog="example: noisygd-delete verify-certificate certificate.json --public-key controller.pem.pub",
    )
    parser.add_argument("file", metavar="FILE", help="certificate as JSON, or its envelope (in-toto, DSSE)")
    parser.add_argument("--public-key", metavar="FILE", help="public key of the signer you expect")
    parser.add_argument("--model", metavar="FILE", help="published model file: its SHA-256 must be the stated one")
    parser.add_argument("--timestamp", metavar="FILE", help="RFC 3161 time stamp of this very file")
    parser.add_argument(
        "--timestamp-root", metavar="FILE", help="root certificate (PEM) that you trust to vouch for the server"
    )
    parser.add_argument("--log-proof", metavar="FILE", help="the signer's proof of inclusion in a log of certificates")
    parser.add_argument("--log", metavar="FILE", help="that log as it is now: it must begin with what was signed then")
    parser.take("--json")
    parser.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    from ..evidence.envelope import is_envelope, open_envelope
    from ..evidence.verification import verify_certificate

    names = ("timestamp", "timestamp_root", "log_proof", "log")
    given = [parsed.options[name] for name in names if getattr(parsed, name) is not None]
    check_files = load_extension("hooks", "check-certificate-files") if given else None
    unchecked = given if check_files is None else []
    document, checks = read_certificate(parsed.file), []
    if is_envelope(document):
        document, check = open_envelope(document, public_key=parsed.public_key)
        checks.append(check)
    if check_files is not None:
        checks += check_files(parsed, document)
    answer = verify_certificate(document, public_key=parsed.public_key, model=parsed.model)
    answer = replace(answer, checks=(*checks, *answer.checks))
    fields = answer.to_dict() | ({"passed": False, "not_checked": unchecked} if unchecked else {})
    print_result(parsed, fields, answer.text())
    if answer.passed and unchecked:
        raise missing_package("compliance", f"{', '.join(unchecked)} was not checked: it", extra="stamp")
    return 0 if answer.passed else 5


def read_certificate(file: str) -> Any:
    """Return the parsed JSON of a certificate file or of its envelope; no field is checked.

    Raises:
        InvalidParameter: If the file cannot be read or is not JSON.
    """
    try:
        return limited_io.parse_json(limited_io.read_text(file, limited_io.DOCUMENT))
    except ValueError as error:
        if isinstance(error, InvalidParameter):
            raise
        raise InvalidParameter(f"cannot read a certificate from {file}: {error}") from error

"""`noisygd-delete verify-certificate`: recompute a certificate offline and check its signature."""

from __future__ import annotations

import argparse
from typing import Any

from .shared import add_json, read_certificate, show


def register(commands: Any) -> None:
    parser = commands.add_parser(
        "verify-certificate",
        help="recompute every number and sentence of an erasure certificate and check its signature",
        description="Needs neither the store nor the data nor a network. Exit status 0 if every check passes, 5 if one fails.",
        epilog="example: noisygd-delete verify-certificate certificate.json --public-key controller.pem.pub",
        allow_abbrev=False,
    )
    parser.add_argument("file", metavar="FILE", help="certificate as JSON")
    parser.add_argument("--public-key", metavar="FILE", help="public key of the signer you expect")
    parser.add_argument("--model", metavar="FILE", help="published model file: its SHA-256 must be the stated one")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    from ..report.verification import verify_certificate

    answer = verify_certificate(read_certificate(parsed.file), public_key=parsed.public_key, model=parsed.model)
    show(parsed, answer.to_dict(), answer.text())
    return 0 if answer.passed else 5

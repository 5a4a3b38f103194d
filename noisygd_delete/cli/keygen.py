"""`noisygd-delete keygen`: a signing key for certificates, in a file of its own."""

from __future__ import annotations

import argparse
from typing import Any

from .output import add_json, show


def register(commands: Any) -> None:
    parser = commands.add_parser(
        "keygen",
        help="make a key that signs certificates",
        description="Write an Ed25519 key to FILE (readable by you only) and its public half to FILE.pub. Keep FILE outside the "
        "store; publish FILE.pub and the key id, so that people can check who signed.",
        epilog="example: noisygd-delete keygen controller.pem",
        allow_abbrev=False,
    )
    parser.add_argument("file", metavar="FILE", help="new file for the private key; never overwritten")
    parser.add_argument(
        "--tombstones", metavar="LIST", help="make the key of a list of erased ids instead, and the empty list"
    )
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    if parsed.tombstones is not None:
        from ..store import Tombstones

        Tombstones.create(parsed.tombstones, parsed.file)
        made = {"key": parsed.file, "tombstones": parsed.tombstones}
        show(parsed, made, f"key {parsed.file} (keep it apart from the list)\nempty list {parsed.tombstones}")
        return 0
    from ..report.signing import new_key

    name = new_key(parsed.file)
    answer = {"key": parsed.file, "public_key": f"{parsed.file}.pub", "key_id": name}
    show(
        parsed, answer, f"key id {name}\nprivate key {parsed.file} (keep it)\npublic key {parsed.file}.pub (publish it)"
    )
    return 0

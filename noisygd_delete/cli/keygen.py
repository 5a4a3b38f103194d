"""`noisygd-delete keygen`: a signing key for certificates, in a file of its own."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..errors import InvalidParameter
from ..evidence.outputs import output, outside
from .arguments import add_command
from .passphrase import add_passphrase_file, new_passphrase, passphrase_of
from .terminal import show


def register(commands: Any) -> None:
    parser = add_command(
        commands,
        "keygen",
        description="Write an Ed25519 key to FILE (readable by you only) and its public half to FILE.pub. Keep FILE outside the "
        "store; publish FILE.pub and the key id, so that people can check who signed.",
        epilog="example: noisygd-delete keygen controller.pem --passphrase",
    )
    parser.add_argument("file", metavar="FILE", help="new file for the private key; never overwritten")
    parser.add_argument(
        "--tombstones", metavar="LIST", help="make the key of a list of erased ids instead, and the empty list"
    )
    parser.add_argument("--passphrase", action="store_true", help="encrypt the key under a passphrase, asked for twice")
    add_passphrase_file(parser)
    parser.takes += ("--json",)
    parser.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    return _signing(parsed) if parsed.tombstones is None else _tombstones(parsed)


def _tombstones(parsed: argparse.Namespace) -> int:
    from ..store import Tombstones

    if parsed.passphrase or parsed.passphrase_file is not None:
        raise InvalidParameter("the key of a list of erased ids takes no passphrase; leave it out")
    outside("FILE", parsed.file)
    if Path(parsed.tombstones).exists() or not Path(parsed.file).is_file() or Path(parsed.file).is_symlink():
        output("FILE", parsed.file)  # else it is a key whose list was never made
    output("--tombstones", parsed.tombstones, inputs=[parsed.file])
    Tombstones.create(parsed.tombstones, parsed.file)
    made = {"key": parsed.file, "tombstones": parsed.tombstones}
    show(parsed, made, f"key {parsed.file} (keep it apart from the list)\nempty list {parsed.tombstones}")
    return 0


def _signing(parsed: argparse.Namespace) -> int:
    from ..evidence.signing import half_made, new_key

    there = half_made(parsed.file)  # by a keygen that was interrupted
    if there:
        password = passphrase_of(parsed.file, parsed.passphrase_file)
    else:
        output("FILE", parsed.file)  # before anybody is asked for a passphrase
        password = new_passphrase(parsed.passphrase_file, ask=parsed.passphrase)
    name = new_key(parsed.file, password=password)
    answer = {
        "key": parsed.file,
        "public_key": f"{parsed.file}.pub",
        "key_id": name,
        "encrypted": password is not None,
    }
    kept = (
        "encrypted: it signs only with its passphrase; keep both"
        if password is not None
        else "not encrypted: whoever can read it can sign. Keep it; --passphrase makes one that is encrypted"
    )
    kept += "; it was there, and only its public half was made" if there else ""
    text = f"key id {name}\nprivate key {parsed.file} ({kept})\npublic key {parsed.file}.pub (publish it)"
    show(parsed, answer, text)
    return 0

"""`noisygd-delete keygen`: a signing key for certificates, in a file of its own; `token`: one for somebody who asks the service."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from ..errors import InvalidParameter
from ..evidence.outputs import output, outside
from ..register.dates import day
from ..service.access import Roles, TokenFile, new_token
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
    parser = add_command(
        commands,
        "token",
        description="The token is printed once and kept nowhere; the file gets its SHA-256, a name and roles.",
        epilog="example: noisygd-delete token tokens.toml --name desk --role request --role read",
    )
    parser.add_argument("file", metavar="FILE", help="file of tokens; made if there is none")
    parser.add_argument("--name", required=True, help="whose it is")
    parser.add_argument(
        "--until", metavar="DAY", help="its last day (2027-06-30, UTC); left out: until its lines are deleted"
    )
    parser.add_argument(
        "--role",
        action="append",
        default=[],
        choices=list(map(str, Roles)),
        help="what it is good for; may be given again",
    )
    parser.takes += ("--json",)
    parser.set_defaults(run=_token)


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


def _token(parsed: argparse.Namespace) -> int:
    outside("FILE", parsed.file)
    until = None if parsed.until is None else day("--until", parsed.until)
    secret, lines = new_token(parsed.name, parsed.role, until)
    path = Path(parsed.file)
    if path.exists():
        TokenFile.read(path)  # of another kind, it is left alone
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), 0o600)
    with os.fdopen(descriptor, "a", encoding="utf-8") as file:
        file.write(("\n" if file.tell() else "") + lines)
        file.flush()
        os.fsync(file.fileno())
    show(
        parsed,
        {"token": secret, "name": parsed.name, "roles": parsed.role},
        f"{secret}\nkeep it now: it is shown once, and {parsed.file} has its hash alone",
    )
    return 0

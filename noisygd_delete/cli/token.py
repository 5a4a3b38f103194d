"""`noisygd-delete token`: a token for somebody who asks the service."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from ..evidence.outputs import outside
from ..register.dates import day
from ..service.access import Roles, TokenFile, new_token
from .arguments import add_command
from .terminal import show


def register(commands: Any) -> None:
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

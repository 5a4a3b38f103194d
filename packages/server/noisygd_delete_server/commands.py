"""`noisygd-delete token` and `requests`: make access tokens; list, retry or drop unfinished requests."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noisygd_delete.cli.arguments import add_command, store_command
from noisygd_delete.cli.terminal import print_result
from noisygd_delete.dates import parse_day
from noisygd_delete.errors import InvalidRequest, StoreLocked
from noisygd_delete.evidence.atomic_write import check_outside_store
from noisygd_delete.store import disk
from noisygd_delete.store.layout import Layout

from .access import Roles, TokenFile, new_token

if TYPE_CHECKING:
    from .inbox import Waiting

_SHOWN = 20  # requests shown of each state


def register(commands: Any) -> None:
    """Add the commands `token` and `requests` to the parser."""
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
    parser.take("--json")
    parser.set_defaults(run=_token)
    parser = store_command(commands, "requests", "requests STORE --retry 9f2c31", _requests)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--retry", metavar="REQUEST", help="try this one again, which failed again and again")
    which.add_argument(
        "--drop", metavar="REQUEST", help="give it up: it is refused, and a person decides (see register)"
    )


def _token(parsed: argparse.Namespace) -> int:
    check_outside_store("FILE", parsed.file)
    until = None if parsed.until is None else parse_day("--until", parsed.until)
    secret, lines = new_token(parsed.name, parsed.role, until)
    path = Path(parsed.file)
    if path.exists():
        TokenFile.read(path)  # raises if it is no token file
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), 0o600)
    with os.fdopen(descriptor, "a", encoding="utf-8") as file:
        file.write(("\n" if file.tell() else "") + lines)
        file.flush()
        os.fsync(file.fileno())
    print_result(
        parsed,
        {"token": secret, "name": parsed.name, "roles": parsed.role},
        f"{secret}\nkeep it now: it is shown once, and {parsed.file} has its hash alone",
    )
    return 0


def _requests(parsed: argparse.Namespace) -> int:
    from .inbox import Inbox, Stages, pending_requests

    layout = Layout.at(parsed.store)
    disk.require_store(layout)
    token = parsed.retry or parsed.drop
    if token is not None:
        _decide(layout, token, drop=parsed.drop is not None)
    order = (Stages.QUARANTINED, Stages.REFUSED, Stages.ACCEPTED, Stages.EDITED)
    left = [kept for kept in Inbox.left_in(layout) if kept.token is not None]
    found = [pending_requests(kept) for stage in order for kept in left if kept.stage is stage]
    lines = [f"{len([one for one in found if one.state == stage])} {_WORDS[stage]}" for stage in map(str, order)]
    for stage in map(str, order):
        here = [one for one in found if one.state == stage]
        lines += [_line(one) for one in here[:_SHOWN]] + (
            [f"  … {len(here) - _SHOWN} more: --json"] if here[_SHOWN:] else []
        )
    answer = {"requests": [{name: getattr(one, name) for name in one.__struct_fields__} for one in found]}
    print_result(parsed, answer, "\n".join(lines))
    return 0


_WORDS = {
    "quarantined": "failed repeatedly: retry or drop them",
    "refused": "refused: a person decides",
    "accepted": "to be carried out",
    "edited": "edited, waiting for a release or a message",
}


def _line(one: Waiting) -> str:
    tries = f" ({one.tries} tries)" if one.tries else ""
    reason = "" if one.reason is None else f": {one.reason}"
    return f"  {one.state:<9}{one.request_id}  since {one.since or 'not known'}{tries}{reason}"


def _decide(layout: Layout, token: str, *, drop: bool) -> None:
    """Retry or drop a quarantined request while no service is running, as the HTTP calls do.

    Raises:
        StoreLocked: If a service is running.
        InvalidRequest: If the request is not quarantined, or is partly done.
    """
    from noisygd_delete.store.ledger import Ledger

    from .inbox import Inbox, Stages
    from .writer import DROPPED

    what = "drop" if drop else "retry"
    try:
        inbox = Inbox(layout)
    except StoreLocked as error:
        raise StoreLocked(
            f"{layout.root}: its service is running; ask it: POST /requests/{token}/{what}, with a token of the role publish"
        ) from error
    try:
        kept = inbox.find(token)
        if kept is None or kept.stage is not Stages.QUARANTINED:
            raise InvalidRequest("this request is not quarantined; `requests STORE` lists those that are")
        if not drop:
            inbox.retry(kept)
        elif Ledger.read(layout.ledger).position(token) is not None:
            raise InvalidRequest("its rows are erased here already, and only other stores are left: retry it")
        else:
            inbox.drop(kept, DROPPED)
    finally:
        inbox.close()

"""Statements about a request, other than its contents, for the register."""

from __future__ import annotations

import argparse
import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import InvalidParameter
from ..register import Channels, RequestCase, Rights
from ..register.case import parse_day
from .arguments import Intermixed

if TYPE_CHECKING:
    from ..records import EditRequest
    from ..store import Store


STATEMENTS = ("--received", "--channel", "--identity-checked")  # options about the receipt of the request


def add_promises(parser: argparse.ArgumentParser) -> None:
    """Add the options for a release that comes later."""
    parser.add_argument(
        "--publish-by",
        metavar="DAY",
        help="with --no-publish: the register calls it late where no release is out by then",
    )
    parser.add_argument(
        "--withdraw",
        action="store_true",
        help="with --no-publish: take the model out of service at once, until the next release",
    )


def add_request_id(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--request-id", metavar="TOKEN", help="random token of this request: sent again, it is told its first answer"
    )


def add_request_options(parser: Intermixed) -> None:
    """Add the options of every edit request."""
    add_request_id(parser)
    parser.add_argument("--no-publish", action="store_true", help="edit the rows now, leave the release to a later one")
    parser.take("--dry-run", "--tombstones", "--tombstone-key", "--device", "--memory")


def with_request_id(request: EditRequest) -> EditRequest:
    """Return the request with its id, or with a new random one."""
    return request if request.request_id is not None else replace(request, request_id=secrets.token_hex(16))


def case_from(parsed: argparse.Namespace, store: Store, request: EditRequest, right: Rights) -> RequestCase:
    """Return what the arguments state about a request; facts that are not given stay unset."""
    later = getattr(parsed, "no_publish", False)
    for option, given in (("--publish-by", parsed.publish_by), ("--withdraw", parsed.withdraw)):
        if given and not later:
            raise InvalidParameter(
                f"{option} goes with --no-publish: without it a release comes at once, and takes the old model's place"
            )
    return replace(
        _read_case(parsed),
        right=_requested_right(store, request, right),
        publish_by=None if parsed.publish_by is None else parse_day("--publish-by", parsed.publish_by),
    )


def _requested_right(store: Store, request: EditRequest, right: Rights) -> Rights:
    """Return the right noted at receipt; otherwise `right`, derived from the request."""
    held = store.register.case(request.request_id or "")
    return right if held is None or held.received is None else held.right


def _read_case(parsed: argparse.Namespace) -> RequestCase:
    return RequestCase(
        channel=None if parsed.channel is None else Channels(parsed.channel),
        received=parsed.received,
        identity_checked=True if parsed.identity_checked else None,
    )


def state_all(parsed: argparse.Namespace, store: Store, requests: Sequence[EditRequest]) -> None:
    """Record what the arguments state about every request of a stream that was served."""
    case = _read_case(parsed)
    if case == RequestCase():
        return
    cases = {}
    for one in requests:
        if one.request_id is not None and store.ledger.position(one.request_id) is not None:
            only_replaces = one.replacements and not (one.deletions or one.subjects)
            right = Rights.RECTIFICATION if only_replaces else Rights.ERASURE
            cases[one.request_id] = replace(case, right=_requested_right(store, one, right))
    store.register.receive(cases)


def format_request_ids(tokens: Sequence[str]) -> str:
    """Return request ids as text, at most five of them by name."""
    return ", ".join(map(repr, tokens[:5])) + (f" and {len(tokens) - 5} more" if len(tokens) > 5 else "")

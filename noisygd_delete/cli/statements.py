"""Statements about a request, other than its contents, for the register of the package noisygd-delete-compliance."""

from __future__ import annotations

import argparse
import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from ..errors import InvalidParameter
from ..extensions import load_extension, missing_package
from .arguments import Intermixed

if TYPE_CHECKING:
    from ..records import EditRequest
    from ..store import Store
    from ..store.request_log import NoteUpdate, RequestLog

ERASURE, RECTIFICATION = "erasure", "rectification"  # rights that a request of the engine exercises
STATEMENTS = ("--received", "--channel", "--identity-checked")  # options about the receipt of the request


def add_promises(parser: argparse.ArgumentParser) -> None:
    """Add the options --publish-by DAY and --withdraw, for a release that comes later."""
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
    """Add the option --request-id TOKEN."""
    parser.add_argument(
        "--request-id", metavar="TOKEN", help="random token of this request: sent again, it gets its first answer"
    )


def add_request_options(parser: Intermixed) -> None:
    """Add the options of every edit request to a parser.

    These are --request-id, --no-publish, --dry-run, --tombstones with its key, --device and --memory.
    """
    add_request_id(parser)
    parser.add_argument("--no-publish", action="store_true", help="edit the rows now, leave the release to a later one")
    parser.take("--dry-run", "--tombstones", "--tombstone-key", "--device", "--memory")


def with_request_id(request: EditRequest) -> EditRequest:
    """Return the request, with a new random id of 32 hexadecimal digits if it has none."""
    return request if request.request_id is not None else replace(request, request_id=secrets.token_hex(16))


def request_note(log: RequestLog, right: str, facts: dict[str, Any]) -> NoteUpdate | None:
    """Return the note that an installed register makes of stated facts; None without facts, or without a register.

    Args:
        log: The request log of the store.
        right: The right that the request exercises, unless another was stated at receipt.
        facts: Result of `stated_facts`.
    """
    state = load_extension("hooks", "request-note") if facts else None
    return None if state is None else cast("NoteUpdate", state(log, right, facts))


def stated_facts(parsed: argparse.Namespace) -> dict[str, Any]:
    """Return the facts that the options state; a fact that is not given is not in the dictionary.

    Its keys are `received`, `channel`, `publish_by` (texts) and `identity_checked` (True).

    Raises:
        InvalidParameter: If --publish-by or --withdraw is given without --no-publish.
        MissingDependency: If something is stated and no register is installed.
    """
    for name in () if getattr(parsed, "no_publish", False) else ("publish_by", "withdraw"):
        if getattr(parsed, name, None):
            raise InvalidParameter(
                f"--{name.replace('_', '-')} goes with --no-publish: without it a release comes at once, and takes the old model's place"
            )
    facts = {name: getattr(parsed, name, None) for name in ("received", "channel", "publish_by")}
    facts["identity_checked"] = True if parsed.identity_checked else None
    found = {name: value for name, value in facts.items() if value is not None}
    if found and load_extension("hooks", "request-note") is None:
        raise missing_package("compliance", f"--{next(iter(found)).replace('_', '-')}")
    return found


def record_facts(facts: dict[str, Any], store: Store, requests: Sequence[EditRequest]) -> None:
    """Add a note of these facts to the request log for each request of a stream that is in the ledger.

    A request that only replaces records is a rectification, any other an erasure. Without facts or an installed
    register nothing is done.
    """
    state = load_extension("hooks", "request-note") if facts else None  # one search for the whole stream
    if state is None:
        return
    changes: dict[str, NoteUpdate] = {}
    for one in requests:
        if one.request_id is not None and store.ledger.position(one.request_id) is not None:
            only_replaces = one.replacements and not (one.deletions or one.subjects)
            changes[one.request_id] = state(store.request_log, RECTIFICATION if only_replaces else ERASURE, facts)
    store.request_log.update(changes)


def format_request_ids(tokens: Sequence[str]) -> str:
    """Return request ids in quotes, joined by commas: the first five, and "and N more" if there are more."""
    return ", ".join(map(repr, tokens[:5])) + (f" and {len(tokens) - 5} more" if len(tokens) > 5 else "")

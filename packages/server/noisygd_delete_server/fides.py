"""Webhook of a Fides server that runs before an erasure, and may halt it until the service calls back.

Fides sends its request id, the person's identities and, for a two-way webhook, `reply-to`, a path of its own API, with
a token for the callback. The service answers `halt: true`, and calls back once every store has published without the
person's records.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta, Struct

from .messages import Hooks
from .request_body import TOKEN, RequestBody, Unfit, parse_as

FIDES = "/webhooks/fides"
_PATH = re.compile(r"/[A-Za-z0-9_./~-]{1,500}")
_JWE = re.compile(r"[A-Za-z0-9_.=-]{1,8000}")


class FidesBody(Struct, frozen=True):
    """The body that Fides sends to a webhook; further fields are ignored."""

    privacy_request_id: Annotated[str, Meta(pattern=TOKEN)]
    identity: dict[str, Any] = {}
    policy_action: str | None = None


class Halt(Struct, frozen=True):
    """The answer to Fides: whether it waits for a callback."""

    halt: bool


def from_fides(body: bytes, headers: Mapping[str, str], hooks: Hooks) -> tuple[str, RequestBody, dict[str, str] | None]:
    """Return the request id, the request, and the callback; None if Fides does not wait.

    Raises:
        InvalidRequest: If the body is not from Fides, identifies no person by the configured identity, or the callback
            is not a path of the configured server.
    """
    request: FidesBody = parse_as(FidesBody, body)
    if request.policy_action not in (None, "erasure"):
        raise Unfit("this webhook serves erasures alone; give it to policies of that kind")
    found = request.identity.get(hooks.identity)
    name = found.get("value") if isinstance(found, dict) else found
    if not isinstance(name, str | int) or isinstance(name, bool) or not 0 < len(str(name)) <= 1000:
        raise Unfit(f"identity has no {hooks.identity}, by which the table identifies persons")
    who: dict[str, Any] = {"subjects" if hooks.names == "subject" else "delete": [str(name)]}
    return request.privacy_request_id, RequestBody(**who), _reply(headers, hooks)


def _reply(headers: Mapping[str, str], hooks: Hooks) -> dict[str, str] | None:
    path, token = headers.get("reply-to"), headers.get("reply-to-token")
    if path is None or token is None:
        return None
    if hooks.fides is None:
        raise Unfit("to be called back, Fides must be named in the file of --hooks: [fides] url = ...")
    if not _PATH.fullmatch(path) or path.startswith("//") or "/../" in f"{path}/" or not _JWE.fullmatch(token):
        raise Unfit("reply-to must be a path of Fides' own API, and reply-to-token what it signs")
    return {"path": path, "token": token}

"""A service that takes requests in, has one writer carry them out, and answers with evidence: `noisygd-delete serve`.

    request (HTTP, a privacy desk's webhook, a file in a folder) → inbox, durable → one writer: rows edited in every store, ids
        forgotten here → publication by size, deadline or budget → whoever asked is told, certificate by the request's id

A request is answered 202 only after it is durable. Every step can be repeated: a request is known by its id in the inbox, then in the
ledgers. Nothing here decides about privacy: it calls the store as a command would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from noisygd_delete.lazy_imports import on_first_use

if TYPE_CHECKING:
    from .access import Roles, TokenFile, new_token
    from .api import application
    from .inbox import Inbox
    from .webhooks import Replayed, Verifier

__all__ = ["Inbox", "Replayed", "Roles", "TokenFile", "Verifier", "application", "new_token"]


__getattr__ = on_first_use(
    __name__,
    {
        "application": "api",
        "Inbox": "inbox",
        **dict.fromkeys(("Replayed", "Verifier"), "webhooks"),
        **dict.fromkeys(("Roles", "TokenFile", "new_token"), "access"),
    },
)

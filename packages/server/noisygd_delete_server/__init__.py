"""An HTTP service that accepts deletion requests, executes them in order, and returns evidence: `noisygd-delete serve`.

    request (HTTP, webhook, or a file in a folder)
        → durable inbox
        → single writer: rows edited in every store, ids removed from the inbox
        → release by size, deadline or budget
        → notification, certificate by request id

A request is answered 202 only once it is durable. Every step is idempotent: a request is identified by its id in the
inbox, then in the ledgers. The service makes no privacy decisions: it calls the store as a command would.

Example:
    Serve a store with the default settings::

        from noisygd_delete_server import TokenFile, application
        from noisygd_delete_server.service import Service

        app = application(Service(["people"], TokenFile.read("tokens.toml")))
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

"""Papers for people: the erasure certificate (JSON, signed; HTML, printed) and the report on a whole store.

Both are built from public facts alone: a plan, the ledger of releases, times and random request ids.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..loading import on_first_use
from .erasure_certificate import erasure_certificate

if TYPE_CHECKING:
    from .checks import Verification
    from .facts import Erasure
    from .page import certificate_html
    from .signing import key_id, new_key, sign
    from .summary import store_report
    from .verification import verify_certificate

__all__ = [
    "Erasure",
    "Verification",
    "certificate_html",
    "erasure_certificate",
    "key_id",
    "new_key",
    "sign",
    "store_report",
    "verify_certificate",
]

__getattr__ = on_first_use(
    __name__,
    {
        "Verification": "checks",
        "Erasure": "facts",
        "certificate_html": "page",
        **dict.fromkeys(("key_id", "new_key", "sign"), "signing"),
        "store_report": "summary",
        "verify_certificate": "verification",
    },
)

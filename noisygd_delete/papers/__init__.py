"""Papers for people: the erasure certificate (JSON, signed; HTML, printed) and the report on a whole store.

Both are built from public facts alone: a plan, the ledger of releases, times and random request ids.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..evidence.certificate import erasure_certificate, plain_words
from ..loading import on_first_use

if TYPE_CHECKING:
    from ..evidence.checks import Verification
    from ..evidence.facts import Erasure
    from ..evidence.signing import key_id, new_key, sign
    from ..evidence.verification import verify_certificate
    from .page import certificate_html
    from .summary import store_report

__all__ = [
    "Erasure",
    "Verification",
    "certificate_html",
    "erasure_certificate",
    "key_id",
    "new_key",
    "plain_words",
    "sign",
    "store_report",
    "verify_certificate",
]

__getattr__ = on_first_use(
    __name__,
    {
        "Verification": ".evidence.checks",
        "Erasure": ".evidence.facts",
        "certificate_html": "page",
        **dict.fromkeys(("key_id", "new_key", "sign"), ".evidence.signing"),
        "store_report": "summary",
        "verify_certificate": ".evidence.verification",
    },
)

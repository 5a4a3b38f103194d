"""Papers for people: the erasure certificate (JSON, signed; HTML, printed) and the report on a whole store.

Both are built from public facts alone: a plan, the ledger of releases, times and random request ids.
"""

from __future__ import annotations

from .checks import Verification
from .erasure_certificate import erasure_certificate
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

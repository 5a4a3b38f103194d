"""Erasure certificates: the facts they state, the claims derived from these facts, and offline verification.

Example:
    Check a certificate without the store, the data or a network::

        from noisygd_delete.evidence import verify_certificate
        from noisygd_delete.records import limited_io

        text = limited_io.read_text("certificate.json", limited_io.DOCUMENT)
        result = verify_certificate(limited_io.parse_json(text), public_key="controller.pem.pub")
        print(result.text())
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy_imports import on_first_use

if TYPE_CHECKING:
    from .certificate import erasure_certificate, plain_words
    from .checks import Verification
    from .erasure import erasure_in
    from .facts import Erasure
    from .signing import key_id, new_key, sign_document
    from .verification import verify_certificate

__all__ = [
    "Erasure",
    "Verification",
    "erasure_certificate",
    "erasure_in",
    "key_id",
    "new_key",
    "plain_words",
    "sign_document",
    "verify_certificate",
]

__getattr__ = on_first_use(
    __name__,
    {
        "Erasure": "facts",
        "Verification": "checks",
        **dict.fromkeys(("erasure_certificate", "plain_words"), "certificate"),
        "erasure_in": "erasure",
        **dict.fromkeys(("key_id", "new_key", "sign_document"), "signing"),
        "verify_certificate": "verification",
    },
)

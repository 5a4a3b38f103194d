"""What is claimed on paper, from which facts, and how a stranger checks it."""

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

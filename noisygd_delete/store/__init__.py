"""The on-disk curator: layout, journal, recovery, erasure, lock, verification.

What runs the curator loads on first use: what a store says of itself needs no engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..loading import on_first_use
from .status import budget, status

if TYPE_CHECKING:
    from .prediction import Predictions, predict
    from .store import Store
    from .suppression import Tombstones
    from .transaction import follow, leading
    from .verification import Soundness, absent, tokens, verify

__all__ = [
    "Predictions",
    "Soundness",
    "Store",
    "Tombstones",
    "absent",
    "budget",
    "follow",
    "leading",
    "predict",
    "status",
    "tokens",
    "verify",
]

__getattr__ = on_first_use(
    __name__,
    {
        "Store": "store",
        **dict.fromkeys(("Predictions", "predict"), "prediction"),
        "Tombstones": "suppression",
        **dict.fromkeys(("follow", "leading"), "transaction"),
        **dict.fromkeys(("Soundness", "absent", "tokens", "verify"), "verification"),
    },
)

"""The on-disk curator: layout, journal, recovery, erasure, lock, verification.

What runs the curator loads on first use: what a store says of itself needs no engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy_imports import on_first_use
from .status import budget, status

if TYPE_CHECKING:
    from .prediction import Predictions, predict
    from .store import Store
    from .tombstones import Tombstones
    from .transaction import follow_group, lead_group
    from .verification import Soundness, tokens, verify, verify_absence

__all__ = [
    "Predictions",
    "Soundness",
    "Store",
    "Tombstones",
    "budget",
    "follow_group",
    "lead_group",
    "predict",
    "status",
    "tokens",
    "verify",
    "verify_absence",
]

__getattr__ = on_first_use(
    __name__,
    {
        "Store": "store",
        **dict.fromkeys(("Predictions", "predict"), "prediction"),
        "Tombstones": "tombstones",
        **dict.fromkeys(("follow_group", "lead_group"), "transaction"),
        **dict.fromkeys(("Soundness", "verify_absence", "tokens", "verify"), "verification"),
    },
)

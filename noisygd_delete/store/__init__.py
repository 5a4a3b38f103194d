"""The on-disk curator: layout, journal, recovery, erasure, lock, verification.

What runs the curator loads on first use: what a store says of itself needs no engine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .status import budget, status
from .suppression import Tombstones

if TYPE_CHECKING:
    from .group import follow, leading
    from .store import Store
    from .verification import Soundness, absent, tokens, verify

__all__ = ["Soundness", "Store", "Tombstones", "absent", "budget", "follow", "leading", "status", "tokens", "verify"]

_HOMES = {
    "Store": "store",
    "follow": "group",
    "leading": "group",
    **dict.fromkeys(("Soundness", "absent", "tokens", "verify"), "verification"),
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""The on-disk curator: layout, journal, recovery, erasure, lock, verification."""

from .group import follow, leading
from .status import budget, status
from .store import Store
from .suppression import Tombstones
from .verification import Soundness, absent, tokens, verify

__all__ = ["Soundness", "Store", "Tombstones", "absent", "budget", "follow", "leading", "status", "tokens", "verify"]

"""The on-disk curator: layout, journal, recovery, erasure, lock, verification."""

from .crew import follow, leading
from .overview import budget, status
from .store import Store
from .tombstones import Tombstones
from .verification import Verification, absent, tokens, verify

__all__ = ["Store", "Tombstones", "Verification", "absent", "budget", "follow", "leading", "status", "tokens", "verify"]

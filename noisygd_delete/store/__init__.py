"""The on-disk curator: layout, journal, recovery, erasure, lock, verification."""

from .overview import budget, status
from .store import Store
from .verification import Verification, absent, tokens, verify

__all__ = ["Store", "Verification", "absent", "budget", "status", "tokens", "verify"]

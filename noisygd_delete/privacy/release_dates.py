"""Dates of releases fixed in advance, and the constants of the default budget that name them; loads no planner."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import check_positive

ADJACENCY = "zero-out"  # relation of the default budget
DATES, DAYS_BETWEEN, SPARE = 26, 28, 4  # dates in two years, and releases that need not wait for one
YEAR = 365 * 86_400.0  # seconds: default period over which the releases of a budget are spread


@dataclass(frozen=True)
class Calendar:
    """Publication dates that do not depend on requests: every `interval` seconds from `start` on.

    A date with no pending edit makes no release.

    Attributes:
        start: When the first model was published, in seconds since 1970.
        interval: Seconds between dates.
    """

    start: float
    interval: float

    def __post_init__(self) -> None:
        check_positive("interval", self.interval)

    def count_dates(self, until: float) -> int:
        """Return the number of dates after the start and up to this time; the start itself is not counted."""
        return max(0, math.floor((until - self.start) / self.interval))

    def due(self, waiting: int, since: float, now: float) -> float | None:
        """Return the seconds until the first date after the oldest pending edit; arguments as for `Batching.due`."""
        if not waiting:
            return None
        return max(0.0, self.start + (self.count_dates(since) + 1) * self.interval - now)

    def count_unused(self, last: float, now: float) -> int:
        """Return the number of dates without a release between the last release and the newest date."""
        return max(0, self.count_dates(now) - self.count_dates(last) - 1)

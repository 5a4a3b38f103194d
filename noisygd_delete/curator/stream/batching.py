"""When edited rows are published: what waits together gets one release."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...accountant import Accountant
from ...errors import InvalidParameter, count, positive
from ...methods.plan import Plan

YEAR = 365 * 86_400.0  # seconds: what the publications of a budget are spread over, where nobody says


@dataclass(frozen=True)
class Batching:
    """When edited rows are published: as soon as one of the conditions holds. Both are set by requests; see `Calendar`.

    size      so many edits wait, or more that came together (None: no such condition)
    deadline  the oldest waiting edit is so many seconds old: a legal time limit (None: no such condition)
    """

    size: int | None = 1
    deadline: float | None = None

    def __post_init__(self) -> None:
        if self.size is None and self.deadline is None:
            raise InvalidParameter(
                "are both left out: give one of them, or nothing is ever published", size=None, deadline=None
            )
        if self.size is not None:
            count("size", self.size)
        if self.deadline is not None:
            positive("deadline", self.deadline)

    def due(self, waiting: int, since: float, now: float) -> float | None:
        """Seconds until a release is due; None where nothing makes it so.

        Args:
            waiting: edits that no release covers. since, now: when the oldest was made, and the time, in seconds of one clock.
        """
        if not waiting:
            return None
        if self.size is not None and waiting >= self.size:
            return 0.0
        return None if self.deadline is None else max(0.0, since + self.deadline - now)

    @classmethod
    def planned(cls, plan: Plan, *, deadline: float | None = None) -> Batching:
        """As many edits as the plan's releases were planned for, where it plans more than one; else when the deadline comes, or
        without one whatever waits, at once."""
        if plan.releases > 1:
            return cls(size=plan.problem.batch, deadline=deadline)
        return cls(size=1 if deadline is None else None, deadline=deadline)

    @classmethod
    def within_budget(
        cls, accountant: Accountant, *, edits: int, deadline: float | None = None, period: float | None = None
    ) -> Batching:
        """The smallest batches for which the publications that the budget has left last for so many edits.

        Args:
            period: seconds in which the edits come: no edit then waits longer than one publication's share of it.

        Raises:
            InvalidParameter: nothing is left to publish.
        """
        left = accountant.remaining().publications
        if left == 0:
            raise InvalidParameter(
                "no publication is left in the budget; plan afresh with a larger dp budget, or a larger total if there is one, and relearn"
            )
        size = 1 if left is None else math.ceil(count("edits", edits) / left)
        if period is not None and left is not None:
            share = positive("period", period) / left
            deadline = share if deadline is None else min(deadline, share)
        return cls(size=size, deadline=deadline)


@dataclass(frozen=True)
class Calendar:
    """Dates of publication that no request has a say in: every `interval` seconds from `start` on. A date on which nothing waits makes
    no release.

    start  in seconds since 1970: when the first model was published
    """

    start: float
    interval: float

    def __post_init__(self) -> None:
        positive("interval", self.interval)

    def dates(self, until: float) -> int:
        """How many dates there were up to this time."""
        return max(0, math.floor((until - self.start) / self.interval))

    def due(self, waiting: int, since: float, now: float) -> float | None:
        """Seconds until the first date after the oldest waiting edit; as of `Batching.due`."""
        if not waiting:
            return None
        return max(0.0, self.start + (self.dates(since) + 1) * self.interval - now)

    def unused(self, last: float, now: float) -> int:
        """How many dates between the last release and the newest date there was none for."""
        return max(0, self.dates(now) - self.dates(last) - 1)

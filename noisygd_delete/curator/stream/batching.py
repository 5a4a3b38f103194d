"""When edited rows are published: pending edits share one release."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...accountant import Accountant
from ...errors import InvalidParameter, check_count, check_positive
from ...methods.plan import Plan


@dataclass(frozen=True)
class Batching:
    """When edited rows are published: as soon as either condition holds. Requests determine both; see `privacy.release_dates.Calendar`.

    Attributes:
        size: Number of pending edits that triggers a release (None: no such condition).
        deadline: Age in seconds of the oldest pending edit that triggers a release, for example a legal time limit
            (None: no such condition).
    """

    size: int | None = 1
    deadline: float | None = None

    def __post_init__(self) -> None:
        if self.size is None and self.deadline is None:
            raise InvalidParameter(
                "are both left out: give one of them, or nothing is ever published", size=None, deadline=None
            )
        if self.size is not None:
            check_count("size", self.size)
        if self.deadline is not None:
            check_positive("deadline", self.deadline)

    def due(self, waiting: int, since: float, now: float) -> float | None:
        """Return the seconds until a release is due; None if neither condition will make it due.

        Args:
            waiting: Number of edits that no release covers.
            since: When the oldest was made, in seconds.
            now: The current time, on the same clock.
        """
        if not waiting:
            return None
        if self.size is not None and waiting >= self.size:
            return 0.0
        return None if self.deadline is None else max(0.0, since + self.deadline - now)

    @classmethod
    def from_plan(cls, plan: Plan, *, deadline: float | None = None) -> Batching:
        """Return the default batching of a plan.

        With more than one planned release: the planned number of edits per release, or the deadline. Otherwise the
        deadline alone, or one edit if there is no deadline.
        """
        if plan.problem.releases > 1:
            return cls(size=plan.problem.batch, deadline=deadline)
        return cls(size=1 if deadline is None else None, deadline=deadline)

    @classmethod
    def within_budget(
        cls, accountant: Accountant, *, edits: int, deadline: float | None = None, period: float | None = None
    ) -> Batching:
        """Return the smallest batch size for which the remaining releases of the budget cover `edits` edits.

        Args:
            accountant: The accountant of the releases so far.
            edits: Expected number of edits.
            deadline: Longest wait of an edit, in seconds.
            period: Seconds in which the edits arrive: no edit then waits longer than one release's share of it.

        Raises:
            InvalidParameter: If the budget has no release left.
        """
        left = accountant.remaining().publications
        if left == 0:
            raise InvalidParameter(
                "no publication is left in the budget; plan afresh with a larger dp budget, or a larger total if there is one, and relearn"
            )
        size = 1 if left is None else math.ceil(check_count("edits", edits) / left)
        if period is not None and left is not None:
            share = check_positive("period", period) / left
            deadline = share if deadline is None else min(deadline, share)
        return cls(size=size, deadline=deadline)

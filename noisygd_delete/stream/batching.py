"""When edited rows are published: size, deadline, budget."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..accountant import Accountant
from ..errors import InvalidParameter, count, positive
from ..methods.plan import Plan


@dataclass(frozen=True)
class Batching:
    """When edited rows are published: as soon as one of the conditions holds.

    size      so many edits wait (None: no such condition)
    deadline  the oldest waiting edit is so many seconds old: a legal time limit (None: no such condition)
    """

    size: int | None = 1
    deadline: float | None = None

    def __post_init__(self) -> None:
        if self.size is None and self.deadline is None:
            raise InvalidParameter("size=None and deadline=None: give one of them, or nothing is ever published")
        if self.size is not None:
            count("size", self.size)
        if self.deadline is not None:
            positive("deadline", self.deadline)

    @classmethod
    def planned(cls, plan: Plan, *, deadline: float | None = None) -> Batching:
        """As many edits as the plan's releases were planned for, where it plans more than one; else each on its own."""
        return cls(size=plan.problem.batch if plan.releases > 1 else 1, deadline=deadline)

    @classmethod
    def within_budget(
        cls, accountant: Accountant, *, edits: int, deadline: float | None = None, period: float | None = None
    ) -> Batching:
        """The smallest batches for which the publications that `releases=N` has left last for so many edits.

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

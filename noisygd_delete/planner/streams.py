"""A budget for a stream of requests: how many publications, how many of them fresh, and how many requests each waits for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..errors import positive
from ..methods.plan import Plan
from .comparison import Comparison, compare_plans


@dataclass(frozen=True)
class StreamPlan:
    """The way that `compare_plans` takes for N requests, spread over a period.

    period  days in which the requests come; None: not said
    """

    comparison: Comparison
    requests: int
    period: float | None

    @property
    def plan(self) -> Plan:
        plan = self.comparison.chosen.plan
        assert plan is not None
        return plan

    @property
    def publications(self) -> int:
        """Besides the learn."""
        return self.comparison.chosen.publications

    @property
    def fresh(self) -> int:
        """Publications that start afresh, the learn among them."""
        return self.plan.fresh_publications

    @property
    def requests_each(self) -> int:
        """Requests that a publication waits for."""
        return math.ceil(self.requests / self.publications)

    @property
    def days_each(self) -> float | None:
        """Days between publications, if requests come evenly."""
        return None if self.period is None else self.period / self.publications

    def to_dict(self) -> dict[str, Any]:
        schedule = {
            "requests": self.requests,
            "period_days": self.period,
            "publications": self.publications,
            "fresh": self.fresh,
            "requests_each": self.requests_each,
            "days_each": self.days_each,
        }
        return {"stream": schedule, **self.comparison.to_dict()}

    def text(self) -> str:
        """The schedule in a paragraph, and how to serve it."""
        resumed = self.publications + 1 - self.fresh
        when = "" if self.days_each is None else f", about one in {self.days_each:.3g} days"
        apart = "" if self.days_each is None or self.fresh < 2 else f" (one in {self.period / self.fresh:.3g} days)"  # type: ignore[operator]
        ways = len(self.comparison.candidates)
        among = "" if ways == 1 else " among the methods below"
        serve = f"--batch {self.plan.problem.batch}"
        if self.days_each is not None:
            serve += f" --deadline {self.days_each * 86_400:.0f}"
        return (
            f"Stream of {self.requests} requests: a learn and {self.publications} publications{when}, each for {self.requests_each} "
            f"request(s); {self.fresh} of them all start afresh{apart}, {resumed} resume from the model before. Chosen by forecast{among}, "
            f"under the budget for all publications together. Serve it with: stream STORE FILE {serve}"
        )


def plan_stream(*, requests: int, period: float | None = None, target: float = 0.01, **arguments: Any) -> StreamPlan:
    """The plan for N requests under one budget.

    Args:
        requests, target, arguments: as for `compare_plans`.
        period: days in which the requests come.
    """
    if period is not None:
        period = positive("period", period)
    return StreamPlan(compare_plans(requests=requests, target=target, **arguments), requests, period)

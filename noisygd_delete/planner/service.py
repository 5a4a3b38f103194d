"""Choose how a store serves deletion requests for two years, from their expected number and public sizes only.

Rows are erased at once in every case; what is chosen is when a model without them follows. "calendar" is the default
plan: a release on each of 26 dates and a few at once. "sums" are releases with correlated noise, of which one
budget covers hundreds, so that each request is published at once and later models are independent of erased rows.
"requests" is one release a request, fewer than the calendar has and thus less noise in each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..methods.base import AUTO
from ..methods.plan import Plan
from ..privacy.release_dates import SPARE
from .advise import Advice, advise_shared
from .defaults import PUBLICATIONS
from .least_epsilon import AccuracyTarget

YEARS = 2
MOST_LOST = 0.01  # of accuracy, by forecast, that sums may cost beyond the other plan
_SUPPOSED = 0.8  # accuracy without noise for that forecast, where no public size determines it
_DEVIATIONS = 3.0  # of a Poisson number of requests


@dataclass(frozen=True)
class DeletionService:
    """A plan for two years of requests.

    Attributes:
        kind: "calendar", "sums" or "requests".
        plan: The plan, under its total.
        requests_per_year: The expected number; None if it is unknown.
        reason: What was chosen and why, as the end of "deletions are served by".
        advice: The advice that the plan is of.
    """

    kind: str
    plan: Plan
    requests_per_year: int | None
    reason: str
    advice: Advice

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible fields."""
        return {"kind": self.kind, "requests_per_year": self.requests_per_year, "reason": self.reason}


def choose_service(advice: Advice, plan: Plan, requests_per_year: int | None, **facts: Any) -> DeletionService:
    """Return the service for a number of requests a year: sums, one release a request, or the calendar of `plan`.

    Sums are taken if by forecast they cost less than a point of accuracy beyond the others; one release a request if it
    needs fewer releases than the calendar, three deviations of the number of requests included.

    Args:
        advice: The advice that `plan` was made from.
        plan: The default plan, with the default total.
        requests_per_year: Expected number of requests; None if unknown: then it is the calendar, which serves any number.
        **facts: The other arguments of `advise` that the advice was made from: loss, adjacency, one_hot_blocks, map, ...
    """
    calendar = DeletionService("calendar", plan, requests_per_year, _calendar_reason(requests_per_year), advice)
    total = plan.problem.total
    if requests_per_year is None or total is None:
        return calendar
    problem, expected = plan.problem, YEARS * requests_per_year
    facts = {**facts, "records": problem.records, "features": problem.features}
    best, cost = calendar, advice.chosen.excess_risk
    few = 1 + math.ceil(expected + _DEVIATIONS * math.sqrt(expected)) + SPARE
    if few < PUBLICATIONS:
        own = advise_shared(total, few, method=AUTO if advice.chained else plan.method.name, **facts)
        if own is not None and own.chosen.excess_risk < cost and not own.plan.mechanism.carries:
            reason = f"a release for each of {requests_per_year} requests a year, {few - 1} in all: fewer than by calendar, with less noise each"
            best, cost = DeletionService("requests", own.plan, requests_per_year, reason, own), own.chosen.excess_risk
    summed = advise_shared(total, expected + PUBLICATIONS, method="sufficient-statistics", **facts)
    if summed is not None and summed.worth_having:
        more = _accuracy_lost(summed.chosen.excess_risk, problem.loss.outputs) - _accuracy_lost(
            cost, problem.loss.outputs
        )
        if more < MOST_LOST:
            reason = (
                f"sums with correlated noise: each of {requests_per_year} requests a year is published at once and later models are independent of its "
                f"rows, for {max(0.0, 100 * more):.1f} points of accuracy by forecast"
            )
            return DeletionService("sums", summed.plan, requests_per_year, reason, summed)
    return best


def _calendar_reason(requests_per_year: int | None) -> str:
    if requests_per_year is None:
        return "a calendar, for any number (--requests-per-year N)"
    return f"a calendar: sums for {requests_per_year} requests a year, or a release for each, would cost more accuracy by forecast"


def _accuracy_lost(excess_risk: float, outputs: int) -> float:
    """Return the accuracy that a forecast costs a model that is right on 80 % of the rows without noise."""
    majority = min(1 / max(2, outputs), _SUPPOSED / 2)
    return _SUPPOSED - AccuracyTarget(_SUPPOSED - MOST_LOST, _SUPPOSED, majority).accuracy(excess_risk)

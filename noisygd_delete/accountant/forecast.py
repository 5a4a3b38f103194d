"""Forecasts: the cost of releases that were not made, before a request, a stream, a month, or a fresh learn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..bounds.arithmetic import last_whole
from ..errors import check_count
from ..methods.plan import Plan
from ..privacy.budget import Total
from ..privacy.guarantee import Guarantee
from ..records import EditCounts
from .account import Account
from .events import Event, EventKinds, is_affordable


@dataclass(frozen=True)
class Remaining:
    """What the budget still allows.

    Attributes:
        publications: Number of further releases; None if it is unlimited, because each release has its own budget or
            another release costs nothing.
        spent: Cost of all releases so far.
        allowed: The budget, as text.
        capped: Whether the plan caps the cost of all releases together.
        total: The cap on all releases, if one was set in addition to the budget.
        delta: δ of the displayed cost.
    """

    publications: int | None
    spent: Guarantee
    allowed: str
    capped: bool = False
    total: Total | None = None
    delta: float = 1e-6

    def to_dict(self) -> dict[str, Any]:
        """Return the spent and allowed privacy and the number of further releases. An infinite ε is None."""
        spent = self.spent.with_slack().epsilon(self.delta) if self.total is None else self.total.spent(self.spent)
        return {
            "capped": self.capped,
            "publications": self.publications,
            "spent_epsilon": spent if math.isfinite(spent) else None,
            "adjacency": str(self.spent.adjacency),
            "delta": self.delta,
            "total": None if self.total is None else self.total.to_dict(),
            "allowed": self.allowed,
        }


@dataclass(frozen=True)
class Outlook:
    """Cost of serving a number of requests, published in batches.

    Attributes:
        requests: Number of requests.
        batch: Requests covered by one release.
        publications: Number of releases.
        fresh_learns: Number of those that are fresh learns, as required by the horizon of composition.
        steps: Total number of Noisy-GD steps.
        added: What these releases alone reveal about a record that stays.
        total: The same together with everything published before.
        affordable: Whether the cap on the sum covers them (True if none was set: every release has its own budget).
    """

    requests: int
    batch: int
    publications: int
    fresh_learns: int
    steps: int
    added: Guarantee
    total: Guarantee
    affordable: bool


class Forecast:
    """A copy of an account, continued under a plan. Releases added here are not recorded in the original account."""

    def __init__(self, plan: Plan, account: Account) -> None:
        self.plan, self.account = plan, account.copy()
        self._before = self._spent() if account.releases else None

    def _spent(self) -> Guarantee:
        return self.account.compose_all("dp", self.plan.problem.adjacency)

    @property
    def steps_since_learn(self) -> int:
        """Number of steps that a record present since the last fresh learn has been exposed to."""
        last = self.account.last
        return last.exposure if last is not None and last.kind is EventKinds.EXTRACTOR else self.account.since_fresh

    def planned_event(self, kind: str | None = None, edits: int | EditCounts = 1) -> Event:
        """Return the next release as the plan would run it.

        Args:
            kind: One of `EventKinds`. By default an unlearn, or the fresh learn that a plan starts with.
            edits: Number of edits that the release covers.
        """
        usual = "unlearn" if self._goes_on else "learn" if self.account.last is None else "relearn"
        chosen = EventKinds(kind or usual)
        steps = (
            self.plan.calibration.delete_steps if chosen is EventKinds.UNLEARN else self.plan.calibration.learn_steps
        )
        counts = EditCounts.of(edits)
        return Event(chosen, steps, counts.total, self.plan.mechanism, counts)

    def add(self, event: Event) -> None:
        """Add a release to the forecast."""
        self.account.record(event)

    def affordable(self, event: Event) -> bool:
        """Return whether all releases, including `event`, stay within the cap on their sum."""
        if not self.plan.problem.is_capped:
            return True
        further = Forecast(self.plan, self.account)
        further.add(event)
        return is_affordable(further._spent(), self.plan)

    @property
    def horizon_spent(self) -> bool:
        """Whether a record erased now could have been exposed to more steps than the plan's composition covers."""
        return self.plan.calibration.horizon is not None and self.steps_since_learn > self.plan.calibration.horizon

    def publication(self, edits: int | EditCounts, *, touched: bool = False) -> Event | None:
        """Return the release that would cover `edits` now, or None if the budget refuses it.

        This is an unlearn, except: if the horizon of composition is exhausted, a fresh learn if the plan runs it
        automatically; and if releases carry noise on and the table was `touched` since the last one, which loses what
        would be carried on, a fresh learn.
        """
        spent, cut = self.horizon_spent, touched and self.plan.mechanism.carries is not None
        if spent and not self.plan.promise.relearns:
            return None
        event = self.planned_event(EventKinds.RELEARN if spent or cut else EventKinds.UNLEARN, edits)
        return event if self.affordable(event) else None

    def foresight(self, delta: float) -> tuple[float | None, float | None]:
        """Return ε at δ about a record still present, rounding slack included, before and after the added releases.

        None stands for no release.
        """
        after = self._spent() if self.account.releases else None
        before, now = (None if spent is None else spent.with_slack().epsilon(delta) for spent in (self._before, after))
        return before, now

    def deletion(self, delta: float) -> tuple[float, float]:
        """Return two values of ε about what the last added release erased.

        Returns:
            ε for an observer of later models only, as the plan guarantees it, if requests did not depend on earlier
            models (with a trained extractor, which no deletion undoes, as if all releases were observed); and ε for an
            observer of every release.
        """
        observed = self.account.deletion_observed(self.plan.problem.deletion_notion)
        later = observed if self.account.trained else self.plan.deletion
        return later.with_slack().epsilon(delta), observed.with_slack().epsilon(delta)

    # --- several releases ---

    def next_releases(self, publications: int, edits: int = 1) -> list[tuple[Event, int]]:
        """Return the next releases after a learn, with counts; some are fresh learns if composition has a horizon."""
        unlearn, horizon = self.planned_event(EventKinds.UNLEARN, edits), self.plan.calibration.horizon
        if horizon is None:
            return [(unlearn, publications)]

        def served(since_learn: int) -> int:
            room = horizon - since_learn
            return room // unlearn.exposure + 1 if room >= 0 else 0

        left = publications - min(publications, served(self.steps_since_learn))
        learns = -(-left // (1 + served(self.plan.calibration.learn_steps)))
        return [(unlearn, publications - learns), (self.planned_event(EventKinds.RELEARN, edits), learns)]

    def cost_of_next_releases(self, publications: int) -> Guarantee:
        """Return what the next releases, all observed, reveal about a record that stays.

        If they continue a chain that carries noise on, this is the cost of the whole chain.
        """
        world = self.plan.problem.adjacency
        if self.plan.mechanism.carries:
            number = self.account.since_fresh + publications if self._goes_on else publications
            return self.plan.mechanism.interval("dp", world, steps_with=number)
        return Guarantee.composed(
            (event.mechanism.interval("dp", world, steps_with=event.exposure), times)
            for event, times in self.next_releases(publications)
            if times
        )

    @property
    def _goes_on(self) -> bool:
        last = self.account.last
        return last is not None and last.mechanism == self.plan.mechanism

    def _after(self, publications: int) -> Guarantee:
        """Return the cost of all releases so far and the next ones."""
        if not self.plan.mechanism.carries:
            return self._spent() + self.cost_of_next_releases(publications)
        further = Forecast(self.plan, self.account)
        for event, times in self.next_releases(publications):
            if times:
                further.account.record(event, times)
        return further._spent()

    def outlook(self, requests: int, batch: int = 1) -> Outlook:
        """Return the cost of the next `requests` requests if each release covers `batch` of them.

        Batched erasures are carried out on the rows at once; only the model without them waits for the batch to fill.
        """
        publications = -(-check_count("requests", requests) // check_count("batch", batch))
        learned = self._learned()
        upcoming, added = learned.next_releases(publications), learned.cost_of_next_releases(publications)
        total = learned._after(publications)
        return Outlook(
            requests=requests,
            batch=batch,
            publications=publications,
            fresh_learns=sum(times for event, times in upcoming if event.kind is EventKinds.RELEARN),
            steps=sum(event.steps * times for event, times in upcoming),
            added=added,
            total=total,
            affordable=is_affordable(total, self.plan),
        )

    def _learned(self) -> Forecast:
        """Return the forecast after the fresh learn that a plan starts with, or this one if the plan has started."""
        first = self.planned_event()
        if first.kind is EventKinds.UNLEARN:
            return self
        learned = Forecast(self.plan, self.account)
        learned.add(first)
        return learned

    def remaining(self) -> Remaining:
        """Return the number of further releases under `releases=N` and the total, and what is spent."""
        nothing = self.plan.mechanism.interval("dp", self.plan.problem.adjacency, steps_with=0)
        spent = self._spent() if self.account.releases else nothing
        allowed = self.plan.problem.budget.describe()
        capped, total = self.plan.problem.is_capped, self.plan.problem.total
        delta = self.plan.problem.budget.shown_delta if total is None else total.delta
        allowed += (
            ", per release" if self.plan.problem.releases == 1 else f", over {self.plan.problem.releases} releases"
        )
        if total is not None:
            allowed += f"; all publications within {total.describe()}"
        return Remaining(self._publications_left() if capped else None, spent, allowed, capped, total, delta)

    def _publications_left(self) -> int | None:
        """Return the largest number of releases verified as affordable, including the initial fresh learn."""
        learned = self._learned()
        first = learned is not self
        if first and not self.affordable(self.planned_event()):
            return 0
        if learned.cost_of_next_releases(1).renyi(2.0) == 0:
            return None

        def within(total: Guarantee | None) -> bool:
            return total is not None and is_affordable(total, self.plan)

        after = learned._after
        return first + last_whole(lambda number: within(after(number)), lambda number: within(after(number).by_gdp))

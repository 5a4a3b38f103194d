"""What would it cost? Every answer about releases that were not made: before one request, a stream, a month, or a fresh learn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..bounds.search import last_whole
from ..errors import count
from ..methods.plan import Plan
from ..privacy.guarantee import Guarantee
from ..privacy.total import Total
from ..records import EditCounts
from .account import Account
from .events import Event, EventKinds
from .intervals import affordable


@dataclass(frozen=True)
class Remaining:
    """What the budget still allows. `publications` is None where they are not limited: each release has its own budget, or
    publishing again costs nothing.

    total, delta  the cap on all publications, where one was set beside the budget; δ of what is shown as spent
    """

    publications: int | None
    spent: Guarantee
    allowed: str
    capped: bool = False
    total: Total | None = None
    delta: float = 1e-6

    def to_dict(self) -> dict[str, Any]:
        """For whoever publishes: what is spent, of what, and how many more there may be. An infinite ε is null."""
        spent = self.spent.with_slack().epsilon(self.delta) if self.total is None else self.total.spent(self.spent)
        return {
            "capped": self.capped,
            "publications": self.publications,
            "spent_epsilon": spent if math.isfinite(spent) else None,
            "delta": self.delta,
            "total": None if self.total is None else self.total.to_dict(),
            "allowed": self.allowed,
        }


@dataclass(frozen=True)
class Foresight:
    """ε at δ with the rounding slack included, before and after the releases that were added.

    before, after  of a record still there, over all releases; None where nothing is out
    """

    delta: float
    before: float | None
    after: float | None


@dataclass(frozen=True)
class Outlook:
    """What serving a number of requests would cost, published in batches.

    batch         requests covered by one publication
    publications  how many that makes
    fresh_learns  how many of those are fresh learns, which composition's horizon asks for
    steps         Noisy-GD steps in all
    added         what these publications alone reveal about a record that stays
    total         together with everything published before
    affordable    whether the cap on the sum covers them (True where none was set: every release has its own budget)
    """

    requests: int
    batch: int
    publications: int
    fresh_learns: int
    steps: int
    added: Guarantee
    total: Guarantee
    affordable: bool


class Ahead:
    """An account as it would go on under a plan. What is added here happens nowhere else."""

    def __init__(self, plan: Plan, account: Account) -> None:
        self.plan, self.account = plan, account.copy()
        self._before = self._spent() if account.releases else None

    def _spent(self) -> Guarantee:
        return self.account.everything("dp", self.plan.problem.adjacency)

    @property
    def steps_since_learn(self) -> int:
        """Steps that a record present since the last fresh learn has been through."""
        last = self.account.last
        return last.exposure if last is not None and last.kind is EventKinds.EXTRACTOR else self.account.since_fresh

    def planned(self, kind: str | None = None, edits: int | EditCounts = 1) -> Event:
        """The next release as the plan would run it. By default an unlearn, or the fresh learn that a plan begins with."""
        last = self.account.last
        begun = last is not None and last.mechanism == self.plan.mechanism
        chosen = EventKinds(kind or ("unlearn" if begun else "learn" if last is None else "relearn"))
        steps = self.plan.delete_steps if chosen is EventKinds.UNLEARN else self.plan.learn_steps
        counts = EditCounts.of(edits)
        return Event(chosen, steps, counts.total, self.plan.mechanism, counts)

    def add(self, event: Event) -> None:
        """As if this release had been made."""
        self.account.record(event)

    def affordable(self, event: Event) -> bool:
        """Whether publishing `event` next keeps the cost of all publications within what was set for it."""
        if not self.plan.capped:
            return True
        further = Ahead(self.plan, self.account)
        further.add(event)
        return affordable(further._spent(), self.plan)

    @property
    def horizon_spent(self) -> bool:
        """Whether a record erased now could have been through more steps than the plan's composition affords."""
        return self.plan.horizon is not None and self.steps_since_learn > self.plan.horizon

    def publication(self, edits: int | EditCounts, *, touched: bool = False) -> Event | None:
        """The release that would cover `edits` now, or None where it has to be withheld.

        An unlearn; where composition's horizon is spent, the fresh learn, if the plan runs it by itself; and a fresh learn where releases
        continue one another and the table was `touched` since the last one, so that what would be carried on is lost.
        """
        spent, cut = self.horizon_spent, touched and self.plan.mechanism.continues
        if spent and not self.plan.promise.relearns:
            return None
        event = self.planned(EventKinds.RELEARN if spent or cut else EventKinds.UNLEARN, edits)
        return event if self.affordable(event) else None

    def foresight(self, delta: float) -> Foresight:
        """A record that is still there, before and after what was added."""
        after = self._spent() if self.account.releases else None
        before, now = (None if all_ is None else all_.with_slack().epsilon(delta) for all_ in (self._before, after))
        return Foresight(delta, before, now)

    def deletion(self, delta: float) -> tuple[float, float]:
        """ε of what the last release added erased, as the plan promises it: to who saw later models only, if requests did not
        depend on earlier ones (where an extractor was trained, which no deletion takes back, as if all were seen); and to who saw every release."""
        observed = self.account.deletion_observed(self.plan.problem.deletion_notion)
        later = observed if self.account.trained else self.plan.deletion
        return later.with_slack().epsilon(delta), observed.with_slack().epsilon(delta)

    # --- many at once ---

    def coming(self, publications: int, edits: int = 1) -> list[tuple[Event, int]]:
        """The next releases after a learn, and how many of each: composition's horizon makes some of them fresh learns."""
        unlearn, horizon = self.planned(EventKinds.UNLEARN, edits), self.plan.horizon
        if horizon is None:
            return [(unlearn, publications)]

        def served(since_learn: int) -> int:
            room = horizon - since_learn
            return room // unlearn.exposure + 1 if room >= 0 else 0

        left = publications - min(publications, served(self.steps_since_learn))
        learns = -(-left // (1 + served(self.plan.learn_steps)))
        return [(unlearn, publications - learns), (self.planned(EventKinds.RELEARN, edits), learns)]

    def cost_of_coming(self, publications: int) -> Guarantee:
        """What the next releases, all observed, reveal about a record that stays; of a chain that they continue, all of it."""
        world = self.plan.problem.adjacency
        if self.plan.mechanism.continues:
            number = self.account.since_fresh + publications if self._goes_on else publications
            return self.plan.mechanism.interval("dp", world, steps_with=number)
        return Guarantee.composed(
            (event.mechanism.interval("dp", world, steps_with=event.exposure), times)
            for event, times in self.coming(publications)
            if times
        )

    @property
    def _goes_on(self) -> bool:
        last = self.account.last
        return last is not None and last.mechanism == self.plan.mechanism

    def _after(self, publications: int) -> Guarantee:
        """Everything, and the next releases."""
        if not self.plan.mechanism.continues:
            return self._spent() + self.cost_of_coming(publications)
        further = Ahead(self.plan, self.account)
        for event, times in self.coming(publications):
            if times:
                further.account.record(event, times)
        return further._spent()

    def outlook(self, requests: int, batch: int = 1) -> Outlook:
        """What the next `requests` requests would cost if each publication covered `batch` of them.

        Batched erasures are carried out on the rows at once; what waits for the batch to fill is the model that forgot them.
        """
        publications = -(-count("requests", requests) // count("batch", batch))
        learned = self._learned()
        coming, added = learned.coming(publications), learned.cost_of_coming(publications)
        total = learned._after(publications)
        return Outlook(
            requests=requests,
            batch=batch,
            publications=publications,
            fresh_learns=sum(times for event, times in coming if event.kind is EventKinds.RELEARN),
            steps=sum(event.steps * times for event, times in coming),
            added=added,
            total=total,
            affordable=affordable(total, self.plan),
        )

    def _learned(self) -> Ahead:
        """After the fresh learn that a plan begins with, if it has not begun."""
        first = self.planned()
        if first.kind is EventKinds.UNLEARN:
            return self
        learned = Ahead(self.plan, self.account)
        learned.add(first)
        return learned

    def remaining(self) -> Remaining:
        """Publications left under `releases=N` and the total, and what is spent."""
        nothing = self.plan.mechanism.interval("dp", self.plan.problem.adjacency, steps_with=0)
        spent = self._spent() if self.account.releases else nothing
        allowed = self.plan.budget.describe()
        capped, total = self.plan.capped, self.plan.total
        delta = self.plan.budget.shown_delta if total is None else total.delta
        allowed += ", per release" if self.plan.releases == 1 else f", over {self.plan.releases} releases"
        if total is not None:
            allowed += f"; all publications within {total.describe()}"
        return Remaining(self._publications_left() if capped else None, spent, allowed, capped, total, delta)

    def _publications_left(self) -> int | None:
        """The last number checked affordable. A plan begins with a fresh learn."""
        learned = self._learned()
        first = learned is not self
        if first and not self.affordable(self.planned()):
            return 0
        if learned.cost_of_coming(1).renyi(2.0) == 0:
            return None

        def within(total: Guarantee | None) -> bool:
            return total is not None and affordable(total, self.plan)

        after = learned._after
        return first + last_whole(lambda number: within(after(number)), lambda number: within(after(number).by_gdp))

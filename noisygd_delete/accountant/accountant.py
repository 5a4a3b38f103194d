"""The budget of a plan: what is spent, what is left, and what would still fit."""

from __future__ import annotations

from dataclasses import dataclass

from ..bounds.search import last_whole
from ..errors import InvalidParameter
from ..privacy.guarantee import Guarantee
from ..records import EditCounts
from .events import Event, EventKinds
from .history import History
from .intervals import within


@dataclass(frozen=True)
class Remaining:
    """What the budget still allows. `publications` is None where they are not limited: each release has its own budget, or
    publishing again costs nothing."""

    publications: int | None
    spent: Guarantee
    allowed: str


class Accountant(History):
    """Answers for a sequence of releases, numbered from 1, and for the budget of the plan they follow."""

    def affordable(self, event: Event) -> bool:
        """Whether publishing `event` next keeps the cumulative cost within a budget that covers several releases."""
        if self.plan is None or self.plan.releases == 1:
            return True
        return within(self.what_if(event).dp_cumulative(), self.plan)

    @property
    def steps_since_learn(self) -> int:
        """Steps that a record present since the last fresh learn has been through."""
        if self._events and self._events[-1].kind == "extractor":
            return self._events[-1].exposure
        return self._since_fresh

    @property
    def horizon_spent(self) -> bool:
        """Whether a record erased now could have been through more steps than the plan's composition affords."""
        horizon = None if self.plan is None else self.plan.horizon
        return horizon is not None and self.steps_since_learn > horizon

    def planned(self, kind: str | None = None, edits: int | EditCounts = 1) -> Event:
        """The next release as the plan would run it: what `what_if`, `affordable` and forecasts are asked about.

        By default an unlearn, or the fresh learn that a plan begins with.
        """
        if self.plan is None:
            raise InvalidParameter("a planned release needs the plan: Accountant(plan)")
        begun = bool(self._events) and self._events[-1].mechanism == self.plan.mechanism
        chosen = EventKinds(kind or ("unlearn" if begun else "relearn" if self._events else "learn"))
        steps = self.plan.delete_steps if chosen is EventKinds.UNLEARN else self.plan.learn_steps
        counts = EditCounts.of(edits)
        return Event(chosen, steps, counts.total, self.plan.mechanism, counts)

    def publication(self, edits: int | EditCounts) -> Event | None:
        """The release that would cover `edits` now, or None where it has to be withheld.

        An unlearn; where composition's horizon is spent, the fresh learn, if the plan runs it by itself.
        """
        if self.plan is None:
            raise InvalidParameter("the next release needs the plan: Accountant(plan)")
        spent = self.horizon_spent
        if spent and not self.plan.method.relearns:
            return None
        event = self.planned(EventKinds.RELEARN if spent else EventKinds.UNLEARN, edits)
        return event if self.affordable(event) else None

    def coming(self, publications: int, edits: int = 1) -> list[tuple[Event, int]]:
        """The next releases after a learn, and how many of each: composition's horizon makes some of them fresh learns."""
        unlearn = self.planned(EventKinds.UNLEARN, edits)
        assert self.plan is not None
        if self.plan.horizon is None:
            return [(unlearn, publications)]

        def served(since_learn: int) -> int:
            room = self.plan.horizon - since_learn  # type: ignore[union-attr, operator]
            return room // unlearn.exposure + 1 if room >= 0 else 0

        left = publications - min(publications, served(self.steps_since_learn))
        learns = -(-left // (1 + served(self.plan.learn_steps)))
        return [(unlearn, publications - learns), (self.planned(EventKinds.RELEARN, edits), learns)]

    def cost_of_coming(self, publications: int) -> Guarantee:
        """What the next releases, all observed, reveal about a record that stays."""
        assert self.plan is not None
        world = self.plan.problem.adjacency
        return Guarantee.composed(
            (event.mechanism.interval("dp", world, steps_with=event.exposure), times)
            for event, times in self.coming(publications)
            if times
        )

    def remaining(self) -> Remaining:
        """Publications left under `releases=N`, and what is spent."""
        if self.plan is None:
            raise InvalidParameter("remaining() needs the plan whose budget it speaks of: Accountant(plan)")
        nothing = self.plan.mechanism.interval("dp", self.plan.problem.adjacency, steps_with=0)
        spent = self.dp_cumulative() if self._events else nothing
        allowed = self.plan.budget.describe()
        if self.plan.releases == 1:
            return Remaining(None, spent, f"{allowed}, per release")
        return Remaining(self._publications_left(), spent, f"{allowed}, over {self.plan.releases} releases")

    def _publications_left(self) -> int | None:
        """By doubling and halving: the last number checked affordable. A plan begins with a fresh learn."""
        assert self.plan is not None
        plan, ahead, learned = self.plan, self, 0
        first = self.planned()
        if first.kind != "unlearn":
            if not self.affordable(first):
                return 0
            ahead, learned = self.what_if(first), 1
        spent = ahead.dp_cumulative()
        if ahead.cost_of_coming(1).renyi(2.0) == 0:
            return None

        def fits(number: int) -> bool:
            return within(spent + ahead.cost_of_coming(number), plan)

        return learned + last_whole(fits)

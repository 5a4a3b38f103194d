"""Schedules that depend on what was published: a preset cap instead of the realised sum.

The accountant's sums hold for a schedule and a set of observations fixed in advance. Where the number of steps, the
noise, the time of the next release or who gets to see it may depend on earlier releases, the sum that happens to be
realised is no guarantee. What holds then is the cap, set beforehand and never exceeded: a privacy filter (Rényi orders one
by one: Feldman & Zrnic 2021, Lécuyer 2021; Gaussian DP: Smith & Thakurta 2022, Koskela, Tobaben & Honkela 2023).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from ..errors import BudgetExceeded, InvalidParameter
from ..methods.plan import Plan
from ..privacy.guarantee import Guarantee
from .events import Event, Stretch, add_release, compose_costs


class PrivacyFilter:
    """Admits releases as long as their worst case together stays under a cap that was fixed before the first one.

    Every admitted release counts as observed. The record's presence is the worst case too: from the first release on, and
    never erased, so the cap also bounds the deletion of a record at a moment chosen by the adversary.

    Args:
        cap: about "dp" or "deletion", in the adjacency that the answer should speak of.
    """

    def __init__(self, cap: Guarantee) -> None:
        self._cap = cap
        self._parts: Counter[Stretch] = Counter()
        self._drawn = 0  # exposure since the last fresh run
        self._admitted: list[Event] = []

    @classmethod
    def for_plan(cls, plan: Plan) -> PrivacyFilter:
        """The cap that the plan's budget states: of all its `releases` together."""
        return cls(plan.allowed)

    @property
    def admitted(self) -> tuple[Event, ...]:
        return tuple(self._admitted)

    @property
    def guarantee(self) -> Guarantee:
        """The cap: what may be promised, however little has been spent."""
        text = "releases were admitted by a filter with this cap, set beforehand; their schedule may depend on what was published"
        return replace(self._cap, assumptions=(*self._cap.assumptions, text))

    def _spent(self, parts: Counter[Stretch], event: Event) -> Guarantee:
        return compose_costs(self._cap.about, self._cap.adjacency, parts, event)

    def allows(self, event: Event) -> bool:
        """Whether the cap still covers everything admitted and this release."""
        if not event.exposure:
            return True
        ahead = self._parts.copy()
        add_release(ahead, event, self._drawn)
        return self._cap.covers(self._spent(ahead, event))

    def admit(self, event: Event) -> None:
        """Count a release *before* it is run.

        Raises:
            BudgetExceeded: the cap would not cover it; nothing was counted, and the release must not be run.
        """
        if not isinstance(event, Event):
            raise InvalidParameter("must be an Event", event=event)
        if not self.allows(event):
            raise BudgetExceeded(
                f"a {event.kind} of {event.steps} steps does not fit under the cap after {len(self._admitted)} releases; "
                "fewer steps or more noise may, a larger cap only for a new sequence"
            )
        add_release(self._parts, event, self._drawn)
        self._drawn = event.exposure + (0 if event.fresh else self._drawn)
        self._admitted.append(event)

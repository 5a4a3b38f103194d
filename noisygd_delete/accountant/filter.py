"""Privacy filter: a cap fixed in advance, for schedules that depend on earlier releases.

The accountant's sums hold for a schedule and a set of observed releases that are fixed in advance. If the number of
steps, the noise, the time of the next release or its audience may depend on earlier releases, the realised sum is not
a guarantee. The cap of a privacy filter, set in advance and never exceeded, is (Rényi orders separately: Feldman &
Zrnic 2021, Lécuyer 2021; Gaussian DP: Smith & Thakurta 2022, Koskela, Tobaben & Honkela 2023).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from ..errors import BudgetExceeded, InvalidParameter
from ..methods.plan import Plan
from ..privacy.guarantee import Guarantee
from .events import Event, Stretch, add_release, compose_costs


class PrivacyFilter:
    """Admits releases while their joint worst case stays within a cap fixed before the first release.

    Every admitted release counts as observed. The record is assumed present from the first release on and never erased,
    which is the worst case, so the cap also bounds the deletion of a record at a time chosen by the adversary.

    Args:
        cap: A guarantee about "dp" or "deletion", under the adjacency that the answer refers to.
    """

    def __init__(self, cap: Guarantee) -> None:
        self._cap = cap
        self._parts: Counter[Stretch] = Counter()
        self._drawn = 0  # exposure since the last fresh run
        self._admitted: list[Event] = []

    @classmethod
    def for_plan(cls, plan: Plan) -> PrivacyFilter:
        """Return a filter whose cap is the plan's budget for all its `releases` together."""
        return cls(plan.allowed)

    @property
    def admitted(self) -> tuple[Event, ...]:
        """The admitted releases, in order."""
        return tuple(self._admitted)

    @property
    def guarantee(self) -> Guarantee:
        """The cap: the guarantee that holds however little has been spent."""
        text = "releases were admitted by a filter with this cap, set beforehand; their schedule may depend on what was published"
        return replace(self._cap, assumptions=(*self._cap.assumptions, text))

    def _spent(self, parts: Counter[Stretch], event: Event) -> Guarantee:
        return compose_costs(self._cap.about, self._cap.adjacency, parts, event)

    def allows(self, event: Event) -> bool:
        """Return whether the cap covers all admitted releases and `event`."""
        if not event.exposure:
            return True
        ahead = self._parts.copy()
        add_release(ahead, event, self._drawn)
        return self._cap.covers(self._spent(ahead, event))

    def admit(self, event: Event) -> None:
        """Record a release *before* it is run.

        Raises:
            InvalidParameter: If `event` is not an `Event`.
            BudgetExceeded: If the cap would not cover the release. Nothing was recorded and the release must not be
                run.
        """
        if not isinstance(event, Event):
            raise InvalidParameter("must be an Event", event=event)
        if not self.allows(event):
            raise BudgetExceeded(
                f"a {event.kind} of {event.steps} steps does not fit under the cap after {len(self._admitted)} releases; "
                "fewer steps or more noise may, a larger cap only for a new sequence"
            )
        add_release(self._parts, event, self._drawn)
        if event.publishes_model:
            self._drawn = event.exposure + (0 if event.fresh else self._drawn)
        self._admitted.append(event)

"""The releases so far -> every question about ε_dp and ε_dd.

Both worlds of a guarantee restart from the same point at every *observed* model, so a history costs the sum of its
intervals: each observed release costs only the steps since the last observed one. (Theorem 4.3 of the paper, which would
add a fresh ε_dp per release for any pair of algorithms, is false as a general statement and is not used.) This
conditioning is also what makes the sums valid for adaptive requests, as long as the schedule and the set of observed
releases are fixed in advance.

What was observed is an assertion made with each query (default: every release). It is never stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from .errors import InvalidParameter, NotLearned, choice, count
from .guarantee import Guarantee
from .mechanism import Mechanism
from .plan import Plan

KINDS = ("learn", "unlearn", "relearn")


@dataclass(frozen=True)
class Event:
    """One publication, as public facts: immutable, and its meaning never changes.

    kind   "learn" and "relearn" start from the initial law; "unlearn" resumes from the model published before
    steps  K of this release
    edits  r, records edited since the release before
    """

    kind: str
    steps: int
    edits: int
    mechanism: Mechanism

    def __post_init__(self) -> None:
        choice("kind", self.kind, KINDS)
        count("steps", self.steps, minimum=0)
        count("edits", self.edits, minimum=0)

    @property
    def fresh(self) -> bool:
        """Whether the run began afresh: from the initial law, or from the minimiser of the records of its time."""
        return self.kind != "unlearn" or self.mechanism.start == "minimiser"

    @property
    def warm(self) -> bool:
        """Whether the model published before could still show in where a solver stopped."""
        return self.kind == "unlearn" and self.mechanism.warm

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Event:
        """Read back `to_dict`; unknown or missing fields are refused."""
        try:
            return cls(**{**fields, "mechanism": Mechanism.from_dict(fields["mechanism"])})
        except (TypeError, KeyError) as error:
            raise InvalidParameter(f"not a release event: {error}") from error


@dataclass(frozen=True)
class Remaining:
    """What the budget still allows. `publications` is None where each release has its own budget."""

    publications: int | None
    spent: Guarantee
    allowed: str


class Accountant:
    """Answers for a sequence of releases, numbered from 1.

    `plan` supplies the adjacency, the deletion notion and the budget that `remaining` speaks of; events of earlier plans
    keep their own facts.
    """

    def __init__(self, plan: Plan | None = None, events: Iterable[Event] = ()) -> None:
        self.plan = plan
        self._events: list[Event] = []
        for event in events:
            self.record(event)

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(self._events)

    def record(self, event: Event) -> int:
        """Append a release; returns its number.

        Raises:
            InvalidParameter: the event resumes a chain with other facts than the chain began with.
        """
        self._check_next(event)
        self._events.append(event)
        return len(self._events)

    def _check_next(self, event: Event) -> None:
        if event.kind == "unlearn" and not self._events:
            raise InvalidParameter("the first release must be a 'learn': there is no published model to resume from")
        if event.fresh:
            return
        if event.mechanism != self._events[-1].mechanism:
            raise InvalidParameter("a change of plan or of n needs a fresh learn ('relearn'); it cannot resume a chain")

    def _adjacency(self, about: str, asked: str | None) -> str:
        if asked is not None:
            return asked
        if self.plan is None:
            return "replace" if about == "dp" else "definition-4.1"
        return self.plan.problem.adjacency if about == "dp" else self.plan.problem.deletion_notion

    def _number(self, name: str, value: int) -> int:
        if not self._events:
            raise NotLearned("nothing has been released yet; call learn first")
        number = count(name, value)
        if number > len(self._events):
            raise InvalidParameter(f"{name}={number} must be at most {len(self._events)}, the number of releases")
        return number

    def _observed(self, observed: Iterable[int] | None) -> set[int]:
        if observed is None:
            return set(range(1, len(self._events) + 1))
        return {self._number("observed release", number) for number in observed}

    def _intervals(
        self, about: str, adjacency: str, *, present_from: int, erased_at: int | None, observed: set[int]
    ) -> Iterator[Guarantee]:
        """The cost of each observed release to a record present from one release and erased at another."""
        steps_with: float = 0
        steps_without = 0
        for number, event in enumerate(self._events, start=1):
            carried: float = 0
            if event.fresh:
                carried = steps_with if event.warm else 0
                steps_with = steps_without = 0
            if number < present_from:
                continue
            if erased_at is None or number < erased_at:
                steps_with += event.steps
            else:
                steps_with = steps_with or carried
                steps_without += event.steps
            if number in observed:
                if steps_with:
                    yield event.mechanism.interval(about, adjacency, steps_with=steps_with, steps_without=steps_without)
                steps_with = steps_without = 0

    def _total(self, about: str, adjacency: str, intervals: Iterator[Guarantee], observed: set[int]) -> Guarantee:
        nothing = self._events[-1].mechanism.interval(about, adjacency, steps_with=0)
        total = sum(intervals, start=nothing)
        everything = len(observed) == len(self._events)
        seen = "every release is observed" if everything else f"only the releases {sorted(observed)} are observed"
        return replace(total, assumptions=(*total.assumptions, f"{seen}; this set was fixed in advance"))

    def dp(self, release: int | None = None, *, adjacency: str | None = None) -> Guarantee:
        """What one release (default: the last) reveals on its own about a record present since the start."""
        number = self._number("release", len(self._events) if release is None else release)
        return self.dp_cumulative(observed=[number], adjacency=adjacency)

    def dp_cumulative(
        self, observed: Iterable[int] | None = None, *, present_from: int = 1, adjacency: str | None = None
    ) -> Guarantee:
        """What all observed releases together reveal about a record that is still there.

        Args:
            observed: release numbers; default every release.
            present_from: the first release that the record took part in.
        """
        world = self._adjacency("dp", adjacency)
        start = self._number("present_from", present_from)
        seen = self._observed(observed)
        return self._total(
            "dp", world, self._intervals("dp", world, present_from=start, erased_at=None, observed=seen), seen
        )

    def deletion(
        self,
        present_from: int = 1,
        erased_at: int | None = None,
        observed: Iterable[int] | None = None,
        *,
        notion: str | None = None,
    ) -> Guarantee:
        """What the observed releases reveal about a record present from one release and erased at another.

        Args:
            present_from: the first release that the record took part in.
            erased_at: the release that served its erasure (default: the last).
            observed: release numbers; default every release, the adversary to whom requests may be adaptive. Pass the
                releases from `erased_at` on for an observer who came after the erasure.
        """
        world = self._adjacency("deletion", notion)
        start = self._number("present_from", present_from)
        erased = self._number("erased_at", len(self._events) if erased_at is None else erased_at)
        if not start < erased:
            raise InvalidParameter(f"erased_at={erased} must come after present_from={start}")
        seen = self._observed(observed)
        composed = self._total(
            "deletion",
            world,
            self._intervals("deletion", world, present_from=start, erased_at=erased, observed=seen),
            seen,
        )
        hidden = self._hidden_past(erased, seen) if world == "definition-4.1" else None
        if hidden is None:
            return composed
        order = hidden.points[0][0]
        return min(composed, hidden, key=lambda guarantee: guarantee.renyi(order))

    def _hidden_past(self, erased_at: int, observed: set[int]) -> Guarantee | None:
        """Theorem 5.2, for an observer who came after the erasure: later models are functions of the first one seen."""
        first = min(observed, default=0)
        if first < erased_at:
            return None
        began = max(number for number in range(1, first + 1) if self._events[number - 1].fresh)
        chain = self._events[began - 1 : first]
        return chain[0].mechanism.forgotten([(event.steps, event.edits) for event in chain])

    def forgotten(self) -> Guarantee:
        """What the last release reveals about what it erased, whatever came before: Definition 4.1 as the plan states it.

        Under Theorem 5.2 it depends on the edits and steps of every release since the last fresh learn.
        """
        last = self._events[-1]
        if last.kind != "unlearn":
            return last.mechanism.interval("deletion", self._adjacency("deletion", None), steps_with=0)
        hidden = self._hidden_past(len(self._events), {len(self._events)})
        if hidden is not None:
            return hidden
        assert self.plan is not None
        return self.plan.deletion

    @property
    def steps_since_learn(self) -> int:
        """Steps that a record present since the last fresh learn has been through."""
        steps = 0
        for event in self._events:
            steps = event.steps + (0 if event.fresh else steps)
        return steps

    @property
    def horizon_spent(self) -> bool:
        """Whether a record erased now could have been through more steps than the plan's composition affords."""
        horizon = None if self.plan is None else self.plan.horizon
        return horizon is not None and self.steps_since_learn > horizon

    def affordable(self, event: Event) -> bool:
        """Whether publishing `event` next keeps the cumulative cost within a budget that covers several releases."""
        if self.plan is None or self.plan.releases == 1:
            return True
        ahead = Accountant(self.plan, self._events)
        ahead.record(event)
        return within(ahead.dp_cumulative(), self.plan)

    def remaining(self) -> Remaining:
        """Publications left under `releases=N`, and what is spent."""
        if self.plan is None:
            raise InvalidParameter("remaining() needs the plan whose budget it speaks of: Accountant(plan)")
        spent = (
            self.dp_cumulative()
            if self._events
            else self.plan.mechanism.interval("dp", self.plan.problem.adjacency, steps_with=0)
        )
        if self.plan.releases == 1:
            return Remaining(None, spent, f"{self.plan.budget.describe()}, per release")
        return Remaining(
            self._publications_left(), spent, f"{self.plan.budget.describe()}, over {self.plan.releases} releases"
        )

    def _publications_left(self) -> int:
        assert self.plan is not None
        ahead = Accountant(self.plan, self._events)
        left = 0
        while True:
            # a plan that no release has followed yet begins with a fresh learn
            resumes = bool(ahead._events) and ahead._events[-1].mechanism == self.plan.mechanism
            kind, steps = ("unlearn", self.plan.delete_steps) if resumes else ("relearn", self.plan.learn_steps)
            event = Event(kind=kind, steps=steps, edits=0, mechanism=self.plan.mechanism)
            if steps == 0 or not ahead.affordable(event):
                return left
            ahead.record(event)
            left += 1


def within(spent: Guarantee, plan: Plan) -> bool:
    """Whether a guarantee lies within the plan's dp budget, in the measure of its certificate (relative 1e-12)."""
    if plan.certificate in ("sharp", "composition"):
        return spent.gdp_squared <= plan.budget.dp_gdp() ** 2 * (1 + 1e-12)
    rate, order = plan.budget.dp_rate()
    return spent.renyi(order) <= rate * order * (1 + 1e-12)

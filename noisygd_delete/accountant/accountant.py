"""The releases so far -> every question about ε_dp and ε_dd.

Both worlds of a guarantee restart from the same point at every *observed* model, so a history costs the sum of its
intervals: each observed release costs only the steps since the last observed one. (Theorem 4.3 of the paper, which would
add a fresh ε_dp per release for any pair of algorithms, is false as a general statement and is not used.) This
conditioning is also what makes the sums valid for adaptive requests, as long as the schedule and the set of observed
releases are fixed in advance.

What was observed is an assertion made with each query (default: every release). It is never stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace

from ..errors import InvalidParameter, NotLearned, count
from ..guarantee import Guarantee
from ..plan import Plan
from .events import Event
from .worlds import Stretch, alone, compose, stretches, within


@dataclass(frozen=True)
class Remaining:
    """What the budget still allows. `publications` is None where they are not limited: each release has its own budget, or
    publishing again costs nothing."""

    publications: int | None
    spent: Guarantee
    allowed: str


class Accountant:
    """Answers for a sequence of releases, numbered from 1.

    `plan` supplies the adjacency, the deletion notion and the budget that `remaining` speaks of; events of earlier plans
    keep their own facts. Queries cost time linear in the number of releases; `dp_cumulative()` only in the number of
    distinct ones.
    """

    def __init__(self, plan: Plan | None = None, events: Iterable[Event] = ()) -> None:
        self.plan = plan
        self._events: list[Event] = []
        self._published: Counter[Stretch] = Counter()  # the stretches of a history of which everything is observed
        for event in events:
            self.record(event)

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(self._events)

    def record(self, event: Event, times: int = 1) -> int:
        """Append a release, or `times` equal ones after each other; returns the number of the last.

        Raises:
            InvalidParameter: the event resumes a chain with other facts than the chain began with.
        """
        number = count("times", times)
        self._check_next(event)
        self._events += [event] * number
        if event.steps:
            self._published[event.mechanism, event.steps, 0.0] += number
        return len(self._events)

    def what_if(self, *events: Event) -> Accountant:
        """The accountant as it would be after further releases; this one is not changed. Any query may be put to it."""
        ahead = Accountant(self.plan)
        ahead._events, ahead._published = list(self._events), self._published.copy()
        for event in events:
            ahead.record(event)
        return ahead

    def _check_next(self, event: Event) -> None:
        if event.kind != "unlearn":
            return
        if not self._events:
            raise InvalidParameter("the first release must be a 'learn': there is no published model to resume from")
        if self._events[-1].kind == "extractor":
            raise InvalidParameter(
                "a new extractor needs a fresh learn ('relearn'): the published model read other features"
            )
        if not event.fresh and event.mechanism != self._events[-1].mechanism:
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

    def _observed(self, observed: Iterable[int] | None) -> Collection[int]:
        if observed is None:
            return range(1, len(self._events) + 1)
        return {self._number("observed release", number) for number in observed}

    def _total(self, about: str, adjacency: str, parts: Counter[Stretch], observed: Collection[int]) -> Guarantee:
        total = compose(about, adjacency, parts, self._events[-1])
        everything = len(observed) == len(self._events)
        seen = "every release is observed" if everything else f"only {_listed(observed)} observed"
        return replace(total, assumptions=(*total.assumptions, f"{seen}; this set was fixed in advance"))

    def dp(self, release: int | None = None, *, adjacency: str | None = None) -> Guarantee:
        """What one release (default: the last) reveals on its own about a record present since the start."""
        number = self._number("release", len(self._events) if release is None else release)
        return self.dp_cumulative(observed=[number], adjacency=adjacency)

    def dp_of_each(self, last: int | None = None, *, adjacency: str | None = None) -> list[Guarantee]:
        """`dp(release)` for each of the last releases (default: all), in one pass."""
        world = self._adjacency("dp", adjacency)
        each = list(alone(self._events))[0 if last is None else -count("last", last) :]
        answers = {parts: compose("dp", world, Counter(parts), self._events[-1]) for parts in dict.fromkeys(each)}
        return [answers[parts] for parts in each]

    def dp_cumulative(
        self, observed: Iterable[int] | None = None, *, present_from: int = 1, adjacency: str | None = None
    ) -> Guarantee:
        """What all observed releases together reveal about a record that is still there.

        Args:
            observed: release numbers; default every release.
            present_from: the first release that the record took part in (default: the first of all, the worst case).
        """
        world = self._adjacency("dp", adjacency)
        start = self._number("present_from", present_from)
        if observed is None and start == 1:
            return self._total("dp", world, self._published, self._observed(None))
        seen = self._observed(observed)
        parts = Counter(stretches(self._events, present_from=start, erased_at=None, observed=seen))
        return self._total("dp", world, parts, seen)

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
            present_from: the first release that the record took part in (default: the first of all, the worst case).
            erased_at: the release that served its erasure (default: the last).
            observed: release numbers; default every release, the adversary to whom requests may be adaptive. Pass the
                releases from `erased_at` on for an observer who came after the erasure.
        """
        world = self._adjacency("deletion", notion)
        start, erased = self._lifetime(present_from, erased_at)
        seen = self._observed(observed)
        parts = Counter(stretches(self._events, present_from=start, erased_at=erased, observed=seen))
        return self._total("deletion", world, parts, seen)

    def _lifetime(self, present_from: int, erased_at: int | None) -> tuple[int, int]:
        start = self._number("present_from", present_from)
        erased = self._number("erased_at", len(self._events) if erased_at is None else erased_at)
        if not start < erased:
            raise InvalidParameter(f"erased_at={erased} must come after present_from={start}")
        return start, erased

    def deletion_adaptive(
        self, models_seen: int, present_from: int = 1, erased_at: int | None = None, *, notion: str | None = None
    ) -> Guarantee:
        """Deletion under p-adaptive requests: requesters saw any p models before the erasure, nobody knows which.

        The observer sees every release from `erased_at` on. Each model seen costs at most what it reveals on its own, so
        the p dearest ones and the deletion as if nothing had been seen bound the rest; never more than all of them seen.
        (This is ε_dd + p ε_dp for Noisy-GD, by conditioning on the models; Theorem 4.3 itself is not used.)
        """
        seen = count("models_seen", models_seen, minimum=0)
        world = self._adjacency("deletion", notion)
        start, erased = self._lifetime(present_from, erased_at)

        def cost(observed: Collection[int]) -> Guarantee:
            parts = Counter(stretches(self._events, present_from=start, erased_at=erased, observed=observed))
            return compose("deletion", world, parts, self._events[-1])

        everything, afterwards = cost(self._observed(None)), cost(range(erased, len(self._events) + 1))
        # a chain that the record joined half-way counts from there
        lone = Counter(alone(self._events[start - 1 : erased - 1]))
        before = [
            (compose("deletion", world, Counter(parts), self._events[-1]), times) for parts, times in lone.items()
        ]
        dearest = afterwards + _dearest(before, seen, afterwards)
        least = everything if seen >= erased - start or dearest.covers(everything) else dearest
        who = f"requests depend on at most {seen} of the models published before the erasure, whichever they are"
        return replace(least, assumptions=(*least.assumptions, who))

    def affordable(self, event: Event) -> bool:
        """Whether publishing `event` next keeps the cumulative cost within a budget that covers several releases."""
        if self.plan is None or self.plan.releases == 1:
            return True
        return within(self.what_if(event).dp_cumulative(), self.plan)

    def planned(self, kind: str | None = None, edits: int = 1) -> Event:
        """The next release as the plan would run it: what `what_if`, `affordable` and forecasts are asked about.

        By default an unlearn, or the fresh learn that a plan begins with.
        """
        if self.plan is None:
            raise InvalidParameter("a planned release needs the plan: Accountant(plan)")
        begun = bool(self._events) and self._events[-1].mechanism == self.plan.mechanism
        chosen = kind or ("unlearn" if begun else "relearn" if self._events else "learn")
        steps = self.plan.delete_steps if chosen == "unlearn" else self.plan.learn_steps
        return Event(kind=chosen, steps=steps, edits=edits, mechanism=self.plan.mechanism)

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
        spent, event = ahead.dp_cumulative(), ahead.planned("unlearn")
        each = event.mechanism.interval("dp", plan.problem.adjacency, steps_with=event.steps)
        if each.renyi(2.0) == 0:
            return None

        def fits(number: int) -> bool:
            return within(Guarantee.composed([(spent, 1), (each, number)]), plan)

        if not fits(1):
            return learned
        low, high = 1, 2
        while fits(high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        return learned + low


def _dearest(before: list[tuple[Guarantee, int]], number: int, like: Guarantee) -> Guarantee:
    """A bound on the sum of any `number` of the guarantees: the largest of each kind of part."""

    def largest(cost: Callable[[Guarantee], float]) -> float:
        total, left = 0.0, number
        for value, times in sorted(((cost(part), times) for part, times in before), reverse=True):
            taken = min(left, times)
            total, left = total + value * taken if taken else total, left - taken
        return total

    orders = sorted({order for part, _ in before for order, _ in part.points})
    return replace(
        like,
        gdp_squared=largest(lambda part: part.gdp_squared),
        rate=largest(lambda part: part.rate),
        points=tuple((q, largest(lambda part, q=q: part.listed(q))) for q in orders),  # type: ignore[misc]
        rows=min((part.rows for part, _ in before), default=like.rows),
        proven=like.proven and all(part.proven for part, _ in before),
        slack=max((part.slack for part, _ in before), default=like.slack),
    )


def _listed(observed: Collection[int]) -> str:
    numbers = sorted(observed)
    if len(numbers) <= 12:
        return f"the releases {numbers} are"
    return f"{len(numbers)} releases from {numbers[0]} to {numbers[-1]} are"

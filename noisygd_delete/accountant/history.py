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
from dataclasses import replace
from itertools import groupby
from typing import Self

from ..errors import InvalidParameter, NotLearned, count
from ..methods.plan import Plan
from ..privacy.guarantee import NON_ADAPTIVE, Guarantee
from .events import Event
from .intervals import Known, Stretch, alone, compose, cost, erased_by, erasures, stretches


class History:
    """What a sequence of releases, numbered from 1, reveals.

    `plan` supplies the default adjacency and deletion notion; events of earlier plans keep their own facts. Queries cost
    time linear in the number of releases; `dp_cumulative()` only in the number of distinct ones.
    """

    def __init__(self, plan: Plan | None = None, events: Iterable[Event] = ()) -> None:
        self.plan = plan
        self._events: list[Event] = []
        self._published: Counter[Stretch] = Counter()  # the stretches of a history of which everything is observed
        self._since_fresh = 0  # steps since the last fresh run
        self._extractors: tuple[Stretch, ...] = ()  # of the last extractor
        self._trained = 0  # extractors, in all
        for _, equal in groupby(events, key=id):  # a run of one event again and again is recorded at once
            event, *others = equal
            self.record(event, 1 + len(others))

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(self._events)

    @property
    def releases(self) -> int:
        """How many."""
        return len(self._events)

    def record(self, event: Event, times: int = 1) -> int:
        """Append a release, or `times` equal ones after each other; returns the number of the last.

        Raises:
            InvalidParameter: the event resumes a chain with other facts than the chain began with.
        """
        number = count("times", times)
        self._check_next(event)
        self._events += [event] * number
        if event.exposure:
            self._published[event.mechanism, event.exposure, 0.0] += number
        if event.kind == "extractor":
            self._extractors = ((event.mechanism, event.exposure, 0.0),) if event.exposure else ()
            self._trained += number
        else:
            self._since_fresh = event.exposure if event.fresh else self._since_fresh + event.exposure * number
        return len(self._events)

    def what_if(self, *events: Event) -> Self:
        """The same as it would be after further releases; this one is not changed. Any query may be put to it."""
        ahead = type(self)(self.plan)
        ahead._events, ahead._published = list(self._events), self._published.copy()
        ahead._since_fresh, ahead._extractors, ahead._trained = self._since_fresh, self._extractors, self._trained
        for event in events:
            ahead.record(event)
        return ahead

    def _check_next(self, event: Event) -> None:
        beside = [past.mechanism for past in self._events[-1:]] + ([] if self.plan is None else [self.plan.mechanism])
        if any(event.mechanism.contradicts(other) for other in beside if other is not event.mechanism):
            raise InvalidParameter("runs that share every other fact state different smoothness of the objective")
        if event.kind != "unlearn":
            return
        if not self._events:
            raise InvalidParameter("the first release must be a 'learn': there is no published model to resume from")
        if self._events[-1].kind == "extractor":
            raise InvalidParameter(
                "a new extractor needs a fresh learn ('relearn'): the published model read other features"
            )
        last = self._events[-1].mechanism
        if not event.fresh and event.mechanism is not last and event.mechanism != last:
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

    def seen(self, observed: Iterable[int] | None) -> Collection[int]:
        """The release numbers, each once; all of them for None. The first that does not exist is refused."""
        if observed is None:
            return range(1, len(self._events) + 1)
        return {self._number("observed release", number) for number in observed}

    def _total(
        self,
        about: str,
        adjacency: str,
        parts: Counter[Stretch],
        observed: Collection[int],
        known: Known | None = None,
    ) -> Guarantee:
        total = compose(about, adjacency, parts, self._events[-1], known)
        everything = len(observed) == len(self._events)
        seen = (
            "every release is observed"
            if everything
            else f"only {_listed(observed)} observed; {NON_ADAPTIVE} that were not"
        )
        return replace(total, assumptions=(*total.assumptions, f"{seen}; this set was fixed in advance"))

    def dp(self, release: int | None = None, *, adjacency: str | None = None) -> Guarantee:
        """What one release (default: the last) reveals on its own about a record present since the start."""
        number = self._number("release", len(self._events) if release is None else release)
        if number < len(self._events):
            return self.dp_cumulative(observed=[number], adjacency=adjacency)
        parts, last = Counter(self._extractors), self._events[-1]
        if last.kind != "extractor" and self._since_fresh:
            parts[last.mechanism, self._since_fresh, 0.0] += 1
        return self._total("dp", self._adjacency("dp", adjacency), parts, {number})

    def dp_of_each(self, last: int | None = None, *, adjacency: str | None = None) -> list[Guarantee]:
        """`dp(release)` for each of the last releases (default: all), in one pass."""
        world = self._adjacency("dp", adjacency)
        each = list(alone(self._events))[0 if last is None else -count("last", last) :]
        answers = self._alone_each("dp", world, each)
        return [answers[parts] for parts in each]

    def _alone_each(
        self, about: str, world: str, each: Iterable[tuple[Stretch, ...]]
    ) -> dict[tuple[Stretch, ...], Guarantee]:
        """`_alone` of every distinct one. Steps without end come to equal costs, which are composed once."""
        answers, known = {}, dict[tuple[Guarantee, ...], Guarantee]()
        for parts in dict.fromkeys(each):
            costs = tuple(cost(about, world, stretch) for stretch in parts)
            if costs not in known:
                known[costs] = self._alone(about, world, parts)
            answers[parts] = known[costs]
        return answers

    def _alone(self, about: str, world: str, parts: tuple[Stretch, ...]) -> Guarantee:
        """What one release reveals where no other was observed."""
        return compose(about, world, Counter(parts), self._events[-1]).assuming(NON_ADAPTIVE)

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
            return self._total("dp", world, self._published, self.seen(None))
        seen = self.seen(observed)
        parts = Counter(stretches(self._events, present_from=start, erased_at=None, observed=seen))
        return self._total("dp", world, parts, seen)

    def dp_cumulative_of_each(self) -> list[Guarantee]:
        """What all releases up to each one reveal about a record present since the start, in one pass."""
        growing, totals, known = type(self)(self.plan), list[Guarantee](), Known()
        world = self._adjacency("dp", None)
        for event in self._events:
            growing.record(event)
            totals.append(growing._total("dp", world, growing._published, growing.seen(None), known))
        return totals

    def costliest_deletion(self, releases: Iterable[int], shown: Collection[int]) -> Guarantee | None:
        """The `deletion(1, …)` of largest advantage among the erasures that these releases served, to an observer of the
        `shown` ones before it and of every one from it on; None for no release.

        Of erasures with an equal part of their own, the one before which more was seen costs more, so that the others need
        no computing.
        """
        asked, visible = set(releases), shown if isinstance(shown, range) else frozenset(shown)
        dearest: dict[object, tuple[int, int]] = {}  # a part of its own -> (stretches seen before, release)
        for number, (seen, parts) in enumerate(erasures(self._events, visible), start=1):
            if number in asked:
                alike = number if self._events[number - 1].mechanism.forgets_unobserved else parts
                before = seen.total()
                if alike not in dearest or before > dearest[alike][0]:
                    dearest[alike] = before, number
        end = len(self._events) + 1
        answers = [
            self.deletion(1, number, [*filter(number.__gt__, shown), *range(number, end)])
            for _, number in sorted(dearest.values(), key=lambda found: found[1])
        ]
        return max(answers, key=lambda answer: answer.advantage, default=None)

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
            observed: release numbers; default every release, the adversary to whom requests may be adaptive. Passing only
                those from `erased_at` on is valid for an observer who came after the erasure *if no request depended on
                an earlier model*: a request that did may have carried the erased record into records that stay.
        """
        world = self._adjacency("deletion", notion)
        start, erased = self._lifetime(present_from, erased_at)
        seen = self.seen(observed)
        parts = Counter(stretches(self._events, present_from=start, erased_at=erased, observed=seen))
        composed = self._total("deletion", world, parts, seen)
        hidden = self._hidden_past(erased, seen) if world == "definition-4.1" else None
        if hidden is None:
            return composed
        order = hidden.points[0][0]
        return min(composed, hidden, key=lambda guarantee: guarantee.renyi(order))

    def deletion_observed(self) -> Guarantee:
        """`deletion()` of what the last release erased, every release observed: what all the others showed of it.

        Holds under adaptive requests. Time does not grow with the number of releases.
        """
        last = self._events[-1]
        before = self._published - Counter({(last.mechanism, last.exposure, 0.0): 1})
        return self._total("deletion", self._adjacency("deletion", None), before, self.seen(None))

    def deletion_of_each(self, *, notion: str | None = None) -> list[Guarantee]:
        """`deletion(1, release, [release])` for every release from the second on, in one pass (Theorem 5.2: one each)."""
        world = self._adjacency("deletion", notion)
        each = list(erased_by(self._events))
        answers = self._alone_each("deletion", world, each)
        near_gibbs = {
            number for number, event in enumerate(self._events, start=1) if event.mechanism.forgets_unobserved
        }
        return [
            self.deletion(1, number, [number], notion=world) if number in near_gibbs else answers[parts]
            for number, parts in enumerate(each[1:], start=2)
        ]

    def _hidden_past(self, erased_at: int, observed: Collection[int]) -> Guarantee | None:
        """Theorem 5.2, for an observer who came after the erasure: later models are functions of the first one seen."""
        first = min(observed, default=0)
        if first < erased_at or not self._events[first - 1].mechanism.forgets_unobserved:
            return None
        if any(event.kind == "extractor" for event in self._events[:first]):
            return None
        began = max(number for number in range(1, first + 1) if self._events[number - 1].fresh)
        chain = self._events[began - 1 : first]
        return chain[0].mechanism.forgotten([(event.steps, event.edits) for event in chain])

    def forgotten(self) -> Guarantee:
        """What the last release alone reveals about what it erased: Definition 4.1 as the plan states it.

        Only as long as requests did not depend on earlier models: one that did may have written what it saw of the erased
        record into records that stay. `deletion()` over every observed release holds whatever the requests were. Under
        Theorem 5.2 the figure depends on the edits and steps of every release since the last fresh learn.
        """
        last = self._events[-1]
        if self._trained > (last.kind == "extractor"):  # no deletion takes back what it learned
            return self.deletion(1, len(self._events), [len(self._events)])
        if last.kind != "unlearn":
            return self._alone("deletion", self._adjacency("deletion", None), ())
        hidden = self._hidden_past(len(self._events), {len(self._events)})
        if hidden is not None:
            return hidden
        if self.plan is None:
            raise InvalidParameter(
                "forgotten() states what a plan promises: Accountant(plan); deletion() needs no plan"
            )
        return self.plan.deletion

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

        everything, afterwards = cost(self.seen(None)), cost(range(erased, len(self._events) + 1))
        # a chain that the record joined half-way counts from there
        lone = Counter(alone(self._events[start - 1 : erased - 1]))
        before = [
            (compose("deletion", world, Counter(parts), self._events[-1]), times) for parts, times in lone.items()
        ]
        dearest = afterwards + _dearest(before, seen, afterwards)
        least = everything if seen >= erased - start or dearest.covers(everything) else dearest
        who = f"requests depend on at most {seen} of the models published before the erasure, whichever they are"
        return replace(least, assumptions=(*least.assumptions, who))


def _dearest(before: list[tuple[Guarantee, int]], number: int, like: Guarantee) -> Guarantee:
    """A bound on the sum of any `number` of the guarantees: the largest of each kind of part."""

    def largest(cost: Callable[[Guarantee], float]) -> float:
        total, left = 0.0, number
        for value, times in sorted(((cost(part), times) for part, times in before), reverse=True):
            taken = min(left, times)
            total, left = total + value * taken if taken else total, left - taken
        return total

    orders = sorted({order for part, _ in before for order, _ in part.points})
    curves = dict.fromkeys(curve for part, _ in before for curve, _ in part.curves)
    return replace(
        like,
        gdp_squared=largest(lambda part: part.gdp_squared),
        rate=largest(lambda part: part.rate),
        points=tuple((q, largest(lambda part, q=q: part.listed(q))) for q in orders),  # type: ignore[misc]
        curves=tuple((each, largest(lambda part, each=each: dict(part.curves).get(each, 0.0))) for each in curves),  # type: ignore[misc]
        rows=min((part.rows for part, _ in before), default=like.rows),
        proven=like.proven and all(part.proven for part, _ in before),
        slack=max((part.slack for part, _ in before), default=like.slack),
    )


def _listed(observed: Collection[int]) -> str:
    numbers = sorted(observed)
    if len(numbers) <= 12:
        return f"the releases {numbers} are"
    return f"{len(numbers)} releases from {numbers[0]} to {numbers[-1]} are"

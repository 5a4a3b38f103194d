"""The individual releases with their running sums, for queries that the sums alone do not answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol, Self

from ..errors import InvalidParameter, NotLearned, check_count
from ..privacy.guarantee import Guarantee
from .account import Account, hidden_past
from .events import (
    Event,
    Stretch,
    compose_costs,
    iterate_erased_costs,
    iterate_erasures,
    iterate_stretches,
    releases_alone,
)


class EventSource(Protocol):
    """Source of earlier releases, such as a store's ledger."""

    def events_since(self, number: int) -> Sequence[Event]:
        """Return the releases from this number on."""
        ...

    def account_after(self, number: int) -> Account | None:
        """Return the sums after the first `number` releases, if they were stored."""
        ...


class History:
    """Releases, numbered from 1, with running sums (`account`). Those of an `EventSource` are loaded on demand."""

    def __init__(self, account: Account | None = None, past: EventSource | None = None) -> None:
        self.account = Account() if account is None else account.copy()
        self._past, self._before = past, self.account.releases  # number of releases held by `past`
        self._events: list[Event] = []

    def copy(self) -> Self:
        """Return an independent copy."""
        other = type(self)(self.account, self._past)
        other._before, other._events = self._before, list(self._events)
        return other

    def record(self, event: Event, times: int = 1) -> None:
        """Append a release, or `times` equal consecutive ones."""
        self.account.record(event, times)
        self._events += [event] * times

    def __len__(self) -> int:
        return self.account.releases

    def __iter__(self) -> Iterator[Event]:
        return iter(self.since(1))

    def since(self, number: int) -> Sequence[Event]:
        """Return the releases from this number on, reading those not held here from the event source.

        Raises:
            InvalidParameter: If only the sums of some of them are known.
        """
        if number > self._before:
            return self._events[number - 1 - self._before :] if number > self._before + 1 else self._events
        if self._past is None:
            raise InvalidParameter("only the sums of these releases are known here, not the releases one by one")
        fetched = [*self._past.events_since(number)[: self._before - number + 1], *self._events]
        if number == 1:
            self._before, self._events = 0, fetched
        return fetched

    def account_after(self, number: int) -> Account | None:
        """Return the sums after the first `number` releases, or None if they were not stored."""
        if number == len(self):
            return self.account
        if self._past is None or not 0 < number <= self._before:
            return None if number else Account()
        return self._past.account_after(number)

    # --- validation of release numbers ---

    def number(self, name: str, value: int) -> int:
        """Return `value` as the number of an existing release."""
        if not len(self):
            raise NotLearned("nothing has been released yet; call learn first")
        number = check_count(name, value)
        if number > len(self):
            raise InvalidParameter(f"must be at most {len(self)}, the number of releases", **{name: number})
        return number

    def resolve_observed(self, observed: Iterable[int] | None) -> Collection[int]:
        """Return the release numbers without repetitions; all of them for None. Reject numbers that do not exist."""
        if observed is None:
            return range(1, len(self) + 1)
        if isinstance(observed, range) and observed.step == 1 and observed:
            for number in (observed[0], min(observed[-1], len(self) + 1)):
                self.number("observed release", number)
            return observed
        return {self.number("observed release", number) for number in observed}

    def lifetime(self, present_from: int, erased_at: int | None) -> tuple[int, int]:
        """Return the first release with a record and the release that erased it (default: the last)."""
        start = self.number("present_from", present_from)
        erased = self.number("erased_at", len(self) if erased_at is None else erased_at)
        if not start < erased:
            raise InvalidParameter(f"must come after present_from={start}", erased_at=erased)
        return start, erased

    # --- stretches that separate neighbouring datasets ---

    def parts(self, start: int, erased: int | None, seen: Collection[int]) -> Counter[Stretch]:
        """Return the stretches in which runs with and without a record differ, for an observer of the given releases.

        Args:
            start: First release with the record.
            erased: Release that erased it; None if it is still present.
            seen: Numbers of the observed releases.
        """
        known = self._known(erased, seen) if start == 1 else None
        if known is not None:
            return known
        return Counter(iterate_stretches(self, present_from=start, erased_at=erased, observed=seen))

    def _known(self, erased: int | None, seen: Collection[int]) -> Counter[Stretch] | None:
        """Return the same for a record present from the first release, if it follows from the sums."""
        erasing, everything = self.account.erasing, len(seen) == len(self)
        if erased is None:
            return self.account.published if everything else None
        if erasing is None or erased != erasing.number:
            return None
        if everything:
            return self.account.stretches_around_erasure
        return self.account.since_erasing() if seen == range(erased, len(self) + 1) else None

    def stretches_of_each(self, first: int) -> list[tuple[Stretch, ...]]:
        """Return for each release from `first` on what it alone reveals about a record present from the start."""
        before = self.account_after(first - 1)
        if before is None:
            return list(releases_alone(self))[first - 1 :]
        model = None if before.last is None else before.last.mechanism
        return list(releases_alone(self.since(first), before.since_fresh, before.carried, model))

    def erased_by(self, first: int) -> list[tuple[tuple[Stretch, ...], Guarantee | None]]:
        """Return for each release from `first` on what it alone reveals about a record that it erased.

        The record is present from the start, and no other release is observed.

        Returns:
            Pairs of the stretches in which the runs differ, and the guarantee that holds because no earlier model was
            observed (None if there is none).
        """
        before = self.account_after(first - 1)
        start, sums = (1, Account()) if before is None else (first, before.copy())
        events, each = self.since(start), []
        forgets = any(facts.fading for facts in self.account.mechanisms)
        parts = iterate_erased_costs(events, sums.since_fresh, sums.carried)
        for event, own in zip(events, parts, strict=True):
            if forgets:
                sums.record(event)
            each.append((own, hidden_past(event.mechanism, sums.closeness) if forgets else None))
        return each[first - start :]

    def hidden_past(self, erased_at: int, observed: Collection[int]) -> Guarantee | None:
        """Return the guarantee that holds because no earlier model was observed.

        Later models are functions of the first observed one.
        """
        if not any(facts.fading for facts in self.account.mechanisms):
            return None
        first = min(observed, default=0)
        if first < erased_at:
            return None
        sums = self.account_after(first) or Account.of(list(self)[:first])
        return None if sums.last is None else hidden_past(sums.last.mechanism, sums.closeness)

    def dearest(self, shown: Collection[int]) -> list[int]:
        """Return releases that include the costliest erasure.

        The observer sees the `shown` releases before the erasure and all releases from it on. Of each stretch between
        fresh learns this is the latest release of each number of steps, as longer presence costs more; among releases
        whose own part is equal, the one before which most was observed.
        """
        events, latest, stretch = list(self), dict[tuple[int, int], int](), 0
        for number, event in enumerate(events, start=1):
            stretch += event.fresh and number > 1
            if event.counts.erased and number > 1:
                latest[stretch, event.exposure] = number
        candidates = set(latest.values())
        dearest: dict[object, tuple[int, int]] = {}  # own part -> (stretches seen before, release)
        for number, (seen, parts) in enumerate(iterate_erasures(events, frozenset(shown)), start=1):
            if number in candidates:
                alike = number if events[number - 1].mechanism.fading else parts
                before = seen.total()
                if alike not in dearest or before > dearest[alike][0]:
                    dearest[alike] = before, number
        return sorted(number for _, number in dearest.values())


def adaptive_deletion(
    events: Sequence[Event], world: str, *, models_seen: int, present_from: int, erased_at: int
) -> Guarantee:
    """Return the deletion guarantee under requests that depend on `models_seen` of the models before the erasure.

    The observer sees every release from `erased_at` on. Each model seen costs at most what it reveals on its own, so
    the costliest ones and the deletion cost with no model seen bound the rest; never more than with all of them seen.
    (This is ε_dd + p ε_dp for Noisy-GD, by conditioning on the models; Theorem 4.3 itself is not used.)
    """
    last = events[-1]
    if any(event.mechanism.carries for event in events):
        models_seen = erased_at - present_from  # seeing one of a chain counts as seeing all

    def cost(observed: Collection[int]) -> Guarantee:
        parts = Counter(iterate_stretches(events, present_from=present_from, erased_at=erased_at, observed=observed))
        return compose_costs("deletion", world, parts, last)

    everything, afterwards = cost(range(1, len(events) + 1)), cost(range(erased_at, len(events) + 1))
    # a chain that the record joined half-way counts from that point
    lone = Counter(releases_alone(events[present_from - 1 : erased_at - 1]))
    before = [(compose_costs("deletion", world, Counter(parts), last), times) for parts, times in lone.items()]
    dearest = afterwards + _dearest(before, models_seen, afterwards)
    least = everything if models_seen >= erased_at - present_from or dearest.covers(everything) else dearest
    who = f"requests depend on at most {models_seen} of the models published before the erasure, whichever they are"
    return replace(least, assumptions=(*least.assumptions, who))


def _dearest(before: list[tuple[Guarantee, int]], number: int, like: Guarantee) -> Guarantee:
    """Return a bound on the sum of any `number` of the guarantees: the largest, separately for each measure."""

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

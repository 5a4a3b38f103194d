"""Histories with equal releases counted together, so that the size of a document does not grow with their number.

The cost of releases is a sum (`account`), so most of their order can be dropped without loss. The order is kept where a
figure depends on it: the release that a document is about and the last one keep their positions, and so does the last
fresh run before each of them, since which a record has been carried on. Extractors and changes of plan keep their
order, so that a reader can verify that each could follow the previous one. Under a mechanism with `fading` the
releases since the last fresh run are listed in order, with equal neighbours merged.

`tests/accountant/test_tallies.py` compares every figure with that of the individual releases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from ..errors import InvalidParameter, check_count
from ..methods.base import Mechanism
from ..methods.plan import Plan
from ..records import NO_EDITS, EditCounts
from .account import Account
from .accountant import Accountant
from .events import Event, EventKinds

MOST_TALLIES = 20_000  # in one document: an untrusted one must be checked in seconds
MOST_RELEASES = 10**9  # in one tally
MOST_IN_ORDER = 100_000  # releases processed one by one, because their figures depend on the order

_NAMES = {"kind", "releases", "steps", "edits", "counts", "mechanism"}


@dataclass(frozen=True)
class Tally:
    """Releases of one kind, number of steps and mechanism.

    Attributes:
        event: Their kind, steps and mechanism; its edits are those of all of them together.
        releases: Number of releases.
    """

    event: Event
    releases: int = 1

    def __post_init__(self) -> None:
        check_count("releases", self.releases, maximum=MOST_RELEASES)
        if self.in_order and self.event.edits % self.releases:
            raise InvalidParameter(
                f"{self.releases} releases counted together cover {self.event.edits} edits; by method {self.event.mechanism.method!r} only "
                "releases of as many edits each may be"
            )

    @property
    def in_order(self) -> bool:
        """Whether the cost depends on their order and on the edits of each."""
        return self.event.mechanism.fading is not None

    @property
    def each(self) -> Event:
        """One of the releases for the account; its number of edits is kept only if the order matters."""
        return replace(self.event, edits=self.event.edits // self.releases if self.in_order else 0, counts=NO_EDITS)

    def to_dict(self) -> dict[str, Any]:
        """Return the tally as a JSON-compatible dictionary."""
        return {**self.event.to_dict(), "releases": self.releases}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        """Parse the output of `to_dict`.

        Raises:
            InvalidParameter: If fields are unknown or missing, or numbers are impossible.
        """
        if not isinstance(fields, Mapping) or set(fields) != _NAMES:
            raise InvalidParameter(f"a tally of releases has {', '.join(sorted(_NAMES))}, all of them")
        return cls(
            Event.from_dict({name: value for name, value in fields.items() if name != "releases"}), fields["releases"]
        )


class TallyAccount:
    """The account of a history given as tallies, for a document about one release.

    It is an `EventSource` that knows only the sums after that release.

    Attributes:
        tallies: In chronological order, as far as the order matters.
        about: Number of the release that the document is about; None for all of them.
        served: The release with the number `about`; None if there is none.
    """

    def __init__(self, tallies: Iterable[Tally], about: int | None) -> None:
        """Add up the tallies.

        Args:
            tallies: The history.
            about: Number of the release that the document is about; None for all of them.

        Raises:
            InvalidParameter: If the history is impossible, that release is merged with others, or the history is too
                long.
        """
        self.tallies = tuple(tallies)
        self.about = about
        self.served: Event | None = None
        self._sums, self._then = Account(), Account()
        if len(self.tallies) > MOST_TALLIES:
            raise InvalidParameter(
                f"a certificate lists at most {MOST_TALLIES} kinds of releases, not {len(self.tallies)}: learn afresh (`relearn`), "
                "from where on there is a new list, or begin a new store"
            )
        if sum(tally.releases for tally in self.tallies if tally.in_order) > MOST_IN_ORDER:
            raise InvalidParameter(
                f"a certificate covers at most {MOST_IN_ORDER} releases by a method whose figures depend on their order: begin a new store"
            )
        for tally in self.tallies:
            self._record(tally)

    def _record(self, tally: Tally) -> None:
        sums, about = self._sums, 0 if self.about is None else self.about
        if sums.releases < about <= sums.releases + tally.releases:
            if tally.releases != 1:
                raise InvalidParameter(f"release {about} is grouped with others of its kind; list it separately")
            self.served = tally.event
            sums.record(tally.event)
            self._then = sums.copy()
            return
        later = self.served is not None  # no figure depends on the number of edits since then
        sums.record(replace(tally.each, edits=0, counts=NO_EDITS) if later else tally.each, tally.releases)

    @property
    def releases(self) -> int:
        """Number of releases."""
        return self._sums.releases

    @property
    def runs(self) -> list[tuple[Mechanism, int]]:
        """The mechanism of each tally, with its number of consecutive releases."""
        return [(tally.event.mechanism, tally.releases) for tally in self.tallies]

    @property
    def last_model(self) -> Event | None:
        """The last release of a model; None if there is none."""
        models = [tally.event for tally in self.tallies if tally.event.publishes_model]
        return models[-1] if models else None

    def accountant(self, plan: Plan) -> Accountant:
        """Return the accountant of the history, whose queries take time independent of the number of releases.

        Raises:
            InvalidParameter: If a release contradicts the plan.
        """
        return Accountant.from_account(None, self._sums, self).with_plan(plan)

    def account_after(self, number: int) -> Account | None:
        """Return the sums after the release `about`; None for any other number."""
        return self._then if self.served is not None and number == self.about else None

    def events_since(self, number: int) -> Sequence[Event]:
        """Raise `InvalidParameter`: the individual releases are not known here."""
        raise InvalidParameter(f"release {number} is known by its kind alone; only the store's ledger lists each")


def tally_events(events: Sequence[Event], about: int | None) -> TallyAccount:
    """Return the tallied history for a document about release `about`.

    Raises:
        InvalidParameter: If `TallyAccount` rejects the history.
    """
    met = {id(event): event for event in events}  # thousands of releases repeat a few event objects
    kinds: dict[Hashable, int] = {}
    numbered = {name: kinds.setdefault(_kind(event), len(kinds)) for name, event in met.items()}
    cuts, in_order = _cuts(events, about), _iterate_in_order(events, about)
    counted: dict[tuple[int, int], Counter[int]] = {}  # (part of the history, kind) -> events by id
    part, before = 0, -1
    for position, event in enumerate(events):
        kind = numbered[id(event)]
        part += position in cuts or (position in in_order and kind != before)
        members = counted.get((part, kind))
        if members is None:
            members = counted[part, kind] = Counter()
        members[id(event)] += 1
        before = kind
    found: list[tuple[int, Counter[int]]] = []
    total, alone = 0, False
    for (_, kind), members in counted.items():
        here = total + 1 == about
        total += members.total()
        if found and found[-1][0] == kind and not here and not alone:
            found[-1][1].update(members)
        else:
            found.append((kind, members))
        alone = here
    return TallyAccount((_tally((met[name], times) for name, times in members.items()) for _, members in found), about)


def _kind(event: Event) -> Hashable:
    """Return a key that is equal for releases that may be counted together."""
    return event.kind, event.steps, event.mechanism, event.edits if event.mechanism.fading else None


def _tally(members: Iterable[tuple[Event, int]]) -> Tally:
    """Merge events of one kind, each with its multiplicity, into a tally."""
    listed = list(members)
    each = [([*event.counts.to_dict().values()], times) for event, times in listed]
    sums = EditCounts(*(sum(numbers[place] * times for numbers, times in each) for place in range(len(each[0][0]))))
    return Tally(replace(listed[0][0], edits=sums.total, counts=sums), sum(times for _, times in listed))


def _cuts(events: Sequence[Event], about: int | None) -> set[int]:
    """Return the positions (from 0) where a new part starts; within a part the order of releases is dropped."""
    end = len(events) - 1
    found = {end, _last_fresh(events, end)}
    if about is not None:
        found |= {about - 1, about, _last_fresh(events, about - 1)}
    mechanism = None
    for position, event in enumerate(events):
        if event.kind is EventKinds.EXTRACTOR:
            found |= {position, position + 1}
        elif event.kind is not EventKinds.STATISTIC:
            changed = event.mechanism is not mechanism and event.mechanism != mechanism
            if changed or (event.mechanism.carries and event.fresh):  # chains are counted by length
                found.add(position)
            mechanism = event.mechanism
    return found


def _iterate_in_order(events: Sequence[Event], about: int | None) -> range:
    """Return the positions whose order is kept: from the last fresh run to the release of the document."""
    if about is None or not any(facts.fading for facts in {id(e): e.mechanism for e in events}.values()):
        return range(0)
    return range(_last_fresh(events, about - 1), about - 1)


def _last_fresh(events: Sequence[Event], before: int) -> int:
    """Return the position of the last fresh run of a model before this position; 0 if there is none."""
    fresh = (place for place in range(min(before, len(events)) - 1, -1, -1) if _is_fresh_release(events[place]))
    return next(fresh, 0)


def _is_fresh_release(event: Event) -> bool:
    return event.fresh and event.kind is not EventKinds.EXTRACTOR

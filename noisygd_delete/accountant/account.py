"""Running sums over a sequence of releases, of a size independent of its length.

Every query about all releases together, about the last one, or about the costliest erasure follows from these sums; a
query about a subset of the releases takes one pass over them (`accountant`). A store includes the sums in every entry
of its ledger, so opening it takes as long after 10^5 releases as after ten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import groupby

from ..errors import InvalidParameter, check_count
from ..methods.base import Mechanism, are_contradictory
from ..privacy.guarantee import Guarantee
from .events import Event, EventKinds, Known, Stretch, add_release, answer_question, has_cost, order_stretches


@dataclass(frozen=True)
class Erasing:
    """A release that erased a record present since the first one, as seen by an observer of no model before it.

    Attributes:
        number: Number of the release.
        mechanism: Facts of the release.
        since: Steps with the record since the last fresh run: what the release itself must forget.
        steps: Steps of the release.
        carried: The stretch of an extractor that its model contains, if any.
        closeness: Distance of its model to the law of the remaining records, if the mechanism knows it
            (`Fading.distance_after`).
    """

    number: int
    mechanism: Mechanism
    since: float
    steps: float
    carried: tuple[Stretch, ...] = ()
    closeness: float | None = None

    @property
    def parts(self) -> tuple[Stretch, ...]:
        """The stretches in which the runs with and without the record differ if no earlier model was observed.

        They are those of the extractor, and that of the release unless it costs nothing or its mechanism carries noise.
        """
        own = (self.mechanism, self.since, self.steps)
        return (*self.carried, *([own] if has_cost(own) and not self.mechanism.carries else []))

    @property
    def hidden(self) -> Guarantee | None:
        """The guarantee that holds because the earlier models were not observed."""
        return hidden_past(self.mechanism, self.closeness)

    def covers(self, other: Erasing) -> bool:
        """Return whether this one certainly reveals at least as much: longer presence and larger distance cost more."""
        alike = (self.mechanism, self.steps, self.carried) == (other.mechanism, other.steps, other.carried)
        further = self.closeness == other.closeness or (
            None not in (self.closeness, other.closeness) and self.closeness >= other.closeness  # type: ignore[operator]
        )
        return alike and self.since >= other.since and further


def hidden_past(mechanism: Mechanism, closeness: float | None) -> Guarantee | None:
    """Return the deletion guarantee of everything erased so far that holds because no earlier model was observed.

    Args:
        mechanism: Facts of the release.
        closeness: Distance of its model to the law of the remaining records.

    Returns:
        The guarantee; None if the mechanism has none.
    """
    fading = mechanism.fading
    return None if fading is None or closeness is None else fading.guarantee_at(closeness)


@dataclass
class Account:
    """Sums over the first `releases` releases. All of its content is public.

    Attributes:
        releases: Number of releases.
        last: The last release of a model or an extractor.
        model: Number of the last release of a model.
        statistic: The stretch of the last release, if it is a statistic.
        mechanisms: Mechanisms of all releases, in the order of their first use.
        published: The stretches that end at each release, if all are observed; of releases that carry noise on, one for
            each chain.
        since_fresh: Steps since the last fresh run.
        carried: The stretch of the last extractor.
        trained: Number of extractors.
        relearned: Number of fresh learns after the first.
        closeness: Distance of the last model to the law of its records, if the mechanism knows it and there is no
            extractor.
        erasing: The last release that erased something.
        before: What was published before `erasing`; including it if it continues a chain.
        dearest: Of the releases that erased something before the last fresh run, or took a different number of steps,
            those that no other one covers.
    """

    releases: int = 0
    last: Event | None = None
    model: int = 0
    statistic: Stretch | None = None
    mechanisms: dict[Mechanism, None] = field(default_factory=dict)
    published: Counter[Stretch] = field(default_factory=Counter)
    since_fresh: int = 0
    carried: tuple[Stretch, ...] = ()
    trained: int = 0
    relearned: int = 0
    closeness: float | None = None
    erasing: Erasing | None = None
    before: Counter[Stretch] = field(default_factory=Counter)
    dearest: tuple[Erasing, ...] = ()

    @classmethod
    def of(cls, events: Iterable[Event]) -> Account:
        """Return the sums of the given releases."""
        account = cls()
        for _, equal in groupby(events, key=id):  # repetitions of one event object are recorded at once
            event, *others = equal
            account.record(event, 1 + len(others))
        return account

    def copy(self) -> Account:
        """Return an independent copy."""
        return replace(
            self, mechanisms=dict(self.mechanisms), published=self.published.copy(), before=self.before.copy()
        )

    def record(self, event: Event, times: int = 1) -> None:
        """Add a release, or `times` equal consecutive ones.

        Raises:
            InvalidParameter: If the event cannot follow the last release; nothing was added.
        """
        number = check_count("times", times)
        self.check(event)
        alike = 0 if number < 4 or event.mechanism.fading else number - 3  # these change only sums
        for left in range(number - alike, 0, -1):
            self._add(event)
            if alike and left == 2:  # from the third on, equal releases follow equal ones
                self._repeat(event, alike)

    def check(self, event: Event) -> None:
        """Raise `InvalidParameter` if the release cannot follow the last one."""
        last = self.last
        if last is not None and are_contradictory(event.mechanism, last.mechanism):
            raise InvalidParameter(CONTRADICTION)
        if event.kind is EventKinds.STATISTIC and (last is None or last.kind is EventKinds.EXTRACTOR):
            raise InvalidParameter("a statistic is computed with the current model, and there is none: run learn first")
        if event.kind is not EventKinds.UNLEARN:
            return
        if last is None:
            raise InvalidParameter("the first release must be a 'learn': there is no published model to resume from")
        if last.kind is EventKinds.EXTRACTOR:
            raise InvalidParameter(
                "a new extractor needs a fresh learn ('relearn'): the published model read other features"
            )
        if not event.fresh and event.mechanism is not last.mechanism and event.mechanism != last.mechanism:
            raise InvalidParameter("a change of plan or of n needs a fresh learn ('relearn'); it cannot resume a chain")

    def _add(self, event: Event) -> None:
        self.releases += 1
        self.mechanisms.setdefault(event.mechanism)
        if event.kind is EventKinds.STATISTIC:
            self.statistic = _stretch(event)
            self.published[self.statistic] += 1
            return
        self.statistic = None
        self.model = self.model if event.kind is EventKinds.EXTRACTOR else self.releases
        mechanism, last, first = event.mechanism, self.erasing, self.releases == 1
        erases = bool(event.counts.erased) and not first
        longer = erases and last is not None and last.since and last.steps != event.exposure  # it may forget more
        if last is not None and (event.fresh or longer) and last not in self.dearest:
            self._close(last)
        since = 0 if event.kind is not EventKinds.UNLEARN or (event.fresh and not event.warm) else self.since_fresh
        since = since or int(mechanism.fresh and mechanism.shows_order)  # recorded in ledgers; adds no cost
        if erases:
            self.before = self.published.copy()
        drawn = self.since_fresh
        if event.kind is EventKinds.EXTRACTOR:
            self.carried = ((mechanism, event.exposure, 0.0),) if event.exposure else ()
            self.trained += 1
        else:
            self.since_fresh = event.exposure + (0 if event.fresh else self.since_fresh)
            self.relearned += event.kind is EventKinds.RELEARN
        started = None if event.fresh else self.closeness
        fading = None if self.trained else mechanism.fading
        self.closeness = None if fading is None else fading.distance_after(started, event.steps, event.edits)
        if erases:
            carried = () if event.kind is EventKinds.EXTRACTOR else self.carried
            self.erasing = Erasing(self.releases, mechanism, since, event.exposure, carried, self.closeness)
        add_release(self.published, event, drawn)
        if erases and mechanism.carries and not event.fresh:
            self.before = self.published.copy()
        self.last = event

    def _close(self, erasing: Erasing) -> None:
        if not any(other.covers(erasing) for other in self.dearest):
            self.dearest = (*(other for other in self.dearest if not erasing.covers(other)), erasing)

    def _repeat(self, event: Event, times: int) -> None:
        self.releases += times
        add_release(self.published, event, self.since_fresh, times)
        if event.kind is EventKinds.EXTRACTOR:
            self.trained += times
        elif event.kind is not EventKinds.STATISTIC:
            self.model = self.releases
            self.since_fresh += 0 if event.fresh else event.exposure * times
            self.relearned += times * (event.kind is EventKinds.RELEARN)

    @property
    def stretches_around_erasure(self) -> Counter[Stretch]:
        """The stretches in which runs with and without the last erased record differ, if all releases are observed."""
        parts = self.before.copy()
        parts.update(order_stretches(self.published - self.before))
        return parts

    def since_erasing(self) -> Counter[Stretch]:
        """Return the same stretches for an observer of the erasing release and all later ones, and of none before."""
        assert self.erasing is not None
        parts = Counter(self.erasing.parts)
        own = Counter([(self.erasing.mechanism, self.erasing.steps, 0.0)])  # `parts` includes what its order reveals
        parts.update(order_stretches(self.published - self.before - own))
        return parts

    @property
    def last_stretches(self) -> tuple[Stretch, ...]:
        """The stretches that the last release alone reveals, about a record present from the start.

        A statistic also reveals the model that it was made with.
        """
        assert self.last is not None
        lone = self.since_fresh and self.last.kind is not EventKinds.EXTRACTOR
        model = [(self.last.mechanism, self.since_fresh, 0.0)] if lone else []
        return (*self.carried, *model, *([] if self.statistic is None else [self.statistic]))

    def compose_all(self, about: str, world: str, known: Known | None = None) -> Guarantee:
        """Return what all releases together reveal about a record present in all of them."""
        return self.answer(about, world, self.published, known)

    def answer(self, about: str, world: str, parts: Counter[Stretch], known: Known | None = None) -> Guarantee:
        """Return what the given stretches reveal to an observer of every release."""
        assert self.last is not None
        return answer_question(about, world, parts, self.last, range(1, self.releases + 1), self.releases, known)

    def deletion_observed(self, world: str) -> Guarantee:
        """Return what all releases reveal about a record that the last model erased.

        The last model counts with what the order of its rows reveals, a chain of carried noise in full. Statistics made
        since then are counted, although they did not read the record.
        """
        assert self.last is not None
        if (
            self.last.mechanism.carries and not self.last.fresh
        ):  # a chain is charged for a record removed by its last draw
            return self.answer("deletion", world, self.published)
        last = Counter({_stretch(self.last): 1})
        parts = self.published - last
        parts.update(order_stretches(last))
        return self.answer("deletion", world, parts)

    @property
    def costly(self) -> tuple[Erasing, ...]:
        """The releases that erased something and that no other one covers.

        They include the costliest erasure for an observer who came afterwards.
        """
        if self.erasing is None or self.erasing in self.dearest:
            return self.dearest
        return (*self.dearest, self.erasing)


def _stretch(event: Event) -> Stretch:
    return event.mechanism, event.exposure, 0.0


CONTRADICTION = "runs that share every other fact state different smoothness of the objective"

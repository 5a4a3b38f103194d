"""What happened, as public facts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from ..errors import InvalidParameter, Word, check_count
from ..methods.base import Mechanism
from ..methods.plan import Plan
from ..methods.serialization import mechanism_from_dict
from ..privacy.guarantee import FIXED_RECORD, FIXED_TARGET, NON_ADAPTIVE, Guarantee
from ..records import NO_EDITS, EditCounts


class EventKinds(Word):
    """What a release was.

    LEARN, RELEARN  a run that begins afresh; a relearn after models were published (compaction)
    UNLEARN         a run that resumes from the model published before, on an edited table
    EXTRACTOR       a DP-SGD feature extractor that every later model carries
    STATISTIC       numbers about the records in force, made with the model published before: no model itself, no edits
    """

    LEARN = "learn"
    UNLEARN = "unlearn"
    RELEARN = "relearn"
    EXTRACTOR = "extractor"
    STATISTIC = "statistic"


_PUBLISHED = {
    EventKinds.EXTRACTOR: "extractor",
    EventKinds.STATISTIC: "statistics",
}  # in the place of a model: `Mechanism.left`


class Statuses(Word):
    """What became of the model that covers an edit: published; withheld by the budget; or pending, to come with a later release."""

    PUBLISHED = "published"
    WITHHELD = "withheld"
    PENDING = "pending"


@dataclass(frozen=True)
class Event:
    """One publication: immutable, and its meaning never changes.

    kind       one of `EventKinds`, as a word or as its text
    steps      K of this release
    edits      r, records edited since the release before
    mechanism  η, σ², n and what else its method states of this release
    counts     the edits by kind: records deleted, replaced, inserted; those not stated are unrecorded, as in histories that hold
               only `edits`

    Ā runs the same steps on the edited table whatever the edit was, so an insertion has no event kind of its own: what a
    release reveals depends on when a record came and went. Whether it *erased* anything is a question to `counts`.
    """

    kind: EventKinds
    steps: int
    edits: int
    mechanism: Mechanism
    counts: EditCounts = NO_EDITS

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", EventKinds(self.kind))
        check_count("steps", self.steps, minimum=0)
        check_count("edits", self.edits, minimum=0)
        if self.counts.total > self.edits:
            raise InvalidParameter(f"is less than the sum of its kinds: {self.counts.text()}", edits=self.edits)
        object.__setattr__(self, "counts", self.counts.among(self.edits))
        self.mechanism.check(self.steps, fresh=self.fresh, inserted=bool(self.counts.inserted))
        left = self.mechanism.left
        if _PUBLISHED.get(self.kind) != (left if left in _PUBLISHED.values() else None):
            raise InvalidParameter(
                f"does not go with the facts of method {self.mechanism.method!r}; an extractor is described by a "
                "SampledGaussian, a statistic by CountedRecords, every other release by the mechanism of its plan",
                kind=str(self.kind),
            )
        if self.kind is EventKinds.STATISTIC and self.edits:
            raise InvalidParameter("must be 0 for a statistic: it serves no request", edits=self.edits)

    @property
    def fresh(self) -> bool:
        """Whether the run began afresh: from the initial law, or from the minimiser of the records of its time."""
        return self.kind not in (EventKinds.UNLEARN, EventKinds.STATISTIC) or self.mechanism.fresh

    @property
    def exposure(self) -> int:
        """What it counts as where exposure to a record adds up: its steps, or one for a run that draws its noise at once."""
        return self.mechanism.exposure(self.steps)

    @property
    def label(self) -> str:
        """The kind in a word for people: a release that erased nothing unlearns nothing."""
        return release_label(self.kind, self.counts)

    @property
    def warm(self) -> bool:
        """Whether the model published before could still show in where a solver stopped."""
        return self.kind is EventKinds.UNLEARN and self.mechanism.shows_start

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": str(self.kind),
            "steps": self.steps,
            "edits": self.edits,
            "mechanism": self.mechanism.to_dict(),
            "counts": self.counts.to_dict(),
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Event:
        """Read back `to_dict`; unknown or missing fields are refused. Equal descriptions are read once and give one object."""
        try:
            text = json.dumps(fields)
        except (TypeError, ValueError):  # no JSON: whatever is wrong with it, reading says so
            return cls._read(fields)
        if text not in _READ:
            event = cls._read(fields)
            if len(_READ) >= _MOST_READ:
                _READ.clear()
            _READ[text] = event
        return _READ[text]

    @classmethod
    def _read(cls, fields: dict[str, Any]) -> Event:
        try:
            counts = EditCounts.from_dict(fields["counts"])
            return cls(**{**fields, "mechanism": mechanism_from_dict(fields["mechanism"]), "counts": counts})
        except (TypeError, KeyError) as error:
            raise InvalidParameter(f"not a release event: {error}") from error


_READ: dict[str, Event] = {}  # what was read, by its JSON text: thousands of releases are a few kinds of events
_MOST_READ = 4096


def release_label(kind: EventKinds, counts: EditCounts) -> str:
    """A kind of release in a word for people: "resume" for an unlearn that served insertions only, or nothing."""
    return "resume" if kind is EventKinds.UNLEARN and not counts.erased else str(kind)


# --- intervals ---
#
# One walk through a history: which stretches of steps separate the world with a record from the world without it.
#
# Given an observed model, both worlds restart from it. So a history splits at its observed releases, and each stretch
# between two of them costs what its mechanism says for the steps run with the record and the steps run after its erasure.
#
# Where releases continue one another (Markov sums) the law of each depends on what the one before held, so a chain of them, from its fresh run
# on, is one stretch: so many draws up to the last one with the record, and those after it. Who saw any draw that holds the record is taken
# to have seen all up to the last one seen; draws that lack it tell nothing by themselves.


Stretch = tuple[Mechanism, float, float]  # mechanism, steps with the record, steps after its erasure
Known = dict[Stretch, Guarantee]  # costs computed before, about the same worlds


def iterate_stretches(
    events: Iterable[Event], *, present_from: int, erased_at: int | None, observed: Collection[int]
) -> Iterator[Stretch]:
    """The stretches that cost something, for a record present from one release and erased at another.

    Noise added before an insertion, since the last observed release, is not counted in the record's favour: the worlds are
    bounded from the insertion on.

    A statistic was made with the model published before it: who saw it is taken to have seen that model.
    """
    steps_with: float = 0
    steps_without: float = 0
    extractor: Stretch | None = None  # trained with the record and not yet seen through any model
    chain: Stretch | None = None  # of releases that continue one another, up to the last one seen
    drawn, shown = 0, False  # releases since the last fresh run; whether one with the record was seen
    model: Mechanism | None = None  # of the last model, which a statistic shows something of
    for number, event in enumerate(events, start=1):
        inside = present_from <= number and (erased_at is None or number < erased_at)
        if event.kind == "extractor":
            extractor = (event.mechanism, event.exposure, 0) if inside and event.exposure else None
        elif event.kind != "statistic":
            model = event.mechanism
            carried: float = 0
            if event.fresh:
                if chain is not None:
                    yield chain
                chain, drawn, shown = None, 0, False
                carried = steps_with if event.warm else 0
                steps_with = steps_without = 0
            drawn += 1
            if model.carries:
                steps_with, steps_without = (drawn, 0) if inside else (steps_with, steps_without + bool(steps_with))
                shown = shown or (inside and number in observed)
            elif inside:
                steps_with += event.exposure
            elif present_from <= number:
                steps_with = steps_with or carried
                steps_without += event.exposure
        if number in observed:
            if extractor:
                yield extractor
                extractor = None
            if model is not None and model.carries and event.kind != "extractor":
                # a statistic made after the record was gone shows a model that lacks it
                chain = (model, steps_with, steps_without) if shown or (steps_with and not steps_without) else chain
                shown = chain is not None
            elif event.kind != "extractor":
                if model is not None and has_cost((model, steps_with, steps_without)):
                    yield model, steps_with, steps_without
                steps_with = steps_without = 0
            if event.kind == "statistic" and inside:
                yield event.mechanism, event.exposure, 0
    if chain is not None:
        yield chain


def add_release(parts: Counter[Stretch], event: Event, since: int, times: int = 1) -> None:
    """Add a release, or equal ones after each other, to what separates the worlds with and without a record that is in all of them;
    `since`: exposure since the last fresh run before the first of them."""
    mechanism = event.mechanism
    if mechanism.carries and not event.fresh:
        before = mechanism, since, 0.0
        left = parts.pop(before, 1) - 1
        if left:
            parts[before] = left
        parts[mechanism, since + times * event.exposure, 0.0] += 1
    elif event.exposure:
        parts[mechanism, event.exposure, 0.0] += times


def has_cost(stretch: Stretch) -> bool:
    """Whether it tells anything: of a record that is gone, where the order of the rows may."""
    mechanism, steps_with, steps_without = stretch
    return bool(steps_with or (steps_without and mechanism.shows_order))


def order_stretches(published: Counter[Stretch]) -> Counter[Stretch]:
    """What releases may show of a record that was gone by then, by the order in which their rows came, each given those before it."""
    shown: Counter[Stretch] = Counter()
    for (mechanism, exposure, _), times in published.items():
        if mechanism.shows_order:
            shown[mechanism, 0, exposure] += times
    return shown


def releases_alone(
    events: Iterable[Event],
    steps: float = 0,
    extractor: tuple[Stretch, ...] = (),
    model: Mechanism | None = None,
) -> Iterator[tuple[Stretch, ...]]:
    """For each release: what it reveals when it is the only one observed, of a record present from the start. Releases before
    the first one come in by the steps since their last fresh run, the extractor that they carry, and the facts of the last model.
    A statistic shows the model that it was made with, too."""
    for event in events:
        if event.kind == "statistic":
            shown = [(model, steps, 0.0)] if steps and model is not None else []
            yield (*extractor, *shown, (event.mechanism, event.exposure, 0.0))
            continue
        if event.kind == "extractor":
            extractor = ((event.mechanism, event.exposure, 0),) if event.exposure else ()
            yield extractor
            continue
        model, steps = event.mechanism, event.exposure + (0 if event.fresh else steps)
        yield (*extractor, *([(event.mechanism, steps, 0.0)] if steps else []))


def iterate_erased_costs(
    events: Iterable[Event], steps: float = 0, extractor: tuple[Stretch, ...] = ()
) -> Iterator[tuple[Stretch, ...]]:
    """For each release: what it alone reveals of a record present from the start and erased by it. Releases before come in as
    in `alone`."""
    return (parts for _, parts in iterate_erasures(events, (), steps, extractor))


def iterate_erasures(
    events: Iterable[Event], shown: Collection[int], steps: float = 0, extractor: tuple[Stretch, ...] = ()
) -> Iterator[tuple[Counter[Stretch], tuple[Stretch, ...]]]:
    """For each release, of a record present from the start and erased by it: the stretches that the `shown` releases
    before it end (one counter that grows: to be read before the next is asked for), and what it reveals itself.
    """
    seen: Counter[Stretch] = Counter()
    model: Mechanism | None = None
    for number, event in enumerate(events, start=1):
        before = steps if event.kind == "unlearn" and (event.warm or not event.fresh) else 0
        if event.kind == "extractor":
            yield seen, ()
            extractor = ((event.mechanism, event.exposure, 0.0),) if event.exposure else ()
        elif event.kind == "statistic":
            yield seen, ()
        else:
            model = event.mechanism
            own = (event.mechanism, before, event.exposure)
            yield seen, (*extractor, *([own] if has_cost(own) and not model.carries else []))
            steps = event.exposure + (0 if event.fresh else steps)
        if number in shown:
            seen.update(extractor)
            extractor = ()
            if event.kind != "extractor":
                seen.update([(model, steps, 0.0)] if steps and model is not None else [])
                steps = steps if model is not None and model.carries else 0
            if event.kind == "statistic":
                seen[event.mechanism, event.exposure, 0.0] += 1


def compose_costs(
    about: str, adjacency: str, parts: Counter[Stretch], last: Event, known: Known | None = None
) -> Guarantee:
    """The cost of all stretches together; each distinct one is computed once, and not at all where it is in `known`.

    Of several chains of releases that continue one another a record leaves in one alone, that where it costs most: in those before it stays
    to the end, and in those after it never was. (Of a person's rows, which may leave in different ones, m times the length of one's
    is the length of all, at most.)
    """
    known = {} if known is None else known
    nothing: Stretch = (last.mechanism, 0, 0)
    for stretch in (*parts, nothing):
        if stretch not in known:
            known[stretch] = cost_of_stretch(about, adjacency, stretch)
    priced = [(known[stretch], times) for stretch, times in parts.items()]
    chains = [stretch for stretch in parts if stretch[0].carries and stretch[1]]
    if sum(parts[stretch] for stretch in chains) > 1:
        stays = {}
        for stretch in chains:
            mechanism, steps, gone = stretch
            assert mechanism.carries is not None
            stays[stretch] = mechanism.carries.staying(about, adjacency, steps_with=steps, steps_without=gone)
        left = max(chains, key=lambda stretch: known[stretch].gdp_squared - stays[stretch].gdp_squared)
        priced = [(stays.get(stretch, known[stretch]), times - (stretch == left)) for stretch, times in parts.items()]
        priced.append((known[left], 1))
    return Guarantee.composed([*((each, times) for each, times in priced if times), (known[nothing], 1)])


def answer_question(
    about: str,
    adjacency: str,
    parts: Counter[Stretch],
    last: Event,
    observed: Collection[int],
    releases: int,
    known: Known | None = None,
) -> Guarantee:
    """The cost of the stretches, which says what was observed: these of so many releases."""
    total = compose_costs(about, adjacency, parts, last, known)
    everything = len(observed) == releases
    seen = (
        "every release is observed"
        if everything
        else f"only {_list_releases(observed)} observed; {NON_ADAPTIVE} that were not"
    )
    target = FIXED_TARGET if about == "deletion" else FIXED_RECORD
    return replace(total, assumptions=(*total.assumptions, f"{seen}; this set was fixed in advance", target))


def _list_releases(observed: Collection[int]) -> str:
    if len(observed) <= 12:
        return f"the releases {sorted(observed)} are"
    ends = (observed[0], observed[-1]) if isinstance(observed, range) else (min(observed), max(observed))
    return f"{len(observed)} releases from {ends[0]} to {ends[1]} are"


def cost_of_stretch(about: str, adjacency: str, stretch: Stretch) -> Guarantee:
    """What one stretch reveals."""
    mechanism, steps, gone = stretch
    return mechanism.interval(about, adjacency, steps_with=steps, steps_without=gone)


def is_within_budget(spent: Guarantee, plan: Plan) -> bool:
    """Whether a guarantee lies within the plan's budget, slack included."""
    return plan.budget.affords(spent.with_slack() if plan.problem.slack_in_budget else spent)


def is_affordable(spent: Guarantee, plan: Plan) -> bool:
    """Whether all publications together may cost this much: within the budget that several releases share, and within the total."""
    shared = plan.releases == 1 or is_within_budget(spent, plan)
    return shared and (plan.total is None or plan.total.affords(spent))

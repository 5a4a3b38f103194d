"""Releases as public facts, and the privacy cost of the intervals between observed releases."""

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
from ..privacy.guarantee import Guarantee
from ..privacy.worlds import FIXED_RECORD, FIXED_TARGET, NON_ADAPTIVE
from ..records import NO_EDITS, EditCounts


class EventKinds(Word):
    """Kinds of releases.

    Attributes:
        LEARN: A run that starts afresh.
        RELEARN: A run that starts afresh after models were published (compaction).
        UNLEARN: A run that resumes from the previously published model on an edited table.
        EXTRACTOR: A DP-SGD feature extractor that every later model contains.
        STATISTIC: Numbers about the current records, made with the previously published model; not a model, no edits.
    """

    LEARN = "learn"
    UNLEARN = "unlearn"
    RELEARN = "relearn"
    EXTRACTOR = "extractor"
    STATISTIC = "statistic"


_PUBLISHED = {
    EventKinds.EXTRACTOR: "extractor",
    EventKinds.STATISTIC: "statistics",
}  # what these releases publish instead of a model: `Mechanism.left`


class Statuses(Word):
    """Status of the model that covers an edit: published, refused by the budget, or pending until a later release."""

    PUBLISHED = "published"
    WITHHELD = "withheld"
    PENDING = "pending"


@dataclass(frozen=True)
class Event:
    """One release, immutable.

    An unlearn runs the same steps on the edited table whatever the edit was, so an insertion has no event kind of its
    own: the cost of a release depends on when a record was added and removed. `counts` records whether anything was
    *erased*.

    Attributes:
        kind: One of `EventKinds`, as a member or as its text.
        steps: K, the number of steps of this release.
        edits: r, the number of records edited since the previous release.
        mechanism: η, σ², n and the other facts that the method states about this release.
        counts: The edits by kind: records deleted, replaced, inserted. Edits not listed are unrecorded, as in histories
            that hold only `edits`.
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
        """Whether the run started afresh: from the initial law, or from the minimizer of the records at that time."""
        return self.kind not in (EventKinds.UNLEARN, EventKinds.STATISTIC) or self.mechanism.fresh

    @property
    def publishes_model(self) -> bool:
        """Whether it publishes a model, and so belongs to a chain of models."""
        return self.kind not in _PUBLISHED

    @property
    def exposure(self) -> int:
        """The exposure that it adds for a record: its number of steps, or 1 for a run that draws its noise at once."""
        return self.mechanism.exposure(self.steps)

    @property
    def label(self) -> str:
        """The kind for display; an unlearn that erased nothing is a "resume"."""
        return release_label(self.kind, self.counts)

    @property
    def warm(self) -> bool:
        """Whether the stopping point of a solver could still depend on the previously published model."""
        return self.kind is EventKinds.UNLEARN and self.mechanism.shows_start

    def to_dict(self) -> dict[str, Any]:
        """Return the release as a JSON-compatible dictionary."""
        return {
            "kind": str(self.kind),
            "steps": self.steps,
            "edits": self.edits,
            "mechanism": self.mechanism.to_dict(),
            "counts": self.counts.to_dict(),
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Event:
        """Parse the output of `to_dict`. Equal descriptions are parsed once and share one object.

        Raises:
            InvalidParameter: If fields are unknown, missing or invalid.
        """
        try:
            text = json.dumps(fields)
        except (TypeError, ValueError):  # not JSON: `_read` reports the problem
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


_READ: dict[str, Event] = {}  # cache by JSON text: thousands of releases contain only a few distinct events
_MOST_READ = 4096


def release_label(kind: EventKinds, counts: EditCounts) -> str:
    """Return the kind for display: "resume" for an unlearn that served only insertions or no edits."""
    return "resume" if kind is EventKinds.UNLEARN and not counts.erased else str(kind)


# --- intervals ---
#
# One pass over a history: the stretches of steps in which the datasets with and without a record differ.
#
# Given an observed model, both runs restart from it. So a history splits at its observed releases, and each stretch
# between two of them costs what its mechanism states for the steps run with the record and those after its erasure.
#
# Where releases carry noise on (Markov sums), the law of each depends on the previous one, so a chain of them, from its
# fresh run on, is one stretch: the draws up to the last one with the record, and the draws after it. An observer of any
# draw that contains the record is assumed to have seen all draws up to the last observed one; draws without the record
# reveal nothing by themselves.


Stretch = tuple[Mechanism, float, float]  # mechanism, steps with the record, steps after its erasure
Known = dict[Stretch, Guarantee]  # cache of costs under the same neighbouring relation


def iterate_stretches(
    events: Iterable[Event], *, present_from: int, erased_at: int | None, observed: Collection[int]
) -> Iterator[Stretch]:
    """Yield the stretches with a cost for a record that is present from one release and erased at another.

    Noise added before an insertion, since the last observed release, is not counted in favour of the record: the two
    runs are bounded from the insertion on. A statistic was made with the previously published model: an observer of the
    statistic is assumed to have seen that model.

    Args:
        events: All releases, in order.
        present_from: Number of the first release with the record, from 1.
        erased_at: Number of the release that served its erasure; None if the record is still present.
        observed: Numbers of the observed releases.
    """
    steps_with: float = 0
    steps_without: float = 0
    extractor: Stretch | None = None  # trained with the record and not yet observed through any model
    chain: Stretch | None = None  # of releases that carry noise on, up to the last observed one
    drawn, shown = 0, False  # releases since the last fresh run; whether one with the record was observed
    model: Mechanism | None = None  # of the last model, which a statistic partly reveals
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
                # a statistic made after the record was removed reveals a model without it
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
    """Add a release, or `times` equal consecutive ones, to the stretches of a record that is present in all of them.

    Args:
        parts: Counted stretches, updated in place.
        event: The release.
        since: Exposure since the last fresh run before the first of them.
        times: Number of equal releases.
    """
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
    """Return whether the stretch reveals anything; after an erasure, only the order of the rows may."""
    mechanism, steps_with, steps_without = stretch
    return bool(steps_with or (steps_without and mechanism.shows_order))


def order_stretches(published: Counter[Stretch]) -> Counter[Stretch]:
    """Return what releases may reveal about a removed record through the order of the rows, given earlier releases."""
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
    """Yield for each release what it alone reveals about a record present from the start.

    A statistic also reveals the model that it was made with.

    Args:
        events: The releases, in order.
        steps: Exposure since the last fresh run before the first of them.
        extractor: Stretch of the feature extractor used before the first of them.
        model: Mechanism of the last model before the first of them.
    """
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
    """Yield for each release what it alone reveals about a record present from the start and erased by it.

    Earlier releases are described by `steps` and `extractor` as in `releases_alone`.
    """
    return (parts for _, parts in iterate_erasures(events, (), steps, extractor))


def iterate_erasures(
    events: Iterable[Event], shown: Collection[int], steps: float = 0, extractor: tuple[Stretch, ...] = ()
) -> Iterator[tuple[Counter[Stretch], tuple[Stretch, ...]]]:
    """Yield for each release, about a record present from the start and erased by it, what was seen and what it adds.

    Yields:
        The stretches that end at the `shown` releases before it (one counter that grows: read it before advancing the
        iterator), and the stretches that the release itself reveals.
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
    """Return the composed cost of all stretches; each distinct stretch is computed once and cached in `known`.

    Of several chains of releases that carry noise on, a record leaves in only one, and is charged where it costs most:
    in earlier chains it stays to the end, and in later ones it never was. (For the rows of a person, which may leave in
    different chains, m times the length of one row's vector bounds the length of all.)
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
    """Return the cost of the stretches, with assumptions that state which of the `releases` were observed."""
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
    """Return what one stretch reveals."""
    mechanism, steps, gone = stretch
    return mechanism.interval(about, adjacency, steps_with=steps, steps_without=gone)


def is_within_budget(spent: Guarantee, plan: Plan) -> bool:
    """Return whether a guarantee fits the plan's budget, including the rounding slack."""
    return plan.problem.budget.affords(spent.with_slack() if plan.problem.slack_in_budget else spent)


def is_affordable(spent: Guarantee, plan: Plan) -> bool:
    """Return whether all releases together may cost this much: within the shared budget and within the total."""
    shared = plan.problem.releases == 1 or is_within_budget(spent, plan)
    return shared and (plan.problem.total is None or plan.problem.total.affords(spent))

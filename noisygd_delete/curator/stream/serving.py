"""Serves streams of edit requests: rows are erased at once, publication waits for its batch."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ...accountant import Accountant, Statuses
from ...engine import Execution
from ...errors import InvalidParameter, InvalidRequest, NotLearned, check_count, check_positive
from ...methods.plan import Plan
from ...privacy.guarantee import Guarantee, WorstCase
from ...records import EditCounts, EditRequest, Records
from ..model import Model
from ..release import Release

# --- summary ---
#
# The releases of a stream and its guarantees.
#
# Requesters are the (p, r)-requesters of Definition 2.6. The releases a requester sees are declared in advance and
# determine p.


@dataclass(frozen=True)
class Publication:
    """One release of a stream and its cost. `dp_cumulative` tracks the use of the budget."""

    release: int
    status: Statuses
    requests: int
    edits: int
    counts: EditCounts
    steps: int
    gradient_passes: int
    seconds: float
    dp: Guarantee
    dp_cumulative: Guarantee

    def to_dict(self) -> dict[str, Any]:
        """Return the release as a JSON-compatible dictionary."""
        return {
            **{name: value for name, value in vars(self).items() if not isinstance(value, (Guarantee, EditCounts))},
            "counts": self.counts.to_dict(),
            "dp": self.dp.to_dict(),
            "dp_cumulative": self.dp_cumulative.to_dict(),
        }


@dataclass(frozen=True)
class StreamSummary:
    """The releases of a stream and its guarantees.

    Attributes:
        served: Number of requests carried out (repeats cost nothing and are counted separately).
        repeated: Number of repeated requests.
        refused: (position in the stream, reason) of requests that could not be carried out.
        publications: The releases.
        present: What all releases together reveal about a record still present.
        erased: What the releases from the erasure on, and those the requester saw before, reveal about a record erased
            at the costliest release of the stream; None if nothing was erased.
        everything: The same for an observer of every release.
        odds: (ε, δ): whichever record is erased, and whenever, the odds about a record never exceed e^ε to 1, except
            with probability δ per record that could have been chosen; None if no total is enforced.
        adaptivity: p, the number of releases the requester saw.
        gradient_evaluations: Per-record gradients: n times the passes over the table.
        seconds: Running time.
        accuracy: Accuracy of the final model on the held-out records, if given.
    """

    served: int
    repeated: int
    refused: tuple[tuple[int, str], ...]
    publications: tuple[Publication, ...]
    present: Guarantee
    erased: WorstCase | None
    everything: WorstCase | None
    odds: tuple[float, float] | None
    adaptivity: int
    gradient_evaluations: int
    seconds: float
    accuracy: float | None

    @property
    def steps(self) -> int:
        """Total number of Noisy-GD steps."""
        return sum(publication.steps for publication in self.publications)

    @property
    def withheld(self) -> bool:
        """Whether the budget refused a release: the rows are erased, and the last model is withdrawn."""
        return any(publication.status is Statuses.WITHHELD for publication in self.publications)

    @property
    def gradient_evaluations_per_request(self) -> float:
        """Number of per-record gradients per request carried out."""
        return self.gradient_evaluations / self.served if self.served else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as a JSON-compatible dictionary."""
        guarantees = {"present": self.present, "erased": self.erased, "everything": self.everything}
        return {
            "served": self.served,
            "repeated": self.repeated,
            "refused": [list(entry) for entry in self.refused],
            "adaptivity": self.adaptivity,
            "steps": self.steps,
            "seconds": self.seconds,
            "gradient_evaluations": self.gradient_evaluations,
            "gradient_evaluations_per_request": self.gradient_evaluations_per_request,
            "withheld": self.withheld,
            "accuracy": self.accuracy,
            "guarantees": {name: value and value.to_dict() for name, value in guarantees.items()},
            "odds": None if self.odds is None else {"epsilon": self.odds[0], "delta": self.odds[1]},
            "publications": [publication.to_dict() for publication in self.publications],
        }


class Requester(Protocol):
    """𝒬 of Definition 2.6. It keeps its own record of earlier requests.

    Attributes:
        observable: Releases it sees, numbered from 1 (the learned model); None: every release. Fixed in advance.
    """

    @property
    def observable(self) -> Container[int] | None:
        """The releases that it sees, numbered from 1; None: every release."""

    def next(self, seen: Mapping[int, Model]) -> EditRequest | None:
        """Return the next request, given the observable releases so far; None ends the stream."""


class NonAdaptive:
    """A list of requests fixed before anything is released: p = 0."""

    observable: Container[int] | None = ()

    def __init__(self, requests: Iterable[EditRequest]) -> None:
        self._requests = iter(requests)

    def next(self, seen: Mapping[int, Model]) -> EditRequest | None:
        """Return the next request of the list; `seen` is ignored."""
        return next(self._requests, None)


class Adaptive:
    """Requests chosen by a function of the observable releases.

    Args:
        choose: Maps {release number: model} to the next request, or to None to stop.
        observable: Release numbers it may see; None: every release.
    """

    def __init__(
        self, choose: Callable[[Mapping[int, Model]], EditRequest | None], observable: Container[int] | None = None
    ) -> None:
        self.next = choose
        self.observable = observable


# --- batching ---
#
# When edited rows are published: pending edits share one release.


@dataclass(frozen=True)
class Batching:
    """When edited rows are published: as soon as either condition holds. Requests determine both; see `privacy.release_dates.Calendar`.

    Attributes:
        size: Number of pending edits that triggers a release (None: no such condition).
        deadline: Age in seconds of the oldest pending edit that triggers a release, for example a legal time limit
            (None: no such condition).
    """

    size: int | None = 1
    deadline: float | None = None

    def __post_init__(self) -> None:
        if self.size is None and self.deadline is None:
            raise InvalidParameter(
                "are both left out: give one of them, or nothing is ever published", size=None, deadline=None
            )
        if self.size is not None:
            check_count("size", self.size)
        if self.deadline is not None:
            check_positive("deadline", self.deadline)

    def due(self, waiting: int, since: float, now: float) -> float | None:
        """Return the seconds until a release is due; None if neither condition will make it due.

        Args:
            waiting: Number of edits that no release covers.
            since: When the oldest was made, in seconds.
            now: The current time, on the same clock.
        """
        if not waiting:
            return None
        if self.size is not None and waiting >= self.size:
            return 0.0
        return None if self.deadline is None else max(0.0, since + self.deadline - now)

    @classmethod
    def from_plan(cls, plan: Plan, *, deadline: float | None = None) -> Batching:
        """Return the default batching of a plan.

        With more than one planned release: the planned number of edits per release, or the deadline. Otherwise the
        deadline alone, or one edit if there is no deadline.
        """
        if plan.problem.releases > 1:
            return cls(size=plan.problem.batch, deadline=deadline)
        return cls(size=1 if deadline is None else None, deadline=deadline)

    @classmethod
    def within_budget(
        cls, accountant: Accountant, *, edits: int, deadline: float | None = None, period: float | None = None
    ) -> Batching:
        """Return the smallest batch size for which the remaining releases of the budget cover `edits` edits.

        Args:
            accountant: The accountant of the releases so far.
            edits: Expected number of edits.
            deadline: Longest wait of an edit, in seconds.
            period: Seconds in which the edits arrive: no edit then waits longer than one release's share of it.

        Raises:
            InvalidParameter: If the budget has no release left.
        """
        left = accountant.remaining().publications
        if left == 0:
            raise InvalidParameter(
                "no publication is left in the budget; plan afresh with a larger dp budget, or a larger total if there is one, and relearn"
            )
        size = 1 if left is None else math.ceil(check_count("edits", edits) / left)
        if period is not None and left is not None:
            share = check_positive("period", period) / left
            deadline = share if deadline is None else min(deadline, share)
        return cls(size=size, deadline=deadline)


_BACKLOG = 500  # most edits beyond a full batch that a release waits for while more arrive


class Curating(Protocol):
    """The interface that a stream needs; implemented by `Curator` in memory and `Store` on disk."""

    @property
    def plan(self) -> Plan:
        """The current plan."""

    @property
    def accountant(self) -> Accountant:
        """The accountant of all releases."""

    @property
    def model(self) -> Model:
        """The last published model."""

    @property
    def pending_edits(self) -> int:
        """Number of edits that no release includes yet."""

    def serve(
        self, request: EditRequest, *, publish: bool = True, execution: Execution | None = None
    ) -> Release | None:
        """Edit the rows and, unless `publish` is false, release a model."""

    def publish(self, *, execution: Execution | None = None) -> Release:
        """Release a model for the pending edits."""


class Stream:
    """Serves requests one by one and publishes in batches, driven by `interact` or by an event loop.

    Edits pending before the stream started are due at once if there is a deadline, as their age is unknown.

    Args:
        curator: A curator that has learned already.
        batching: When to publish.
        observable: The releases that the requester sees; None: every release.
        rng: None for certified noise; a generator for research, if the curator accepts one.
        execution: How each release is made; default: `Execution(rng=rng)`.
        clock: Returns seconds, for the deadline.
        progress: Called with each publication.
        more: Returns whether another request is available now: a full batch then waits for it, so that requests that
            arrive together share one release.
    """

    def __init__(
        self,
        curator: Curating,
        batching: Batching | None = None,
        *,
        observable: Container[int] | None = None,
        rng: np.random.Generator | None = None,
        execution: Execution | None = None,
        clock: Callable[[], float] = time.monotonic,
        progress: Callable[[Publication], None] | None = None,
        more: Callable[[], bool] = lambda: False,
    ) -> None:
        self.curator = curator
        self.batching = Batching() if batching is None else batching
        self._observable = observable
        self._execution = Execution.of(execution, rng)
        self._clock = clock
        self._progress, self._more = progress, more
        self._waiting = 0
        self._oldest: float | None = -math.inf if curator.pending_edits else None
        self._served = self._repeated = self._position = 0
        self._refused: list[tuple[int, str]] = []
        self._publications: list[Publication] = []
        self._seconds, self._evaluations = 0.0, 0

    @property
    def due(self) -> float | None:
        """Seconds until the deadline of the oldest pending edit; None if nothing is pending or there is no deadline."""
        if self._oldest is None or self.batching.deadline is None or self._withheld:
            return None
        return max(0.0, self._oldest + self.batching.deadline - self._clock())

    @property
    def _withheld(self) -> bool:
        return bool(self._publications) and self._publications[-1].status is Statuses.WITHHELD

    def push(self, request: EditRequest, source: str = "") -> None:
        """Carry one request out on the rows; publish if the batch is full or due.

        An invalid request changes nothing and is listed in the summary; a request_id answered before costs nothing.

        Args:
            request: The request.
            source: Where the request came from ("line 7"); the summary then names it instead of ids.
        """
        self.tick()  # edits left pending by an earlier run
        position, self._position = self._position, self._position + 1
        before, started = self.curator.pending_edits, time.perf_counter()
        # a release that carries noise on is drawn before the rows are edited
        at_once = (
            self.curator.plan.mechanism.carries is not None
            and self.batching.size == 1
            and not (before or self._withheld)
        )
        try:
            release = self.curator.serve(request, publish=at_once, execution=self._execution)
        except InvalidRequest as error:
            self._refused.append((position, f"{source}: {_without_ids(error, request)}" if source else str(error)))
            return
        finally:
            self._seconds += time.perf_counter() - started
        if at_once and release is not None and not release.answered_before:
            self._served, self._waiting = self._served + 1, self._waiting + 1
            self._note(release, time.perf_counter() - started)
            return
        if self.curator.pending_edits == before:
            self._repeated += 1
            return
        self._served += 1
        self._waiting += 1
        if self._oldest is None:
            self._oldest = self._clock()
        self.tick()

    def push_all(self, requests: Sequence[tuple[EditRequest, str]]) -> None:
        """Call `push` for each (request, source) in turn; a store edits those that fit the batch in one transaction."""
        edit_all = getattr(self.curator, "edit_all", None)
        left = list(requests)
        while left and edit_all is not None and self.batching.size is not None:
            self.tick()
            room = max(1, self.batching.size - self.curator.pending_edits)
            now, left = left[:room], left[room:]
            first, self._position = self._position, self._position + len(now)
            started = time.perf_counter()
            full = None if self._withheld else self.batching.size
            outcomes, served, release = edit_all(
                [request for request, _ in now], publish_from=full, execution=self._execution
            )
            seconds = time.perf_counter() - started
            self._seconds += seconds
            for position, (request, source), error in zip(range(first, self._position), now, outcomes, strict=True):
                if error is not None:
                    self._refused.append(
                        (position, f"{source}: {_without_ids(error, request)}" if source else str(error))
                    )
            self._served += served
            self._waiting += served
            self._repeated += len(now) - served - sum(error is not None for error in outcomes)
            if served and self._oldest is None:
                self._oldest = self._clock()
            if release is not None:
                self._note(release, seconds)
            self.tick()
        for request, source in left:
            self.push(request, source)

    def refuse(self, reason: str) -> None:
        """Record a request that could not be parsed."""
        self._refused.append((self._position, reason))
        self._position += 1

    def tick(self) -> None:
        """Publish if the batch is full or the deadline has passed. Call it whenever time may have passed."""
        size, waiting = self.batching.size, self.curator.pending_edits
        full = size is not None and waiting >= size and not (waiting < size + _BACKLOG and self._more())
        if (full and not self._withheld) or self.due == 0:
            self.publish()

    def flush(self) -> None:
        """Publish all pending edits, at the end of a stream."""
        if self.curator.pending_edits and not self._withheld:
            self.publish()

    def publish(self) -> None:
        """Make one charged release for all pending edits, even if there are none, and add it to the summary."""
        started = time.perf_counter()
        release = self.curator.publish(execution=self._execution)
        seconds = time.perf_counter() - started
        self._seconds += seconds
        self._note(release, seconds)

    def _note(self, release: Release, seconds: float) -> None:
        """Add a release to the summary."""
        cumulative = release.guarantees["dp_cumulative"]
        self._evaluations += self.curator.accountant.last.mechanism.records * release.gradient_passes
        publication = Publication(
            release=release.release,
            status=release.status,
            requests=self._waiting,
            edits=release.edits,
            counts=release.counts,
            steps=release.steps,
            gradient_passes=release.gradient_passes,
            seconds=seconds,
            dp=release.guarantees.get("dp", cumulative),
            dp_cumulative=cumulative,
        )
        self._publications.append(publication)
        self._waiting, self._oldest = 0, None
        if self._progress is not None:
            self._progress(publication)

    def summary(self, holdout: Records | None = None) -> StreamSummary:
        """Return the summary so far.

        Args:
            holdout: Public records on which the current model is scored.
        """
        accountant = self.curator.accountant
        waits = (
            self.curator.pending_edits and accountant.releases
        )  # pending edits are erased too, and every model reveals something about them
        after = accountant.what_if(accountant.planned_event()) if waits else accountant
        current, shown = _model_of(self.curator), self._shown(after.releases)
        return StreamSummary(
            served=self._served,
            repeated=self._repeated,
            refused=tuple(self._refused),
            publications=tuple(self._publications),
            present=accountant.dp_cumulative(),
            erased=after.costliest_deletion(shown),
            everything=after.costliest_deletion(range(1, after.releases + 1)),
            odds=_odds(accountant),
            adaptivity=len(self._shown(accountant.releases)),
            gradient_evaluations=self._evaluations,
            seconds=self._seconds,
            accuracy=None if holdout is None or current is None else current.accuracy(holdout),
        )

    def _shown(self, releases: int) -> Sequence[int]:
        everything = range(1, releases + 1)
        if self._observable is None:
            return everything
        declared = self._observable if isinstance(self._observable, Collection) else everything
        return sorted(number for number in declared if number in everything and number in self._observable)


def _odds(accountant: Accountant) -> tuple[float, float] | None:
    delta = 1e-6 if accountant.plan is None else accountant.plan.problem.budget.shown_delta
    epsilon = accountant.stopping_epsilon(delta)
    return None if epsilon is None else (epsilon, delta)


def _without_ids(error: InvalidRequest, request: EditRequest) -> str:
    """Return the message without the ids that it quotes: others than the requester may read the summary."""
    named = [*request.deletions, *request.subjects, *request.replacements]
    if request.insertion is not None:
        named += [*(request.insertion.ids or ()), *(request.insertion.subjects or ())]
    message = str(error)
    for quoted in sorted(
        {repr(str(name)) for name in named} | {f" {name!r} " for name in named}, key=len, reverse=True
    ):
        message = message.replace(quoted, " … " if quoted.startswith(" ") else "…")
    return message


def _model_of(curator: Curating) -> Model | None:
    """Return the current model; None once it has been withdrawn."""
    try:
        return curator.model
    except NotLearned:
        return None


def interact(
    curator: Curating,
    requester: Requester,
    batching: Batching | None = None,
    *,
    limit: int | None = None,
    holdout: Records | None = None,
    rng: np.random.Generator | None = None,
    execution: Execution | None = None,
    clock: Callable[[], float] = time.monotonic,
    progress: Callable[[Publication], None] | None = None,
) -> StreamSummary:
    """Run Algorithm 1: requester and curator alternate until the requester stops or `limit` requests were sent.

    The requester sees the releases that it declared, and of these only those published since this call began and the
    current one.

    Args:
        curator: A curator that has learned already; its last model is release `curator.accountant.model_release`.
        requester: Source of requests.
        batching: When to publish.
        limit: Largest number of requests; None: no limit.
        holdout: Public records on which the final model is scored.
        rng: None for certified noise; a generator for research, if the curator accepts one.
        execution: How each release is made; default: `Execution(rng=rng)`.
        clock: Returns seconds, for the deadline.
        progress: Called with each publication.
    """
    stream = Stream(
        curator,
        batching,
        observable=requester.observable,
        execution=Execution.of(execution, rng),
        clock=clock,
        progress=progress,
    )
    seen: dict[int, Model] = {}

    def look() -> None:
        number = curator.accountant.model_release
        visible = requester.observable is None or number in requester.observable
        if visible and number not in seen and (current := _model_of(curator)) is not None:
            seen[number] = current

    sent = 0
    while limit is None or sent < limit:
        look()
        request = requester.next(seen)
        if request is None:
            break
        stream.push(request)
        sent += 1
    stream.flush()
    return stream.summary(holdout)

"""Serves streams of edit requests: rows are erased at once, publication waits for its batch."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Container, Sequence
from typing import Protocol

import numpy as np

from ...accountant import Accountant, Statuses
from ...engine import Execution
from ...errors import InvalidRequest, NotLearned
from ...methods.plan import Plan
from ...records import EditRequest, Records
from ..model import Model
from ..release import Release
from .batching import Batching
from .summary import Publication, StreamSummary

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
        before = self.curator.pending_edits
        # a release that carries noise on is drawn before the rows are edited
        at_once = (
            self.curator.plan.mechanism.carries is not None
            and self.batching.size == 1
            and not (before or self._withheld)
        )
        started = time.perf_counter()
        try:
            release = self.curator.serve(request, publish=at_once, execution=self._execution)
        except InvalidRequest as error:
            self._note_error(position, request, source, error)
            return
        finally:
            seconds = time.perf_counter() - started
            self._seconds += seconds
        released = at_once and release is not None and not release.answered_before
        served = int(released or self.curator.pending_edits != before)
        self._note_edits(served, 1 - served)
        if released:
            assert release is not None
            self._note(release, seconds)
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
                    self._note_error(position, request, source, error)
            self._note_edits(served, len(now) - served - sum(error is not None for error in outcomes))
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

    def _note_error(self, position: int, request: EditRequest, source: str, error: InvalidRequest) -> None:
        self._refused.append((position, f"{source}: {_without_ids(error, request)}" if source else str(error)))

    def _note_edits(self, served: int, repeated: int) -> None:
        self._served += served
        self._waiting += served
        self._repeated += repeated
        if served and self._oldest is None:
            self._oldest = self._clock()

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
        current, shown = current_model(self.curator), self._shown(after.releases)
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


def current_model(curator: Curating) -> Model | None:
    """Return the current model; None once it has been withdrawn."""
    try:
        return curator.model
    except NotLearned:
        return None

"""Requests in, releases out: rows are erased at once, publication waits for its batch."""

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
from ..curator import Release
from ..model import Model

# --- account ---
#
# What a stream did, release by release, and what it promises.
#
# Who asks: the (p, r)-requesters of Definition 2.6. What one is shown is declared beforehand; p follows from it.


@dataclass(frozen=True)
class Publication:
    """One release of a stream and what it cost. `dp_cumulative` is the budget's course."""

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
        return {
            **{name: value for name, value in vars(self).items() if not isinstance(value, (Guarantee, EditCounts))},
            "counts": self.counts.to_dict(),
            "dp": self.dp.to_dict(),
            "dp_cumulative": self.dp_cumulative.to_dict(),
        }


@dataclass(frozen=True)
class StreamSummary:
    """What a stream did, and what it promises.

    served        requests carried out (repeats cost nothing and are counted apart)
    refused       (position in the stream, reason) of requests that could not be carried out
    present       what every release together reveals about a record that is still there
    erased        what the releases from the erasure on, and those the requester saw before, reveal about a record erased
                  at the costliest release of the stream; None if nothing was erased
    everything    the same, to an observer of every release
    odds          (ε, δ): whoever is erased, and whenever, the odds about a record exceed e^ε to 1 at no time, except with
                  probability δ per record that could have been chosen; None where no total is enforced
    adaptivity    p: releases the requester was shown
    gradient_evaluations  per-record gradients: n times the passes over the table
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
        return sum(publication.steps for publication in self.publications)

    @property
    def withheld(self) -> bool:
        """Whether the budget refused a publication: the rows are erased, the last model is withdrawn."""
        return any(publication.status is Statuses.WITHHELD for publication in self.publications)

    @property
    def gradient_evaluations_per_request(self) -> float:
        return self.gradient_evaluations / self.served if self.served else 0.0

    def to_dict(self) -> dict[str, Any]:
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
    """𝒬 of Definition 2.6. What it sent before is its own to remember.

    observable  the releases it is shown, numbered from 1 (the learned model); None: every release. Fixed beforehand.
    """

    @property
    def observable(self) -> Container[int] | None: ...

    def next(self, seen: Mapping[int, Model]) -> EditRequest | None:
        """The next request, given the observable releases so far; None ends the stream."""


class NonAdaptive:
    """A list of requests fixed before anything is released: p = 0."""

    observable: Container[int] | None = ()

    def __init__(self, requests: Iterable[EditRequest]) -> None:
        self._requests = iter(requests)

    def next(self, seen: Mapping[int, Model]) -> EditRequest | None:
        return next(self._requests, None)


class Adaptive:
    """Requests chosen by a function of the releases it is shown: the given ones, or every one.

    Args:
        choose: maps {release number: model} to the next request, or to None to stop.
        observable: release numbers it may see; None: every release.
    """

    def __init__(
        self, choose: Callable[[Mapping[int, Model]], EditRequest | None], observable: Container[int] | None = None
    ) -> None:
        self.next = choose
        self.observable = observable


# --- batching ---
#
# When edited rows are published: what waits together gets one release.


YEAR = 365 * 86_400.0  # seconds: what the publications of a budget are spread over, where nobody says


@dataclass(frozen=True)
class Batching:
    """When edited rows are published: as soon as one of the conditions holds. Both are set by requests; see `Calendar`.

    size      so many edits wait, or more that came together (None: no such condition)
    deadline  the oldest waiting edit is so many seconds old: a legal time limit (None: no such condition)
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
        """Seconds until a release is due; None where nothing makes it so.

        Args:
            waiting: edits that no release covers. since, now: when the oldest was made, and the time, in seconds of one clock.
        """
        if not waiting:
            return None
        if self.size is not None and waiting >= self.size:
            return 0.0
        return None if self.deadline is None else max(0.0, since + self.deadline - now)

    @classmethod
    def planned(cls, plan: Plan, *, deadline: float | None = None) -> Batching:
        """As many edits as the plan's releases were planned for, where it plans more than one; else when the deadline comes, or
        without one whatever waits, at once."""
        if plan.releases > 1:
            return cls(size=plan.problem.batch, deadline=deadline)
        return cls(size=1 if deadline is None else None, deadline=deadline)

    @classmethod
    def within_budget(
        cls, accountant: Accountant, *, edits: int, deadline: float | None = None, period: float | None = None
    ) -> Batching:
        """The smallest batches for which the publications that the budget has left last for so many edits.

        Args:
            period: seconds in which the edits come: no edit then waits longer than one publication's share of it.

        Raises:
            InvalidParameter: nothing is left to publish.
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


@dataclass(frozen=True)
class Calendar:
    """Dates of publication that no request has a say in: every `interval` seconds from `start` on. A date on which nothing waits makes
    no release.

    start  in seconds since 1970: when the first model was published
    """

    start: float
    interval: float

    def __post_init__(self) -> None:
        check_positive("interval", self.interval)

    def dates(self, until: float) -> int:
        """How many dates there were up to this time."""
        return max(0, math.floor((until - self.start) / self.interval))

    def due(self, waiting: int, since: float, now: float) -> float | None:
        """Seconds until the first date after the oldest waiting edit; as of `Batching.due`."""
        if not waiting:
            return None
        return max(0.0, self.start + (self.dates(since) + 1) * self.interval - now)

    def unused(self, last: float, now: float) -> int:
        """How many dates between the last release and the newest date there was none for."""
        return max(0, self.dates(now) - self.dates(last) - 1)


_BACKLOG = 500  # edits beyond a full batch that a release waits for, while more keep coming


class Curating(Protocol):
    """What a stream needs of a curator: the one in memory and the one on disk both have it."""

    @property
    def plan(self) -> Plan: ...

    @property
    def accountant(self) -> Accountant: ...

    @property
    def model(self) -> Model: ...

    @property
    def pending_edits(self) -> int: ...

    def serve(
        self, request: EditRequest, *, publish: bool = True, execution: Execution | None = None
    ) -> Release | None: ...

    def publish(self, *, execution: Execution | None = None) -> Release: ...


class Stream:
    """Serves requests one by one and publishes in batches. `interact` drives it; so can a loop that waits for input.

    Args:
        curator: has learned already.
        batching: when to publish.
        observable: the releases the requester is shown; None: every release.
        rng: None for certified noise; a generator for research, where the curator takes one.
        execution: how each publication is made; default: `Execution(rng=rng)`.
        clock: seconds, for the deadline.
        progress: called with each publication.
        more: whether another request is here already: a full batch then waits for it, so that what came together gets one release.

    Edits that waited before the stream began are due at once if there is a deadline: how long they waited is not known.
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
        """Seconds until the deadline of the oldest waiting edit; None if nothing waits or there is no deadline."""
        if self._oldest is None or self.batching.deadline is None or self._withheld:
            return None
        return max(0.0, self._oldest + self.batching.deadline - self._clock())

    @property
    def _withheld(self) -> bool:
        return bool(self._publications) and self._publications[-1].status is Statuses.WITHHELD

    def push(self, request: EditRequest, source: str = "") -> None:
        """Carry one request out on the rows; publish if the batch is full or due. An invalid request changes nothing
        and is noted in the summary; a request_id that was answered before costs nothing.

        Args:
            source: where the request stands ("line 7"); the summary then says that, and no id.
        """
        self.tick()  # what an earlier run left waiting
        position, self._position = self._position, self._position + 1
        before, started = self.curator.pending_edits, time.perf_counter()
        # a release that carries on the one before is drawn before the rows go
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
        """`push` for each (request, source) in turn. A curator on disk edits those that fit the batch in one transaction."""
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
        """Note a request that could not even be read."""
        self._refused.append((self._position, reason))
        self._position += 1

    def tick(self) -> None:
        """Publish if the batch is full or the deadline has come. To be called whenever time may have passed."""
        size, waiting = self.batching.size, self.curator.pending_edits
        full = size is not None and waiting >= size and not (waiting < size + _BACKLOG and self._more())
        if (full and not self._withheld) or self.due == 0:
            self.publish()

    def flush(self) -> None:
        """Publish whatever still waits: the end of a stream."""
        if self.curator.pending_edits and not self._withheld:
            self.publish()

    def publish(self) -> None:
        """One charged release for every pending edit."""
        started = time.perf_counter()
        release = self.curator.publish(execution=self._execution)
        seconds = time.perf_counter() - started
        self._seconds += seconds
        self._note(release, seconds)

    def _note(self, release: Release, seconds: float) -> None:
        """A publication for the summary."""
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
        """The account so far. `holdout`: public records, for the accuracy of the current model."""
        accountant = self.curator.accountant
        waits = (
            self.curator.pending_edits and accountant.releases
        )  # what waits is erased, too, and every model is against it
        after = accountant.what_if(accountant.planned()) if waits else accountant
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
    delta = 1e-6 if accountant.plan is None else accountant.plan.budget.shown_delta
    epsilon = accountant.stopping_epsilon(delta)
    return None if epsilon is None else (epsilon, delta)


def _without_ids(error: InvalidRequest, request: EditRequest) -> str:
    """The message with the ids that it quotes left out: the summary of a stream may be read by others than who sent it."""
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
    """The model in force; None once it has been withdrawn."""
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
    """Algorithm 1: the requester and the curator take turns until the requester, or `limit` requests, end it.

    Args:
        curator: has learned already; its last model is release number `curator.accountant.model_release`.
        holdout: public records on which the final model is scored.

    The requester is shown the releases it declared, and only those published since this call began, plus the current one.
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

"""Streams of edit requests: Algorithm 1 of Chourasia & Shah (ICML 2023), with batched publication.

    publish A(D_0); for i = 1, 2, …: get u_i from the requester, edit the rows, publish Ā(D_{i−1}, u_i, θ_{i−1})

A (p, r)-requester chooses u_i after seeing p earlier releases. Which releases it is shown is declared before the
interaction, so the accountant's adaptive bound follows from the declaration: nobody computes p. Both worlds restart from
the same point at every release the requester or the adversary saw (see `accountant.py`).

Rows are erased at once. Publication may wait: for a number of edits, or for a deadline. Each release of a stream runs the
same number of steps, so *when* it happens does not change what it costs; if the requester decides how many there are, the
total is bounded by the plan's `releases=N`, which caps it beforehand.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .accountant import Accountant
from .curator import Model, Release
from .errors import InvalidParameter, InvalidRequest, count, positive
from .guarantee import Guarantee
from .noisygd import Progress
from .records import EditRequest, Records


class Curating(Protocol):
    """What a stream needs of a curator: the one in memory and the one on disk both have it."""

    @property
    def accountant(self) -> Accountant: ...

    @property
    def model(self) -> Model: ...

    @property
    def pending_edits(self) -> int: ...

    def serve(
        self,
        request: EditRequest,
        *,
        publish: bool = True,
        rng: np.random.Generator | None = None,
        progress: Progress | None = None,
    ) -> Release | None: ...

    def publish(
        self,
        request_id: str | None = None,
        *,
        rng: np.random.Generator | None = None,
        progress: Progress | None = None,
    ) -> Release: ...


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


@dataclass(frozen=True)
class Batching:
    """When edited rows are published: as soon as one of the conditions holds.

    size      so many edits wait (None: no such condition)
    deadline  the oldest waiting edit is so many seconds old: a legal time limit (None: no such condition)
    """

    size: int | None = 1
    deadline: float | None = None

    def __post_init__(self) -> None:
        if self.size is None and self.deadline is None:
            raise InvalidParameter("size=None and deadline=None: give one of them, or nothing is ever published")
        if self.size is not None:
            count("size", self.size)
        if self.deadline is not None:
            positive("deadline", self.deadline)

    @classmethod
    def within_budget(cls, accountant: Accountant, *, edits: int, deadline: float | None = None) -> Batching:
        """The smallest batches for which the publications that `releases=N` has left last for so many edits.

        Raises:
            InvalidParameter: nothing is left to publish.
        """
        left = accountant.remaining().publications
        if left == 0:
            raise InvalidParameter("no publication is left in the budget; plan afresh with more releases and relearn")
        size = 1 if left is None else math.ceil(count("edits", edits) / left)
        return cls(size=size, deadline=deadline)


@dataclass(frozen=True)
class Publication:
    """One release of a stream and what it cost. `dp_cumulative` is the budget's course."""

    release: int
    status: str
    requests: int
    edits: int
    steps: int
    seconds: float
    dp: Guarantee
    dp_cumulative: Guarantee

    def to_dict(self) -> dict[str, Any]:
        return {
            **{name: getattr(self, name) for name in ("release", "status", "requests", "edits", "steps", "seconds")},
            "dp": self.dp.to_dict(),
            "dp_cumulative": self.dp_cumulative.to_dict(),
        }


@dataclass(frozen=True)
class StreamReport:
    """What a stream did, and what it promises.

    served        requests carried out (repeats cost nothing and are counted apart)
    refused       (position in the stream, reason) of requests that could not be carried out
    present       what every release together reveals about a record that is still there
    erased        what the releases from the erasure on, and those the requester saw before, reveal about a record erased
                  at the costliest release of the stream; None if nothing was erased
    everything    the same, to an observer of every release
    adaptivity    p: releases the requester was shown
    gradient_evaluations  per-record gradients, n · steps
    """

    served: int
    repeated: int
    refused: tuple[tuple[int, str], ...]
    publications: tuple[Publication, ...]
    present: Guarantee
    erased: Guarantee | None
    everything: Guarantee | None
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
        return any(publication.status == "withheld" for publication in self.publications)

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
            "publications": [publication.to_dict() for publication in self.publications],
        }


class Stream:
    """Serves requests one by one and publishes in batches. `interact` drives it; so can a loop that waits for input.

    Args:
        curator: has learned already.
        batching: when to publish.
        observable: the releases the requester is shown; None: every release.
        rng: None for certified noise; a generator for research.
        clock: seconds, for the deadline.
        progress: called with each publication.
    """

    def __init__(
        self,
        curator: Curating,
        batching: Batching | None = None,
        *,
        observable: Container[int] | None = None,
        rng: np.random.Generator | None = None,
        clock: Callable[[], float] = time.monotonic,
        progress: Callable[[Publication], None] | None = None,
    ) -> None:
        self.curator = curator
        self.batching = Batching() if batching is None else batching
        self._observable = observable
        self._rng = rng
        self._clock = clock
        self._progress = progress
        self._waiting = 0
        self._oldest: float | None = clock() if curator.pending_edits else None
        self._served = self._repeated = self._position = 0
        self._refused: list[tuple[int, str]] = []
        self._publications: list[Publication] = []
        self._seconds = 0.0

    @property
    def due(self) -> float | None:
        """Seconds until the deadline of the oldest waiting edit; None if nothing waits or there is no deadline."""
        if self._oldest is None or self.batching.deadline is None or self._withheld:
            return None
        return max(0.0, self._oldest + self.batching.deadline - self._clock())

    @property
    def _withheld(self) -> bool:
        return bool(self._publications) and self._publications[-1].status == "withheld"

    def push(self, request: EditRequest) -> None:
        """Carry one request out on the rows; publish if the batch is full or due. An invalid request changes nothing
        and is noted in the report; a request_id that was answered before costs nothing."""
        position, self._position = self._position, self._position + 1
        before, started = self.curator.pending_edits, time.perf_counter()
        try:
            self.curator.serve(request, publish=False, rng=self._rng)
        except InvalidRequest as error:
            self._refused.append((position, str(error)))
            return
        finally:
            self._seconds += time.perf_counter() - started
        if self.curator.pending_edits == before:
            self._repeated += 1
            return
        self._served += 1
        self._waiting += 1
        if self._oldest is None:
            self._oldest = self._clock()
        full = self.batching.size is not None and self.curator.pending_edits >= self.batching.size
        if full and not self._withheld:
            self.publish()
        else:
            self.tick()

    def tick(self) -> None:
        """Publish if the deadline has come. To be called whenever time may have passed without a request."""
        if self.due == 0:
            self.publish()

    def flush(self) -> None:
        """Publish whatever still waits: the end of a stream."""
        if self.curator.pending_edits and not self._withheld:
            self.publish()

    def publish(self) -> None:
        """One charged release for every pending edit; also the forced redo of a release, where none is pending."""
        edits, started = self.curator.pending_edits, time.perf_counter()
        release = self.curator.publish(rng=self._rng)
        seconds = time.perf_counter() - started
        self._seconds += seconds
        cumulative = release.guarantees["dp_cumulative"]
        publication = Publication(
            release=release.release,
            status=release.status,
            requests=self._waiting,
            edits=edits,
            steps=release.steps,
            seconds=seconds,
            dp=release.guarantees.get("dp", cumulative),
            dp_cumulative=cumulative,
        )
        self._publications.append(publication)
        self._waiting, self._oldest = 0, None
        if self._progress is not None:
            self._progress(publication)

    def report(self, holdout: Records | None = None) -> StreamReport:
        """The account so far. `holdout`: public records, for the accuracy of the current model."""
        accountant = self.curator.accountant
        shown = self._shown(len(accountant.events))
        evaluations = sum(
            accountant.events[entry.release - 1].mechanism.records * entry.steps for entry in self._publications
        )
        current = None if self._withheld else self.curator.model
        return StreamReport(
            served=self._served,
            repeated=self._repeated,
            refused=tuple(self._refused),
            publications=tuple(self._publications),
            present=accountant.dp_cumulative(),
            erased=self._costliest(lambda erased_at, last: [*filter(erased_at.__gt__, shown), *range(erased_at, last)]),
            everything=self._costliest(lambda erased_at, last: range(1, last)),
            adaptivity=len(shown),
            gradient_evaluations=evaluations,
            seconds=self._seconds,
            accuracy=None if holdout is None or current is None else current.accuracy(holdout),
        )

    def _shown(self, releases: int) -> Sequence[int]:
        everything = range(1, releases + 1)
        return everything if self._observable is None else [n for n in everything if n in self._observable]

    def _costliest(self, observed: Callable[[int, int], Iterable[int]]) -> Guarantee | None:
        """The deletion guarantee of the erasure that costs most, for a record present since the first release.

        Between fresh learns every release runs the same steps, so presence for longer costs more: the latest erasure of
        each such stretch is enough.
        """
        events = self.curator.accountant.events
        latest: dict[int, int] = {}
        stretch = 0
        for number, event in enumerate(events, start=1):
            stretch += event.fresh and number > 1
            if event.edits and number > 1:
                latest[stretch] = number
        answers = [
            self.curator.accountant.deletion(1, number, observed(number, len(events) + 1)) for number in latest.values()
        ]
        return max(answers, key=lambda answer: answer.advantage, default=None)


def interact(
    curator: Curating,
    requester: Requester,
    batching: Batching | None = None,
    *,
    limit: int | None = None,
    holdout: Records | None = None,
    rng: np.random.Generator | None = None,
    clock: Callable[[], float] = time.monotonic,
    progress: Callable[[Publication], None] | None = None,
) -> StreamReport:
    """Algorithm 1: the requester and the curator take turns until the requester, or `limit` requests, end it.

    Args:
        curator: has learned already; its last model is release number `len(curator.accountant.events)`.
        holdout: public records on which the final model is scored.

    The requester is shown the releases it declared, and only those published since this call began, plus the current one.
    """
    stream = Stream(curator, batching, observable=requester.observable, rng=rng, clock=clock, progress=progress)
    seen: dict[int, Model] = {}

    def look() -> None:
        number = len(curator.accountant.events)
        visible = requester.observable is None or number in requester.observable
        if visible and number not in seen and not stream._withheld:
            seen[number] = curator.model

    sent = 0
    while limit is None or sent < limit:
        look()
        request = requester.next(seen)
        if request is None:
            break
        stream.push(request)
        sent += 1
    stream.flush()
    return stream.report(holdout)

"""Algorithm 1: a requester and a curator alternate.

Requesters are the (p, r)-requesters of Definition 2.6. The releases a requester sees are declared in advance and
determine p.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterable, Mapping
from typing import Protocol

import numpy as np

from ...engine import Execution
from ...records import EditRequest, Records
from ..model import Model
from .batching import Batching
from .serving import Curating, Stream, current_model
from .summary import Publication, StreamSummary


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
        if visible and number not in seen and (current := current_model(curator)) is not None:
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

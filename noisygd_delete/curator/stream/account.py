"""What a stream did, release by release, and what it promises.

Who asks: the (p, r)-requesters of Definition 2.6. What one is shown is declared beforehand; p follows from it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ...accountant import Statuses
from ...privacy.guarantee import Guarantee
from ...records import EditCounts, EditRequest
from ..model import Model


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
    adaptivity    p: releases the requester was shown
    gradient_evaluations  per-record gradients: n times the passes over the table
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

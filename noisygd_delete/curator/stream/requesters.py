"""Who asks: the (p, r)-requesters of Definition 2.6. What one is shown is declared beforehand; p follows from it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from typing import Protocol

from ...records import EditRequest
from ..learning import Model


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

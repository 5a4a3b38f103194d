"""What every publisher answers, and what it asks of a disk."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from .artefact import Artefact


class Publisher(Protocol):
    """A place that holds at most one release of one store.

    Each call may be cut short at any instant and is then made again, perhaps by another process; none touches what another store,
    or a person, has put there. Any exception of theirs means: not done, try again; an error of this package, that nothing was put
    there either.
    """

    def require_free(self) -> None:
        """Raise PublisherError where another store, or a person, has the place; nothing is changed there."""

    def put(self, artefact: Artefact) -> None:
        """The release is there, whole, and is the one that the place's alias leads to."""

    def withdraw(self, keep: str | None) -> tuple[str, ...]:
        """Every release of this store is gone with its files but the one of this name; with None the alias is gone too.

        Returns:
            What this publisher cannot remove, each with what to do about it.
        """


class Ground(Protocol):
    """Changes of a file system, each announced just before it is made: the store's `Disk` is one."""

    def reached(self, operation: str, path: Path) -> None: ...
    def create(self, path: Path, data: bytes = b"") -> None: ...
    def rename(self, source: Path, target: Path) -> None: ...
    def erase(self, path: Path) -> None: ...
    def sync_folder(self, path: Path) -> None: ...

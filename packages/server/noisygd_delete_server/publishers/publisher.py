"""The interface of a publisher, and the file operations it needs."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from noisygd_delete.store.artifact import Artifact


class Publisher(Protocol):
    """A location that holds at most one release of one store.

    Each call may be interrupted at any instant and is then repeated, perhaps by another process. No call changes what
    another store, or a person, has put there. Any exception means: not done, try again. An exception of this package
    also means that nothing was published.
    """

    def require_free(self) -> None:
        """Raise `PublisherError` if the location belongs to another store or a person; nothing is changed there."""

    def put(self, artefact: Artifact) -> None:
        """Publish the complete release, and point the alias of the location to it."""

    def withdraw(self, keep: str | None) -> tuple[str, ...]:
        """Remove every release of this store and its files except `keep`; with None, remove the alias too.

        Returns:
            What this publisher cannot remove, each with what to do about it.
        """


class Ground(Protocol):
    """File system changes, each announced just before it is made; implemented by the store's `Disk`."""

    def reached(self, operation: str, path: Path) -> None:
        """Called before each change, for fault injection."""

    def create(self, path: Path, data: bytes = b"") -> None:
        """Create a file."""

    def rename(self, source: Path, target: Path) -> None:
        """Rename a file atomically."""

    def erase(self, path: Path) -> None:
        """Overwrite and remove a file."""

    def sync_folder(self, path: Path) -> None:
        """Make the entries of a folder durable."""

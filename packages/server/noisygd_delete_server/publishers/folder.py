"""A publisher for a local folder: one subfolder per release, and the link `current` to the current one.

    PATH/.noisygd-delete       the store that publishes here
    PATH/release-3-1f0c…/      the files of the release
    PATH/current               a link to it, replaced atomically

Removed files are overwritten first, as everywhere in a store. A process that still reads the old file through `current`
can do so until it closes the file; a memory-mapped file turns to zeros.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

from noisygd_delete.errors import PublisherError
from noisygd_delete.store.artifact import FACTS, FILES, Artifact

from .address import RELEASE
from .publisher import Ground

MARK, CURRENT, TEMPORARY = ".noisygd-delete", "current", ".tmp"
COMPILED = "__pycache__"
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
_LONGEST = 1 << 16


class Folder:
    """The folder at `path`, used by the store with this id only."""

    def __init__(self, path: Path, store: str, ground: Ground) -> None:
        self._root, self._store, self._ground = path, store, ground

    def require_free(self) -> None:
        """Raise PublisherError if the destination belongs to another store or holds other files."""
        if not self._root.exists():
            return
        if not self._root.is_dir():
            raise PublisherError(f"{self._root}: not a folder; name one that is new, or empty")
        mode = self._root.stat().st_mode
        if os.name != "nt" and mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise PublisherError(f"{self._root}: anybody may put another model there; chmod o-w, then publish-to again")
        mark = self._root / MARK
        if mark.exists():
            if _read_file(mark) != self._store.encode():
                raise PublisherError(f"{self._root}: another store publishes here; give each store a folder of its own")
        elif any(path.name != MARK + TEMPORARY for path in self._root.iterdir()):
            raise PublisherError(f"{self._root}: holds files already; name a folder that is new, or empty")

    def put(self, artefact: Artifact) -> None:
        """Publish a release and make it the current one."""
        self._take()
        if os.path.lexists(self._root / CURRENT) and not (self._root / CURRENT).is_symlink():
            raise PublisherError(
                f"{self._root / CURRENT}: not a link; something else has taken the place. Move it away"
            )
        place = self._root / artefact.name
        if not self._whole(place, artefact):
            self._discard(place)
            self._write(place, artefact)
        self._lead_to(artefact.name)

    def withdraw(self, keep: str | None) -> tuple[str, ...]:
        """Remove every release but `keep`; return what could not be removed, each with what to do about it."""
        if not self._root.exists():
            return ()
        self._take()
        if keep is None and os.path.lexists(self._root / CURRENT):
            self._ground.reached("remove", self._root / CURRENT)
            (self._root / CURRENT).unlink()
            self._ground.sync_folder(self._root)
        left: list[str] = []
        for path in sorted(self._root.iterdir()):
            name = path.name.removesuffix(TEMPORARY)
            if path.name != keep and (RELEASE.fullmatch(name) or name == CURRENT != path.name):
                left += self._discard(path)
        return tuple(left)

    def _take(self) -> None:
        """Mark the folder as this store's, or raise if it belongs to another."""
        self.require_free()
        mark = self._root / MARK
        if not self._root.exists():
            self._ground.reached("make folder", self._root)
            self._root.mkdir(0o755)
            self._ground.sync_folder(self._root.parent)
        if not mark.exists():
            self._made(mark.with_name(MARK + TEMPORARY), self._store.encode())
            self._ground.reached("rename", mark)
            self._ground.rename(mark.with_name(MARK + TEMPORARY), mark)
            self._ground.sync_folder(self._root)

    def _whole(self, place: Path, artefact: Artifact) -> bool:
        """Return whether the complete release is there, whatever version of this program wrote it."""
        try:
            facts: Any = json.loads(_read_file(place / FACTS))
            named = facts["release"], facts["model"]
            return named == (artefact.release, artefact.digest) and all(
                (place / name).is_file() for name in facts["files"]
            )
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def _write(self, place: Path, artefact: Artifact) -> None:
        half = place.with_name(place.name + TEMPORARY)
        for reason in self._discard(half):
            raise PublisherError(reason)
        self._ground.reached("make folder", half)
        half.mkdir()
        half.chmod(stat.S_IMODE(self._root.stat().st_mode) & 0o755)
        for name, data in artefact.files.items():
            self._made(half / name, data)
        self._ground.sync_folder(half)
        self._ground.reached("rename", place)
        self._ground.rename(half, place)
        self._ground.sync_folder(self._root)

    def _made(self, path: Path, data: bytes) -> None:
        """Write a file that is readable like the folder and writable by its owner only, because some files are code."""
        require_own(path)
        self._ground.erase(path)
        self._ground.create(path, data)
        path.chmod(stat.S_IMODE(self._root.stat().st_mode) & 0o644)

    def _lead_to(self, name: str) -> None:
        link, new = self._root / CURRENT, self._root / (CURRENT + TEMPORARY)
        if link.is_symlink() and os.readlink(link) == name:
            return
        with suppress(FileNotFoundError):
            new.unlink()
        self._ground.reached("link", new)
        new.symlink_to(name, target_is_directory=True)
        self._ground.reached("rename", link)
        self._ground.rename(new, link)
        self._ground.sync_folder(self._root)

    def _discard(self, place: Path) -> tuple[str, ...]:
        """Erase a release, complete or half-written: rename its folder first, then erase its files."""
        if place.is_symlink():
            place.unlink()
            return ()
        if not place.exists():
            return ()
        if not place.is_dir():
            return (f"{place}: not a folder that was put there by this program; remove it",)
        half = place if place.name.endswith(TEMPORARY) else place.with_name(place.name + TEMPORARY)
        if half != place:
            self._discard(half)
            self._ground.reached("rename", half)
            self._ground.rename(place, half)
            self._ground.sync_folder(self._root)
        left = []
        for path in sorted(half.iterdir()):
            if path.name == COMPILED and path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)  # compiled from model.py: holds no coefficient
            elif path.name.removesuffix(TEMPORARY) in FILES and path.is_file() and not path.is_symlink():
                if path.stat().st_nlink > 1:
                    left.append(_second_name(path))
                else:
                    erase_whole(self._ground, path)
            else:
                left.append(f"{path}: not put there by this program; move it away")
        if not left:
            self._ground.reached("remove", half)
            half.rmdir()
            self._ground.sync_folder(self._root)
        return tuple(left)


def require_own(path: Path) -> None:
    """Raise `PublisherError` if a file has a second name, a hard or symbolic link, which a write would change too."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if stat.S_ISLNK(found.st_mode) or (stat.S_ISREG(found.st_mode) and found.st_nlink > 1):
        raise PublisherError(_second_name(path))


def _second_name(path: Path) -> str:
    return f"{path}: a link, or a file with a second name, which would be changed with it; remove this name"


def erase_whole(ground: Ground, path: Path) -> None:
    """Overwrite and remove a file, even if it is read-only.

    Raises:
        PublisherError: If it has a second name.
    """
    require_own(path)
    path.chmod(stat.S_IMODE(path.stat().st_mode) | stat.S_IWUSR)
    ground.erase(path)


def _read_file(path: Path) -> bytes:
    with os.fdopen(os.open(path, os.O_RDONLY | _NO_LINKS), "rb") as file:
        return file.read(_LONGEST)

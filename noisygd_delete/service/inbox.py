"""What the service was asked and has not finished: one small file for each thing to be done, in the folder of what comes next.

    accepted/  as it was asked, with ids: what a client is answered 202 for; erased once every store has edited its rows
    edited/    the request id alone: rows are edited, a publication or a message is still to come
    refused/   the request id and why it could not be carried out, until a person has decided about it in the register
    outgoing/  messages that somebody else has not taken yet

A file is whole or not there, and sealed. To move on, the next file is written and then the one before it erased: renamed, overwritten and removed, like all
that the store erases. So a crash leaves at most both, and the later one counts. The folder belongs to the service that holds its lock.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import StoreCorrupt, StoreError, StoreLocked, Word
from ..records import bounded
from ..store import journal
from ..store.disk import Disk, explained, read
from ..store.layout import TEMPORARY, Layout
from ..store.lock import Lock

MOST = 100_000  # things to be done at a time: whoever sends more is told to come back
_LONGEST = 1 << 25  # bytes of one file
_KEPT = "what was accepted is kept; free space or fix permissions, and the service goes on from there"


class Stages(Word):
    """What comes next for a file of the inbox, in this order."""

    ACCEPTED = "accepted"
    EDITED = "edited"
    REFUSED = "refused"
    OUTGOING = "outgoing"


@dataclass(frozen=True)
class Kept:
    """One thing to be done.

    number   in order of arrival; it keeps it from stage to stage
    fields   what is to be done, in JSON's own types; `request_id` where it is a request
    """

    number: int
    stage: Stages
    fields: Mapping[str, Any]

    @property
    def token(self) -> str | None:
        return self.fields.get("request_id") if self.stage is not Stages.OUTGOING else None


class Full(StoreError):
    """There is no room for another request now."""


class Inbox:
    """The inbox of the service that is begun with this store. Its methods may be called by any thread.

    Raises:
        StoreLocked: another service holds it. StoreCorrupt: a file in it is not one that a service wrote.
    """

    def __init__(self, layout: Layout, disk: Disk | None = None, *, most: int = MOST) -> None:
        self._disk, self._root, self._most = disk or Disk(), layout.service, most
        self._all: dict[int, Kept] = {}
        self._by_token: dict[str, int] = {}
        self._mutex = threading.RLock()
        with explained(layout.root, _KEPT):
            for folder in (self._root, *(self._root / stage for stage in Stages)):
                if not folder.is_dir():
                    self._disk.make_folder(folder)
            try:
                self._lock = Lock(self._root / "lock")
            except StoreLocked as error:
                raise StoreLocked(
                    f"{layout.root}: another service is running with this store; stop it first"
                ) from error
            try:
                self._load()
            except BaseException:
                self._lock.release()
                raise
        self._next = max(self._all, default=0) + 1

    @staticmethod
    def holds_any(layout: Layout) -> bool:
        """Whether a service that was begun with this store has left something to be done."""
        folders = [layout.service / stage for stage in Stages]
        return any(folder.is_dir() and any(folder.iterdir()) for folder in folders)

    def close(self) -> None:
        self._lock.release()

    def accept(self, fields: Mapping[str, Any]) -> Kept:
        """Keep something that was asked. When this returns, it will be done.

        Raises:
            Full: with nothing kept.
        """
        return self._add(Stages.ACCEPTED, fields)

    def send(self, fields: Mapping[str, Any]) -> Kept:
        """Keep a message until it was delivered."""
        return self._add(Stages.OUTGOING, fields)

    def move(self, kept: Kept, stage: Stages, fields: Mapping[str, Any]) -> Kept:
        """The next thing to be done about a request; what it was before is erased."""
        moved = Kept(kept.number, stage, dict(fields))
        with self._mutex, explained(self._root, _KEPT):
            self._write(moved)
            self._enter(moved)
            self._disk.discard(self._path(kept))
        return moved

    def done(self, kept: Kept) -> None:
        """Nothing is left to be done: its file is erased."""
        with self._mutex, explained(self._root, _KEPT):
            self._disk.discard(self._path(kept))
            self._all.pop(kept.number, None)
            if kept.token is not None:
                self._by_token.pop(kept.token, None)

    def find(self, token: str) -> Kept | None:
        """The request with this id, while something is left to be done for it."""
        with self._mutex:
            number = self._by_token.get(token)
            return None if number is None else self._all[number]

    def at(self, stage: Stages) -> list[Kept]:
        """All that is at this stage, in order of arrival."""
        with self._mutex:
            return [kept for _, kept in sorted(self._all.items()) if kept.stage is stage]

    def counts(self) -> dict[str, int]:
        """How many there are at each stage."""
        with self._mutex:
            stages = [kept.stage for kept in self._all.values()]
        return {str(stage): stages.count(stage) for stage in Stages}

    @property
    def guard(self) -> threading.RLock:
        """Held by whoever looks whether a request is known before accepting it."""
        return self._mutex

    def _add(self, stage: Stages, fields: Mapping[str, Any]) -> Kept:
        with self._mutex:
            if stage is Stages.ACCEPTED and len(self._all) >= self._most:
                raise Full(f"{len(self._all)} requests and messages wait to be done; try again later")
            kept = Kept(self._next, stage, dict(fields))
            self._next += 1
            with explained(self._root, "it was not accepted; free space or fix permissions, and send it again"):
                try:
                    self._write(kept)
                except OSError:
                    with suppress(OSError):
                        self._disk.erase(self._path(kept))
                    raise
            self._enter(kept)
        return kept

    def _enter(self, kept: Kept) -> None:
        self._all[kept.number] = kept
        if kept.token is not None:
            self._by_token[kept.token] = kept.number

    def _path(self, kept: Kept) -> Path:
        return self._root / kept.stage / f"{kept.number:012d}.json"

    def _write(self, kept: Kept) -> None:
        body = json.dumps(kept.fields, allow_nan=False).encode()
        self._disk.replace(self._path(kept), journal.sealed(body))

    def _load(self) -> None:
        for stage in Stages:
            for path in sorted((self._root / stage).iterdir()):
                if path.name.endswith(TEMPORARY):  # nobody was told that it is kept, or it is done
                    self._disk.erase(path)
                    continue
                kept = Kept(_number(path), stage, _parsed(path))
                before = self._all.get(kept.number)
                if before is not None:
                    self._disk.discard(self._path(before))
                self._enter(kept)


def _number(path: Path) -> int:
    try:
        return int(path.stem)
    except ValueError as error:
        raise StoreCorrupt(f"{path}: does not belong to the service; remove it") from error


def _parsed(path: Path) -> dict[str, Any]:
    try:
        fields = bounded.parsed(journal.unsealed(read(path, _LONGEST)).decode())
        if not isinstance(fields, dict):
            raise TypeError("not an object")
        return fields
    except (ValueError, TypeError) as error:
        raise StoreCorrupt(
            f"{path}: not what a service wrote; restore the store from a backup, or remove the file and have that request sent again"
        ) from error

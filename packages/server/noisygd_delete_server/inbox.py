"""The durable queue of the service: one small file for each unfinished task, in the folder of its next stage.

    accepted/  the request with its ids, answered 202; erased once every store has edited its rows
    quarantined/  failed repeatedly, with the reason; retried every hour, last and alone, until dropped
    edited/    the request id alone: rows are edited, a release or a notification is pending
    refused/   the request id and the reason, until a person has decided about it in the register
    outgoing/  messages that are not delivered yet

A write is atomic, and each file has a checksum. To change stage, the next file is written, then the previous one
erased: renamed, overwritten and removed, like all that the store erases. So a crash leaves at most both, and the later
stage wins. The folder belongs to the service that holds its lock.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct

from noisygd_delete.errors import StoreCorrupt, StoreError, StoreLocked, Word
from noisygd_delete.records import limited_io
from noisygd_delete.store import journal
from noisygd_delete.store.disk import Disk, explain_disk_errors, read_file
from noisygd_delete.store.layout import TEMPORARY, Layout, Lock

MOST = 100_000  # most unfinished requests; further ones are rejected until there is room
_MOST_OF_ONE = 20_000  # most requests of one caller, so that it cannot fill the inbox
_MOST_KEPT = 10_000  # most refusals, and messages to one address; older ones are discarded (the register shows them)
_LONGEST = 1 << 25  # most bytes of one file
_KEPT = "what was accepted is kept; free space or fix permissions, and the service goes on from there"


class Stages(Word):
    """Stages of a file of the inbox, in order."""

    ACCEPTED = "accepted"
    QUARANTINED = "quarantined"
    EDITED = "edited"
    REFUSED = "refused"
    OUTGOING = "outgoing"


_WAITING = (Stages.ACCEPTED, Stages.QUARANTINED)


@dataclass(frozen=True)
class QueuedRequest:
    """An unfinished task.

    Attributes:
        number: Sequence number of arrival, the same in all stages.
        stage: The next stage.
        fields: The task as JSON types, with `request_id` if it is a request.
    """

    number: int
    stage: Stages
    fields: Mapping[str, Any]

    @property
    def token(self) -> str | None:
        """The request id; None for a message to be sent."""
        return self.fields.get("request_id") if self.stage is not Stages.OUTGOING else None


class Waiting(Struct, frozen=True):
    """A request that the service has not finished."""

    request_id: str
    state: Annotated[str, Meta(description="accepted, quarantined, edited or refused")]
    since: Annotated[str | None, Meta(description="when the service took it in")]
    requested_by: Annotated[str | None, Meta(description="the name of the token that it was sent with")]
    reason: Annotated[str | None, Meta(description="why it was quarantined or refused")]
    tries: Annotated[int, Meta(description="how often it failed before it was quarantined")]


def pending_requests(kept: QueuedRequest) -> Waiting:
    """Return a request as shown to the operator, without the names in it."""
    at, fields = kept.fields.get("since"), kept.fields
    since = None if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
    return Waiting(
        str(kept.token), str(kept.stage), since, fields.get("by"), fields.get("reason"), fields.get("tries", 0)
    )


def answerable(kept: QueuedRequest) -> dict[str, Any]:
    """Return the fields of a request that are kept once its ids are removed, to notify the caller."""
    return {
        name: kept.fields[name] for name in ("request_id", "received", "reply", "by", "since") if name in kept.fields
    }


class Full(StoreError):
    """The inbox has no room for another request."""


class TooMany(StoreError):
    """The inbox has no room for another request of this caller."""


class Inbox:
    """The inbox of the service whose first store this is; thread-safe.

    Raises:
        StoreLocked: If another service holds it.
        StoreCorrupt: If a file in it was not written by a service.
    """

    def __init__(self, layout: Layout, disk: Disk | None = None, *, most: int = MOST) -> None:
        self._disk, self._root, self._most = disk or Disk(), layout.service, most
        self._all: dict[int, QueuedRequest] = {}
        self._waiting: Counter[str | None] = Counter()  # by caller
        self._by_token: dict[str, int] = {}
        self._mutex = threading.RLock()
        with explain_disk_errors(layout.root, _KEPT):
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
    def left_in(layout: Layout) -> list[QueuedRequest]:
        """Return the tasks in the inbox of this store, without a lock; a service may be running."""
        found: dict[int, QueuedRequest] = {}
        for stage in Stages:
            folder = layout.service / stage
            for path in sorted(folder.glob("*.json"))[:MOST] if folder.is_dir() else ():
                with suppress(FileNotFoundError):  # finished in the meantime
                    found[_number(path)] = QueuedRequest(_number(path), stage, _parse_file(path))
        return [kept for _, kept in sorted(found.items())]

    @staticmethod
    def holds_any(layout: Layout) -> bool:
        """Return whether a service whose first store this is has left unfinished tasks."""
        folders = [layout.service / stage for stage in Stages]
        return any(folder.is_dir() and any(folder.iterdir()) for folder in folders)

    def close(self) -> None:
        """Release the lock of the inbox."""
        self._lock.release()

    def accept(self, fields: Mapping[str, Any]) -> QueuedRequest:
        """Store a task durably; it will be executed once this returns.

        Raises:
            Full: If there is no room; nothing is stored.
            TooMany: If there is no room for this caller; nothing is stored.
        """
        with self._mutex:
            if sum(self._waiting.values()) >= self._most:
                raise Full(f"{self._most} requests wait to be done; try again later")
            if "by" in fields and self._waiting[fields["by"]] >= max(1, self._most * _MOST_OF_ONE // MOST):
                raise TooMany("too many requests that were sent with this token wait to be done; try again later")
            return self._add(Stages.ACCEPTED, {"since": time.time(), **fields})

    def send(self, fields: Mapping[str, Any]) -> QueuedRequest:
        """Store a message until it is delivered; discard the oldest beyond the limit for one address."""
        sent = self._add(Stages.OUTGOING, fields)
        self._let_go([kept for kept in self.at(Stages.OUTGOING) if kept.fields.get("to") == fields.get("to")])
        return sent

    def _let_go(self, kept: list[QueuedRequest]) -> None:
        for one in kept[: max(0, len(kept) - _MOST_KEPT)]:
            self.done(one)

    def retry(self, kept: QueuedRequest) -> None:
        """Move a quarantined request back to the accepted ones."""
        self.move(
            kept, Stages.ACCEPTED, {name: kept.fields[name] for name in kept.fields if name not in ("reason", "tries")}
        )

    def drop(self, kept: QueuedRequest, reason: str) -> QueuedRequest:
        """Refuse a quarantined request; a person decides about it."""
        return self.move(kept, Stages.REFUSED, answerable(kept) | {"reason": reason})

    def move(self, kept: QueuedRequest, stage: Stages, fields: Mapping[str, Any]) -> QueuedRequest:
        """Move a task to another stage, and erase its previous file."""
        moved = QueuedRequest(kept.number, stage, dict(fields))
        with self._mutex, explain_disk_errors(self._root, _KEPT):
            self._write(moved)
            self._enter(moved)
            self._disk.discard(self._path(kept))
            if stage is Stages.REFUSED:
                self._let_go(self.at(Stages.REFUSED))
        return moved

    def done(self, kept: QueuedRequest) -> None:
        """Erase the file of a finished task."""
        with self._mutex, explain_disk_errors(self._root, _KEPT):
            self._disk.discard(self._path(kept))
            self._leave(kept.number)
            if kept.token is not None:
                self._by_token.pop(kept.token, None)

    def find(self, token: str) -> QueuedRequest | None:
        """Return the unfinished request with this id; None if there is none."""
        with self._mutex:
            number = self._by_token.get(token)
            return None if number is None else self._all[number]

    def get(self, number: int) -> QueuedRequest | None:
        """Return the unfinished task with this number; None if there is none."""
        with self._mutex:
            return self._all.get(number)

    def at(self, stage: Stages) -> list[QueuedRequest]:
        """Return the tasks at this stage, in order of arrival."""
        with self._mutex:
            return [kept for _, kept in sorted(self._all.items()) if kept.stage is stage]

    def counts(self) -> dict[str, int]:
        """Return the number of tasks at each stage."""
        with self._mutex:
            stages = [kept.stage for kept in self._all.values()]
        return {str(stage): stages.count(stage) for stage in Stages}

    @property
    def guard(self) -> threading.RLock:
        """Lock to hold between checking that a request is unknown and accepting it."""
        return self._mutex

    def _add(self, stage: Stages, fields: Mapping[str, Any]) -> QueuedRequest:
        with self._mutex:
            kept = QueuedRequest(self._next, stage, dict(fields))
            self._next += 1
            with explain_disk_errors(
                self._root, "it was not accepted; free space or fix permissions, and send it again"
            ):
                try:
                    self._write(kept)
                except OSError:
                    with suppress(OSError):
                        self._disk.erase(self._path(kept))
                    raise
            self._enter(kept)
        return kept

    def _leave(self, number: int) -> None:
        before = self._all.pop(number, None)
        if before is not None and before.stage in _WAITING:
            self._waiting[before.fields.get("by")] -= 1

    def _enter(self, kept: QueuedRequest) -> None:
        self._leave(kept.number)
        if kept.stage in _WAITING:
            self._waiting[kept.fields.get("by")] += 1
        self._all[kept.number] = kept
        if kept.token is not None:
            self._by_token[kept.token] = kept.number

    def _path(self, kept: QueuedRequest) -> Path:
        return self._root / kept.stage / f"{kept.number:012d}.json"

    def _write(self, kept: QueuedRequest) -> None:
        body = json.dumps(kept.fields, allow_nan=False).encode()
        self._disk.replace(self._path(kept), journal.add_checksum(body))

    def _load(self) -> None:
        for stage in Stages:
            for path in sorted((self._root / stage).iterdir()):
                if path.name.endswith(TEMPORARY):  # a torn write: not acknowledged, or already done
                    self._disk.erase(path)
                    continue
                kept = QueuedRequest(_number(path), stage, _parse_file(path))
                before = self._all.get(kept.number)
                if before is not None:
                    self._disk.discard(self._path(before))
                self._enter(kept)


def _number(path: Path) -> int:
    try:
        return int(path.stem)
    except ValueError as error:
        raise StoreCorrupt(f"{path}: does not belong to the service; remove it") from error


def _parse_file(path: Path) -> dict[str, Any]:
    try:
        fields = limited_io.parse_json(journal.strip_checksum(read_file(path, _LONGEST)).decode())
        if not isinstance(fields, dict):
            raise TypeError("not an object")
        return fields
    except (ValueError, TypeError) as error:
        raise StoreCorrupt(
            f"{path}: not what a service wrote; restore the store from a backup, or remove the file and have that request sent again"
        ) from error

"""The single writer: a thread that executes accepted requests, publishes on schedule, and triggers notifications.

It holds the locks of the stores only while it works, so that commands can run in between. Its tasks are in the inbox,
and the times of pending edits in the ledger: a new process continues where an earlier one was killed.
"""

from __future__ import annotations

import logging
import math
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NamedTuple

from noisygd_delete_compliance import Register

from noisygd_delete.errors import SourceError, StoreError, StoreLocked
from noisygd_delete.store import Store
from noisygd_delete.store.destinations import list_destinations, wanted_release
from noisygd_delete.store.disk import Disk
from noisygd_delete.store.layout import Layout
from noisygd_delete.store.ledger import Ledger
from noisygd_delete.store.release_schedule import pending_since
from noisygd_delete.store.request_log import RequestLog
from noisygd_delete.store.tombstones import Tombstones

from .dispatcher import Dispatcher, Outcome, Pace, in_force, independent, seconds
from .inbox import Inbox, QueuedRequest, Stages, answerable
from .tracing import trace_span

_AT_ONCE = 500  # requests executed before other commands get the locks
_TOGETHER = 20  # requests executed together: the most that are repeated after a crash
_LOOKS = 60.0  # seconds between checks for releases and decisions of other commands
_AGAIN = 5.0  # seconds before the first retry, doubled at each further one
_TRIES = 5  # failures before a request is quarantined, if others succeeded in the meantime
_OUTAGE = 3600.0  # seconds of failures of every request before requests are quarantined
_HOUR = 3600.0  # seconds between retries of quarantined requests
_LOCKED = 30.0  # seconds of another process's lock before it is reported as trouble
_PATIENCE = 5.0  # seconds to wait for another process's lock

log = logging.getLogger("noisygd_delete_server")

DROPPED = "it failed repeatedly and the operator dropped it; nothing was changed"


class _Failed(NamedTuple):
    """Number of failures of a request, the first failure, and the next retry; on the monotonic clock."""

    tries: int
    since: float
    again: float


_FRESH = _Failed(0, math.inf, -math.inf)

Notify = Callable[[str, Mapping[str, Any]], None]


class Writer:
    """The writer of these stores; the register of the first records requests that no store could execute.

    Args:
        stores: Name, as clients know it, -> folder of each store.
        inbox: Queue of the requests.
        paces: Release schedule of each store.
        notify: Called with "published" or "refused" and the remaining fields of a request before it leaves the inbox;
            possibly twice.
        published: Called with the name of a store and the store after each of its releases.
        tombstones: List of erased ids, if the operator keeps one.
        disk: File operations; None means the default.
        lasts: Duration of a release by a solver (`Dispatcher`).
    """

    def __init__(
        self,
        stores: Mapping[str, Path],
        inbox: Inbox,
        paces: Mapping[str, Pace],
        *,
        notify: Notify = lambda *_: None,
        published: Callable[[str, Store], None] = lambda *_: None,
        tombstones: Tombstones | None = None,
        disk: Disk | None = None,
        lasts: float | None = None,
    ) -> None:
        self.tombstones, self._lasts = tombstones, lasts
        self.stores, self.inbox, self.paces = dict(stores), inbox, dict(paces)
        self._layouts = {name: Layout.at(path) for name, path in self.stores.items()}
        self._notify, self._published, self._disk = notify, published, disk
        self._seen: dict[str, int] = {}
        self._failures: dict[int, _Failed] = {}  # by number in the inbox
        self._worked = -math.inf  # when a request last succeeded
        self._up_to: int | None = None  # number in the inbox up to which requests are executed before the next release
        self._wake, self._stopping = threading.Event(), threading.Event()
        self._unsettled = True  # a crash may have interrupted a store's last change, which opening the store finishes
        self._thread = threading.Thread(target=self._work, name="writer", daemon=True)
        self.patience, self._next_try = _PATIENCE, 0.0
        self.trouble: str | None = None
        self._unreached: str | None = None  # why the last request failed in its source
        self.releases = self.refusals = 0

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def end(self) -> None:
        """Stop after the current step.

        Pending requests are kept, and an interrupted step is finished when the store is next opened.
        """
        self._stopping.set()
        self._wake.set()

    def join(self, until: float) -> None:
        """Wait for the thread until this time of the monotonic clock."""
        if self._thread.is_alive():
            self._thread.join(max(0.0, until - time.monotonic()))

    def notice(self) -> None:
        """Wake the thread after a task was accepted."""
        self._wake.set()

    def _work(self) -> None:
        locked: float | None = None
        while not self._stopping.is_set():
            self._wake.clear()
            try:
                pause, locked = self.turn(), None
            except StoreLocked as error:
                pause, locked = 1.0, time.monotonic() if locked is None else locked
                if time.monotonic() - locked > _LOCKED:  # longer than a command usually takes
                    self.trouble = describe_failure(error)
            except Exception as error:  # neither a single request nor a full disk may stop the service
                pause, before = _AGAIN, self.trouble
                self.trouble = describe_failure(error)
                if self.trouble != before:
                    log.error("the writer cannot go on, and tries again: %s", self.trouble)
            self._wake.wait(pause)

    def turn(self) -> float:
        """Execute the tasks that are due; return the seconds until the next check if nothing arrives."""
        accepted = [*self._ready(Stages.ACCEPTED)[:_AT_ONCE], *self._ready(Stages.QUARANTINED)[:_TOGETHER]]
        if self._unsettled or accepted or 0 in self._due().values() or self._publishers_wait():
            self._unsettled = True
            with ExitStack() as opened:
                stores = {
                    name: opened.enter_context(
                        Store.open(path, wait=self.patience, disk=self._disk, tombstones=self.tombstones)
                    )
                    for name, path in self.stores.items()
                }
                carrying = Dispatcher(stores, self.paces, self._released, self._lasts)
                self._carry_out(carrying, accepted)
                if self._caught_up():
                    self._publish_due(carrying)
            self._unsettled = False
        self._settle({kept.number for kept in accepted})
        self.trouble = self._unreached if self.inbox.at(Stages.ACCEPTED) else None
        if self._ready(Stages.ACCEPTED):
            return 0.0
        return min([_LOOKS, *self._pauses(), *(due for due in self._due().values() if due is not None)])

    def _ready(self, stage: Stages) -> list[QueuedRequest]:
        """Return the tasks at this stage, without those that wait for a retry."""
        now = time.monotonic()
        return [kept for kept in self.inbox.at(stage) if self._failures.get(kept.number, _FRESH).again <= now]

    def _pauses(self) -> Iterator[float]:
        """Yield the seconds until each retry."""
        for number, failed in list(self._failures.items()):
            kept = self.inbox.get(number)
            if kept is None or kept.stage not in (Stages.ACCEPTED, Stages.QUARANTINED):
                del self._failures[number]
            else:
                yield max(0.0, failed.again - time.monotonic())

    def _publish_due(self, carrying: Dispatcher) -> None:
        """Publish in every store where a release is due; a failing store does not block the others."""
        failed: Exception | None = None
        for name, due in self._due().items():
            try:
                if due == 0:
                    with trace_span("publish", store=name):
                        carrying.publish(name, due=True)
            except StoreLocked:
                raise
            except Exception as error:
                failed = error
        if failed is not None:
            raise failed

    def _caught_up(self) -> bool:
        """Return whether all requests are executed that were pending when a release became due.

        Pending requests share one release, and later requests do not delay it.
        """
        left = self._ready(Stages.ACCEPTED)
        if left and self._up_to is None:
            self._up_to = left[-1].number
        if left and self._up_to is not None and left[0].number <= self._up_to:
            return False
        self._up_to = None
        return True

    def _ledgers(self) -> dict[str, Ledger]:
        return {name: Ledger.read(layout.ledger) for name, layout in self._layouts.items()}

    def _due(self) -> dict[str, float | None]:
        """Return the seconds until each store is to publish; None without edits that can be published."""
        return {name: seconds_until_due(ledger, self.paces[name]) for name, ledger in self._ledgers().items()}

    def _publishers_wait(self) -> bool:
        """Return whether an outdated publisher is due for a retry, which happens on opening the store."""
        if time.monotonic() < self._next_try or not any(_behind(layout) for layout in self._layouts.values()):
            return False
        self._next_try = time.monotonic() + _LOOKS
        return True

    def _released(self, name: str, store: Store) -> None:
        self.releases += 1
        self._published(name, store)

    def _carry_out(self, carrying: Dispatcher, waiting: list[QueuedRequest]) -> None:
        while waiting and not self._stopping.is_set():
            if waiting[0].token is None:
                order = waiting.pop(0)
                try:
                    self._obey(carrying, order)
                except StoreLocked:
                    raise
                except Exception as error:
                    self._failed(carrying, order, describe_failure(error))
                continue
            ahead = next((place for place, kept in enumerate(waiting) if kept.token is None), len(waiting))
            together = independent(waiting[: min(ahead, _TOGETHER)])
            self._try(carrying, together)
            waiting = waiting[len(together) :]

    def _try(self, carrying: Dispatcher, together: list[QueuedRequest]) -> None:
        """Execute independent requests together; if that fails, one by one, so that none blocks the others."""
        with trace_span("carry out", [kept.fields.get("trace") for kept in together], requests=len(together)):
            self._carried(carrying, together)

    def _carried(self, carrying: Dispatcher, together: list[QueuedRequest]) -> None:
        try:
            outcomes = carrying.carry_out(together)
        except StoreLocked:
            raise
        except Exception as error:
            self._unreached = describe_failure(error) if isinstance(error, SourceError) else None
            if len(together) > 1:
                for kept in together:
                    if not self._stopping.is_set():
                        self._try(carrying, [kept])
            else:
                self._failed(carrying, together[0], describe_failure(error))
            return
        self._worked, self._unreached = time.monotonic(), None
        for kept, outcome in zip(together, outcomes, strict=True):
            self._failures.pop(kept.number, None)
            self._note(kept, outcome)
        log.info("%d requests were carried out", len(together))

    def _failed(self, carrying: Dispatcher, kept: QueuedRequest, reason: str) -> None:
        """Schedule a retry; after several failures quarantine the request, unless all requests fail."""
        now = time.monotonic()
        before = self._failures.get(kept.number, _FRESH)
        since, tries = min(before.since, now), before.tries + 1
        pause = _HOUR if kept.stage is Stages.QUARANTINED else min(60.0, _AGAIN * 2 ** (tries - 1))
        self._failures[kept.number] = _Failed(tries, since, now + pause)
        if kept.token is None:
            if tries >= _TRIES:
                log.error("a command to the writer failed %d times and is given up: %s", tries, reason)
                self.inbox.done(kept)
            return
        alone = len(self.inbox.at(Stages.ACCEPTED)) == 1
        if (
            kept.stage is Stages.ACCEPTED
            and tries >= _TRIES
            and (alone or self._worked > since or now - since > _OUTAGE)
        ):
            log.error("a request was quarantined after %d tries: %s", tries, reason)
            self.inbox.move(kept, Stages.QUARANTINED, {**kept.fields, "reason": reason, "tries": tries})
            self._failures[kept.number] = _Failed(tries, since, now + _HOUR)
            with suppress(StoreError):
                carrying.leave_open([kept])  # so that the register shows its deadline
        elif tries == 1:
            log.warning("a request failed, and is tried again: %s", reason)

    def _obey(self, carrying: Dispatcher, kept: QueuedRequest) -> None:
        """Execute a task for the writer itself: publish, retry or drop."""
        for name in kept.fields.get("publish", ()):
            if name in self.stores:
                with trace_span("publish", store=name):
                    carrying.publish(name)
        named = self.inbox.find(str(kept.fields.get("retry") or kept.fields.get("drop")))
        if named is not None and named.stage is Stages.QUARANTINED:
            if "retry" in kept.fields:
                self._failures.pop(named.number, None)
                self.inbox.retry(named)
            elif not carrying.begun(named):
                dropped = self.inbox.drop(named, DROPPED)
                self.refusals += 1
                self._notify("refused", dropped.fields)
        self.inbox.done(kept)

    def _note(self, kept: QueuedRequest, outcome: Outcome) -> None:
        rest = answerable(kept)
        if outcome.refused is None:
            self.inbox.move(kept, Stages.EDITED, rest | {"stores": dict(outcome.stores)})
            return
        self.refusals += 1
        self._notify("refused", rest | {"reason": outcome.refused})
        self.inbox.move(kept, Stages.REFUSED, rest | {"reason": outcome.refused})

    def _settle(self, new: set[int]) -> None:
        """Notify about requests that all stores and publishers have published.

        Remove refusals that a person has decided.
        """
        releases = {
            name: ledger.releases for name, ledger in self._ledgers().items() if not _behind(self._layouts[name])
        }
        some_new, self._seen = releases != self._seen, releases
        for kept in self.inbox.at(Stages.EDITED):
            if not (some_new or kept.number in new):
                continue
            stores = kept.fields["stores"]
            if all(name not in self.stores or releases.get(name, 0) > before for name, before in stores.items()):
                self._notify("published", kept.fields)
                self.inbox.done(kept)
        register = Register(RequestLog(next(iter(self._layouts.values()))))
        for kept in self.inbox.at(Stages.REFUSED):
            case = register.case(str(kept.token))
            if case is None or case.decision is not None or case.informed is not None:
                self.inbox.done(kept)


def seconds_until_due(ledger: Ledger, pace: Pace) -> float | None:
    """Return the seconds until pending edits are to be published: 0 if due now, None if nothing can be published."""
    since = pending_since(ledger) if in_force(ledger) else None
    return None if since is None else pace.due(ledger.head.pending, seconds(since), time.time())


def _behind(layout: Layout) -> bool:
    """Return whether a publisher of this store lacks the current release, or still holds an earlier one."""
    found = list_destinations(layout)
    return bool(found) and any(one.behind(wanted_release(Ledger.read(layout.ledger))) for one in found)


def describe_failure(error: Exception) -> str:
    """Return a failure as text for the log; only messages of the store are quoted, as others may contain records."""
    if isinstance(error, StoreError):
        return str(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {last.name}, line {last.lineno}"

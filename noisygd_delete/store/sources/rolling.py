"""The files of a store whose rows lie elsewhere, as the process that holds its lock sees them.

Rows are there for one release: read from a snapshot that must not be earlier than anything the ledger says was done, and let go of.
A deletion that is committed in the source is brought to its ledger entry and its release from wherever it stopped (`conclude`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from ...accountant import Event, EventKinds
from ...curator.curator import Release
from ...engine import CurrentRecords, Execution, rows_here
from ...errors import (
    CountBroken,
    InvalidParameter,
    NoisyGDDeleteError,
    ProcessLost,
    SourceError,
    StoreError,
)
from ...methods.plan import Plan
from ...records import EditCounts, Records
from .. import journal as stored_journal
from ..answers import pending as waiting_answer
from ..disk import Disk, explained
from ..entry import Entry, EntryKinds
from ..layout import Layout
from ..ledger import Ledger
from ..lock import Lock
from ..position import covers
from ..transaction import Rolling
from . import counting, journal
from .reading import Held, columns_of, rows_of
from .source import Accept, Done, Source

ELSEWHERE = "the rows of this store lie in {}; "
_WILL_FINISH = "the deletion is in the journal; free space or fix permissions, and the next command finishes it"
_NOTHING_PUBLISHED = "nothing was published"


class StreamedRolling(Rolling):
    """The files of such a store as the process that holds its lock sees them; rows are there while a release is made."""

    def __init__(
        self, layout: Layout, disk: Disk, ledger: Ledger, lock: Lock, source: Source, *, settled: bool
    ) -> None:
        super().__init__(layout, disk, ledger, lock, settled=settled)
        self.source = source
        self._held: CurrentRecords | None = None
        self._read: str | None = None  # the position of the snapshot that the release under way is made from
        self._counted: str | None = None  # by what the changes up to there were counted
        self._mark: str | None = None  # the newest mark of a deletion that it showed
        self._gone: list[
            tuple[Sequence[str], Sequence[str]]
        ] = []  # ids and persons deleted by this process, until a release shows it

    @property
    def held(self) -> CurrentRecords:
        if self._held is None:
            raise StoreError(
                ELSEWHERE.format(self.source.address) + "they are read for a release, and let go of after it"
            )
        return self._held

    @property
    def records(self) -> Records:
        return rows_here(self.held)

    def forget_records(self) -> None:
        self._held = None

    def run(
        self, action: str, plan: Plan, pending: EditCounts, request_id: str | None, execution: Execution
    ) -> tuple[Release, Event]:
        if execution.group.size > 1:
            raise InvalidParameter(
                ELSEWHERE.format(self.source.address) + "its releases are made by one process; run it without torchrun"
            )
        with self.snapshot(plan, execution.memory) as (records, self._read, counted, self.left_out):
            self._mark = next(iter(self._marks()), None)
            self._counted = None if counted is None else self.source.counts_by
            self._held = records
            try:
                if counted is not None:
                    with explained(self.layout.root, _NOTHING_PUBLISHED):
                        self._note_unseen(counted)
                answer = super().run(action, plan, self.pending, request_id, execution)
            finally:
                self.forget_records()
        self._gone.clear()
        return answer

    @contextmanager
    def snapshot(self, plan: Plan, memory: int | None = None) -> Iterator[Held]:
        """The rows as they are now while this is open, the position they were read at, and what changed since the last release, if
        that is counted.

        Raises:
            SourceError: they were read from a moment before something that the ledger says was done, or do not show it.
            CountBroken: what counts the changes missed some.
        """
        read = rows_of(self.source, self.schema, plan.records, self.last_read(), memory, self._done())
        with read as (records, position, counted, left_out):
            for earlier in self._reached():
                if not covers(position, earlier):
                    raise SourceError(
                        f"{self.source.address}: its rows are as they were before {earlier}, which the ledger says was reached: a copy "
                        "that lags behind, or a backup that was put back. Nothing was published. Wait for the copy, or carry out again "
                        "what was deleted since the backup, in a new store"
                    )
            self.require_counted(self.pending, counted)
            yield records, position, counted, left_out

    def _done(self) -> Done:
        """What a snapshot must show of what was done before."""
        ids, subjects = (
            (tuple(name for names in some for name in names) for some in zip(*self._gone, strict=True))
            if self._gone
            else ((), ())
        )
        return Done(tuple(self._marks()), ids, subjects, None if self.tombstones is None else self._refuse)

    def _refuse(self, ids: Iterable[str]) -> None:
        assert self.tombstones is not None
        again = sum(1 for _ in self.tombstones.among(ids))
        if again:
            raise SourceError(
                f"{self.source.address}: {again} rows there have ids that were erased before, by {self.tombstones.path}: a dump or a backup was put back, or "
                "an application wrote them again. Nothing was published; delete them again (`delete STORE --returned` finds them by the list)"
            )

    def delete(self, ids: list[str], subjects: list[str], accept: Accept) -> str:
        """`Source.delete`, remembered until a release shows it."""

        def mind(mark: str, gone: Sequence[str]) -> None:
            if self.tombstones is not None:
                self.tombstones.add(gone, self.disk)
            accept(mark, gone)

        position = self.source.delete(ids, subjects, mind)
        self._gone.append((ids, subjects))
        return position

    def mind_gone(self, ids: Sequence[str]) -> None:
        """Remember ids that an application has deleted until a release shows it."""
        if self.tombstones is not None:
            self.tombstones.add(ids, self.disk)
        self._gone.append((list(ids), []))

    def require_counted(self, told: EditCounts, counted: EditCounts | None) -> None:
        """Raise unless whatever was told to be erased is among what was written, where that is counted."""
        missing = counting.missing(told, counted) if counted and self.source.counts_by == "trigger" else 0
        if missing:
            raise CountBroken(
                f"{self.source.address}: {told.erased} rows were told to be erased since the last release, and the trigger there counted "
                f"{told.erased - missing}. Nothing was published. Look which of the two is wrong; where it is the trigger, `watch` "
                "counts anew"
            )

    def last_read(self) -> str | None:
        """The position of the newest release."""
        place = self.ledger.made(self.ledger.model_release) if self.ledger.releases else None
        return None if place is None else self.ledger.entry(place).position

    def changes(self) -> EditCounts | None:
        """What changed since the newest release by the source's own count; None: it was not counted."""
        since = self.last_read()
        if since is None or self.source.counts_by is None:
            return None
        with self.source.snapshot(columns_of(self.schema), since) as now:
            return now.changes

    def _made(self, place: int) -> bool:
        """Whether this entry is of a model: numbers about the records are not read from the source's own moment."""
        event = self.ledger.entry(place).event
        return event is not None and event["kind"] != EventKinds.STATISTIC

    def _note_unseen(self, counted: EditCounts) -> None:
        """An entry of its own for the changes that nobody told of; those found before, whose release failed, are among the told."""
        changes = counting.unseen(self.pending, counted)
        if changes.total:
            answer, head = waiting_answer(self.ledger, self.pending + changes, None), self.ledger.head
            self._append(EntryKinds.EDIT, answer, head.model, withdrawn=head.withdrawn)

    def _last(self) -> Iterator[Entry]:
        """The newest release and whatever came after it, the newest first."""
        for place in range(self.ledger.length - 1, -1, -1):
            yield self.ledger.entry(place)
            if self._made(place):
                break

    def _reached(self) -> list[str]:
        """The last positions that the ledger knows of: of the newest release, and of every deletion since."""
        return [entry.position for entry in self._last() if entry.position is not None]

    def _marks(self) -> list[str]:
        """The marks of deletions that a snapshot must show, the newest first: each release saw those before it."""
        return [entry.mark for entry in self._last() if entry.mark is not None]

    def _append(
        self, kind: EntryKinds, release: Release, model: str | None, edits: Sequence[Entry] = (), **facts: Any
    ) -> None:
        super()._append(
            kind,
            release,
            model,
            edits,
            **{"position": self._read, "counted": self._counted, "mark": self._mark, **facts},
        )

    def note(self, counts: EditCounts, position: str, request_id: str | None, mark: str | None = None) -> None:
        """The entry that rows were deleted in the source, at this position: a later release will cover them."""
        answer, head = waiting_answer(self.ledger, self.pending + counts, request_id), self.ledger.head
        facts: dict[str, Any] = {"position": position, "mark": mark, "counted": None, "withdrawn": head.withdrawn}
        self._append(EntryKinds.EDIT, answer, head.model, **facts)

    def _interrupted(self) -> Callable[[Execution], Release | None] | None:
        deletion = journal.begun(self.layout)
        if deletion is None:
            return None
        stored_journal.require_base(deletion.base, None, self.ledger)
        noted = self.ledger.length > deletion.base
        answered = any(map(self._answers, range(deletion.base, self.ledger.length)))
        if noted and (answered or not (deletion.publish and self.ledger.releases)):
            return lambda _: stored_journal.clear(self.disk, self.layout)
        return partial(self._go_on, deletion, noted)

    def _answers(self, place: int) -> bool:
        """Whether this entry publishes what was edited before it, or says that it cannot be."""
        return self._made(place) or self.ledger.entry(place).kind is EntryKinds.WITHHELD

    def _go_on(self, deletion: journal.Deletion, noted: bool, execution: Execution) -> Release | None:
        if noted:
            return self.conclude(deletion, None, execution)
        position = self.source.committed(deletion.mark)
        if position is None:  # it never happened, and nobody was told that it did
            stored_journal.clear(self.disk, self.layout)
            return None
        return self.conclude(deletion, position, execution)

    def conclude(self, deletion: journal.Deletion, position: str | None, execution: Execution) -> Release:
        """The rest of a deletion that is committed in the source at this position; None: the ledger has noted it."""
        with explained(self.layout.root, _WILL_FINISH):
            if position is not None:
                self.note(deletion.counts, position, deletion.request_id, self.source.trace(deletion.mark))
            release = waiting_answer(self.ledger, self.pending, deletion.request_id)
            failure: NoisyGDDeleteError | None = None
            if deletion.publish and self.ledger.releases:
                try:
                    release = replace(self.released(self.pending, None, execution), request_id=deletion.request_id)
                except CountBroken as error:
                    failure = error  # nothing that the next command could go on with by itself
                except (StoreError, ProcessLost):
                    raise
                except NoisyGDDeleteError as error:
                    failure = error
            self.catch_up()
            stored_journal.clear(self.disk, self.layout)
        if failure is not None:
            raise StoreError(
                f"{self.layout.root}: the rows are deleted in the source and {self.pending_edits} edits wait for a release, but none could "
                f"be made: {failure}"
            ) from failure
        return release

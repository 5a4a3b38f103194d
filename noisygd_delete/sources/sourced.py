"""A store whose rows lie elsewhere: it holds plan, model and ledger, never a row and never an id.

    journal (a mark and a number) → DELETE committed in the source → ledger: deleted there, at this position
        → one snapshot, later than that → the release → ledger: published, from this position → clear the journal

A crash before the commit deletes nothing and leaves nothing; after it, the next command finds the mark in the source and goes on.
An erasure counts from the first release whose snapshot is later than its commit: an earlier snapshot is refused.

Rows come in any order and change without this store's knowledge. So a plan must start every release anew, and its proof must
bound the rounding of gradients summed in whatever order: the solver's does, in float64; that of noisy steps rests on blocks of
rows that stay where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

from ..accountant import Event, EventKinds
from ..curator.curator import OTHER_REQUEST, Release
from ..curator.learning import check_fit
from ..engine import CurrentRecords, Execution, rows_here
from ..errors import (
    CountBroken,
    InvalidParameter,
    InvalidRequest,
    NoisyGDDeleteError,
    ProcessLost,
    SourceError,
    StoreError,
    count,
)
from ..methods.plan import Plan
from ..records import EditCounts, EditRequest, Records
from ..register import Case
from ..schema import Encoded, Schema
from ..store import journal as stored_journal
from ..store import presence, table
from ..store.answers import pending as waiting_answer
from ..store.disk import Disk, explained
from ..store.entry import EntryKinds
from ..store.layout import Layout
from ..store.ledger import Ledger
from ..store.position import checked, covers
from ..store.store import Store
from ..store.suppression import Tombstones
from ..store.transaction import Rolling
from . import counting, journal
from .opening import source_from
from .reading import Held, columns_of, require_any_order, rows_of
from .scratch import ScratchRecords
from .source import Source

_WILL_FINISH = "the deletion is in the journal; free space or fix permissions, and the next command finishes it"
_NOTHING_PUBLISHED = "nothing was published"
_ELSEWHERE = "the rows of this store lie in {}; "


class StreamedRolling(Rolling):
    """The files of such a store as the process that holds its lock sees them; rows are there while a release is made."""

    def __init__(self, layout: Layout, disk: Disk, ledger: Ledger, source: Source, *, settled: bool) -> None:
        super().__init__(layout, disk, ledger, settled=settled)
        self.source = source
        self._held: CurrentRecords | None = None
        self._read: str | None = None  # the position of the snapshot that the release under way is made from
        self._counted: str | None = None  # by what the changes up to there were counted

    @property
    def held(self) -> CurrentRecords:
        if self._held is None:
            raise StoreError(
                _ELSEWHERE.format(self.source.address) + "they are read for a release, and let go of after it"
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
                _ELSEWHERE.format(self.source.address) + "its releases are made by one process; run it without torchrun"
            )
        with self.snapshot(plan, execution.memory) as (records, self._read, counted):
            self._counted = None if counted is None else self.source.counts_by
            self._held = records
            try:
                if counted is not None:
                    with explained(self.layout.root, _NOTHING_PUBLISHED):
                        self._note_unseen(counted)
                return super().run(action, plan, self.pending, request_id, execution)
            finally:
                self.forget_records()

    @contextmanager
    def snapshot(self, plan: Plan, memory: int | None = None) -> Iterator[Held]:
        """The rows as they are now while this is open, the position they were read at, and what changed since the last release, if
        that is counted.

        Raises:
            SourceError: they were read from a moment before something that the ledger says was done.
            CountBroken: what counts the changes missed some.
        """
        read = rows_of(self.source, self.schema, plan.records, self.last_read(), memory)
        with read as (records, position, counted):
            for earlier in self._reached():
                if not covers(position, earlier):
                    raise SourceError(
                        f"{self.source.address}: its rows are as they were before {earlier}, which the ledger says was reached: a copy "
                        "that lags behind, or a backup that was put back. Nothing was published. Wait for the copy, or carry out again "
                        "what was deleted since the backup, in a new store"
                    )
            self.require_counted(self.pending, counted)
            yield records, position, counted

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

    def _reached(self) -> list[str]:
        """The last positions that the ledger knows of: of the newest release, and of every deletion since."""
        found: list[str] = []
        for place in range(self.ledger.length - 1, -1, -1):
            entry = self.ledger.entry(place)
            if entry.position is not None:
                found.append(entry.position)
            if self._made(place):
                break
        return found

    def _append(self, kind: EntryKinds, release: Release, model: str | None, **facts: Any) -> None:
        super()._append(kind, release, model, **{"position": self._read, "counted": self._counted, **facts})

    def note(self, counts: EditCounts, position: str, request_id: str | None) -> None:
        """The entry that rows were deleted in the source, at this position: a later release will cover them."""
        answer, head = waiting_answer(self.ledger, self.pending + counts, request_id), self.ledger.head
        self._append(EntryKinds.EDIT, answer, head.model, position=position, counted=None, withdrawn=head.withdrawn)

    def _interrupted(self) -> Callable[[Execution], Release | None] | None:
        deletion = journal.begun(self.layout)
        if deletion is None:
            return None
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
                self.note(deletion.counts, position, deletion.request_id)
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


class SourcedStore(Store):
    """A model, its plan and its ledger in one folder; the rows in a `Source`. Used as a `Store` is.

    `serve` deletes in the source; where the application does, `publish(erased=N)` says so and publishes.
    """

    _rolling: StreamedRolling

    @classmethod
    def found(
        cls,
        path: str | Path,
        source: Source,
        schema: Schema,
        plan: Plan,
        *,
        disk: Disk | None = None,
        memory: int | None = None,
    ) -> Self:
        """A new store in `path` for the rows of this source, which are read once to see that they fit the plan.

        Raises:
            InvalidParameter: the plan does not suit rows that come in any order and change unseen.
            InvalidSchema, InvalidRecords, AssumptionViolated: the rows are not those of schema and plan; nothing was written.
            SourceError: the source cannot be read. StoreError: there is something at `path` already.
        """
        cls.suits(source, schema, plan, memory)
        return cls._founded(path, schema, plan, disk or Disk(), source=source.to_dict())

    @staticmethod
    def suits(source: Source, schema: Schema, plan: Plan, memory: int | None = None) -> None:
        """Raise what `found` would, whatever is at its path; nothing is written."""
        require_any_order(plan)
        if schema.id_column != source.id or schema.subject_column != source.subject:
            raise InvalidParameter("schema and source name different columns of ids or of persons")
        if source.rows_per_subject != plan.problem.rows_per_subject or schema.features != plan.features:
            raise InvalidParameter("source, schema and plan differ in rows_per_subject or in features")
        if schema.feature_map != plan.problem.feature_map:
            raise InvalidParameter(
                "schema and plan differ in their public map; give make_plan(feature_map=schema.feature_map)"
            )
        with rows_of(source, schema, plan.records, memory=memory) as (records, *_):
            check_fit(records, plan)

    @classmethod
    def _opened_as(cls, layout: Layout, disk: Disk, ledger: Ledger, *, settled: bool) -> Rolling:
        if ledger.source is None:
            raise StoreError(f"{layout.root}: a store that holds its rows itself; open it with Store.open")
        return StreamedRolling(layout, disk, ledger, source_from(ledger.source), settled=settled)

    @property
    def source(self) -> Source:
        return self._rolling.source

    def relearn(
        self, plan: Plan | None = None, *, request_id: str | None = None, execution: Execution | None = None
    ) -> Release:
        require_any_order(plan or self.plan)
        return super().relearn(plan, request_id=request_id, execution=execution)

    def publish(
        self,
        *,
        redo: bool = False,
        request_id: str | None = None,
        execution: Execution | None = None,
        erased: int | None = None,
        position: str | None = None,
    ) -> Release:
        """One release from a snapshot of the source as it is now. Without an edit pending, where the source itself counted some.

        Args:
            erased: rows that the application has deleted in the source for this request, and committed.
            position: of that commit, where the application knows it; default: of now, before the snapshot.
        """
        execution = execution or Execution()
        if erased is None:
            if position is not None:
                raise InvalidParameter(
                    "position belongs to a deletion that was made in the source: give erased as well"
                )
            redo = redo or (self.ledger.position(request_id) is None and self._changed())
            return super().publish(redo=redo, request_id=request_id, execution=execution)
        counts = EditCounts(deleted=count("erased", erased))
        with self._rolling.changing(execution):
            place = self.ledger.position(request_id)
            if place is not None:
                if self.ledger.edited(place) != counts:
                    raise InvalidRequest(OTHER_REQUEST)
                return self._told(request_id)
            at = self.source.position() if position is None else checked(position)
            if position is not None and not covers(self.source.position(), at):
                raise InvalidRequest(
                    f"{self.source.address} has not reached {at}: nothing was committed there; nothing was changed"
                )
            self._rolling.require_counted(self._rolling.pending + counts, self._rolling.changes())
            with explained(self.path, "nothing was changed"):
                self._rolling.note(counts, at, request_id)
            if not self.ledger.releases:
                return waiting_answer(self.ledger, self._rolling.pending, request_id)
        return replace(super().publish(execution=execution), request_id=request_id)

    def _changed(self) -> bool:
        """Whether the source counted changes since the last release that nobody told of."""
        if self.pending_edits:
            return False
        changes = self._rolling.changes()
        return changes is not None and changes.total > 0

    def watch(self) -> EditCounts | None:
        """Have the source count what changes there unseen; so many since the last release, where it did already.

        Raises:
            InvalidParameter: it has no way to. SourceError: it refuses.
        """
        return self.source.watch(columns_of(self.schema), self._rolling.last_read())

    def serve(
        self,
        request: EditRequest,
        *,
        publish: bool = True,
        case: Case | None = None,
        execution: Execution | None = None,
    ) -> Release:
        """Delete the rows in the source, then publish from a later snapshot, unless `publish=False` leaves that to a later call.

        Raises:
            InvalidRequest: with nothing changed; also for edits that are not deletions.
            SourceError: the source did not answer. If the deletion was committed there, the next call goes on from it.
        """
        execution, request = execution or Execution(), _deletion_of(request, self.source)
        with self._rolling.changing(execution):
            if self.repeats(request):
                return self._told(request.request_id)
            begun: list[journal.Deletion] = []

            def accept(mark: str, rows: int) -> None:
                begun.append(journal.Deletion(self.ledger.length, mark, rows, publish, request.request_id))
                with explained(self.path, "nothing was changed"):
                    self._note(request, case)
                    journal.begin(self._rolling.disk, self._rolling.layout, begun[0])

            names = [list(map(str, names)) for names in (request.deletions, request.subjects)]
            position = self.source.delete(names[0], names[1], accept)
            return self._rolling.conclude(begun[0], position, execution)

    def edit_all(self, requests: Any) -> tuple[list[InvalidRequest | None], int]:
        outcomes: list[InvalidRequest | None] = []
        before = self.ledger.length
        for request in requests:
            try:
                self.serve(request, publish=False)
                outcomes.append(None)
            except InvalidRequest as error:
                outcomes.append(error)
        return outcomes, self.ledger.length - before

    def _foreseen(self, request: EditRequest) -> EditCounts:
        request = _deletion_of(request, self.source)
        ids, subjects = (list(map(str, names)) for names in (request.deletions, request.subjects))
        rows = self.source.held(ids, subjects)
        if rows < len(ids) + len(subjects):
            raise InvalidRequest("not all that the request names are in the table; nothing was changed")
        return EditCounts(deleted=rows)

    def rows_in_table(self, encoded: Encoded) -> int:
        if encoded.ids is not None and self.source.table is not None:
            return self.source.held(list(map(str, encoded.ids)), [])
        with self._rolling.snapshot(self.plan) as (records, *_):
            parts = records.parts() if isinstance(records, ScratchRecords) else table.parts(rows_here(records))
            return table.equal_rows(parts, encoded)

    def repeats(self, request: EditRequest) -> bool:
        place = self.ledger.position(request.request_id)
        if place is None:
            return False
        edited, names = self.ledger.edited(place), table.in_text(request)
        as_many = (
            edited.deleted == len(names.deletions) if not names.subjects else edited.deleted >= len(names.subjects)
        )
        texts = [list(map(str, found)) for found in (names.deletions, names.subjects)]
        if not as_many or self.source.held(texts[0], texts[1]):
            raise InvalidRequest(OTHER_REQUEST)
        return True


def _deletion_of(request: EditRequest, source: Source) -> EditRequest:
    if request.replacements or request.insertion is not None:
        raise InvalidRequest(
            _ELSEWHERE.format(source.address)
            + "change them there, and publish --redo: every release reads the rows as they are"
        )
    return table.in_text(request)


def open_store(
    path: str | Path,
    *,
    wait: float = 0.0,
    disk: Disk | None = None,
    tombstones: Tombstones | None = None,
    execution: Execution | None = None,
) -> Store:
    """The store at `path`, of whichever kind: see `Store.open`."""
    layout = Layout.at(path)
    presence.require_store(layout)
    kind: type[Store] = Store if Ledger.read(layout.ledger).source is None else SourcedStore
    if tombstones is not None and kind is SourcedStore:
        raise InvalidParameter(
            "tombstones refuse ids, which a store whose rows lie elsewhere does not read; leave them out"
        )
    return kind.open(path, wait=wait, disk=disk, tombstones=tombstones, execution=execution)

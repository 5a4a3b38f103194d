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

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

from ...curator.curator import OTHER_REQUEST, Release
from ...curator.learning import check_fit
from ...engine import Execution, rows_here
from ...errors import InvalidParameter, InvalidRequest, StoreError, count
from ...features.schema import Encoded, Schema
from ...methods.plan import Plan
from ...records import EditCounts, EditRequest
from ...register import Case
from .. import presence, table
from ..answers import pending as waiting_answer
from ..disk import Disk, explained
from ..layout import Layout
from ..ledger import Ledger
from ..lock import Lock
from ..position import checked, covers
from ..store import Store
from ..suppression import Tombstones
from ..together import Edited
from ..transaction import Rolling
from . import journal
from .events import Erased
from .opening import source_from
from .reading import columns_of, require_any_order, rows_of
from .rolling import ELSEWHERE, StreamedRolling
from .scratch import ScratchRecords
from .source import Source, came_back


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
        plan = plan.in_any_order()
        return cls._founded(path, schema, disk or Disk(), lambda disk, layout: plan, source=source.to_dict())

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
        source.check()
        with rows_of(source, schema, plan.records, memory=memory) as (records, *_):
            check_fit(records, plan)

    @classmethod
    def _opened_as(cls, layout: Layout, disk: Disk, ledger: Ledger, lock: Lock, *, settled: bool) -> Rolling:
        if ledger.source is None:
            raise StoreError(f"{layout.root}: a store that holds its rows itself; open it with Store.open")
        return StreamedRolling(layout, disk, ledger, lock, source_from(ledger.source), settled=settled)

    @property
    def source(self) -> Source:
        return self._rolling.source

    def relearn(
        self, plan: Plan | None = None, *, request_id: str | None = None, execution: Execution | None = None
    ) -> Release:
        require_any_order(plan or self.plan)
        if plan is not None and plan.problem.rows_per_subject != self.source.rows_per_subject:
            raise InvalidParameter(
                f"{self.path}: the plan is for {plan.problem.rows_per_subject} rows of one person, and the source gives "
                f"{self.source.rows_per_subject}; make a new store for another number"
            )
        plan = None if plan is None else plan.in_any_order()
        return super().relearn(plan, request_id=request_id, execution=execution)

    def publish(
        self,
        *,
        redo: bool = False,
        request_id: str | None = None,
        execution: Execution | None = None,
        unused_dates: int | None = None,
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
            return super().publish(redo=redo, request_id=request_id, execution=execution, unused_dates=unused_dates)
        counts = EditCounts(deleted=count("erased", erased))
        with self._rolling.changing(execution):
            place = self.ledger.position(request_id)
            if place is not None:
                if self.ledger.edited(place) != counts:
                    raise InvalidRequest(OTHER_REQUEST)
                return self._told(request_id)
            self._note_deleted(counts, position, request_id)
            if not self.ledger.releases:
                return waiting_answer(self.ledger, self._rolling.pending, request_id)
        return replace(super().publish(execution=execution), request_id=request_id)

    def note_erased(self, found: Iterable[Erased], execution: Execution | None = None) -> int:
        """Note what an application deleted, each request once; how many requests were new. `publish` covers them. What the last release
        covers already, because its trigger counted it before it was told, is none.

        Raises:
            InvalidRequest: the source has not reached a position, or a request was noted with another number of rows.
            SourceError: a row that is said to be deleted is still there; nothing was noted of that request or a later one.
        """
        new = 0
        with self._rolling.changing(execution or Execution()):
            for one in found:
                counts, place = EditCounts(deleted=one.rows), self.ledger.position(one.request_id)
                if place is not None:
                    if self.ledger.edited(place) != counts:
                        raise InvalidRequest(OTHER_REQUEST)
                    continue
                last = self._rolling.last_read()
                if last and one.position and self.source.counts_by == "trigger" and covers(last, checked(one.position)):
                    continue  # it came late: a release has read the rows without it, and the trigger has counted it
                still = self.source.held(one.ids, [], names=True) if one.ids and self.source.table else 0
                if still:
                    raise came_back(self.source.address, still)
                self._note_deleted(counts, one.position, one.request_id)
                self._rolling.mind_gone(one.ids)
                new += 1
        return new

    def _note_deleted(self, counts: EditCounts, position: str | None, request_id: str | None) -> None:
        at = self.source.position() if position is None else checked(position)
        if position is not None and not covers(self.source.position(), at):
            raise InvalidRequest(
                f"{self.source.address} has not reached {at}: nothing was committed there; nothing was changed"
            )
        self._rolling.require_counted(self._rolling.pending + counts, self._rolling.changes())
        with explained(self.path, "nothing was changed"):
            self._rolling.note(counts, at, request_id)

    def _changed(self) -> bool:
        """Whether the source counted changes since the last release that nobody told of."""
        if self.pending_edits:
            return False
        changes = self._rolling.changes()
        return changes is not None and changes.total > 0

    def _names(self) -> Iterable[str]:
        return self.source.names(self.source.id)

    def watch(self) -> EditCounts | None:
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

            def accept(mark: str, gone: Sequence[str]) -> None:
                begun.append(journal.Deletion(self.ledger.length, mark, len(gone), publish, request.request_id))
                with explained(self.path, "nothing was changed"):
                    self._note(request, case)
                    journal.begin(self._rolling.disk, self._rolling.layout, begun[0])

            names = [list(map(str, names)) for names in (request.deletions, request.subjects)]
            position = self._rolling.delete(names[0], names[1], accept)
            return self._rolling.conclude(begun[0], position, execution)

    def edit_all(
        self, requests: Sequence[EditRequest], *, publish_from: int | None = None, execution: Execution | None = None
    ) -> Edited:
        """As of a `Store`, one request after the other; a release is left to a later call."""
        outcomes: list[InvalidRequest | None] = []
        before = self.ledger.length
        for request in requests:
            try:
                self.serve(request, publish=False)
                outcomes.append(None)
            except InvalidRequest as error:
                outcomes.append(error)
        return Edited(outcomes, self.ledger.length - before)

    def _foreseen(self, request: EditRequest) -> EditCounts:
        request = _deletion_of(request, self.source)
        ids, subjects = (list(map(str, names)) for names in (request.deletions, request.subjects))
        if self.source.held(ids, subjects, names=True) < len(ids) + len(
            subjects
        ):  # rows may be more: an id can stand there twice
            raise InvalidRequest("not all that the request names are in the table; nothing was changed")
        return EditCounts(deleted=self.source.held(ids, subjects))

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
        as_many = edited.deleted >= max(len(names.deletions), len(names.subjects))  # a name can stand in several rows
        texts = [list(map(str, found)) for found in (names.deletions, names.subjects)]
        if not as_many or self.source.held(texts[0], texts[1]):
            raise InvalidRequest(OTHER_REQUEST)
        return True


def _deletion_of(request: EditRequest, source: Source) -> EditRequest:
    if request.replacements or request.insertion is not None:
        raise InvalidRequest(
            ELSEWHERE.format(source.address)
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
    return kind.open(path, wait=wait, disk=disk, tombstones=tombstones, execution=execution)

"""The on-disk curator: each request is one transaction that is only ever rolled forward (see `transaction`).

A request is validated in full before it enters the journal. Opening a store completes the request in its journal, with
fresh noise. The folder holds only the files listed in `layout`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from ..accountant import Accountant, Event, EventKinds
from ..accountant.events import is_within_budget
from ..curator.learning import check_edit
from ..curator.model import Model
from ..curator.release import Release, make_release
from ..engine import Execution
from ..errors import BudgetExceeded, InvalidParameter, InvalidRequest, NotLearned, StoreError, UnknownName, check_count
from ..methods import Mechanism
from ..methods.plan import Plan
from ..records import NO_EDITS, EditCounts, EditRequest, Records, check_token
from . import creation, destinations, models, training_table
from .destinations import Destination, DestinationFile
from .disk import Disk, explain_disk_errors, require_store
from .entry import EntryKinds
from .held_out import find_held_out, write_held_out
from .layout import Layout, Lock
from .ledger import Ledger
from .request_log import NoteUpdate, RequestLog
from .source_kinds import source_from
from .training_table import NOTHING_CHANGED, OpenedStore, TrainingTable
from .transaction import StoreTransaction

if TYPE_CHECKING:
    from ..features.schema import RecordFile, Schema
    from . import table_import
    from .batch import BatchResult, RequestBatch
    from .source_kinds import Erased, ExternalSource
    from .tombstones import Tombstones

_PRESENT = "the ledger says what has happened; free space or fix permissions, and the next command goes on from there"


class DryRun(StoreError):
    """A dry run of the creation succeeded; the files it wrote are removed."""


class Store:
    """A training set, its model and its ledger in one folder, opened for writing.

    Create a store with `Store.create`, or with `Store.create_over` if the rows remain in an external source; open
    either with `Store.open`. Use it as a context manager, or call `close`. Ids and subjects are text.

    Attributes:
        table: The rows, in the store or in a source.
        source: The source that holds the rows; None if the store holds them itself.
    """

    stateless: bool = False  # whether this session keeps nothing of the rows but them, the model and the ledger
    source: ExternalSource | None = None

    def __init__(self, rolling: StoreTransaction) -> None:
        self._rolling, self._files, self.table = rolling, rolling.files, rolling.table

    @classmethod
    def create(
        cls,
        path: str | Path,
        records: Records,
        schema: Schema,
        plan: Plan,
        *,
        disk: Disk | None = None,
    ) -> Self:
        """Create a store in `path`, which must be absent, empty, or left over from an interrupted `create`.

        Args:
            path: Folder of the store.
            records: The rows, labels, ids and data subjects.
            schema: The schema of the table.
            plan: The plan of every release.
            disk: The file operations; another one injects faults.

        Raises:
            InvalidRecords, AssumptionViolated: If the records do not match the plan; nothing was written.
            StoreError: If `path` holds something else.
        """
        creation.check_records(records, schema, plan)
        creation.check_place(path)
        if schema.codec is not None:
            records = records.as_codes(schema.codec)

        def write(disk: Disk, layout: Layout) -> Plan:
            training_table.write_table(disk, layout, records)
            return plan

        return cls._over(creation.create_store(path, schema, disk or Disk(), write), settled=True)

    @classmethod
    def create_from(
        cls,
        path: str | Path,
        reading: RecordFile,
        schema: Schema,
        plan_for: table_import.PlanFor,
        *,
        tombstones: Tombstones | None = None,
        disk: Disk | None = None,
        dry_run: bool = False,
    ) -> Self:
        """Create a store from a file, written block by block, so that memory use does not grow with the file.

        Args:
            path: The folder of the store; see `create`.
            reading: The file of records.
            schema: The schema of the store: that of `reading`, unless `reading` numbers the records.
            plan_for: Returns the plan for a given number of records. An exception it raises ends the creation.
            tombstones: A list of erased ids; the file must contain none of them.
            disk: The file operations; the default is `Disk()`.
            dry_run: Raise `DryRun` at the end and erase everything that was written.

        Raises:
            InvalidSchema, InvalidRecords, AssumptionViolated: If the records do not match schema and plan. What had
                been written of them was erased.
            StoreError: If `path` holds something else.
        """
        from .table_import import fill_table as filled

        def fill(disk: Disk, layout: Layout) -> Plan:
            plan, records = filled(disk, layout, reading, plan_for, tombstones)
            creation.check_records(records, schema, plan)
            if dry_run:
                raise DryRun
            if reading.held_out is not None:
                write_held_out(disk, layout, *reading.held_out.names())
            return plan

        creation.check_place(path)
        return cls._over(creation.create_store(path, schema, disk or Disk(), fill), settled=True)

    @classmethod
    def create_over(
        cls,
        path: str | Path,
        source: ExternalSource,
        schema: Schema,
        plan: Plan,
        *,
        disk: Disk | None = None,
        memory: int | None = None,
    ) -> Self:
        """Create a store over rows that remain in a source.

        The store holds a model, its plan and its ledger, never a row or an id. `serve` deletes rows in the source. If
        the application deletes them itself, `publish(erased=N)` reports the deletion and publishes.

        Args:
            path: The folder of the store; see `create`.
            source: Where the rows are stored.
            schema: The schema of the rows.
            plan: The plan of the store.
            disk: The file operations; the default is `Disk()`.
            memory: Bytes of rows to hold during the one read that checks that they fit the plan; see
                `source_kinds.ExternalSource.check_over`.

        Raises:
            InvalidParameter: If the plan is not valid for rows that come in any order and may change without notice.
            InvalidSchema, InvalidRecords, AssumptionViolated: If the rows do not match schema and plan; nothing was
                written.
            SourceError: If the source cannot be read.
            StoreError: If `path` holds something else.
        """
        source.check_over(schema, plan, memory)
        plan = plan.allow_any_order()
        files = creation.create_store(path, schema, disk or Disk(), lambda *_: plan, source=source.to_dict())
        return cls._over(files, settled=True)

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        wait: float = 0.0,
        stateless: bool = False,
        disk: Disk | None = None,
        tombstones: Tombstones | None = None,
        execution: Execution | None = None,
    ) -> Self:
        """Open the store at `path`, after completing any request that was interrupted.

        Args:
            path: The folder of the store.
            wait: Seconds to wait for the lock.
            stateless: Refuse, in this session, whatever keeps more of the rows between two calls than the rows themselves,
                the published model and the ledger: edits whose release is deferred, by a method that carries noise from
                one release to the next (`sufficient-statistics`), because a patch of noisy sums is kept with them. No other method keeps
                more.
            disk: The file operations; the default is `Disk()`.
            tombstones: A list kept outside the store: ids erased from now on are recorded there, and ids recorded there
                are refused.
            execution: How to run the interrupted request. In a process group, every process except 0 calls
                `follow_group` instead.

        Raises:
            StoreLocked: If another process still holds the lock after `wait` seconds.
            StoreCorrupt: If the files contradict one another.
            InvalidParameter: If `stateless` is set and the store holds a patch.
        """
        layout, disk = Layout.at(path), disk or Disk()
        require_store(layout)
        with explain_disk_errors(layout.root, _PRESENT):
            lock = Lock(layout.lock, wait)
            try:
                ledger = Ledger.read(layout.ledger)
                if ledger.source is not None or layout.publishers.exists():  # needs the schema
                    ledger.read_schema()
                store = cls._over(OpenedStore(layout, disk, lock, ledger), settled=False)
                store._files.tombstones = tombstones
                with store._rolling.run_change(execution or Execution()):
                    if stateless and layout.patch.exists():
                        raise InvalidParameter(
                            f"{layout.root}: {store.pending_edits} edits wait with a patch of noisy sums, which a stateless store does not "
                            "keep; open it without stateless=True and call publish first"
                        )
                    store.stateless = stateless
                    return store
            except BaseException:
                lock.release()
                raise

    @classmethod
    def _over(cls, files: OpenedStore, *, settled: bool) -> Self:
        try:
            source = None if files.ledger.source is None else source_from(files.ledger.source)
            table = TrainingTable(files) if source is None else source.open_table(files)
        except BaseException:
            files.lock.release()
            raise
        store = cls(StoreTransaction(files, table, settled=settled))
        store.source = source
        return store

    def close(self) -> None:
        """Release the lock, so that other processes can write."""
        self.table.forget()
        self._files.lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @property
    def path(self) -> Path:
        """The folder of the store."""
        return self._files.layout.root

    @property
    def recovered_release(self) -> Release | None:
        """The release of a request that a crash had interrupted and opening completed; None if there was none."""
        return self._rolling.recovered

    @property
    def ledger(self) -> Ledger:
        """The ledger after the last entry."""
        return self._files.ledger

    @property
    def request_log(self) -> RequestLog:
        """The request ids, and a note about each request."""
        return RequestLog(self._files.layout, self._files.disk)

    @property
    def plan(self) -> Plan:
        """The current plan."""
        return self.ledger.plan

    @property
    def schema(self) -> Schema:
        """The schema of the store."""
        return self._files.schema

    @property
    def accountant(self) -> Accountant:
        """The accountant of every release so far, as a copy."""
        return self.ledger.accountant

    def list_reappeared_ids(self) -> list[str]:
        """Return the ids in the table that were erased before, according to the tombstone list of this store.

        Raises:
            InvalidParameter: If the store was opened without a tombstone list.
        """
        if self._files.tombstones is None:
            raise InvalidParameter(
                "which ids were erased before is known by a list alone: give --tombstones and --tombstone-key"
            )
        return list(map(str, self._files.tombstones.among(self.table.names())))

    @property
    def pending_edits(self) -> int:
        """The number of edits that no release covers yet."""
        return self._files.pending.total

    @property
    def records(self) -> Records:
        """The table; rows are read from the file as they are needed.

        Raises:
            StoreError: If the rows are in a source.
        """
        return self.table.records

    @property
    def model(self) -> Model:
        """The current model.

        Raises:
            NotLearned: If there is none: before the first `learn`, after the budget refused a publication, or while the
                model is withdrawn.
        """
        if self.ledger.head.withdrawn:
            raise NotLearned(f"{self.path}: the model was taken out of service; publish puts the next one in its place")
        model = self._files.model()
        if model is None:
            raise NotLearned(
                f"{self.path}: there is no current model; run learn, or relearn after a withheld publication"
            )
        return model

    def learn(self, *, request_id: str | None = None, execution: Execution | None = None) -> Release:
        """Train from the initial law and publish the first model.

        Raises:
            InvalidParameter: If a model was published before.

        Warns:
            NothingPromised: If the plan takes no step to learn, or its bound on the excess risk is vacuous.
        """
        if self.ledger.releases and self.ledger.position(request_id) is None:
            raise InvalidParameter(
                f"{self.path}: a model has been published already; use relearn for a fresh one (charged like any release)"
            )
        self.plan.warn_if_vacuous()
        return self.relearn(request_id=request_id, execution=execution)

    def relearn(
        self, plan: Plan | None = None, *, request_id: str | None = None, execution: Execution | None = None
    ) -> Release:
        """Retrain from the initial law and publish; with `plan`, switch to that plan.

        Args:
            plan: The new plan; it may have more slots than the current one, never fewer. The default is the current
                plan.
            request_id: The id of the request. Repeating an id returns the original result.
            execution: How to run the training.

        Raises:
            BudgetExceeded: If the budget does not cover the release; nothing was changed.
            InvalidRequest: If the request_id belongs to a different request.
        """
        current, execution = self.plan, execution or Execution()
        suited = self.table.adapt_plan(current if plan is None else plan)
        if plan is None or not self.ledger.releases:
            plan = current if plan is None else suited
        else:
            plan = suited.after(current, self.accountant.dp_cumulative(adjacency=suited.problem.adjacency))
        with self._rolling.run_change(execution):
            told = self._repeated(request_id, ("learn", "relearn"))
        if told is not None and plan != current:
            raise InvalidRequest(models.OTHER_REQUEST)
        if told is not None:
            return told
        if plan.problem.records < current.problem.records or plan.problem.features != current.problem.features:
            raise InvalidParameter(
                f"the plan is for {plan.problem.records} slots of {plan.problem.features} features and the store has {current.problem.records} of "
                f"{current.problem.features}: n may only grow, features may not change; make a new store"
            )
        if plan.problem.feature_map != current.problem.feature_map:
            raise InvalidParameter(
                f"{self.path}: the plan is for rows of another public map than the store's; give make_plan(feature_map=store.schema.feature_map)"
            )
        self._require_hook()
        with self._rolling.run_change(execution):
            plan.warn_if_vacuous()
            with self._rolling.open_task(plan, execution, learn=True) as (records, task):
                release, event = make_release(records, task, execution)
            changed = models.plain_answer(plan.to_dict()) if plan != current else None
            with explain_disk_errors(self.path, _PRESENT):
                release = replace(release, request_id=request_id)
                self._rolling.commit(release, event, plan=changed)
                self._rolling.catch_up()
        return release

    def publish(
        self,
        *,
        force: bool = False,
        request_id: str | None = None,
        execution: Execution | None = None,
        unused_dates: int | None = None,
        erased: int | None = None,
        position: str | None = None,
    ) -> Release:
        """Publish one release that covers every pending edit.

        With `force`, publish even if no edit is pending: a release with new noise, charged like any other. Over a
        source, the release is computed from a current snapshot, and also made if the source itself counted changes.

        Args:
            force: Publish even if no edit is pending.
            request_id: The id of the request. Repeating an id returns the original result.
            execution: How to run the release.
            erased: The number of rows that the application has deleted in the source for this request, and committed.
            position: The position of that commit, if the application knows it. The default is the position now, before
                the snapshot.
            unused_dates: For a release on a date of a calendar fixed in advance: the number of dates since the previous
                release that passed without one. None for a release on demand.

        Raises:
            InvalidRequest: If nothing is pending and `force` is not set.
            BudgetExceeded: If nothing is pending and the budget is exhausted; the current model is unchanged.
            MissingDependency: If the release would erase nothing and could not reach the store's destinations, because
                the package that publishes there is not installed.
        """
        check_token(request_id)
        execution = execution or Execution()
        if erased is not None:
            return self._publish_erased(
                EditCounts(deleted=check_count("erased", erased)), position, request_id, execution
            )
        if position is not None:
            raise InvalidParameter("position belongs to a deletion that was made in the source: give erased as well")
        unseen = self.ledger.position(request_id) is None and self._changed_unseen()
        with self._rolling.run_change(execution):
            told = self._repeated(request_id, ("unlearn", "relearn", "withheld"))
        if told is not None:
            return told
        if not (self.pending_edits or force or unseen):
            raise InvalidRequest(
                f"{self.path}: no edits are pending; a release would cost budget and forget no record (use force to make one)"
            )
        if not unseen:
            self._require_hook()
        with self._rolling.run_change(execution), explain_disk_errors(self.path, _PRESENT):
            with self._rolling.open_task(self.plan, execution) as (records, task):
                release, event = make_release(records, task, execution)
            release = replace(release, request_id=request_id)
            self._rolling.commit(release, event, unused_dates=unused_dates)
            self._rolling.catch_up()
        return release

    def _require_hook(self) -> None:
        """Check that a release that erases nothing can reach the store's destinations; an erasure is never refused.

        Raises:
            MissingDependency: If the store has destinations and nothing installed publishes there.
        """
        if not self._files.pending.erased:
            destinations.require_hook(self._files.layout)

    def _changed_unseen(self) -> bool:
        """Return whether the source counted changes since the last release that were not reported to the store."""
        changes = None if self.pending_edits else self.table.changes()
        return changes is not None and changes.total > 0

    def _publish_erased(
        self, counts: EditCounts, position: str | None, request_id: str | None, execution: Execution
    ) -> Release:
        with self._rolling.run_change(execution):
            if self._is_noted(request_id, counts):
                return self._told(request_id)
            self.table.note_erased(counts, position, request_id)
            if not self.ledger.releases:
                answer = models.pending_answer(self.ledger, self._files.pending, request_id)
                return replace(answer, requested=counts)
        return replace(self.publish(execution=execution), request_id=request_id, requested=counts)

    def note_erased(self, found: Iterable[Erased], execution: Execution | None = None) -> int:
        """Record what an application deleted in the source, each request once; `publish` covers the deletions.

        Deletions already covered by the last release, because a trigger counted them before they were reported, are not
        counted.

        Returns:
            The number of new requests.

        Raises:
            InvalidRequest: If the source has not reached a position, or a request was recorded with another number of
                rows.
            SourceError: If a row reported as deleted still exists; neither that request nor a later one was recorded.
        """
        new = 0
        self._check_stateless()
        with self._rolling.run_change(execution or Execution()):
            for one in found:
                counts = EditCounts(deleted=one.rows)
                if self._is_noted(one.request_id, counts) or self.table.has_counted(one.position):
                    continue
                self.table.note_erased(counts, one.position, one.request_id, one.ids)
                new += 1
        return new

    def _is_noted(self, request_id: str | None, counts: EditCounts) -> bool:
        """Return whether the ledger has this request; raise `InvalidRequest` if it made other edits then."""
        place = self.ledger.position(request_id)
        if place is not None and self.ledger.edits_at(place) != counts:
            raise InvalidRequest(models.OTHER_REQUEST)
        return place is not None

    def serve(
        self,
        request: EditRequest,
        *,
        publish: bool = True,
        note: NoteUpdate | None = None,
        execution: Execution | None = None,
    ) -> Release:
        """Carry out one request: edit the rows, then publish.

        Over a source: delete the rows there, then publish from a later snapshot. Repeating a request_id returns the
        original result; nothing happens and nothing is charged.

        Args:
            request: The edits.
            publish: False to leave the release to a later call.
            note: Computes the note about the request, which is recorded before any edit. It requires a request_id.
            execution: How to run the release.

        Raises:
            InvalidRequest: If the request is not valid, the request_id belongs to a request with other contents, the
                request changes rows in a source instead of deleting them, or a stateless store would keep a patch. Nothing was changed.
            SourceError: If the source did not answer. If the deletion was committed there, the next call continues from
                it.
        """
        execution = execution or Execution()
        with self._rolling.run_change(execution), self._explaining():
            request = training_table.names_as_text(request)
            if self.repeats(request):
                return self._told(request.request_id)
            if not publish:
                self._check_stateless()
            elif not (request.deletions or request.subjects or request.replacements):
                self._require_hook()
            change = self.table.begin(request, publish=publish, note=lambda: self._note(request, note))
            return replace(self._rolling.finish(change, execution), requested=change.counts)

    def _check_stateless(self) -> None:
        """Raise where edits that wait for a release would leave a patch in a stateless store."""
        if self.stateless and self.plan.mechanism.carries:
            raise InvalidRequest(
                f"{self.path}: a release by method {self.plan.method.name!r} that waits keeps a patch of noisy sums, which a store opened with "
                "stateless=True does not keep; nothing was changed. Publish with each request"
            )

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Raise `UnknownName` with what the store knows of the name: see `_explain`."""
        try:
            yield
        except UnknownName as error:
            raise self._explain(error) from None

    def _explain(self, error: UnknownName) -> UnknownName:
        """Return the error with two facts added: whether the name is held out, and whether a similar name exists."""
        name, person = str(error.name), error.kind == "subject"
        held_out, like_held_out = find_held_out(self._files.layout, name, person=person)
        similar = error.similar or like_held_out or self.table.has_similar(name, person=person)
        return UnknownName(error.kind, error.name, why=error.why, similar=similar, held_out=held_out)

    def _note(self, request: EditRequest, note: NoteUpdate | None) -> None:
        """Record the note about a request; called before any edit."""
        if note is not None and request.request_id is not None:
            self.request_log.update({request.request_id: note})

    def withdraw(self) -> None:
        """Take the model out of service at once. Its file is kept because the next release starts from it.

        Raises:
            NotLearned: If there is no model in service and none was withdrawn.
        """
        with self._rolling.run_change(Execution()), explain_disk_errors(self.path, _PRESENT):
            head = self.ledger.head
            if head.withdrawn:
                return
            if head.model is None:
                raise NotLearned(f"{self.path}: no model is in service; there is nothing to withdraw")
            self._files.note(EntryKinds.WITHDRAWN, withdrawn=True)

    @property
    def destinations(self) -> tuple[Destination, ...]:
        """External locations to which the current model is published, and their last known contents."""
        return destinations.list_destinations(self._files.layout)

    @property
    def destinations_behind(self) -> tuple[Destination, ...]:
        """The destinations that do not hold exactly the current model; the next change or opening tries again."""
        aim = destinations.wanted_release(self.ledger)
        return tuple(each for each in self.destinations if each.behind(aim))

    def destination_status(self) -> list[dict[str, Any]]:
        """Return the state of the destinations as `status` reports it."""
        return destinations.destination_status(self._files.layout, self.ledger)

    @contextmanager
    def changing_destinations(self, *, retry: bool) -> Iterator[DestinationFile]:
        """Yield the list of destinations for a change, with no request unfinished; then bring them up to date.

        Args:
            retry: Whether to try those again that failed before.
        """
        with self._rolling.run_change(Execution()):
            yield self._rolling.destination_file
        if retry:
            self._rolling.sync_destinations(again=True)

    def charge(self, mechanism: Mechanism) -> int:
        """Charge the account for statistics of the current records. They may be shown only after this returns.

        Args:
            mechanism: The mechanism that computes the statistics.

        Returns:
            The number of this charge among the releases.

        Raises:
            NotLearned: If no model is in service.
            InvalidRequest: If edits are pending, so that records and model differ.
            BudgetExceeded: If the statistics would cost more than the budget; nothing was charged.
        """
        with self._rolling.run_change(Execution()), explain_disk_errors(self.path, _PRESENT):
            _ = self.model  # raises NotLearned without a model
            if self.pending_edits:
                raise InvalidRequest(
                    f"{self.path}: {self.pending_edits} edits wait for a release; publish first, so that the numbers are about the "
                    "records of the current model"
                )
            plan, event = self.plan, Event(EventKinds.STATISTIC, 1, 0, mechanism)
            alone = mechanism.interval("dp", plan.problem.adjacency, steps_with=event.exposure)
            if not (is_within_budget(alone, plan) and self.accountant.affordable(event)):
                raise BudgetExceeded(
                    f"{self.path}: these numbers would exceed the budget of {self.accountant.remaining().allowed}; ask for more noise, "
                    "or do without them. Nothing was charged and nothing is shown"
                )
            self._files.note(EntryKinds.STATISTIC, event=models.plain_answer(event.to_dict()))
        return self.ledger.releases

    def edit_all(
        self, requests: Sequence[EditRequest], *, publish_from: int | None = None, execution: Execution | None = None
    ) -> BatchResult:
        """Carry out the edits of each request in turn, as `serve(publish=False)` does.

        Requests that are independent of one another share a transaction. Over a source, each request is a separate
        transaction there, and the release is left to a later call.

        Args:
            requests: The requests, in order.
            publish_from: If at least this many edits are pending at the end, the last transaction makes the release
                that covers them. None: the release is left to a later call.
            execution: How to run that release.
        """
        from .batch import BatchResult, RequestBatch

        self._check_stateless()
        if not self.table.shares_transactions:
            return self._edit_each(requests)
        asked = [training_table.names_as_text(request) for request in requests]
        outcomes: list[InvalidRequest | None] = []
        before, execution = self.ledger.length, execution or Execution()
        with self._rolling.run_change(execution):
            together = RequestBatch(self.ledger, self.records, asked)
            for place, request in enumerate(asked):
                outcomes.append(None)
                if not together.takes(request, self.records, self.plan):
                    self._carry_out(together, execution)
                    together = RequestBatch(self.ledger, self.records, asked[place:])
                    try:
                        if self.repeats(request):
                            continue
                        together.add(request, check_edit(self.records, self.plan, request))
                    except InvalidRequest as error:
                        outcomes[-1] = self._explain(error) if isinstance(error, UnknownName) else error
                        continue
                try:
                    if self._files.tombstones is not None:
                        self._files.tombstones.check_and_record(request, together.last, self.records, self._files.disk)
                except InvalidRequest as error:
                    together.drop()
                    outcomes[-1] = error
            release = self._carry_out(together, execution, publish_from)
        return BatchResult(outcomes, self.ledger.length - before - (release is not None), release)

    def _edit_each(self, requests: Sequence[EditRequest]) -> BatchResult:
        from .batch import BatchResult

        outcomes, before = list[InvalidRequest | None](), self.ledger.length
        for request in requests:
            try:
                self.serve(request, publish=False)
                outcomes.append(None)
            except InvalidRequest as error:
                outcomes.append(error)
        return BatchResult(outcomes, self.ledger.length - before)

    def _carry_out(
        self, together: RequestBatch, execution: Execution, publish_from: int | None = None
    ) -> Release | None:
        """Carry out the requests of the batch; return the release if one is made."""
        if not together.edits:
            return None
        waiting = self.pending_edits + sum(part.counts.total for part in together.edits)
        publish = publish_from is not None and waiting >= publish_from and self.ledger.releases > 0
        change = together.change(self.ledger, publish=publish)
        with explain_disk_errors(self.path, NOTHING_CHANGED):
            self._files.accept(change)
        answer = self._rolling.finish(change, execution)
        return answer if publish else None

    def dry_run(self, request: EditRequest, *, publish: bool = True, delta: float = 1e-6) -> dict[str, Any]:
        """Return what `serve` would do and what it would cost: everything is validated and nothing is changed."""
        request = training_table.names_as_text(request)
        if self.repeats(request):
            return {"edits": 0, "request_id_answered_before": True, "publication": "answered before", "steps": 0}
        with self._explaining():
            counts = self.table.counts_of(request)
        if self._files.tombstones is not None and request.insertion is not None:
            self._files.tombstones.refuse(request.insertion.ids or ())
        answer: dict[str, Any] = {"edits": counts.total, "counts": counts.to_dict()}
        answer |= {"request_id_answered_before": False, "steps": 0}
        if not (publish and self.ledger.releases):
            return answer | {"publication": "left for later"}
        return answer | self.foresee_release(counts, delta=delta)

    def foresee_release(self, counts: EditCounts = NO_EDITS, *, delta: float = 1e-6) -> dict[str, Any]:
        """Return what the next release would cost with these edits and the pending ones; nothing is changed."""
        ahead = self.accountant.forecast()
        left = ahead.remaining().to_dict()
        event = ahead.publication(
            self._files.pending + counts,
            touched=self.plan.mechanism.carries is not None and self.table.is_cut(self._files.pending),
        )
        if event is None or (self.ledger.head.model is None and event.kind == "unlearn"):
            return {"publication": "withheld", "left": left, "left_after": left}
        ahead.add(event)
        before, after = ahead.foresight(delta)
        alone, observed = ahead.deletion(delta) if event.counts.erased else (None, None)
        return {
            "publication": "published",
            "left": left,
            "left_after": ahead.remaining().to_dict(),
            "steps": event.steps,
            "gradient_evaluations": self.plan.count_gradients()["learn" if event.kind == "relearn" else "delete"],
            "delta": delta,
            "epsilon_before": before,
            "epsilon_after": after,
            "epsilon_deletion": alone,
            "epsilon_deletion_observed": observed,
        }

    def repeats(self, request: EditRequest) -> bool:
        """Return whether the request was answered before.

        Raises:
            InvalidRequest: If its request_id was answered for other contents.
        """
        position = self.ledger.position(request.request_id)
        if position is None:
            return False
        request = training_table.names_as_text(request)
        self.table.check_repeat(request, self.ledger.edits_at(position))
        named = [(name, False) for name in request.deletions] + [(name, True) for name in request.subjects]
        if any(find_held_out(self._files.layout, name, person=person)[0] for name, person in named):
            raise InvalidRequest(models.OTHER_REQUEST)  # a held-out name never had a row that could be edited
        return True

    def _repeated(self, request_id: str | None, kinds: tuple[str, ...]) -> Release | None:
        """Return the earlier answer to a call that edits nothing, if this request_id has one."""
        check_token(request_id)
        position = self.ledger.position(request_id)
        if position is None:
            return None
        if self.ledger.edits_at(position).total or self.ledger.entry(position).kind not in kinds:
            raise InvalidRequest(models.OTHER_REQUEST)
        return self._told(request_id)

    def _told(self, request_id: str | None) -> Release:
        """Return the answer to an earlier request: the release that covered it.

        It includes the model unless a later one replaced it.
        """
        position = self.ledger.position(request_id)
        assert position is not None
        covered = self.ledger.find_covering_release(position)
        covering = self.ledger.entry(position if covered is None else covered)
        made = self.ledger.edits_at(position)
        release = replace(models.repeat_answer(covering), request_id=request_id, requested=made if made.total else None)
        in_force = (
            covering.event is not None and release.release == self.ledger.model_release and self.ledger.head.in_force
        )
        return replace(release, model=self._files.model()) if in_force else release

"""The on-disk curator: one request is one transaction that only rolls forward.

    validate everything → journal → erase rows in place → Noisy-GD from the published model → new model durable →
    ledger entry (the switch) → remove the old model → clear the journal

Opening a store finishes what its journal holds, with fresh noise. Nothing is kept that the architecture does not list.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ..accountant import Accountant, Event
from ..curator import Release
from ..distributed import Group
from ..errors import InvalidParameter, InvalidRequest, NoisyGDDeleteError, NotLearned, ProcessLost, StoreError
from ..features import Schema
from ..learning import Model, check_edit, check_fit
from ..noisygd import Progress
from ..plan import Plan
from ..records import EditRequest, Records, SlotEdits
from . import answers, journal, models, presence, recovery, table
from .crew import Task
from .disk import Disk, explained
from .layout import Layout
from .ledger import Entry, Ledger, now
from .lock import Lock
from .tombstones import Tombstones

_NOTHING_CHANGED = "nothing was changed"
_INIT_AGAIN = "there is no store yet; run init again (it clears what it left), or remove the folder"
_WILL_FINISH = "the request is in the journal; free space or fix permissions, and the next command finishes it"
_PRESENT = "the ledger says what has happened; free space or fix permissions, and the next command goes on from there"


class Store:
    """A table, its model and its ledger in one folder, held for writing.

    `Store.create` makes one, `Store.open` opens one; use it as a context manager, or call `close`. Ids and subjects are
    text. `recovered` is the release of a request that a crash had interrupted, if opening had to finish one.
    """

    def __init__(self, layout: Layout, disk: Disk, lock: Lock, ledger: Ledger) -> None:
        self._layout, self._disk, self._lock, self._ledger = layout, disk, lock, ledger
        self._records: Records | None = None
        self._settled = True
        self._tombstones: Tombstones | None = None
        self._group = Group()
        self.recovered: Release | None = None

    @classmethod
    def create(
        cls, path: str | Path, records: Records, schema: Schema, plan: Plan, *, disk: Disk | None = None
    ) -> Store:
        """A new store in `path`: absent, empty, or left by a `create` that was interrupted.

        Raises:
            InvalidRecords, AssumptionViolated: the records are not those of the plan; nothing was written.
            StoreError: there is something at `path` already.
        """
        check_fit(records, plan)
        owners = [owner for owner in records.subjects_by_slot or () if owner is not None]
        if not all(isinstance(name, str) for name in records.ids + owners):
            raise InvalidParameter("a store keeps ids and subjects as text; give Records(ids=[...]) strings")
        if schema.features != plan.features or (schema.subject_column is None) != (records.subjects_by_slot is None):
            raise InvalidParameter(
                "the schema does not make these records: other features, or subjects on one side only"
            )
        layout, disk = Layout(Path(path).absolute()), disk or Disk()
        with explained(layout.root, _INIT_AGAIN):
            presence.require_free(layout)
            disk.make_folder(layout.root)
            lock = Lock(layout.lock)
            try:
                presence.require_free(layout)
                for leftover in layout.everything():
                    if leftover != layout.lock and not leftover.is_dir():
                        disk.erase(leftover)
                table.write(disk, layout, records)
                disk.make_folder(layout.journal)
                fields = answers.plain(plan.to_dict()), answers.plain(schema.to_dict())
                for file, public in zip((layout.plan, layout.schema), fields, strict=True):
                    disk.replace(file, recovery.as_json(public))
                first = Entry(kind="init", time=now(), pending=0, plan=fields[0], schema=fields[1])
                return cls(layout, disk, lock, Ledger.create(disk, layout.ledger, first))
            except BaseException:
                lock.release()
                raise

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        wait: float = 0.0,
        disk: Disk | None = None,
        progress: Progress | None = None,
        tombstones: Tombstones | None = None,
        group: Group | None = None,
    ) -> Store:
        """The store at `path`, after finishing any request that was interrupted.

        Args:
            tombstones: a list kept outside the store: ids erased from now on are noted there, ids noted there are refused.
            group: processes that share the work; every one but process 0 calls `follow` instead.

        Raises:
            StoreLocked: another process writes to it, for `wait` seconds from now.
            StoreCorrupt: its files contradict one another.
        """
        layout, disk = Layout(Path(path).absolute()), disk or Disk()
        presence.require_store(layout)
        with explained(layout.root, _PRESENT):
            lock = Lock(layout.lock, wait)
            try:
                store = cls(layout, disk, lock, Ledger.read(layout.ledger))
                store._settled, store._tombstones, store._group = False, tombstones, group or Group()
                with store._changing(progress):
                    return store
            except BaseException:
                lock.release()
                raise

    def close(self) -> None:
        """Let other processes write."""
        self._records = None
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @property
    def path(self) -> Path:
        return self._layout.root

    @property
    def ledger(self) -> Ledger:
        return self._ledger

    @property
    def plan(self) -> Plan:
        return self._ledger.plan

    @property
    def schema(self) -> Schema:
        return Schema.from_dict(self._ledger.schema, str(self._layout.schema))

    @property
    def accountant(self) -> Accountant:
        return self._ledger.accountant

    @property
    def pending_edits(self) -> int:
        """Edits that no release covers yet."""
        return self._ledger.head.pending

    @property
    def records(self) -> Records:
        """The table; rows are read from the file as they are needed."""
        if self._records is None:
            with_subjects = self.schema.subject_column is not None
            self._records = table.load(self._layout, self.plan, with_subjects=with_subjects)
        return self._records

    @property
    def model(self) -> Model:
        """The model in force.

        Raises:
            NotLearned: before the first `learn`, or after a publication was withheld.
        """
        model = self._model()
        if model is None:
            raise NotLearned(f"{self.path}: no model is in force; run learn, or relearn after a withheld publication")
        return model

    def learn(self, progress: Progress | None = None) -> Release:
        """Train from the initial law and publish the first model."""
        if self._ledger.releases:
            raise InvalidParameter(
                f"{self.path}: a model has been published already; use relearn for a fresh one (charged like any release)"
            )
        return self.relearn(progress=progress)

    def relearn(self, plan: Plan | None = None, progress: Progress | None = None) -> Release:
        """Train afresh and publish; with `plan`, from here on by that plan. Its n may only grow.

        Raises:
            BudgetExceeded: with nothing changed.
        """
        current = self.plan
        plan = plan or current
        if plan.records < current.records or plan.features != current.features:
            raise InvalidParameter(
                f"the plan is for {plan.records} slots of {plan.features} features and the store has {current.records} of "
                f"{current.features}: n may only grow, features may not change; make a new store"
            )
        with self._changing(progress):
            release, event = self._run("learn", plan, self.pending_edits, None, progress)
            changed = answers.plain(plan.to_dict()) if plan != current else None
            with explained(self.path, _PRESENT):
                self._commit(release, event, plan=changed)
                self._catch_up()
        return release

    def publish(self, *, redo: bool = False, progress: Progress | None = None) -> Release:
        """One release that covers every pending edit; with `redo` also where none is: new noise, charged like any.

        Raises:
            InvalidRequest: nothing is pending and `redo` was not asked for.
            BudgetExceeded: nothing is pending and the budget is spent; the model stays in force.
        """
        if not (self.pending_edits or redo):
            raise InvalidRequest(
                f"{self.path}: no edits are pending; a release would cost budget and forget nobody (redo forces one)"
            )
        with self._changing(progress), explained(self.path, _PRESENT):
            release = self._released(self.pending_edits, None, progress)
            self._catch_up()
        return release

    def serve(self, request: EditRequest, *, publish: bool = True, progress: Progress | None = None) -> Release:
        """Carry out one request: edit the rows, then publish, unless `publish=False` leaves that to a later call.

        A request_id that was answered before gets its answer again; nothing happens and nothing is charged.

        Raises:
            InvalidRequest: with nothing changed.
        """
        with self._changing(progress):
            if self._ledger.answered(request.request_id):
                return self._told(request.request_id)
            request = table.in_text(request)
            check_edit(self.records, self.plan, request)
            edits = self.records.resolve(request)
            self._mind_tombstones(request, edits)
            change = journal.Change(len(self._ledger.entries), edits, publish, request.request_id)
            with explained(self.path, _NOTHING_CHANGED):
                journal.accept(self._disk, self._layout, change)
            return self._finish(change, progress)

    def _mind_tombstones(self, request: EditRequest, edits: SlotEdits) -> None:
        """Refuse what was erased before; note what is about to be. A crash after it notes an id that the caller, who
        has no answer yet, will ask to erase again."""
        if self._tombstones is None:
            return
        if request.insertion is not None:
            self._tombstones.refuse(request.insertion.ids or ())
        names = self.records.ids_by_slot
        gone = [names[slot] for slot, name in zip(edits.slots, edits.ids, strict=True) if name != names[slot]]
        self._tombstones.add([name for name in gone if name is not None], self._disk)

    def foresee(self, request: EditRequest, *, publish: bool = True, delta: float = 1e-6) -> dict[str, Any]:
        """What `serve` would do and what it would cost, having validated everything and changed nothing."""
        if self._ledger.answered(request.request_id):
            return {"edits": 0, "request_id_answered_before": True, "publication": "answered before", "steps": 0}
        request = table.in_text(request)
        check_edit(self.records, self.plan, request)
        edits = len(self.records.resolve(request).slots)
        answer: dict[str, Any] = {"edits": edits, "request_id_answered_before": False, "steps": 0}
        if not (publish and self._ledger.releases):
            return answer | {"publication": "left for later"}
        event = Event("unlearn", self.plan.delete_steps, self.pending_edits + edits, self.plan.mechanism)
        if self._ledger.head.model is None or not self.accountant.affordable(event):
            return answer | {"publication": "withheld"}
        ahead = Accountant(self.plan, [*self.accountant.events, event])
        return answer | {
            "publication": "published",
            "steps": event.steps,
            "gradient_evaluations": self.plan.gradient_evaluations["delete"],
            "delta": delta,
            "epsilon_before": self.accountant.dp_cumulative().epsilon(delta),
            "epsilon_after": ahead.dp_cumulative().epsilon(delta),
            "epsilon_deletion": self.plan.deletion.epsilon(delta),
        }

    @contextmanager
    def _changing(self, progress: Progress | None) -> Iterator[None]:
        """Nothing new begins before what an earlier failure left unfinished is finished."""
        if not self._settled:
            self._settle(progress)
        self._settled = False
        yield
        self._settled = True

    def _settle(self, progress: Progress | None) -> None:
        self._ledger, self._records = Ledger.read(self._layout.ledger), None
        self._model()  # a ledger that names a model it does not have is not one to clean up after
        change = journal.in_flight(self._layout)
        recovery.catch_up(self._disk, self._layout, self._ledger)
        recovery.sweep(self._disk, self._layout, self._ledger)
        if change is not None and change.base == len(self._ledger.entries):
            self.recovered = self._finish(change, progress)
        elif change is not None:
            journal.clear(self._disk, self._layout)

    def _finish(self, change: journal.Change, progress: Progress | None) -> Release:
        """The rest of an accepted request. Every part can be repeated after a crash."""
        with explained(self.path, _WILL_FINISH):
            self._records = None  # the mapping of the old content, before it changes
            table.apply(self._disk, self._layout, change.edits)
            pending = self.pending_edits + len(change.edits.slots)
            release, failure = None, None
            if change.publish and self._ledger.releases:
                try:
                    release = self._released(pending, change.request_id, progress)
                except (StoreError, ProcessLost):
                    raise
                except NoisyGDDeleteError as error:
                    failure = (
                        error  # whatever stands in the way of a release, the rows are edited: say so in the ledger
                    )
            if release is None:
                release = answers.pending(self._ledger, pending, change.request_id)
                self._append("edit", release, self._ledger.head.model)
            self._catch_up()
            journal.clear(self._disk, self._layout)
        if failure is not None:
            raise StoreError(
                f"{self.path}: the rows are edited and {pending} edits wait for a release, but none could be made: {failure}"
            ) from failure
        return release

    def _released(self, pending: int, request_id: str | None, progress: Progress | None) -> Release:
        """Noisy-GD from the published model, and the ledger entry that puts its result in force or withholds it."""
        release, event = self._run("publish", self.plan, pending, request_id, progress)
        self._commit(release, event)
        return release

    def _commit(self, release: Release, event: Event, plan: dict[str, Any] | None = None) -> None:
        if release.model is None:
            self._append("withheld", release, None)
        else:
            digest = models.write(self._disk, self._layout, release.model, release.release)
            self._append(release.kind, release, digest, event=answers.plain(event.to_dict()), plan=plan)

    def _append(self, kind: str, release: Release, model: str | None, **facts: Any) -> None:
        entry = Entry(
            kind=kind,
            time=now(),
            pending=0 if "event" in facts else release.edits,
            model=model,
            answer=answers.kept(release),
            request_id=release.request_id,
            **facts,
        )
        self._ledger = self._ledger.append(self._disk, entry)

    def _catch_up(self) -> None:
        recovery.sweep(self._disk, self._layout, self._ledger)
        if self._ledger.head.plan is not None:
            self._records = None
            recovery.catch_up(self._disk, self._layout, self._ledger)

    def _run(
        self, action: str, plan: Plan, pending: int, request_id: str | None, progress: Progress | None
    ) -> tuple[Release, Event]:
        """A curator's "learn" or "publish" on the records, by every process of the group."""
        task = Task(
            action=action,
            held=self.plan,
            plan=plan,
            with_subjects=self.schema.subject_column is not None,
            events=tuple(self.accountant.events),
            model=self._model(),
            pending_edits=pending,
            request_id=request_id,
        )
        return task.lead(self._group, self.records, progress)

    def _model(self) -> Model | None:
        digest = self._ledger.head.model
        if digest is None:
            return None
        return models.load_model(self._layout, self.plan, self._ledger.releases, digest)

    def _told(self, request_id: str | None) -> Release:
        """The answer of an earlier request: the release that covered it, with its model while no later one replaced it."""
        kept, *later = self._ledger.answered(request_id)
        covering = next((entry for entry in (kept, *later) if entry.event is not None), kept)
        release = replace(answers.told(covering), request_id=request_id)
        in_force = covering.event is not None and release.release == self._ledger.releases
        return replace(release, model=self._model()) if in_force else release

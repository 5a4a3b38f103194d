"""From an accepted request to its release: the steps that a crash can interrupt, in the only direction they run.

    journal → erase rows in place → Noisy-GD from the published model → new model durable → ledger entry (the switch) →
    remove the old model → clear the journal → publishers (see `onward`)

Every step can be repeated, so what a journal still holds is simply run again, with fresh noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..accountant import Event
from ..curator.curator import Release
from ..curator.learning import Model
from ..engine import CurrentRecords, Execution
from ..errors import InvalidParameter, NoisyGDDeleteError, ProcessLost, StoreError
from ..features.schema import Schema
from ..methods.plan import Plan
from ..records import NO_EDITS, NONE_LEFT_OUT, EditCounts, Records
from . import answers, journal, models, onward, recovery, table, tie
from .disk import Disk, explained
from .entry import Entry, EntryKinds, Occasions, now
from .group import GroupRun
from .layout import Layout
from .ledger import Ledger
from .lock import Lock

if TYPE_CHECKING:
    from .publishers import Artefact
    from .suppression import Tombstones

_WILL_FINISH = "the request is in the journal; free space or fix permissions, and the next command finishes it"


class Rolling:
    """The files of one store as the process that holds its lock sees them.

    `settled` is false while a change is under way, and after one that failed: nothing new begins before what it left
    is finished. `recovered` is the release of a request that had been interrupted.
    """

    def __init__(self, layout: Layout, disk: Disk, ledger: Ledger, lock: Lock, *, settled: bool) -> None:
        self.layout, self.disk, self.ledger, self.lock, self.settled = layout, disk, ledger, lock, settled
        self.recovered: Release | None = None
        self.tombstones: Tombstones | None = None
        self.left_out = NONE_LEFT_OUT
        self._records: Records | None = None
        self._begun: journal.InFlight | None = None  # what the journal holds
        self._led_on: tuple[str | None] | None = None  # what publishers were last brought to, or tried to be

    @property
    def schema(self) -> Schema:
        schema = Schema.from_dict(self.ledger.schema, str(self.layout.schema), self.layout.root)
        return replace(schema, named_map=self.ledger.plan.problem.feature_map)

    @property
    def _with_subjects(self) -> bool:
        return self.ledger.schema.get("subject") is not None  # the one key of the schema that every run needs

    @property
    def pending_edits(self) -> int:
        """Edits that no release covers yet."""
        return self.ledger.head.pending

    @property
    def pending(self) -> EditCounts:
        """The same by kind."""
        return self.ledger.head.pending_counts

    @property
    def held(self) -> CurrentRecords:
        """The table as a release reads it."""
        return self.records

    @property
    def records(self) -> Records:
        """The table; rows are read from the file as they are needed."""
        if self._records is None:
            self._records = table.load(self.layout, self.ledger.plan, with_subjects=self._with_subjects)
        return self._records

    def forget_records(self) -> None:
        """Drop the mapping of a table whose files are about to be lengthened, or were."""
        self._records = None

    def model(self) -> Model | None:
        """The model in force, if there is one."""
        digest = self.ledger.head.model
        if digest is None:
            return None
        return models.load_model(self.layout, self.ledger.plan, self.ledger.model_release, digest)

    def run(
        self, action: str, plan: Plan, pending: EditCounts, request_id: str | None, execution: Execution
    ) -> tuple[Release, Event]:
        """A curator's "learn" or "publish" from here on, by every process of the group."""
        task = GroupRun(
            action=action,
            held=self.ledger.plan,
            plan=plan,
            with_subjects=self._with_subjects,
            account=self.ledger.account,
            model=self.model(),
            pending=pending,
            request_id=request_id,
        )
        return task.lead(self.held, execution)

    @contextmanager
    def changing(self, execution: Execution) -> Iterator[None]:
        """Nothing new begins before what an earlier failure left unfinished is finished."""
        if execution.rng is not None:
            raise InvalidParameter(
                "a store publishes under certified noise alone; give an Execution without rng, or use a Curator for research"
            )
        self.lock.require()
        if not self.settled:
            self._settle(execution)
        self.settled = False
        yield
        self.settled = True
        self.lead_on()

    def lead_on(self, *, again: bool = False) -> None:
        """Bring publishers to the release in force; one that failed is tried once for each release, or `again`."""
        aim = (onward.wanted(self.ledger),)
        if again or self._led_on != aim:
            self._led_on = aim
            onward.follow(self.disk, self.layout, self.ledger, self.artefact)

    def artefact(self) -> Artefact:
        """The model in force as it leaves the store."""
        model = self.model()
        assert model is not None
        return onward.artefact(self.layout, self.ledger, model, self.schema)

    def _settle(self, execution: Execution) -> None:
        self.ledger, self._records, self._begun = Ledger.read(self.layout.ledger), None, None
        self.model()  # a ledger that names a model it does not have is not one to clean up after
        go_on = self._interrupted()
        recovery.adopt(self.disk, self.layout)
        tie.check(self.layout, self.ledger, self._begun)
        recovery.catch_up(self.disk, self.layout, self.ledger)
        recovery.sweep(self.disk, self.layout, self.ledger)
        if go_on is not None:
            self.recovered = go_on(execution)

    def _interrupted(self) -> Callable[[Execution], Release | None] | None:
        """How to go on with what the journal holds, if it holds anything."""
        change = journal.in_flight(self.layout)
        if change is None:
            return None
        journal.require_base(change.base, change.link, self.ledger)
        self._begun = change
        if change.base == self.ledger.length:
            return partial(self.finish, change)
        noted = tie.is_noted(self.layout, self.ledger.length, self.ledger.digest)
        if not noted and self.ledger.length - change.base > len(change.requests) + 1:
            raise tie.put_back(self.layout.ids)
        return partial(self._conclude, change, noted)

    def _conclude(self, change: journal.InFlight, noted: bool, _: Execution) -> None:
        """What is left of a change that the ledger holds."""
        if not noted:  # of a table that was put back together with its journal; else they are done already
            table.apply(self.disk, self.layout, change.edits, change.stamp)
        journal.clear(self.disk, self.layout)

    def finish(self, change: journal.InFlight, execution: Execution) -> Release:
        """The rest of an accepted request. Every part can be repeated after a crash."""
        with explained(self.layout.root, _WILL_FINISH):
            self.lock.require()
            table.apply(self.disk, self.layout, change.edits, change.stamp)
            if self._records is not None:
                self._records.note_rows(change.edits.counts)
                if table.has_long_names(self._records):
                    self.forget_records()  # what is mapped shows every change, but for these
            pending = self.pending + change.edits.counts
            entries, answer = self._edits_noted(change)
            release, failure = None, None
            if change.publish and self.ledger.releases:
                try:
                    if change.parts:
                        release = self.released(pending, None, execution, entries)
                    else:
                        release = self.released(pending, change.request_id, execution, left=change.requests[-1][2])
                except (StoreError, ProcessLost):
                    raise
                except NoisyGDDeleteError as error:
                    failure = error  # whatever stands in the way, the rows are edited: say so in the ledger
            if release is None:
                self._enter(*entries)
                release = answer
            self.catch_up()
            journal.clear(self.disk, self.layout)
        if failure is not None:
            raise StoreError(
                f"{self.layout.root}: the rows are edited and {pending.total} edits wait for a release, but none could be made: {failure}"
            ) from failure
        return release

    def released(
        self,
        pending: EditCounts,
        request_id: str | None,
        execution: Execution,
        edits: Sequence[Entry] = (),
        unused_dates: int | None = None,
        left: int | None = None,
    ) -> Release:
        """Noisy-GD from the published model, and the ledger entry that puts its result in force or withholds it; with it, and not
        before, those of `edits` that it covers and the ledger does not hold yet."""
        release, event = self.run("publish", self.ledger.plan, pending, request_id, execution)
        release = replace(release, remaining=left)
        self.commit(release, event, edits=edits, unused_dates=unused_dates)
        return release

    def commit(
        self,
        release: Release,
        event: Event,
        plan: dict[str, Any] | None = None,
        edits: Sequence[Entry] = (),
        unused_dates: int | None = None,
    ) -> None:
        """Make the model durable, then switch to it: the ledger entry is what puts it in force.

        `unused_dates`: see `Store.publish`.
        """
        if release.model is None:
            self._append(EntryKinds.WITHHELD, release, None, edits)
        else:
            self.lock.require()
            digest = models.write(self.disk, self.layout, release.model, release.release)
            facts: dict[str, Any] = {
                "event": answers.plain(event.to_dict()),
                "plan": plan,
                "occasion": Occasions.DEMAND,
            }
            if unused_dates is not None:
                facts |= {"occasion": Occasions.CALENDAR, "unused_dates": unused_dates}
            self._append(EntryKinds(release.kind), release, digest, edits, **facts)

    def _edits_noted(self, change: journal.InFlight) -> tuple[list[Entry], Release]:
        """An entry for every request of an accepted change, and the answer to the last of them while no release covers it."""
        pending, head, entries, spent = self.pending, self.ledger.head, [], answers.spent(self.ledger)
        for request_id, counts, left in change.requests:
            pending += counts
            answer = replace(answers.pending(self.ledger, pending, request_id, spent), remaining=left)
            entries.append(self._entry(EntryKinds.EDIT, answer, head.model, withdrawn=head.withdrawn))
        return entries, answer

    def withdraw(self) -> None:
        """The ledger entry that takes the model out of service. Its file stays: the next release starts from it."""
        head = self.ledger.head
        entry = Entry(
            kind=EntryKinds.WITHDRAWN,
            time=now(),
            pending=head.pending,
            waiting=head.pending_counts.to_dict(),
            model=head.model,
            withdrawn=True,
        )
        self._enter(entry)

    def charge(self, event: Event) -> None:
        """The ledger entry of a statistic. The model stays in force."""
        entry = Entry(
            kind=EntryKinds.STATISTIC,
            time=now(),
            pending=0,
            waiting=NO_EDITS.to_dict(),
            model=self.ledger.head.model,
            event=answers.plain(event.to_dict()),
        )
        self._enter(entry)

    def _enter(self, *entries: Entry) -> None:
        """Commit entries: the instant at which their requests have happened."""
        self.lock.require()
        self.ledger = self.ledger.append(self.disk, *entries)
        tie.note(self.disk, self.layout, self.ledger.length, self.ledger.digest)

    def _append(
        self, kind: EntryKinds, release: Release, model: str | None, edits: Sequence[Entry] = (), **facts: Any
    ) -> None:
        self._enter(*edits, self._entry(kind, release, model, **facts))

    @staticmethod
    def _entry(kind: EntryKinds, release: Release, model: str | None, **facts: Any) -> Entry:
        waiting = NO_EDITS if "event" in facts else release.counts
        return Entry(
            kind=kind,
            time=now(),
            pending=waiting.total,
            waiting=waiting.to_dict(),
            model=model,
            answer=answers.kept(release),
            request_id=release.request_id,
            **facts,
        )

    def catch_up(self) -> None:
        """What follows from the newest entry: old models removed, plan and slots as it says."""
        recovery.sweep(self.disk, self.layout, self.ledger)
        if self.ledger.head.plan is not None:
            self.forget_records()
            recovery.catch_up(self.disk, self.layout, self.ledger)

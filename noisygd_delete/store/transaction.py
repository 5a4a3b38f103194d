"""From an accepted request to its release: the steps that a crash can interrupt, in the only direction they run.

    journal → erase rows in place → Noisy-GD from the published model → new model durable → ledger entry (the switch) →
    remove the old model → clear the journal → publishers (see `onward`)

Where noise is carried on from the release before, the release is drawn before the rows are erased, or a patch, if it comes later (see `candidate`).

Every step can be repeated, so what a journal still holds is simply run again, with fresh noise. Where the rows lie in a source, the ledger
says that they were deleted there before a release is made (see `sources.table`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..accountant import Event
from ..curator.curator import Release, published
from ..curator.model import Continuation, Training
from ..engine import Execution
from ..errors import CountBroken, InvalidParameter, NoisyGDDeleteError, ProcessLost, StoreError
from ..methods.plan import Plan
from ..records import NO_EDITS, EditCounts, SlotEdits
from . import answers, candidate, journal, models, onward, recovery
from .candidate import DrawnPatch, DrawnRelease
from .disk import explained
from .entry import Entry, EntryKinds, Occasions, now
from .group import GroupRun
from .ledger import Ledger
from .opened import OpenedStore, entry_of
from .training_table import Change, TrainingTable

if TYPE_CHECKING:
    from .publishers import Artefact


class Rolling:
    """Transactions on the files of one store and on its rows, wherever these lie.

    `settled` is false while a change is under way, and after one that failed: nothing new begins before what it left
    is finished. `recovered` is the release of a request that had been interrupted.
    """

    def __init__(self, files: OpenedStore, table: TrainingTable[Any], *, settled: bool) -> None:
        self.files, self.table, self.settled = files, table, settled
        self.recovered: Release | None = None
        self._led_on: tuple[str | None] | None = None  # what publishers were last brought to, or tried to be

    @property
    def ledger(self) -> Ledger:
        return self.files.ledger

    @property
    def pending(self) -> EditCounts:
        """Edits that no release covers yet."""
        return self.files.pending

    def run(
        self,
        action: str,
        plan: Plan,
        request_id: str | None,
        execution: Execution,
        ahead: EditCounts = NO_EDITS,
        edits: SlotEdits | None = None,
    ) -> tuple[Release, Event]:
        """A curator's "learn", "publish" or "draw" from here on, by every process of the group. `ahead`: edits that the ledger does not
        hold yet; `edits`: those of a draw."""
        with self.table.read(plan, execution) as records:
            task = GroupRun(
                action=action,
                held=self.ledger.plan,
                plan=plan,
                with_subjects=self.files.with_subjects,
                account=self.ledger.account,
                model=self.files.model(),
                pending=self.pending + ahead,
                request_id=request_id,
                edits=edits,
                patch=self.table.patch(self.pending + ahead),
            )
            return task.lead(records, execution)

    @contextmanager
    def changing(self, execution: Execution) -> Iterator[None]:
        """Nothing new begins before what an earlier failure left unfinished is finished."""
        if execution.rng is not None:
            raise InvalidParameter(
                "a store publishes under certified noise alone; give an Execution without rng, or use a Curator for research"
            )
        self.files.lock.require()
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
            onward.follow(self.files.disk, self.files.layout, self.ledger, self.artefact)

    def artefact(self) -> Artefact:
        """The model in force as it leaves the store."""
        model = self.files.model()
        assert model is not None
        return onward.artefact(self.files.layout, self.ledger, model, self.files.schema)

    def _settle(self, execution: Execution) -> None:
        files = self.files
        files.ledger = Ledger.read(files.layout.ledger)
        self.table.forget()
        journal.settle(files.disk, files.layout)
        files.model()  # a ledger that names a model it does not have is not one to clean up after
        change = self.table.begun()
        recovery.adopt(files.disk, files.layout)
        self.table.check()
        recovery.catch_up(files.disk, files.layout, self.ledger)
        recovery.sweep(files.disk, files.layout, self.ledger)
        if change is not None and self.table.is_unfinished(change):
            self.recovered = self.finish(change, execution)
            return
        self.table.catch_up()
        candidate.destroy(files.disk, files.layout)
        if change is not None:
            journal.clear(files.disk, files.layout)

    def finish(self, change: Change, execution: Execution) -> Release:
        """The rest of an accepted request. Every part can be repeated after a crash."""
        root = self.files.layout.root
        with explained(root, self.table.unfinished):
            self.files.lock.require()
            release: Release | None = None
            failure: NoisyGDDeleteError | None = None
            drawn: DrawnRelease | DrawnPatch | None = None
            publish = change.publish and self.ledger.releases > 0
            if isinstance(change, journal.InFlight) and self.ledger.plan.mechanism.continues and self.ledger.releases:
                try:
                    change, drawn = self._drawn(change, execution)
                except (StoreError, ProcessLost):
                    raise
                except NoisyGDDeleteError as error:
                    failure = error
            entries, answer = self.table.carry_out(change)
            if publish and failure is None:
                try:
                    assert not isinstance(drawn, DrawnPatch)
                    release = self._covering(change, entries, execution, drawn)
                except CountBroken as error:
                    failure = error  # nothing that the next command could go on with by itself
                except (StoreError, ProcessLost):
                    raise
                except NoisyGDDeleteError as error:
                    failure = error  # whatever stands in the way, the rows are edited: say so in the ledger
            if release is None:
                if isinstance(drawn, DrawnPatch):
                    drawn.keep(self.files.disk, self.files.layout.patch)
                if entries:
                    self.files.enter(*entries)
                release = answer
            self.catch_up()
            candidate.destroy(self.files.disk, self.files.layout)
            journal.clear(self.files.disk, self.files.layout)
        if failure is not None:
            raise StoreError(
                f"{root}: {self.table.edited} and {self.pending.total} edits wait for a release, but none could be made: {failure}"
            ) from failure
        return release

    def _drawn(
        self, change: journal.InFlight, execution: Execution
    ) -> tuple[journal.InFlight, DrawnRelease | DrawnPatch | None]:
        """The release that covers a change, or the patch where it comes later, drawn from the table before it and durable; None where the chain
        is cut: edits wait already that nothing was drawn for, the budget is spent, or what was drawn cannot be read."""
        files, plan, model = self.files, self.ledger.plan, self.files.model()
        if change.drawn:
            return change, candidate.kept(files.layout.candidate, plan, change.stamp)
        candidate.destroy(files.disk, files.layout)
        first = None if model is None else Continuation(self.ledger.account.since_fresh, model.sums)
        after = files.patch() if self.pending.total else first
        if model is None or after is None or self.table.bears(change.stamp):
            return change, None
        drawn: DrawnRelease | DrawnPatch
        if not change.publish:
            from ..curator.drawing import changed, patched

            alone = Execution()  # the other processes of a group wait for runs
            patch = patched(changed(self.table.records, plan, change.edits), plan, after, alone)
            if patch is None:
                return change, None
            drawn = DrawnPatch(change.stamp, patch)
        else:
            release, event = self.run("draw", plan, None, execution, edits=change.edits)
            if release.model is None:
                return change, None
            drawn = DrawnRelease(change.stamp, event, release.model)
        drawn.keep(files.disk, files.layout.candidate)
        begun = replace(change, drawn=True)
        journal.accept_drawn(files.disk, files.layout, begun)
        return begun, drawn

    def _covering(
        self, change: Change, entries: Sequence[Entry], execution: Execution, drawn: DrawnRelease | None
    ) -> Release:
        """The release of a change: its entry is that of the edits too, unless they have entries of their own."""
        if change.parts:
            return self.released(None, execution, entries, ahead=change.counts, drawn=drawn)
        ((request_id, counts, left),) = change.requests
        if entries:
            return self.released(request_id, execution, left=left, ahead=counts, drawn=drawn)
        return replace(self.released(None, execution), request_id=request_id)

    def released(
        self,
        request_id: str | None,
        execution: Execution,
        edits: Sequence[Entry] = (),
        unused_dates: int | None = None,
        left: int | None = None,
        ahead: EditCounts = NO_EDITS,
        drawn: DrawnRelease | None = None,
    ) -> Release:
        """Noisy-GD from the published model, or what was `drawn` before the edits, and the ledger entry that puts its result in force or withholds
        it; with it, and not before, those of `edits` that it covers and the ledger does not hold yet."""
        if drawn is None:
            release, event = self.run("publish", self.ledger.plan, request_id, execution, ahead)
        else:
            event = drawn.event
            release = published(self.ledger.accountant.what_if(), event, Training(drawn.model, 1, 0.0), request_id)
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
            self.files.enter(*edits, entry_of(EntryKinds.WITHHELD, release, None, **self.table.facts))
            return
        self.files.lock.require()
        digest = models.write(self.files.disk, self.files.layout, release.model, release.release)
        self.table.published(event, release.model, release.release)
        facts: dict[str, Any] = {
            "event": answers.plain(event.to_dict()),
            "plan": plan,
            "occasion": Occasions.DEMAND,
            **self.table.facts,
        }
        if unused_dates is not None:
            facts |= {"occasion": Occasions.CALENDAR, "unused_dates": unused_dates}
        self.files.enter(*edits, entry_of(EntryKinds(release.kind), release, digest, **facts))

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
        self.files.enter(entry)

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
        self.files.enter(entry)

    def catch_up(self) -> None:
        """What follows from the newest entry: old models removed, plan and slots as it says."""
        recovery.sweep(self.files.disk, self.files.layout, self.ledger)
        self.table.catch_up()
        if self.ledger.head.plan is not None:
            self.table.forget()
            recovery.catch_up(self.files.disk, self.files.layout, self.ledger)

"""From an accepted request to its release: the steps that a crash can interrupt, in the only direction they run.

    journal → erase rows in place → Noisy-GD from the published model → new model durable → ledger entry (the switch) →
    remove the old model → clear the journal → publishers (see `onward`)

Where noise is carried on from the release before, the release is drawn before the rows are erased, or a patch, if it comes later (see `candidate`).

Every step can be repeated, so what a journal still holds is simply run again, with fresh noise. Where the rows lie in a source, the ledger
says that they were deleted there before a release is made (see `sources.table`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..accountant import Account, Accountant, Event
from ..curator.curator import Curator, Release, record_release
from ..curator.model import Continuation, Model, Training
from ..engine import CurrentRecords, Execution
from ..engine.execution import Group
from ..errors import CountBroken, InvalidParameter, NoisyGDDeleteError, ProcessLost, StoreCorrupt, StoreError
from ..methods.plan import Plan
from ..records import NO_EDITS, EditCounts, SlotEdits, limited_io
from . import disk as database
from . import file_footer, journal, models, names, publishing, training_table
from .disk import Disk, explain_disk_errors, read_file
from .entry import Entry, EntryKinds, Occasions
from .layout import LONGEST_COPY, Layout
from .ledger import Ledger
from .models import DrawnPatch, DrawnRelease
from .training_table import Change, OpenedStore, TrainingTable, entry_of

if TYPE_CHECKING:
    from .publishers import Artifact


# --- group ---
#
# A store under torchrun: process 0 holds it and alone writes; the others map its rows and share every run.
#
# Process 0 sends what a curator may keep between releases, and which of its calls is to be made. Then every process makes
# that call of `Curator` on the same rows, each summing over its own, and process 0 goes on to publish. A process that dies
# takes the run with it: the request stays in the journal, and the next command finishes it.


@dataclass(frozen=True)
class GroupRun:
    """One release to be made: the curator's state, and "learn", "publish", or "draw", before the `edits` that it covers are carried out.
    `held` is the plan of the table on disk; `patch` covers what is pending."""

    action: str
    held: Plan
    plan: Plan
    with_subjects: bool
    account: Account
    model: Model | None
    pending: EditCounts
    edits: SlotEdits | None = None
    patch: Continuation | None = None

    def lead(self, records: CurrentRecords, execution: Execution) -> tuple[Release, Event]:
        """Process 0's part: the release, and the last event of the ledger it belongs to."""
        execution.group.share(self)
        return self._run(records, execution)

    def _run(self, records: CurrentRecords, execution: Execution) -> tuple[Release, Event]:
        curator = Curator.restored(
            training_table.with_slots(records, self.plan.records),
            self.plan,
            accountant=Accountant.resumed(self.plan, self.account),
            model=self.model,
            pending_edits=self.pending,
            patch=self.patch,
            execution=execution,
        )
        if self.action == "draw":
            assert self.edits is not None
            release = curator.draw(self.edits, execution=execution)
        else:
            call = curator.learn if self.action == "learn" else curator.publish
            release = call(execution=execution)
        return release, curator.accountant.last

    def follow(self, layout: Layout, execution: Execution) -> None:
        """Another process's part."""
        records = training_table.load_table(
            layout, self.held.records, self.held.features, with_subjects=self.with_subjects
        )
        try:
            self._run(records, execution)
        except ProcessLost:
            raise
        except NoisyGDDeleteError:
            pass  # what refuses a run refuses it in every process alike, and process 0 says so


def follow_group(path: str | Path, execution: Execution) -> None:
    """Take part in every release that process 0 of the group makes from the store at `path`, until it says that it is done.

    Raises:
        ProcessLost: a process of the group has gone.
    """
    layout, nothing = Layout.at(path), cast("GroupRun | None", None)
    while (task := execution.group.share(nothing)) is not None:
        task.follow(layout, execution)


@contextmanager
def lead_group(group: Group) -> Iterator[None]:
    """Process 0's work on a store; the others `follow` until it is done.

    An error of another kind than this package's own may come in the middle of a run: then the others learn of it by the
    end of this process.
    """
    try:
        yield
    except ProcessLost:
        raise
    except NoisyGDDeleteError:
        group.share(None)
        raise
    group.share(None)


# --- recovery ---
#
# What a crash can leave behind, and the one direction out of it: forward, to what the ledger says.
#
# A ledger entry is the switch. Everything after it (removing the old model, copying the plan, adding free slots) only
# catches up with it, and can be done again at any time. Everything before it is a candidate, and is erased.


def sweep_leftovers(disk: Disk, layout: Layout, ledger: Ledger) -> None:
    """Erase half-written files, what journals of databases hold, models that the ledger does not name, and a patch that no edit waits for."""
    current = layout.model(ledger.model_release) if ledger.head.model is not None else None
    if layout.former_register.exists():
        disk.exchange(layout.register)
    for path in layout.temporaries() + [path for path in layout.models() if path != current]:
        disk.erase(path, lasting=False)
    if ledger.head.model is None or (ledger.source is None and not ledger.head.pending):
        disk.erase(layout.patch)
    for path in layout.databases():
        database.forget_database(disk, path)


def seal(disk: Disk, layout: Layout, ledger: Ledger) -> None:
    """Note outside the ledger how long it is: in seal.json, and where the table is here in its ids. These come last, so a seal that is behind them was
    put back, perhaps with what it tells of."""
    if not ledger.is_sealed:
        put_back = file_footer.says(layout, ledger.length, ledger.digest)
        ledger.seal(disk)
        if put_back:
            publishing.mark_list_untrusted(disk, layout)
    file_footer.note(disk, layout, ledger.length, ledger.digest)


def catch_up(disk: Disk, layout: Layout, ledger: Ledger) -> None:
    """Bring seal.json, plan.json, schema.json and the number of slots to what the ledger says.

    Raises:
        StoreCorrupt: a file is neither what the ledger says nor what it said before.
    """
    seal(disk, layout, ledger)
    copy(disk, layout.schema, ledger.schema, [ledger.schema])
    if ledger.source is None:
        _room(disk, layout, ledger)
    copy(disk, layout.plan, ledger.plans[-1], ledger.plans)


def _room(disk: Disk, layout: Layout, ledger: Ledger) -> None:
    """Files of rows as long as the plan says."""
    plan = ledger.plan
    owned = ledger.schema.get("subject") is not None
    earlier = [fields["problem"]["records"] for fields in ledger.plans]
    lengths: dict[Path, int] = {}
    for path, size in training_table.table_sizes(layout, plan.records, plan.features, with_subjects=owned).items():
        before = [
            training_table.table_sizes(layout, slots, plan.features, with_subjects=owned)[path] for slots in earlier
        ]
        found = file_footer.length_of(path) if path.is_file() else None
        if found == size + file_footer.SIZE:  # lengthened, and its tie not written yet
            disk.overwrite(path, [_nothing_of_tie(former, size) for former in before[-2:-1]])
        elif found not in before:
            raise StoreCorrupt(f"{path}: missing, or not {size} bytes long; restore the store from a backup")
        elif found < size:
            disk.extend(path, size + file_footer.SIZE)
            disk.overwrite(path, [_nothing_of_tie(found, size)])
        lengths[path] = size
    if not all(map(file_footer.tie_of, file_footer.files(layout))):
        lengths[layout.long] = names.pieces_in(layout)
        file_footer.attach(disk, layout, lengths, ledger.length, ledger.digest)


def _nothing_of_tie(former: int, size: int) -> tuple[int, bytes]:
    """Zeros for where the tie of a file lay that is now longer: free slots are there."""
    return former, bytes(min(file_footer.SIZE, size - former))


def copy(disk: Disk, path: Path, current: dict[str, object], known: list[dict[str, object]]) -> None:
    """Make `path` hold `current`, unless it holds something that was never written to it."""
    try:
        held = limited_io.parse_json(read_file(path, LONGEST_COPY).decode()) if path.exists() else known[0]
    except ValueError as error:
        raise StoreCorrupt(f"{path}: {_CHANGED}") from error
    if held not in known:
        raise StoreCorrupt(f"{path}: {_CHANGED}")
    if held != current or not path.exists():
        disk.replace(path, to_json(current))


def to_json(fields: dict[str, object]) -> bytes:
    """A public file: for people to read."""
    return (json.dumps(fields, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


_CHANGED = (
    "differs from the ledger: it was changed by hand. A plan changes by `relearn`, a schema by a new store; remove the "
    "file and run any command to have it written again"
)


class StoreTransaction:
    """Transactions on the files of one store and on its rows, wherever these lie.

    `settled` is false while a change is under way, and after one that failed: nothing new begins before what it left
    is finished. `recovered` is the release of a request that had been interrupted.
    """

    def __init__(self, files: OpenedStore, table: TrainingTable, *, settled: bool) -> None:
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
        self.sync_publishers()

    def sync_publishers(self, *, again: bool = False) -> None:
        """Bring publishers to the release in force; one that failed is tried once for each release, or `again`."""
        aim = (publishing.wanted_release(self.ledger),)
        if again or self._led_on != aim:
            self._led_on = aim
            publishing.follow(self.files.disk, self.files.layout, self.ledger, self.artefact)

    def artefact(self) -> Artifact:
        """The model in force as it leaves the store."""
        model = self.files.model()
        assert model is not None
        return publishing.artefact(self.files.layout, self.ledger, model, self.files.schema)

    def _settle(self, execution: Execution) -> None:
        files = self.files
        files.ledger = Ledger.read(files.layout.ledger)
        self.table.forget()
        journal.finish_interrupted(files.disk, files.layout)
        files.model()  # a ledger that names a model it does not have is not one to clean up after
        change = self.table.begun()
        self.table.check()
        catch_up(files.disk, files.layout, self.ledger)
        sweep_leftovers(files.disk, files.layout, self.ledger)
        if change is not None and self.table.is_unfinished(change):
            self.recovered = self.finish(change, execution)
            return
        self.table.catch_up()
        models.destroy_candidate(files.disk, files.layout)
        if change is not None:
            journal.clear_journal(files.disk, files.layout)

    def finish(self, change: Change, execution: Execution) -> Release:
        """The rest of an accepted request. Every part can be repeated after a crash."""
        root = self.files.layout.root
        with explain_disk_errors(root, self.table.unfinished):
            self.files.lock.require()
            release: Release | None = None
            failure: NoisyGDDeleteError | None = None
            drawn: DrawnRelease | DrawnPatch | None = None
            publish = change.publish and self.ledger.releases > 0
            edits = change.of_slots
            if edits is not None and self.ledger.plan.mechanism.carries and self.ledger.releases:
                try:
                    change, drawn = self._drawn(edits, execution)
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
                except (StoreError, ProcessLost) as error:
                    error.add_note(f"{self.table.edited}; {self.table.unfinished}")
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
            models.destroy_candidate(self.files.disk, self.files.layout)
            journal.clear_journal(self.files.disk, self.files.layout)
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
            return change, models.kept_candidate(files.layout.candidate, plan, change.stamp)
        models.destroy_candidate(files.disk, files.layout)
        first = None if model is None else Continuation(self.ledger.account.since_fresh, model.sums)
        after = files.patch() if self.pending.total else first
        if model is None or after is None or self.table.has_stamp(change.stamp):
            return change, None
        drawn: DrawnRelease | DrawnPatch
        if not change.publish:
            from ..curator.carried_noise import change_of_edits, make_patch

            alone = Execution()  # the other processes of a group wait for runs
            patch = make_patch(change_of_edits(self.table.records, plan, change.edits), plan, after, alone)
            if patch is None:
                return change, None
            drawn = DrawnPatch(change.stamp, patch)
        else:
            release, event = self.run("draw", plan, execution, edits=change.edits)
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
            release, event = self.run("publish", self.ledger.plan, execution, ahead)
        else:
            event = drawn.event
            release = record_release(self.ledger.accountant.what_if(), event, Training(drawn.model, 1, 0.0))
        release = replace(release, remaining=left, request_id=request_id)
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
        digest = models.write_model(self.files.disk, self.files.layout, release.model, release.release)
        self.table.published(event, release.model, release.release)
        facts: dict[str, Any] = {
            "event": models.plain_answer(event.to_dict()),
            "plan": plan,
            "occasion": Occasions.DEMAND,
            **self.table.facts,
        }
        if unused_dates is not None:
            facts |= {"occasion": Occasions.CALENDAR, "unused_dates": unused_dates}
        self.files.enter(*edits, entry_of(EntryKinds(release.kind), release, digest, **facts))

    def catch_up(self) -> None:
        """What follows from the newest entry: old models removed, plan and slots as it says."""
        sweep_leftovers(self.files.disk, self.files.layout, self.ledger)
        self.table.catch_up()
        if self.ledger.head.plan is not None:
            self.table.forget()
            catch_up(self.files.disk, self.files.layout, self.ledger)

"""The steps from an accepted request to its release, each of which a crash can interrupt.

They run in one direction only:

    journal → erase rows in place → Noisy-GD from the published model → new model durable → ledger entry (the switch) →
    remove the old model → clear the journal → destinations (see `destinations`)

If noise is carried over from the previous release, the release is drawn before the rows are erased; if the release
comes later, a patch is drawn instead (see the section *candidate* of `models`).

Every step is idempotent, so whatever the journal still holds is run again, with fresh noise. If the rows are in a
source, the ledger records their deletion there before a release is made (see `sources.table`).
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
from . import destinations, file_footer, journal, models, names, training_table
from . import disk as database
from .destinations import DestinationFile
from .disk import Disk, explain_disk_errors, read_file
from .entry import Entry, EntryKinds, Occasions
from .layout import LONGEST_COPY, Layout
from .ledger import Ledger
from .models import DrawnPatch, DrawnRelease
from .training_table import Change, OpenedStore, TrainingTable, entry_of

if TYPE_CHECKING:
    from .artifact import Artifact


# --- group ---
#
# A store under torchrun: only process 0 holds the lock and writes; the others map its rows and take part in every run.
#
# Process 0 sends the state that a curator may keep between releases, and the call to make. Every process then makes
# that call of `Curator` on the same rows, each summing over its own share, and process 0 publishes. If a process dies,
# the run fails: the request stays in the journal, and the next command completes it.


@dataclass(frozen=True)
class GroupRun:
    """One release to make: the state of the curator and the call to run.

    Attributes:
        action: "learn", "publish", or "draw"; a draw takes place before the `edits` it covers are carried out.
        held: The plan of the table on disk.
        plan: The plan of the release.
        with_subjects: Whether the table has subjects.
        account: The sums of all releases so far.
        model: The current model.
        pending: Edits that no release covers yet.
        edits: The edits of a draw.
        patch: Covers the pending edits.
    """

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
        """Run process 0's part; return the release and the last event of its accountant."""
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
        """Run the part of another process."""
        records = training_table.load_table(
            layout, self.held.records, self.held.features, with_subjects=self.with_subjects
        )
        try:
            self._run(records, execution)
        except ProcessLost:
            raise
        except NoisyGDDeleteError:
            pass  # raised in every process alike; process 0 reports it


def follow_group(path: str | Path, execution: Execution) -> None:
    """Take part in every release that process 0 of the group makes from the store at `path`, until it signals the end.

    Raises:
        ProcessLost: If a process of the group has exited.
    """
    layout, nothing = Layout.at(path), cast("GroupRun | None", None)
    while (task := execution.group.share(nothing)) is not None:
        task.follow(layout, execution)


@contextmanager
def lead_group(group: Group) -> Iterator[None]:
    """Run process 0's work on a store in the body; the others run `follow_group` until it ends.

    An error that is not this package's own may occur in the middle of a run; the others then notice when this process
    exits.
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
# Recovery from a crash: always roll forward, to the state in the ledger.
#
# A ledger entry is the switch. Everything after it (removing the old model, copying the plan, adding free slots) only
# catches up with it and can be repeated at any time. Everything before it is a candidate, and is erased.


def sweep_leftovers(disk: Disk, layout: Layout, ledger: Ledger) -> None:
    """Erase leftovers of a crash.

    These are half-written files, database journals, models that the ledger does not name, and a patch without pending
    edits.
    """
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
    """Record the length of the ledger in seal.json and, if the table is in the store, in the footer of its ids.

    These are written last, so a seal that is behind the footer was restored from a backup; the publisher list and the
    register that it describes may then be stale too.
    """
    if not ledger.is_sealed:
        put_back = file_footer.says(layout, ledger.length, ledger.digest)
        ledger.seal(disk)
        if put_back:
            destinations.mark_list_untrusted(disk, layout)
    file_footer.note(disk, layout, ledger.length, ledger.digest)


def catch_up(disk: Disk, layout: Layout, ledger: Ledger) -> None:
    """Bring seal.json, plan.json, schema.json and the number of slots up to date with the ledger.

    Raises:
        StoreCorrupt: If a file matches neither the current state of the ledger nor an earlier one.
    """
    seal(disk, layout, ledger)
    copy(disk, layout.schema, ledger.schema, [ledger.schema])
    if ledger.source is None:
        _room(disk, layout, ledger)
    copy(disk, layout.plan, ledger.plans[-1], ledger.plans)


def _room(disk: Disk, layout: Layout, ledger: Ledger) -> None:
    """Extend the row files to the lengths that the plan requires."""
    plan = ledger.plan
    owned = ledger.schema.get("subject") is not None
    earlier = [fields["problem"]["records"] for fields in ledger.plans]
    lengths: dict[Path, int] = {}
    for path, size in training_table.table_sizes(layout, plan.records, plan.features, with_subjects=owned).items():
        before = [
            training_table.table_sizes(layout, slots, plan.features, with_subjects=owned)[path] for slots in earlier
        ]
        found = file_footer.length_of(path) if path.is_file() else None
        if found == size + file_footer.SIZE:  # extended, but the footer is not written yet
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
    """Return the zeros that overwrite the footer at the former end of an extended file, where free slots are now."""
    return former, bytes(min(file_footer.SIZE, size - former))


def copy(disk: Disk, path: Path, current: dict[str, object], known: list[dict[str, object]]) -> None:
    """Make `path` hold `current`. Raise `StoreCorrupt` if it holds something that was never written to it."""
    try:
        held = limited_io.parse_json(read_file(path, LONGEST_COPY).decode()) if path.exists() else known[0]
    except ValueError as error:
        raise StoreCorrupt(f"{path}: {_CHANGED}") from error
    if held not in known:
        raise StoreCorrupt(f"{path}: {_CHANGED}")
    if held != current or not path.exists():
        disk.replace(path, to_json(current))


def to_json(fields: dict[str, object]) -> bytes:
    """Return a public file as indented JSON."""
    return (json.dumps(fields, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


_CHANGED = (
    "differs from the ledger: it was changed by hand. A plan changes by `relearn`, a schema by a new store; remove the "
    "file and run any command to have it written again"
)


class StoreTransaction:
    """Transactions on the files of one store and on its rows, in the store or in a source.

    Attributes:
        files: The opened store.
        table: The rows.
        settled: False while a change is in progress, and after one that failed: the unfinished change is completed
            before a new one begins.
        recovered: The release of a request that had been interrupted.
    """

    def __init__(self, files: OpenedStore, table: TrainingTable, *, settled: bool) -> None:
        self.files, self.table, self.settled = files, table, settled
        self.recovered: Release | None = None
        self._synced: tuple[str | None] | None = None  # the last release that destinations were brought to

    @property
    def ledger(self) -> Ledger:
        """The ledger after the last entry."""
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
        """Run a curator's "learn", "publish" or "draw" from the current state, in every process of the group.

        Args:
            action: The call to make.
            plan: The plan of the release.
            execution: How to run it.
            ahead: Edits that the ledger does not hold yet.
            edits: The edits of a draw.
        """
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
        """Complete what an earlier failure left unfinished, run the body, then synchronise the destinations."""
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
        self.sync_destinations()

    def sync_destinations(self, *, again: bool = False) -> None:
        """Bring destinations to the current release.

        A failed one is tried once per release, or once more with `again`.
        """
        aim = (destinations.wanted_release(self.ledger),)
        if again or self._synced != aim:
            self._synced = aim
            destinations.run_hook(self.destination_file, self.ledger, self._artifact)

    @property
    def destination_file(self) -> DestinationFile:
        """The list of the store's destinations."""
        return DestinationFile(self.files.disk, self.files.layout)

    def _artifact(self) -> Artifact:
        """Return the current model in the form in which it leaves the store."""
        from .artifact import make_artifact  # imported on use: a store without destinations needs no schema

        model = self.files.model()
        assert model is not None
        return make_artifact(self.files.layout, self.ledger, model, self.files.schema)

    def _settle(self, execution: Execution) -> None:
        files = self.files
        files.ledger = Ledger.read(files.layout.ledger)
        self.table.forget()
        journal.finish_interrupted(files.disk, files.layout)
        files.model()  # raises if the named model is missing, before anything is cleaned up
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
        """Complete an accepted request. Every step can be repeated after a crash."""
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
                    failure = error  # the next command could not continue by itself
                except (StoreError, ProcessLost) as error:
                    error.add_note(f"{self.table.edited}; {self.table.unfinished}")
                    raise
                except NoisyGDDeleteError as error:
                    failure = error  # the rows are edited all the same: record it in the ledger
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
        """Draw the release that covers a change, or the patch if the release comes later, before the change is made.

        The draw is durable when this returns. It is omitted (None) where the chain is cut: edits are pending for which
        nothing was drawn, the budget is exhausted, or the draw cannot be read.
        """
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

            alone = Execution()  # no group: its other processes wait for runs
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
        """Make the release of a change. Its entry also records the edits, unless they have entries of their own."""
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
        """Make a release and commit the ledger entry that puts it in service or records that the budget refused it.

        Args:
            request_id: The id of the request.
            execution: How to run it.
            edits: Entries of edits that the release covers and the ledger does not hold yet; they are committed with
                it, not before.
            unused_dates: See `Store.publish`.
            left: Rows that the request leaves of the same subjects.
            ahead: Edits that the ledger does not hold yet.
            drawn: The release, if it was drawn before the edits; otherwise Noisy-GD runs from the published model.
        """
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
        """Make the model durable, then switch to it: the ledger entry puts it in service.

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
        """Apply the consequences of the newest entry: remove old models, update the plan and the number of slots."""
        sweep_leftovers(self.files.disk, self.files.layout, self.ledger)
        self.table.catch_up()
        if self.ledger.head.plan is not None:
            self.table.forget()
            catch_up(self.files.disk, self.files.layout, self.ledger)

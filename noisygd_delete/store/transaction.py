"""The steps from an accepted request to its release, each of which a crash can interrupt.

They run in one direction only:

    journal → erase rows in place → Noisy-GD from the published model → new model durable → ledger entry (the switch) →
    remove the old model → clear the journal → destinations (see `destinations`)

If noise is carried over from the previous release, the release is drawn before the rows are erased; if the release
comes later, a patch is drawn instead (see `candidate`).

Every step is idempotent, so whatever the journal still holds is run again, with fresh noise. If the rows are in a
source, the ledger records their deletion there before a release is made (see `source_kinds`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..accountant import Event
from ..curator.release import Release, ReleaseTask, make_release
from ..engine import CurrentRecords, Execution
from ..errors import CountBroken, InvalidParameter, NoisyGDDeleteError, ProcessLost, StoreCorrupt, StoreError
from ..methods.plan import Plan
from ..records import NO_EDITS, EditCounts, SlotEdits, limited_io
from . import candidate, destinations, file_footer, journal, models, names, training_table
from .candidate import DrawnPatch, DrawnRelease
from .destinations import DestinationFile
from .disk import Disk, explain_disk_errors, forget_database, read_file
from .entry import Entry, EntryKinds, Occasions
from .group import GroupTask
from .layout import LONGEST_COPY, Layout
from .ledger import Ledger
from .training_table import Change, OpenedStore, TrainingTable, entry_of

if TYPE_CHECKING:
    from .artifact import Artifact


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
        forget_database(disk, path)


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

    def sizes_of(slots: int) -> dict[Path, int]:
        return training_table.table_sizes(layout, slots, plan.problem.features, with_subjects=owned, codec=ledger.codec)

    for path, size in sizes_of(plan.problem.records).items():
        before = [sizes_of(slots)[path] for slots in earlier]
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

    @contextmanager
    def open_task(
        self,
        plan: Plan,
        execution: Execution,
        *,
        learn: bool = False,
        ahead: EditCounts = NO_EDITS,
        edits: SlotEdits | None = None,
    ) -> Iterator[tuple[CurrentRecords, ReleaseTask]]:
        """Open the rows, yield them with a release to make from the current state, and send it to the group.

        Args:
            plan: The plan of the release.
            execution: How to run it.
            learn: Whether to learn afresh.
            ahead: Edits of the rows that the ledger does not hold yet.
            edits: Edits that the release covers and the rows do not have yet.
        """
        with self.table.read(plan, execution) as records:
            account, model, pending = self.files.ledger.account, self.files.model(), self.files.pending + ahead
            after = None if model is None else self.table.find_continuation(model, pending)
            task = ReleaseTask(plan, account, model, pending, after, edits, learn)
            execution.group.share(
                GroupTask(self.files.ledger.plan, self.files.with_subjects, task, self.files.ledger.codec)
            )
            yield training_table.with_slots(records, plan.problem.records), task

    @contextmanager
    def run_change(self, execution: Execution) -> Iterator[None]:
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
        aim = (destinations.wanted_release(self.files.ledger),)
        if again or self._synced != aim:
            self._synced = aim
            destinations.run_hook(self.destination_file, self.files.ledger, self._artifact)

    @property
    def destination_file(self) -> DestinationFile:
        """The list of the store's destinations."""
        return DestinationFile(self.files.disk, self.files.layout)

    def _artifact(self) -> Artifact:
        """Return the current model in the form in which it leaves the store."""
        from .artifact import make_artifact  # imported on use: a store without destinations needs no schema

        model = self.files.model()
        assert model is not None
        return make_artifact(self.files.layout, self.files.ledger, model, self.files.schema)

    def _settle(self, execution: Execution) -> None:
        files = self.files
        files.ledger = Ledger.read(files.layout.ledger)
        self.table.forget()
        if files.layout.former_request.exists():  # of an interrupted `journal.mark_drawn`
            files.disk.exchange(files.layout.request)
        files.model()  # raises if the named model is missing, before anything is cleaned up
        change = self.table.read_change()
        self.table.check()
        catch_up(files.disk, files.layout, self.files.ledger)
        sweep_leftovers(files.disk, files.layout, self.files.ledger)
        if change is not None and self.table.is_unfinished(change):
            self.recovered = self.finish(change, execution)
            return
        self.table.catch_up()
        files.disk.erase(files.layout.candidate)
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
            publish = change.publish and self.files.ledger.releases > 0
            edits = change.of_slots
            if edits is not None and self.files.ledger.plan.mechanism.carries and self.files.ledger.releases:
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
                    if drawn is None:
                        ahead = change.counts if entries else NO_EDITS
                        with self.open_task(self.files.ledger.plan, execution, ahead=ahead) as (records, task):
                            release, event = make_release(records, task, execution)
                    else:
                        release, event = drawn.release(self.files.ledger.accountant), drawn.event
                    release = self._commit_covering(change, entries, release, event)
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
            self.files.disk.erase(self.files.layout.candidate)
            journal.clear_journal(self.files.disk, self.files.layout)
        if failure is not None:
            raise StoreError(
                f"{root}: {self.table.edited} and {self.files.pending.total} edits wait for a release, but none could be made: {failure}"
            ) from failure
        return release

    def _drawn(
        self, change: journal.InFlight, execution: Execution
    ) -> tuple[journal.InFlight, DrawnRelease | DrawnPatch | None]:
        """Draw the release that covers a change, or the patch if the release comes later, before the change is made.

        The draw is durable when this returns. It is omitted (None) where the chain is cut: edits are pending for which
        nothing was drawn, the budget is exhausted, or the draw cannot be read.
        """
        files, plan, model = self.files, self.files.ledger.plan, self.files.model()
        if change.drawn:
            return change, candidate.kept_candidate(files.layout.candidate, plan, change.stamp)
        files.disk.erase(files.layout.candidate)
        after = None if model is None else self.table.find_continuation(model, self.files.pending)
        if after is None or self.table.has_stamp(change.stamp):
            return change, None
        drawn: DrawnRelease | DrawnPatch
        if not change.publish:
            from ..curator.carried_noise import draw_patch

            alone = Execution()  # no group: its other processes wait for runs
            patch = draw_patch(self.table.records, plan, change.edits, after, alone)
            if patch is None:
                return change, None
            drawn = DrawnPatch(change.stamp, patch)
        else:
            with self.open_task(plan, execution, edits=change.edits) as (records, task):
                release, event = make_release(records, task, execution)
            if event is None or release.model is None:
                return change, None
            drawn = DrawnRelease(change.stamp, event, release.model)
        drawn.keep(files.disk, files.layout.candidate)
        begun = replace(change, drawn=True)
        journal.mark_drawn(files.disk, files.layout, begun)
        return begun, drawn

    def _commit_covering(
        self, change: Change, entries: Sequence[Entry], release: Release, event: Event | None
    ) -> Release:
        """Commit the release of a change; return it as the answer to the request.

        Its entry also records the edits of the request, unless they have entries of their own.
        """
        if change.parts:
            self.commit(release, event, edits=entries)
            return release
        ((request_id, _, left),) = change.requests
        answer = replace(release, request_id=request_id, remaining=left)
        self.commit(answer if entries else release, event)
        return answer

    def commit(
        self,
        release: Release,
        event: Event | None,
        plan: dict[str, Any] | None = None,
        edits: Sequence[Entry] = (),
        unused_dates: int | None = None,
    ) -> None:
        """Make the model durable, then switch to it: the ledger entry puts it in service.

        `unused_dates`: see `Store.publish`.
        """
        if event is None or release.model is None:
            self.files.enter(*edits, entry_of(EntryKinds.WITHHELD, release, None, **self.table.facts))
            return
        self.files.lock.require()
        digest = models.write_model(self.files.disk, self.files.layout, release.model, release.release)
        self.table.prepare_release(event, release.model, release.release)
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
        sweep_leftovers(self.files.disk, self.files.layout, self.files.ledger)
        self.table.catch_up()
        if self.files.ledger.head.plan is not None:
            self.table.forget()
            catch_up(self.files.disk, self.files.layout, self.files.ledger)

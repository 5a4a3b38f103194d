"""The table of a store whose rows are in a source. The store holds plan, model and ledger, never a row or an id.

    journal (a mark and a number) → DELETE committed in the source → ledger: deleted there, at this position
        → one snapshot, later than that → the release → ledger: published, from this position → clear the journal

A crash before the commit deletes nothing and leaves nothing; after it, the next command finds the mark in the source
and continues. An erasure counts from the first release whose snapshot is later than its commit: an earlier snapshot is
refused.

Rows come in any order and change without this store's knowledge. So a plan must start every release afresh, and its
proof must bound the rounding of gradients summed in any order: the solver's does, in float64; the proof for noisy steps
relies on blocks of rows in a fixed order. Rows are held for one release only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from noisygd_delete.accountant import Event, EventKinds
from noisygd_delete.curator.learning import check_fit
from noisygd_delete.curator.model import Continuation, Model
from noisygd_delete.curator.release import Release
from noisygd_delete.engine import CurrentRecords, Execution, local_rows
from noisygd_delete.errors import (
    CountBroken,
    InvalidParameter,
    InvalidRequest,
    SourceError,
    StoreError,
    UnknownName,
    check_count,
)
from noisygd_delete.features.schema import Encoded, Schema
from noisygd_delete.methods import external_row_methods
from noisygd_delete.methods.plan import Plan
from noisygd_delete.records import EditCounts, EditRequest, Names, Records, check_token, limited_io
from noisygd_delete.store import journal as stored_journal
from noisygd_delete.store import models, training_table
from noisygd_delete.store.disk import Disk, explain_disk_errors, read_file
from noisygd_delete.store.entry import Entry, EntryKinds
from noisygd_delete.store.equal_rows import equal_rows
from noisygd_delete.store.journal import add_checksum, read_journal, strip_checksum
from noisygd_delete.store.layout import Layout
from noisygd_delete.store.position import check_position, position_covers
from noisygd_delete.store.source_kinds import Erased
from noisygd_delete.store.training_table import NOTHING_CHANGED, Change, OpenedStore, TrainingTable

from .carried_noise import KeptChain, SummedRows, sum_snapshot
from .events import parse_erased
from .reading import Held, columns_of, rows_of
from .scratch import ScratchRecords
from .source import Source, SourceHistory, returned_rows_error

# --- journal ---
#
# A deletion in progress: durable before the source commits, and identified there by its mark. It contains no names.


_FORMAT = "deletion/1"
_LONGEST = 1 << 16  # bytes
_LONGEST_MARK = 100


@dataclass(frozen=True)
class Deletion:
    """A deletion about to be committed in the source.

    Attributes:
        base: The number of ledger entries when it began; a longer ledger has recorded it.
        mark: Identifies the transaction in the source.
        rows: The number of rows that it deletes.
        publish: Whether a release follows at once.
        request_id: The id of the request.
    """

    base: int
    mark: str
    rows: int
    publish: bool
    request_id: str | None

    def __post_init__(self) -> None:
        check_count("base", self.base)
        check_count("rows", self.rows)
        check_token(self.request_id)
        if (
            not isinstance(self.mark, str)
            or not 0 < len(self.mark) <= _LONGEST_MARK
            or not isinstance(self.publish, bool)
        ):
            raise InvalidParameter("not a deletion")

    of_slots: ClassVar[None] = None
    parts: ClassVar[tuple[()]] = ()

    @property
    def counts(self) -> EditCounts:
        """The edits, all of them deletions."""
        return EditCounts(deleted=self.rows)

    @property
    def requests(self) -> tuple[tuple[str | None, EditCounts, None]]:
        """The request id and its edits."""
        return ((self.request_id, self.counts, None),)

    def to_bytes(self) -> bytes:
        """Return the content of the journal."""
        return add_checksum(json.dumps({"format": _FORMAT, **asdict(self)}).encode())


def begin_deletion(disk: Disk, layout: Layout, deletion: Deletion) -> None:
    """Write the deletion to the journal; from then on, a later process can determine whether it happened."""
    disk.replace(layout.request, deletion.to_bytes())
    disk.reached("commit", layout.request)


def read_deletion(layout: Layout) -> Deletion | None:
    """Return the deletion that was begun and not completed, if any.

    Raises:
        StoreCorrupt: If `begin_deletion` did not write the journal.
    """

    def parse() -> Deletion:
        fields = limited_io.parse_json(strip_checksum(read_file(layout.request, _LONGEST)).decode())
        if fields.pop("format") != _FORMAT:
            raise ValueError("another format")
        return Deletion(**fields)

    return read_journal(layout, parse)


_COMPARED = 1 << 14  # names compared at a time with a name that has no row
_MOST_COMPARED = 1 << 20  # names of a source read for this comparison
_NOTHING_PUBLISHED = "nothing was published"


def _check_chain(source: Source, plan: Plan) -> None:
    """Raise `InvalidParameter` unless releases by this plan may continue from one another over this source."""
    source.check_chain(external_row_methods(plan.problem))
    if source.subject is not None and "inserted" not in plan.promise.edits:
        raise InvalidParameter(
            f"{source.address}: of a person with more rows than are read, those that are left come in when one goes; plan with joiners=true"
        )


class TableInSource(TrainingTable):
    """Rows in a `Source`, which are read there for every release."""

    source: Source
    shares_transactions = False
    unfinished = "the deletion is in the journal; free space or fix permissions, and the next command finishes it"
    edited = "the rows are deleted in the source"

    def __init__(self, files: OpenedStore, source: Source) -> None:
        super().__init__(files)
        self.source = source
        self._facts: dict[str, Any] = dict.fromkeys(("position", "counted", "mark", "definition"))
        self._chain = KeptChain(files)
        # the state of the rows summed last, and whether it equals the chain's
        self._state: tuple[str | None, bool] = None, False
        self._committed: str | None = None  # commit position of the journalled deletion; None once in the ledger
        self._gone: list[
            tuple[Sequence[str], Sequence[str]]
        ] = []  # ids and persons deleted by this process since the last release

    @property
    def facts(self) -> Mapping[str, Any]:
        """What a ledger entry records about a release, as a dict.

        `position`: of the snapshot that the release was made from. `counted`: what counted the changes up to there.
        `mark`: of the newest deletion that it showed. `definition`: of the rows (`source.Snapshot`).
        """
        return self._facts

    @property
    def records(self) -> Records:
        raise StoreError(f"{self._elsewhere} they are read for a release, and let go of after it")

    @property
    def _elsewhere(self) -> str:
        return f"the rows of this store lie in {self.source.address};"

    def names(self) -> Iterable[str]:
        return self.source.names(self.source.id)

    def find_names(self, wanted: Sequence[str], *, persons: bool = False) -> set[str]:
        return self.source.find_held(wanted, persons=persons)

    def has_similar(self, name: str, *, person: bool) -> bool:
        column = self.source.subject if person else self.source.id
        if column is None or self.source.table is None:
            return False
        names = islice(self.source.names(column), _MOST_COMPARED)
        return any(Names.of(some).has_similar(name) for some in iter(lambda: list(islice(names, _COMPARED)), []))

    def rows_among(self, encoded: Encoded) -> int:
        if self.matched_by(encoded) == "id":
            assert encoded.ids is not None
            return self.source.held(list(map(str, encoded.ids)), [])
        with self.snapshot(self._files.ledger.plan) as (records, *_):
            parts = (
                records.parts()
                if isinstance(records, ScratchRecords)
                else training_table.table_parts(local_rows(records))
            )
            return equal_rows(parts, encoded)

    def matched_by(self, encoded: Encoded) -> str:
        return "content" if self.source.table is None else super().matched_by(encoded)

    def adapt_plan(self, plan: Plan) -> Plan:
        plan.method.check_any_order(plan.problem, external_row_methods(plan.problem))
        if plan.mechanism.carries:
            _check_chain(self.source, plan)
            if not self.source.is_watched():
                raise InvalidParameter(
                    f"{self.source.address}: nothing counts yet what other programs change there, and a release by method 'sufficient-statistics' goes on from rows that "
                    f"nobody else changed; run noisygd-delete watch {self._files.layout.root} first"
                )
        if plan.problem.rows_per_subject != self.source.rows_per_subject:
            raise InvalidParameter(
                f"{self._files.layout.root}: the plan is for {plan.problem.rows_per_subject} rows of one person, and the source gives "
                f"{self.source.rows_per_subject}; make a new store for another number"
            )
        return plan.allow_any_order()

    def counts_of(self, request: EditRequest) -> EditCounts:
        ids, subjects = self._named(request)
        named = len(ids) + len(subjects)
        if self.source.held(ids, subjects, names=True) < named:  # an id can have several rows
            for kind, names in (("id", ids), ("subject", subjects)):
                there = self.source.find_held(names, persons=kind == "subject")
                for missing in (name for name in names if name not in there):
                    raise UnknownName(kind, missing)
        return EditCounts(deleted=self.source.held(ids, subjects))

    def check_repeat(self, request: EditRequest, edited: EditCounts) -> None:
        ids, subjects = self._named(request)
        as_many = edited.deleted >= max(len(ids), len(subjects))  # a name can have several rows
        if not as_many or self.source.held(ids, subjects):
            raise InvalidRequest(models.OTHER_REQUEST)

    def _named(self, request: EditRequest) -> tuple[list[str], list[str]]:
        """Return the ids and persons whose rows a request deletes; raise `InvalidRequest` if it does anything else."""
        if request.replacements or request.insertion is not None:
            raise InvalidRequest(
                f"{self._elsewhere} change them there, and publish --force: every release reads the rows as they are"
            )
        return list(map(str, request.deletions)), list(map(str, request.subjects))

    def begin(self, request: EditRequest, *, publish: bool, note: Callable[[], None]) -> Deletion:
        """Commit the deletion in the source and return it.

        Raises:
            SourceError: If the source did not answer; the next call continues if the deletion was committed.
        """
        files, begun = self._files, list[Deletion]()
        ids, subjects = self._named(request)

        def accept(mark: str, gone: Sequence[str]) -> None:
            if files.tombstones is not None:
                files.tombstones.add(gone, files.disk)
            begun.append(Deletion(files.ledger.length, mark, len(gone), publish, request.request_id))
            with explain_disk_errors(files.layout.root, NOTHING_CHANGED):
                note()
                begin_deletion(files.disk, files.layout, begun[0])

        chain = KeptChain(files) if files.ledger.plan.mechanism.carries and files.ledger.releases else None
        self._committed = self.source.delete(ids, subjects, accept, self._done(), chain)
        self._gone.append((ids, subjects))
        return begun[0]

    def read_change(self) -> Deletion | None:
        deletion = read_deletion(self._files.layout)
        if deletion is not None:
            stored_journal.require_base(deletion.base, None, self._files.ledger)
        return deletion

    def is_unfinished(self, change: Change) -> bool:
        """Return whether the source committed the deletion but the ledger lacks it, or lacks the release after it."""
        assert isinstance(change, Deletion)
        ledger = self._files.ledger
        if ledger.length == change.base:
            self._committed = self.source.find_commit(change.mark)
            return self._committed is not None  # else it never happened, and was never confirmed
        self._committed = None
        answered = any(map(self._answers, range(change.base, ledger.length)))
        return not answered and change.publish and ledger.releases > 0

    def _answers(self, place: int) -> bool:
        """Return whether this entry publishes the edits before it, or records that the budget refused it."""
        return self._made(place) or self._files.ledger.entry(place).kind is EntryKinds.WITHHELD

    def carry_out(self, change: Change) -> tuple[list[Entry], Release]:
        """Record the deletion in the ledger at once, so that its position is earlier than the snapshot's."""
        assert isinstance(change, Deletion)
        if self._committed is not None:
            self._chain.catch_up(deleted=True)
            self._note(change.counts, self._committed, change.request_id, self.source.trace(change.mark))
            self._committed = None
        return [], models.pending_answer(self._files.ledger, self._files.pending, change.request_id)

    def has_counted(self, position: str | None) -> bool:
        if self.source.counts_by != "trigger" or position is None:
            return False
        ledger, first = self._files.ledger, None
        for release in range(ledger.model_release, 0, -1):  # back to the first release that read the rows after it
            place = ledger.find_release(release)
            if place is not None and (read := ledger.entry(place).position) is not None:
                if not position_covers(read, check_position(position)):
                    break
                first = release, ledger.entry(place).counted
        return first is not None and (first[0] == 1 or first[1] is not None)  # the first model never held the row

    def note_erased(
        self, counts: EditCounts, position: str | None, request_id: str | None, ids: Sequence[str] = ()
    ) -> None:
        still = self.source.held(ids, [], names=True) if ids and self.source.table else 0
        if still:
            raise returned_rows_error(self.source.address, still)
        at = self.source.position() if position is None else check_position(position)
        if position is not None and not position_covers(self.source.position(), at):
            raise InvalidRequest(
                f"{self.source.address} has not reached {at}: nothing was committed there; nothing was changed"
            )
        if not self._is_read(at):
            self._require_counted(self._told() + counts, self.changes())
        with explain_disk_errors(self._files.layout.root, NOTHING_CHANGED):
            self._note(counts, at, request_id)
        if self._files.tombstones is not None:
            self._files.tombstones.add(ids, self._files.disk)
        if ids:
            self._gone.append((ids, []))

    def _note(self, counts: EditCounts, position: str, request_id: str | None, mark: str | None = None) -> None:
        """Commit the entry for rows deleted in the source at this position; a later release will cover them."""
        answer = models.pending_answer(self._files.ledger, self._files.pending + counts, request_id)
        self._files.enter(self._files.entry_of_edits(answer, position=position, mark=mark))

    @contextmanager
    def read(self, plan: Plan, execution: Execution) -> Iterator[CurrentRecords]:
        if execution.group.size > 1:
            raise InvalidParameter(f"{self._elsewhere} its releases are made by one process; run it without torchrun")
        with self.snapshot(plan, execution.memory, summing=plan.mechanism.carries is not None) as held:
            records, position, counted, self.left_out, definition = held
            self._state = (records.state, records.unchanged) if isinstance(records, SummedRows) else (None, False)
            counted_by = None if counted is None else self.source.counts_by
            if self._state[1]:
                counted_by = self.source.counts_by or "file"
            mark = next(iter(self._marks()), None)
            self._facts = {"position": position, "counted": counted_by, "mark": mark, "definition": definition}
            if counted is not None:
                with explain_disk_errors(self._files.layout.root, _NOTHING_PUBLISHED):
                    self._note_unseen(counted)
            yield records
        self._gone.clear()

    def find_continuation(self, model: Model, pending: EditCounts) -> Continuation | None:
        """Return what the next draw continues; None unless the rows just read are unchanged."""
        return self._chain.after if self._state[1] else None

    def is_cut(self, pending: EditCounts) -> bool:
        return not self.source.is_in(self._chain.state)

    def prepare_release(self, event: Event, model: Model, number: int) -> None:
        self._chain.publish(event, model, number, self._state[0])

    def catch_up(self) -> None:
        self._chain.catch_up(deleted=False)

    @contextmanager
    def snapshot(self, plan: Plan, memory: int | None = None, *, summing: bool = False) -> Iterator[Held]:
        """Open a snapshot of the current rows, with its position and, if counted, the changes since the last release.

        Raises:
            SourceError: If the snapshot is earlier than something the ledger records as done, or does not show it.
            CountBroken: If the count of changes is incomplete.
        """
        facts = self.source, self._files.schema
        read: AbstractContextManager[Held]
        if summing:
            read = nullcontext(sum_snapshot(*facts, plan, self._last_read(), self._done(), self._chain))
        else:
            read = rows_of(*facts, plan.problem.records, self._last_read(), memory, self._done())
        with read as (records, position, counted, left_out, definition):
            for earlier in self._reached():
                if not position_covers(position, earlier):
                    raise SourceError(
                        f"{self.source.address}: its rows are as they were before {earlier}, which the ledger says was reached: a copy "
                        "that lags behind, or a restored backup. Nothing was published. Wait for the copy, or carry out again "
                        "what was deleted since the backup, in a new store"
                    )
            self._require_counted(self._told(), counted)
            yield records, position, counted, left_out, definition

    def _done(self) -> SourceHistory:
        """Return the history that a snapshot must show."""
        ids, subjects = (
            (tuple(name for names in some for name in names) for some in zip(*self._gone, strict=True))
            if self._gone
            else ((), ())
        )
        refuse = None if self._files.tombstones is None else self._refuse
        return SourceHistory(tuple(self._marks()), ids, subjects, refuse, self._erased_at(), self._last_definition())

    def _erased_at(self) -> str | None:
        """Return the position of the last entry of erased rows."""
        ledger = self._files.ledger
        for place in range(ledger.length - 1, 0, -1):
            entry = ledger.entry(place)
            if entry.kind is EntryKinds.EDIT and entry.position is not None and ledger.edits_at(place).erased:
                return entry.position
        return None

    def _refuse(self, ids: Iterable[str]) -> None:
        tombstones = self._files.tombstones
        assert tombstones is not None
        again = sum(1 for _ in tombstones.among(ids))
        if again:
            raise SourceError(
                f"{self.source.address}: {again} rows there have ids that were erased before, by {tombstones.path}: a dump or a backup was restored, or "
                "an application wrote them again. Nothing was published; delete them again (`delete STORE --reapply` finds them by the list)"
            )

    def _require_counted(self, reported: EditCounts, counted: EditCounts | None) -> None:
        """Raise unless the reported erasures are among the counted changes, if changes are counted."""
        missing = missing_edits(reported, counted) if counted and self.source.counts_by == "trigger" else 0
        if missing:
            raise CountBroken(
                f"{self.source.address}: {reported.erased} rows were reported erased since the last release, and the trigger there counted "
                f"{reported.erased - missing}. Nothing was published. Look which of the two is wrong; where it is the trigger, `watch` "
                "counts anew"
            )

    def changes(self) -> EditCounts | None:
        since = self._last_read()
        if since is None or self.source.counts_by is None:
            return None
        done = SourceHistory(definition=self._last_definition())
        with self.source.snapshot(columns_of(self._files.schema), since, done) as now:
            return now.changes

    def watch(self) -> EditCounts | None:
        """Start counting changes in the source; return those since the last release if they were counted already.

        Raises:
            InvalidParameter: If the source cannot count changes.
            SourceError: If the source refuses.
        """
        return self.source.watch(columns_of(self._files.schema), self._last_read(), self._last_definition())

    def _note_unseen(self, counted: EditCounts) -> None:
        """Commit an entry for unreported changes; those found before, whose release failed, count as reported."""
        changes = unobserved_edits(self._told(), counted)
        if changes.total:
            answer = models.pending_answer(self._files.ledger, self._files.pending + changes, None)
            self._files.enter(self._files.entry_of_edits(answer, **self.facts))

    def _told(self) -> EditCounts:
        """Return the edits reported since the newest release, except those that it had read before the report."""
        ledger, pending = self._files.ledger, self._files.pending
        for place in range(ledger.length - 1, -1, -1):
            if self._made(place):
                break
            if self._is_read(ledger.entry(place).position):
                pending -= ledger.edits_at(place)
        return pending

    def _is_read(self, position: str | None) -> bool:
        """Return whether the newest release read the rows after this position."""
        last = self._last_read()
        return last is not None and position is not None and position_covers(last, position)

    def _last_read(self) -> str | None:
        """Return the position of the newest release."""
        entry = self._last_release()
        return None if entry is None else entry.position

    def _last_definition(self) -> str | None:
        """Return the definition of the rows that the newest release read."""
        entry = self._last_release()
        return None if entry is None else entry.definition

    def _last_release(self) -> Entry | None:
        ledger = self._files.ledger
        place = ledger.find_release(ledger.model_release) if ledger.releases else None
        return None if place is None else ledger.entry(place)

    def _made(self, place: int) -> bool:
        """Return whether this entry is of a model; statistics have no snapshot of the source."""
        event = self._files.ledger.entry(place).event
        return event is not None and event["kind"] != EventKinds.STATISTIC

    def _last(self) -> Iterator[Entry]:
        """Yield the newest release and everything after it, the newest first."""
        for place in range(self._files.ledger.length - 1, -1, -1):
            yield self._files.ledger.entry(place)
            if self._made(place):
                break

    def _reached(self) -> list[str]:
        """Return the last positions in the ledger: of the newest release, and of every deletion since."""
        return [entry.position for entry in self._last() if entry.position is not None]

    def _marks(self) -> list[str]:
        """Return the marks of deletions that a snapshot must show, the newest first.

        Each release has shown those before it.
        """
        return [entry.mark for entry in self._last() if entry.mark is not None]


def unobserved_edits(reported: EditCounts, counted: EditCounts) -> EditCounts:
    """Return the counted edits that were not reported.

    A row that was reported as deleted but was emptied by an update counts as reported. A trigger counts every write, so
    a row may count several times; versions count what differs between two of them. Both are at least the number of rows
    in which the second release differs from the first.
    """
    emptied = max(0, reported.deleted - counted.deleted)
    every = EditCounts(
        deleted=max(reported.deleted, counted.deleted),
        replaced=max(reported.replaced, counted.replaced - emptied),
        inserted=max(reported.inserted, counted.inserted),
        unrecorded=reported.unrecorded,
    )
    return every - reported


def missing_edits(reported: EditCounts, counted: EditCounts) -> int:
    """Return how many of the rows reported as erased are missing from a count of all writes."""
    return max(0, reported.deleted + reported.replaced - counted.deleted - counted.replaced)


@dataclass(frozen=True)
class StoreSource(Source):
    """A source over which a store can be made: the base class of every kind (see `store.source_kinds`)."""

    def check_over(self, schema: Schema, plan: Plan, memory: int | None = None) -> None:
        """Read the rows once and raise unless a store with this schema and plan may be created over them.

        Args:
            schema: The schema of the rows.
            plan: The plan of the store.
            memory: Bytes of rows to hold; see `reading.rows_of`.
        """
        problem = plan.problem
        plan.method.check_any_order(problem, external_row_methods(problem))
        if schema.id_column != self.id or schema.subject_column != self.subject:
            raise InvalidParameter("schema and source name different columns of ids or of persons")
        if self.rows_per_subject != problem.rows_per_subject or schema.features != problem.features:
            raise InvalidParameter("source, schema and plan differ in rows_per_subject or in features")
        if schema.feature_map != problem.feature_map:
            raise InvalidParameter(
                "schema and plan differ in their public map; give make_plan(feature_map=schema.feature_map)"
            )
        self.check()
        if plan.mechanism.carries:
            _check_chain(self, plan)
            check_fit(sum_snapshot(self, schema, plan)[0], plan)
            return
        with rows_of(self, schema, problem.records, memory=memory) as (records, *_):
            check_fit(records, plan)

    def open_table(self, files: OpenedStore) -> TableInSource:
        """Return the table of a store whose rows are here."""
        return TableInSource(files, self)

    def read_events(self, path: str | Path) -> list[Erased]:
        """Return the deletions from this table in a file of events; see `events.parse_erased`."""
        return parse_erased(path, self.table, self.id)

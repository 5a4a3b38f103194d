"""The training set of a store: the interface for its transactions, and the table whose rows are in the store itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import DTypeLike

from ..accountant import Event
from ..curator.learning import check_edit
from ..curator.model import Continuation, Model
from ..curator.release import Release
from ..engine import CurrentRecords, Execution, local_rows
from ..errors import InvalidParameter, StoreCorrupt
from ..methods.plan import Plan
from ..records import (
    NO_EDITS,
    NONE_LEFT_OUT,
    CodedRows,
    EditCounts,
    EditRequest,
    Id,
    Insertion,
    Labels,
    Records,
    Rows,
    SlotEdits,
    check_repeat,
    check_size,
)
from ..records.values import append_rows, null_rows
from . import candidate, file_footer, journal, models, names
from .disk import Disk, explain_disk_errors
from .entry import Entry, EntryKinds, utc_now
from .equal_rows import equal_rows
from .held_out import forget_held_out
from .layout import LABEL, ROW, Layout, Lock
from .ledger import Ledger

if TYPE_CHECKING:
    from ..features.schema import Encoded, Schema
    from ..records.values import Codec
    from .tombstones import Tombstones


# --- opened ---
#
# The files of one store, as seen by the process that holds its lock. Changes take effect with a ledger entry.


class OpenedStore:
    """Layout, lock and ledger of a store opened for writing. Only `enter` changes the ledger.

    Attributes:
        layout: The paths of the store.
        disk: The file operations.
        lock: The lock, held.
        ledger: The ledger after the last entry.
        tombstones: A list of erased ids, kept outside the store.
    """

    def __init__(self, layout: Layout, disk: Disk, lock: Lock, ledger: Ledger) -> None:
        self.layout, self.disk, self.lock, self.ledger = layout, disk, lock, ledger
        self.tombstones: Tombstones | None = None

    @property
    def schema(self) -> Schema:
        """The schema, with the feature map of the current plan."""
        schema = self.ledger.read_schema(self.layout.root)
        return replace(schema, named_map=self.ledger.plan.problem.feature_map)

    @property
    def with_subjects(self) -> bool:
        """Whether the table has subjects."""
        return self.ledger.schema.get("subject") is not None  # the only key of the schema that every run needs

    @property
    def pending(self) -> EditCounts:
        """Edits that no release covers yet."""
        return self.ledger.head.pending_counts

    def model(self) -> Model | None:
        """Return the current model, if any."""
        digest = self.ledger.head.model
        if digest is None:
            return None
        return models.load_model(self.layout, self.ledger.plan, self.ledger.model_release, digest)

    def patch(self) -> Continuation | None:
        """Return the patch that covers the pending edits, if any."""
        return candidate.patch_now(self.layout, self.ledger) if self.layout.patch.exists() else None

    def enter(self, *entries: Entry) -> None:
        """Commit entries. The commit is the instant at which their requests take effect."""
        self.lock.require()
        self.ledger = self.ledger.append(self.disk, *entries)
        file_footer.note(self.disk, self.layout, self.ledger.length, self.ledger.digest)

    def accept(self, change: journal.InFlight) -> None:
        """Write a request to the journal; from then on it will be carried out."""
        if change.counts.total > change.counts.deleted:  # a deletion gives no name a row
            forget_held_out(self.disk, self.layout, change.edits.ids, change.edits.subjects)
        journal.write_journal(self.disk, self.layout, change)

    def note(self, kind: EntryKinds, **facts: Any) -> None:
        """Commit an entry that edits no row and keeps the model; pending edits remain pending."""
        head, when = self.ledger.head, utc_now()
        waiting = head.pending_counts.to_dict()
        self.enter(Entry(kind=kind, time=when, pending=head.pending, waiting=waiting, model=head.model, **facts))

    def entry_of_edits(self, answer: Release, **facts: Any) -> Entry:
        """Return the entry for edited rows that a later release will cover."""
        head = self.ledger.head
        return entry_of(EntryKinds.EDIT, answer, head.model, withdrawn=head.withdrawn, **facts)


def entry_of(kind: EntryKinds, release: Release, model: str | None, **facts: Any) -> Entry:
    """Return the entry that stores an answer. `model`: the digest of the current model after the entry."""
    waiting = NO_EDITS if "event" in facts else release.counts
    return Entry(
        kind=kind,
        time=utc_now(),
        pending=waiting.total,
        waiting=waiting.to_dict(),
        model=model,
        answer=models.kept_answer(release),
        request_id=release.request_id,
        **facts,
    )


# --- table ---
#
# The records on disk: written once, edited in place slot by slot, mapped without copying rows or names.


_LABEL_BYTES = np.dtype(LABEL).itemsize
_ROW_BYTES = np.dtype(ROW).itemsize
_BLOCK = 1 << 22  # numbers written at a time
_PART = 2048  # slots read at a time
_NAMES = 1 << 16  # names looked up at a time


def write_table(disk: Disk, layout: Layout, records: Records) -> None:
    """Write a new table to disk, as codes if the records hold these."""
    disk.make_folder(layout.records)
    if records.coded_rows is None:
        disk.create(layout.features, _pieces(records.features, ROW))
    else:
        disk.create(layout.codes, _pieces(records.coded_rows.codes, records.coded_rows.codec.dtype))
    disk.create(layout.labels, _pieces(records.labels, LABEL))
    for path, content in names.names_files(layout, records.names, records.owners):
        disk.create(path, content)
    disk.sync_folder(layout.records)


def _pieces(values: np.ndarray, kind: DTypeLike) -> Iterator[bytes]:
    rows = max(1, _BLOCK // max(1, values[:1].size))
    for first in range(0, len(values), rows):
        yield np.ascontiguousarray(values[first : first + rows], dtype=kind).tobytes()


def load_table(layout: Layout, slots: int, width: int, *, with_subjects: bool, codec: Codec | None = None) -> Records:
    """Return the table, mapped from its files. Rows and names are read on demand, and later edits are visible.

    Args:
        layout: The paths of the store.
        slots: The number of slots.
        width: The number of features.
        with_subjects: Whether the table has subjects.
        codec: How the rows are stored as codes; None if their features are stored.

    Raises:
        StoreCorrupt: If the files do not have this number of slots and features.
    """
    for path, size in table_sizes(layout, slots, width, with_subjects=with_subjects, codec=codec).items():
        if path.is_symlink() or not path.is_file() or path.stat().st_size not in (size, size + file_footer.SIZE):
            raise StoreCorrupt(f"{path}: missing, a link, or not {size} bytes long; restore the store from a backup")
    rows: Rows | CodedRows
    if codec is None:
        rows = np.memmap(layout.features, dtype=ROW, mode="r", shape=(slots, width))
    else:
        rows = CodedRows(np.memmap(layout.codes, codec.dtype, mode="r", shape=(slots, codec.blocks)), codec)
    labels = np.asarray(np.memmap(layout.labels, dtype=LABEL, mode="r", shape=(slots,)))
    ids = names.load(layout, names.IDS, slots)
    subjects = names.load(layout, names.SUBJECTS, slots) if with_subjects else None
    if subjects is not None and (subjects.is_set != ids.is_set).any():
        raise StoreCorrupt(
            f"{layout.subjects}: an entry does not belong to this table; restore the store from a backup"
        )
    return Records.from_slots(rows, labels, ids, subjects)


def _has_long_names(records: Records) -> bool:
    """Return whether some names are too long for a cell, and therefore in memory."""
    return bool(records.names.others or (records.owners is not None and records.owners.others))


def _brings_long_names(records: Records, change: Change) -> bool:
    """Return whether an edit writes a name that does not fit into a cell of this table."""
    held = change.of_slots
    assert held is not None
    kinds = ((records.names, held.edits.ids), (records.owners, held.edits.subjects))
    return any(
        len(str(name).encode()) >= 8 * names.cells.shape[1]
        for names, given in kinds
        if names is not None
        for name in given
        if name is not None
    )


def row_file(layout: Layout, width: int, codec: Codec | None) -> tuple[Path, int]:
    """Return the file of the rows and the bytes of one row."""
    return (
        (layout.features, width * _ROW_BYTES) if codec is None else (layout.codes, codec.blocks * codec.dtype.itemsize)
    )


def table_sizes(
    layout: Layout, slots: int, width: int, *, with_subjects: bool, codec: Codec | None = None
) -> dict[Path, int]:
    """Return the lengths in bytes of the files that have one piece per slot."""
    path, size = row_file(layout, width, codec)
    expected = {path: slots * size, layout.labels: slots * _LABEL_BYTES}
    cells = (layout.ids, layout.subjects)[: 1 + with_subjects]
    return expected | {path: file_footer.cells_size(path, slots) for path in cells}


def apply_to_table(disk: Disk, layout: Layout, edits: SlotEdits, stamp: str) -> None:
    """Overwrite the edited slots. The operation is idempotent, so a partial edit is simply repeated."""
    coded = isinstance(edits.rows, CodedRows)
    path = layout.codes if coded else layout.features
    rows = np.ascontiguousarray(edits.rows.codes if coded else edits.rows, dtype=None if coded else ROW)
    labels = np.ascontiguousarray(edits.labels, dtype=LABEL)
    slots, end = [int(slot) for slot in edits.slots], file_footer.renew_footer(layout, stamp)
    pieces = [(slot * row.nbytes, row.tobytes()) for slot, row in zip(slots, rows, strict=True)]
    disk.overwrite(path, [*pieces, *end.at_end(path)])
    pieces = [(slot * _LABEL_BYTES, label.tobytes()) for slot, label in zip(slots, labels, strict=True)]
    disk.overwrite(layout.labels, [*pieces, *end.at_end(layout.labels)])
    if layout.subjects.exists():
        names.apply(disk, layout, names.SUBJECTS, dict(zip(slots, edits.subjects, strict=True)), end)
    names.apply(disk, layout, names.IDS, dict(zip(slots, edits.ids, strict=True)), end)


def names_as_text(request: EditRequest) -> EditRequest:
    """Return the request with ids and subjects as text, as a store keeps them."""
    inserted = request.insertion
    if inserted is not None:
        if inserted.ids is None:
            raise InvalidParameter("a store does not number records by itself; give insert(ids=[...])")
        owners = None if inserted.subjects is None else tuple(map(str, inserted.subjects))
        inserted = Insertion(tuple(map(str, inserted.ids)), inserted.rows, inserted.labels, owners)
    return replace(
        request,
        deletions=tuple(map(str, request.deletions)),
        subjects=tuple(map(str, request.subjects)),
        replacements={str(name): pair for name, pair in request.replacements.items()},
        insertion=inserted,
    )


def with_slots(held: CurrentRecords, slots: int) -> CurrentRecords:
    """Return the table with free slots appended, in memory."""
    free = slots - held.slots
    if not free:
        return held
    records = local_rows(held)
    check_size(slots, records.width, None if records.coded_rows is None else records.coded_rows.codec)
    owners = records.owners
    kept = records.features if records.coded_rows is None else records.coded_rows
    rows = append_rows(kept, [null_rows(free, kept)])
    labels = np.concatenate([records.labels, np.zeros(free)])
    return Records.from_slots(
        rows, labels, records.names.with_free_slots(free), owners and owners.with_free_slots(free)
    )


def table_parts(records: Records) -> Iterator[tuple[Rows | CodedRows, Labels]]:
    """Yield the records, block by block, as codes if the table holds these."""
    used = records.occupied
    for start in range(0, records.slots, _PART):
        here = slice(start, start + _PART)
        coded = None if records.coded_rows is None else records.coded_rows.select(here).select(used[here])
        yield records.features[here][used[here]] if coded is None else coded, records.labels[here][used[here]]


NOTHING_CHANGED = "nothing was changed"


class Change(Protocol):
    """A request in the journal, implemented by `journal.InFlight` and by tables over a source.

    Attributes:
        of_slots: The request itself if it edits slots of this store; None if its rows are in a source.
    """

    @property
    def of_slots(self) -> journal.InFlight | None:
        """The slots in flight; None for rows in an external source."""

    @property
    def base(self) -> int:
        """The number of ledger entries when it was accepted."""

    @property
    def publish(self) -> bool:
        """Whether a release follows."""

    @property
    def counts(self) -> EditCounts:
        """Edits of all requests of the change."""

    @property
    def parts(self) -> tuple[tuple[str | None, EditCounts], ...]:
        """The request ids and the edits of each if several requests share the change; empty for a single request."""

    @property
    def requests(self) -> tuple[tuple[str | None, EditCounts, int | None], ...]:
        """The request ids, the edits of each, and the rows that each leaves of the same persons, if known."""


class TrainingTable:
    """The rows of a store, in its files, edited in place slot by slot.

    A subclass whose rows are in a source is returned by `source_kinds.ExternalSource.open_table`.

    Attributes:
        shares_transactions: Whether several requests can share a transaction.
        left_out: Rows that the last release did not read because of the subject they belong to.
        facts: What a ledger entry records about the rows that a release was made from.
        unfinished: What to do if a transaction cannot continue, for messages.
        edited: What the transaction has done by then, for messages.
    """

    shares_transactions: ClassVar[bool] = True
    left_out = NONE_LEFT_OUT
    unfinished: ClassVar[str] = (
        "the request is in the journal; free space or fix permissions, and the next command finishes it"
    )
    edited: ClassVar[str] = "the rows are edited"

    def __init__(self, files: OpenedStore) -> None:
        self._files = files
        self._records: Records | None = None
        self._begun: journal.InFlight | None = None
        self._noted = True  # whether the footer records the current length of the ledger

    @property
    def facts(self) -> Mapping[str, Any]:
        """What a ledger entry records about the rows of a release; empty for rows in the store."""
        return {}

    @property
    def records(self) -> Records:
        """The table; rows are read as they are needed."""
        if self._records is None:
            plan, owned = self._files.ledger.plan, self._files.with_subjects
            codec = self._files.ledger.codec
            self._records = load_table(
                self._files.layout, plan.problem.records, plan.problem.features, with_subjects=owned, codec=codec
            )
        return self._records

    def forget(self) -> None:
        """Drop references to rows whose files change."""
        self._records = None

    def names(self) -> Iterable[Id]:
        """Return the ids in the table."""
        return self.records.ids

    def find_names(self, wanted: Sequence[str], *, persons: bool = False) -> set[str]:
        """Return those of the given ids, or subjects, that have rows in the table."""
        names = self.records.owners if persons else self.records.names
        return set() if names is None or not wanted else {str(names[slot]) for slot in names.find(wanted).tolist()}

    def has_similar(self, name: str, *, person: bool) -> bool:
        """Return whether the table has another id, or subject, that is similar to this one."""
        names = self.records.owners if person else self.records.names
        return names is not None and names.has_similar(name)

    def rows_among(self, encoded: Encoded) -> int:
        """Return how many of these rows are in the table, compared by id or by content (see `matched_by`)."""
        if self.matched_by(encoded) == "id":
            assert encoded.ids is not None
            found, ids = np.zeros(self.records.slots, bool), iter(encoded.ids)
            while some := list(islice(ids, _NAMES)):
                found[self.records.names.find(some)] = True
            return int(found.sum())
        return equal_rows(table_parts(self.records), encoded)

    def matched_by(self, encoded: Encoded) -> str:
        """Return what `rows_among` compares: "id" or "content".

        Rows of equal content may belong to different people.
        """
        return "content" if encoded.ids is None else "id"

    def adapt_plan(self, plan: Plan) -> Plan:
        """Return the plan for these rows; raise `InvalidParameter` if it cannot be run over them."""
        return plan

    def counts_of(self, request: EditRequest) -> EditCounts:
        """Return the edits that a request would make, if it is valid."""
        return check_edit(self.records, self._files.ledger.plan, request).counts

    def check_repeat(self, request: EditRequest, edited: EditCounts) -> None:
        """Raise `InvalidRequest` if the request that made these edits cannot have been this one."""
        check_repeat(self.records, request, edited)

    def begin(self, request: EditRequest, *, publish: bool, note: Callable[[], None]) -> Change:
        """Validate the request, call `note`, and write the request to the journal; it will then be carried out."""
        files, ledger = self._files, self._files.ledger
        edits = check_edit(self.records, ledger.plan, request)
        if files.tombstones is not None:
            files.tombstones.check_and_record(request, edits, self.records, files.disk)
        left = None if edits.beside is None else len(edits.beside)
        change = journal.InFlight(ledger.length, edits, publish, request.request_id, (left,), ledger.digest)
        with explain_disk_errors(files.layout.root, NOTHING_CHANGED):
            note()
            files.accept(change)
        return change

    def read_change(self) -> Change | None:
        """Return the request in the journal, if any.

        Raises:
            StoreCorrupt: If it does not belong to this ledger.
        """
        ledger, layout = self._files.ledger, self._files.layout
        self._begun = change = journal.read_in_flight(layout, ledger.codec)
        if change is not None:
            journal.require_base(change.base, change.link, ledger)
            self._noted = file_footer.is_noted(layout, ledger.length, ledger.digest)
            if not self._noted and ledger.length - change.base > len(change.requests) + 1:
                raise file_footer.restored_footer_error(layout.ids)
        return change

    def check(self) -> None:
        """Raise `StoreCorrupt` unless the rows match the ledger."""
        file_footer.check(self._files.layout, self._files.ledger, self._begun)

    def is_unfinished(self, change: Change) -> bool:
        """Return whether more remains to be done for the request found by `read_change` than to clear the journal."""
        if change.base == self._files.ledger.length:
            return True
        if not self._noted:  # table and journal were restored from a backup; otherwise the edits are done already
            self._apply(change)
        return False

    def has_stamp(self, stamp: str) -> bool:
        """Return whether some file bears the stamp of these edits, which are then carried out at least in part."""
        ties = map(file_footer.tie_of, file_footer.files(self._files.layout))
        return any(one is not None and one.stamp.hex() == stamp for one in ties)

    def carry_out(self, change: Change) -> tuple[list[Entry], Release]:
        """Edit the rows; the operation is idempotent.

        Returns:
            The entries of these edits that the ledger does not hold yet, and the answer to the last request while no
            release covers it.
        """
        self._apply(change)
        if self._records is not None:
            self._records.note_rows(change.counts)
            if _has_long_names(self._records) or _brings_long_names(self._records, change):
                self.forget()  # mapped files show every change except long names
        ledger = self._files.ledger
        pending, entries, spent = self._files.pending, list[Entry](), models.spent_answer(ledger)
        for request_id, counts, left in change.requests:
            pending += counts
            answer = replace(models.pending_answer(ledger, pending, request_id, spent), remaining=left)
            entries.append(self._files.entry_of_edits(answer))
        return entries, answer

    def _apply(self, change: Change) -> None:
        held = change.of_slots
        assert held is not None
        apply_to_table(self._files.disk, self._files.layout, held.edits, held.stamp)

    def find_continuation(self, model: Model, pending: EditCounts) -> Continuation | None:
        """Return what the noise of the next release continues: `model`, or the patch that covers the pending edits.

        Returns:
            None if no draw covers the rows.
        """
        if pending.total:
            return self._files.patch()
        return Continuation(self._files.ledger.account.since_fresh, model.sums)

    def is_cut(self, pending: EditCounts) -> bool:
        """Return whether the next release of a method with carried noise starts afresh.

        It does if no draw or patch covers the rows.
        """
        return bool(pending.total) and self._files.patch() is None

    def prepare_release(self, event: Event, model: Model, number: int) -> None:
        """Prepare for a release that is about to be entered in the ledger under this number."""

    def catch_up(self) -> None:
        """Apply the consequences of the newest entry."""

    def read(self, plan: Plan, execution: Execution) -> AbstractContextManager[CurrentRecords]:
        """Return a context manager for the rows that a release by this plan is made from."""
        return nullcontext(self.records)

    def changes(self) -> EditCounts | None:
        """Return the changes since the newest release that the source itself counted; None if they are not counted."""
        return None

    def note_erased(
        self, counts: EditCounts, position: str | None, request_id: str | None, ids: Sequence[str] = ()
    ) -> None:
        """Record rows that the application has deleted, with the given ids if they are known."""
        raise InvalidParameter(
            f"{self._files.layout.root}: its rows are in the store, which deletes them itself; erased and position belong to a store "
            "whose rows lie elsewhere"
        )

    def has_counted(self, position: str | None) -> bool:
        """Return whether the newest release read the rows after this position and counted the changes up to it."""
        return False

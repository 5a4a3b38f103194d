"""The table of records: a fixed number of slots, with ids, subjects, and the null record in free slots.

The dataset size n counts slots, is public and never changes; deleting a record writes the null record (zero row,
label 0, no id) into its slot. Requests refer to ids; only `Records` resolves them to slots.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InvalidParameter, InvalidRecords, InvalidRequest, UnknownName
from .counts import EditCounts
from .limited_io import check_text, check_token
from .names import Names
from .values import (
    NO_ARRAY,
    Codec,
    CodedRows,
    Id,
    Labels,
    Rows,
    SparseRows,
    Table,
    append_rows,
    check_column,
    check_matrix,
    check_numbers,
    file_mapping,
    null_rows,
    table_of,
    to_dense,
)

# --- requests ---
#
# Edit requests, validated before anything changes.
#
# Idempotency: `check_repeat` decides whether a request with a known token is the one that was answered. Contents and
# erased ids are not stored, so it compares the table and the public counts of edits with those the request would leave.
# A record edited again since then is rejected like different contents: a known token alone never counts as done.


def check_ids(name: str, ids: Iterable[Any], error: type[Exception]) -> tuple[Id, ...]:
    """Return ids as a tuple of distinct ints and strings."""
    if isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable):
        raise error(f"{name} must be a list of ids, not {type(ids).__name__}")
    checked: list[Id] = []
    for value in ids:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, str, np.integer, np.str_)):
            raise error(f"{name} contains {value!r}; an id is a whole number or a string")
        checked.append(check_text(name, value, error) if isinstance(value, str) else int(value))
    if len(set(checked)) != len(checked):
        seen: set[Id] = set()
        repeated = next(value for value in checked if value in seen or seen.add(value))  # type: ignore[func-returns-value]
        raise error(f"{name} names {repeated!r} more than once; each id must appear once")
    return tuple(checked)


def check_name(name: str, value: Id, error: type[Exception]) -> None:
    """Raise `error` if `value` is text that a file or a message cannot contain."""
    if isinstance(value, str):
        check_text(name, value, error)


@dataclass(frozen=True)
class Insertion:
    """New records for free slots.

    Attributes:
        ids: One id per row; None: numbered by the table.
        rows: (r, features).
        labels: (r,).
        subjects: One data subject per row, if the table has subjects.
    """

    ids: tuple[Id, ...] | None
    rows: Table
    labels: Labels
    subjects: tuple[Id, ...] | None = None

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class EditRequest:
    """One atomic edit of the table: all of it is carried out, or nothing.

    Attributes:
        deletions: Ids to erase.
        subjects: Data subjects all of whose rows are erased.
        replacements: Maps ids to (row, label): the record keeps its id.
        insertion: Records for free slots.
        request_id: Random token of the caller: repeating it returns the first result and costs nothing (idempotent).

    Raises:
        InvalidRequest: If the request is empty, names a record twice, or has an invalid token.
    """

    deletions: tuple[Id, ...] = ()
    subjects: tuple[Id, ...] = ()
    replacements: Mapping[Id, tuple[Rows, float]] = field(default_factory=dict)
    insertion: Insertion | None = None
    request_id: str | None = None

    def __post_init__(self) -> None:
        check_ids("request ids", [*self.deletions, *self.replacements], InvalidRequest)
        check_ids("subjects", self.subjects, InvalidRequest)
        if not (self.deletions or self.subjects or self.replacements or self.insertion):
            raise InvalidRequest("the request is empty; name at least one record to delete, replace or insert")
        check_token(self.request_id)

    @classmethod
    def delete(
        cls, ids: Iterable[Id] = (), *, subjects: Iterable[Id] = (), request_id: str | None = None
    ) -> EditRequest:
        """Return a request to erase records by id, or every row of the given data subjects."""
        return cls(
            deletions=check_ids("ids", ids, InvalidRequest),
            subjects=check_ids("subjects", subjects, InvalidRequest),
            request_id=request_id,
        )

    @classmethod
    def replace(
        cls, replacements: Mapping[Id, tuple[ArrayLike, float]], *, request_id: str | None = None
    ) -> EditRequest:
        """Return a request to replace records by a new (row, label); the old content is forgotten like a deletion."""
        if not isinstance(replacements, Mapping):
            raise InvalidRequest("replacements must map each id to its new (row, label)")
        checked: dict[Id, tuple[Rows, float]] = {}
        for key, pair in replacements.items():
            if not isinstance(pair, Sequence) or len(pair) != 2:
                raise InvalidRequest(f"the replacement of {key!r} must be a pair (row, label)")
            row = check_matrix(f"the new row of {key!r}", np.atleast_2d(to_dense(pair[0])), InvalidRequest)[0]
            checked[key] = (row, float(check_numbers(f"the new label of {key!r}", pair[1], InvalidRequest)))
        return cls(replacements=checked, request_id=request_id)

    @classmethod
    def insert(
        cls,
        ids: Iterable[Id] | None,
        rows: ArrayLike,
        labels: ArrayLike,
        *,
        subjects: Iterable[Id] | None = None,
        request_id: str | None = None,
    ) -> EditRequest:
        """Return a request to insert records into free slots.

        Args:
            ids: One id per row; None numbers them from the highest number ever used.
            rows: (r, features).
            labels: (r,).
            subjects: One data subject per row, if the table has subjects.
            request_id: Random token of the caller.
        """
        new_rows = table_of("rows", rows, InvalidRequest)
        if not len(new_rows):
            raise InvalidRequest("the request is empty; give at least one row to insert")
        checked = None if ids is None else check_ids("ids", ids, InvalidRequest)
        owners = None if subjects is None else subject_names(subjects, len(new_rows), InvalidRequest)
        if checked is not None and len(checked) != len(new_rows):
            raise InvalidRequest(f"{len(checked)} ids were given for {len(new_rows)} rows; give one id per row")
        new_labels = check_column("labels", labels, len(new_rows), InvalidRequest)
        return cls(insertion=Insertion(checked, new_rows, new_labels, owners), request_id=request_id)


def subject_names(subjects: Iterable[Id], length: int, error: type[Exception]) -> tuple[Id, ...]:
    """Return the data subjects of `length` rows; raise `error` unless there is one per row."""
    owners = tuple(check_text("subjects", s, error) if isinstance(s, str) else int(s) for s in subjects)
    if len(owners) != length:
        raise error(f"{len(owners)} subjects were given for {length} rows; give one subject per row")
    return owners


def check_repeat(records: Records, request: EditRequest, edited: EditCounts) -> None:
    """Verify that the table is as this request left it, and that the request made the recorded edits.

    An absent id may have been erased by the request, or never have existed: only the counts distinguish these.

    Raises:
        InvalidRequest: If it is not.
    """
    reason = next(_iterate_differences(records, request, edited), None)
    if reason is not None:
        raise InvalidRequest(
            f"this request id was answered before, for other contents ({reason}); nothing was changed. Give every request a "
            "random token of its own"
        )


def _iterate_differences(records: Records, request: EditRequest, edited: EditCounts) -> Iterator[str]:
    if not _matches_counts(request, edited):
        yield f"then it was: {edited.text()}"
    new, owners = request.insertion, records.owners
    named = [*request.deletions, *request.replacements, *((new and new.ids) or ())]
    slots = {records.names[slot]: slot for slot in records.names.find(named).tolist()}
    if any(name in slots for name in request.deletions):
        yield "a record it names is still there"
    if request.subjects and owners is not None and len(owners.find(request.subjects)):
        yield "a person it names still has records"
    for name, (row, label) in request.replacements.items():
        if not _has_row(records, slots.get(name), row, label):
            yield "a record to replace does not hold what the request says, or was edited again since"
    if new is not None and new.ids is not None:
        for place, name in enumerate(new.ids):
            slot = slots.get(name)
            same = _has_row(records, slot, new.rows[place], new.labels[place])
            if not same or (
                owners is not None and new.subjects and slot is not None and owners[slot] != new.subjects[place]
            ):
                yield "a record to insert is not there as the request says, or was edited again since"


def _matches_counts(request: EditRequest, edited: EditCounts) -> bool:
    """Return whether the request can have made these edits. Each subject had at least one row, or more."""
    deleted, replaced, inserted = len(request.deletions), len(request.replacements), len(request.insertion or ())
    if edited.unrecorded:
        others = edited.total - deleted - replaced - inserted
    elif (replaced, inserted) != (edited.replaced, edited.inserted):
        return False
    else:
        others = edited.deleted - deleted
    return others >= len(request.subjects) if request.subjects else others == 0


def _has_row(records: Records, slot: int | None, row: Rows, label: float) -> bool:
    if slot is None:
        return False
    same = records.row(slot).shape == row.shape and (records.row(slot) == row).all()
    return bool(same and records.labels[slot] == label)


_BYTES_BESIDE = 24  # of a slot in addition to its row: label, and space for its id and subject


@dataclass(frozen=True)
class SlotEdits:
    """A resolved request: the new content of every affected slot.

    Attributes:
        slots: The affected slots.
        rows: New rows; `SparseRows` or `CodedRows` if the table is one, else an array.
        labels: New labels.
        ids: New ids; None marks an erased slot.
        subjects: New data subjects.
        next_id: The next number for a record without an id.
        counts: Number of edits of each kind.
        beside: Other slots of the same persons; None if the table has no subjects.
    """

    slots: NDArray[np.int64]
    rows: Any
    labels: Labels
    ids: tuple[Id | None, ...]
    subjects: tuple[Id | None, ...]
    next_id: int
    counts: EditCounts
    beside: frozenset[int] | None = None


def check_size(slots: int, features: int, codec: Codec | None = None) -> None:
    """Reject a table that exceeds this machine's memory before allocating it, which might end in a killed process.

    Args:
        slots: The number of slots.
        features: The number of features that are held.
        codec: How the rows are held as codes; None if their features are held.

    Raises:
        InvalidRecords: If it is larger.
    """
    needed = slots * (bytes_of_row(features, codec) + _BYTES_BESIDE)
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else math.inf
    if needed > there:
        held, fewer = (f"{features} features", "features") if codec is None else (f"{codec.blocks} codes", "columns")
        raise InvalidRecords(
            f"{slots} slots of {held} take about {needed / 2**30:.3g} GiB and this machine has "
            f"{there / 2**30:.3g} GiB of memory; give fewer slots or {fewer}"
        )


def bytes_of_row(features: int, codec: Codec | None) -> int:
    """Return the bytes of a row held as codes, or as float32 features if there is no codec."""
    return 4 * features if codec is None else codec.blocks * codec.dtype.itemsize


def check_slots(slots: int, rows: int) -> int:
    """Return `slots` if a table of these rows can have this number of slots.

    Raises:
        InvalidRecords: If it cannot.
    """
    if isinstance(slots, bool) or not isinstance(slots, (int, np.integer)) or slots < max(1, rows):
        raise InvalidRecords(f"must be a whole number, at least 1 and at least the {rows} rows given", slots=slots)
    return int(slots)


class Records:
    """n slots of (row, label, id, subject); free slots hold the null record.

    Args:
        features: (rows, features) finite numbers, stored as float32. A `numpy.memmap` of float32 is not copied: rows
            are read from its file on demand, and edits are written to it (open it with mode "r+"; "r" rejects them). Of
            a matrix or array of `scipy.sparse` only the non-zero values are stored (`sparse`).
        labels: (rows,) finite numbers: −1/+1, classes 0..k−1, or targets in [−1, 1].
        ids: One whole number or string per row, all different; default 0, 1, 2, …
        subjects: The data subject of each row; default: every row its own.
        slots: n; more slots than rows leave space for later insertions.

    Raises:
        InvalidRecords: If the input is not valid; nothing was stored.
    """

    def __init__(
        self,
        features: ArrayLike,
        labels: ArrayLike,
        ids: Iterable[Id] | None = None,
        subjects: Iterable[Id] | None = None,
        slots: int | None = None,
    ) -> None:
        rows = table_of("features", features, InvalidRecords)
        targets = check_column("labels", labels, len(rows), InvalidRecords)
        names = Names.of(range(len(rows))) if ids is None else _check_distinct(ids)
        if len(names) != len(rows):
            raise InvalidRecords(f"{len(names)} ids were given for {len(rows)} rows; give one id per row")
        owners = None if subjects is None else _check_subjects(subjects, len(rows))
        total = check_slots(len(rows) if slots is None else slots, len(rows))
        free = total - len(rows)
        in_place = not isinstance(rows, np.ndarray) or (not free and file_mapping(rows) is not None)
        check_size(total, 0 if in_place else rows.shape[1])
        self._take(
            append_rows(rows, [null_rows(free, rows)]) if free else rows,
            np.concatenate([targets, np.zeros(free)]) if free else targets,
            names.with_free_slots(free) if free else names,
            owners.with_free_slots(free) if free and owners is not None else owners,
        )

    @classmethod
    def from_slots(
        cls,
        features: Table,
        labels: Labels,
        ids: Sequence[Id | None],
        subjects: Sequence[Id | None] | None,
        next_id: int | None = None,
    ) -> Records:
        """Return the table of per-slot arrays, without copying them.

        The arrays may be memory-mapped, and `Names` are used unchanged.
        """
        records = cls.__new__(cls)
        names = ids if isinstance(ids, Names) else Names.of(ids)
        owners = subjects if subjects is None or isinstance(subjects, Names) else Names.of(subjects)
        records._take(features, labels, names, owners, next_id)
        return records

    def _take(
        self,
        features: Table,
        labels: Labels,
        ids: Names,
        subjects: Names | None,
        next_id: int | None = None,
    ) -> None:
        self._features = features
        self._labels = labels
        self._ids = ids
        self._subjects = subjects
        self._checked: set[Hashable] = set()
        self.times_written = 0  # lets users of a shared table detect edits by others
        self.next_id = max(next_id or 0, ids.highest + 1)  # numbers are never reused

    @property
    def features(self) -> Rows:
        """(slots, features) float32, read-only view; of codes an object whose slices are new arrays.

        Raises:
            InvalidParameter: If the rows are sparse.
        """
        if isinstance(self._features, SparseRows):
            raise InvalidParameter(NO_ARRAY)
        if isinstance(self._features, CodedRows):
            return cast("Rows", self._features)  # its slices are arrays
        view = self._features.view()
        view.flags.writeable = False
        return view

    @property
    def sparse(self) -> SparseRows | None:
        """The rows if they are sparse, else None; do not modify."""
        return self._features if isinstance(self._features, SparseRows) else None

    @property
    def coded_rows(self) -> CodedRows | None:
        """The rows if they are stored as codes, else None; do not modify."""
        return self._features if isinstance(self._features, CodedRows) else None

    def as_codes(self, codec: Codec) -> Records:
        """Return the table with its rows stored as codes.

        Raises:
            InvalidRecords: If a row is not one of the codec's map.
        """
        if self.coded_rows is not None and self.coded_rows.codec is codec:
            return self
        rows = CodedRows(codec.encode(self.sparse or self.features, InvalidRecords), codec)
        return Records.from_slots(rows, self._labels, self._ids, self._subjects, self.next_id)

    def row(self, slot: int) -> Rows:
        """Return the content of a slot as a dense (features,) float32 row."""
        row: Rows = self._features[slot]
        return row

    @property
    def width(self) -> int:
        """Number of features of a row, including the constant column."""
        return int(self._features.shape[1])

    @property
    def labels(self) -> Labels:
        """(slots,) float64, read-only view; 0 in free slots."""
        view = self._labels.view()
        view.flags.writeable = False
        return view

    @property
    def slots(self) -> int:
        """Dataset size n of the theorems: public and fixed."""
        return len(self._labels)

    @property
    def occupied(self) -> NDArray[np.bool_]:
        """(slots,) True where there is a record."""
        return self._ids.is_set

    @property
    def ids(self) -> list[Id]:
        """Ids of the records, in slot order."""
        return [name for name in self._ids if name is not None]

    @property
    def ids_by_slot(self) -> list[Id | None]:
        """Ids by slot, None in free slots."""
        return list(self._ids)

    @property
    def subjects_by_slot(self) -> list[Id | None] | None:
        """Data subjects by slot, None in free slots; None if the table has no subjects."""
        return None if self._subjects is None else list(self._subjects)

    @property
    def names(self) -> Names:
        """The packed ids, without a copy; do not modify. Preferred over lists for large tables."""
        return self._ids

    @property
    def owners(self) -> Names | None:
        """The packed subjects, without a copy; do not modify."""
        return self._subjects

    def __len__(self) -> int:
        return int(np.count_nonzero(self._ids.is_set))

    def __contains__(self, name: object) -> bool:
        return name in self._ids

    @property
    def rows_per_subject(self) -> int:
        """Largest current number of rows of any data subject; 1 if there are no subjects."""
        return 1 if self._subjects is None else max(1, self._subjects.most_alike)

    def rows_alike(self) -> NDArray[np.int64]:
        """Return (slots,) k, the number of rows of the person of each slot; 0 in free slots."""
        return self.occupied.astype(np.int64) if self._subjects is None else self._subjects.alike() * self.occupied

    def copy(self) -> Records:
        """Return an independent table with the same content."""
        owners = None if self._subjects is None else self._subjects.copy()
        kept = isinstance(self._features, (SparseRows, CodedRows))
        rows = self._features.copy() if kept else np.array(self._features)
        return Records.from_slots(rows, np.array(self._labels), self._ids.copy(), owners, self.next_id)

    def slots_of(self, names: Collection[Id]) -> dict[Id, int]:
        """Return the slots of those of these records that are in the table, found in one pass over its names."""
        return {self._ids[slot]: slot for slot in self._ids.find(names).tolist()}

    def resolve(self, request: EditRequest, found: Mapping[Id, int] | None = None) -> SlotEdits:
        """Return the effect of a request, slot by slot. Everything is validated and nothing is changed.

        Args:
            request: The request.
            found: `slots_of` at least the records named in the request, if no edit was made since.

        Raises:
            InvalidRequest: If an id or subject is unknown, a row has the wrong length, an id is in use, or no slot is
                free.
        """
        named = self._slots_of([*request.deletions, *request.replacements], found)
        erased, replaced = named[: len(request.deletions)], named[len(request.deletions) :]
        if request.subjects:
            erased += self._slots_of_subjects(request.subjects)
        if len(set(erased + replaced)) != len(erased) + len(replaced):
            raise InvalidRequest("the request edits one record twice (by id and by subject?); name each record once")
        width = self._features.shape[1]
        for name, (row, _) in request.replacements.items():
            if row.shape != (width,):
                raise InvalidRequest(f"the new row of {name!r} has {row.size} values; the table has {width} features")
        names: list[Id | None] = [*[None] * len(erased), *request.replacements]
        owners: list[Id | None] = [None] * len(erased)
        owners += [None if self._subjects is None else self._subjects[slot] for slot in replaced]
        rows: list[Any] = [row[None] for row, _ in request.replacements.values()]
        labels = [np.zeros(len(erased)), *[np.array([label]) for _, label in request.replacements.values()]]
        slots, next_id = erased + replaced, self.next_id
        if request.insertion is not None:
            inserted = request.insertion
            new_names, next_id = self._new_names(inserted, width)
            free = self._ids.free(len(inserted))
            if len(free) < len(inserted):
                needed = self.slots + len(inserted) - len(free)
                raise InvalidRequest(
                    f"{len(inserted)} records do not fit: {len(free)} of {self.slots} slots are free. n is fixed by the plan; delete "
                    f"records first, or learn afresh with at least {needed} slots (on the command line: relearn STORE --slots {needed})"
                )
            slots, names = slots + free, [*names, *new_names]
            owners += [None] * len(free) if inserted.subjects is None else list(inserted.subjects)
            rows.append(inserted.rows)
            labels.append(inserted.labels)
        return SlotEdits(
            np.array(slots, np.int64),
            append_rows(null_rows(len(erased), self._features), rows),
            np.concatenate(labels),
            tuple(names),
            tuple(owners),
            next_id,
            EditCounts(len(erased), len(replaced), len(slots) - len(erased) - len(replaced)),
            self._beside(slots, tuple(owners), len(erased), len(replaced)),
        )

    def _beside(
        self, slots: Sequence[int], owners: Sequence[Id | None], erased: int, replaced: int
    ) -> frozenset[int] | None:
        """Return the other slots with rows of the same persons after the edit.

        A replaced row counts only for a person of whom a row was deleted.
        """
        if self._subjects is None:
            return None
        gone = {self._subjects[slot] for slot in slots[:erased]}
        old, given = erased + replaced, zip(slots[erased:], owners[erased:], strict=True)
        persons = {self._subjects[slot] for slot in slots[:old]} - {None}
        found = frozenset(self._subjects.find([name for name in persons if name is not None]).tolist())
        new = {
            slot
            for place, (slot, owner) in enumerate(given)
            if owner in (gone if place < replaced else persons) - {None}
        }
        return found - frozenset(slots[:old]) | new

    def _slots_of(self, names: Sequence[Id], found: Mapping[Id, int] | None) -> list[int]:
        """Return the slots of these records; raise `UnknownName` if one is missing."""
        found = self.slots_of(names) if found is None else found
        missing = next((name for name in names if name not in found), None)
        if missing is not None:
            raise UnknownName("id", missing, similar=self._ids.has_similar(missing))
        return [found[name] for name in names]

    def _slots_of_subjects(self, subjects: tuple[Id, ...]) -> list[int]:
        if self._subjects is None:
            raise InvalidRequest("the table does not say whom its records are about; name the records by their ids")
        found: list[int] = self._subjects.find(subjects).tolist()
        missing = set(subjects) - {self._subjects[slot] for slot in found}
        if missing:
            absent = min(missing, key=str)
            raise UnknownName("subject", absent, similar=self._subjects.has_similar(absent))
        return found

    def _new_names(self, inserted: Insertion, width: int) -> tuple[list[Id], int]:
        if inserted.rows.shape[1] != width:
            raise InvalidRequest(f"the new rows have {inserted.rows.shape[1]} values; the table has {width} features")
        if (inserted.subjects is None) != (self._subjects is None):
            raise InvalidRequest("give subjects for new rows exactly when the table has subjects")
        names: list[Id] = list(range(self.next_id, self.next_id + len(inserted)))
        if inserted.ids is not None:
            names = list(inserted.ids)
        used = self._ids.find(names)
        if len(used):
            raise InvalidRequest(f"id {self._ids[int(used[0])]!r} is in use; choose an unused one")
        return names, max([self.next_id, *(name + 1 for name in names if isinstance(name, int))])

    def edit(self, request: EditRequest) -> int:
        """Carry out the request in place, overwriting the old content, and return r, the number of slots edited."""
        edits = self.resolve(request)
        self.write(edits)
        return edits.counts.total

    def write(self, edits: SlotEdits) -> None:
        """Carry out the edits that `resolve` returned.

        Raises:
            InvalidRecords: If the table is mapped read-only from a file; nothing was changed.
        """
        held = self._features.codes if isinstance(self._features, CodedRows) else self._features
        if not isinstance(held, SparseRows) and not held.flags.writeable:
            raise InvalidRecords(
                'the table\'s rows may not be changed; map their file with mode="r+", so that what is erased is erased there'
            )
        self.times_written += 1
        self.note_rows(edits.counts)
        if isinstance(held, SparseRows):
            held.write_rows(edits.slots, edits.rows)
        else:
            held[edits.slots] = edits.rows.codes if isinstance(edits.rows, CodedRows) else edits.rows
        self._labels[edits.slots] = edits.labels
        for slot, name, owner in zip(edits.slots.tolist(), edits.ids, edits.subjects, strict=True):
            self._ids.set_name(slot, name)
            if self._subjects is not None:
                self._subjects.set_name(slot, owner)
        self.next_id = edits.next_id

    def is_checked(self, what: Hashable) -> bool:
        """Return whether `mark_checked(what)` was called and no row was added since.

        The null record meets every assumption.
        """
        return what in self._checked

    def mark_checked(self, what: Hashable) -> None:
        """Record that every record meets `what`."""
        self._checked.add(what)

    def note_rows(self, counts: EditCounts) -> None:
        """Clear the record of checks after edits, unless all of them were deletions."""
        if counts.total > counts.deleted:
            self._checked.clear()

    def most_rows_after(self, edits: SlotEdits) -> int:
        """Return the largest number of rows after the edits of the subjects that the edits name."""
        if self._subjects is None:
            return 1
        named = {owner for owner in edits.subjects if owner is not None}
        changed = set(edits.slots.tolist())
        counts = Counter(owner for owner in edits.subjects if owner is not None)
        counts.update(self._subjects[slot] for slot in self._subjects.find(named).tolist() if slot not in changed)
        return max([1, *counts.values()])

    def apply(self, request: EditRequest) -> Records:
        """Return the edited table D ∘ u as a new table."""
        edited = self.copy()
        edited.edit(request)
        return edited


def _check_distinct(ids: Iterable[Id]) -> Names:
    """Return the ids of a new table, all different and none missing."""
    if not isinstance(ids, Names):
        return Names.of(check_ids("ids", ids, InvalidRecords))
    if (again := ids.first_duplicate) is not None:
        raise InvalidRecords(f"ids names {again!r} more than once; each id must appear once")
    for name in ids.others.values():
        check_name("ids", name, InvalidRecords)
    if not ids.is_set.all():
        raise InvalidRecords(f"a row has no id (row {int(ids.is_set.argmin())}); give every row one")
    return ids


def _check_subjects(subjects: Iterable[Id], length: int) -> Names:
    if not isinstance(subjects, Names):
        return Names.of(subject_names(subjects, length, InvalidRecords))
    if len(subjects) != length or not subjects.is_set.all():
        raise InvalidRecords(f"{len(subjects)} subjects were given for {length} rows; give one subject per row")
    for name in subjects.others.values():
        check_name("subjects", name, InvalidRecords)
    return subjects

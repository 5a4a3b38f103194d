"""The table: a fixed number of slots, the null record, and edit requests that are validated whole before anything moves.

n counts slots, is public and never changes; deleting a record writes the null record (zero row, label 0, no id) into its
slot. Requests speak ids; `Records` alone resolves them to slots.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InvalidRecords, InvalidRequest

Id = int | str
Rows = NDArray[np.float32]
Labels = NDArray[np.float64]


def _numbers(name: str, value: ArrayLike, error: type[Exception]) -> NDArray[np.float64]:
    """`value` as finite float64, or `error` naming what is wrong. Strings, objects and booleans are refused."""
    try:
        array = np.asarray(value)
    except ValueError as problem:
        raise error(f"{name} must be a rectangular array of numbers: {problem}") from problem
    if array.dtype.kind not in "iuf":
        raise error(f"{name} has dtype {array.dtype}; it must hold numbers (encode categories with a schema first)")
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        raise error(f"{name} holds NaN or infinite values; replace or remove them: a certificate cannot cover them")
    return array


def _matrix(name: str, value: ArrayLike, error: type[Exception]) -> Rows:
    array = _numbers(name, value, error)
    if array.ndim != 2:
        raise error(f"{name} has shape {array.shape}; it must be (rows, features)")
    if array.size and not np.abs(array).max() <= np.finfo(np.float32).max:
        raise error(f"{name} holds values too large for float32; scale the features by public bounds first")
    return array.astype(np.float32)


def _column(name: str, value: ArrayLike, length: int, error: type[Exception]) -> Labels:
    array = _numbers(name, value, error)
    if array.shape != (length,):
        raise error(f"{name} has shape {array.shape}; it must be ({length},): one per row")
    return array


def check_ids(name: str, ids: Iterable[Any], error: type[Exception]) -> tuple[Id, ...]:
    """Ids as a tuple of ints and strings without repeats."""
    if isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable):
        raise error(f"{name} must be a list of ids, not {type(ids).__name__}")
    checked: list[Id] = []
    for value in ids:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, str, np.integer, np.str_)):
            raise error(f"{name} contains {value!r}; an id is a whole number or a string")
        checked.append(str(value) if isinstance(value, str) else int(value))
    if len(set(checked)) != len(checked):
        seen: set[Id] = set()
        repeated = next(value for value in checked if value in seen or seen.add(value))  # type: ignore[func-returns-value]
        raise error(f"{name} names {repeated!r} more than once; each id must appear once")
    return tuple(checked)


@dataclass(frozen=True)
class Insertion:
    """New records for free slots: ids (None: numbered by the table), rows (r, features), labels (r,), subjects."""

    ids: tuple[Id, ...] | None
    rows: Rows
    labels: Labels
    subjects: tuple[Id, ...] | None = None

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class EditRequest:
    """One atomic edit of the table: all of it happens, or none.

    deletions     ids to erase
    subjects      data subjects all of whose rows are erased
    replacements  id -> (row, label): the record keeps its id
    insertion     records for free slots
    request_id    the caller's random token: repeating it returns the first answer and costs nothing
    """

    deletions: tuple[Id, ...] = ()
    subjects: tuple[Id, ...] = ()
    replacements: Mapping[Id, tuple[Rows, float]] = field(default_factory=dict)
    insertion: Insertion | None = None
    request_id: str | None = None

    def __post_init__(self) -> None:
        check_ids("request ids", [*self.deletions, *self.replacements], InvalidRequest)
        if not (self.deletions or self.subjects or self.replacements or self.insertion):
            raise InvalidRequest("the request is empty; name at least one record to delete, replace or insert")
        if self.request_id is not None and (not isinstance(self.request_id, str) or not self.request_id.strip()):
            raise InvalidRequest(f"request_id={self.request_id!r} must be a non-empty string (a random token)")

    @classmethod
    def delete(
        cls, ids: Iterable[Id] = (), *, subjects: Iterable[Id] = (), request_id: str | None = None
    ) -> EditRequest:
        """Erase records by id, or every row of the given data subjects."""
        return cls(
            deletions=check_ids("ids", ids, InvalidRequest),
            subjects=check_ids("subjects", subjects, InvalidRequest),
            request_id=request_id,
        )

    @classmethod
    def replace(
        cls, replacements: Mapping[Id, tuple[ArrayLike, float]], *, request_id: str | None = None
    ) -> EditRequest:
        """Put a new (row, label) in place of each named record: the old one is forgotten like a deleted one."""
        if not isinstance(replacements, Mapping):
            raise InvalidRequest("replacements must map each id to its new (row, label)")
        checked: dict[Id, tuple[Rows, float]] = {}
        for key, pair in replacements.items():
            if not isinstance(pair, Sequence) or len(pair) != 2:
                raise InvalidRequest(f"the replacement of {key!r} must be a pair (row, label)")
            row = _matrix(f"the new row of {key!r}", np.atleast_2d(np.asarray(pair[0])), InvalidRequest)[0]
            checked[key] = (row, float(_numbers(f"the new label of {key!r}", pair[1], InvalidRequest)))
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
        """Put new records into free slots. `ids=None` numbers them on from the highest number ever used."""
        matrix = _matrix("rows", rows, InvalidRequest)
        if not len(matrix):
            raise InvalidRequest("the request is empty; give at least one row to insert")
        checked = None if ids is None else check_ids("ids", ids, InvalidRequest)
        owners = None if subjects is None else _subjects(subjects, len(matrix), InvalidRequest)
        if checked is not None and len(checked) != len(matrix):
            raise InvalidRequest(f"{len(checked)} ids were given for {len(matrix)} rows; give one id per row")
        column = _column("labels", labels, len(matrix), InvalidRequest)
        return cls(insertion=Insertion(checked, matrix, column, owners), request_id=request_id)


def _subjects(subjects: Iterable[Id], length: int, error: type[Exception]) -> tuple[Id, ...]:
    owners = tuple(str(s) if isinstance(s, str) else int(s) for s in subjects)
    if len(owners) != length:
        raise error(f"{len(owners)} subjects were given for {length} rows; give one subject per row")
    return owners


@dataclass(frozen=True)
class SlotEdits:
    """A resolved request: what every touched slot holds afterwards. `ids` None marks an erased slot."""

    slots: NDArray[np.int64]
    rows: Rows
    labels: Labels
    ids: tuple[Id | None, ...]
    subjects: tuple[Id | None, ...]
    next_id: int


class Records:
    """n slots of (row, label, id, subject); free slots hold the null record.

    Args:
        features: (rows, features) finite numbers; kept as float32.
        labels: (rows,) finite numbers: −1/+1, classes 0..k−1, or targets in [−1, 1].
        ids: one whole number or string per row, all different; default 0, 1, 2, …
        subjects: the data subject each row belongs to; default: every row its own.
        slots: n; more than the rows given leaves free slots for later insertions.

    Raises:
        InvalidRecords: with nothing kept.
    """

    def __init__(
        self,
        features: ArrayLike,
        labels: ArrayLike,
        ids: Iterable[Id] | None = None,
        subjects: Iterable[Id] | None = None,
        slots: int | None = None,
    ) -> None:
        rows = _matrix("features", features, InvalidRecords)
        column = _column("labels", labels, len(rows), InvalidRecords)
        names = check_ids("ids", range(len(rows)) if ids is None else ids, InvalidRecords)
        if len(names) != len(rows):
            raise InvalidRecords(f"{len(names)} ids were given for {len(rows)} rows; give one id per row")
        owners = None if subjects is None else _subjects(subjects, len(rows), InvalidRecords)
        total = len(rows) if slots is None else slots
        if isinstance(total, bool) or not isinstance(total, (int, np.integer)) or total < max(1, len(rows)):
            raise InvalidRecords(
                f"slots={slots!r} must be a whole number, at least 1 and at least the {len(rows)} rows given"
            )
        free = int(total) - len(rows)
        self._take(
            np.concatenate([rows, np.zeros((free, rows.shape[1]), np.float32)]) if free else rows,
            np.concatenate([column, np.zeros(free)]),
            [*names, *[None] * free],
            None if owners is None else [*owners, *[None] * free],
        )

    @classmethod
    def from_slots(
        cls,
        features: Rows,
        labels: Labels,
        ids: Sequence[Id | None],
        subjects: Sequence[Id | None] | None,
        next_id: int | None = None,
    ) -> Records:
        """The table from per-slot arrays, without copying them (they may be memory-mapped)."""
        records = cls.__new__(cls)
        records._take(features, labels, list(ids), None if subjects is None else list(subjects), next_id)
        return records

    def _take(
        self,
        features: Rows,
        labels: Labels,
        ids: list[Id | None],
        subjects: list[Id | None] | None,
        next_id: int | None = None,
    ) -> None:
        self._features = features
        self._labels = labels
        self._ids = ids
        self._subjects = subjects
        self._slot_of = {name: slot for slot, name in enumerate(ids) if name is not None}
        numbered = [name for name in self._slot_of if isinstance(name, int)]
        self.next_id = max(next_id or 0, max(numbered, default=-1) + 1)  # numbers are never given out twice

    @property
    def features(self) -> Rows:
        """(slots, features) float32, read-only view."""
        view = self._features.view()
        view.flags.writeable = False
        return view

    @property
    def labels(self) -> Labels:
        """(slots,) float64, read-only view; 0 in free slots."""
        view = self._labels.view()
        view.flags.writeable = False
        return view

    @property
    def slots(self) -> int:
        """n of the theorems: public and fixed."""
        return len(self._labels)

    @property
    def occupied(self) -> NDArray[np.bool_]:
        """(slots,) True where a record is."""
        return np.fromiter((name is not None for name in self._ids), bool, self.slots)

    @property
    def ids(self) -> list[Id]:
        """Ids of the records, in slot order."""
        return [name for name in self._ids if name is not None]

    @property
    def ids_by_slot(self) -> list[Id | None]:
        return list(self._ids)

    @property
    def subjects_by_slot(self) -> list[Id | None] | None:
        return None if self._subjects is None else list(self._subjects)

    def __len__(self) -> int:
        return len(self._slot_of)

    def __contains__(self, name: object) -> bool:
        return name in self._slot_of

    @property
    def rows_per_subject(self) -> int:
        """The largest number of rows any one data subject has now; 1 where no subjects are given."""
        if self._subjects is None:
            return 1
        owners, counts = np.unique([str(s) for s in self._subjects if s is not None], return_counts=True)
        return int(counts.max()) if len(owners) else 1

    def copy(self) -> Records:
        """An independent table with the same content."""
        return Records.from_slots(
            np.array(self._features), np.array(self._labels), self._ids, self._subjects, self.next_id
        )

    def resolve(self, request: EditRequest) -> SlotEdits:
        """What the request does, slot by slot. Validates everything and changes nothing.

        Raises:
            InvalidRequest: unknown id or subject, wrong row length, id in use, or no free slot.
        """
        erased = [self._slot(name) for name in request.deletions]
        if request.subjects:
            erased += self._slots_of_subjects(request.subjects)
        replaced = [self._slot(name) for name in request.replacements]
        if len(set(erased + replaced)) != len(erased) + len(replaced):
            raise InvalidRequest("the request edits one record twice (by id and by subject?); name each record once")
        width = self._features.shape[1]
        for name, (row, _) in request.replacements.items():
            if row.shape != (width,):
                raise InvalidRequest(f"the new row of {name!r} has {row.size} values; the table has {width} features")
        names: list[Id | None] = [*[None] * len(erased), *request.replacements]
        owners: list[Id | None] = [None] * len(erased)
        owners += [None if self._subjects is None else self._subjects[slot] for slot in replaced]
        rows = [np.zeros((len(erased), width), np.float32), *[row[None] for row, _ in request.replacements.values()]]
        labels = [np.zeros(len(erased)), *[np.array([label]) for _, label in request.replacements.values()]]
        slots, next_id = erased + replaced, self.next_id
        if request.insertion is not None:
            inserted = request.insertion
            new_names, next_id = self._new_names(inserted, width)
            free = [slot for slot, name in enumerate(self._ids) if name is None][: len(inserted)]
            if len(free) < len(inserted):
                raise InvalidRequest(
                    f"{len(inserted)} records do not fit: {len(free)} of {self.slots} slots are free. n is fixed by the "
                    "plan; delete records first, or learn afresh on a table with more slots"
                )
            slots, names = slots + free, [*names, *new_names]
            owners += [None] * len(free) if inserted.subjects is None else list(inserted.subjects)
            rows.append(inserted.rows)
            labels.append(inserted.labels)
        return SlotEdits(
            np.array(slots, np.int64),
            np.concatenate(rows),
            np.concatenate(labels),
            tuple(names),
            tuple(owners),
            next_id,
        )

    def _slot(self, name: Id) -> int:
        if name not in self._slot_of:
            raise InvalidRequest(
                f"id {name!r} is not in the table (never there, or erased already); nothing was changed"
            )
        return self._slot_of[name]

    def _slots_of_subjects(self, subjects: tuple[Id, ...]) -> list[int]:
        if self._subjects is None:
            raise InvalidRequest("the table has no subjects; give Records(subjects=...), or delete by id")
        wanted = set(subjects)
        found = [slot for slot, owner in enumerate(self._subjects) if owner is not None and owner in wanted]
        missing = wanted - {self._subjects[slot] for slot in found}
        if missing:
            raise InvalidRequest(f"subject {min(map(str, missing))!r} has no row in the table; nothing was changed")
        return found

    def _new_names(self, inserted: Insertion, width: int) -> tuple[list[Id], int]:
        if inserted.rows.shape[1] != width:
            raise InvalidRequest(f"the new rows have {inserted.rows.shape[1]} values; the table has {width} features")
        if (inserted.subjects is None) != (self._subjects is None):
            raise InvalidRequest("give subjects for new rows exactly when the table has subjects")
        names: list[Id] = list(range(self.next_id, self.next_id + len(inserted)))
        if inserted.ids is not None:
            names = list(inserted.ids)
        for name in names:
            if name in self._slot_of:
                raise InvalidRequest(f"id {name!r} is in use; ids are never reused, choose a new one")
        return names, max([self.next_id, *(name + 1 for name in names if isinstance(name, int))])

    def edit(self, request: EditRequest) -> int:
        """Carry the request out in place, overwriting what was there. Returns r, the number of slots edited."""
        edits = self.resolve(request)
        for slot in edits.slots:
            old = self._ids[slot]
            if old is not None:
                del self._slot_of[old]
        self._features[edits.slots] = edits.rows
        self._labels[edits.slots] = edits.labels
        for slot, name, owner in zip(edits.slots, edits.ids, edits.subjects, strict=True):
            self._ids[slot] = name
            if name is not None:
                self._slot_of[name] = int(slot)
            if self._subjects is not None:
                self._subjects[slot] = owner
        self.next_id = edits.next_id
        return len(edits.slots)

    def apply(self, request: EditRequest) -> Records:
        """D ∘ u: the edited table, as a new one."""
        edited = self.copy()
        edited.edit(request)
        return edited

"""Edit requests: what a caller may ask of the table, validated before anything moves.

Whether a request that comes again under its token is the one that was answered (`check_repeat`): contents and erased ids are not kept, so
the table itself is asked. After the request was carried out it looks a certain way, and the number of its edits of each kind is a public fact.
What has been edited once more since then is refused like other contents are: a request is never taken for done because its token is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidRequest
from .bounded import check_text, check_token
from .counts import EditCounts
from .sparse import SparseRows, in_full, table_of
from .values import Id, Labels, Rows, column, matrix, numbers

if TYPE_CHECKING:
    from .records import Records


def check_ids(name: str, ids: Iterable[Any], error: type[Exception]) -> tuple[Id, ...]:
    """Ids as a tuple of ints and strings without repeats."""
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
    """Raise `error` if `value` is a text that no file and no message can hold."""
    if isinstance(value, str):
        check_text(name, value, error)


@dataclass(frozen=True)
class Insertion:
    """New records for free slots: ids (None: numbered by the table), rows (r, features), labels (r,), subjects."""

    ids: tuple[Id, ...] | None
    rows: Rows | SparseRows
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
        check_ids("subjects", self.subjects, InvalidRequest)
        if not (self.deletions or self.subjects or self.replacements or self.insertion):
            raise InvalidRequest("the request is empty; name at least one record to delete, replace or insert")
        check_token(self.request_id)

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
            row = matrix(f"the new row of {key!r}", np.atleast_2d(in_full(pair[0])), InvalidRequest)[0]
            checked[key] = (row, float(numbers(f"the new label of {key!r}", pair[1], InvalidRequest)))
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
        new_rows = table_of("rows", rows, InvalidRequest)
        if not len(new_rows):
            raise InvalidRequest("the request is empty; give at least one row to insert")
        checked = None if ids is None else check_ids("ids", ids, InvalidRequest)
        owners = None if subjects is None else subject_names(subjects, len(new_rows), InvalidRequest)
        if checked is not None and len(checked) != len(new_rows):
            raise InvalidRequest(f"{len(checked)} ids were given for {len(new_rows)} rows; give one id per row")
        new_labels = column("labels", labels, len(new_rows), InvalidRequest)
        return cls(insertion=Insertion(checked, new_rows, new_labels, owners), request_id=request_id)


def subject_names(subjects: Iterable[Id], length: int, error: type[Exception]) -> tuple[Id, ...]:
    owners = tuple(check_text("subjects", s, error) if isinstance(s, str) else int(s) for s in subjects)
    if len(owners) != length:
        raise error(f"{len(owners)} subjects were given for {length} rows; give one subject per row")
    return owners


def check_repeat(records: Records, request: EditRequest, edited: EditCounts) -> None:
    """Raise `InvalidRequest` unless the table is as this request left it, and it made so many edits.

    An id that is absent may have been erased by the request, or never have been there: only the counts tell.
    """
    reason = next(_differences(records, request, edited), None)
    if reason is not None:
        raise InvalidRequest(
            f"this request id was answered before, for other contents ({reason}); nothing was changed. Give every request a "
            "random token of its own"
        )


def _differences(records: Records, request: EditRequest, edited: EditCounts) -> Iterator[str]:
    if not _as_many(request, edited):
        yield f"then it was: {edited.text()}"
    new, owners = request.insertion, records.owners
    named = [*request.deletions, *request.replacements, *((new and new.ids) or ())]
    slots = {records.names[slot]: slot for slot in records.names.find(named).tolist()}
    if any(name in slots for name in request.deletions):
        yield "a record it names is still there"
    if request.subjects and owners is not None and len(owners.find(request.subjects)):
        yield "a person it names still has records"
    for name, (row, label) in request.replacements.items():
        if not _holds(records, slots.get(name), row, label):
            yield "a record to replace does not hold what the request says, or was edited again since"
    if new is not None and new.ids is not None:
        for place, name in enumerate(new.ids):
            slot = slots.get(name)
            same = _holds(records, slot, new.rows[place], new.labels[place])
            if not same or (
                owners is not None and new.subjects and slot is not None and owners[slot] != new.subjects[place]
            ):
                yield "a record to insert is not there as the request says, or was edited again since"


def _as_many(request: EditRequest, edited: EditCounts) -> bool:
    """Whether the request can have made these edits. How many rows a person had is not known any more: at least one."""
    deleted, replaced, inserted = len(request.deletions), len(request.replacements), len(request.insertion or ())
    if edited.unrecorded:
        others = edited.total - deleted - replaced - inserted
    elif (replaced, inserted) != (edited.replaced, edited.inserted):
        return False
    else:
        others = edited.deleted - deleted
    return others >= len(request.subjects) if request.subjects else others == 0


def _holds(records: Records, slot: int | None, row: Rows, label: float) -> bool:
    if slot is None:
        return False
    same = records.row(slot).shape == row.shape and (records.row(slot) == row).all()
    return bool(same and records.labels[slot] == label)

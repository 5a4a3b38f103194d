"""Edit requests: what a caller may ask of the table, validated before anything moves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidRequest
from .bounded import check_text, check_token
from .sparse import SparseRows, in_full, table_of
from .values import Labels, Rows, column, matrix, numbers

Id = int | str


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

"""Ids of raw rows: those given, or the index of a pandas object; and one raw row as a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import InvalidRecords
from ..records import Id

_SAY = "pass ids=, one whole number or string per row, so that a request finds its row"


def ids_of(X: Any, y: Any, ids: Iterable[Id] | None, subjects: Iterable[Id] | None = None) -> Iterable[Id] | None:
    """Return the given ids, else the index of X or y if it differs from the row positions, else None (positions).

    After `train_test_split` a row's index is its owner's name for it, while its position is the original index of
    another row.

    Raises:
        InvalidRecords: If the index is not a list of distinct whole numbers or strings, or X and y, ids or subjects
            have different ones.
    """
    own = next((index for index in (_index(X), _index(y)) if index is not None), None)
    for name, given in (("ids", _index(ids)), ("subjects", _index(subjects))):
        if own is not None and given is not None and len(given) == len(own) and given != own:
            raise InvalidRecords(
                f"X and {name} have different indexes, so it is not known which row is whose: align them, or pass {name}= as a list in X's order"
            )
    if ids is not None:
        return ids
    found = [index for index in (_index(X), _index(y)) if index is not None]
    named = [index for index in found if not _are_positions(index)]
    if not named:
        return None
    if any(len(index) == len(named[0]) and list(index) != list(named[0]) for index in found):
        raise InvalidRecords(
            f"X and y have different indexes, so it is not known which row is whose: align them, or {_SAY}"
        )
    kinds = {type(name) for name in named[0]}
    if not all(issubclass(kind, (int, str, np.integer)) and not issubclass(kind, (bool, np.bool_)) for kind in kinds):
        raise InvalidRecords(
            f"the index holds neither whole numbers nor strings alone, so no request could name a row by it: {_SAY}"
        )
    if len(set(named[0])) < len(named[0]):
        raise InvalidRecords(f"the index names a row twice, so a request for that name would be for both: {_SAY}")
    return list(named[0])


def table_of_one(name: Id, row: Any) -> Any:
    """Return a raw row as a table with one row; a pandas Series keeps its names.

    Raises:
        InvalidRecords: If it is a table with more or fewer rows.
    """
    table = row.to_frame().T if hasattr(row, "to_frame") else row
    if not (hasattr(table, "columns") or hasattr(table, "toarray")):
        return [table]
    if table.shape[0] != 1:
        raise InvalidRecords(f"replace takes one row for a record; {name!r} has {table.shape[0]}. Nothing was changed")
    return table


def _index(table: Any) -> list[Any] | None:
    """Return the index of a pandas object as a list; None for anything else (a list has a method `index`)."""
    index = getattr(table, "index", None)
    return None if index is None or callable(index) or not hasattr(table, "iloc") else list(index)


def _are_positions(index: list[Any]) -> bool:
    return all(isinstance(name, (int, np.integer)) and name == place for place, name in enumerate(index))

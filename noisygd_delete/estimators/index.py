"""Whose rows they are, where a table says so itself: the index of a DataFrame or Series."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import InvalidRecords
from ..records import Id

_SAY = "pass ids=, one whole number or string per row, so that a request finds its row"


def ids_of(X: Any, y: Any, ids: Iterable[Id] | None) -> Iterable[Id] | None:
    """The ids that were given; else the index of X or y, where one is more than the rows' positions; else None: the positions.

    After `train_test_split` a row's index is what its owner calls it, and its position is somebody else's name.

    Raises:
        InvalidRecords: the index is no list of whole numbers or strings, or X and y have different ones.
    """
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


def _index(table: Any) -> list[Any] | None:
    """The names of the rows of a pandas object; None of anything else (a list has a method `index`)."""
    index = getattr(table, "index", None)
    return None if index is None or callable(index) or not hasattr(table, "iloc") else list(index)


def _are_positions(index: list[Any]) -> bool:
    return all(isinstance(name, (int, np.integer)) and name == place for place, name in enumerate(index))

"""Positions in the history of a source, as the source itself counts them: when rows were deleted, what a release read.

A ledger and a certificate hold them as text; from two texts alone, anyone can check whether a release read the rows
after a deletion:

    transaction:734               a committed transaction of PostgreSQL
    snapshot:734:740:735,737      what one snapshot of PostgreSQL sees: every transaction before 734; none from 740
                                  on, nor 735 and 737, which were still in progress
                                  (the text of `pg_current_snapshot()`)
    version:12                    a version of a Delta table, or the number of deletions made in a DuckDB file
    time:2026-11-22T05:45:00+00:00   the clock, for a source that counts nothing

    >>> from noisygd_delete.store.position import position_covers
    >>> position_covers("snapshot:734:740:735,737", "transaction:736")
    True
    >>> position_covers("snapshot:734:740:735,737", "transaction:737")
    False
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from ..errors import InvalidParameter

COUNTED_BY = ("trigger", "versions", "file")  # what counts the changes between two positions
_MOST_BETWEEN = 1000  # transactions
_LONGEST = 10_000  # characters: a snapshot names every transaction in progress
_NUMBER = r"(0|[1-9]\d{0,19})"
_FORMS = {
    "transaction": re.compile(_NUMBER),
    "snapshot": re.compile(rf"{_NUMBER}:{_NUMBER}:({_NUMBER}(,{_NUMBER})*)?"),
    "version": re.compile(_NUMBER),
    "time": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00"),
}


@dataclass(frozen=True)
class _Snapshot:
    """The transactions that a snapshot sees: those before `first`, and those before `end` that are not in `open`."""

    first: int
    end: int
    open: frozenset[int]

    @classmethod
    def of(cls, text: str) -> _Snapshot:
        first, end, under_way = text.split(":")
        return cls(int(first), int(end), frozenset(map(int, filter(None, under_way.split(",")))))

    def sees(self, transaction: int) -> bool:
        return transaction < self.first or (transaction < self.end and transaction not in self.open)

    def sees_all_of(self, other: _Snapshot) -> bool:
        unseen = [number for number in self.open if number < other.end and other.sees(number)]
        return self.end >= other.end and not unseen


def check_position(text: str) -> str:
    """Return `text` if it is a position.

    Raises:
        InvalidParameter: If it is not a position.
    """
    kind, _, rest = text.partition(":") if isinstance(text, str) and len(text) <= _LONGEST else ("", "", "")
    if kind not in _FORMS or not _FORMS[kind].fullmatch(rest):
        raise InvalidParameter(
            "a position in a source is written as transaction:734, snapshot:734:740:735, version:12 or "
            "time:2026-11-22T05:45:00+00:00"
        )
    if kind == "time":
        try:
            datetime.fromisoformat(rest)
        except ValueError:
            raise InvalidParameter("a position in a source names a time that does not exist") from None
    return text


def extend_position(position: str, transaction: int) -> str | None:
    """Return the position that sees what this PostgreSQL snapshot sees, and one transaction that began after it.

    None if `transaction` is before the end of the snapshot, or too many transactions began in between.
    """
    first, end, under_way = check_position(position).partition(":")[2].split(":")
    between = range(int(end), transaction)
    if len(between) > _MOST_BETWEEN or transaction < int(end):
        return None
    unseen = [*filter(None, under_way.split(",")), *map(str, between)]
    return f"snapshot:{first}:{transaction + 1}:{','.join(unseen)}"


def position_covers(read: str, changed: str) -> bool:
    """Return whether a read at position `read` contains every change up to `changed`; False if their kinds differ."""
    (kind, _, seen), (other, _, made) = check_position(read).partition(":"), check_position(changed).partition(":")
    if kind == "snapshot":
        if other == "transaction":
            return _Snapshot.of(seen).sees(int(made))
        return other == "snapshot" and _Snapshot.of(seen).sees_all_of(_Snapshot.of(made))
    if kind != other or kind == "transaction":
        return False
    if kind == "version":
        return int(seen) >= int(made)
    return datetime.fromisoformat(seen) >= datetime.fromisoformat(made)

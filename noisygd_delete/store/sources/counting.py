"""Rows that changed in a source between two releases without this store being told: what it counted itself, beside what was told.

A count by a trigger is of everything written, a row as often as it was; one by versions of what differs between two of them. Both are
at least what the second release reads differently from the first.
"""

from __future__ import annotations

from ...records import EditCounts


def unseen(told: EditCounts, counted: EditCounts) -> EditCounts:
    """The edits that nobody told of. A row that was told to be deleted and was emptied by an update instead is told of."""
    emptied = max(0, told.deleted - counted.deleted)
    every = EditCounts(
        deleted=max(told.deleted, counted.deleted),
        replaced=max(told.replaced, counted.replaced - emptied),
        inserted=max(told.inserted, counted.inserted),
        unrecorded=told.unrecorded,
    )
    return every - told


def missing(told: EditCounts, counted: EditCounts) -> int:
    """How many of the rows that were told to be erased a count of everything written does not know of."""
    return max(0, told.deleted + told.replaced - counted.deleted - counted.replaced)

"""Whether a request that comes again under its token is the one that was answered.

Contents and erased ids are not kept, so the table itself is asked: after the request was carried out it looks a certain way,
and the number of its edits of each kind is a public fact. What has been edited once more since then is refused like other
contents are: a request is never taken for done because its token is known.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import InvalidRequest
from .counts import EditCounts
from .records import Records
from .request import EditRequest
from .values import Rows


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

"""Requests that can share a transaction, because executing them together has the same effect as one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..curator.learning import check_edit
from ..curator.release import Release
from ..errors import InvalidRequest
from ..methods.plan import Plan
from ..records import NO_EDITS, EditRequest, Records, SlotEdits
from ..records.values import append_rows
from .journal import InFlight
from .ledger import Ledger


class BatchResult(NamedTuple):
    """The outcome of several requests.

    Attributes:
        outcomes: For each request None, or why it was refused.
        served: How many were carried out; the others were answered before.
        release: The release that they made at once, if any.
    """

    outcomes: list[InvalidRequest | None]
    served: int
    release: Release | None = None


class RequestBatch:
    """Requests with their edits, resolved on one table.

    They edit different slots and have different request ids. At most the last one inserts, because no later request can
    refer to the rows it inserted. All names in `to_come` are searched once, in the ledger and in the table, neither of
    which changes until `change` is carried out.
    """

    def __init__(self, ledger: Ledger, records: Records, to_come: Sequence[EditRequest]) -> None:
        self._answered = ledger.positions(request.request_id for request in to_come)
        self._found = records.slots_of(
            [name for request in to_come for name in (*request.deletions, *request.replacements)]
        )
        self._requests: list[EditRequest] = []
        self.edits: list[SlotEdits] = []
        self._slots: set[int] = set()

    @property
    def last(self) -> SlotEdits:
        """The edits of the last request."""
        return self.edits[-1]

    def takes(self, request: EditRequest, records: Records, plan: Plan) -> bool:
        """Add a request if it is valid and independent of the requests in the batch; return whether it was added."""
        token = request.request_id
        if self._requests and self._requests[-1].insertion is not None:
            return False
        if token is not None and (token in {other.request_id for other in self._requests} or token in self._answered):
            return False
        try:
            edits = check_edit(records, plan, request, self._found)
        except InvalidRequest:
            return False
        if self._slots & set(edits.slots.tolist()):
            return False
        self.add(request, edits)
        return True

    def add(self, request: EditRequest, edits: SlotEdits) -> None:
        """Add a request with its edits, without checks."""
        self._requests.append(request)
        self.edits.append(edits)
        self._slots |= set(edits.slots.tolist())

    def drop(self) -> None:
        """Remove the last request."""
        self._requests.pop()
        self._slots -= set(self.edits.pop().slots.tolist())

    def change(self, ledger: Ledger, *, publish: bool = False) -> InFlight:
        """Return the batch as one change on top of the ledger."""
        merged = SlotEdits(
            np.concatenate([part.slots for part in self.edits]),
            append_rows(self.edits[0].rows, [part.rows for part in self.edits[1:]]),
            np.concatenate([part.labels for part in self.edits]),
            tuple(name for part in self.edits for name in part.ids),
            tuple(owner for part in self.edits for owner in part.subjects),
            max(part.next_id for part in self.edits),
            sum((part.counts for part in self.edits), NO_EDITS),
        )
        named = [request.request_id for request in self._requests]
        parts = tuple(zip(named, (part.counts for part in self.edits), strict=True))
        left, deleted = list[int | None](), set[int]()
        for part in self.edits:  # a row deleted by an earlier request is not left by a later one
            left.append(None if part.beside is None else len(part.beside - deleted))
            deleted |= set(part.slots[: part.counts.deleted].tolist())
        parts = parts if publish or len(parts) > 1 else ()
        return InFlight(ledger.length, merged, publish, named[-1], tuple(left), ledger.digest, parts)

"""The table and the requests that edit it: validated whole before anything moves."""

from .counts import NO_EDITS, EditCounts
from .records import Records, SlotEdits
from .request import EditRequest, Id, Insertion, Labels, Rows

__all__ = ["NO_EDITS", "EditCounts", "EditRequest", "Id", "Insertion", "Labels", "Records", "Rows", "SlotEdits"]

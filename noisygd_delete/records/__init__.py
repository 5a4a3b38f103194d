"""The table and the requests that edit it: validated whole before anything moves."""

from .counts import NO_EDITS, EditCounts
from .names import Names
from .records import Records, SlotEdits, check_size
from .repeat import check_repeat
from .request import EditRequest, Id, Insertion, Labels, Rows, check_token

__all__ = [
    "NO_EDITS",
    "EditCounts",
    "EditRequest",
    "Id",
    "Insertion",
    "Labels",
    "Names",
    "Records",
    "Rows",
    "SlotEdits",
    "check_repeat",
    "check_size",
    "check_token",
]

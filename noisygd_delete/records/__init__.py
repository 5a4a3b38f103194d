"""The table of records and the requests that edit it, validated completely before anything changes.

Modules that hold rows are loaded on first use: counting edits needs no arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy_imports import on_first_use
from .counts import NO_EDITS, NONE_LEFT_OUT, EditCounts, LeftOut

if TYPE_CHECKING:
    from .limited_io import check_token
    from .names import Names
    from .records import EditRequest, Insertion, Records, SlotEdits, check_repeat, check_size, check_slots
    from .values import CodedRows, Id, Labels, Rows, SparseRows

WIDTHS = (3, 5, 9, 17, 31)  # of a text cell, in 64-bit words: texts of up to 23, 39, 71, 135, 247 bytes

__all__ = [
    "NONE_LEFT_OUT",
    "NO_EDITS",
    "WIDTHS",
    "CodedRows",
    "EditCounts",
    "EditRequest",
    "Id",
    "Insertion",
    "Labels",
    "LeftOut",
    "Names",
    "Records",
    "Rows",
    "SlotEdits",
    "SparseRows",
    "check_repeat",
    "check_size",
    "check_slots",
    "check_token",
]

__getattr__ = on_first_use(
    __name__,
    {
        "Names": "names",
        **dict.fromkeys(("Records", "SlotEdits", "check_size", "check_slots"), "records"),
        "check_repeat": "records",
        **dict.fromkeys(("EditRequest", "Insertion"), "records"),
        **dict.fromkeys(("CodedRows", "SparseRows"), "values"),
        "check_token": "limited_io",
        **dict.fromkeys(("Id", "Labels", "Rows"), "values"),
    },
)

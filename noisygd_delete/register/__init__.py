"""Requests of persons as a desk keeps them: what was asked, when it falls due, what was decided, who was told.

Facts and calendars alone: where they are kept is the store's task, how they are printed the report's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..loading import on_first_use
from .case import Case, Channels, Decisions, Grounds, Practice, Reasons, Rights, last_day, moment

if TYPE_CHECKING:
    from .line import (
        Line,
        Served,
        States,
        acknowledged,
        backups_last,
        decided,
        export,
        in_order_of_need,
        informed,
        recipients_told,
    )

__all__ = [
    "Case",
    "Channels",
    "Decisions",
    "Grounds",
    "Line",
    "Practice",
    "Reasons",
    "Rights",
    "Served",
    "States",
    "acknowledged",
    "backups_last",
    "decided",
    "export",
    "in_order_of_need",
    "informed",
    "last_day",
    "moment",
    "recipients_told",
]

__getattr__ = on_first_use(__name__, dict.fromkeys(__all__, "line"))  # asked for what is not here yet

"""Requests of persons as a desk keeps them: what was asked, when it falls due, what was decided, who was told.

Facts and calendars alone: where they are kept is the store's task, how they are printed the report's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy_imports import on_first_use
from .case import Channels, Decisions, Grounds, Reasons, RegisterPolicy, RequestCase, Rights, last_day, parse_datetime

if TYPE_CHECKING:
    from .row import (
        RegisterRow,
        Served,
        States,
        export_csv,
        notified_recipients,
        record_acknowledged,
        record_backup_expiry,
        record_decision,
        record_informed,
        sort_by_urgency,
    )

__all__ = [
    "Channels",
    "Decisions",
    "Grounds",
    "Reasons",
    "RegisterPolicy",
    "RegisterRow",
    "RequestCase",
    "Rights",
    "Served",
    "States",
    "export_csv",
    "last_day",
    "notified_recipients",
    "parse_datetime",
    "record_acknowledged",
    "record_backup_expiry",
    "record_decision",
    "record_informed",
    "sort_by_urgency",
]

__getattr__ = on_first_use(__name__, dict.fromkeys(__all__, "row"))  # asked for what is not here yet

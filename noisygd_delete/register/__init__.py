"""Requests of data subjects as a controller records them: right, deadline, decision, notification.

This package holds facts and calendar arithmetic; the store persists them, the reports print them.

Example:
    >>> from noisygd_delete.register import last_day
    >>> last_day("2026-05-04T09:30:00+02:00")
    datetime.date(2026, 6, 4)
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

__getattr__ = on_first_use(__name__, dict.fromkeys(__all__, "row"))  # loads `row` on first use

"""Releases so far -> every question about ε_dp, ε_dd, (ε, δ), advantage and the remaining budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..loading import on_first_use

if TYPE_CHECKING:
    from .account import Account
    from .accountant import Accountant, Ahead, Outlook, Remaining
    from .events import Event, EventKinds, Statuses, label, within
    from .filter import PrivacyFilter
    from .history import Past
    from .statement import Statement, forecast, report, statement_text

__all__ = [
    "Account",
    "Accountant",
    "Ahead",
    "Event",
    "EventKinds",
    "Outlook",
    "Past",
    "PrivacyFilter",
    "Remaining",
    "Statement",
    "Statuses",
    "forecast",
    "label",
    "report",
    "statement_text",
    "within",
]

__getattr__ = on_first_use(
    __name__,
    {
        "Account": "account",
        "Accountant": "accountant",
        **dict.fromkeys(("Ahead", "Outlook", "Remaining"), "accountant"),
        **dict.fromkeys(("Event", "EventKinds", "Statuses", "label"), "events"),
        "PrivacyFilter": "filter",
        "Past": "history",
        "within": "events",
        **dict.fromkeys(("Statement", "forecast", "report"), "statement"),
        "statement_text": "statement",
    },
)

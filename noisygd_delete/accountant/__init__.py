"""Privacy accounting: ε_dp, ε_dd, (ε, δ), membership advantage and the remaining budget of a sequence of releases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy_imports import on_first_use

if TYPE_CHECKING:
    from .account import Account
    from .accountant import Accountant
    from .events import Event, EventKinds, Statuses, is_within_budget, release_label
    from .filter import PrivacyFilter
    from .forecast import Forecast, Outlook, Remaining
    from .format_statement import statement_text
    from .history import EventSource
    from .statement import Statement, build_report

__all__ = [
    "Account",
    "Accountant",
    "Event",
    "EventKinds",
    "EventSource",
    "Forecast",
    "Outlook",
    "PrivacyFilter",
    "Remaining",
    "Statement",
    "Statuses",
    "build_report",
    "is_within_budget",
    "release_label",
    "statement_text",
]

__getattr__ = on_first_use(
    __name__,
    {
        "Account": "account",
        "Accountant": "accountant",
        **dict.fromkeys(("Forecast", "Outlook", "Remaining"), "forecast"),
        **dict.fromkeys(("Event", "EventKinds", "Statuses", "release_label"), "events"),
        "PrivacyFilter": "filter",
        "EventSource": "history",
        "is_within_budget": "events",
        **dict.fromkeys(("Statement", "build_report"), "statement"),
        "statement_text": "format_statement",
    },
)

"""Releases so far -> every question about ε_dp, ε_dd, (ε, δ), advantage and the remaining budget."""

from .accountant import Accountant, Remaining
from .events import Event, EventKinds, Statuses, label
from .filter import PrivacyFilter
from .intervals import within
from .statement import Forecast, Statement, forecast, report
from .text import text as statement_text

__all__ = [
    "Accountant",
    "Event",
    "EventKinds",
    "Forecast",
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

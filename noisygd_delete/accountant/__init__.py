"""Releases so far -> every question about ε_dp, ε_dd, (ε, δ), advantage and the remaining budget."""

from .account import Account
from .accountant import Accountant
from .ahead import Ahead, Outlook, Remaining
from .ancestors import Presence, StageRun, ancestor_guarantee, stage_runs
from .events import Event, EventKinds, Statuses, label
from .filter import PrivacyFilter
from .history import Past
from .intervals import within
from .statement import Statement, forecast, report
from .text import text as statement_text

__all__ = [
    "Account",
    "Accountant",
    "Ahead",
    "Event",
    "EventKinds",
    "Outlook",
    "Past",
    "Presence",
    "PrivacyFilter",
    "Remaining",
    "StageRun",
    "Statement",
    "Statuses",
    "ancestor_guarantee",
    "forecast",
    "label",
    "report",
    "stage_runs",
    "statement_text",
    "within",
]

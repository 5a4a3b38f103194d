"""When edits are published, as `stream` and `serve` take it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import InvalidParameter, count
from .arguments import number, whole

if TYPE_CHECKING:
    from ..accountant import Accountant
    from ..methods.plan import Plan
    from ..stream import Batching

_DAY = 86_400.0  # seconds


class Publishing(Protocol):
    """What batches depend on: a store has it, and a ledger alone."""

    @property
    def plan(self) -> Plan: ...

    @property
    def accountant(self) -> Accountant: ...


def add_batches(parser: Any) -> None:
    """The options, for a command or a group of its options."""
    parser.add_argument(
        "--batch", type=whole, metavar="EDITS", help="publish as soon as so many edits wait (default: as planned)"
    )
    parser.add_argument(
        "--expect",
        type=whole,
        metavar="EDITS",
        help="choose --batch so that the budget's publications last for so many edits",
    )
    parser.add_argument(
        "--period",
        type=number,
        metavar="DAYS",
        help="the edits of --expect come in so many days: none waits longer than its share",
    )
    parser.add_argument("--deadline", type=number, metavar="SECONDS", help="publish no later than this after an edit")


def batching_from(parsed: argparse.Namespace, store: Publishing) -> Batching:
    """What the arguments say."""
    from ..stream import Batching

    if parsed.expect is not None:
        period = None if parsed.period is None else parsed.period * _DAY
        return Batching.within_budget(store.accountant, edits=parsed.expect, deadline=parsed.deadline, period=period)
    if parsed.period is not None:
        raise InvalidParameter("--period DAYS needs --expect EDITS: how many edits come in that time")
    if parsed.batch is None:
        return Batching.planned(store.plan, deadline=parsed.deadline)
    return Batching(size=count("batch", parsed.batch), deadline=parsed.deadline)

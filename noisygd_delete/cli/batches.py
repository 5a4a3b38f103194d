"""When edits are published, as `stream` and `serve` take it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ..errors import count, positive
from .arguments import number, whole

if TYPE_CHECKING:
    from ..curator.stream import Batching, Calendar
    from ..store.ledger import Ledger

_DAY = 86_400.0  # seconds
_WHOLE = 1 << 40  # edits: more than any file asks for


def add_batches(parser: Any) -> None:
    """The options, for a command or a group of its options."""
    parser.add_argument(
        "--batch",
        type=whole,
        metavar="EDITS",
        help="publish as soon as so many edits wait; what waits together gets one release",
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
        help="over which the budget's publications are spread (default 365), where nothing else says when; with --expect, in which the edits "
        "come",
    )
    parser.add_argument(
        "--deadline",
        type=number,
        metavar="SECONDS",
        help="publish no later than this after an edit, and for all that wait then",
    )


def pace_from(parsed: argparse.Namespace, ledger: Ledger) -> Batching | Calendar:
    """What the arguments say; where they are silent, what the budget affords."""
    from ..curator.stream.batching import YEAR, Batching
    from ..store.pace import paced

    period = None if parsed.period is None else positive("--period", parsed.period) * _DAY
    if parsed.expect is not None:
        return Batching.within_budget(ledger.accountant, edits=parsed.expect, deadline=parsed.deadline, period=period)
    if parsed.batch is not None:
        return Batching(size=count("batch", parsed.batch), deadline=parsed.deadline)
    if parsed.deadline is not None:
        return Batching.planned(ledger.plan, deadline=parsed.deadline)
    return paced(ledger, period=YEAR if period is None else period)


def batching_from(parsed: argparse.Namespace, ledger: Ledger, *, ends: bool) -> Batching:
    """The same for a stream, which ends: where nobody says, a file gets one release, at its end, and a pipe one whenever the interval of
    the calendar has passed since its oldest edit."""
    from ..curator.stream import Batching, Calendar

    asked = (parsed.batch, parsed.expect, parsed.deadline)
    if ends and all(one is None for one in asked):
        return Batching(size=_WHOLE)
    pace = pace_from(parsed, ledger)
    return Batching(size=None, deadline=pace.interval) if isinstance(pace, Calendar) else pace

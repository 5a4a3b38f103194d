"""`noisygd-delete publish`: one release that covers every pending edit."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ..errors import InvalidParameter
from .arguments import parse_integer, store_command
from .statements import add_request_id
from .terminal import print_result

if TYPE_CHECKING:
    from ..store import Store


def register(commands: Any) -> None:
    """Add the `publish` command and its options to the parser."""
    parser = store_command(commands, "publish", "publish STORE", publish)
    parser.add_argument("--force", action="store_true", help="even with no edit pending: new noise, charged in full")
    parser.add_argument(
        "--due", action="store_true", help="only if the date of pending edits has come (for a daily job)"
    )
    elsewhere = parser.add_argument_group(
        "rows that lie elsewhere, where the application deletes them (see `init --source`)"
    )
    elsewhere.add_argument(
        "--erased", type=parse_integer, metavar="N", help="rows that it has deleted there for this request"
    )
    elsewhere.add_argument(
        "--events",
        metavar="FILE",
        help="what it has deleted, from events of Debezium or an outbox, a line each; a transaction or request counts once",
    )
    elsewhere.add_argument(
        "--position", help="of its commit, if known (transaction:734, version:12); default: before now"
    )
    add_request_id(parser)
    parser.take("--dry-run", "--tombstones", "--tombstone-key", "--device", "--memory")


def publish(parsed: argparse.Namespace) -> int:
    """Publish one release that covers every pending edit, print it, and return 0, or 3 if it was withheld.

    Print a line and return 0 without a release: with --due before the date of the pending edits or without any, with
    --dry-run (what it would cost), and with --events if they hold no new deletion and nothing else is pending.

    Raises:
        InvalidParameter: If --events is given for a store without external source, or with --erased, --position or
            --request-id.
    """
    from ..store.release_schedule import date_to_wait_for, format_day
    from .release import open_store, report_release, tracking_progress
    from .remaining_budget import before_and_after

    with open_store(parsed) as store:
        date = date_to_wait_for(store.ledger)
        if parsed.due and (date is not None or not store.pending_edits):
            day = None if date is None or not store.pending_edits else format_day(date)
            answer = {"pending_edits": store.pending_edits, "publishes_on": day}
            print_result(
                parsed,
                answer,
                f"nothing is due: {store.pending_edits} edits pending" + (f" until {day}" if day else ""),
            )
            return 0
        if parsed.dry_run:
            foreseen = store.foresee_release(delta=store.accountant.remaining().delta) if store.ledger.releases else {}
            answer = {"pending_edits": store.pending_edits, "steps": store.plan.calibration.delete_steps, **foreseen}
            text = f"{store.pending_edits} pending edits; a release takes {store.plan.calibration.delete_steps} steps"
            print_result(parsed, answer, text + (f"\n{before_and_after(answer)}" if foreseen else ""))
            return 0
        if parsed.events is not None and not (_note_events(parsed, store) or store.pending_edits or parsed.force):
            print_result(
                parsed, {"events": "known", "pending_edits": 0}, "nothing new in these events; no release was made"
            )
            return 0
        options = {name: getattr(parsed, name) for name in ("force", "request_id", "erased", "position")}
        with tracking_progress(parsed, "publish", store.plan) as execution:
            release = store.publish(**options, execution=execution)
        return report_release(parsed, store, release)


def _note_events(parsed: argparse.Namespace, store: Store) -> int:
    """Note the deletions in the events; return how many were new."""
    if store.source is None:
        raise InvalidParameter("--events belongs to a store whose rows are in an external source")
    if parsed.erased is not None or parsed.position is not None or parsed.request_id is not None:
        raise InvalidParameter(
            "--events says what was erased, and where; leave --erased, --position and --request-id out"
        )
    return store.note_erased(store.source.read_events(parsed.events), parsed.execution)

"""`noisygd-delete stream`, as it is asked for. What it does: `streaming`."""

from __future__ import annotations

from typing import Any

from .batches import add_batches
from .requests import STATEMENTS
from .shared import add_command, run_by


def register(commands: Any) -> None:
    parser = add_command(
        commands,
        "stream",
        epilog='example: noisygd-delete stream STORE requests.jsonl --batch 10 --dry-run; a line: {"request_id": "f81d4fae", '
        '"delete": ["17"]}. Run the same command again after a kill: what was served costs nothing.',
    )
    parser.add_argument("store", metavar="STORE")
    parser.add_argument("requests", metavar="FILE", help="JSON lines, or CSV if it ends in .csv; - for standard input")
    parser.add_argument("--csv", action="store_true", help="read CSV whatever the name")
    when = parser.add_argument_group("publication")
    add_batches(when)
    parser.takes += ("--dry-run", "--wait")
    parser.takes += STATEMENTS
    parser.takes += ("--tombstones", "--tombstone-key", "--device", "--memory", "--json")
    parser.set_defaults(run=run_by("streaming", "stream"))

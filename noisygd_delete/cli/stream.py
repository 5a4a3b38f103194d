"""`noisygd-delete stream`, as it is asked for. What it does: `streaming`."""

from __future__ import annotations

from typing import Any

from .batches import add_batches
from .requests import add_statements
from .shared import add_command, add_common, run_by


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
    add_common(parser, "dry-run")
    add_common(parser, "wait")
    add_statements(parser)
    add_common(parser, "tombstones", "tombstone-key")
    add_common(parser, "device", "memory")
    add_common(parser, "json")
    parser.set_defaults(run=run_by("streaming", "stream"))

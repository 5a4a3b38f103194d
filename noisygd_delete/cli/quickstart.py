"""`noisygd-delete quickstart`, as it is asked for. What it does: `starting`."""

from __future__ import annotations

from typing import Any

from .arguments import number
from .init import add_map
from .problem import add_plan_file
from .shared import add_command, run_by


def register(commands: Any) -> None:
    command = add_command(
        commands,
        "quickstart",
        description="Makes a folder with a draft of the schema, a store and a key. In a terminal it asks about each range and list "
        "that it found in the data; elsewhere, and with --yes, it takes them, and papers say so.",
        epilog="example: noisygd-delete quickstart people.csv --label income --delete 17",
    )
    command.add_argument("data", metavar="FILE", help="CSV (plain or gzip) or Parquet")
    command.add_argument("--label", required=True, metavar="COL", help="column to predict")
    command.add_argument(
        "--id", metavar="COL", help="column with each record's own id (default: found, or rows are numbered)"
    )
    command.add_argument("--subject", metavar="COL", help="column with the person each record is about")
    command.add_argument("--into", metavar="FOLDER", help="new folder (default: the file's name without its ending)")
    command.add_argument("--delete", nargs="+", default=[], metavar="ID", help="erase these records, and certify it")
    command.add_argument(
        "--apart", type=number, default=0.1, metavar="SHARE", help="of the rows, to measure on (default .1; 0: none)"
    )
    command.add_argument(
        "--yes", action="store_true", help="ask nothing in a terminal either: take what the draft proposes"
    )
    add_map(command)
    add_plan_file(command)
    command.takes += ("--json",)
    command.set_defaults(run=run_by("starting", "start"))

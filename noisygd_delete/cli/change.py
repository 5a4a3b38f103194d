"""What changes a store, as it is asked for: `learn`, `delete`, `replace`, `insert`, `publish`, `relearn`. What they do: `changing`, `relearning`."""

from __future__ import annotations

from typing import Any

from .arguments import Intermixed, whole
from .problem import add_plan_file
from .requests import STATEMENTS, add_promises
from .shared import run_by, store_command


def register(commands: Any) -> None:
    learn = store_command(commands, "learn", "learn STORE", run_by("changing", "learn"))
    learn.takes += ("--dry-run", "--explain")

    delete = store_command(commands, "delete", "delete STORE 17 42 --request-id 9f2c", run_by("changing", "delete"))
    delete.add_argument("ids", nargs="*", metavar="ID", help="records to erase")
    delete.add_argument("--subject", action="append", default=[], metavar="S", help="erase every record of this person")
    delete.add_argument("--file", metavar="FILE", help="ids to erase, one a line (- for standard input)")
    delete.add_argument("--subject-file", metavar="FILE", help="persons to erase, one a line (- for standard input)")
    delete.add_argument(
        "--returned",
        action="store_true",
        help="erase again what the list of --tombstones says was erased before, where a backup was put back",
    )
    add_promises(delete)
    _request_options(delete)
    delete.takes += STATEMENTS

    correct = store_command(commands, "replace", "replace STORE --data corrected.csv", run_by("changing", "correct"))
    correct.add_argument(
        "--data",
        required=True,
        metavar="FILE",
        help="CSV or Parquet with the columns of the schema; every id is in use",
    )
    correct.takes += ("--delimiter",)
    add_promises(correct)
    _request_options(correct)
    correct.takes += STATEMENTS

    insert = store_command(commands, "insert", "insert STORE --data new.csv", run_by("changing", "insert"))
    insert.add_argument("--data", required=True, metavar="FILE", help="CSV or Parquet with the columns of the schema")
    insert.takes += ("--delimiter",)
    _request_options(insert)

    publish = store_command(commands, "publish", "publish STORE", run_by("changing", "publish"))
    publish.add_argument("--redo", action="store_true", help="even with no edit pending: new noise, charged in full")
    publish.takes += ("--dry-run",)
    elsewhere = publish.add_argument_group(
        "rows that lie elsewhere, where the application deletes them (see `init --source`)"
    )
    elsewhere.add_argument("--erased", type=whole, metavar="N", help="rows that it has deleted there for this request")
    elsewhere.add_argument(
        "--events",
        metavar="FILE",
        help="what it has deleted, from events of Debezium or of an outbox, a line each: each transaction or request counts once, however often "
        "its events come",
    )
    elsewhere.add_argument(
        "--position", help="of its commit, if known (transaction:734, version:12); default: before now"
    )

    publish.takes += ("--tombstones", "--tombstone-key")

    relearn = store_command(
        commands,
        "relearn",
        "relearn STORE --plan plan.toml --dry-run",
        run_by("relearning", "relearn"),
    )
    relearn.add_argument("--slots", type=whole, metavar="N", help="a larger n; default: as before")
    relearn.takes += ("--dry-run",)
    add_plan_file(relearn)
    relearn.takes += ("--explain",)
    for parser in (learn, publish, relearn):
        _request_id(parser)
    for parser in (learn, delete, correct, insert, publish, relearn):
        parser.takes += ("--device", "--memory")


def _request_id(parser: Intermixed) -> None:
    parser.add_argument(
        "--request-id", metavar="TOKEN", help="random token of this request: sent again, it is told its first answer"
    )


def _request_options(parser: Intermixed) -> None:
    _request_id(parser)
    parser.add_argument("--later", action="store_true", help="edit the rows now, leave the release to a later one")
    parser.takes += ("--dry-run", "--tombstones", "--tombstone-key")

"""`noisygd-delete watch`: let the database count changes that other programs make to the source."""

from __future__ import annotations

import argparse
from typing import Any

from noisygd_delete.cli.arguments import store_command
from noisygd_delete.cli.terminal import print_result
from noisygd_delete.errors import InvalidParameter


def register(commands: Any) -> None:
    """Add the `watch` command and its options to the parser."""
    parser = store_command(commands, "watch", "watch STORE", _run)
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--sql", action="store_true", help="print the statements for the owner of the table; change nothing"
    )
    how.add_argument("--stop", action="store_true", help="take the triggers and their counts out of the database")


def _run(parsed: argparse.Namespace) -> int:
    from noisygd_delete.cli.release import open_store

    from ..table import TableInSource

    with open_store(parsed) as store:
        table = store.table
        if not isinstance(table, TableInSource):
            raise InvalidParameter(f"{parsed.store}: its rows are in the store, where no other program changes them")
        source: Any = table.source
        if parsed.sql or parsed.stop:
            if source.counts_by != "trigger":
                raise InvalidParameter("--sql and --stop belong to a trigger in PostgreSQL")
            if parsed.sql:
                statements = source.watching()
                print_result(parsed, {"sql": statements}, statements.rstrip())
                return 0
            source.unwatch()
            print_result(parsed, {"counted_by": None}, "changes are counted no longer")
            return 0
        changes = table.watch()
        counted = "counted from now on" if changes is None else f"counted since the last release: {changes.text()}"
        answer = {"counted_by": source.counts_by, "changes": None if changes is None else changes.to_dict()}
        print_result(parsed, answer, f"{source.address}: changes are {counted}")
        return 0

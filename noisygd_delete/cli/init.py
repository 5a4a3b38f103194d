"""`noisygd-delete init`, as it is asked for. What it does: `creating`."""

from __future__ import annotations

import argparse
from typing import Any

from .arguments import whole
from .problem import add_plan_file
from .shared import add_command, run_by
from .source import add_source


def register(commands: Any) -> None:
    parser = add_command(
        commands,
        "init",
        epilog="example, first: noisygd-delete init --data people.csv --label y --id id --draft-schema schema.toml",
    )
    parser.add_argument("store", nargs="?", metavar="STORE", help="folder to make; not needed with --draft-schema")
    rows = parser.add_mutually_exclusive_group(required=True)
    rows.add_argument("--data", metavar="FILE", help="CSV (plain or gzip) or Parquet, copied into the store")
    add_source(parser, rows)
    parser.add_argument("--label", metavar="COL", help="column to predict (with a schema: must agree with it)")
    parser.add_argument(
        "--id", metavar="COL", help="column with each record's own id (or `id` in the schema; else rows are numbered)"
    )
    parser.add_argument("--subject", metavar="COL", help="column with the person each record is about")
    parser.takes += ("--delimiter",)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--schema", metavar="FILE", help="public bounds and categories (TOML)")
    source.add_argument(
        "--draft-schema",
        metavar="FILE",
        help="write a first draft of the schema, also off the first 100,000 rows of a --source, and stop",
    )
    parser.add_argument(
        "--slots",
        type=whole,
        metavar="N",
        help="n, public; default: a twentieth more than rows, as room for insertions",
    )
    parser.takes += ("--dry-run",)
    parser.takes += ("--tombstones", "--tombstone-key")
    add_map(parser)
    add_plan_file(parser)
    parser.takes += ("--memory", "--explain", "--json")
    parser.set_defaults(run=run_by("creating", "init"))


def add_map(parser: argparse.ArgumentParser) -> None:
    """A public map in place of the schema's."""
    parser.add_argument(
        "--map",
        choices=["auto", "additive", "columns"],
        default="auto",
        help="additive gives each column a curve of its own (docs/which_model.md), columns reads each as it is; auto (default) takes what sizes "
        "and budget speak for, of a file and where no --method is named",
    )

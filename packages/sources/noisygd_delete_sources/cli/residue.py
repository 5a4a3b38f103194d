"""`noisygd-delete residue`: search places outside the store for given texts, and state what removes them."""

from __future__ import annotations

import argparse
from typing import Any

from noisygd_delete.cli.arguments import add_command
from noisygd_delete.cli.terminal import print_result
from noisygd_delete.records import limited_io

_FOUND = 5


def register(commands: Any) -> None:
    """Add the command to the parser."""
    parser = add_command(
        commands,
        "residue",
        description="Looks for given texts in every byte of PostgreSQL's tables, indexes, statistics and write-ahead log, of Delta "
        "and Iceberg tables with their earlier files, log and manifests, of stores, registries of models, folders and files, Parquet decoded "
        "and archives unpacked. Each place is "
        "ERASED, RESIDUAL with what removes it, or NOT COVERED with what to do. The texts are neither stored nor repeated; "
        "the answer goes with a certificate as your statement: certificate --residue.",
        epilog="example: noisygd-delete residue --tokens gone.txt STORE postgresql://admin@localhost/people lake/ backups/",
    )
    parser.add_argument(
        "where",
        nargs="+",
        metavar="WHERE",
        help="postgresql://..., a Delta or Iceberg table, a store, a folder, a file",
    )
    parser.add_argument("--tokens", required=True, metavar="FILE", help="texts that must be gone, one a line")
    parser.take("--json")
    parser.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    from noisygd_delete.store.verification import tokens

    from ..residue_scan import residue

    found = residue(tokens(parsed.tokens, limited_io.read_text(parsed.tokens, limited_io.LIST)), *parsed.where)
    summary = "nothing was found where it was looked" if found.silent else "FOUND: the remedies stand above"
    print_result(parsed, found.to_dict(), f"{found.text()}\n{summary}")
    return 0 if found.silent else _FOUND

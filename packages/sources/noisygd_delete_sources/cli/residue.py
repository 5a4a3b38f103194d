"""`noisygd-delete residue`: search places outside the store for given texts and vectors, and state what removes them."""

from __future__ import annotations

import argparse
from typing import Any

from noisygd_delete.cli.arguments import add_command
from noisygd_delete.cli.terminal import print_result
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.records import limited_io

_FOUND = 5


def register(commands: Any) -> None:
    """Add the `residue` command and its options to the parser."""
    parser = add_command(
        commands,
        "residue",
        description="Looks for given texts and embedding vectors in every byte of PostgreSQL's tables, indexes, statistics and write-ahead log, of Delta "
        "and Iceberg tables with their earlier files, log and manifests, of stores, registries of models, folders and files, Parquet decoded "
        "and archives unpacked. Each place is "
        "ERASED, RESIDUAL with what removes it, or NOT COVERED with what to do. Texts and vectors are neither stored nor repeated; "
        "the answer goes with a certificate as your statement: certificate --residue.",
        epilog="example: noisygd-delete residue --tokens gone.txt STORE postgresql://admin@localhost/people lake/ backups/",
    )
    parser.add_argument(
        "where",
        nargs="+",
        metavar="WHERE",
        help="postgresql://..., a Delta or Iceberg table, a store, a folder, a file",
    )
    parser.add_argument("--tokens", metavar="FILE", help="texts that must be gone, one a line")
    parser.add_argument(
        "--vectors",
        metavar="FILE",
        help="embedding vectors that must be gone, one a row of a .npy file; searched for in files as float16, float32 and float64",
    )
    parser.take("--json")
    parser.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    from noisygd_delete.store.verification import tokens

    from ..residue_scan import residue
    from ..residue_vectors import read_vectors

    if parsed.tokens is None and parsed.vectors is None:
        raise InvalidParameter("nothing to look for; give --tokens FILE, --vectors FILE or both")
    texts = [] if parsed.tokens is None else tokens(parsed.tokens, limited_io.read_text(parsed.tokens, limited_io.LIST))
    vectors = None if parsed.vectors is None else read_vectors(parsed.vectors)
    found = residue(texts, *parsed.where, vectors=vectors)
    summary = "nothing was found where it was looked" if found.silent else "FOUND: the remedies stand above"
    print_result(parsed, found.to_dict(), f"{found.text()}\n{summary}")
    return 0 if found.silent else _FOUND

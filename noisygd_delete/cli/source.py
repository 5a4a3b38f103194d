"""Arguments of `init` that name an external source of rows; afterwards the store's ledger names it.

The libraries of a source are loaded only if one is used.
"""

from __future__ import annotations

import argparse
from contextlib import closing
from typing import TYPE_CHECKING

from ..errors import InvalidParameter

if TYPE_CHECKING:
    from ..features.schema import Schema, Table
    from ..methods.plan import Plan
    from ..store.sources import Source

_DRAFTED = 100_000  # rows that a schema is drafted from


def add_source(parser: argparse.ArgumentParser, rows: argparse._MutuallyExclusiveGroup) -> None:
    """Add `--source`, the alternative to `--data`, and its options."""
    rows.add_argument(
        "--source",
        metavar="ADDRESS",
        help="leave the rows where they lie, and keep no row and no id here: postgresql://USER@HOST/DATABASE (password from PGPASSWORD or "
        "~/.pgpass), FILE.duckdb, a Delta table, a folder of Parquet files",
    )
    parser.add_argument(
        "--engine",
        choices=["local", "ray", "spark"],
        default="local",
        help="whose workers hold a --source that is a folder of Parquet files (also s3://bucket/folder and the like) or a Delta table, and "
        "answer sums alone (docs/engines.md); --query and --subject with spark alone",
    )
    parser.add_argument("--table", metavar="NAME", help="of a database: what to learn from and `delete` deletes from")
    parser.add_argument(
        "--query",
        metavar="SQL",
        help="the rows to learn from, where that is not the whole table; without --table the application deletes",
    )


def source_from(parsed: argparse.Namespace, schema: Schema) -> Source | None:
    """Return the source that the arguments name; None for a file."""
    if parsed.source is None:
        for option in ("table", "query"):
            if getattr(parsed, option) is not None:
                raise InvalidParameter(f"--{option} belongs to --source")
        if parsed.engine != "local":
            raise InvalidParameter("--engine belongs to --source: a file of --data is copied into the store")
        return None
    if parsed.tombstones is not None or parsed.delimiter is not None:
        raise InvalidParameter(
            "--tombstones and --delimiter of init belong to a file; over a --source, delete and publish take the list"
        )
    if schema.id_column is None:
        raise InvalidParameter("--id COL is needed: later requests name records by their id in the source")
    from ..store.sources import source_at

    return source_at(
        parsed.source,
        engine=None if parsed.engine == "local" else parsed.engine,
        id=schema.id_column,
        subject=schema.subject_column,
        table=parsed.table,
        query=parsed.query,
        rows_per_subject=parsed.rows_per_subject or schema.rows_per_subject or 1,
    )


def sample_rows(parsed: argparse.Namespace) -> Table:
    """Return the first rows of the source with all their columns, enough to draft a schema."""
    from ..features.schema import Table
    from ..store.sources import source_at

    engine = None if parsed.engine == "local" else parsed.engine
    facts = {"id": parsed.id or "-", "subject": parsed.subject, "table": parsed.table, "query": parsed.query}
    source = source_at(parsed.source, engine=engine, **facts)
    cells: dict[str, list[str]] = {name: [] for name in source.columns()}
    rows = 0
    with closing(source.every(list(cells))) as blocks:
        for block in blocks:
            rows += len(block)
            for name, texts in block.columns.items():
                cells[name] += texts
            if rows >= _DRAFTED:
                break
    return Table(source.address, cells, range(1, rows + 1))


def create_over(parsed: argparse.Namespace, source: Source, schema: Schema, plan: Plan) -> None:
    """Create a store over the source; with `--dry-run`, check that this is possible."""
    from ..store import Store
    from ..store.sources.table import check_over

    if parsed.dry_run:
        check_over(source, schema, plan, parsed.memory)
        return
    Store.create_over(parsed.store, source, schema, plan, memory=parsed.memory).close()

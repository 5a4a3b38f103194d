"""The part of `init` for rows in an external source; afterwards the ledger of the store names the source."""

from __future__ import annotations

import argparse
from contextlib import closing

from noisygd_delete.cli.init import StoreRows, plan_for_rows, report_created, report_store
from noisygd_delete.cli.schema_arguments import with_schema_map
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.features.schema import Schema, Table
from noisygd_delete.methods.plan import Plan
from noisygd_delete.store import Store

from ..factory import source_at
from ..reading import survey
from ..table import StoreSource

_DRAFTED = 100_000  # rows that a schema is drafted from


def create_store(parsed: argparse.Namespace, schema: Schema) -> int:
    """Create a store over the source that the arguments name, and report it."""
    from noisygd_delete.planner.defaults import default_slots

    source = _source(parsed, schema)
    if parsed.engine != "local":
        return _create_on_engine(parsed, with_schema_map(parsed, schema, None), source)
    seen = survey(source, schema)
    schema = with_schema_map(parsed, schema, lambda: seen.rows)
    choice = plan_for_rows(parsed, schema, default_slots(seen.rows) if parsed.slots is None else parsed.slots)
    _create_over(parsed, source, schema, choice.plan)
    rows = seen.rows + seen.left_out.rows
    found = StoreRows(rows, seen.rows, seen.clipped, seen.unknown, seen.left_out, choice)
    return report_store(parsed, schema, found, numbered=False)


def sample_rows(parsed: argparse.Namespace) -> Table:
    """Return the first rows of the source with all their columns, enough to draft a schema."""
    source = _source_at(parsed, id=parsed.id or "-", subject=parsed.subject)
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


def _source(parsed: argparse.Namespace, schema: Schema) -> StoreSource:
    if parsed.tombstones is not None or parsed.delimiter is not None:
        raise InvalidParameter(
            "--tombstones and --delimiter of init belong to a file; over a --source, delete and publish take the list"
        )
    if schema.id_column is None:
        raise InvalidParameter("--id COL is needed: later requests name records by their id in the source")
    rows_per_subject = parsed.rows_per_subject or schema.rows_per_subject or 1
    return _source_at(parsed, id=schema.id_column, subject=schema.subject_column, rows_per_subject=rows_per_subject)


def _source_at(parsed: argparse.Namespace, *, id: str, subject: str | None, rows_per_subject: int = 1) -> StoreSource:
    return source_at(
        parsed.source,
        engine=None if parsed.engine == "local" else parsed.engine,
        id=id,
        subject=subject,
        table=parsed.table,
        query=parsed.query,
        rows_per_subject=rows_per_subject,
    )


def _create_over(parsed: argparse.Namespace, source: StoreSource, schema: Schema, plan: Plan) -> None:
    """Create a store over the source; with `--dry-run`, check that this is possible."""
    if parsed.dry_run:
        source.check_over(schema, plan, parsed.memory)
        return
    Store.create_over(parsed.store, source, schema, plan, memory=parsed.memory).close()


def _create_on_engine(parsed: argparse.Namespace, schema: Schema, source: StoreSource) -> int:
    """Create a store whose rows stay with the workers of an engine.

    The rows are not counted here, so the number of slots must be given.
    """
    from noisygd_delete.cli.remaining_budget import room_text

    if parsed.slots is None:
        raise InvalidParameter(
            "--slots N is needed with --engine: n is public, and fixed before any row is read; give room for the rows that may come"
        )
    choice = plan_for_rows(parsed, schema, parsed.slots)
    _create_over(parsed, source, schema, choice.plan)
    text = (
        f"{parsed.slots} slots, {schema.features} features; rows are held by workers of {parsed.engine}, for each release anew\n"
        f"{room_text(choice.plan)}"
    )
    return report_created(parsed, schema, choice, text, {"engine": parsed.engine})

"""From an address to the source that is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..errors import InvalidParameter, StoreCorrupt
from .lake import DeltaTable, DuckdbFile, ParquetFolder
from .postgres import Postgres
from .source import Source

_POSTGRES = ("postgresql://", "postgres://")


def source_at(address: str, **facts: Any) -> Source:
    """The source at an address: `postgresql://HOST/DATABASE`, or the path of a DuckDB file, a Delta table or a folder of Parquet.

    Args:
        facts: id, subject, table, query, rows_per_subject: see `Source`.

    Raises:
        InvalidParameter: nothing of the kind is there, or the facts do not suit it.
    """
    if address.startswith(_POSTGRES):
        return Postgres(address, **facts)
    path = Path(address).absolute()
    for kind in (DeltaTable, DuckdbFile, ParquetFolder):
        if kind.recognises(path):
            return kind(str(path), **facts)
    raise InvalidParameter(
        f"{address!r}: give postgresql://HOST/DATABASE, a DuckDB file (*.duckdb), the folder of a Delta table (with its _delta_log), or "
        "a folder of Parquet files (*.parquet)"
    )


def source_from(description: Mapping[str, Any]) -> Source:
    """The source that a ledger names.

    Raises:
        StoreCorrupt: it names none.
    """
    known = {field.name for field in fields(Source)}
    if not isinstance(description, Mapping) or not {"kind", "address", "id"} <= set(description) <= known | {"kind"}:
        raise StoreCorrupt("the ledger does not say where the rows lie; restore the store from a backup")
    facts = {name: value for name, value in description.items() if name != "kind"}
    kinds = {kind.kind: kind for kind in (Postgres, DeltaTable, DuckdbFile, ParquetFolder)}
    if description["kind"] not in kinds:
        raise StoreCorrupt(
            f"the ledger names a source of kind {description['kind']!r}; use the version that made the store"
        )
    return kinds[description["kind"]](**facts)

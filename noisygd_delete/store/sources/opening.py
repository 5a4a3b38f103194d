"""From an address to the source that is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from ...errors import InvalidParameter, StoreCorrupt
from .lake import DeltaTable, DuckdbFile, ParquetFolder
from .mysql import MySQL
from .on_engine import DeltaOnEngine, FolderOnEngine
from .postgres import Postgres
from .source import Source

_POSTGRES = ("postgresql://", "postgres://")
_KINDS: dict[str, type[Source]] = {
    kind.kind: kind for kind in (Postgres, MySQL, DeltaTable, DuckdbFile, ParquetFolder, FolderOnEngine, DeltaOnEngine)
}
_UNSAID = "the ledger does not say where the rows lie; restore the store from a backup"


def source_at(address: str, *, engine: str | None = None, **facts: Any) -> Source:
    """The source at an address: `postgresql://HOST/DATABASE`, `mysql://HOST/DATABASE`, or the path of a DuckDB file, a Delta table or a folder of Parquet.

    Args:
        engine: "ray" or "spark": its workers read and hold a folder of Parquet files, or a Delta table; None: this process does.
        facts: id, subject, table, query, rows_per_subject: see `Source`.

    Raises:
        InvalidParameter: nothing of the kind is there, or the facts do not suit it.
    """
    if engine is not None:
        return _on_engine(address, engine, facts)
    if address.startswith(_POSTGRES):
        return Postgres(address, **facts)
    if MySQL.recognises(address):
        return MySQL(address, **facts)
    path = Path(address).absolute()
    for kind in (DeltaTable, DuckdbFile, ParquetFolder):
        if kind.recognises(path):
            return kind(str(path), **facts)
    raise InvalidParameter(
        f"{address!r}: give postgresql://HOST/DATABASE, mysql://HOST/DATABASE, a DuckDB file (*.duckdb), the folder of a Delta table (with its _delta_log), or "
        "a folder of Parquet files (*.parquet)"
    )


def source_from(description: Mapping[str, Any]) -> Source:
    """The source that a ledger names.

    Raises:
        StoreCorrupt: it names none.
    """
    if not isinstance(description, Mapping) or not {"kind", "address", "id"} <= set(description):
        raise StoreCorrupt(_UNSAID)
    if description["kind"] not in _KINDS:
        raise StoreCorrupt(
            f"the ledger names a source of kind {description['kind']!r}; use the version that made the store"
        )
    kind = _KINDS[description["kind"]]
    if not set(description) <= {"kind", *(field.name for field in fields(kind))}:
        raise StoreCorrupt(_UNSAID)
    return kind(**{name: value for name, value in description.items() if name != "kind"})


def _on_engine(address: str, engine: str, facts: Mapping[str, Any]) -> Source:
    if address.startswith(_POSTGRES):
        raise InvalidParameter("--engine reads files of Parquet; rows of a database are read without one")
    if "://" in address:
        return FolderOnEngine(address, engine=engine, **facts)
    path = Path(address).absolute()
    if DeltaTable.recognises(path):
        return DeltaOnEngine(str(path), engine=engine, **facts)
    if not ParquetFolder.recognises(path):
        raise InvalidParameter(
            f"{address!r}: with --engine give a folder of Parquet files (*.parquet), or that of a Delta table"
        )
    return FolderOnEngine(str(path), engine=engine, **facts)

"""Create the source for an address.

`FolderOnEngine` and `DeltaOnEngine` are for tables too large for this process: the workers of Ray or Spark read the
Parquet files of a folder, or of the version of a Delta table that its log names. This process then reads only a sample
of the rows, which steers the solver and is held in memory; and, of a Delta table, the rows of changed files while they
are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, NoReturn, cast

from noisygd_delete.engine import CurrentRecords
from noisygd_delete.errors import InvalidParameter, check_choice
from noisygd_delete.extensions import extension_names, require_extension
from noisygd_delete.features.schema import Schema
from noisygd_delete.records import LeftOut

from . import parquet_files as files
from .duckdb_tables import DeltaTable, DuckdbFile, ParquetFolder, number_of
from .mysql import MySQL
from .postgres import Postgres
from .reading import columns_of
from .source import NOTHING_DONE, Source, SourceHistory
from .table import StoreSource

ENGINES = ("ray", "spark")
WITH_SQL = ("spark",)


def open_rows(
    engine: str,
    address: str,
    schema: Schema,
    slots: int | None,
    *,
    pinned: files.Pinned | None = None,
    selection: files.Selection | None = None,
) -> AbstractContextManager[tuple[CurrentRecords, str, LeftOut]]:
    """Open the rows of Parquet files, held by the workers of an engine.

    Yields the rows, their position in the source, and what the selection leaves out because of the subject.

    Args:
        engine: "ray" or "spark".
        address: A path, or an address that the engine supports, such as s3://bucket/folder.
        schema: The schema of the rows.
        slots: n; None: the number of rows.
        pinned: The files; None: all *.parquet files that are in the folder now, and the position is the time.
        selection: A selection of rows, for an engine of `WITH_SQL`; None: all.

    Raises:
        MissingDependency: If the engine is not installed.
        SourceError, InvalidSchema, InvalidRecords: If the rows do not exist or do not fit.
        InvalidParameter: If the engine does not start, or would leave unencrypted rows behind.
    """
    workers = import_module(f".workers.on_{check_choice('engine', engine, ENGINES)}", __package__)
    how = {"selection": selection} if engine in WITH_SQL else {}
    held: AbstractContextManager[tuple[CurrentRecords, str, LeftOut]] = workers.open_rows(
        address, schema, slots, pinned, **how
    )
    return held


@dataclass(frozen=True)
class FolderOnEngine(ParquetFolder):
    """A folder of Parquet files of the same columns, read by workers of an engine.

    The address is a path, or one that the engine supports (s3://bucket/folder). The application deletes rows; positions
    are times.

    Attributes:
        engine: "ray" or "spark".
    """

    engine: str = "ray"

    kind: ClassVar[str] = "parquet-on-engine"

    def __post_init__(self) -> None:
        super().__post_init__()
        if "://" not in self.address and not Path(self.address).is_absolute():
            raise InvalidParameter("the ledger names the folder by its whole path")
        _check_engine(self, self.engine)

    def open_rows(
        self, schema: Schema, slots: int, done: SourceHistory = NOTHING_DONE
    ) -> AbstractContextManager[tuple[CurrentRecords, str, LeftOut]]:
        if done.refuse is not None:
            raise InvalidParameter(
                f"{self.address}: a list of erased ids is compared with the ids of a table, which workers do not read; leave --tombstones out"
            )
        return open_rows(self.engine, self.address, schema, slots, selection=_selection(self))

    def check(self) -> None:
        """Do nothing: ids are not read here."""

    def _moment(self, *, marking: bool = False) -> NoReturn:
        raise InvalidParameter(
            f"{self.address}: its rows are read by the workers of {self.engine}, and this process needs them here; use a source without an "
            "engine for that"
        )

    def position(self) -> str:
        return files.position()

    def held(self, ids: Sequence[str], subjects: Sequence[str], *, names: bool = False) -> int:
        raise self._left_to_the_application()


@dataclass(frozen=True)
class DeltaOnEngine(DeltaTable):
    """A Delta table whose files of one version are read by workers.

    Deletions and counts work as for any Delta table.

    Attributes:
        engine: "ray" or "spark".
    """

    engine: str = "ray"

    kind: ClassVar[str] = "delta-on-engine"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_engine(self, self.engine)

    def open_rows(
        self, schema: Schema, slots: int, done: SourceHistory = NOTHING_DONE
    ) -> AbstractContextManager[tuple[CurrentRecords, str, LeftOut]]:
        pinned, selection = self.pinned(columns_of(schema)), _selection(self, done)
        with self._at(number_of(pinned.position)) as connection:
            self._check_done(connection, pinned.position, done)
        return open_rows(self.engine, self.address, schema, slots, pinned=pinned, selection=selection)

    def _rows(self) -> str:
        return self._table_rows  # the engine runs the query itself


def _check_engine(source: Source, engine: str) -> None:
    check_choice("engine", engine, ENGINES)
    for name in ("query", "subject"):
        if getattr(source, name) is not None and engine not in WITH_SQL:
            raise InvalidParameter(
                f"--{name} is for a source that one process reads, or for --engine spark: workers of {engine} see a partition each, never two "
                "rows of one person together. Let the files hold the rows to learn from, one row for each person"
            )


def _selection(source: Source, done: SourceHistory = NOTHING_DONE) -> files.Selection | None:
    if source.query is None and source.subject is None:
        return None
    return files.Selection(source.id, source.query, source.subject, source.rows_per_subject, done.ids, done.subjects)


_KINDS = (Postgres, MySQL, DeltaTable, DuckdbFile, ParquetFolder, FolderOnEngine, DeltaOnEngine)


def source_at(address: str, *, engine: str | None = None, **facts: Any) -> StoreSource:
    """Return the source at an address.

    Args:
        address: `postgresql://HOST/DATABASE`, `mysql://HOST/DATABASE`, the path of a DuckDB file, a Delta table or a
            folder of Parquet files, or an address of a kind that another distribution provides.
        engine: "ray" or "spark": its workers read and hold a folder of Parquet files, or a Delta table. None: this
            process does.
        **facts: id, subject, table, query, rows_per_subject; see `Source`.

    Raises:
        InvalidParameter: If the address is of no known kind, or the facts do not fit it.
    """
    database = next((kind for kind in (Postgres, MySQL) if kind.recognises(address)), None)
    if database is not None and engine is None:
        return database(address, **facts)
    if database is not None:
        raise InvalidParameter("--engine reads files of Parquet; rows of a database are read without one")
    if engine is not None:
        facts["engine"] = engine
    if engine is not None and "://" in address:
        return FolderOnEngine(address, **facts)
    path = Path(address).absolute()
    for kind in (DeltaTable, DuckdbFile, ParquetFolder) if engine is None else (DeltaOnEngine, FolderOnEngine):
        if kind.recognises(path):
            return kind(str(path), **facts)
    for name in extension_names("sources") if engine is None else ():
        other = require_extension("sources", name, "sources", name)
        if other not in _KINDS and other.recognises(address):
            return cast("StoreSource", other(address, **facts))
    raise InvalidParameter(
        f"{address!r}: give postgresql://HOST/DATABASE, mysql://HOST/DATABASE, a DuckDB file (*.duckdb), the folder of a Delta table (with its _delta_log), or "
        "a folder of Parquet files (*.parquet)"
        if engine is None
        else f"{address!r}: with --engine give a folder of Parquet files (*.parquet), or that of a Delta table"
    )

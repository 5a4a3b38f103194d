"""From an address to the source that is there.

Parquet files that the workers of Ray or Spark read, where this process alone would not hold the rows: those of a folder, or of the
version of a Delta table that its log names.

Rows never come here but for a sample that steers the solver, in memory; of a Delta table those of the files that changed, while they are
counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from ...engine import CurrentRecords
from ...errors import InvalidParameter, MissingDependency, StoreCorrupt, check_choice
from ...features.schema import Schema
from ...records import LeftOut
from . import parquet_files as files
from .duckdb_tables import DeltaTable, DuckdbFile, ParquetFolder, number_of
from .mysql import MySQL
from .postgres import Postgres
from .reading import columns_of
from .source import NOTHING_DONE, Source, SourceHistory

ENGINES = ("ray", "spark")
WITH_SQL = ("spark",)


@dataclass(frozen=True)
class Selection:
    """Rows among those of the files, as a `Source` says it: `query` calls all of them `source`; none of a person of whom there are more
    than `rows_per_subject`. `gone_ids` and `gone_subjects` must not be among them."""

    id: str
    query: str | None = None
    subject: str | None = None
    rows_per_subject: int = 1
    gone_ids: tuple[str, ...] = ()
    gone_subjects: tuple[str, ...] = ()


def open_rows(
    engine: str,
    address: str,
    schema: Schema,
    slots: int | None,
    *,
    pinned: files.Pinned | None = None,
    selection: Selection | None = None,
) -> AbstractContextManager[tuple[CurrentRecords, str, LeftOut]]:
    """The rows of Parquet files, held by the workers of an engine while this is open, their position in the source, and what the
    selection leaves out because of whose it is.

    Args:
        address: a path, or an address that the engine knows: s3://bucket/folder.
        slots: n; None: as many as there are rows.
        pinned: the files; None: all *.parquet files that are in the folder now, and the position is the time.
        selection: rows among them, by an engine of `WITH_SQL`; None: all.

    Raises:
        MissingDependency: the engine, or its distribution, is not installed. SourceError, InvalidSchema, InvalidRecords: the rows are not there, or do not
        fit. InvalidParameter: it does not start, or would leave rows behind in clear.
    """
    try:
        workers = import_module(f"noisygd_delete_engines.on_{check_choice('engine', engine, ENGINES)}")
    except ModuleNotFoundError as error:
        raise MissingDependency(
            f"workers of {engine} hold tables where it is installed: pip install noisygd-delete-engines"
        ) from error
    how = {"selection": selection} if engine in WITH_SQL else {}
    held: AbstractContextManager[tuple[CurrentRecords, str, LeftOut]] = workers.open_rows(
        address, schema, slots, pinned, **how
    )
    return held


@dataclass(frozen=True)
class FolderOnEngine(ParquetFolder):
    """Parquet files of the same columns in one folder, by its path or by an address that the engine knows (s3://bucket/folder). The
    application deletes; positions are times.

    engine   "ray" or "spark"
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
        """Ids are not read here."""

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
    """A Delta table whose files of one version workers read; deleted from, and its changes counted, as any Delta table.

    engine   "ray" or "spark"
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
        return self._table_rows  # the engine asks the query, in its own words


def _check_engine(source: Source, engine: str) -> None:
    check_choice("engine", engine, ENGINES)
    for name in ("query", "subject"):
        if getattr(source, name) is not None and engine not in WITH_SQL:
            raise InvalidParameter(
                f"--{name} is for a source that one process reads, or for --engine spark: workers of {engine} see a partition each, never two "
                "rows of one person together. Let the files hold the rows to learn from, one row for each person"
            )


def _selection(source: Source, done: SourceHistory = NOTHING_DONE) -> Selection | None:
    if source.query is None and source.subject is None:
        return None
    return Selection(source.id, source.query, source.subject, source.rows_per_subject, done.ids, done.subjects)


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
    raise InvalidParameter(
        f"{address!r}: give postgresql://HOST/DATABASE, mysql://HOST/DATABASE, a DuckDB file (*.duckdb), the folder of a Delta table (with its _delta_log), or "
        "a folder of Parquet files (*.parquet)"
        if engine is None
        else f"{address!r}: with --engine give a folder of Parquet files (*.parquet), or that of a Delta table"
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

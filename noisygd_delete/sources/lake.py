"""Rows in files: a DuckDB database, a Delta table, a folder of Parquet files. DuckDB reads them all, in memory, without spilling.

DuckDB     deletions made here are counted in a table of their own, in the same transaction: `version:k` has seen k of them
Delta      positions are the table's own versions. The rows are deleted by a merge with a list of names, because a predicate
           would stay in the log of the table, names and all
Parquet    the application deletes; positions are times
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import unquote
from uuid import uuid4

from ..clusters import files
from ..errors import InvalidParameter, InvalidRecords, InvalidRequest, InvalidSchema, MissingDependency, SourceError
from ..records import EditCounts
from ..schema.files import BLOCK_ROWS
from .source import Accept, Snapshot, Source, blocks, check_named

if TYPE_CHECKING:
    import duckdb
    import pyarrow

_ROWS = "source"  # what a query calls the rows of a Delta table or of a folder
_DONE = "noisygd_delete_deletions"
_MARK = "noisygd_delete"
FILES_UNCOUNTED = "names, sizes and times of files say that one was written, not which of its rows changed"
_MOST_FILES = 100_000
_MOST_VERSIONS = 10_000  # of a Delta table, looked through for a deletion that was interrupted


@dataclass(frozen=True)
class Lake(Source):
    """Rows that DuckDB can read."""

    @classmethod
    @abstractmethod
    def recognises(cls, path: Path) -> bool:
        """Whether a path leads to such a source."""

    @contextmanager
    @abstractmethod
    def _opened(self) -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
        """A connection on one moment of the rows, and its position."""

    def _rows(self) -> str:
        return f"SELECT * FROM {_path(self.table or _ROWS)}" if self.query is None else self.query.strip().rstrip(";")

    @contextmanager
    def snapshot(self, columns: Sequence[str], since: str | None = None) -> Iterator[Snapshot]:
        with self._opened() as (connection, position):
            changes = None if since is None else self.changes(since, position, columns)
            yield Snapshot(position, blocks(self.address, columns, self._fetched(connection, columns)), changes)

    def _fetched(self, connection: duckdb.DuckDBPyConnection, columns: Sequence[str]) -> Iterator[Sequence[Any]]:
        rows = f"({self._rows()}\n)"
        if self.subject is not None:
            order = f"PARTITION BY {_quoted(self.subject)} ORDER BY {_quoted(self.id)}"
            ranked = f"SELECT *, row_number() OVER ({order}) AS noisygd_delete_rank FROM {rows} AS everything"
            rows = f"(SELECT * FROM ({ranked}) AS ranked WHERE noisygd_delete_rank <= {self.rows_per_subject})"
        found = connection.execute(f"SELECT {', '.join(map(_quoted, columns))} FROM {rows} AS chosen")
        while some := found.fetchmany(BLOCK_ROWS):
            yield from some

    def position(self) -> str:
        with self._opened() as (_, position):
            return position

    def held(self, ids: Sequence[str], subjects: Sequence[str], *, names: bool = False) -> int:
        with self._opened() as (connection, _):
            return sum(
                self._one(
                    connection,
                    f"SELECT count({f'DISTINCT {_quoted(column)}' if names else '*'}) FROM {_path(self.table or _ROWS)} WHERE {_among(column)}",
                    asked,
                )
                for column, asked in self._named(ids, subjects)
            )

    def _named(self, ids: Sequence[str], subjects: Sequence[str]) -> list[tuple[str, Sequence[str]]]:
        if subjects and self.subject is None:
            raise InvalidRequest("the table does not say whom its records are about; name the records by their ids")
        return [(column, names) for column, names in ((self.id, ids), (self.subject or "", subjects)) if names]

    def _one(self, connection: duckdb.DuckDBPyConnection, asked: str, *values: Any) -> Any:
        found = connection.execute(asked, [list(values[0])] if values else None).fetchone()
        return None if found is None else found[0]


@dataclass(frozen=True)
class DuckdbFile(Lake):
    """A table or a query of a DuckDB database in one file."""

    kind: ClassVar[str] = "duckdb"
    uncounted: ClassVar[str] = "DuckDB has no triggers and keeps no versions"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.table is None and self.query is None:
            raise InvalidParameter("say which rows: --table NAME, or --query SELECT, or both")

    @classmethod
    def recognises(cls, path: Path) -> bool:
        return path.suffix == ".duckdb" and path.is_file()

    @contextmanager
    def _opened(self) -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
        with _connected(self.address, self.address, read_only=True) as connection:
            connection.execute("BEGIN TRANSACTION")
            yield connection, f"version:{self._deletions(connection)}"

    def _deletions(self, connection: duckdb.DuckDBPyConnection) -> int:
        known = "SELECT count(*) FROM duckdb_tables() WHERE table_name = ?"
        there = connection.execute(known, [_DONE]).fetchone()
        return int(self._one(connection, f"SELECT count(*) FROM {_DONE}")) if there and there[0] else 0

    def delete(self, ids: Sequence[str], subjects: Sequence[str], accept: Accept) -> str:
        if self.table is None:
            raise self._left_to_the_application()
        mark, rows = uuid4().hex, 0
        with _connected(self.address, self.address) as connection:
            connection.execute("BEGIN TRANSACTION")
            connection.execute(f"CREATE TABLE IF NOT EXISTS {_DONE} (number BIGINT PRIMARY KEY, mark VARCHAR)")
            for column, names in self._named(ids, subjects):
                gone = connection.execute(
                    f"DELETE FROM {_path(self.table)} WHERE {_among(column)} RETURNING CAST({_quoted(column)} AS VARCHAR)",
                    [list(names)],
                ).fetchall()
                check_named(names, [text for (text,) in gone], "id" if column == self.id else "subject")
                rows += len(gone)
            number = self._deletions(connection) + 1
            connection.execute(f"INSERT INTO {_DONE} VALUES (?, ?)", [number, mark])
            accept(mark, rows)
            connection.execute("COMMIT")
        return f"version:{number}"

    def committed(self, mark: str) -> str | None:
        with self._opened() as (connection, position):
            if position == "version:0":
                return None
            found = connection.execute(f"SELECT number FROM {_DONE} WHERE mark = ?", [mark]).fetchone()
        return None if found is None else f"version:{found[0]}"


@dataclass(frozen=True)
class DeltaTable(Lake):
    """A Delta table; a query calls its rows `source`."""

    kind: ClassVar[str] = "delta"
    counts_by: ClassVar[str | None] = "versions"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.table is not None:
            raise InvalidParameter("a Delta table is named by its folder; leave --table out")

    @classmethod
    def recognises(cls, path: Path) -> bool:
        return (path / "_delta_log").is_dir()

    @contextmanager
    def _opened(self) -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
        table = self._table()
        with _connected(":memory:", self.address) as connection:
            connection.register(_ROWS, table.to_pyarrow_dataset())
            yield connection, f"version:{table.version()}"

    def changes(self, since: str, position: str, columns: Sequence[str]) -> EditCounts | None:
        """Rows of the files that only one of the two versions has; None where the earlier one can no longer be read."""
        kinds = since.partition(":")[0], position.partition(":")[0]
        if kinds != ("version", "version"):
            return None
        from .versions import difference

        try:
            before, after = (self._table(int(place.partition(":")[2])) for place in (since, position))
        except SourceError:
            return None
        compared = list(dict.fromkeys([self.id, *filter(None, [self.subject]), *columns]))
        with _connected(":memory:", self.address) as connection:
            return difference(connection, before, after, self.id, compared)

    def watch(self, columns: Sequence[str], since: str | None) -> EditCounts | None:
        """There is nothing to begin: the table keeps its versions itself."""
        if since is None:
            return None
        with self.snapshot(columns, since) as snapshot:
            return snapshot.changes

    def _table(self, version: int | None = None) -> Any:
        library = _delta()
        try:
            return library.DeltaTable(self.address, version=version)
        except Exception as error:  # its errors are of many families
            raise _failed(self.address, error) from None

    def pinned(self, columns: Sequence[str]) -> files.Pinned:
        """The files of the newest version, for others to read; these columns are in all of them, or empty.

        Raises:
            InvalidSchema: a column is not there, or only in the names of folders.
            SourceError: the table hides rows of its files in a way that is not read here, or they lie elsewhere.
        """
        table = self._table()
        try:
            names = table.to_pyarrow_dataset().schema.names  # it refuses what the files alone do not say
        except Exception as error:
            raise _failed(self.address, error) from None
        for column in columns:
            if column not in names:
                raise InvalidSchema(f"{self.address}: no column {column!r}; correct the schema")
            if column in table.metadata().partition_columns:
                raise InvalidSchema(
                    f"{self.address}: the column {column!r} divides the table and lies in the names of its folders, which workers do not read; "
                    "leave it out of the schema, or use no --engine"
                )
        paths = _data_files(table, self.address)
        if any("://" in path for path in paths):
            raise SourceError(
                f"{self.address}: a copy whose files lie in another table; give that one, or copy it whole"
            )
        if not paths:
            raise InvalidRecords(f"{self.address} holds no row; there is nothing to learn from")
        files.check_number(self.address, len(paths))
        return files.Pinned(f"version:{table.version()}", tuple(sorted(paths)))

    def files_in_use(self) -> list[str]:
        """The data files of the newest version; the others are of earlier ones."""
        return _data_files(self._table(), self.address)

    def delete(self, ids: Sequence[str], subjects: Sequence[str], accept: Accept) -> str:
        library, mark, rows = _delta(), uuid4().hex, 0
        table, named = self._table(), self._named(ids, subjects)
        if len(named) != 1:
            raise InvalidRequest("name records, or persons, in one request to a Delta table: one commit has one list")
        column, names = named[0]
        with _connected(":memory:", self.address) as connection:
            connection.register(_ROWS, table.to_pyarrow_dataset())
            text = f"CAST({_quoted(column)} AS VARCHAR)"
            found = connection.execute(
                f"SELECT {text}, count(*) FROM {_ROWS} WHERE {_among(column)} GROUP BY {text}", [list(names)]
            ).fetchall()
            check_named(names, [name for name, _ in found], "id" if column == self.id else "subject")
            rows = sum(number for _, number in found)
            kind = table.to_pyarrow_dataset().schema.field(column)
        accept(mark, rows)
        try:
            table.merge(
                source=_column(kind, names),
                predicate=f"t.{_quoted(column)} = s.{_quoted(column)}",
                source_alias="s",
                target_alias="t",
                commit_properties=library.CommitProperties(custom_metadata={_MARK: mark}),
            ).when_matched_delete().execute()
        except Exception as error:
            raise _failed(self.address, error) from None
        position = self.committed(mark)
        if position is None:
            raise SourceError(f"{self.address}: the table's log does not hold the deletion that was just made")
        return position

    def committed(self, mark: str) -> str | None:
        table = self._table()
        made: Mapping[str, Any]
        for made in table.history(_MOST_VERSIONS):
            if made.get(_MARK) == mark:
                return f"version:{made.get('version', made.get('readVersion', 0))}"
        return None


@dataclass(frozen=True)
class ParquetFolder(Lake):
    """A folder of Parquet files of the same columns; a query calls its rows `source`."""

    kind: ClassVar[str] = "parquet"
    uncounted: ClassVar[str] = FILES_UNCOUNTED

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.table is not None:
            raise InvalidParameter("a folder of Parquet files is one table; leave --table out")

    @classmethod
    def recognises(cls, path: Path) -> bool:
        return path.is_dir() and any(path.glob("*.parquet"))

    @contextmanager
    def _opened(self) -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
        position = f"time:{datetime.now(UTC).isoformat(timespec='microseconds')}"
        before = self._files()
        with _connected(":memory:", self.address) as connection:
            connection.from_parquet(sorted(before)).create_view(_ROWS)
            yield connection, position
        files.check_unchanged(self.address, before, self._files())

    def _files(self) -> dict[str, tuple[int, int, int]]:
        """Every file, and by what a change of it shows."""
        found = {}
        with os.scandir(self.address) as folder:
            for entry in folder:
                files.check_without_a_log(self.address, [entry.name])
                if entry.name.endswith(".parquet") and entry.is_file():
                    stat = entry.stat()
                    found[entry.path] = (stat.st_size, stat.st_mtime_ns, stat.st_ino)
                if len(found) > _MOST_FILES:
                    raise SourceError(f"{self.address}: over {_MOST_FILES} files; merge them")
        if not found:
            raise SourceError(f"{self.address}: no *.parquet file is there")
        return found


def _data_files(table: Any, address: str) -> list[str]:
    """The data files of a version. Its log writes their paths as in an address: %20 for a blank."""
    import pyarrow

    names = pyarrow.table(table.get_add_actions(flatten=True))["path"].to_pylist()
    return [name if "://" in name else os.path.join(address, unquote(name)) for name in names]


def _column(kind: pyarrow.Field, names: Sequence[str]) -> pyarrow.Table:
    """The names as a column of this type."""
    import pyarrow

    return pyarrow.table({kind.name: pyarrow.array(list(names), pyarrow.string()).cast(kind.type)})


@contextmanager
def _connected(database: str, shown: str, *, read_only: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection of DuckDB that writes nothing anywhere but into its database; its errors without their words."""
    try:
        import duckdb
    except ImportError as error:
        raise MissingDependency("rows in files need duckdb: pip install 'noisygd-delete[lake]'") from error
    quiet: dict[str, str | bool | int | float | list[str]] = {
        "temp_directory": "",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    try:
        with duckdb.connect(database, read_only=read_only, config=quiet) as connection:
            yield connection
    except duckdb.Error as error:
        raise _failed(shown, error) from None


def _delta() -> Any:
    try:
        import deltalake
    except ImportError as error:
        raise MissingDependency("a Delta table needs deltalake: pip install 'noisygd-delete[lake]'") from error
    return deltalake


def _failed(address: str, error: Exception) -> SourceError:
    return SourceError(
        f"{address}: {type(error).__name__}; check the columns, the query, and who else is writing there"
    )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _path(table: str) -> str:
    return ".".join(map(_quoted, table.split(".")))


def _among(column: str) -> str:
    return f"CAST({_quoted(column)} AS VARCHAR) IN (SELECT unnest(?))"

"""Rows in files: a DuckDB database, a Delta table, a folder of Parquet files.

DuckDB reads them all, in memory, without spilling.

DuckDB     deletions made here are counted in a separate table, in the same transaction: `version:k` has seen k of them
Delta      positions are the table's own versions. The rows are deleted by a merge with a list of names, because a
           predicate would remain in the log of the table, including the names
Parquet    the application deletes; positions are times
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import unquote
from uuid import uuid4

from noisygd_delete.errors import InvalidRecords, InvalidRequest, InvalidSchema, MissingDependency, SourceError
from noisygd_delete.features.schema.files import BLOCK_ROWS
from noisygd_delete.records import EditCounts, LeftOut

from . import parquet_files as files
from .source import (
    NOTHING_DONE,
    Accept,
    ReleaseChain,
    SourceHistory,
    dependent_selection_error,
    require_read_once,
    restored_error,
    still_read_error,
)
from .sql import quote_identifier, quote_table, rows_to_read
from .table import StoreSource

if TYPE_CHECKING:
    import duckdb
    import pyarrow

ROWS = "source"  # name of the rows of a Delta table or a folder in a query
_DONE = "noisygd_delete_deletions"
_MARK = "noisygd_delete"
_KEYS = "noisygd_delete_keys"
_NAMED = "? IN (table_name, schema_name || '.' || table_name)"
_BY_OTHERS = {"WINDOW": "a window", "LIMIT": "LIMIT", "TOP_N": "LIMIT", "SAMPLE": "a sample"}  # plan operators
_WITH_A_TEXT_EACH = re.compile(
    r"U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|DECIMAL\(.*\)|VARCHAR|UUID|BOOLEAN|DATE|TIME[A-Z_ ]*|ENUM\(.*\)"
)
_MOST_VERSIONS = 10_000  # versions of a Delta table searched for an interrupted deletion
# rows in only one of two versions of a Delta table, and how many of these have an id that the other has as well
_COUNTED = """WITH gone AS MATERIALIZED (SELECT {0} FROM older EXCEPT ALL SELECT {0} FROM newer),
come AS MATERIALIZED (SELECT {0} FROM newer EXCEPT ALL SELECT {0} FROM older),
lost AS (SELECT {1} AS name, count(*) AS n FROM gone GROUP BY 1),
won AS (SELECT {1} AS name, count(*) AS n FROM come GROUP BY 1)
SELECT (SELECT count(*) FROM gone), (SELECT count(*) FROM come),
(SELECT CAST(coalesce(sum(least(lost.n, won.n)), 0) AS BIGINT) FROM lost JOIN won ON lost.name = won.name)"""


@dataclass(frozen=True)
class Lake(StoreSource):
    """Rows that DuckDB can read."""

    @property
    def _table_name(self) -> str:
        return quote_table(self.table or ROWS)

    def _columns(self, connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
        return _types(connection, self._rows())

    def _rows_to_read(self, connection: duckdb.DuckDBPyConnection) -> tuple[str, LeftOut]:
        rows, left_out = super()._rows_to_read(connection)
        if left_out.rows:
            connection.execute("SET disabled_optimizers = 'build_side_probe_side'")  # keeps the order of rows
        return rows, left_out

    def _cells(
        self, connection: duckdb.DuckDBPyConnection, columns: Sequence[str], rows: str
    ) -> Iterator[Sequence[Any]]:
        found = connection.execute(f"SELECT {', '.join(map(quote_identifier, columns))} FROM ({rows}) AS chosen")
        while some := found.fetchmany(BLOCK_ROWS):
            yield from some

    def _check_plan(self, connection: duckdb.DuckDBPyConnection, *, again: bool = False) -> None:
        connection.execute("PRAGMA disable_optimizer")  # it could hide a window in a join
        found = connection.execute(f"EXPLAIN (FORMAT JSON) {self._rows()}").fetchone()
        connection.execute("PRAGMA enable_optimizer")
        left = list(json.loads(found[1])) if found else []
        scans: list[str] = []
        while left:
            step = left.pop()
            about = step.get("extra_info") or {}
            scans += [about.get("Table") or about.get("CTE Index") or step["name"]] * step["name"].strip().endswith(
                "_SCAN"
            )
            left += step.get("children", [])
            by_others = next((words for part, words in _BY_OTHERS.items() if part in step["name"]), None)
            if by_others is not None:
                raise dependent_selection_error(self.address, by_others)
        require_read_once(self.address, scans, scans)

    def _unfit(self, connection: duckdb.DuckDBPyConnection, column: str) -> str | None:
        tables = [self._rows()] + [self._table_rows] * self._is_deleted_from
        kinds = (_types(connection, rows).get(column) for rows in tables)
        return next((kind for kind in kinds if kind and not _WITH_A_TEXT_EACH.fullmatch(kind)), None)

    def _answer_in_memory(self, connection: duckdb.DuckDBPyConnection, query: str) -> Sequence[Sequence[Any]]:
        return connection.execute(query).fetchall()  # it has no temporary folder to write to

    def _rows_of(self, connection: duckdb.DuckDBPyConnection, keys: Sequence[str]) -> str:
        connection.register(_KEYS, _column(_text_field(), keys))
        among = f"EXISTS (SELECT 1 FROM {_KEYS} AS k WHERE encode(k.name) = {_name_of(f'everybody.{quote_identifier(self._key)}')})"
        own = f"SELECT * FROM ({self._rows()}) AS everybody WHERE {among}"
        return rows_to_read(own, self._key, self.rows_per_subject, self._name_of)

    @staticmethod
    def _name_of(column: str) -> str:
        return _name_of(column)

    def _rows_taken(self, connection: duckdb.DuckDBPyConnection) -> int:
        return -int(_one(connection, f"SELECT count(*) FROM ({self._table_rows}) AS everything"))

    def _keys_having(self, connection: duckdb.DuckDBPyConnection, column: str, names: Sequence[str]) -> list[str]:
        rows, key = self._table_rows, quote_identifier(self._key)
        wanted = list(_filter_canonical(connection, rows, column, names).values())
        query = (
            f"SELECT DISTINCT {_name_of(key)} FROM ({rows}) AS everything WHERE {_among(column)} AND {key} IS NOT NULL"
        )
        return [found.decode() for (found,) in connection.execute(query, [wanted]).fetchall()]

    def _read_of(self, connection: duckdb.DuckDBPyConnection, ids: Sequence[str], subjects: Sequence[str]) -> int:
        every = dict.fromkeys((self._rows(), self._table_rows))
        return sum(
            max(_count_rows(connection, rows, column, names) for rows in every)
            for column, names in self._named(ids, subjects)
        )

    def held(self, ids: Sequence[str], subjects: Sequence[str], *, names: bool = False) -> int:
        with self._moment() as (connection, _):
            return sum(
                _count_rows(
                    connection,
                    self._table_rows,
                    column,
                    query,
                    f"DISTINCT {_name_of(quote_identifier(column))}" if names else "*",
                )
                for column, query in self._named(ids, subjects)
            )

    def _found(
        self, connection: duckdb.DuckDBPyConnection, column: str, names: Sequence[str]
    ) -> tuple[list[str], list[str]]:
        """Return the names as the column writes them, and the ids of the rows that have one of them.

        Raise if a name has no row.
        """
        rows = self._table_rows
        wanted = _filter_canonical(connection, rows, column, names)
        query = f"SELECT CAST({quote_identifier(column)} AS VARCHAR), CAST({quote_identifier(self.id)} AS VARCHAR) FROM ({rows}) AS everything WHERE {_among(column)}"
        found = connection.execute(query, [list(wanted.values())]).fetchall()
        there = {name for name, _ in found}
        self._check_there(column, names, {name for name, written in wanted.items() if written in there})
        return list(wanted.values()), [str(name) for _, name in found]


@dataclass(frozen=True)
class DuckdbFile(Lake):
    """A table or a query of a DuckDB database file."""

    kind: ClassVar[str] = "duckdb"
    uncounted: ClassVar[str] = "DuckDB has no triggers and keeps no versions"

    @classmethod
    def recognises(cls, path: Path) -> bool:
        """Return whether an address is of this kind."""
        return path.suffix == ".duckdb" and path.is_file()

    def check_chain(self, instead: str) -> None:
        if self.table is None or self.query is not None:
            super().check_chain(instead)
        with self._moment() as (connection, _):
            if not self._is_all_in_file(connection):
                super().check_chain(instead)

    def _is_all_in_file(self, connection: duckdb.DuckDBPyConnection) -> bool:
        """Return whether it is a table without generated columns, whose values might depend on the clock."""
        query = f"SELECT count(*) FROM duckdb_tables() WHERE {_NAMED} AND sql NOT ILIKE '%generated always%'"
        return bool(_one(connection, query, self.table))

    def _state(self, connection: duckdb.DuckDBPyConnection, position: str) -> str | None:
        return files.state_of(self.address, self.address + ".wal") if self._is_all_in_file(connection) else None

    @contextmanager
    def _moment(self, *, marking: bool = False) -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
        with _connect(self.address, self.address, read_only=True) as connection:
            connection.execute("BEGIN TRANSACTION")
            yield connection, f"version:{self._deletions(connection)}"

    def _deletions(self, connection: duckdb.DuckDBPyConnection) -> int:
        """Return the number of requests carried out here so far."""
        there = _one(connection, "SELECT count(*) FROM duckdb_tables() WHERE table_name = ?", _DONE)
        return int(_one(connection, f"SELECT count(*) FROM {_DONE}")) if there else 0

    @contextmanager
    def _deletion(self, *, chained: bool) -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
        with _connect(self.address, self.address) as connection:
            connection.execute("BEGIN TRANSACTION")
            yield connection, ""

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        import duckdb

        try:
            yield
        except duckdb.ConstraintException as error:
            raise InvalidRequest(
                f"the source refuses the deletion ({type(error).__name__}); nothing was changed"
            ) from None

    def _delete_rows(
        self, connection: duckdb.DuckDBPyConnection, named: Iterable[tuple[str, Sequence[str]]]
    ) -> list[str]:
        gone: list[str] = []
        for column, names in named:
            written, found = self._found(connection, column, names)
            gone += found
            connection.execute(f"DELETE FROM {self._table_name} WHERE {_among(column)}", [written])
        return gone

    def _leave_mark(self, connection: duckdb.DuckDBPyConnection) -> tuple[str, str]:
        connection.execute(f"CREATE TABLE IF NOT EXISTS {_DONE} (number BIGINT PRIMARY KEY, mark VARCHAR)")
        mark, number = uuid4().hex, self._deletions(connection) + 1
        connection.execute(f"INSERT INTO {_DONE} VALUES (?, ?)", [number, mark])
        return mark, f"version:{number}"

    def _state_left(self, connection: duckdb.DuckDBPyConnection) -> str | None:
        connection.execute("CHECKPOINT")  # everything is in the file now, which no other process can open yet
        return self._state(connection, "")

    def _number_of(self, connection: duckdb.DuckDBPyConnection, mark: str) -> int | None:
        if not self._deletions(connection):
            return None
        found: int | None = _one(connection, f"SELECT number FROM {_DONE} WHERE mark = ?", mark)
        return found


@dataclass(frozen=True)
class DeltaTable(Lake):
    """A Delta table; a query calls its rows `source`."""

    kind: ClassVar[str] = "delta"
    counts_by: ClassVar[str | None] = "versions"
    one_table: ClassVar[str] = "a Delta table is named by its folder"

    @classmethod
    def recognises(cls, path: Path) -> bool:
        """Return whether an address is of this kind."""
        return (path / "_delta_log").is_dir()

    @property
    def _is_deleted_from(self) -> bool:
        return True

    def check_chain(self, instead: str) -> None:
        if self.query is not None:
            super().check_chain(instead)

    def _state(self, connection: Any, position: str) -> str | None:
        return self.state_at(position)

    def state_at(self, position: str) -> str | None:
        """Return a digest of a version's log and files; None if a file was written just now or is not local.

        It covers each file with its partition values, size, times and statistics, the table's columns, and the state of
        the files in the file system, because a path can be added again with other rows.
        """
        table = self._table(number_of(position))
        facts, protocol = table.metadata(), table.protocol()
        try:
            found = [
                (file, files.state_of(path)) for path, file in zip(*_added_files(table, self.address), strict=True)
            ]
        except OSError:  # not a local file
            return None
        if any(own is None for _, own in found):
            return None
        lines = [f"{file} {own}" for file, own in found]
        lines += [str(facts.id), table.schema().to_json(), json.dumps([facts.partition_columns, facts.configuration])]
        lines.append(f"{protocol.min_reader_version} {protocol.reader_features}")
        return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()

    @contextmanager
    def _moment(self, *, marking: bool = False) -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
        version = self._table().version()
        with self._at(version) as connection:
            yield connection, f"version:{version}"

    @contextmanager
    def _at(self, version: int) -> Iterator[duckdb.DuckDBPyConnection]:
        with _connect(":memory:", self.address) as connection:
            connection.register(ROWS, self._table(version).to_pyarrow_dataset())
            yield connection

    def changes(self, since: str, position: str, columns: Sequence[str]) -> EditCounts | None:
        """Return the changes in files that only one of the versions has; None if the earlier one cannot be read."""
        kinds = since.partition(":")[0], position.partition(":")[0]
        if kinds != ("version", "version"):
            return None
        try:
            before, after = (self._table(number_of(place)) for place in (since, position))
        except SourceError:
            return None
        compared = list(dict.fromkeys([self.id, *filter(None, [self.subject]), *columns]))
        with _connect(":memory:", self.address) as connection:
            if self._has_path_added_again(before, after):
                return None
            return _difference(connection, before, after, self.id, compared)

    def _has_path_added_again(self, before: Any, after: Any) -> bool:
        """Return whether a commit between two versions cannot be read, or adds a path that the earlier version has.

        Such a path may have other rows or other partition values.
        """
        there = set(_added_files(before, "")[0])
        for number in range(before.version() + 1, after.version() + 1):
            commit = os.path.join(self.address, "_delta_log", f"{number:020d}.json")
            try:
                with open(commit, encoding="utf-8") as log:
                    added = [json.loads(line).get("add") for line in log if line.strip()]
            except (OSError, ValueError):
                return True
            if any(action is not None and unquote(action["path"]) in there for action in added):
                return True
        return False

    def watch(self, columns: Sequence[str], since: str | None, definition: str | None = None) -> EditCounts | None:
        """Return the changes since a position. Nothing has to be started: the table keeps its versions itself."""
        if since is None:
            return None
        with self.snapshot(columns, since) as snapshot:
            return snapshot.changes

    def _table(self, version: int | None = None) -> Any:
        library = _delta()
        try:
            return library.DeltaTable(self.address, version=version)
        except Exception as error:  # its errors share no base class
            raise _source_error(self.address, error) from None

    def pinned(self, columns: Sequence[str]) -> files.Pinned:
        """Return the files of the newest version, for workers to read.

        A file without one of these columns is empty there.

        Raises:
            InvalidSchema: If a column is missing, or only in the names of folders.
            SourceError: If the table hides rows of its files in a way that is not supported here, or its files are in
                another table.
        """
        table = self._table()
        try:
            names = table.to_pyarrow_dataset().schema.names  # raises if the files alone do not determine the rows
        except Exception as error:
            raise _source_error(self.address, error) from None
        for column in columns:
            if column not in names:
                raise InvalidSchema(f"{self.address}: no column {column!r}; correct the schema")
            if column in table.metadata().partition_columns:
                raise InvalidSchema(
                    f"{self.address}: the column {column!r} partitions the table and is in the names of its folders, which workers do not read; "
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
        """Return the data files of the newest version; the others belong to earlier ones."""
        return _data_files(self._table(), self.address)

    def _shown(self, connection: duckdb.DuckDBPyConnection, position: str, done: SourceHistory) -> bool:
        kind, _, erased = (done.erased_at or "").partition(":")
        if not done.marks and kind != "version":
            return True
        version = number_of(position)
        table = self._table(version)
        if kind == "version" and _restored_version(table.history(_MOST_VERSIONS), version, int(erased)) < int(erased):
            return False
        return all(table.transaction_version(mark) is not None for mark in done.marks)

    def delete(
        self,
        ids: Sequence[str],
        subjects: Sequence[str],
        accept: Accept,
        done: SourceHistory = NOTHING_DONE,
        chain: ReleaseChain | None = None,
    ) -> str:
        library, mark = _delta(), uuid4().hex
        table, named = self._table(), self._named(ids, subjects)
        table_read = table.version()
        if len(named) != 1:
            raise InvalidRequest("name records, or persons, in one request to a Delta table: one commit has one list")
        column, names = named[0]
        with _connect(":memory:", self.address) as connection:
            if not self._shown(connection, f"version:{table.version()}", done):
                raise restored_error(self.address)
            dataset = table.to_pyarrow_dataset()
            connection.register(ROWS, dataset)
            written, gone = self._found(connection, column, names)
            kind = dataset.schema.field(column)
            before = None
            if chain is not None and self._is_in(connection, f"version:{table_read}", chain.state):
                own = self._rows_of(connection, self._keys_of(connection, named))
                before = self._read_rows(connection, chain.columns, own)
            if self.query is not None or before is not None:
                self._without(connection, dataset, column, written)
            if self.query is not None:
                self._check_names(self._columns(connection))
                still = self._read_of(connection, ids, subjects)
                if still:
                    raise still_read_error(still)
            if chain is not None and before is not None:
                chain.take(before, self._read_rows(connection, chain.columns, own))
        accept(mark, gone)
        try:
            made = (
                table.merge(
                    source=_column(kind, written),
                    predicate=f"t.{quote_identifier(column)} = s.{quote_identifier(column)}",
                    source_alias="s",
                    target_alias="t",
                    commit_properties=library.CommitProperties(
                        custom_metadata={_MARK: mark},
                        app_transactions=[
                            library.Transaction(app_id=mark, version=1)
                        ],  # kept longer than the history of the log
                    ),
                )
                .when_matched_delete()
                .execute()
            )
        except Exception as error:
            raise _source_error(self.address, error) from None
        position = self.find_commit(mark)
        if position is None:
            raise SourceError(f"{self.address}: the table's log does not hold the deletion that was just made")
        if chain is not None and before is not None:
            # no other write in between, and the deleted rows are those that were read
            alone = (number_of(position), made.get("num_target_rows_deleted")) == (table_read + 1, len(gone))
            chain.leave(self.state_at(position) if alone else None)
        return position

    def _without(self, connection: duckdb.DuckDBPyConnection, dataset: Any, column: str, names: Sequence[str]) -> None:
        """Define a view of the table without the rows of these names: the commit cannot be inspected in advance."""
        connection.unregister(ROWS)
        connection.register("noisygd_delete_before", dataset)
        connection.register("noisygd_delete_names", _column(_text_field(), names))
        connection.execute(
            f"CREATE TEMP VIEW {ROWS} AS SELECT * FROM noisygd_delete_before WHERE COALESCE({_name_of(quote_identifier(column))} "
            "NOT IN (SELECT encode(name) FROM noisygd_delete_names), TRUE)"
        )

    def find_commit(self, mark: str) -> str | None:
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
    uncounted: ClassVar[str] = "names, sizes and times of files say that one was written, not which of its rows changed"
    one_table: ClassVar[str] = "a folder of Parquet files is one table"

    @classmethod
    def recognises(cls, path: Path) -> bool:
        """Return whether an address is of this kind."""
        return path.is_dir() and any(path.glob("*.parquet"))

    @contextmanager
    def _moment(self, *, marking: bool = False) -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
        position, before = files.position(), files.list_files(self.address)
        with _connect(":memory:", self.address) as connection:
            connection.from_parquet([file.path for file in before]).create_view(ROWS)
            yield connection, position
        files.check_unchanged(self.address, before, files.list_files(self.address))


def number_of(position: str) -> int:
    """Return the number of a position that is a version."""
    return int(position.partition(":")[2])


def _restored_version(history: Iterable[Mapping[str, Any]], version: int, erased: int) -> int:
    """Return the version whose rows this version has: RESTORE makes an earlier one the newest, and keeps marks.

    The history is searched down to the version `erased`; -1 if a RESTORE names a time instead of a version.
    """
    for made in history:
        number = made.get("version", version)
        if number <= erased:
            break
        if number <= version and made.get("operation") == "RESTORE":
            version = int((made.get("operationParameters") or {}).get("version") or -1)
    return version


def _data_files(table: Any, address: str) -> list[str]:
    """Return the data files of a version."""
    return _added_files(table, address)[0]


def _added_files(table: Any, address: str) -> tuple[list[str], list[str]]:
    """Return the data files of a version, and all that its log records of each.

    A log encodes paths as in a URL: %20 for a space.
    """
    import pyarrow

    actions = pyarrow.table(table.get_add_actions(flatten=True)).to_pylist()
    names = [action["path"] for action in actions]
    paths = [name if "://" in name else os.path.join(address, unquote(name)) for name in names]
    return paths, [json.dumps(action, sort_keys=True, default=str) for action in actions]


def _difference(
    connection: duckdb.DuckDBPyConnection, before: Any, after: Any, id_column: str, columns: Sequence[str]
) -> EditCounts | None:
    """Return the rows deleted, replaced and inserted between two versions of a Delta table, by these columns.

    The columns include the ids. Only the files that one of the two has are read. A row rewritten unchanged into another
    file does not count; a row missing from the older version's files with a new row of the same id in the newer one's
    was replaced. None if the files of the earlier version are missing, or hide rows in a way that is not supported
    here.
    """
    import duckdb
    import pyarrow
    from deltalake.exceptions import DeltaError

    try:
        older, newer = (table.to_pyarrow_dataset() for table in (before, after))
        names = [{fragment.path for fragment in dataset.get_fragments()} for dataset in (older, newer)]
        connection.register("older", _only(older, names[0] - names[1]))
        connection.register("newer", _only(newer, names[1] - names[0]))
        listed = ", ".join(map(quote_identifier, columns))
        found = connection.execute(_COUNTED.format(listed, quote_identifier(id_column))).fetchone()
    except (duckdb.Error, pyarrow.ArrowException, OSError, ValueError, NotImplementedError, DeltaError):
        return None
    assert found is not None
    gone, come, kept = map(int, found)
    return EditCounts(deleted=gone - kept, replaced=kept, inserted=come - kept)


def _only(dataset: Any, names: set[str]) -> Any:
    """Return the part of a table in these files."""
    from pyarrow import dataset as parts

    chosen = [fragment for fragment in dataset.get_fragments() if fragment.path in names]
    if not chosen:
        return dataset.schema.empty_table()
    return parts.FileSystemDataset(chosen, dataset.schema, dataset.format, dataset.filesystem)


def _text_field() -> pyarrow.Field:
    import pyarrow

    return pyarrow.field("name", pyarrow.string())


def _column(kind: pyarrow.Field, names: Sequence[str]) -> pyarrow.Table:
    """Return the names as a column of this type."""
    import pyarrow

    return pyarrow.table({kind.name: pyarrow.array(list(names), pyarrow.string()).cast(kind.type)})


@contextmanager
def _connect(database: str, shown: str, *, read_only: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a DuckDB connection that writes only to its database; its error messages are not passed on."""
    try:
        import duckdb
    except ImportError as error:
        raise MissingDependency("rows in files need duckdb: pip install 'noisygd-delete[sources]'") from error
    quiet: dict[str, str | bool | int | float | list[str]] = {
        "temp_directory": "",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    try:
        with duckdb.connect(database, read_only=read_only, config=quiet) as connection:
            yield connection
    except duckdb.Error as error:
        raise _source_error(shown, error) from None


def _delta() -> Any:
    try:
        import deltalake
    except ImportError as error:
        raise MissingDependency("a Delta table needs deltalake: pip install 'noisygd-delete[sources]'") from error
    return deltalake


def _source_error(address: str, error: Exception) -> SourceError:
    return SourceError(
        f"{address}: {type(error).__name__}; check the columns, the query, and who else is writing there"
    )


def _types(connection: duckdb.DuckDBPyConnection, rows: str) -> dict[str, str]:
    """Return the columns of these rows and their types."""
    found = connection.execute(f"SELECT * FROM ({rows}) AS everything LIMIT 0").description or ()
    return {name: str(kind) for name, kind, *_ in found}


def _filter_canonical(
    connection: duckdb.DuckDBPyConnection, rows: str, column: str, names: Sequence[str]
) -> dict[str, str]:
    """Return the names as this column writes them: a UUID in lower case. Names that are not valid text are left out."""
    low = _types(connection, rows).get(column) == "UUID"
    texts = (name for name in names if name == name.encode(errors="ignore").decode())
    return {name: name.lower() if low else name for name in texts}


def _count_rows(
    connection: duckdb.DuckDBPyConnection, rows: str, column: str, names: Sequence[str], what: str = "*"
) -> int:
    """Return the number of these rows that have one of the names."""
    written = _filter_canonical(connection, rows, column, names)
    query = f"SELECT count({what}) FROM ({rows}) AS everything WHERE {_among(column)}"
    return int(_one(connection, query, list(written.values())))


def _one(connection: duckdb.DuckDBPyConnection, query: str, *values: Any) -> Any:
    found = connection.execute(query, list(values) or None).fetchone()
    return None if found is None else found[0]


def _among(column: str) -> str:
    return f"{_name_of(quote_identifier(column))} IN (SELECT encode(unnest(?)))"


def _name_of(column: str) -> str:
    return f"encode(CAST({column} AS VARCHAR))"  # as bytes, which no collation affects

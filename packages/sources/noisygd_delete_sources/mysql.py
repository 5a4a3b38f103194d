"""A table of MySQL or MariaDB.

    mysql://clerk@localhost/people                        password from the environment (MYSQL_PWD)
    mysql://clerk@/people?socket=/run/mysqld/mysqld.sock

Positions count the deletions by this program, each of which leaves a random mark in its own transaction, in a separate
table of the database. Comparisons in MySQL are loose ('17abc' equals 17, 'A' equals 'a', trailing spaces are ignored),
so names are compared by their bytes. Only InnoDB tables are read, no view and no query, because the server does not
reveal how the rows of a view are selected. Changes by others are not counted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import parse_qs, unquote, urlsplit
from uuid import uuid4

from noisygd_delete.errors import InvalidParameter, InvalidRequest, MissingDependency, SourceError

from .sql import quote_identifier, quote_table
from .table import StoreSource

if TYPE_CHECKING:
    import pymysql

_DONE = "noisygd_delete_deletions"
_SESSION = (
    "SET SESSION sql_mode = 'ANSI,TRADITIONAL', time_zone = '+00:00', innodb_lock_wait_timeout = 10, lock_wait_timeout = 10",
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
)
_VALUE = "\0"  # placeholder of a value in a statement; no column name contains it
_SECONDS = 600  # timeout of a statement
_OF_ROWS = (1205, 1213, 1216, 1217, 1451, 1452, 1644)  # lock, deadlock, foreign key, trigger that raises
_LOCKS = (1205, 1213)
_WITH_A_TEXT_EACH = ("decimal", "date", "datetime", "timestamp", "time", "year", "enum", "uuid", "inet4", "inet6")


@dataclass(frozen=True)
class MySQL(StoreSource):
    """An InnoDB table."""

    kind: ClassVar[str] = "mysql"
    uncounted: ClassVar[str] = "its triggers are not watched here"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.table is None or self.query is not None:
            raise InvalidParameter("rows of MySQL are those of one table: give --table NAME, and no --query")
        parts = urlsplit(self.address)
        if parts.password is not None or not parts.path.strip("/"):
            raise InvalidParameter("write mysql://USER@HOST:PORT/DATABASE without a password, which MYSQL_PWD holds")

    @staticmethod
    def recognises(address: str) -> bool:
        """Return whether an address is of this kind."""
        return address.startswith(("mysql://", "mariadb://"))

    @contextmanager
    def _connected(self) -> Iterator[pymysql.Connection[Any]]:
        """Open a connection in a transaction, rolled back unless committed.

        Error messages omit text that may quote a row.
        """
        try:
            import pymysql
        except ImportError as error:
            raise MissingDependency("rows in MySQL need pymysql: pip install 'noisygd-delete[mysql]'") from error
        parts = urlsplit(self.address)
        socket = parse_qs(parts.query).get("socket", [None])[0]
        try:
            connection = pymysql.connect(
                host=parts.hostname or "localhost", port=parts.port or 3306, unix_socket=socket,
                user=unquote(parts.username or ""), password=os.environ.get("MYSQL_PWD", ""), database=unquote(parts.path.strip("/")),
                charset="utf8mb4", connect_timeout=10, read_timeout=_SECONDS, write_timeout=_SECONDS, autocommit=False,
            )  # fmt: skip
        except (pymysql.MySQLError, OSError) as error:  # no query ran yet: the message quotes no row
            raise SourceError(
                f"{self.address}: {error.args[-1] if error.args else error}; is the server there?"
            ) from None
        try:
            with connection:
                for statement in _SESSION:
                    self._asked(connection, statement)
                yield connection
        except pymysql.MySQLError as error:
            raise SourceError(f"{self.address}: {_format_error(error)}") from None

    @contextmanager
    def _moment(self, *, marking: bool = False) -> Iterator[tuple[pymysql.Connection[Any], str]]:
        with self._connected() as connection:
            self._asked(connection, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
            yield connection, f"version:{self._deletions(connection)}"

    @staticmethod
    def _asked(connection: pymysql.Connection[Any], text: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with connection.cursor() as cursor:
            cursor.execute(text.replace("%", "%%").replace(_VALUE, "%s") if values else text, values or None)
            return list(cursor.fetchall())

    def _one(self, connection: pymysql.Connection[Any], text: str, values: Sequence[Any] = ()) -> Any:
        return self._asked(connection, text, values)[0][0]

    def _deletions(self, connection: pymysql.Connection[Any]) -> int:
        there = (
            f"SELECT count(*) FROM information_schema.tables WHERE table_schema = database() AND table_name = {_VALUE}"
        )
        if not self._one(connection, there, [_DONE]):
            return 0
        return int(self._one(connection, f"SELECT coalesce(max(number), 0) FROM {quote_identifier(_DONE)}"))

    @property
    def _table_name(self) -> str:
        return quote_table(str(self.table))

    def _columns(self, connection: pymysql.Connection[Any]) -> dict[str, None]:
        """Return the columns; raise if the table is not transactional."""
        found = self._described(connection, "table_type, engine FROM information_schema.tables")
        if not found:
            raise SourceError(f"{self.address}: no such table {self.table}, or this user may not read it")
        if found[0] != ("BASE TABLE", "InnoDB"):
            raise InvalidParameter(
                f"{self.address}: {self.table} is no table of InnoDB (a view, or one without transactions); give the table itself"
            )
        with connection.cursor() as cursor:
            cursor.execute(f"{self._rows()} LIMIT 0")
            return dict.fromkeys(column[0] for column in cursor.description or ())

    def _described(self, connection: pymysql.Connection[Any], what: str) -> list[tuple[Any, ...]]:
        """Return facts about the table from the information schema."""
        schema, _, name = str(self.table).rpartition(".")
        among = f"table_schema = coalesce(nullif({_VALUE}, ''), database()) AND table_name = {_VALUE}"
        return self._asked(connection, f"SELECT {what} WHERE {among}", [schema, name])

    def _unfit(self, connection: pymysql.Connection[Any], column: str) -> str | None:
        kinds = dict(self._described(connection, "column_name, data_type FROM information_schema.columns"))
        kind = str(kinds[column]).lower()
        return None if kind in _WITH_A_TEXT_EACH or kind.endswith(("int", "char", "text")) else kind

    def _check_plan(self, connection: pymysql.Connection[Any], *, again: bool = False) -> None:
        self._columns(connection)

    def _names_in(self, connection: pymysql.Connection[Any], column: str) -> Iterator[str]:
        rows = self._cells(connection, [column], self._rows())
        return (str(name) for (name,) in rows if name is not None)

    def _cells(
        self, connection: pymysql.Connection[Any], columns: Sequence[str], rows: str
    ) -> Iterator[tuple[Any, ...]]:
        """Yield rows in order of arrival; ids and persons as text."""
        from pymysql.cursors import SSCursor

        with connection.cursor(SSCursor) as cursor:
            cursor.execute(f"SELECT {', '.join(map(self._shown_as, columns))} FROM ({rows}) AS chosen")
            yield from cursor

    def _shown_as(self, column: str) -> str:
        return _text(column) if column in (self.id, self.subject) else quote_identifier(column)

    def held(self, ids: Sequence[str], subjects: Sequence[str], *, names: bool = False) -> int:
        with self._moment() as (connection, _):
            if not names:
                return self._read_of(connection, ids, subjects)
            return sum(
                len(set(self._found(connection, column, wanted))) for column, wanted in self._named(ids, subjects)
            )

    def _read_of(self, connection: pymysql.Connection[Any], ids: Sequence[str], subjects: Sequence[str]) -> int:
        return sum(len(self._found(connection, column, wanted)) for column, wanted in self._named(ids, subjects))

    def _found(
        self, connection: pymysql.Connection[Any], column: str, names: Sequence[str], lock: str = ""
    ) -> list[str]:
        """Return the names of the rows that have one of these names, once per row."""
        query = f"SELECT {_text(column)} FROM {self._table_name} WHERE {_among(column)}{lock}"
        return [name for (name,) in self._asked(connection, query, _both(names))]

    @contextmanager
    def _deletion(self, *, chained: bool) -> Iterator[tuple[pymysql.Connection[Any], str]]:
        with self._connected() as connection:
            making = f"CREATE TABLE IF NOT EXISTS {quote_identifier(_DONE)} (number BIGINT PRIMARY KEY, mark CHAR(32) UNIQUE) ENGINE=InnoDB"
            if not self._deletions(connection):
                self._asked(connection, making)  # an implicit commit, of nothing so far
            self._asked(connection, "START TRANSACTION")
            yield connection, ""

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        import pymysql

        try:
            yield
        except pymysql.MySQLError as error:
            if error.args and error.args[0] in _OF_ROWS and error.args[0] not in _LOCKS:
                raise InvalidRequest(
                    f"the source refuses the deletion ({_format_error(error)}); nothing was changed"
                ) from None
            raise

    def _delete_rows(
        self, connection: pymysql.Connection[Any], named: Iterable[tuple[str, Sequence[str]]]
    ) -> list[str]:
        gone: list[str] = []
        for column, names in named:
            self._check_there(column, names, set(self._found(connection, column, names, " FOR UPDATE")))
            where = f"FROM {self._table_name} WHERE {_among(column)}"
            gone += [name for (name,) in self._asked(connection, f"SELECT {_text(self.id)} {where}", _both(names))]
            self._asked(connection, f"DELETE {where}", _both(names))
        return gone

    @staticmethod
    def _name_of(column: str) -> str:
        return f"HEX({_as_text(column)})"

    def _rows_taken(self, connection: pymysql.Connection[Any]) -> int:
        return -int(self._one(connection, f"SELECT count(*) FROM {self._table_name}"))

    def _leave_mark(self, connection: pymysql.Connection[Any]) -> tuple[str, str]:
        mark, next_one = uuid4().hex, f"SELECT coalesce(max(number), 0) + 1 FROM {quote_identifier(_DONE)} FOR UPDATE"
        number = int(self._one(connection, next_one))
        self._asked(connection, f"INSERT INTO {quote_identifier(_DONE)} VALUES ({_VALUE}, {_VALUE})", [number, mark])
        return mark, f"version:{number}"

    def _number_of(self, connection: pymysql.Connection[Any], mark: str) -> int | None:
        if not self._deletions(connection):
            return None
        found = self._asked(connection, f"SELECT number FROM {quote_identifier(_DONE)} WHERE mark = {_VALUE}", [mark])
        return int(found[0][0]) if found else None


def _text(column: str) -> str:
    return _as_text(quote_identifier(column))


def _as_text(column: str) -> str:
    return f"CAST({column} AS CHAR CHARACTER SET utf8mb4)"


def _among(column: str) -> str:
    """Return SQL that selects rows by name: loosely equal rows, found by an index, that are also equal byte by byte."""
    return f"{quote_identifier(column)} IN {_VALUE} AND HEX({_text(column)}) IN {_VALUE}"


def _both(names: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(names), tuple(name.encode().hex().upper() for name in names)]


def _format_error(error: Exception) -> str:
    """Return the number of an error, because its message may quote a row."""
    number = error.args[0] if error.args and isinstance(error.args[0], int) else None
    waits = ". Another session holds a lock there; it is tried again" if number in _LOCKS else ""
    return type(error).__name__ + (f", error {number}" if number else "; is the server there?") + waits

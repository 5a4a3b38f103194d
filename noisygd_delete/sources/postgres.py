"""Rows in PostgreSQL (13 or later): one REPEATABLE READ snapshot per release, deletions known by their transaction.

The password is not part of the address: it comes from PGPASSWORD, ~/.pgpass or a service file, as with any client of it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import CountBroken, InvalidParameter, InvalidRequest, MissingDependency, SourceError
from ..records import EditCounts
from . import trigger
from .source import Accept, Snapshot, Source, blocks, check_named

if TYPE_CHECKING:
    import psycopg
    from psycopg import sql

_PATIENCE = 10.0  # seconds until a transaction whose client died is given up by the server
_OLDEST = 130_000  # 13


@dataclass(frozen=True)
class Postgres(Source):
    """A table of a database, or a query of it."""

    kind: ClassVar[str] = "postgresql"
    counts_by: ClassVar[str | None] = "trigger"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.table is None and self.query is None:
            raise InvalidParameter("say which rows: --table NAME, or --query SELECT, or both")
        parts = _library().conninfo.conninfo_to_dict
        try:
            described = parts(self.address)
        except _library().Error:
            raise InvalidParameter("not an address of PostgreSQL; write postgresql://USER@HOST:PORT/DATABASE") from None
        if described.get("password"):
            raise InvalidParameter(
                "the store keeps the address, so it must not hold a password: put that into ~/.pgpass or PGPASSWORD"
            )

    @contextmanager
    def connected(self) -> Iterator[psycopg.Connection[Any]]:
        """A connection; what goes wrong on it is told without the words of the server, which may quote a row."""
        library = _library()
        try:
            with library.connect(self.address, connect_timeout=10, application_name="noisygd-delete") as connection:
                if connection.info.server_version < _OLDEST:
                    raise SourceError(f"{self.address}: PostgreSQL 13 or later is needed")
                yield connection
        except library.Error as error:
            raise SourceError(f"{self.address}: {said(error)}") from None

    @contextmanager
    def snapshot(self, columns: Sequence[str], since: str | None = None) -> Iterator[Snapshot]:
        with self.connected() as connection:
            connection.isolation_level = _library().IsolationLevel.REPEATABLE_READ
            connection.read_only = True
            position = _now(connection)  # the first statement takes the snapshot that every later one sees
            changes = None
            if since is not None and self.table is not None:
                changes = trigger.counted(connection, self.address, self._table(), since)
            yield Snapshot(position, blocks(self.address, columns, self._rows(connection, columns)), changes)

    def _rows(self, connection: psycopg.Connection[Any], columns: Sequence[str]) -> Iterator[Sequence[Any]]:
        with connection.cursor() as cursor, cursor.copy(self._selected(columns)) as copy:
            yield from copy.rows()

    def _selected(self, columns: Sequence[str]) -> sql.Composed:
        """COPY gives every value as an export of the table would write it; ids stay where they are."""
        from psycopg import sql

        rows = sql.SQL("SELECT * FROM {}").format(self._table()) if self.query is None else _literal(self.query)
        if self.subject is not None:
            rows = sql.SQL(
                "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY {} ORDER BY {}) AS noisygd_delete_rank FROM ({}) AS everything) "
                "AS ranked WHERE noisygd_delete_rank <= {}"
            ).format(sql.Identifier(self.subject), sql.Identifier(self.id), rows, sql.Literal(self.rows_per_subject))
        names = sql.SQL(", ").join(map(sql.Identifier, columns))
        return sql.SQL("COPY (SELECT {} FROM ({}) AS chosen) TO STDOUT").format(names, rows)

    def _table(self) -> sql.Identifier:
        from psycopg import sql

        if self.table is None:
            raise self._left_to_the_application()
        return sql.Identifier(*self.table.split("."))

    def position(self) -> str:
        with self.connected() as connection:
            return _now(connection)

    def held(self, ids: Sequence[str], subjects: Sequence[str], *, names: bool = False) -> int:
        from psycopg import sql

        found = 0
        with self.connected() as connection:
            for column, asked in self._named(ids, subjects):
                what = sql.SQL("DISTINCT {}").format(sql.Identifier(column)) if names else sql.SQL("*")
                question = sql.SQL("SELECT count({}) FROM {} WHERE {} = {}").format(
                    what, self._table(), sql.Identifier(column), self._any_of(connection, column)
                )
                found += _one(connection, question, [list(asked)])
        return found

    def _named(self, ids: Sequence[str], subjects: Sequence[str]) -> list[tuple[str, Sequence[str]]]:
        if subjects and self.subject is None:
            raise InvalidRequest("the table does not say whom its records are about; name the records by their ids")
        return [(column, names) for column, names in ((self.id, ids), (self.subject or "", subjects)) if names]

    def _any_of(self, connection: psycopg.Connection[Any], column: str) -> sql.Composed:
        """Names as values of the column's own type, so that its index serves."""
        from psycopg import sql

        table = self._table().as_string(connection)
        asked = sql.SQL(
            "SELECT format_type(atttypid, -1) FROM pg_attribute WHERE attrelid = {}::regclass AND attname = {} AND attnum > 0"
        ).format(sql.Literal(table), sql.Literal(column))
        found = _one(connection, asked)
        if found is None:
            raise InvalidRequest(f"{self.address}: table {self.table} has no column {column!r}; nothing was changed")
        return sql.SQL("ANY(%s::{}[])").format(_literal(found))

    def delete(self, ids: Sequence[str], subjects: Sequence[str], accept: Accept) -> str:
        from psycopg import sql

        library, named = _library(), self._named(ids, subjects)
        with self.connected() as connection:
            rows = 0
            for column, names in named:
                statement = sql.SQL("DELETE FROM {} WHERE {} = {} RETURNING {}::text").format(
                    self._table(), sql.Identifier(column), self._any_of(connection, column), sql.Identifier(column)
                )
                try:
                    gone = [text for (text,) in connection.execute(statement, [list(names)]).fetchall()]
                except (library.DataError, library.IntegrityError) as error:
                    raise InvalidRequest(
                        f"the source refuses the deletion ({said(error)}); nothing was changed"
                    ) from None
                check_named(names, gone, "id" if column == self.id else "subject")
                rows += len(gone)
            mark = str(_one(connection, sql.SQL("SELECT pg_current_xact_id()::text")))
            accept(mark, rows)
            connection.commit()
        return f"transaction:{mark}"

    def committed(self, mark: str) -> str | None:
        from psycopg import sql

        if not mark.isdecimal():
            raise SourceError(f"{self.address}: not the mark of a transaction; restore the store from a backup")
        asked = sql.SQL("SELECT pg_xact_status({}::text::xid8)").format(sql.Literal(mark))
        until = time.monotonic() + _PATIENCE
        while True:
            with self.connected() as connection:
                status = _one(connection, asked)
            if status == "committed":
                return f"transaction:{mark}"
            if status == "aborted":
                return None
            if status is None or time.monotonic() > until:
                why = "no longer known" if status is None else "still under way"
                raise SourceError(
                    f"{self.address}: transaction {mark}, a deletion that was interrupted, is {why} there. End its session there and "
                    "try again; if the server has forgotten it, look whether the rows are gone, remove the store's journal/request.json, "
                    "and delete again or publish with the number of rows erased"
                )
            time.sleep(0.1)

    def watch(self, columns: Sequence[str], since: str | None) -> EditCounts | None:
        """Begin to count, or where all is well put together what a release has covered."""
        table, found, whole = self._watched(), None, True
        since = self.position() if since is None else since
        try:
            with self.snapshot(columns, since) as now:
                found = now.changes
        except CountBroken:
            whole = False
        with self.connected() as connection:
            if whole and trigger.is_there(connection, table):
                with suppress(_library().errors.InsufficientPrivilege), connection.transaction():  # a reader may not
                    trigger.fold(connection, table, since)
            else:
                trigger.run(connection, trigger.installing(table))
        return found

    def unwatch(self) -> None:
        """Count no longer."""
        table = self._watched()
        with self.connected() as connection:
            if trigger.is_there(connection, table):
                trigger.run(connection, trigger.removing(table))

    def watching(self) -> str:
        """The statements of `watch`, for whoever may carry them out."""
        reader = _library().conninfo.conninfo_to_dict(self.address).get("user")
        lines = trigger.installing(self._watched(), str(reader) if reader else None)
        return "".join(f"{line};\n" for line in ("BEGIN", *lines, "COMMIT"))

    def _watched(self) -> sql.Identifier:
        if self.table is None:
            raise InvalidParameter(
                f"{self.address}: a trigger counts what is written to a table, and the store names none"
            )
        return self._table()


def _library() -> Any:
    try:
        import psycopg
    except ImportError as error:
        raise MissingDependency("rows in PostgreSQL need psycopg: pip install 'noisygd-delete[postgres]'") from error
    return psycopg


def said(error: Any) -> str:
    """An error of the server by its name and code, without its words."""
    return f"{type(error).__name__}" + (f", SQLSTATE {error.sqlstate}" if error.sqlstate else "; is the server there?")


def _literal(text: str) -> sql.SQL:
    """SQL that the operator wrote."""
    from psycopg import sql

    return sql.SQL(text.strip().rstrip(";") + "\n")  # its last line may be a comment


def _one(connection: psycopg.Connection[Any], asked: Any, values: Any = None) -> Any:
    found = connection.execute(asked, values).fetchone()
    return None if found is None else found[0]


def _now(connection: psycopg.Connection[Any]) -> str:
    from psycopg import sql

    return f"snapshot:{_one(connection, sql.SQL('SELECT pg_current_snapshot()::text'))}"

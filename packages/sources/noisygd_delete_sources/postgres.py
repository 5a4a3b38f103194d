"""Rows in PostgreSQL (13 or later): one REPEATABLE READ snapshot per release; a transaction identifies each deletion.

A deletion counts, inside its own transaction, the rows with the deleted names in exactly what a release reads, and is
refused if there are any; deferred triggers and constraints are run before. The password is not part of the address: it
comes from PGPASSWORD, ~/.pgpass or a service file, as with any PostgreSQL client.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from noisygd_delete.errors import CountBroken, InvalidParameter, InvalidRequest, SourceError
from noisygd_delete.records import EditCounts
from noisygd_delete.store.position import extend_position

from . import session, trigger
from .definition import PARTS, is_read_alone, read_definition, why_uncounted
from .session import ask, ask_all, ask_one, filter_canonical, format_error, is_row_error, library
from .source import SourceHistory, dependent_selection_error, require_read_once, restored_error
from .sql import literal, quote_identifier, quote_table, rows_to_read
from .table import StoreSource

if TYPE_CHECKING:
    import psycopg

_OLDEST = 130_000  # 13
_LOCK, _STATEMENT = 10, 600  # seconds to wait for a lock, and for a statement that does not read all rows
_ALIVE = {"keepalives": 1, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
_FIRST = (
    f"-c jit=off -c lock_timeout={_LOCK}s -c statement_timeout={_STATEMENT}s"  # options in the address override these
)
_LAST = "-c TimeZone=UTC -c DateStyle=ISO -c IntervalStyle=postgres -c extra_float_digits=1 -c bytea_output=hex"
_HINTS = {
    "42P01": ". A table of another schema is named with it: --table schema.table",
    "55P03": ". Another session holds a lock there; it is tried again",
}
_KEYS = "noisygd_delete.keys"  # a setting, local to a transaction
_PATIENCE = 10.0  # seconds until the server aborts a transaction whose client died
_BY_OTHERS = {  # plan nodes by which other rows decide whether a row is read
    "WindowAgg": "a window",
    "Limit": "LIMIT or FETCH FIRST",
    "Sample Scan": "TABLESAMPLE",
    "Unique": "DISTINCT",
}
_BESIDE = ("InitPlan", "SubPlan")  # scalar subplans; a planner finds a minimum by LIMIT
_UNFIT = (  # the first type, domains resolved, without one text per value: "char" etc. are Z, intervals T, bits V
    "WITH RECURSIVE named(kind) AS (SELECT unnest($1::oid[]) UNION SELECT typbasetype FROM pg_type JOIN named ON oid = kind WHERE typbasetype <> 0) "
    "SELECT format_type(oid, NULL) FROM pg_type JOIN named ON oid = kind WHERE typbasetype = 0 AND typcategory NOT IN ('D', 'E', 'I', 'S') "
    "AND typname NOT IN ('int2', 'int4', 'int8', 'numeric', 'oid', 'uuid', 'bool', 'macaddr', 'macaddr8') LIMIT 1"
)
_COPY = "a materialised view, a copy that keeps erased rows until it is refreshed; let --table and --query read the tables themselves"
_ELSEWHERE = "a table of another server, whose history this one does not have; give the address of that server"
_BY_ROW_SECURITY = ", or hidden from this role by row-level security"


@dataclass(frozen=True)
class Postgres(StoreSource):
    """A table of a database, or a query on it."""

    kind: ClassVar[str] = "postgresql"
    counts_by: ClassVar[str | None] = "trigger"

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            described = library().conninfo.conninfo_to_dict(self.address)
        except library().Error:
            raise InvalidParameter("not an address of PostgreSQL; write postgresql://USER@HOST:PORT/DATABASE") from None
        if described.get("password") or described.get("sslpassword"):
            raise InvalidParameter(
                "the store keeps the address, so it must not hold a password: put that into ~/.pgpass or PGPASSWORD; keep the key of a "
                "certificate that needs no password"
            )

    @staticmethod
    def recognises(address: str) -> bool:
        """Return whether an address is of this kind."""
        return address.startswith(("postgresql://", "postgres://"))

    @contextmanager
    def connected(self) -> Iterator[psycopg.Connection[Any]]:
        """Open a connection with the settings that a release relies on; its statements use parameters $1, $2.

        Raises:
            SourceError: For every error on it, without server messages that may quote a row.
        """
        psycopg = library()
        options = psycopg.conninfo.conninfo_to_dict(self.address).get("options") or ""
        how = {
            "connect_timeout": 10,
            "application_name": "noisygd-delete",
            "cursor_factory": psycopg.RawCursor,
            **_ALIVE,
        }
        try:
            connection = psycopg.connect(self.address, **how, options=f"{_FIRST} {options} {_LAST}")
        except psycopg.Error as error:  # no query ran yet: the message quotes no row
            words = str(error).strip().partition("\n")[0]
            raise SourceError(f"{self.address}: {type(error).__name__}; is the server there? {words}") from None
        try:
            with connection:
                if connection.info.server_version < _OLDEST:
                    raise SourceError(f"{self.address}: PostgreSQL 13 or later is needed")
                yield connection
        except psycopg.Error as error:
            raise SourceError(f"{self.address}: {format_error(error)}{_HINTS.get(error.sqlstate, '')}") from None

    @contextmanager
    def _moment(self, *, marking: bool = False) -> Iterator[tuple[psycopg.Connection[Any], str]]:
        with self.connected() as connection:
            connection.isolation_level = library().IsolationLevel.REPEATABLE_READ
            connection.read_only = not marking
            position = _now(connection)  # the first statement takes the snapshot of all later ones
            connection.execute("SET LOCAL statement_timeout = 0")  # reading all rows may take longer
            yield connection, position

    def _changed(
        self, connection: Any, since: str, position: str, columns: Sequence[str], definition: str | None
    ) -> EditCounts | None:
        if self.table is None or definition is None:
            return None
        found = trigger.count_changes(connection, self.address, self._table_name, since)
        alike = found is not None and self._definition(connection) == definition
        if not alike or why_uncounted(connection, self._table_name) is not None:
            return None
        return found if is_read_alone(connection, self._table_name, _steps(connection, self._rows())) else None

    def _definition(self, connection: psycopg.Connection[Any]) -> str | None:
        if self.table is None:
            return None
        return read_definition(connection, self._table_name, of_query=self.query is not None)

    def _definition_now(self, connection: psycopg.Connection[Any]) -> str | None:
        connection.commit()  # the next statement has a newer snapshot
        return self._definition(connection)

    def _shown(self, connection: psycopg.Connection[Any], position: str, done: SourceHistory) -> bool:
        return session.is_snapshot_complete(connection, done.marks)

    def _answer_in_memory(self, connection: psycopg.Connection[Any], query: str) -> Sequence[Sequence[Any]] | None:
        if connection.info.parameter_status("server_encoding") != "UTF8":  # which lacks some space characters
            return None
        connection.execute("SET LOCAL work_mem = '1GB'")  # otherwise it would spill counts to disk
        connection.execute("SET LOCAL enable_sort = off")
        if any("Sort" in step["Node Type"] for step in _steps(connection, query)):  # of rows, which may need more
            return None
        return ask_all(connection, query)

    def check_chain(self, instead: str) -> None:
        if self.table is None or self.query is not None:
            super().check_chain(instead)
        with self.connected() as connection:
            why = why_uncounted(connection, self._table_name)
            if self._is_secured_by_row(connection) or why is not None:
                super().check_chain(instead)

    def _is_secured_by_row(self, connection: psycopg.Connection[Any]) -> bool:
        """Return whether policies select rows for this role, which may depend on the time or on other tables."""
        return bool(ask_one(connection, "SELECT row_security_active($1::text::regclass)", self._table_name))

    def is_watched(self) -> bool:
        with self.connected() as connection:
            return trigger.is_there(connection, self._table_name)

    def _state(self, connection: psycopg.Connection[Any], position: str) -> str | None:
        """Return the state of the rows, with a mark left in the same transaction; a copy without it is stale."""
        left = session.stamp_mark(connection, session.leave(connection))
        return None if left is None else f"{left} {position} {self._definition(connection)}"

    def _is_in(self, connection: psycopg.Connection[Any], position: str, state: str | None) -> bool:
        stamp, then, definition = (*(state or "").split(" "), "", "")[:3]
        if (
            not definition
            or session.stamp_mark(connection, stamp.partition(":")[0]) != stamp
            or self._is_secured_by_row(connection)
        ):
            return False
        try:
            changed = self._changed(connection, then, position, (), definition)
        except CountBroken:
            return False
        return changed is not None and not changed.total

    def _rows_of(self, connection: psycopg.Connection[Any], keys: Sequence[str]) -> str:
        kind, _ = self._type(connection, self._key)
        ask(connection, f"SELECT set_config('{_KEYS}', $1::text[]::text, true)", list(keys))
        given = f"current_setting('{_KEYS}')::text[]"
        among = f"{quote_identifier(self._key)} = ANY({given}::{kind}[]) AND {self._name_of(quote_identifier(self._key))} = ANY({given})"
        own = f"SELECT * FROM ({self._rows()}) AS everybody WHERE {among}"
        return rows_to_read(own, self._key, self.rows_per_subject, self._name_of)

    def _cells(self, connection: psycopg.Connection[Any], columns: Sequence[str], rows: str) -> Iterator[Sequence[Any]]:
        """Yield rows by COPY, with every value as an export of the table would write it."""
        from psycopg import sql

        query = f"COPY (SELECT {', '.join(map(quote_identifier, columns))} FROM ({rows}) AS chosen) TO STDOUT"
        with connection.cursor() as cursor, cursor.copy(sql.SQL(query)) as copy:
            yield from copy.rows()

    def _alone(self, connection: psycopg.Connection[Any]) -> bool:
        query = (
            "SELECT EXISTS (SELECT FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] WHERE "
            "i.indrelid = $1::text::regclass AND a.attname = $2::text AND a.attnotnull AND i.indisunique AND i.indisvalid AND i.indimmediate AND "
            "i.indnkeyatts = 1 AND i.indpred IS NULL AND NOT EXISTS (SELECT FROM pg_inherits h JOIN pg_class c ON c.oid = h.inhparent "
            "WHERE h.inhparent = i.indrelid AND c.relkind = 'r'))"  # each inheriting table has its own index
        )
        return bool(ask_one(connection, query, self._table_name, self.id))

    def _columns(self, connection: psycopg.Connection[Any]) -> dict[str, int]:
        from psycopg import sql

        cursor = connection.execute(sql.SQL(f"SELECT * FROM ({self._rows()}) AS everything LIMIT 0"))
        return {column.name: column.type_code for column in cursor.description or ()}

    def _unfit(self, connection: psycopg.Connection[Any], column: str) -> str | None:
        kinds = [self._columns(connection)[column]]
        if self.table is not None:
            kinds.append(self._type(connection, column)[1])
        found = ask_one(connection, _UNFIT, kinds)
        return None if found is None else str(found)

    def _check_plan(self, connection: psycopg.Connection[Any], *, again: bool = False) -> None:
        read = list(_steps(connection, self._rows()))
        for step in read:
            how = _BY_OTHERS.get(step["Node Type"])
            if how and not (again and step["Node Type"] == "Unique") and step.get("Parent Relationship") not in _BESIDE:
                raise dependent_selection_error(self.address, how)
            if step["Node Type"] == "Function Scan" and step.get("Schema") not in (None, "pg_catalog"):
                raise dependent_selection_error(
                    self.address, f"the function {step['Function Name']}, which cannot be inspected"
                )
        names = [name for step in read if (name := _relation(step))]
        own = (
            {name for step in _steps(connection, self._table_rows) if (name := _relation(step))}
            if self.table
            else set(names)
        )
        require_read_once(self.address, names, {name for name in names if name in own or "." not in name})
        kinds = "SELECT relname, relkind = 'f' FROM pg_class WHERE relkind IN ('m', 'f') AND oid = ANY($1::text[]::regclass[])"
        found = ask(connection, kinds, [name for name in names if "." in name])
        if found is not None:
            raise InvalidParameter(f"{self.address}: {found[0]} is {_ELSEWHERE if found[1] else _COPY}")

    @property
    def _table_name(self) -> str:
        if self.table is None:
            raise self._left_to_the_application()
        return quote_table(self.table)

    def held(self, ids: Sequence[str], subjects: Sequence[str], *, names: bool = False) -> int:
        with self.connected() as connection:
            return sum(
                len(self._having(connection, column, query)) if names else self._counted(connection, column, query)
                for column, query in self._named(ids, subjects)
            )

    def _type(self, connection: psycopg.Connection[Any], column: str) -> tuple[str, int]:
        """Return the type of a column of the table, as text and as its number."""
        query = "SELECT format_type(atttypid, -1), atttypid::bigint FROM pg_attribute WHERE attrelid = $1::text::regclass AND attname = $2::text AND attnum > 0"
        found = ask(connection, query, self._table_name, column)
        if found is None:
            raise InvalidRequest(f"{self.address}: table {self.table} has no column {column!r}; nothing was changed")
        return found[0], found[1]

    @staticmethod
    def _name_of(column: str) -> str:
        return f'{column}::text COLLATE "C"'

    def _among(
        self, connection: psycopg.Connection[Any], column: str, names: Sequence[str]
    ) -> tuple[str, list[list[str]]]:
        """Return SQL that tests whether a row has one of the names in this column of the table, and its parameters."""
        kind, _ = self._type(connection, column)
        written = filter_canonical(connection, kind, names)
        which = f"{quote_identifier(column)} = ANY($1::text[]::{kind}[]) AND {self._name_of(quote_identifier(column))} = ANY($2::text[])"
        return which, [list(written), list(written.values())]

    def _having(self, connection: psycopg.Connection[Any], column: str, names: Sequence[str]) -> set[str]:
        """Return those of the names that occur in this column of the table."""
        kind, _ = self._type(connection, column)
        written = filter_canonical(connection, kind, names)
        among, given = self._among(connection, column, names)
        query = f"SELECT DISTINCT {self._name_of(quote_identifier(column))} FROM {self._table_name} WHERE {among}"
        there = {name for (name,) in ask_all(connection, query, *given)}
        return {name for name, text in written.items() if text in there}

    def _counted(
        self, connection: psycopg.Connection[Any], column: str, names: Sequence[str], rows: str | None = None
    ) -> int:
        """Return the number of rows of the table, or of the query, with one of these names.

        The column may have another type in the query.
        """
        _, number = self._type(connection, column)
        which, given = self._among(connection, column, names)
        if rows is not None and self._columns(connection).get(column) != number:
            which, given = f"{self._name_of(quote_identifier(column))} = ANY($1::text[])", given[1:]
        return int(
            ask_one(connection, f"SELECT count(*) FROM {rows or self._table_name} AS everything WHERE {which}", *given)
        )

    def _read_of(self, connection: psycopg.Connection[Any], ids: Sequence[str], subjects: Sequence[str]) -> int:
        every = dict.fromkeys((None, None if self.query is None else f"({self._rows()})"))
        return sum(
            max(self._counted(connection, column, names, rows) for rows in every)
            for column, names in self._named(ids, subjects)
        )

    @contextmanager
    def _deletion(self, *, chained: bool) -> Iterator[tuple[psycopg.Connection[Any], str]]:
        with self.connected() as connection:
            counted = self._has_statistics(connection)
            connection.rollback()
            if chained or not counted:  # two counts of one view compare only within one snapshot
                connection.isolation_level = library().IsolationLevel.REPEATABLE_READ
            yield connection, _now(connection) if chained else ""

    def _has_statistics(self, connection: psycopg.Connection[Any]) -> bool:
        """Return whether the server counts the rows that a transaction writes here; of views it does not."""
        query = "SELECT relkind IN ('r', 'p') FROM pg_class WHERE oid = $1::text::regclass"
        return bool(ask_one(connection, query, self._table_name))

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except library().Error as error:
            if not is_row_error(error):
                raise
            raise InvalidRequest(
                f"the source refuses the deletion ({format_error(error)}); nothing was changed"
            ) from None

    def _delete_rows(
        self, connection: psycopg.Connection[Any], named: Iterable[tuple[str, Sequence[str]]]
    ) -> list[str]:
        gone: list[str] = []
        for column, names in named:
            there = self._having(connection, column, names)
            hidden = len(there) < len(names) and self._is_secured_by_row(connection)
            self._check_there(column, names, there, _BY_ROW_SECURITY if hidden else "")
            among, given = self._among(connection, column, names)
            these = f"FROM {self._table_name} WHERE {among}"
            gone += [
                str(name)
                for (name,) in ask_all(connection, f"SELECT {quote_identifier(self.id)}::text {these}", *given)
            ]
            connection.execute(library().sql.SQL(f"DELETE {these}"), given)
        connection.execute("SET CONSTRAINTS ALL IMMEDIATE")  # run what is deferred to the commit
        return gone

    def _rows_taken(self, connection: psycopg.Connection[Any]) -> int:
        if not self._has_statistics(connection):
            return -int(ask_one(connection, f"SELECT count(*) FROM {self._table_name}"))
        if connection.execute("SHOW track_counts").fetchone() != ("on",):
            raise InvalidRequest(
                f"{self.address}: track_counts is off there, so nothing shows how many rows a deletion takes; nothing was changed. Set it on for this role"
            )
        query = (
            f"{PARTS.format(table=literal(self._table_name))} SELECT sum(pg_stat_get_xact_tuples_deleted(part) - "
            "pg_stat_get_xact_tuples_inserted(part))::bigint FROM parts"
        )
        return int(ask_one(connection, query))

    def _leave_mark(self, connection: psycopg.Connection[Any]) -> tuple[str, str]:
        left = session.leave(connection)
        number = str(ask_one(connection, "SELECT pg_current_xact_id()::text"))
        return number if left is None else f"{number}:{left}", f"transaction:{number}"

    def _state_to_come(self, connection: psycopg.Connection[Any], position: str, mark: str, deleted: int) -> str | None:
        number, _, left = mark.partition(":")
        stamp = session.stamp_mark(connection, left)
        alone = trigger.own(connection, self._table_name) == EditCounts(deleted=deleted)
        seen = extend_position(position, int(number))
        return f"{stamp} {seen} {self._definition(connection)}" if None not in (stamp, seen) and alone else None

    def _keys_having(self, connection: psycopg.Connection[Any], column: str, names: Sequence[str]) -> list[str]:
        key, (among, given) = quote_identifier(self._key), self._among(connection, column, names)
        query = f"SELECT DISTINCT {self._name_of(key)} FROM {self._table_name} WHERE {among} AND {key} IS NOT NULL"
        return [found for (found,) in ask_all(connection, query, *given)]

    def trace(self, mark: str) -> str | None:
        return mark.partition(":")[2] or None

    def find_commit(self, mark: str) -> str | None:
        number, _, left = mark.partition(":")
        if not number.isdecimal():
            raise SourceError(f"{self.address}: not the mark of a transaction; restore the store from a backup")
        until = time.monotonic() + _PATIENCE
        while True:
            with self.connected() as connection:
                status = ask_one(connection, f"SELECT pg_xact_status({number}::text::xid8)")
                if status == "committed":
                    if left and not session.is_snapshot_complete(connection, (left,)):
                        raise restored_error(self.address)
                    return f"transaction:{number}"
            if status == "aborted":
                return None
            if status is None or time.monotonic() > until:
                why = "no longer known" if status is None else "still under way"
                raise SourceError(
                    f"{self.address}: transaction {number}, a deletion that was interrupted, is {why} there. End its session there and "
                    "try again; if the server has forgotten it, look whether the rows are gone, remove the store's journal/request.json, "
                    "and delete again or publish with the number of rows erased"
                )
            time.sleep(0.1)

    def watch(self, columns: Sequence[str], since: str | None, definition: str | None = None) -> EditCounts | None:
        """Start counting; if the count is complete, fold the counts that a release has covered."""
        table, found, whole, covered = self._watched(), None, True, since
        try:
            with self._moment() as (connection, now):
                why = why_uncounted(connection, table)
                if why is not None:
                    raise InvalidParameter(f"{self.address}: {table} cannot be counted: {why}; leave it unwatched")
                covered = now if since is None else since
                whole = trigger.has_all_parts(connection, table)
                found = self._changed(connection, covered, now, columns, definition)
        except CountBroken:
            whole = False
        with self.connected() as connection:
            if whole and covered is not None and trigger.is_there(connection, table):
                with (
                    suppress(library().errors.InsufficientPrivilege),
                    connection.transaction(),
                ):  # a reader may lack the right
                    trigger.fold(connection, table, covered)
            else:
                trigger.execute_statements(connection, trigger.install_statements(table))
        return found

    def unwatch(self) -> None:
        """Stop counting."""
        table = self._watched()
        with self.connected() as connection:
            if trigger.is_there(connection, table):
                trigger.execute_statements(connection, trigger.remove_statements(table))

    def watching(self) -> str:
        """Return the statements of `watch`, for a role that may run them."""
        reader = library().conninfo.conninfo_to_dict(self.address).get("user")
        lines = trigger.install_statements(self._watched(), str(reader) if reader else None)
        return "".join(f"{line};\n" for line in ("BEGIN", *lines, "COMMIT"))

    def _watched(self) -> str:
        if self.table is None:
            raise InvalidParameter(
                f"{self.address}: a trigger counts what is written to a table, and the store names none"
            )
        return self._table_name


def _steps(connection: psycopg.Connection[Any], rows: str) -> Iterator[dict[str, Any]]:
    """Yield the nodes of the plan by which a server reads rows, with views and rules resolved."""
    plans = ask_one(connection, f"EXPLAIN (VERBOSE, FORMAT JSON, COSTS OFF) {rows}")
    left = [found["Plan"] for found in (json.loads(plans) if isinstance(plans, str) else plans)]
    while left:
        step = left.pop()
        left += step.get("Plans", [])
        yield step


def _relation(step: dict[str, Any]) -> str | None:
    """Return the table that a plan node reads, with its schema, or the name of the common table expression."""
    if "Relation Name" in step:
        return f"{quote_identifier(step['Schema'])}.{quote_identifier(step['Relation Name'])}"
    return str(step["CTE Name"]).replace(".", " ") if step["Node Type"] == "CTE Scan" else None


def _now(connection: psycopg.Connection[Any]) -> str:
    return f"snapshot:{ask_one(connection, 'SELECT pg_current_snapshot()::text')}"

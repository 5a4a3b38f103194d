"""Sessions with PostgreSQL: the server messages that may be shown, the errors that refuse a deletion, and marks.

A deletion leaves one of these in the database, so that a later snapshot shows that it has the same history:

    a random mark      written in the transaction of the deletion to a table of this program (one column, no time or id)
    cluster:7391:1     if the role may not write a mark: the system identifier of the server and its timeline

A restored backup, a replica promoted before it was up to date, or another server at the same address lacks the mark,
however many transactions it has seen since. Identifier and timeline detect another server and a promoted replica. They
miss a backup of the same server restored without point-in-time recovery: until its transaction counter has caught up,
positions detect that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from noisygd_delete.errors import MissingDependency

if TYPE_CHECKING:
    import psycopg

# error classes of one statement about some rows, whose messages may quote a row
_OF_ROWS = ("09", "22", "23", "27", "38", "39", "44", "P0")
# error classes whose messages contain names, rights and times only
_NAMING = ("08", "28", "3D", "3F", "40", "42", "53", "55", "57", "58")


def library() -> Any:
    """Return the module psycopg; raise `MissingDependency` if it is not installed."""
    try:
        import psycopg
    except ImportError as error:
        raise MissingDependency("rows in PostgreSQL need psycopg: pip install 'noisygd-delete[postgres]'") from error
    return psycopg


def format_error(error: Any) -> str:
    """Return the name and code of a server error, and its message if that contains names, rights or times only."""
    if not error.sqlstate:
        return f"{type(error).__name__}; is the server there?"
    words = error.diag.message_primary if error.sqlstate[:2] in _NAMING else None
    return f"{type(error).__name__}, SQLSTATE {error.sqlstate}" + (f": {words}" if words else "")


def is_row_error(error: Any) -> bool:
    """Return whether an error is about the rows of one statement: a constraint, a trigger, a value.

    Another request may succeed.
    """
    return bool(error.sqlstate) and error.sqlstate[:2] in _OF_ROWS


def ask_all(connection: psycopg.Connection[Any], query: str, *values: Any) -> list[tuple[Any, ...]]:
    """Return the result of a statement that consists of quoted names, or of the operator's query."""
    from psycopg import sql

    return connection.execute(sql.SQL(query), values or None).fetchall()


def ask(connection: psycopg.Connection[Any], query: str, *values: Any) -> Any:
    """Return the first row of the result as a tuple, or None."""
    return next(iter(ask_all(connection, query, *values)), None)


def ask_one(connection: psycopg.Connection[Any], query: str, *values: Any) -> Any:
    """Return the first value of the first row, or None."""
    found = ask(connection, query, *values)
    return None if found is None else found[0]


def filter_canonical(connection: psycopg.Connection[Any], kind: str, names: Sequence[str]) -> dict[str, str]:
    """Return the names that are written as a column of this type writes its values, with the text that it compares by.

    A UUID may be in letters of either case. A name that the type cannot represent is left out, and so is another way of
    writing a value (017, " 17").
    """
    psycopg = library()
    same = f'name::{kind}::text COLLATE "C" = ' + ("lower(name)" if kind == "uuid" else "name")
    same += f" OR format('%s', name::{kind}) COLLATE \"C\" = name"  # as displayed, which differs for network addresses
    try:
        with connection.transaction():
            query = f"SELECT name, name::{kind}::text FROM unnest($1::text[]) AS given(name) WHERE {same}"
            return dict(ask_all(connection, query, list(names)))
    except (
        psycopg.DataError,
        psycopg.IntegrityError,
        UnicodeError,
    ):  # the last: not a text; the one before: a domain constraint
        if len(names) == 1:
            return {}
        half = len(names) // 2
        return filter_canonical(connection, kind, names[:half]) | filter_canonical(connection, kind, names[half:])


MAKING = (
    "CREATE SCHEMA IF NOT EXISTS noisygd_delete",
    "CREATE TABLE IF NOT EXISTS noisygd_delete.marks (mark text PRIMARY KEY)",
)
_CLUSTER = "cluster:"


def leave(connection: psycopg.Connection[Any]) -> str | None:
    """Leave a mark in the current transaction; return what later snapshots must show.

    None if the role can neither write a mark nor read the identity of the server.
    """
    psycopg, mark = library(), uuid4().hex
    try:
        with connection.transaction():
            if not _is_there(connection):
                for statement in MAKING:
                    connection.execute(statement)
            connection.execute("INSERT INTO noisygd_delete.marks VALUES ($1)", [mark])
        return mark
    except (
        psycopg.errors.InsufficientPrivilege,
        psycopg.errors.ReadOnlySqlTransaction,
        psycopg.errors.UniqueViolation,
        psycopg.errors.DuplicateTable,
    ):
        return _cluster(connection)


def is_snapshot_complete(connection: psycopg.Connection[Any], marks: tuple[str, ...]) -> bool:
    """Return whether the snapshot of this connection shows all of the marks."""
    own = [mark for mark in marks if not mark.startswith(_CLUSTER)]
    if own:
        query = "SELECT count(*) FROM noisygd_delete.marks WHERE mark = ANY($1::text[])"
        if not _is_there(connection) or ask_one(connection, query, own) < len(set(own)):
            return False
    return len(own) == len(marks) or all(mark in (*own, _cluster(connection)) for mark in marks)


def stamp_mark(connection: psycopg.Connection[Any], mark: str | None) -> str | None:
    """Return a mark with the number of the transaction that wrote it; None if the mark is missing.

    A table restored from a dump has it with another number, and its history counts from there.
    """
    query = "SELECT mark || ':' || xmin::text FROM noisygd_delete.marks WHERE mark = $1::text"
    return ask_one(connection, query, mark) if mark is not None and _is_there(connection) else None


def _is_there(connection: psycopg.Connection[Any]) -> bool:
    return ask_one(connection, "SELECT to_regclass('noisygd_delete.marks')") is not None


def _cluster(connection: psycopg.Connection[Any]) -> str | None:
    """Return system identifier and timeline; for a standby, the timeline of its last checkpoint."""
    psycopg = library()
    timeline = (
        "CASE WHEN pg_is_in_recovery() THEN (SELECT timeline_id FROM pg_control_checkpoint()) "
        "ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint END"
    )
    try:
        with connection.transaction():
            return str(
                ask_one(
                    connection, f"SELECT 'cluster:' || system_identifier || ':' || {timeline} FROM pg_control_system()"
                )
            )
    except psycopg.errors.InsufficientPrivilege:
        return None

"""Sessions with PostgreSQL: which of its words are told, and what of a deletion it refuses for good.

What a deletion in PostgreSQL leaves there, so that a later snapshot shows that it is still of the same history.

    a random mark, written in the transaction of the deletion itself to a table of this program (one column, no time, no id)
    cluster:7391:1   where the role may not write one: the system identifier of the server and its timeline

A backup that was put back, a copy that took over before it was up to date, or another server at the same address lacks the mark, however
many transactions it has seen since. Identifier and timeline notice another server and a copy that took over. They miss a backup of the same server that was
put back as it was, without recovery to a point in time: until the counter of its transactions has passed, positions notice that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ...errors import MissingDependency

if TYPE_CHECKING:
    import psycopg

# classes of errors of one statement about some rows; whose words may quote one
_OF_ROWS = ("09", "22", "23", "27", "38", "39", "44", "P0")
# whose words are about names, rights and time alone
_NAMING = ("08", "28", "3D", "3F", "40", "42", "53", "55", "57", "58")


def library() -> Any:
    try:
        import psycopg
    except ImportError as error:
        raise MissingDependency("rows in PostgreSQL need psycopg: pip install 'noisygd-delete[postgres]'") from error
    return psycopg


def format_error(error: Any) -> str:
    """An error of the server by its name and code; in its words where they are about names, rights or time."""
    if not error.sqlstate:
        return f"{type(error).__name__}; is the server there?"
    words = error.diag.message_primary if error.sqlstate[:2] in _NAMING else None
    return f"{type(error).__name__}, SQLSTATE {error.sqlstate}" + (f": {words}" if words else "")


def is_row_error(error: Any) -> bool:
    """Whether an error is about the rows of one statement: a constraint, a trigger, a value. Another request may fare better."""
    return bool(error.sqlstate) and error.sqlstate[:2] in _OF_ROWS


def ask_all(connection: psycopg.Connection[Any], asked: str, *values: Any) -> list[tuple[Any, ...]]:
    """The answer to a statement that was made here, of quoted names or by the operator."""
    from psycopg import sql

    return connection.execute(sql.SQL(asked), values or None).fetchall()


def ask(connection: psycopg.Connection[Any], asked: str, *values: Any) -> Any:
    """The first row of it, a tuple; None where there is none."""
    return next(iter(ask_all(connection, asked, *values)), None)


def ask_one(connection: psycopg.Connection[Any], asked: str, *values: Any) -> Any:
    """The first value of that row."""
    found = ask(connection, asked, *values)
    return None if found is None else found[0]


def filter_canonical(connection: psycopg.Connection[Any], kind: str, names: Sequence[str]) -> dict[str, str]:
    """Those of the names that are written as a column of this type writes its values, and the text that it compares by; a UUID in letters of either case.

    A name that the type cannot hold is none, and neither is another way of writing a value (017, " 17").
    """
    psycopg = library()
    same = f'name::{kind}::text COLLATE "C" = ' + ("lower(name)" if kind == "uuid" else "name")
    same += f" OR format('%s', name::{kind}) COLLATE \"C\" = name"  # as it is shown, which of an address in a network differs
    try:
        with connection.transaction():
            asked = f"SELECT name, name::{kind}::text FROM unnest($1::text[]) AS given(name) WHERE {same}"
            return dict(ask_all(connection, asked, list(names)))
    except (
        psycopg.DataError,
        psycopg.IntegrityError,
        UnicodeError,
    ):  # the last: no text; the one before: a domain's rule
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
    """Leave a mark in the transaction that is under way; what later snapshots are to show. None: not even the server tells who it is."""
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
    """Whether the snapshot of this connection shows all of them."""
    own = [mark for mark in marks if not mark.startswith(_CLUSTER)]
    if own:
        asked = "SELECT count(*) FROM noisygd_delete.marks WHERE mark = ANY($1::text[])"
        if not _is_there(connection) or ask_one(connection, asked, own) < len(set(own)):
            return False
    return len(own) == len(marks) or all(mark in (*own, _cluster(connection)) for mark in marks)


def stamp_mark(connection: psycopg.Connection[Any], mark: str | None) -> str | None:
    """A mark with the number of the transaction that wrote it: a table that was restored from a dump has it by another one, and counts from there. None:
    it is not there."""
    asked = "SELECT mark || ':' || xmin::text FROM noisygd_delete.marks WHERE mark = $1::text"
    return ask_one(connection, asked, mark) if mark is not None and _is_there(connection) else None


def _is_there(connection: psycopg.Connection[Any]) -> bool:
    return ask_one(connection, "SELECT to_regclass('noisygd_delete.marks')") is not None


def _cluster(connection: psycopg.Connection[Any]) -> str | None:
    """Identifier and timeline; of a copy that is still following, the timeline of its last checkpoint."""
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

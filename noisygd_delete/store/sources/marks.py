"""What a deletion in PostgreSQL leaves there, so that a later snapshot shows that it is still of the same history.

    a random mark, written in the transaction of the deletion itself to a table of this program (one column, no time, no id)
    cluster:7391:1   where the role may not write one: the system identifier of the server and its timeline

A backup that was put back, a copy that took over before it was up to date, or another server at the same address lacks the mark, however
many transactions it has seen since. Identifier and timeline notice another server and a copy that took over. They miss a backup of the same server that was
put back as it was, without recovery to a point in time: until the counter of its transactions has passed, positions notice that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from .session import ask_one, library

if TYPE_CHECKING:
    import psycopg

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
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.UniqueViolation, psycopg.errors.DuplicateTable):
        return _cluster(connection)


def shown(connection: psycopg.Connection[Any], marks: tuple[str, ...]) -> bool:
    """Whether the snapshot of this connection shows all of them."""
    own = [mark for mark in marks if not mark.startswith(_CLUSTER)]
    if own:
        asked = "SELECT count(*) FROM noisygd_delete.marks WHERE mark = ANY($1::text[])"
        if not _is_there(connection) or ask_one(connection, asked, own) < len(set(own)):
            return False
    return len(own) == len(marks) or all(mark in (*own, _cluster(connection)) for mark in marks)


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

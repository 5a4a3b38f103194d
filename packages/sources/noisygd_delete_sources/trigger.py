"""Triggers in PostgreSQL that count what is written to a table: rows deleted, replaced, inserted; no content and no id.

Each partition, and each inheriting table, has its own triggers, because statement triggers fire only for the table that
a statement names. They are given the identifier of the watched table. A table that is a part of another one is not
watched, because statements can name the other one.

    noisygd_delete.watched   the table, the transaction since which it is counted, and its number of rows then
    noisygd_delete.changes   for each statement that wrote: its transaction, and the number of rows

A count between two releases is of the transactions that the second snapshot sees and the first does not, so nothing of
it is stored in the store. A trigger that was disabled for a while is detected at the next release: the present rows
must be those from the beginning plus what was counted since; and no more of them may have been written since the last
release than were counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from noisygd_delete.errors import CountBroken
from noisygd_delete.records import EditCounts

from .definition import PARTS
from .session import MAKING, ask
from .sql import literal, quote_identifier

if TYPE_CHECKING:
    import psycopg

_KINDS = {"deleted": ("DELETE", "OLD"), "replaced": ("UPDATE", "NEW"), "inserted": ("INSERT", "NEW")}
_TRIGGERS = ("noisygd_delete_emptied", *(f"noisygd_delete_{kind}" for kind in _KINDS))
_WRAP = 1 << 32  # a row stores 32 bits of a transaction number
_FIRST_NORMAL = 3  # smaller numbers mean frozen or special
# rows by the transaction that wrote them, and which of these a snapshot does not see
_WRITTEN = "(SELECT t.xmin::text::numeric AS x, pg_snapshot_xmax(pg_current_snapshot())::text::numeric AS m FROM {} AS t) AS kept"
_NEWER = f"x >= {_FIRST_NORMAL} AND NOT pg_visible_in_snapshot((m - mod(m - x, {_WRAP}))::text::xid8, {{}})"

_BODY = """
DECLARE
  n bigint;
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    EXECUTE format('SELECT count(*) FROM ONLY %s', TG_RELID::regclass) INTO n;
  ELSE
    SELECT count(*) INTO n FROM written;
  END IF;
  IF n > 0 THEN
    INSERT INTO noisygd_delete.changes (relation, deleted, replaced, inserted) VALUES (
      TG_ARGV[0]::oid,
      CASE WHEN TG_OP IN ('DELETE', 'TRUNCATE') THEN n ELSE 0 END,
      CASE WHEN TG_OP = 'UPDATE' THEN n ELSE 0 END,
      CASE WHEN TG_OP = 'INSERT' THEN n ELSE 0 END);
  END IF;
  RETURN NULL;
END """
# replaced only if it differs, so that watching a second table changes nothing about the first
_FUNCTION = f"""DO $making$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_proc WHERE oid = to_regproc('noisygd_delete.counted') AND prosrc = $body${_BODY}$body$) THEN
    CREATE OR REPLACE FUNCTION noisygd_delete.counted() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body${_BODY}$body$;
  END IF;
END $making$"""
_TABLES = (
    "CREATE SCHEMA IF NOT EXISTS noisygd_delete",
    "CREATE TABLE IF NOT EXISTS noisygd_delete.watched (relation regclass PRIMARY KEY, "
    "since xid8 NOT NULL DEFAULT pg_current_xact_id(), rows_then bigint NOT NULL)",
    "CREATE TABLE IF NOT EXISTS noisygd_delete.changes (relation regclass NOT NULL, "
    "xid xid8 NOT NULL DEFAULT pg_current_xact_id(), deleted bigint NOT NULL, replaced bigint NOT NULL, inserted bigint NOT NULL)",
)


def install_statements(table: str, reader: str | None = None) -> list[str]:
    """Return the statements that start counting, or restart it, in one transaction of the table's owner.

    Args:
        table: The table.
        reader: The role that trains, if that is another one.
    """
    statements = [*_TABLES, _FUNCTION, f"LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE", *remove_statements(table)]
    counted = "FOR EACH STATEMENT EXECUTE FUNCTION noisygd_delete.counted(%2$L)"
    made = [
        f"CREATE TRIGGER noisygd_delete_{kind} AFTER {operation} ON %1$s REFERENCING {rows} TABLE AS written {counted}"
        for kind, (operation, rows) in _KINDS.items()
    ]
    made.append(f"CREATE TRIGGER noisygd_delete_emptied BEFORE TRUNCATE ON %1$s {counted}")
    # ALWAYS: also in a session that applies replicated changes
    made += [f"ALTER TABLE %1$s ENABLE ALWAYS TRIGGER {trigger}" for trigger in _TRIGGERS]
    statements.append(_at_each_part(table, made))
    statements.append(
        f"INSERT INTO noisygd_delete.watched (relation, rows_then) SELECT {_regclass(table)}, count(*) FROM {table}"
    )
    if reader is not None:
        role = quote_identifier(reader)
        statements += [
            f"GRANT USAGE ON SCHEMA noisygd_delete TO {role}",
            f"GRANT SELECT ON noisygd_delete.watched, noisygd_delete.changes TO {role}",
            MAKING[1],
            f"GRANT SELECT, INSERT ON noisygd_delete.marks TO {role}",
        ]
    return statements


def remove_statements(table: str) -> list[str]:
    """Return the statements that stop counting; they fail if nothing was ever counted."""
    there = _regclass(table)
    return [
        _at_each_part(table, [f"DROP TRIGGER IF EXISTS {trigger} ON %1$s" for trigger in _TRIGGERS]),
        f"DELETE FROM noisygd_delete.changes WHERE relation = {there}",
        f"DELETE FROM noisygd_delete.watched WHERE relation = {there}",
    ]


def _at_each_part(table: str, statements: list[str]) -> str:
    """Return one statement that runs these for a table and each of its parts, %1$s, with the table's id, %2$L."""
    lines = "".join(f"\n    EXECUTE format({literal(one)}, place, {_regclass(table)}::oid);" for one in statements)
    parts = f"{PARTS.format(table=literal(table))} SELECT parts.part::regclass FROM parts"
    return f"DO $parts$ DECLARE place regclass;\nBEGIN\n  FOR place IN {parts} LOOP{lines}\n  END LOOP;\nEND $parts$"


def is_there(connection: psycopg.Connection[Any], table: str) -> bool:
    """Return whether counting was started for this table, complete or not."""
    if ask(connection, "SELECT to_regclass('noisygd_delete.watched')") == (None,):
        return False
    return ask(connection, f"SELECT 1 FROM noisygd_delete.watched WHERE relation = {_regclass(table)}") is not None


def fold(connection: psycopg.Connection[Any], table: str, covered: str) -> None:
    """Merge the counts that this snapshot sees into one number; changes before that are then reported as unknown."""
    there = _regclass(table)
    folded = (
        "WITH folded AS (DELETE FROM noisygd_delete.changes "
        f"WHERE relation = {there} AND pg_visible_in_snapshot(xid, {_snapshot(covered)}) RETURNING xid, inserted, deleted) "
        "UPDATE noisygd_delete.watched SET rows_then = rows_then + (SELECT coalesce(sum(inserted - deleted), 0) FROM folded), "
        "since = coalesce((SELECT xid FROM folded WHERE xid > watched.since ORDER BY xid DESC LIMIT 1), since) "
        f"WHERE relation = {there}"
    )
    execute_statements(connection, [folded])


def has_all_parts(connection: psycopg.Connection[Any], table: str) -> bool:
    """Return whether every partition has triggers; one created or attached after `watch` has none."""
    query = f"{PARTS.format(table=literal(table))} SELECT bool_and(EXISTS (SELECT FROM {_own_triggers(table)} AND tgrelid = part)) FROM parts"
    return bool(ask(connection, query)[0])


def count_changes(connection: psycopg.Connection[Any], address: str, table: str, since: str) -> EditCounts | None:
    """Return what was written between this position and the connection's snapshot.

    None unless all of that time was counted, at each part.

    Raises:
        CountBroken: If something was written that was not counted.
    """
    if not since.startswith("snapshot:") or not is_there(connection, table):
        return None
    there, before = _regclass(table), _snapshot(since)
    began, covers, switched_off = ask(
        connection,
        f"{PARTS.format(table=literal(table))} SELECT rows_then, pg_visible_in_snapshot(since, {before}), EXISTS (SELECT FROM parts WHERE "
        f"(SELECT count(*) FROM {_own_triggers(table)} AND tgrelid = part) NOT IN (0, {len(_TRIGGERS)}) OR part = relation AND NOT EXISTS "
        f"(SELECT FROM {_own_triggers(table)} AND tgrelid = part)) FROM noisygd_delete.watched WHERE relation = {there}",
    )
    if not switched_off and not has_all_parts(connection, table):
        return None
    *numbers, balance = ask(
        connection,
        f"SELECT {', '.join(f'coalesce(sum({kind}) FILTER (WHERE later), 0)::bigint' for kind in _KINDS)}, "
        f"coalesce(sum(inserted - deleted), 0)::bigint FROM (SELECT *, NOT pg_visible_in_snapshot(xid, {before}) AS later "
        f"FROM noisygd_delete.changes WHERE relation = {there}) AS counts",
    )
    found = EditCounts(**dict(zip(_KINDS, numbers, strict=True)))
    rows, written = ask(
        connection,
        f"SELECT count(*), count(*) FILTER (WHERE {_NEWER.format(before)}) FROM {_WRITTEN.format(table)}",
    )
    if switched_off:
        raise _count_error(address, "its triggers are switched off or gone")
    if rows != began + balance:
        raise _count_error(address, f"{abs(rows - began - balance)} rows came or went uncounted")
    if not covers:
        return None
    if written > found.inserted + found.replaced:
        raise _count_error(address, f"{written - found.inserted - found.replaced} rows were written uncounted")
    return found


def own(connection: psycopg.Connection[Any], table: str) -> EditCounts | None:
    """Return what the current transaction has written; None if it is not counted."""
    if not is_there(connection, table):
        return None
    sums = ", ".join(f"coalesce(sum({kind}), 0)::bigint" for kind in _KINDS)
    query = (
        f"SELECT {sums} FROM noisygd_delete.changes WHERE relation = {_regclass(table)} AND xid = pg_current_xact_id()"
    )
    return EditCounts(**dict(zip(_KINDS, ask(connection, query), strict=True)))


def _count_error(address: str, why: str) -> CountBroken:
    return CountBroken(
        f"{address}: the count of changes is not complete: {why}. Nothing was published. Find out who writes there past the trigger, "
        "then `watch` counts anew; the next release says that what changed before it was not counted"
    )


def _own_triggers(table: str) -> str:
    """Return SQL for the enabled triggers that count for this table, on whichever part."""
    of_it = f"tgargs = convert_to({_regclass(table)}::oid::text, 'SQL_ASCII') || '\\x00'::bytea"
    return f"pg_trigger WHERE tgname IN ({', '.join(map(literal, _TRIGGERS))}) AND tgenabled = 'A' AND {of_it}"


def _regclass(table: str) -> str:
    return f"{literal(table)}::regclass"


def _snapshot(position: str) -> str:
    return f"{literal(position.partition(':')[2])}::pg_snapshot"


def execute_statements(connection: psycopg.Connection[Any], statements: list[str]) -> None:
    """Run these statements in the current transaction, all or none."""
    from psycopg import sql

    connection.execute("SET LOCAL lock_timeout = '10s'")  # other writers must not wait for long
    for statement in statements:
        connection.execute(sql.SQL(statement))

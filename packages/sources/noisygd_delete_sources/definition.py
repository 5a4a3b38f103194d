"""The definition of a table's rows in PostgreSQL's catalogue: equal definitions mean that rows are read the same way.

A trigger counts rows that are written. Rows can also be read differently without a write: another table takes the name,
a column or a value of an enum is renamed, a partition is attached, a view or a policy is replaced, a trigger is
disabled for a while. Every such change makes a new version of a row of the catalogue, so a definition is the digest of
these rows' object identifiers and of the transactions that wrote them. Two equal definitions refer to the same
versions, regardless of how they were written: at top level, below a savepoint, or prepared and committed later.

The definition of a snapshot is that of the rows read in it only if the catalogue did not change until the last row was
read: statements use the newest catalogue, whatever snapshot they read rows with. So it is read again, in a newer
snapshot, after the last row.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .session import ask_all, ask_one
from .sql import literal

if TYPE_CHECKING:
    import psycopg

_FIRST_OF_USERS = 16_384  # smaller object identifiers are the server's own
PARTS = (  # a table, its partitions and the tables that inherit from it
    "WITH RECURSIVE parts(part) AS (SELECT {table}::regclass::oid UNION SELECT inhrelid FROM pg_inherits JOIN parts ON inhparent = part)"
)
# types of columns, and the types that domains, arrays, composites and ranges consist of
_KINDS = """, kinds(kind) AS (SELECT atttypid FROM pg_attribute WHERE attrelid IN (SELECT part FROM parts) AND atttypid <> 0
UNION SELECT inside FROM kinds JOIN pg_type AS t ON t.oid = kind CROSS JOIN LATERAL (
  SELECT t.typbasetype UNION ALL SELECT t.typelem
  UNION ALL SELECT atttypid FROM pg_attribute WHERE attrelid = t.typrelid AND t.typrelid <> 0
  UNION ALL SELECT unnest(ARRAY[rngtypid, rngsubtype]) FROM pg_range AS r WHERE t.oid IN (rngtypid, (to_jsonb(r)->>'rngmultitypid')::oid)
) AS within(inside) WHERE inside <> 0)"""
_OF_TABLE = (
    "'table', oid, relnamespace, relkind, relrowsecurity, relforcerowsecurity, relispartition FROM pg_class WHERE oid IN (SELECT part FROM parts)",
    "'schema', oid, xmin FROM pg_namespace WHERE oid IN (SELECT relnamespace FROM pg_class WHERE oid IN (SELECT part FROM parts))",
    "'column', attrelid, attnum, xmin FROM pg_attribute WHERE attnum > 0 AND attrelid IN "
    "(SELECT part FROM parts UNION SELECT typrelid FROM pg_type JOIN kinds ON oid = kind WHERE typrelid <> 0)",
    "'part', inhrelid, inhparent, xmin FROM pg_inherits WHERE inhrelid IN (SELECT part FROM parts)",
    "'type', oid, xmin FROM pg_type WHERE oid IN (SELECT kind FROM kinds)",
    "'word', oid, xmin FROM pg_enum WHERE enumtypid IN (SELECT kind FROM kinds)",
    "'range', rngtypid, xmin FROM pg_range WHERE rngtypid IN (SELECT kind FROM kinds)",
    "'cast', oid, xmin FROM pg_cast WHERE castsource IN (SELECT kind FROM kinds)",
    "'output', oid, xmin FROM pg_proc WHERE oid IN (SELECT typoutput::oid FROM pg_type JOIN kinds ON oid = kind)",
    "'collation', oid, xmin FROM pg_collation WHERE oid IN (SELECT attcollation FROM pg_attribute WHERE attrelid IN (SELECT part FROM parts))",
    "'rule', oid, xmin FROM pg_rewrite WHERE ev_class IN (SELECT part FROM parts)",
    "'policy', oid, xmin FROM pg_policy WHERE polrelid IN (SELECT part FROM parts)",
    "'trigger', oid, xmin FROM pg_trigger WHERE tgrelid IN (SELECT part FROM parts) AND tgname LIKE 'noisygd\\_delete\\_%'",
    "'counting', oid, xmin FROM pg_proc WHERE oid = to_regproc('noisygd_delete.counted')",
)
# for a query: every view, and every user-defined object that it may use
_OF_QUERY = (
    "'path', current_schemas(true)",
    f"'rule', oid, xmin FROM pg_rewrite WHERE oid >= {_FIRST_OF_USERS}",
    f"'view', oid, relname, relnamespace FROM pg_class WHERE oid IN (SELECT ev_class FROM pg_rewrite WHERE oid >= {_FIRST_OF_USERS})",
    f"'column', attrelid, attnum, xmin FROM pg_attribute WHERE attrelid IN (SELECT ev_class FROM pg_rewrite WHERE oid >= {_FIRST_OF_USERS})",
    f"'function', oid, xmin FROM pg_proc WHERE oid >= {_FIRST_OF_USERS}",
    f"'operator', oid, xmin FROM pg_operator WHERE oid >= {_FIRST_OF_USERS}",
    "'word', oid, xmin FROM pg_enum",
)
_UNSEEN = {  # ways to write rows without firing the statement triggers, or to read them differently without a write
    "it is read from a standby": "pg_is_in_recovery()",
    "it is a partition of another table, or inherits from one": "EXISTS (SELECT FROM pg_inherits WHERE inhrelid = {table}::regclass)",
    "a subscription writes to it": "EXISTS (SELECT FROM pg_subscription_rel WHERE srrelid IN (SELECT part FROM parts))",
    "a column is computed as it is read": (
        "EXISTS (SELECT FROM pg_attribute WHERE attgenerated = 'v' AND attrelid IN (SELECT part FROM parts))"
    ),
}
_BY_THE_MOMENT = re.compile(  # functions and keywords that depend on the clock, the session, chance or other tables
    r"\b(now|statement_timestamp|transaction_timestamp|clock_timestamp|timeofday|age|random\w*|gen_random_uuid|nextval|currval|lastval|setval|"
    r"current_setting|pg_\w+|txid_\w+|inet_\w+|has_\w+_privilege|row_security_active|\w+_to_xml\w*)\(|"
    r"\b(CURRENT_(DATE|TIME|TIMESTAMP|USER|ROLE|SCHEMA|CATALOG)|SESSION_USER|LOCALTIME|LOCALTIMESTAMP)\b"
)


def read_definition(connection: psycopg.Connection[Any], table: str, *, of_query: bool) -> str:
    """Return the definition of the rows of a table, in the connection's snapshot.

    Args:
        connection: The connection.
        table: Its name as an SQL identifier; its object identifier is part of the definition.
        of_query: Whether the rows are those of a query over it, and not of the table alone.
    """
    chosen = (*_OF_TABLE, *(_OF_QUERY if of_query else ()))
    rows = (
        f"SELECT concat_ws(' ', {facts}){of}{where}" for facts, of, where in (one.partition(" FROM ") for one in chosen)
    )
    query = f"{PARTS.format(table=literal(table))}{_KINDS} {' UNION ALL '.join(rows)}"
    lines = sorted(line for (line,) in ask_all(connection, query))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def why_uncounted(connection: psycopg.Connection[Any], table: str) -> str | None:
    """Return why triggers cannot show that rows of this table are unchanged; None if they can."""
    named = literal(table)
    query = ", ".join(way.format(table=named) for way in _UNSEEN.values())
    found = ask_all(connection, f"{PARTS.format(table=named)} SELECT {query}")[0]
    return next((why for why, applies in zip(_UNSEEN, found, strict=True) if applies), None)


def is_read_alone(connection: psycopg.Connection[Any], table: str, steps: Iterable[dict[str, Any]]) -> bool:
    """Return whether a plan reads rows of this table only, and selects and computes them by their own cells."""
    every = list(steps)
    read = [f"{step['Schema']}.{step['Relation Name']}" for step in every if "Relation Name" in step]
    others = (
        f"{PARTS.format(table=literal(table))} SELECT count(*) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace "
        "WHERE nspname || '.' || relname = ANY($1::text[]) AND c.oid NOT IN (SELECT part FROM parts)"
    )
    if any(step["Node Type"] in ("CTE Scan", "Function Scan") for step in every) or ask_one(connection, others, read):
        return False
    own = f"SELECT proname FROM pg_proc WHERE oid >= {_FIRST_OF_USERS} AND provolatile <> 'i'"
    words = "\n".join(
        json.dumps(step.get(part)) for step in every for part in step if part not in ("Plans", "Relation Name", "Alias")
    )
    names = {name for (name,) in ask_all(connection, own)}
    return not _BY_THE_MOMENT.search(words) and names.isdisjoint(re.findall(r"(\w+)\"*\\*\"*\(", words))

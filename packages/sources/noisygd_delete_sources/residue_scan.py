"""Search for residue at every address, by the method for its kind.

In PostgreSQL, the bytes of tables, indexes and statistics of one database, and of the server's write-ahead log, are
searched. They are read through the server, as its data files are stored: the role must be a superuser, or a member of
pg_read_server_files that may call CHECKPOINT (pg_checkpoint from version 15 on).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

from numpy.typing import NDArray

from noisygd_delete.errors import InvalidParameter
from noisygd_delete.evidence.facts import Verdicts
from noisygd_delete.store.byte_search import Needles
from noisygd_delete.store.entry import utc_now

from .mysql import MySQL
from .postgres import Postgres
from .residue_files import published_of, scan_files, source_of
from .residue_report import Place, Residue, not_covered, verdict
from .residue_vectors import encode_vectors
from .session import format_error, library

_OF_MYSQL = "tables, tablespaces, undo, redo and binary logs, query logs, replicas and backups"
_BY_ITS_MEANS = (
    "ask the server itself: count the ids in its tables, let binary logs expire (binlog_expire_logs_seconds), rebuild the table (OPTIMIZE TABLE), "
    "and look at replicas and backups"
)
_VECTORS = (
    "a server cuts long values into pieces, so that a vector need not be found in its bytes: query for its rows, and look through their ids "
    "with --tokens"
)


def residue(tokens: Sequence[str], *addresses: str, vectors: NDArray[Any] | None = None) -> Residue:
    """Search for the texts and vectors at every address.

    Args:
        tokens: The texts.
        *addresses: `postgresql://...`, `mysql://...` (only reported as not covered), a Delta table, a store (with the
            source that its ledger names, and the local locations that it publishes to), any other folder or file.
        vectors: Embedding vectors of shape (vectors, dimension), searched for in files as float16, float32 and
            float64. The report counts them among the texts.

    Raises:
        InvalidParameter: If there are neither texts nor vectors, a vector identifies nobody, or an address does not
            exist.
        SourceError: If a database does not answer.
    """
    looked_at = utc_now()
    needles = Needles(tokens, () if vectors is None else encode_vectors(vectors))
    places, left, seen = list[Place](), list(addresses), set[str]()
    if not addresses:
        raise InvalidParameter(
            "say where to look: postgresql://HOST/DATABASE, a Delta table, a store, a folder or a file"
        )
    while left:
        address = left.pop(0)
        if address in seen:
            continue
        seen.add(address)
        if MySQL.recognises(address):
            server = urlsplit(address)
            places.append(not_covered(f"{server.scheme}://{server.hostname}{server.path}: {_OF_MYSQL}", _BY_ITS_MEANS))
            continue
        if "://" in address:
            places += scan_postgres(address, needles)
            if vectors is not None:
                server = urlsplit(address)
                places.append(not_covered(f"{server.scheme}://{server.hostname}{server.path}: vectors", _VECTORS))
            continue
        places += scan_files(address, needles)
        source = source_of(address)
        published, uncovered = published_of(address)
        left += [*([] if source is None else [source]), *published]
        places += uncovered
    return Residue(len(needles), tuple(places), looked_at)


_PIECE = 1 << 22
_SEGMENT = 1 << 30  # bytes; segment size of a relation
_RELATIONS = (
    "SELECT c.oid::bigint, c.relkind::text, format('%I.%I', n.nspname, c.relname), pg_relation_filepath(c.oid), pg_relation_size(c.oid) "
    "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
    "WHERE c.relkind IN ('r', 'i', 't', 'm') AND pg_relation_filepath(c.oid) IS NOT NULL "
    "AND (n.nspname NOT IN ('pg_catalog', 'information_schema') OR c.relname IN ('pg_statistic', 'pg_statistic_ext_data')) "
    "AND c.relpersistence <> 't' ORDER BY 3"
)
_REWRITE = (
    "if a query still finds it, delete it there; then VACUUM FULL the table: it writes the table and its indexes anew"
)
_STATISTICS = "ANALYZE the table it came from, then VACUUM FULL pg_statistic"
_LOG = (
    "after the tables are clean: wal_recycle = off, pg_switch_wal() and CHECKPOINT until the old segments are gone; a recycled segment "
    "keeps its bytes until it is written over"
)
_WHO = "look again as a superuser, or as a member of pg_read_server_files who may CHECKPOINT"
_BESIDE = (
    ("archive_mode", "off", "the archive of its log", "let the archive expire, or look through it as a folder"),
    (
        "wal_compression",
        "off",
        "page images in its log, which are compressed",
        "switch wal_compression off, and let the log turn over",
    ),
    ("logging_collector", "off", "the server's own log files", "look through log_directory as a folder"),
)


def scan_postgres(address: str, needles: Needles) -> list[Place]:
    """Return the places of one database and of its server."""
    source = Postgres(address, id="-", table="-")
    with source.connected() as connection:
        connection.autocommit = True
        try:
            connection.execute("CHECKPOINT")  # otherwise content only in memory would be missed
            relations = connection.execute(_RELATIONS).fetchall()
            places = _relations(address, connection, relations, needles)
            segments = connection.execute("SELECT 'pg_wal/' || name, size FROM pg_ls_waldir() ORDER BY name").fetchall()
            found = {token for name, size in segments for token in needles.among(_read_blocks(connection, name, size))}
            places.append(verdict(f"{address}, the write-ahead log: {len(segments)} segments", found, _LOG))
        except library().errors.InsufficientPrivilege as error:
            return [not_covered(f"{address} ({format_error(error)})", _WHO)]
        return [*places, *_other_server_places(address, connection)]


def _relations(address: str, connection: Any, relations: list[Any], needles: Needles) -> list[Place]:
    places, silent = [], 0
    for _, kind, name, path, size in relations:
        found = needles.among(_segments(connection, path, size)) | needles.among(_values(connection, kind, name))
        what = "index" if kind == "i" else "statistics" if "pg_statistic" in name else "table"
        if found:
            remedy = _STATISTICS if what == "statistics" else _REWRITE
            shown = "one whose name holds it" if needles.find_in([name]) else name
            places.append(verdict(f"{address}, {what} {shown}", found, remedy))
        else:
            silent += 1
    if silent or not places:
        places.append(Place(f"{address}: {silent} tables, indexes and statistics", Verdicts.ERASED))
    return places


def _values(connection: Any, kind: str, name: str) -> Iterator[bytes]:
    """Yield the values that a query returns, as text: numbers, and values that are stored compressed."""
    if kind not in ("r", "m"):
        return
    with connection.cursor() as cursor, cursor.copy(f"COPY (SELECT t::text FROM {name} AS t) TO STDOUT") as copy:
        for piece in copy:
            yield bytes(piece)


def _segments(connection: Any, path: str, size: int) -> Iterator[bytes]:
    """Yield the bytes of a relation, segment by segment."""
    for number in range(-(-size // _SEGMENT)):
        name = path if number == 0 else f"{path}.{number}"
        yield from _read_blocks(connection, name, min(_SEGMENT, size - number * _SEGMENT))


def _read_blocks(connection: Any, name: str, size: int) -> Iterator[bytes]:
    for offset in range(0, size, _PIECE):
        query = "SELECT pg_read_binary_file($1, $2, $3, true)"  # true: a segment may be removed meanwhile
        (piece,) = connection.execute(query, [name, offset, min(_PIECE, size - offset)]).fetchone()
        if piece is None:
            return
        yield bytes(piece)


def _other_server_places(address: str, connection: Any) -> list[Place]:
    """Return places for what a server keeps elsewhere."""
    places = []
    for setting, harmless, what, remedy in _BESIDE:
        (value,) = connection.execute("SELECT current_setting($1)", [setting]).fetchone()
        if value != harmless:
            places.append(not_covered(f"{address}, {what} ({setting} = {value})", remedy))
    (copies,) = connection.execute(
        "SELECT (SELECT count(*) FROM pg_stat_replication) + (SELECT count(*) FROM pg_replication_slots)"
    ).fetchone()
    if copies:
        places.append(not_covered(f"{address}, {copies} replicas or replication slots", "look at each of them as well"))
    places.append(
        not_covered(
            f"{address}: backups, erased numbers and long values that a table still keeps in binary or compressed form, other databases of the server",
            "name the folders of backups to look through them; VACUUM FULL writes tables anew without what was erased",
        )
    )
    return places

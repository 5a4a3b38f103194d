"""Every address in turn, each in the way that its kind asks for."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from ...errors import InvalidParameter
from ..entry import now
from .mysql import MySQL
from .residue_files import in_files, published_of, source_of
from .residue_postgres import in_postgres
from .verdicts import Needles, Place, Residue, not_covered

_OF_MYSQL = "tables, tablespaces, undo, redo and binary logs, query logs, replicas and backups"
_BY_ITS_MEANS = (
    "ask the server itself: count the ids in its tables, let binary logs expire (binlog_expire_logs_seconds), rebuild the table (OPTIMIZE TABLE), "
    "and look at replicas and backups"
)


def residue(tokens: Sequence[str], *addresses: str) -> Residue:
    """The texts looked for at every address: `postgresql://...`, `mysql://...` (only named as not covered), a Delta table, a store (with the source that its ledger names, and what it publishes to on this machine), any
    other folder or file.

    Raises:
        InvalidParameter: no texts, or an address that leads nowhere.
        SourceError: a database does not answer.
    """
    looked_at = now()
    needles, places, left, seen = Needles(tokens), list[Place](), list(addresses), set[str]()
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
            places += in_postgres(address, needles)
            continue
        places += in_files(address, needles)
        source = source_of(address)
        published, said = published_of(address)
        left += [*([] if source is None else [source]), *published]
        places += said
    return Residue(len(needles), tuple(places), looked_at)

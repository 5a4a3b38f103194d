"""Deletions by an application, from a file of Debezium events (one per line) or of outbox events.

    {"op": "d", "before": {"id": "4711", …}, "source": {"schema": "public", "table": "people", "txId": 734}}
    {"erased": 1, "request_id": "9f2c31", "position": "transaction:734", "ids": ["4711"]}

A Debezium event may be nested in "payload". Events are delivered at least once. Deletions of one transaction are one
request, named after it, so that repeated events are not counted again.

    >>> import pathlib, tempfile
    >>> from noisygd_delete_sources.events import parse_erased
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "events"
    >>> _ = path.write_text('{"erased": 1, "request_id": "9f2c31", "ids": ["4711"]}')
    >>> parse_erased(path, None, "id")
    [Erased(request_id='9f2c31', rows=1, position=None, ids=('4711',))]
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from noisygd_delete.errors import InvalidRequest, check_count
from noisygd_delete.records import limited_io
from noisygd_delete.store.position import check_position
from noisygd_delete.store.source_kinds import Erased

_MOST = 1_000_000  # events of one file


def parse_erased(path: str | Path, table: str | None, id: str) -> list[Erased]:
    """Return the deletions from this table in a file of events, in its order.

    Args:
        path: The file.
        table: The table; None for any.
        id: The column of ids.

    Raises:
        InvalidRequest: If a line is not an event, or does not give the number of deleted rows. No message quotes an
            event.
    """
    own: list[Erased] = []
    gone: dict[str, dict[str, None]] = {}  # per transaction: the ids of its rows, each once, since events are repeated
    with limited_io.open_plain(path, error=InvalidRequest) as file:
        for number, line in enumerate(limited_io.iterate_lines(file, error=InvalidRequest), start=1):
            if number > _MOST:
                raise InvalidRequest(f"{path}: over {_MOST} events; give them in several files")
            try:
                event = limited_io.parse_json(line or "null")
                event = event.get("payload", event) if isinstance(event, dict) else event
                if event is None:  # Kafka's tombstone of a key
                    continue
                if "erased" in event:
                    own.append(_event_to_erased(event))
                elif _of(event["source"], table):
                    _check_event(event, id, gone)
            except InvalidRequest as error:
                raise InvalidRequest(f"{path}, line {number}: {error}") from None
            except (ValueError, KeyError, TypeError, AttributeError):
                raise InvalidRequest(
                    f"{path}, line {number}: neither an event of Debezium (op, before, source with txId) nor one of an outbox (erased, request_id)"
                ) from None
    of_transactions = [
        Erased(f"{table or 'rows'}-transaction-{number}", len(ids), f"transaction:{number}", tuple(ids))
        for number, ids in gone.items()
    ]
    return own + of_transactions


def _event_to_erased(event: dict[str, Any]) -> Erased:
    position, ids = event.get("position"), event.get("ids", [])
    if not isinstance(event["request_id"], str) or not isinstance(ids, list):
        raise TypeError
    rows = check_count("erased", event["erased"])
    return Erased(
        event["request_id"], rows, None if position is None else check_position(position), tuple(map(str, ids))
    )


def _of(source: dict[str, Any], table: str | None) -> bool:
    """Return whether an event is about this table, named with or without its schema."""
    return table is None or table in (source["table"], f"{source.get('schema')}.{source['table']}")


def _check_event(event: dict[str, Any], id: str, gone: dict[str, dict[str, None]]) -> None:
    if event["op"] == "t":
        raise InvalidRequest("the table was emptied (TRUNCATE), which says no number of rows; publish with --force")
    if event["op"] != "d":
        return
    if id not in (event["before"] or {}):
        raise InvalidRequest(f"a deletion without the column {id!r}; set REPLICA IDENTITY so that events have it")
    number = event["source"]["txId"]
    if type(number) is not int or number < 0:
        raise TypeError
    gone.setdefault(str(number), {})[str(event["before"][id])] = None

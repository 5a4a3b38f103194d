"""`noisygd-delete insert`: put new records into free slots and publish a model with them."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from .arguments import store_command
from .statements import add_request_options


def register(commands: Any) -> None:
    parser = store_command(commands, "insert", "insert STORE --data new.csv", insert)
    parser.add_argument("--data", required=True, metavar="FILE", help="CSV or Parquet with the columns of the schema")
    add_request_options(parser)
    parser.takes += ("--delimiter",)


def insert(parsed: argparse.Namespace) -> int:
    from ..errors import InvalidRequest
    from ..records import EditRequest
    from .release import open_store, serve

    with open_store(parsed) as store:
        new = store.schema.encode_file(parsed.data, parsed.delimiter, readable=True)
        if new.dropped:
            raise InvalidRequest(
                f"{new.dropped} rows of {parsed.data} are beyond the first {store.schema.rows_per_subject} of their person, which is all that "
                "this table keeps; take them out. Nothing was changed"
            )
        request = EditRequest.insert(new.ids, new.rows, new.labels, subjects=new.subjects, request_id=parsed.request_id)
        for skipped in new.skipped:
            print(skipped, file=sys.stderr)
        return serve(parsed, store, request, clipped=new.clipped, unknown=new.unknown)

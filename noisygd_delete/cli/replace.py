"""`noisygd-delete replace`: put corrected content in place of records (rectification), and publish a model without what they held."""

from __future__ import annotations

import argparse
from typing import Any

from .arguments import store_command
from .statements import STATEMENTS, add_promises, add_request_options


def register(commands: Any) -> None:
    parser = store_command(commands, "replace", "replace STORE --data corrected.csv", correct)
    parser.add_argument(
        "--data",
        required=True,
        metavar="FILE",
        help="CSV or Parquet with the columns of the schema; every id is in use",
    )
    add_promises(parser)
    add_request_options(parser)
    parser.takes += ("--delimiter", *STATEMENTS)


def correct(parsed: argparse.Namespace) -> int:
    from dataclasses import replace

    from ..records import EditRequest
    from ..register import Rights
    from .release import open_store, serve

    with open_store(parsed) as store:
        schema = replace(store.schema, subject_column=None)  # a record stays its person's
        new = schema.encode_file(parsed.data, parsed.delimiter)
        rows = zip(new.ids or (), new.rows, new.labels, strict=True)
        request = EditRequest.replace({name: (row, label) for name, row, label in rows}, request_id=parsed.request_id)
        return serve(parsed, store, request, Rights.RECTIFICATION, clipped=new.clipped, unknown=new.unknown)

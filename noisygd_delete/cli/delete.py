"""`noisygd-delete delete`, `replace` and `insert`: erase records or persons, correct records, add new records."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from .arguments import store_command
from .statements import ERASURE, RECTIFICATION, STATEMENTS, add_promises, add_request_options, format_request_ids
from .terminal import print_error, print_result, standard_input

if TYPE_CHECKING:
    from ..features.schema import Encoded, Schema


def register(commands: Any) -> None:
    """Add the commands `delete`, `replace` and `insert` and their options to the parser."""
    parser = store_command(commands, "delete", "delete STORE 17 42 --request-id 9f2c", delete)
    parser.add_argument("ids", nargs="*", metavar="ID", help="records to erase")
    parser.add_argument("--subject", action="append", default=[], metavar="S", help="every record of this person")
    parser.add_argument("--file", metavar="FILE", help="ids to erase, one a line (- for standard input)")
    parser.add_argument("--subject-file", metavar="FILE", help="persons to erase, one a line (- for standard input)")
    parser.add_argument(
        "--reapply",
        action="store_true",
        help="erase again the ids in the list of --tombstones, after a restore from backup",
    )
    add_promises(parser)
    add_request_options(parser)
    parser.take(*STATEMENTS)
    parser = store_command(commands, "replace", "replace STORE --data corrected.csv", correct)
    parser.add_argument(
        "--data",
        required=True,
        metavar="FILE",
        help="CSV or Parquet with the columns of the schema; every id is in use",
    )
    add_promises(parser)
    add_request_options(parser)
    parser.take("--delimiter", *STATEMENTS)
    parser = store_command(commands, "insert", "insert STORE --data new.csv", insert)
    parser.add_argument("--data", required=True, metavar="FILE", help="CSV or Parquet with the columns of the schema")
    add_request_options(parser)
    parser.take("--delimiter")


def delete(parsed: argparse.Namespace) -> int:
    """Erase the given records and all records of the given persons, and return the exit status of `serve_request`.

    They come from IDs, --subject, --file, --subject-file and, with --reapply, the records on the list of erased ids
    that are in the table again. If --reapply leaves nothing to erase, print that and return 0. With persons, warn on
    standard error about restricted rows, which the erasure does not reach.
    """
    from ..records import EditRequest
    from .release import open_store, serve_request

    ids = parsed.ids + _read_id_lines(parsed.file)
    subjects = parsed.subject + _read_id_lines(parsed.subject_file)
    with open_store(parsed) as store:
        if parsed.reapply:
            ids = list(dict.fromkeys([*ids, *store.list_reappeared_ids()]))
            if not (ids or subjects):
                print_result(parsed, {"returned": 0}, "no record is on the list of erased ids; nothing was changed")
                return 0
        request = EditRequest.delete(ids, subjects=subjects, request_id=parsed.request_id)
        if subjects and (restricted := store.request_log.kept_aside()):
            print_error(
                f"noisygd-delete delete: this does not reach rows restricted (`restrict`, `object`) by {format_request_ids(restricted)}. Where one of them is of a person "
                "named here, `lift` it with --no-publish and delete once more, or destroy its file and key",
                0,
            )
        return serve_request(parsed, store, request, ERASURE)


def _read_id_lines(source: str | None) -> list[str]:
    """Return the lines of a file that are not blank, unstripped: an id may begin with a space.

    Args:
        source: Path of the file; "-" for standard input; None gives no lines.
    """
    from ..errors import InvalidRequest
    from ..records import limited_io

    if source is None:
        return []
    if source == "-":
        data = limited_io.read_limited(standard_input(), limited_io.LIST, "standard input", error=InvalidRequest)
        text = limited_io.decode_text(data, "standard input", error=InvalidRequest)
    else:
        text = limited_io.read_text(source, limited_io.LIST, error=InvalidRequest)
    return [line for line in limited_io.split_lines(text) if line.strip()]


def insert(parsed: argparse.Namespace) -> int:
    """Insert the rows of --data, and return the exit status of `serve_request`.

    Unreadable rows are skipped, with a line each on standard error.

    Raises:
        InvalidRequest: If rows are beyond the schema's `rows_per_subject` within the file.
    """
    from ..errors import InvalidRequest
    from ..records import EditRequest
    from .release import open_store, serve_request

    with open_store(parsed) as store:
        new = _read_rows(parsed, store.schema, readable=True)
        if new.dropped:
            raise InvalidRequest(
                f"{new.dropped} rows of {parsed.data} are beyond the first {store.schema.rows_per_subject} of their person, which is all that "
                "this table keeps; take them out. Nothing was changed"
            )
        request = EditRequest.insert(new.ids, new.rows, new.labels, subjects=new.subjects, request_id=parsed.request_id)
        for skipped in new.skipped:
            print(skipped, file=sys.stderr)
        return serve_request(parsed, store, request, clipped=new.clipped, unknown=new.unknown)


def correct(parsed: argparse.Namespace) -> int:
    """Run `replace`: replace the content of the records whose ids are in --data, and return the exit status.

    The schema's subject column is not read: a correction does not move a record to another person. An unreadable row is
    an error.
    """
    from dataclasses import replace

    from ..records import EditRequest
    from .release import open_store, serve_request

    with open_store(parsed) as store:
        schema = replace(store.schema, subject_column=None)  # a correction does not move a record to another person
        new = _read_rows(parsed, schema)
        rows = zip(new.ids or (), new.rows, new.labels, strict=True)
        request = EditRequest.replace({name: (row, label) for name, row, label in rows}, request_id=parsed.request_id)
        return serve_request(parsed, store, request, RECTIFICATION, clipped=new.clipped, unknown=new.unknown)


def _read_rows(parsed: argparse.Namespace, schema: Schema, *, readable: bool = False) -> Encoded:
    from ..errors import InvalidSchema
    from .init import NUMBERED

    try:
        return schema.encode_file(parsed.data, parsed.delimiter, readable=readable)
    except InvalidSchema as error:
        if schema.id_column == NUMBERED and f"no column {NUMBERED!r}" in str(error):
            error.add_note(
                f"the rows of this store were numbered: give the file a column {NUMBERED!r} with the number of each row, of a new one a number that no "
                "row ever had"
            )
        raise

"""`noisygd-delete init`: a table and a schema in, a store out; or a first draft of the schema."""

from __future__ import annotations

import argparse
from typing import Any

from ..errors import InvalidParameter
from ..records import Records
from ..report.outputs import output
from ..schema import Schema, draft_schema, read_table
from ..store import Store
from .arguments import whole
from .change import add_tombstones, tombstones_from
from .plan import add_plan_arguments, add_stream_arguments, explained, plan_from, stream_from, warning
from .shared import add_json, show


def register(commands: Any) -> None:
    parser = commands.add_parser(
        "init",
        help="make a store from a CSV or Parquet file and a schema",
        epilog="example, first: noisygd-delete init --data people.csv --label y --id id --draft-schema schema.toml",
        allow_abbrev=False,
    )
    parser.add_argument("store", nargs="?", metavar="STORE", help="folder to make; not needed with --draft-schema")
    parser.add_argument("--data", required=True, metavar="FILE", help="CSV (plain or gzip) or Parquet")
    parser.add_argument("--label", metavar="COL", help="column to predict (with a schema: must agree with it)")
    parser.add_argument("--id", metavar="COL", help="column with each record's own id (or `id` in the schema)")
    parser.add_argument("--subject", metavar="COL", help="column with the person each record is about")
    parser.add_argument("--delimiter", help="of a CSV file; default: found from the header")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--schema", metavar="FILE", help="public bounds and categories (TOML)")
    source.add_argument("--draft-schema", metavar="FILE", help="write a first draft of the schema and stop")
    parser.add_argument(
        "--slots", type=whole, metavar="N", help="n, with room for insertions; default: as many as rows"
    )
    parser.add_argument("--dry-run", action="store_true", help="check everything and show the plan; write nothing")
    add_tombstones(parser)
    add_plan_arguments(parser)
    add_stream_arguments(parser.add_argument_group("stream (the method is then chosen by forecast)"))
    add_json(parser)
    parser.set_defaults(run=_run, loss=None, radius=None)  # the schema decides, unless told otherwise


def _run(parsed: argparse.Namespace) -> int:
    return _draft(parsed) if parsed.draft_schema else _create(parsed)


def _draft(parsed: argparse.Namespace) -> int:
    if parsed.label is None:
        raise InvalidParameter("--draft-schema needs --label COL, the column to predict")
    target = output("--draft-schema", parsed.draft_schema, inputs=[parsed.data])
    text = draft_schema(read_table(parsed.data, parsed.delimiter), parsed.label, id=parsed.id, subject=parsed.subject)
    target.write(text)
    warning = "its ranges were read off the data: replace them by public ones, then set confirmed = true"
    show(parsed, {"draft_schema": parsed.draft_schema, "warning": warning}, f"wrote {parsed.draft_schema}; {warning}")
    return 0


def _create(parsed: argparse.Namespace) -> int:
    if parsed.store is None:
        raise InvalidParameter("give STORE, the folder to make")
    schema = _schema(parsed)
    tombstones, encoded = tombstones_from(parsed), schema.encode_file(parsed.data, parsed.delimiter)
    if tombstones is not None:
        tombstones.refuse(encoded.ids or ())
    records = Records(encoded.rows, encoded.labels, encoded.ids, encoded.subjects, slots=parsed.slots)
    fill_loss(parsed, schema)
    sizes: dict[str, Any] = {
        "records": records.slots,
        "features": schema.features,
        "one_hot_blocks": schema.one_hot_blocks,
    }
    streamed = parsed.requests is not None or parsed.period is not None
    plan = stream_from(parsed, **sizes).plan if streamed else plan_from(parsed, **sizes)
    plan = plan.of_map(schema.feature_map)
    if not parsed.dry_run:
        Store.create(parsed.store, records, schema, plan).close()
    answer = {
        "store": parsed.store,
        "created": not parsed.dry_run,
        "slots": records.slots,
        "records": len(records),
        "features": schema.features,
        "clipped": encoded.clipped,
        "unknown": encoded.unknown,
        "plan": plan.summary(),
        **warning(plan),
    }
    clipped = {name: count for name, count in encoded.clipped.items() if count}
    done = "would make" if parsed.dry_run else "made"
    text = f"{done} {parsed.store}: {len(records)} records in {records.slots} slots, {schema.features} features\n"
    text += f"values clipped to their bounds (shown here only, not stored): {clipped or 'none'}\n\n{explained(plan)}"
    show(parsed, answer, text)
    return 0


def _schema(parsed: argparse.Namespace) -> Schema:
    schema = Schema.read(parsed.schema).with_columns(id=parsed.id, subject=parsed.subject)
    if not schema.confirmed:
        raise InvalidParameter(
            f"{parsed.schema}: confirmed = false: this is a draft whose ranges were read off the data. Replace them by ranges "
            "that are public knowledge, then set confirmed = true"
        )
    if schema.id_column is None:
        raise InvalidParameter("--id COL is needed: later requests name records by their id")
    if parsed.label not in (None, schema.label_column):
        raise InvalidParameter(f"--label {parsed.label} contradicts the schema's label column {schema.label_column!r}")
    return schema


def fill_loss(parsed: argparse.Namespace, schema: Schema) -> None:
    """The loss that fits the schema's label, and its row norm, where the arguments leave them open."""
    if parsed.radius is None:
        parsed.radius = schema.radius
    if parsed.loss is None and schema.classes is None:
        parsed.loss = "pseudo-huber"
    elif parsed.loss is None and schema.classes is not None:
        parsed.loss = "logistic" if len(schema.classes) == 2 else "softmax"
    if parsed.loss == "softmax" and parsed.classes is None and schema.classes:
        parsed.classes = len(schema.classes)

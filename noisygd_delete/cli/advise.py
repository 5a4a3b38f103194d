"""`noisygd-delete advise`: method, λ, publications and batch from public facts alone, before any record is touched."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, Any

from .arguments import whole
from .plan import add_plan_arguments, add_stream_arguments
from .shared import add_explain, add_json, show

if TYPE_CHECKING:
    from ..planner.advise import Advice


def register(commands: Any) -> None:
    parser = commands.add_parser(
        "advise",
        help="which method, λ and how many publications to begin with; needs sizes only",
        epilog="example: noisygd-delete advise --records 26000 --features 108 --dp 2 --deletion 0.2 --delta 1e-6",
        allow_abbrev=False,
    )
    parser.add_argument("--records", type=whole, required=True, help="n, number of slots")
    sizes = parser.add_mutually_exclusive_group(required=True)
    sizes.add_argument("--features", type=whole, help="columns, the constant one included")
    sizes.add_argument(
        "--schema", metavar="FILE", help="public bounds and categories (TOML): columns, loss and row norm from there"
    )
    add_plan_arguments(parser, advised=True)
    add_stream_arguments(parser.add_argument_group("stream (publications and their batch are then chosen by forecast)"))
    add_explain(parser)
    add_json(parser)
    parser.set_defaults(run=_run, loss=None, radius=None, rows_per_subject=None)


def _run(parsed: argparse.Namespace) -> int:
    from ..features.schema import Schema
    from .chosen import advised
    from .creating import fill_loss
    from .planning import MORE

    features, blocks = parsed.features, None
    if parsed.schema is not None:
        schema = Schema.read(parsed.schema)
        fill_loss(parsed, schema)
        features, blocks = schema.features, schema.one_hot_blocks
        parsed.rows_per_subject = parsed.rows_per_subject or schema.rows_per_subject
    parsed.rows_per_subject = parsed.rows_per_subject or 1
    parsed.loss, parsed.radius = parsed.loss or "logistic", parsed.radius or 1.0
    advice = advised(parsed, records=parsed.records, features=features, one_hot_blocks=blocks)
    line = _init(parsed, advice)
    begin = "To begin so:" if advice.worth_having else "To go on all the same:"
    told = advice.table() if parsed.explain else f"{advice.comparison.table()}\n\n{advice.in_short()}\n{MORE}"
    show(parsed, {**advice.to_dict(), "init": line}, f"{told}\n\n{begin}\n  {line}")
    return 0


def _init(parsed: argparse.Namespace, advice: Advice) -> str:
    """The command to type next, with all that differs from its defaults."""
    from .chosen import spelled_out

    schema = shlex.quote(parsed.schema or "schema.toml")
    return f"noisygd-delete init STORE --data FILE --schema {schema} --slots {parsed.records} {spelled_out(parsed, advice)}"

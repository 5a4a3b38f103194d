"""`noisygd-delete advise`: method, λ, publications and batch from public facts alone, before any record is touched."""

from __future__ import annotations

import argparse
import shlex
from typing import Any

from ..errors import InvalidParameter
from .arguments import add_command, whole
from .plan_file import ADVISED, HEAD, add_plan_file, command, take, written
from .terminal import MORE, show


def register(commands: Any) -> None:
    parser = add_command(
        commands,
        "advise",
        epilog="examples: noisygd-delete advise --records 26000 --features 108; noisygd-delete advise --records 26000 --schema schema.toml --plan "
        "plan.toml --out advised.toml",
    )
    parser.add_argument("--records", type=whole, help="n, number of slots")
    sizes = parser.add_mutually_exclusive_group()
    sizes.add_argument("--features", type=whole, help="columns, the constant one included")
    sizes.add_argument(
        "--schema", metavar="FILE", help="public bounds and categories (TOML): columns, loss and row norm from there"
    )
    add_plan_file(parser)
    parser.add_argument("--out", metavar="FILE", help="write what is advised to a file, for `init --plan FILE`")
    parser.take("--explain", "--json")
    parser.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    from ..evidence.outputs import output
    from ..features.schema import Schema
    from .advised_plan import additive_where_it_pays, advised, advised_problem, may_be_additive, sizes_of

    take(parsed, ADVISED)
    target = None if parsed.out is None else output("--out", parsed.out, begins=HEAD.encode(), inputs=[parsed.schema])
    if parsed.records is None or (parsed.features is None and parsed.schema is None):
        raise InvalidParameter("give --records, and --features or --schema: on the command line, or in --plan FILE")
    features, blocks, rows = parsed.features, parsed.one_hot_blocks, ""
    if parsed.schema is not None:
        schema = Schema.read(parsed.schema)
        if schema.map is None and may_be_additive(parsed, schema):
            schema = additive_where_it_pays(parsed, schema, parsed.records)
            rows = (
                " --map columns" if schema.map is None else f" --map additive:levels={schema.map.to_dict()['levels']}"
            )
        sizes = sizes_of(parsed, schema, parsed.records)
        features, blocks = sizes["features"], sizes["one_hot_blocks"]
    parsed.rows_per_subject = parsed.rows_per_subject or 1
    parsed.loss, parsed.radius = parsed.loss or "logistic", parsed.radius or 1.0
    advice = advised(parsed, records=parsed.records, features=features, one_hot_blocks=blocks)
    problem = advised_problem(parsed, advice)
    if target is not None:
        target.write(written(problem))
    plan, line = command(problem), _init(parsed) + rows
    begin = "To begin so:" if advice.worth_having else "To go on all the same:"
    told = advice.table() if parsed.explain else f"{advice.comparison.table()}\n\n{advice.in_short()}\n{MORE}"
    steps = line if target is not None else f"{plan}\n  {line}"
    show(parsed, {**advice.to_dict(), "plan_command": plan, "init": line}, f"{told}\n\n{begin}\n  {steps}")
    return 0


def _init(parsed: argparse.Namespace) -> str:
    """The command to type next."""
    schema, plan = shlex.quote(parsed.schema or "schema.toml"), shlex.quote(parsed.out or "plan.toml")
    return f"noisygd-delete init STORE --data FILE --schema {schema} --slots {parsed.records} --plan {plan}"

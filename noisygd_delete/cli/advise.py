"""`noisygd-delete advise`: recommend method, λ, number of publications and batch size from public facts alone.

No record is read.
"""

from __future__ import annotations

import argparse
import shlex
from copy import copy
from typing import Any

from ..errors import InvalidParameter
from .accuracy import add_accuracy, find_epsilon
from .arguments import add_command, parse_integer
from .plan_file import ADVISED, HEAD, fill_arguments, format_plan_file, plan_command
from .terminal import MORE, print_result


def register(commands: Any) -> None:
    """Add the `advise` command and its options to the parser."""
    parser = add_command(
        commands,
        "advise",
        epilog="examples: noisygd-delete advise --records 26000 --features 108; noisygd-delete advise --records 26000 --schema schema.toml --plan "
        "plan.toml --out advised.toml",
    )
    parser.add_argument("--records", type=parse_integer, help="n, number of slots")
    sizes = parser.add_mutually_exclusive_group()
    sizes.add_argument("--features", type=parse_integer, help="columns, the constant one included")
    sizes.add_argument(
        "--schema", metavar="FILE", help="public bounds and categories (TOML): columns, loss and row norm from there"
    )
    add_accuracy(parser)
    parser.add_argument("--out", metavar="FILE", help="write what is advised to a file, for `init --plan FILE`")
    parser.take("--plan", "--explain", "--json")
    parser.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    from ..evidence.atomic_write import check_output
    from ..features.schema import Schema
    from .plan_selection import advise_plan, advised_problem, check_unserved
    from .schema_arguments import additive_where_it_pays, may_be_additive, sizes_of

    fill_arguments(parsed, ADVISED)
    check_unserved(parsed)
    target = (
        None if parsed.out is None else check_output("--out", parsed.out, begins=HEAD.encode(), inputs=[parsed.schema])
    )
    if parsed.records is None or (parsed.features is None and parsed.schema is None):
        raise InvalidParameter("give --records, and --features or --schema: on the command line, or in --plan FILE")
    features, blocks, rows, columns = parsed.features, parsed.one_hot_blocks, "", copy(parsed)
    if parsed.schema is None:
        parsed.rows_per_subject = parsed.rows_per_subject or 1
        parsed.loss, parsed.radius = parsed.loss or "logistic", parsed.radius or 1.0
        answer = find_epsilon(parsed, records=parsed.records, features=features, one_hot_blocks=blocks)
    else:
        schema = Schema.read(parsed.schema)
        answer = find_epsilon(columns, **sizes_of(columns, schema, parsed.records))
        parsed.dp, parsed.delta = columns.dp, columns.delta
        if answer is not None:
            rows = " --map columns"  # what was forecast
        elif schema.map is None and may_be_additive(parsed, schema):
            schema = additive_where_it_pays(parsed, schema, parsed.records)
            rows = (
                " --map columns" if schema.map is None else f" --map additive:levels={schema.map.to_dict()['levels']}"
            )
        sizes = sizes_of(parsed, schema, parsed.records)
        features, blocks = sizes["features"], sizes["one_hot_blocks"]
    advice = advise_plan(parsed, records=parsed.records, features=features, one_hot_blocks=blocks)
    problem = advised_problem(parsed, advice)
    if target is not None:
        target.write(format_plan_file(problem))
    plan, line = plan_command(problem), _init(parsed) + rows
    begin = "To begin so:" if advice.worth_having else "To go on all the same:"
    text = advice.table() if parsed.explain else f"{advice.comparison.table()}\n\n{advice.summarize()}\n{MORE}"
    reached = {} if answer is None else {"least_epsilon": answer.to_dict()}
    if answer is not None:
        text = f"{answer.text()}\n\n{text}"
    steps = line if target is not None else f"{plan}\n  {line}"
    print_result(
        parsed, {**advice.to_dict(), **reached, "plan_command": plan, "init": line}, f"{text}\n\n{begin}\n  {steps}"
    )
    return 0


def _init(parsed: argparse.Namespace) -> str:
    """Return the `init` command to run next."""
    schema, plan = shlex.quote(parsed.schema or "schema.toml"), shlex.quote(parsed.out or "plan.toml")
    return f"noisygd-delete init STORE --data FILE --schema {schema} --slots {parsed.records} --plan {plan}"

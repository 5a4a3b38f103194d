"""`noisygd-delete plan`: from a budget to steps and noise, before any record is touched. The one command that is told loss, budget and
method; a file hands them to the others."""

from __future__ import annotations

import argparse
from copy import copy
from functools import partial
from typing import Any

from ..errors import InvalidParameter
from ..methods.base import AUTO
from .arguments import add_command
from .plan_file import (
    ADVISED,
    HEAD,
    PAPER_METHOD,
    PLANNED,
    SIZES,
    STREAM,
    add_problem_arguments,
    command,
    take,
    written,
)
from .terminal import show


def register(commands: Any) -> None:
    parser = add_command(
        commands,
        "plan",
        epilog="examples: noisygd-delete plan --records 26000 --features 108 --method sharp; noisygd-delete plan --dp 1 --deletion 0.1 "
        "--delta 1e-6 --out plan.toml",
    )
    add_problem_arguments(parser)
    parser.add_argument(
        "--out", metavar="FILE", help="write what is asked here to a file (TOML), for --plan FILE of other commands"
    )
    comparing = parser.add_argument_group("comparison")
    comparing.add_argument(
        "--compare", action="store_true", help="every method for convex losses side by side, by forecast cost and noise"
    )
    parser.take("--explain", "--json")
    parser.set_defaults(run=plan)


def plan(parsed: argparse.Namespace) -> int:
    from ..evidence.outputs import output
    from .advised_plan import or_instead

    asked = {name: getattr(parsed, name) for name in (*SIZES, *ADVISED) if name in parsed}
    target = None if parsed.out is None else output("--out", parsed.out, begins=HEAD.encode())
    comparing = ["--compare"] if parsed.compare else []

    def typed(problem: dict[str, Any]) -> str:
        return command(problem, *comparing, file=parsed.out)

    file, answer, text = or_instead(asked, partial(_planned, parsed), typed)
    if target is not None:
        target.write(file)
    show(parsed, answer, text)
    return 0


def _planned(parsed: argparse.Namespace, asked: dict[str, Any]) -> tuple[str, dict[str, Any], str]:
    """A problem as a file has it, and what is answered to it: in JSON and in words."""
    parsed = copy(parsed)
    take(parsed, PLANNED | {"proof": None} | STREAM, asked)
    if None in (parsed.records, parsed.features):
        if parsed.out is None:
            raise InvalidParameter(
                f"give --records and --features; or write what is asked, for other commands: {command(asked)}"
            )
        text = f"wrote {parsed.out}: give --plan {parsed.out} to init, quickstart, advise, relearn or audit"
        return written(asked), {"plan": parsed.out, "asked": asked}, text
    if parsed.method == AUTO:
        raise InvalidParameter(
            "is chosen by `advise`, and by `init` for its table; here a method is named", method=AUTO
        )
    if parsed.out is not None and (parsed.compare or not {"requests", "period"}.isdisjoint(asked)):
        unsized = {name: value for name, value in asked.items() if name not in SIZES}
        raise InvalidParameter(
            "--out writes what is asked, not what a forecast chose: leave --compare out, and with --requests the sizes: "
            + command(unsized, file=parsed.out)
        )
    return written(_defaults(parsed) | asked), *_answered(parsed)  # what is shown is what is written


def _defaults(parsed: argparse.Namespace) -> dict[str, Any]:
    """What `plan` takes where nothing is said, and advice would choose otherwise."""
    from .advised_plan import budget_from

    budget = budget_from(parsed)
    measure = {} if parsed.gdp or parsed.delta is not None else {"order": budget.order}
    return {
        "method": PAPER_METHOD,
        "regularization": parsed.regularization,
        **measure,
        "dp": budget.dp,
        "deletion": budget.deletion,
    }


def _answered(parsed: argparse.Namespace) -> tuple[dict[str, Any], str]:
    from ..planner import compare_plans
    from .advised_plan import as_given, described, plan_from, stream_from
    from .budget_left import warning

    sizes: dict[str, Any] = {name: getattr(parsed, name) for name in SIZES}
    if parsed.compare:
        comparison = compare_plans(**as_given(parsed), **sizes, target=parsed.excess_risk, requests=parsed.requests)
        return comparison.to_dict(), comparison.table()
    if parsed.requests is not None or parsed.period is not None:
        stream = stream_from(parsed, **sizes)
        text = f"{stream.text()}\n\n{described(parsed, stream.plan)}\n\n{stream.comparison.table()}"
        return {**stream.to_dict(), "plan": stream.plan.summary(), **warning(stream.plan)}, text
    found = plan_from(parsed, **sizes)
    return {**found.summary(), **warning(found)}, described(parsed, found)

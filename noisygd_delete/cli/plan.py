"""`noisygd-delete plan`: compute steps and noise from a budget, before any record is read.

This is the only command with options for loss, budget and method; other commands read them from a plan file.
"""

from __future__ import annotations

import argparse
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import InvalidParameter
from ..methods.base import AUTO, DEFAULT_METHOD
from ..methods.specs import parse_spec
from .accuracy import add_accuracy, find_epsilon
from .arguments import add_command
from .plan_file import (
    ADVISED,
    HEAD,
    PLANNED,
    SIZES,
    STREAM,
    add_problem_arguments,
    fill_arguments,
    format_plan_file,
    plan_command,
)
from .terminal import print_result

if TYPE_CHECKING:
    from ..planner.comparison import StreamPlan


def register(commands: Any) -> None:
    """Add the `plan` command and its options to the parser."""
    parser = add_command(
        commands,
        "plan",
        epilog="examples: noisygd-delete plan --records 26000 --features 108 --method noisy-gd; noisygd-delete plan --dp 1 --deletion 0.1 "
        "--delta 1e-6 --out plan.toml",
    )
    add_problem_arguments(parser)
    add_accuracy(parser)
    parser.add_argument(
        "--out", metavar="FILE", help="write these options to a file (TOML), for --plan FILE of other commands"
    )
    comparing = parser.add_argument_group("comparison")
    comparing.add_argument(
        "--compare", action="store_true", help="every method for convex losses side by side, by forecast cost and noise"
    )
    parser.take("--explain", "--json")
    parser.set_defaults(run=plan)


def plan(parsed: argparse.Namespace) -> int:
    """Print the plan for the options, or with --compare all methods; with --out write them to a plan file; return 0.

    With --out and without sizes, only the file is written. With --requests or --period the plan is the forecast for a
    stream.

    Raises:
        InvalidParameter: If sizes are missing without --out, or options contradict each other; with a note of a similar
            command that works, if one is found.
    """
    from ..evidence.atomic_write import check_output
    from .suggestion import attempt_with_suggestion

    options = {name: getattr(parsed, name) for name in (*SIZES, *ADVISED) if name in parsed}
    target = None if parsed.out is None else check_output("--out", parsed.out, begins=HEAD.encode())
    comparing = ["--compare"] if parsed.compare else []

    def typed(problem: dict[str, Any]) -> str:
        return plan_command(problem, *comparing, file=parsed.out)

    if parsed.accuracy is not None:
        file, answer, text = _plan_for_accuracy(copy(parsed), options)
    else:
        file, answer, text = attempt_with_suggestion(options, partial(_plan_from_file, parsed), typed)
    if target is not None:
        target.write(file)
    print_result(parsed, answer, text)
    return 0


def _plan_from_file(parsed: argparse.Namespace, options: dict[str, Any]) -> tuple[str, dict[str, Any], str]:
    """Return a problem as the text of a plan file, and the answer to it as JSON and as text."""
    parsed = copy(parsed)
    fill_arguments(parsed, PLANNED | {"proof": None} | STREAM, options)
    if None in (parsed.records, parsed.features):
        if parsed.out is None:
            raise InvalidParameter(
                f"give --records and --features; or write the options for other commands: {plan_command(options)}"
            )
        from ..privacy.worlds import check_delta

        for name in sorted({"delta", "total_delta"} & options.keys()):
            check_delta(name, options[name])
        text = f"wrote {parsed.out}: give --plan {parsed.out} to init, quickstart, advise, relearn or audit"
        return format_plan_file(options), {"plan": parsed.out, "options": options}, text
    if parsed.method == AUTO:
        raise InvalidParameter(
            "is chosen by `advise`, and by `init` for its table; here a method is named", method=AUTO
        )
    if parsed.out is not None and (parsed.compare or not {"requests", "period"}.isdisjoint(options)):
        unsized = {name: value for name, value in options.items() if name not in SIZES}
        raise InvalidParameter(
            "--out writes the given options, not the choice of a forecast: leave out --compare, and with --requests the sizes: "
            + plan_command(unsized, file=parsed.out)
        )
    return format_plan_file(_default_arguments(parsed) | options), *_answer_plan(
        parsed
    )  # the printed plan is the written one


def _plan_for_accuracy(parsed: argparse.Namespace, options: dict[str, Any]) -> tuple[str, dict[str, Any], str]:
    """Return the advised plan at the least ε for --accuracy as the text of a plan file, as JSON and as text."""
    from .plan_arguments import describe_plan
    from .plan_selection import advise_plan, advised_problem, check_unserved

    fill_arguments(parsed, ADVISED, options)
    check_unserved(parsed)
    if None in (parsed.records, parsed.features):
        raise InvalidParameter(
            "--accuracy needs --records and --features; `advise --schema` takes columns from a schema"
        )
    if parsed.compare:
        raise InvalidParameter("--accuracy: the methods side by side are what `advise` prints; leave --compare out")
    if parsed.out is not None and "without_noise" not in parse_spec("accuracy", parsed.accuracy)[1]:
        raise InvalidParameter("--out writes one plan: give --accuracy A:without_noise=A, a public figure, as well")
    parsed.loss, parsed.radius = parsed.loss or "logistic", parsed.radius or 1.0
    parsed.rows_per_subject = parsed.rows_per_subject or 1
    sizes = {name: getattr(parsed, name) for name in SIZES}
    answer = find_epsilon(parsed, **sizes)
    assert answer is not None
    advice = advise_plan(parsed, **sizes)
    text = f"{answer.text()}\n\n{describe_plan(parsed, advice.plan, advice.comparison.reason)}"
    return (
        format_plan_file(advised_problem(parsed, advice)),
        {**advice.plan.summary(), "least_epsilon": answer.to_dict()},
        text,
    )


def _default_arguments(parsed: argparse.Namespace) -> dict[str, Any]:
    """Return the defaults of `plan` where the advice would choose other values."""
    from .plan_arguments import budget_from

    budget = budget_from(parsed)
    measure = {} if parsed.gdp or parsed.delta is not None else {"order": budget.order}
    return {
        "method": DEFAULT_METHOD,
        "regularization": parsed.regularization,
        **measure,
        "dp": budget.dp,
        "deletion": budget.deletion,
    }


def _answer_plan(parsed: argparse.Namespace) -> tuple[dict[str, Any], str]:
    from ..planner import compare_plans
    from .plan_arguments import describe_plan, given_arguments, named_reason, plan_from, stream_from
    from .plan_selection import check_unserved
    from .remaining_budget import weak_plan_warning

    check_unserved(parsed)
    sizes: dict[str, Any] = {name: getattr(parsed, name) for name in SIZES}
    if parsed.compare:
        comparison = compare_plans(
            **given_arguments(parsed), **sizes, target=parsed.excess_risk, requests=parsed.requests
        )
        return comparison.to_dict(), comparison.table()
    if parsed.requests is not None or parsed.period is not None:
        stream = stream_from(parsed, **sizes)
        text = f"{stream.text()}\n\n{describe_plan(parsed, stream.plan, _stream_reason(parsed, stream))}\n\n{stream.comparison.table()}"
        return {**stream.to_dict(), "plan": stream.plan.summary(), **weak_plan_warning(stream.plan)}, text
    found = plan_from(parsed, **sizes)
    return {**found.summary(), **weak_plan_warning(found)}, describe_plan(parsed, found, named_reason(parsed))


def _stream_reason(parsed: argparse.Namespace, stream: StreamPlan) -> str:
    return stream.comparison.reason if parsed.method is None else "named by --method"

"""`noisygd-delete budget` and `status`: what each release, and all together, reveal, as Rényi, GDP and (ε, δ)."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

from ..errors import StoreLocked
from ..privacy.sentences import format_bound
from ..privacy.worlds import FIXED_SCHEDULE, NON_ADAPTIVE
from ..records import EditCounts
from ..store.status import budget, status
from .arguments import parse_integer, parse_number, store_command
from .remaining_budget import format_spent_warning, left_text, reserve_text
from .terminal import MORE, format_destination, print_result

_FROM, _REQUESTS = 1, 30
_NEARLY_SPENT = 6


def register(commands: Any) -> None:
    """Add the commands `status` and `budget` and their options to the parser."""
    store_command(commands, "status", "status STORE --json", _status)
    asking = store_command(commands, "budget", "budget STORE --delta 1e-6", _budget)
    asking.add_argument("--order", type=parse_number, help="Rényi order; default: the plan's, or 10")
    asking.add_argument("--delta", type=parse_number, help="δ; default: the plan's, or 1e-6")
    asking.add_argument(
        "--last", type=parse_integer, default=10, metavar="N", help="list the last N releases (default 10)"
    )
    asking.take("--explain")
    _add_questions(asking)


def _add_questions(parser: argparse.ArgumentParser) -> None:
    questions = parser.add_argument_group("questions (the default of each is the worst case)")
    questions.add_argument(
        "--present-from",
        type=parse_integer,
        default=_FROM,
        metavar="A",
        help="first release with the record (default 1)",
    )
    questions.add_argument(
        "--erased-at", type=parse_integer, metavar="B", help="release that erased it; default: the last with an edit"
    )
    questions.add_argument(
        "--observed", type=_parse_release_numbers, metavar="1,4-9", help="releases the observer saw; default: every one"
    )
    questions.add_argument(
        "--models-seen", type=parse_integer, metavar="P", help="requests depend on at most P earlier models"
    )
    questions.add_argument(
        "--requests", type=parse_integer, default=_REQUESTS, metavar="R", help="cost of R more requests (default 30)"
    )
    questions.add_argument(
        "--attack-advantage", type=parse_number, metavar="X", help="reached by attacks: Theorem 4.5's lower bound"
    )


def _parse_release_numbers(text: str) -> Iterable[int]:
    """Parse "1,4-9" as release numbers, lazily: the consumer stops at the first that does not exist."""
    spans: list[range] = []
    try:
        for part in text.split(","):
            first, _, last = part.partition("-")
            spans.append(range(int(first), int(last or first) + 1))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} must be release numbers, for example 1,4-9") from error
    if not all(spans):
        raise argparse.ArgumentTypeError(f"{text!r} runs backwards; write the smaller number first, as in 4-9")
    return chain.from_iterable(spans)


def _budget(parsed: argparse.Namespace) -> int:
    finish_interrupted(parsed, status(parsed.store))
    names = (
        "order",
        "delta",
        "last",
        "present_from",
        "erased_at",
        "observed",
        "models_seen",
        "requests",
        "attack_advantage",
    )
    explain = _has_question(parsed)
    answer = budget(parsed.store, statement=explain or parsed.json, **{name: getattr(parsed, name) for name in names})
    total = answer["cumulative"]
    head = f"{'release':>7}  {'kind':<8}{'steps':>8}{'edits':>7}{'ε, order ' + format(total['order'], 'g'):>16}"
    lines = [
        f"budget {answer['budget']}; {answer['adjacency']} adjacency",
        head + f"{'μ':>9}{'ε, δ=' + format_bound(total['delta']):>14}",
    ]
    skipped = answer["released"] - len(answer["releases"])
    if skipped:
        lines.append(f"{'':>7}  the first {skipped} are not listed; --last {answer['released']} lists them all")
    for entry in answer["releases"]:
        lines.append(
            f"{entry['release']:>7}  {entry['label']:<8}{entry['steps']:>8}{entry['edits']:>7}{_format_measures(entry['dp'])}"
        )
    lines.append(f"{'all':>7}  {'':<8}{'':>8}{'':>7}{_format_measures(total)}")
    lines.append(f"publications left: {_format_remaining(answer)}")
    lines.append(left_text(answer["left"]))
    lines.append(
        f"a release: who saw no other model, if {NON_ADAPTIVE}; all: who kept every model, if {FIXED_SCHEDULE}"
    )
    if answer["released"] and not explain:
        lines.append(f"{MORE}: what is revealed about an erased record, and forecasts")
    elif answer["statement"] is not None:
        from ..accountant import statement_text

        lines += ["", statement_text(answer["statement"], releases=False)]
    print_result(parsed, answer, "\n".join(lines))
    return 0


def _format_remaining(answer: Mapping[str, Any]) -> str:
    """Return the number of publications left, if a cap on their sum was set."""
    if not answer["capped"]:
        return "no cap was set on the sum: each release has its own budget"
    left = answer["publications_left"]
    return "not limited, another one costs nothing" if left is None else str(left)


def _has_question(parsed: argparse.Namespace) -> bool:
    """Return whether any option of the question group, or `--explain`, was given."""
    questions = ("erased_at", "observed", "models_seen", "attack_advantage")
    put = any(getattr(parsed, name) is not None for name in questions)
    return put or parsed.explain or (parsed.present_from, parsed.requests) != (_FROM, _REQUESTS)


def _format_measures(values: Mapping[str, Any]) -> str:
    gdp = "none" if values["gdp"] is None else format_bound(values["gdp"])
    return f"{format_bound(values['renyi']):>16}{gdp:>9}{format_bound(values['epsilon']):>14}"


def _status(parsed: argparse.Namespace) -> int:
    answer = status(parsed.store)
    if finish_interrupted(parsed, answer):
        answer = status(parsed.store)
    fields = dict(answer)
    kinds = EditCounts(**fields.pop("pending"))
    fields["pending_edits"] = kinds.text() if fields["pending_edits"] else 0
    fields["publications_left"] = left_text(fields.pop("left"))
    if (patch := fields["patch"]) is not None:
        fields["patch"] = (
            f"{patch['patches']} until the next release; who copies the store, and saw every model, of a record erased since: {patch['told']}"
        )
    fields["publishers"] = "; ".join(map(format_destination, fields["publishers"])) or None
    fields["reserve"] = reserve_text(fields["reserve"]) or None
    fields["nearly_spent"] = format_spent_warning(answer["left"]) if fields["nearly_spent"] else None
    del fields["capped"]
    lines = [f"{name.replace('_', ' '):<20}{_format_value(value)}" for name, value in fields.items()]
    print_result(parsed, answer, "\n".join(lines))
    return _NEARLY_SPENT if answer["nearly_spent"] else 0


def finish_interrupted(parsed: argparse.Namespace, answer: Mapping[str, Any]) -> bool:
    """Open and close the store if its status names a request in flight, which finishes that request and reports it.

    Returns:
        Whether the store was opened; False without a request in flight, and if another process has the store locked.
    """
    if not answer["request_in_flight"]:
        return False
    from .release import open_store

    try:
        open_store(parsed).close()
    except StoreLocked:
        return False
    return True


def _format_value(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(map(str, value.values()))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)

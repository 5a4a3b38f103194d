"""A suggestion for a refused problem: the nearest one that can be planned, tried before it is printed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import chain, product, takewhile
from typing import Any, TypeVar

from ..errors import NoisyGDDeleteError
from ..methods import METHODS
from ..planner.defaults import PUBLICATIONS
from .plan_arguments import OF_CLASSES

Options = dict[str, Any]
Answer = TypeVar("Answer")

_MEASURE = ("gdp", "order", "delta")  # dropping the measure would change the meaning of the budget
_LEFT_OUT = ("releases", "period", *_MEASURE, "total_delta", "no_total", "ridge", "excess_risk")
_RIDGES = (1e-3, 1e-2, 0.1, 1.0)
_PATIENCE = 3.0  # CPU seconds for the search
_COMMAND = "noisygd-delete "


def attempt_with_suggestion(
    options: Options, attempt: Callable[[Options], Answer], command: Callable[[Options], str]
) -> Answer:
    """Return `attempt(options)`; add the note "instead: COMMAND" to an error that names no command, and raise it.

    The command is that of the first similar problem that `attempt` accepts; the search takes at most three CPU seconds,
    and without success adds no note.
    """
    try:
        return attempt(options)
    except NoisyGDDeleteError as error:
        found = (
            None
            if _COMMAND in str(error)
            else next((one for one in _nearby_requests(options) if _is_accepted(attempt, one)), None)
        )
        if found is not None:
            error.add_note(f"instead: {command(found)}")
        raise


def _is_accepted(attempt: Callable[[Options], Any], options: Options) -> bool:
    try:
        attempt(options)
    except (NoisyGDDeleteError, ArithmeticError):
        return False
    return True


def _nearby_requests(options: Options) -> Iterator[Options]:
    """Yield similar problems, for at most `_PATIENCE` CPU seconds.

    In order: the same method without fields, or for several releases; one option left out, or classes given; another
    method, latest registered first; a larger λ.
    """
    until = time.process_time() + _PATIENCE
    method = str(options.get("method") or "").partition(":")[0]
    kept = _MEASURE if {"dp", "deletion"} & options.keys() else ()
    fewer = [
        {name: value for name, value in options.items() if name != gone}
        for gone in _LEFT_OUT
        if gone in options and gone not in kept
    ]
    if options.get("loss") in OF_CLASSES:
        fewer.append(options | {"loss": f"{options['loss']}:classes=3"})
    others = [other for other in reversed(tuple(METHODS)) if other != method]
    own = [method] if method in METHODS else []
    ways = chain(
        (options | {"method": name} for name in own),
        (options | {"method": name, "releases": PUBLICATIONS} for name in own if options.get("releases", 1) == 1),
        fewer,
        (problem | {"method": other} for problem, other in product((options, *fewer), others)),
        (
            problem | {"method": other, "regularization": ridge}
            for problem, ridge, other in product((options, *fewer), _RIDGES, (*own, *others))
        ),
    )
    return takewhile(lambda _: time.process_time() < until, ways)

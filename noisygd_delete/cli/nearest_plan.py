"""What a refused plan could be instead: the nearest problem that is planned, tried before it is named."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import chain, product, takewhile
from typing import Any, TypeVar

from ..errors import NoisyGDDeleteError
from ..methods import METHODS
from ..planner.usual import PUBLICATIONS

Asked = dict[str, Any]
Answer = TypeVar("Answer")

_LEFT_OUT = ("releases", "period", "gdp", "order", "delta", "total_delta", "no_total", "ridge", "excess_risk")
_OF_CLASSES = ("softmax", "one-vs-rest", "multilayer-perceptron")
_RIDGES = (1e-3, 1e-2, 0.1, 1.0)
_PATIENCE = 3.0  # seconds of the processor, whatever runs beside, to look for a way out
_COMMAND = "noisygd-delete "


def or_instead(asked: Asked, attempt: Callable[[Asked], Answer], command: Callable[[Asked], str]) -> Answer:
    """What `attempt` makes of a problem. A refusal that names no command gets one that `attempt` has taken.

    Args:
        asked: options of `plan`, by their names in Python.
        command: how a problem is typed.
    """
    try:
        return attempt(asked)
    except NoisyGDDeleteError as error:
        found = None if _COMMAND in str(error) else next((one for one in _near(asked) if _taken(attempt, one)), None)
        if found is not None:
            error.add_note(f"instead: {command(found)}")
        raise


def _taken(attempt: Callable[[Asked], Any], asked: Asked) -> bool:
    try:
        attempt(asked)
    except (NoisyGDDeleteError, ArithmeticError):
        return False
    return True


def _near(asked: Asked) -> Iterator[Asked]:
    """The same with one thing changed, then with two or three: a method without fields, or for many releases; an option left out, or
    classes counted; another method, the last that joined first; a larger λ. As long as patience lasts."""
    until = time.process_time() + _PATIENCE
    method = str(asked.get("method") or "").partition(":")[0]
    fewer = [{name: value for name, value in asked.items() if name != gone} for gone in _LEFT_OUT if gone in asked]
    if asked.get("loss") in _OF_CLASSES:
        fewer.append(asked | {"loss": f"{asked['loss']}:classes=3"})
    others = [other for other in reversed(tuple(METHODS)) if other != method]
    own = [method] if method in METHODS else []
    ways = chain(
        (asked | {"method": name} for name in own),
        (asked | {"method": name, "releases": PUBLICATIONS} for name in own if asked.get("releases", 1) == 1),
        fewer,
        (problem | {"method": other} for problem, other in product((asked, *fewer), others)),
        (
            problem | {"method": other, "regularization": ridge}
            for problem, ridge, other in product((asked, *fewer), _RIDGES, (*own, *others))
        ),
    )
    return takewhile(lambda _: time.process_time() < until, ways)

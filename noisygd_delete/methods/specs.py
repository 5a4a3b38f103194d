"""Texts that name a method, a loss or a map with options of its own, as the command line and `make_plan` take them.

>>> parse_spec("method", "noisy-gd:analysis=composition,batches=10")
('noisy-gd', {'analysis': 'composition', 'batches': 10})
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..errors import InvalidParameter

_FIELDS = re.compile(r",(?=\s*\w+=)")  # commas between fields, not those within a value


def parse_spec(option: str, text: str | None) -> tuple[str | None, dict[str, Any]]:
    """Return the name and the fields of a text like `output-perturbation:solver=cold,diffusion_steps=40`.

    Values become booleans, integers or floats where they can, else text; "stages" becomes a tuple of `Stage`,
    "input_shape" and "outer_weights" tuples of numbers. Hyphens in field names become underscores. The name is None if
    the text begins with ":" or is empty.

    Args:
        option: What the text names, for messages.
        text: The text; None or "" names nothing.

    Raises:
        InvalidParameter: If a field has no value, or its value cannot be parsed.
    """
    name, _, fields = (text or "").partition(":")
    found: dict[str, Any] = {}
    for part in filter(None, _FIELDS.split(fields)):
        field, equals, value = (piece.strip() for piece in part.partition("="))
        if not (field and equals):
            raise InvalidParameter(f"--{option} {name}: {part!r} must be FIELD=VALUE, as in {name}:field=value")
        found[field.replace("-", "_")] = _parse_value(field, value)
    return name or None, found


def format_spec(name: str, fields: Mapping[str, Any]) -> str:
    """Return "name:field=value,field=value", which `parse_spec` parses; the name alone without fields.

    Values are written by `str`, so they must be given as typed.
    """
    return name + ("" if not fields else ":" + ",".join(f"{field}={value}" for field, value in fields.items()))


def _parse_value(field: str, text: str) -> Any:
    if field == "stages":
        return _parse_stages(text)
    if field == "input_shape":
        return tuple(_parse_number(part, int) for part in text.split("x"))
    if field == "outer_weights":
        return tuple(_parse_number(part, float) for part in text.split(","))
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _parse_number(text: str, kind: type[int] | type[float]) -> Any:
    try:
        return kind(text)
    except ValueError as error:
        raise InvalidParameter(f"{text[:40]!r} must be a {'whole ' if kind is int else ''}number") from error


def _parse_stages(text: str) -> tuple[Any, ...]:
    """Parse stages: each a kind, steps (optional for a head), step size, and share of the rows in a step."""
    from .stages import Stage  # rarely needed

    found = []
    for part in text.split(","):
        kind, *numbers = part.split(":")
        if len(numbers) > 3:
            raise InvalidParameter(
                f"stages: {part!r} must be KIND, KIND:STEPS, KIND:STEPS:STEP_SIZE or KIND:STEPS:STEP_SIZE:SHARE"
            )
        try:
            steps = _parse_number(numbers[0], int) if numbers else None
            size, rate = (_parse_number(numbers[k], float) if len(numbers) > k else None for k in (1, 2))
            found.append(Stage(kind.strip(), steps, size, sampling_rate=rate))
        except InvalidParameter as error:
            raise InvalidParameter(f"stages: {part!r}: {error}") from error
    return tuple(found)

"""A first draft of a schema, read off a table. A draft is a proposal to a person, not a schema."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from ..errors import InvalidSchema
from .files import Table
from .text import number

_MOST_CATEGORIES = 64

_WARNING = """\
# DRAFT. The ranges and lists below were read off the data, so they are NOT public knowledge: the largest income in
# a table is some person's income. Replace every range and list by what was known before anyone saw this table (an
# age between 0 and 120, the answers a form offers), then set confirmed = true. `init` refuses until a person has.
# A column whose entry is taken out is not read.
"""


def draft_schema(table: Table, label: str, id: str | None = None, subject: str | None = None) -> str:
    """TOML text with one entry per column of `table`; `confirmed = false`, and a warning at every range.

    Raises `InvalidSchema` where a named column is missing, or the label is neither a number nor one of few values.
    """
    named = {"id": id, "subject": subject}
    for role, name in named.items():
        if name is not None:
            table.column(name, role)
    lines = [_WARNING, "confirmed = false", 'rows = "unit"', "intercept = true"]
    lines += [f"{role} = {_text(name)}" for role, name in named.items() if name is not None]
    lines += ["", "[label]", f"column = {_text(label)}", _label(table, label)]
    for name, texts in table.columns.items():
        if name not in (label, id, subject):
            lines += ["", *_column(name, texts)]
    return "\n".join(lines) + "\n"


def _label(table: Table, label: str) -> str:
    texts = table.column(label, "the label")
    values = sorted(set(texts))
    if 2 <= len(values) <= _MOST_CATEGORIES:
        return f"classes = {_list(values)}"
    numbers = _numbers(texts)
    if numbers is None or not min(numbers) < max(numbers):
        raise InvalidSchema(
            f"{table.source}, column {label!r}: {len(values)} different values, not all numbers; "
            f"a label needs 2 to {_MOST_CATEGORIES} classes or a range of numbers"
        )
    return f"bounds = {_bounds(numbers)}  # read off the data: replace by a public range"


def _column(name: str, texts: Sequence[str]) -> list[str]:
    header = f"[columns.{_text(name)}]"
    numbers = _numbers([text for text in texts if text])
    if numbers:
        lines = [header, f"bounds = {_bounds(numbers)}  # read off the data: replace by a public range"]
        lines.append('transform = "none"  # or "log1p" for a long upper tail')
        return lines + ["missing = " + repr(min(numbers))] * (not all(texts))
    values = sorted(set(texts))
    if len(values) > _MOST_CATEGORIES:
        return [f"# {header}: {len(values)} different texts; a name or free text is no feature, so it is left out"]
    return [
        header,
        f"categories = {_list(values)}  # read off the data: replace by a public list",
        'unknown = "column"',
    ]


def _numbers(texts: Sequence[str]) -> list[float] | None:
    numbers = [number(text) for text in texts]
    return numbers if all(map(math.isfinite, numbers)) else None


def _bounds(numbers: Sequence[float]) -> str:
    lower, upper = min(numbers), max(numbers)
    return f"[{lower!r}, {upper if upper > lower else lower + 1!r}]"


def _list(values: Sequence[str]) -> str:
    return "[" + ", ".join(map(_text, values)) + "]"


def _text(text: str) -> str:
    # a JSON string is a TOML basic string, once DEL, which TOML alone forbids, is escaped
    return json.dumps(text).replace("\x7f", "\\u007f")

"""A first draft of a schema, read off a table. A draft is a proposal to a person, not a schema."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...errors import InvalidSchema
from .files import Table
from .options import JSON_SCHEMA
from .reading import without_label
from .recognise import Look, look_at, target

_MOST_CLASSES = 64
_MOST_NAMED = 10  # columns in a message
_SUBJECTS = 0.95  # of them, whose rows a draft keeps whole

_WARNING = """\
# DRAFT. The ranges and lists below were read off the data, so they are NOT public knowledge: the largest income in
# a table is some person's income. Ranges are rounded outwards and leave out the outermost rows, which hides the most of
# it and proves nothing. For each entry with from_data = true, ask: is this range or list the data's own? Put in its place
# what was known before anyone saw this table (an age between 0 and 120, the answers a form offers) and take the line
# from_data out. Then set confirmed = true: `init` refuses until a person has, and names the entries still from data.
# A column whose entry is taken out is not read.
"""
_LEFT_OUT = {
    "empty": "every cell is empty",
    "constant": "one value in every row tells nothing",
    "id": "a value of its own for every row, like an id",
    "shared": "an id that several rows share; if it is the person's, give --subject",
}


class Draft(NamedTuple):
    """A proposal, made of the rows that have a label.

    text      TOML with one entry per column of the table; `confirmed = false`, and a question at every range and list
    left_out  the columns that it does not read
    shared    of these, ids of several rows: persons, perhaps
    """

    text: str
    left_out: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()


def draft_schema(table: Table, label: str, id: str | None = None, subject: str | None = None) -> Draft:
    """A first schema of the table.

    Raises `InvalidSchema` where a named column is missing, or the label is neither a number nor one of few values.
    """
    empty = without_label(table.column(label, "the label"))
    if empty.any():
        table = table.part(np.flatnonzero(~empty).tolist())
    named = {"id": id, "subject": subject}
    for role, name in named.items():
        if name is not None:
            table.column(name, role)
    labels = _label(table, label)
    looks = {
        name: look_at(name, list(texts)) for name, texts in table.columns.items() if name not in (label, id, subject)
    }
    ids = [name for name, look in looks.items() if look.seems == "id"] if id is None else []
    proposed = min(ids, key=lambda name: name.startswith("Unnamed: "), default=None)
    lines = [f"#:schema {JSON_SCHEMA.as_uri()}", _WARNING, "confirmed = false", 'rows = "unit"', "intercept = true"]
    if proposed is not None:
        lines.append(f"id = {_text(proposed)}  # ASK: every row has its own value: is it the record's id?")
        del looks[proposed]
    lines += [f"{role} = {_text(name)}" for role, name in named.items() if name is not None]
    if subject is not None:
        lines.append(_rows_per_subject(table.columns[subject]))
    lines += ["", "[label]", f"column = {_text(label)}", *labels]
    columns = {name: _column(name, look) for name, look in looks.items()}
    left_out = tuple(name for name, entry in columns.items() if entry[0].startswith("#"))
    if len(left_out) == len(columns):
        why = (
            "; ".join(columns[name][0].removeprefix("# ") for name in left_out[:_MOST_NAMED]) or "the file has no other"
        )
        raise InvalidSchema(
            f"{table.source}: no column is left to tell {label!r} by ({why}); bring one that says something"
        )
    lines += [line for entry in columns.values() for line in ("", *entry)]
    return Draft("\n".join(lines) + "\n", left_out, tuple(name for name in left_out if looks[name].seems == "shared"))


def _label(table: Table, label: str) -> list[str]:
    texts = list(table.columns[label])
    look = target(texts)
    different = len(set(texts))
    if different < 2:
        raise InvalidSchema(
            f"{table.source}, column {label!r}: {len(texts)} row(s) with a label, which is the same in all, so there is nothing to tell apart; name another label, or "
            "bring rows that differ in it"
        )
    if look.seems == "category" and different > _MOST_CLASSES:
        raise InvalidSchema(
            f"{table.source}, column {label!r}: {different} different values, not all numbers; "
            f"a label needs 2 to {_MOST_CLASSES} classes or a range of numbers"
        )
    return _entry(look)


def _rows_per_subject(texts: Sequence[str]) -> str:
    rows = sorted(Counter(texts).values())
    most = rows[min(len(rows) - 1, math.floor(_SUBJECTS * len(rows)))]
    left = int(np.maximum(np.array(rows) - most, 0).sum())
    return (
        f"rows_per_subject = {most}  # ASK: read off the data. How many rows of one person are kept is yours to say: noise grows with it; "
        f"so many would leave out {left} rows"
    )


def _column(name: str, look: Look) -> list[str]:
    header = f"[columns.{_text(name)}]"
    if look.seems == "text":
        return [
            f'# {header}: {look.fields["different"]} different texts, names or free text: left out (hashed = 32 or text = "words" would read it)'
        ]
    if look.seems in _LEFT_OUT:
        return [f"# {header}: {_LEFT_OUT[look.seems]}, left out"]
    return [header, *_entry(look)]


def _entry(look: Look) -> list[str]:
    """Keys as lines; the first holds what was read off the data, and the questions stand above it."""
    first, *rest = (f"{key} = {_value(value)}" for key, value in look.fields.items())
    what = "list" if look.seems in ("category", "boolean") else "range"
    asks = [f"# ASK: {ask}" for ask in look.asks]
    if look.public:
        return [*asks, f"{first}  # {look.public}", *rest]
    own = f"from_data = true  # ASK: is this {what} the data's own? Put a public {what} in its place and take this line out"
    return [*asks, first, *rest, own]


def _value(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, str):
        return _text(value)
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


def _text(text: str) -> str:
    # a JSON string is a TOML basic string, once DEL, which TOML alone forbids, is escaped
    return json.dumps(text).replace("\x7f", "\\u007f")

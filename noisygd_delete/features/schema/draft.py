"""A first draft of a schema, computed from a table. A draft is a proposal for review, not a schema."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...bounds.arithmetic import MOST_SHARES
from ...errors import InvalidSchema
from .column_draft import ColumnDraft, draft_column, draft_label
from .fields import JSON_SCHEMA
from .files import Table
from .notation import STORED, count_texts, is_stored, marks_of
from .values import without_label

_MOST_CLASSES = 64
_MOST_NAMED = 10  # columns in a message
_SUBJECTS = 0.95  # share of subjects of whom a draft keeps all rows if each adds noise

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
    """A proposal made from the rows that have a label.

    Attributes:
        text: TOML with one entry per column of the table; `confirmed = false`, and a question at every range and list.
        left_out: Columns that it does not read.
        shared: Of these, ids of several rows: possibly persons.
        doubts: Possible errors in the cells of a column that is read, each with the column's name.
        named_by: Description of the file's index, if it names the rows.
        inferred: Columns whose decimal mark is that of other columns, because their own cells can be read in two ways.
    """

    text: str
    left_out: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    named_by: str | None = None
    inferred: tuple[str, ...] = ()


def draft_schema(
    table: Table, label: str, id: str | None = None, subject: str | None = None, *, weighed: bool = True
) -> Draft:
    """Return a first schema of the table's rows that have a label, as TOML text with questions; nothing is written.

    Ranges and lists are computed from the data. Without `id` the pandas index names the records, or a column whose
    values are all different is proposed.

    Args:
        table: The table.
        label: Label column.
        id: Id column, if any.
        subject: Column of data subjects, if any; `rows_per_subject` is then proposed.
        weighed: Whether rows will be weighted by person, so that a limit on them costs no noise.

    Raises:
        InvalidSchema: If a named column is missing or has two roles, the label has one value or more than 64 classes,
            or no column is left.
    """
    empty = without_label(table.column(label, "the label"))
    if empty.any():
        table = table.part(np.flatnonzero(~empty).tolist())
    index = table.index
    asked = id
    if id is None and index is not None and not index.problem and not index.is_default:
        id = index.column
    if label in (id, subject):
        raise InvalidSchema(
            f"{table.source}: column {label!r}, the label, would name the records or persons too; name another column with --id COL"
        )
    named = {"id": id, "subject": subject}
    for role, name in named.items():
        if name is not None:
            table.column(name, role)
    prefer = marks_of({name: texts for name, texts in table.columns.items() if name not in (id, subject)})
    labelled = _format_label(table, label, prefer)
    looks = {
        name: draft_column(name, texts, STORED if is_stored(texts) else prefer)
        for name, texts in table.columns.items()
        if name not in (label, id, subject, *(() if index is None else (index.column, *index.stored)))
    }
    ids = [name for name, look in looks.items() if look.seems == "id"] if id is None else []
    proposed = min(ids, key=lambda name: name.startswith("Unnamed: "), default=None)
    if id is None and proposed is None and index is not None:
        id = named["id"] = index.require(table.source)
    lines = [f"#:schema {JSON_SCHEMA.as_uri()}", _WARNING, "confirmed = false", 'rows = "unit"', "intercept = true"]
    if proposed is not None:
        lines.append(f"id = {_format_text(proposed)}  # ASK: every row has its own value: is it the record's id?")
        del looks[proposed]
    lines += [f"{role} = {_format_text(name)}" for role, name in named.items() if name is not None]
    if subject is not None:
        lines.append(_rows_per_subject(table.columns[subject], weighed))
    lines += ["", "[label]", f"column = {_format_text(label)}", *_format_entry(labelled)]
    columns = {name: _format_column(name, look) for name, look in looks.items()}
    left_out = tuple(name for name, entry in columns.items() if entry[0].startswith("#"))
    if len(left_out) == len(columns):
        why = (
            "; ".join(columns[name][0].removeprefix("# ") for name in left_out[:_MOST_NAMED]) or "the file has no other"
        )
        raise InvalidSchema(
            f"{table.source}: no column is left to tell {label!r} by ({why}); bring one that says something"
        )
    lines += [line for entry in columns.values() for line in ("", *entry)]
    shared = tuple(name for name in left_out if looks[name].seems == "shared")
    doubts = tuple(f"{name}: {doubt}" for name, look in (looks | {label: labelled}).items() for doubt in look.doubts)
    by_index = index is not None and asked is None and id == index.column
    named_by = index.text if index is not None and by_index else None
    inferred = tuple(name for name, look in (looks | {label: labelled}).items() if look.inferred)
    return Draft("\n".join(lines) + "\n", left_out, shared, doubts, named_by, inferred)


def _format_label(table: Table, label: str, prefer: tuple[str, str] | None) -> ColumnDraft:
    texts = table.columns[label]
    look = draft_label(texts, STORED if is_stored(texts) else prefer)
    different = len(count_texts(texts))
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
    return look


def _rows_per_subject(texts: Sequence[str], weighed: bool) -> str:
    rows = sorted(Counter(texts).values())
    if weighed:
        most = min(1 << (rows[-1] - 1).bit_length(), MOST_SHARES)
        left = sum(max(number - most, 0) for number in rows)
        return (
            f"rows_per_subject = {most}  # ASK: read off the data, and rounded up to a power of two. How many rows of one person are kept is yours to "
            f"say: each counts less where a person has many; that limit would leave out {left} rows"
        )
    most = rows[min(len(rows) - 1, math.floor(_SUBJECTS * len(rows)))]
    left = int(np.maximum(np.array(rows) - most, 0).sum())
    return (
        f"rows_per_subject = {most}  # ASK: read off the data. How many rows of one person are kept is yours to say: noise grows with it; "
        f"that limit would leave out {left} rows"
    )


def _format_column(name: str, look: ColumnDraft) -> list[str]:
    header = f"[columns.{_format_text(name)}]"
    if look.seems == "text":
        return [
            f'# {header}: {look.fields["different"]} different texts, names or free text: left out (hashed = 32 or text = "words" would read it)'
        ]
    if look.seems in _LEFT_OUT:
        return [f"# {header}: {_LEFT_OUT[look.seems]}, left out"]
    return [header, *_format_entry(look)]


def _format_entry(look: ColumnDraft) -> list[str]:
    """Return keys as lines; the first holds what was computed from the data, preceded by the questions."""
    first, *rest = (f"{key} = {_format_value(value)}" for key, value in look.fields.items())
    what = "list" if look.seems in ("category", "boolean") else "range"
    asks = [f"# ASK: {ask}" for ask in (*look.asks, *look.doubts)]
    if look.public:
        return [*asks, f"{first}  # {look.public}", *rest]
    own = f"from_data = true  # ASK: is this {what} the data's own? Put a public {what} in its place and take this line out"
    return [*asks, first, *rest, own]


def _format_value(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_format_value, value)) + "]"
    if isinstance(value, str):
        return _format_text(value)
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


def _format_text(text: str) -> str:
    # a JSON string is a TOML basic string once characters that TOML forbids or that are not printable are escaped
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(letter if letter.isprintable() else f"\\U{ord(letter):08x}" for letter in quoted)

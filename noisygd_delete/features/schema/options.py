"""Every key of a schema, once: its name, the form of its value, its default and what it means.

`keys` reads schemas by these tables, `json_schema` makes of them what editors check TOML by, and docs/schema.md is written from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

TRANSFORMS = ("none", "log1p")
MIDDLE = "middle"  # what an empty cell of a number may stand for
UNKNOWN = ("column", "zero", "refuse")
CYCLES = ("day", "week", "year")
DECIMALS = (".", ",")
THOUSANDS = ("", ".", ",", " ", "'")
UNITS = ("words", "characters")
ROWS = ("unit", "clip")

_NAME = {"type": "string", "minLength": 1}
_TEXTS = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
_TRUTH = {"type": "boolean"}
_PAIR = {"type": "array", "minItems": 2, "maxItems": 2}
_RANGE = {**_PAIR, "items": {"type": "number"}}


def _one_of(*values: str) -> dict[str, Any]:
    return {"enum": list(values)}


@dataclass(frozen=True)
class Key:
    """One key of a table of the schema.

    form     of its value, in JSON Schema's words
    default  as TOML writes it; "" where there is none, and `means` says what that is
    """

    name: str
    form: Mapping[str, Any]
    means: str
    default: str = ""


_FROM_DATA = Key(
    "from_data",
    _TRUTH,
    "The range or list of this entry was read off the table, so it is the data's own. Take the line out once it is public knowledge; "
    "`init` names the entries that still have it.",
    "false",
)
_EMPTY = Key(
    "empty", _TEXTS, 'Texts that stand for an empty cell here, such as `"NA"`; a cell without text always does.', "[]"
)
_DECIMAL = Key("decimal", _one_of(*DECIMALS), "The decimal mark.", '"."')
_THOUSANDS = Key(
    "thousands",
    _one_of(*THOUSANDS),
    'The mark between groups of three digits; `""` for none. Not the decimal mark.',
    '""',
)

TOP = (
    Key(
        "confirmed",
        _TRUTH,
        "False in a draft: `init` refuses it until a person has looked at every range and list and says true.",
        "true",
    ),
    Key(
        "rows",
        _one_of(*ROWS),
        'What bounds the norm of a row: `"unit"` divides each row by its own norm, `"clip"` shortens rows longer than `radius`.',
        '"unit"',
    ),
    Key(
        "radius",
        {"type": "number", "minimum": 1e-6, "maximum": 1e6},
        'With `rows = "clip"`, the norm no row exceeds.',
        "1",
    ),
    Key("intercept", _TRUTH, "Whether a constant column 1 is added before the norm is taken.", "true"),
    Key("id", _NAME, "The column with each record's own id. Later requests name records by it."),
    Key(
        "subject", _NAME, "The column with the person each record is about. Without it every record is a person's own."
    ),
    Key(
        "rows_per_subject",
        {"type": "integer", "minimum": 1},
        "Keep the first so many rows of each subject, in the order of the file; of a subject that has more in a source, none is read. How "
        "many were left out is counted and printed. The plan covers so many rows of a person together. Without it every row of a file is kept.",
    ),
)

LABEL = (
    Key("column", _NAME, "The column to predict. Must be given."),
    Key("classes", {**_TEXTS, "minItems": 2}, "Its values: two become −1 and +1, more become 0, 1, 2, …"),
    Key("bounds", _RANGE, "Of a number to predict: mapped to [−1, 1], clipped beyond. Either this or `classes`."),
    _DECIMAL,
    _THOUSANDS,
    _FROM_DATA,
)

# the first key of a kind tells it from the others
KINDS: dict[str, tuple[Key, ...]] = {
    "number": (
        Key(
            "bounds",
            _RANGE,
            "Public lowest and highest value; what lies beyond is clipped, and the range is mapped to [−1, 1].",
        ),
        Key(
            "transform",
            _one_of(*TRANSFORMS),
            "Of value and bounds, before they are mapped; `log1p` for a long upper tail.",
            '"none"',
        ),
        Key(
            "missing",
            {"anyOf": [{"type": "number"}, {"enum": [MIDDLE, "column"]}]},
            'What an empty cell is: a number within the bounds that stands in, `"middle"`: the middle of the scale, or `"column"`: the same, '
            "and 1 in one more column. Without it an empty cell is an error.",
        ),
        _EMPTY,
        _DECIMAL,
        _THOUSANDS,
        _FROM_DATA,
    ),
    "category": (
        Key(
            "categories",
            {**_TEXTS, "minItems": 1},
            "The values; each becomes a column, 1 where a cell has it and else 0.",
        ),
        Key(
            "unknown",
            _one_of(*UNKNOWN),
            'Any other value: `"column"`: 1 in one more column, `"zero"`: none is 1, `"refuse"`: an error.',
            '"column"',
        ),
        _FROM_DATA,
    ),
    "boolean": (
        Key(
            "boolean",
            {**_TEXTS, **_PAIR},
            "Two values in one column: −1 for the first, +1 for the second. Where one says no and the other yes, each may be written as another word "
            "of the same (`f`, `False`, `no`, `off`, `0`).",
        ),
        Key(
            "unknown",
            _one_of(*UNKNOWN),
            'Any other value, an empty cell included: 0, and with `"column"` 1 in one more column, or `"refuse"`: an error. With `"zero"` rows to predict may have empty cells, and no other value.',
            '"zero"',
        ),
        _FROM_DATA,
    ),
    "date": (
        Key(
            "dates",
            {**_PAIR, "items": {"type": "string"}},
            "Public first and last day, or moment, as `2013-01-31` or `2013-01-31T08:30`; where a cell lies between them is mapped to "
            "[−1, 1], clipped beyond.",
        ),
        Key(
            "format",
            {"type": "string"},
            "How cells are written, by `%Y %m %d %H %M %S %f %y %j`; without it as ISO 8601 has it (`2013-01-31`, "
            "`2013-01-31 08:30:00`). An offset from UTC in a text is left out: the time on the wall counts. A typed moment with a zone counts in UTC.",
        ),
        Key(
            "cycles",
            {"type": "array", "items": _one_of(*CYCLES), "uniqueItems": True},
            "Two more columns each, cosine and sine of the place in the day, the week or the year.",
            "[]",
        ),
        Key(
            "missing",
            {"const": "column"},
            "An empty cell: 0 everywhere and 1 in one more column. Without it, an error.",
        ),
        _EMPTY,
        _FROM_DATA,
    ),
    "time": (
        Key(
            "times",
            {**_PAIR, "items": {"type": "string"}},
            "Public earliest and latest time of day, as `08:30`; where a cell lies between them is mapped to [−1, 1], clipped beyond.",
        ),
        Key(
            "format",
            {"type": "string"},
            "How cells are written, by `%H %M %S %f`; without it as `08:30` or `08:30:15`.",
        ),
        Key(
            "cycles",
            {"type": "array", "items": _one_of("day"), "uniqueItems": True},
            'As for a date; `"day"` alone.',
            "[]",
        ),
        Key("missing", {"const": "column"}, "As for a date."),
        _EMPTY,
        _FROM_DATA,
    ),
    "text": (
        Key(
            "text",
            _one_of(*UNITS),
            "Free text, as hashed runs of words or characters; no vocabulary is read off the data.",
        ),
        Key(
            "longest", {"type": "integer", "minimum": 1, "maximum": 10}, "The longest run, in words or characters.", "2"
        ),
        Key("buckets", {"type": "integer", "minimum": 1}, "Columns that the runs are hashed to.", "4096"),
    ),
}


def names(keys: tuple[Key, ...]) -> tuple[str, ...]:
    return tuple(key.name for key in keys)


def json_schema() -> dict[str, Any]:
    """What an editor checks a schema by, as a document of JSON Schema (draft 2020-12). `keys.parse` asks for more, such as lo < hi."""
    kinds = [{"title": kind, **_object(keys), "required": [keys[0].name]} for kind, keys in KINDS.items()]
    label = {**_object(LABEL), "required": ["column"], "oneOf": [{"required": ["classes"]}, {"required": ["bounds"]}]}
    top = _object(TOP)
    top["properties"] |= {
        "label": {"description": "What is predicted.", **label},
        "columns": {
            "type": "object",
            "description": "One table for each column that is read; others are not.",
            "additionalProperties": {"oneOf": kinds},
        },
        "map": {
            "type": "object",
            "description": "A public map of all the columns, text apart, before the constant and the norm.",
            "properties": {"kind": {"description": "Which map; its parameters stand beside it.", **_NAME}},
            "required": ["kind"],
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Schema of a noisygd-delete table",
        **top,
        "required": ["label"],
    }


def _object(keys: tuple[Key, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {key.name: {"description": key.means, **key.form} for key in keys},
        "additionalProperties": False,
    }

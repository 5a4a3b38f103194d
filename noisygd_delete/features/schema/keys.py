"""The keys of a schema, checked one by one: names, allowed values, and remedies in messages."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InvalidParameter, InvalidSchema
from ..maps import PublicMap, from_dict
from .columns import Boolean, Category, Kind, Moment, Numeric
from .hashed import MOST_BUCKETS, Hashed, Text
from .published import NONE, read_moment
from .values import may_be_format, write_bound

# --- options ---
#
# Every key of a schema: `schema.json` defines its form, default and meaning.
#
# Editors check TOML by that file, this module reads schemas by its names, and docs/schema.md is generated from it.


TRANSFORMS = ("none", "log1p", "signed-log")
MIDDLE = "middle"  # a possible value of an empty cell of a number
UNKNOWN = ("column", "zero", "refuse")
CYCLES = ("day", "week", "year")
DECIMALS = (".", ",")
THOUSANDS = ("", ".", ",", " ", "'")
SYMBOLS = ("", "%", "$", "€", "£", "¥")
UNITS = ("words", "characters")
ROWS = ("unit", "clip")
TABLES = ("label", "columns", "map")

JSON_SCHEMA = Path(__file__).with_name("schema.json")  # draft 2020-12; `parse` checks more, such as lo < hi
_KEYS = json.loads(JSON_SCHEMA.read_text(encoding="utf-8"))["properties"]

TOP = tuple(key for key in _KEYS if key not in TABLES)
LABEL = tuple(_KEYS["label"]["properties"])
# the first key of a kind identifies it
KINDS = {kind["title"]: tuple(kind["properties"]) for kind in _KEYS["columns"]["additionalProperties"]["oneOf"]}

_RADII = (1e-6, 1e6)  # far from float32's subnormal numbers and from its overflow
_MOST_FEATURES = 100_000


class _Fields:
    """One table of the schema and its place in the file, for messages; every method raises InvalidSchema for a wrong value."""

    def __init__(self, fields: Any, where: str, keys: tuple[str, ...]) -> None:
        if not isinstance(fields, dict):
            raise InvalidSchema(f"{where} must be a table of keys, not {fields!r}")
        for key in fields:
            if key not in keys:
                raise InvalidSchema(f"{where}: unknown key {key!r}; the keys are {', '.join(keys)}")
        self.fields, self.where = fields, where

    def fault(self, key: str, wanted: str) -> InvalidSchema:
        """Return, without raising it, the error that the value of `key` must be `wanted`."""
        return InvalidSchema(f"{self.where}: {key} = {self.fields.get(key)!r} must be {wanted}")

    def truth(self, key: str, default: bool) -> bool:
        """Return the boolean under `key`, or `default`."""
        value = self.fields.get(key, default)
        if not isinstance(value, bool):
            raise self.fault(key, "true or false")
        return value

    def choice(self, key: str, choices: tuple[str, ...], default: str | None = None) -> str:
        """Return the text under `key`, one of `choices`; by default `default`, else the first choice."""
        value = self.fields.get(key, default or choices[0])
        if not isinstance(value, str) or value not in choices:
            raise self.fault(key, " or ".join(f'"{choice}"' for choice in choices))
        return value

    def choices(self, key: str, among: tuple[str, ...]) -> tuple[str, ...]:
        """Return the list under `key`, different texts of `among`; () if absent."""
        value = self.fields.get(key, [])
        if not isinstance(value, list) or not all(part in among for part in value) or len(set(value)) != len(value):
            raise self.fault(key, "a list of some of " + ", ".join(f'"{part}"' for part in among))
        return tuple(value)

    def name(self, key: str) -> str | None:
        """Return the name of a column under `key`; None if absent."""
        value = self.fields.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise self.fault(key, "the name of a column")
        return value

    def count(self, key: str) -> int | None:
        """Return the whole number under `key`, from 1 to 2^31 − 1; None if absent."""
        value = self.fields.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < 1 << 31):
            raise self.fault(key, "a whole number, at least 1")
        return value

    def number(self, key: str) -> float | None:
        """Return the finite number under `key` as a float; None if absent."""
        value = self.fields.get(key)
        if value is None:
            return None
        if not _is_number(value):
            raise self.fault(key, "a finite number")
        return float(value)

    def bounds(self) -> tuple[float, float]:
        """Return (lo, hi) under the key `bounds`, which is required."""
        value = self.fields.get("bounds")
        if (
            not isinstance(value, list)
            or len(value) != 2
            or not all(map(_is_number, value))
            or not value[0] < value[1]
            or not math.isfinite(2 * (float(value[1]) - float(value[0])))
        ):
            raise self.fault("bounds", "[lo, hi] with lo < hi, two finite numbers that are public knowledge")
        return float(value[0]), float(value[1])

    def texts(self, key: str, least: int, most: float = math.inf) -> tuple[str, ...]:
        """Return the `least` to `most` different stripped texts under `key`; () if absent."""
        value = self.fields.get(key, [])
        if not isinstance(value, list) or not all(isinstance(text, str) and text == text.strip() for text in value):
            raise self.fault(key, 'a list of texts without spaces around them; write numbers as "1"')
        if len(set(value)) != len(value) or not least <= len(value) <= most:
            raise self.fault(key, f"a list of {'at least ' * (most > least)}{least} different values")
        return tuple(value)

    def marks(self) -> tuple[str, str, str]:
        """Return decimal mark, thousands mark and unit of a number, by default ".", "" and ""."""
        decimal, thousands = self.choice("decimal", DECIMALS), self.choice("thousands", THOUSANDS)
        if decimal == thousands:
            raise self.fault("thousands", "another mark than decimal")
        return decimal, thousands, self.choice("unit", SYMBOLS)


def _is_number(value: Any) -> bool:
    try:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


def parse(fields: Any, source: str, folder: Path | None = None) -> dict[str, Any]:
    """Return the keyword arguments of `Schema` for a schema in parsed form.

    Args:
        fields: The parsed schema.
        source: Name of the schema for messages.
        folder: Base folder of a map's file names.

    Raises:
        InvalidSchema: If a key is wrong; names the file, the key, and the allowed values.
    """
    top = _Fields(fields, source, (*TOP, *TABLES))
    rows = top.choice("rows", ROWS)
    radius = top.number("radius")
    if rows == "clip" and radius is None:
        raise top.fault("radius", 'given with rows = "clip": rows longer than this are shortened to it')
    radius = 1.0 if radius is None else radius
    if not _RADII[0] <= radius <= _RADII[1]:
        raise top.fault("radius", f"between {_RADII[0]:g} and {_RADII[1]:g}")
    if rows == "unit" and radius != 1:
        raise top.fault("radius", '1 with rows = "unit"')
    label = _Fields(fields.get("label"), f"{source}: [label]", LABEL)
    intercept = top.truth("intercept", True)
    special = {"label": _label_column(label), "id": top.name("id"), "subject": top.name("subject")}
    columns, from_data = _parse_columns(
        fields.get("columns"), source, {name: role for role, name in special.items() if name}
    )
    made = None if fields.get("map") is None else _parse_map(fields["map"], columns, f"{source}: [map]", folder)
    width = sum(column.width for column in columns.values()) + intercept
    if width > _MOST_FEATURES:
        raise InvalidSchema(f"{source}: {width} features; at most {_MOST_FEATURES}. Give shorter lists of categories")
    if not columns and not intercept:
        raise InvalidSchema(f"{source}: no [columns.NAME] and no intercept: nothing to learn from")
    return {
        "columns": columns,
        "label_column": special["label"],
        "label": _parse_label(label),
        "id_column": special["id"],
        "subject_column": special["subject"],
        "intercept": intercept,
        "rows": rows,
        "radius": radius,
        "confirmed": top.truth("confirmed", True),
        "map": made,
        "rows_per_subject": top.count("rows_per_subject"),
        "from_data": (*([special["label"]] if label.truth("from_data", False) else []), *from_data),
    }


def _label_column(label: _Fields) -> str:
    column = label.name("column")
    if column is None:
        raise label.fault("column", "the name of the column to predict")
    if ("classes" in label.fields) == ("bounds" in label.fields):
        raise InvalidSchema(f"{label.where}: give either classes = [...] or the target's bounds = [lo, hi]")
    return column


def _parse_label(label: _Fields) -> Category | Numeric:
    if "bounds" in label.fields:
        return Numeric(*label.bounds(), "none", None, False, (), *label.marks())
    for key in ("decimal", "thousands", "unit"):
        if key in label.fields:
            raise InvalidSchema(f"{label.where}: {key} does not belong to classes, which are texts; remove it")
    return Category(label.texts("classes", 2), "refuse")


def _parse_columns(fields: Any, source: str, special: dict[str, str]) -> tuple[dict[str, Kind], list[str]]:
    """Return the columns, and those whose range or list was computed from the data."""
    if fields is None:
        fields = {}
    if not isinstance(fields, dict):
        raise InvalidSchema(f"{source}: columns must be tables, written [columns.NAME]")
    for name, role in special.items():
        if name in fields:
            raise InvalidSchema(f"{source}: [columns.{name}] is also the {role} column; a feature cannot be both")
    read = {name: _parse_column(field, f"{source}: [columns.{name}]") for name, field in fields.items()}
    return {name: kind for name, (kind, _) in read.items()}, [name for name, (_, own) in read.items() if own]


def _parse_map(fields: Any, columns: dict[str, Kind], where: str, folder: Path | None) -> PublicMap:
    if any(isinstance(kind, Text) for kind in columns.values()):
        raise InvalidSchema(
            f"{where}: a text column makes its own features and goes through no map; remove one of the two"
        )
    layout = [(kind.width,) if isinstance(kind, (Category, Hashed)) else (0,) * kind.width for kind in columns.values()]
    widths = tuple(width for part in layout for width in part)
    before = list(accumulate((len(part) for part in layout), initial=0))[:-1]
    gaps = tuple(at for at, kind in zip(before, columns.values(), strict=True) if getattr(kind, "indicator", False))
    ends = zip(before, columns.values(), strict=True)
    signs = tuple(place for at, kind in ends if isinstance(kind, Boolean) for place in range(at, at + kind.width))
    try:
        made = from_dict(fields, columns=widths, gaps=gaps, signs=signs, folder=folder)
    except InvalidParameter as error:
        raise InvalidSchema(f"{where}: {error}") from error
    read = sum(width or 1 for width in widths)
    if made.inputs != read:
        raise InvalidSchema(f"{where}: the map reads {made.inputs} numbers a record; the columns make {read}")
    return made


def _parse_column(fields: Any, where: str) -> tuple[Kind, bool]:
    every = tuple(dict.fromkeys(key for keys in KINDS.values() for key in keys))
    given = _Fields(fields, where, every)
    telling = {keys[0]: kind for kind, keys in KINDS.items()}
    kinds = [kind for key, kind in telling.items() if key in given.fields]
    if len(kinds) != 1:
        raise InvalidSchema(
            f"{where}: give either bounds = [lo, hi] (a number), categories = [...], boolean = [no, yes], dates = [first, last], "
            "times = [first, last], hashed = buckets or text, and only one of them"
        )
    for key in given.fields:
        if key not in KINDS[kinds[0]]:
            raise InvalidSchema(f"{where}: {key} does not belong to this kind of column; remove it")
    return _KINDS[kinds[0]](given), given.truth("from_data", False)


def _parse_number(column: _Fields) -> Numeric:
    lower, upper = column.bounds()
    transform = column.choice("transform", TRANSFORMS)
    if transform == "log1p" and not lower > -1:
        raise column.fault("bounds", 'above -1 with transform = "log1p"')
    indicator = column.fields.get("missing") == "column"
    middle = column.fields.get("missing") == MIDDLE
    missing = None if indicator or middle else column.number("missing")
    if missing is not None and not lower <= missing <= upper:
        raise column.fault("missing", f'a value within the bounds, "{MIDDLE}" or "column"')
    kind = Numeric(lower, upper, transform, missing, indicator, column.texts("empty", 0), *column.marks())
    if middle:
        kind = replace(kind, missing=min(max(float(kind.unscale(np.zeros(1))[0]), lower), upper))
    low, high = kind.curved_bounds()
    if not low < high:
        raise column.fault("bounds", "further apart: after the transform they are one number")
    return kind


def _parse_boolean(column: _Fields) -> Boolean:
    no, yes = column.texts("boolean", 2, 2)
    return Boolean((no, yes), column.choice("unknown", UNKNOWN, "zero"))


def _parse_datetime(column: _Fields, *, clock: bool) -> Moment:
    key, cycles = ("times", CYCLES[:1]) if clock else ("dates", CYCLES)
    value = column.fields.get(key)
    texts = [write_bound(part) for part in value] if isinstance(value, list) else []
    ends = [read_moment(text, clock=clock) for text in texts]
    if len(ends) != 2 or not NONE < ends[0] < ends[1]:
        example = '["08:00", "18:30"]' if clock else '["2013-01-01", "2013-12-31"]'
        raise column.fault(key, f"[first, last] with first before last, such as {example}, that are public knowledge")
    form = column.fields.get("format")
    if form is not None and not (isinstance(form, str) and may_be_format(form, clock=clock)):
        raise column.fault(
            "format", "a text of %H %M %S %f" if clock else 'a text of %Y %m %d %H %M %S %f %y %j, such as "%d.%m.%Y"'
        )
    if "missing" in column.fields and column.fields["missing"] != "column":
        raise column.fault("missing", '"column"')
    return Moment(
        texts[0],
        texts[1],
        clock=clock,
        form=form,
        cycles=column.choices("cycles", cycles),
        missing="missing" in column.fields,
        empty=column.texts("empty", 0),
    )


def _parse_hashed(column: _Fields) -> Hashed:
    buckets = column.count("hashed")
    if buckets is None or not 2 <= buckets <= MOST_BUCKETS:
        raise column.fault("hashed", f"a whole number of buckets, 2 to {MOST_BUCKETS}")
    return Hashed(buckets)


def _parse_text(column: _Fields) -> Text:
    given = {name: column.fields[name] for name in ("longest", "buckets") if name in column.fields}
    from ..maps import HashedNgrams  # imported on use: few tables have text

    try:
        return Text(HashedNgrams(units=column.choice("text", UNITS), **given))
    except InvalidParameter as error:
        raise InvalidSchema(f"{column.where}: {error}") from error


_KINDS: dict[str, Callable[[_Fields], Kind]] = {
    "number": _parse_number,
    "category": lambda column: Category(column.texts("categories", 1), column.choice("unknown", UNKNOWN)),
    "boolean": _parse_boolean,
    "date": partial(_parse_datetime, clock=False),
    "time": partial(_parse_datetime, clock=True),
    "hashed": _parse_hashed,
    "text": _parse_text,
}

"""The keys of a schema, checked one by one: which exist, what they may hold, what to write instead."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from ..errors import InvalidParameter, InvalidSchema
from ..maps import HashedNgrams, PublicMap, from_dict
from ..maps.ngrams import UNITS
from .columns import TRANSFORMS, UNKNOWN, Category, Numeric, Text

_RADII = (1e-6, 1e6)  # far from float32's subnormal numbers and from its overflow
_MOST_FEATURES = 100_000
_KEYS = ("confirmed", "rows", "radius", "intercept", "id", "subject", "label", "columns", "map")


class _Fields:
    """One table of the schema and its place in the file, for messages."""

    def __init__(self, fields: Any, where: str, keys: tuple[str, ...]) -> None:
        if not isinstance(fields, dict):
            raise InvalidSchema(f"{where} must be a table of keys, not {fields!r}")
        for key in fields:
            if key not in keys:
                raise InvalidSchema(f"{where}: unknown key {key!r}; the keys are {', '.join(keys)}")
        self.fields, self.where = fields, where

    def fault(self, key: str, wanted: str) -> InvalidSchema:
        return InvalidSchema(f"{self.where}: {key} = {self.fields.get(key)!r} must be {wanted}")

    def truth(self, key: str, default: bool) -> bool:
        value = self.fields.get(key, default)
        if not isinstance(value, bool):
            raise self.fault(key, "true or false")
        return value

    def choice(self, key: str, options: tuple[str, ...]) -> str:
        value = self.fields.get(key, options[0])
        if not isinstance(value, str) or value not in options:
            raise self.fault(key, " or ".join(f'"{option}"' for option in options))
        return value

    def name(self, key: str) -> str | None:
        value = self.fields.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise self.fault(key, "the name of a column")
        return value

    def number(self, key: str) -> float | None:
        value = self.fields.get(key)
        if value is None:
            return None
        if not _is_number(value):
            raise self.fault(key, "a finite number")
        return float(value)

    def bounds(self) -> tuple[float, float]:
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

    def texts(self, key: str, least: int) -> tuple[str, ...]:
        value = self.fields.get(key)
        if not isinstance(value, list) or not all(isinstance(text, str) and text == text.strip() for text in value):
            raise self.fault(key, 'a list of texts without spaces around them; write numbers as "1"')
        if len(set(value)) != len(value) or len(value) < least:
            raise self.fault(key, f"a list of at least {least} different values")
        return tuple(value)


def _is_number(value: Any) -> bool:
    try:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


def parse(fields: Any, source: str, folder: Path | None = None) -> dict[str, Any]:
    """The arguments of `Schema`, or one `InvalidSchema` naming the file, the key, and what it must hold."""
    top = _Fields(fields, source, _KEYS)
    rows = top.choice("rows", ("unit", "clip"))
    radius = top.number("radius")
    if rows == "clip" and radius is None:
        raise top.fault("radius", 'given with rows = "clip": rows longer than this are shortened to it')
    radius = 1.0 if radius is None else radius
    if not _RADII[0] <= radius <= _RADII[1]:
        raise top.fault("radius", f"between {_RADII[0]:g} and {_RADII[1]:g}")
    if rows == "unit" and radius != 1:
        raise top.fault("radius", '1 with rows = "unit"')
    label = _Fields(fields.get("label"), f"{source}: [label]", ("column", "classes", "bounds"))
    label_column = label.name("column")
    if label_column is None:
        raise label.fault("column", "the name of the column to predict")
    if ("classes" in label.fields) == ("bounds" in label.fields):
        raise InvalidSchema(f"{label.where}: give either classes = [...] or the target's bounds = [lo, hi]")
    kind = Category(label.texts("classes", 2), "refuse") if "classes" in label.fields else Numeric(*label.bounds())
    intercept = top.truth("intercept", True)
    special = {"label": label_column, "id": top.name("id"), "subject": top.name("subject")}
    columns = _columns(fields.get("columns"), source, {name: role for role, name in special.items() if name})
    made = None if fields.get("map") is None else _map(fields["map"], columns, f"{source}: [map]", folder)
    width = sum(column.width for column in columns.values()) + intercept
    if width > _MOST_FEATURES:
        raise InvalidSchema(f"{source}: {width} features; at most {_MOST_FEATURES}. Give shorter lists of categories")
    if not columns and not intercept:
        raise InvalidSchema(f"{source}: no [columns.NAME] and no intercept: nothing to learn from")
    return {
        "columns": columns,
        "label_column": label_column,
        "label": kind,
        "id_column": special["id"],
        "subject_column": special["subject"],
        "intercept": intercept,
        "rows": rows,
        "radius": radius,
        "confirmed": top.truth("confirmed", True),
        "map": made,
    }


def _columns(fields: Any, source: str, special: dict[str, str]) -> dict[str, Numeric | Category | Text]:
    if fields is None:
        fields = {}
    if not isinstance(fields, dict):
        raise InvalidSchema(f"{source}: columns must be tables, written [columns.NAME]")
    for name, role in special.items():
        if name in fields:
            raise InvalidSchema(f"{source}: [columns.{name}] is also the {role} column; a feature cannot be both")
    return {name: _column(field, f"{source}: [columns.{name}]") for name, field in fields.items()}


def _map(fields: Any, columns: dict[str, Numeric | Category | Text], where: str, folder: Path | None) -> PublicMap:
    if any(isinstance(kind, Text) for kind in columns.values()):
        raise InvalidSchema(
            f"{where}: a text column makes its own features and goes through no map; remove one of the two"
        )
    layout = [(kind.width,) if isinstance(kind, Category) else (0,) * kind.width for kind in columns.values()]
    widths = tuple(width for part in layout for width in part)
    try:
        made = from_dict(fields, columns=widths, folder=folder)
    except InvalidParameter as error:
        raise InvalidSchema(f"{where}: {error}") from error
    read = sum(width or 1 for width in widths)
    if made.inputs != read:
        raise InvalidSchema(f"{where}: the map reads {made.inputs} numbers a record; the columns make {read}")
    return made


def _text(column: _Fields) -> Text:
    given = {name: column.fields[name] for name in ("longest", "buckets") if name in column.fields}
    try:
        return Text(HashedNgrams(units=column.choice("text", UNITS), **given))
    except InvalidParameter as error:
        raise InvalidSchema(f"{column.where}: {error}") from error


def _column(fields: Any, where: str) -> Numeric | Category | Text:
    if isinstance(fields, dict) and "text" in fields:
        return _text(_Fields(fields, where, ("text", "longest", "buckets")))
    column = _Fields(fields, where, ("bounds", "transform", "missing", "categories", "unknown"))
    if ("bounds" in column.fields) == ("categories" in column.fields):
        raise InvalidSchema(f"{where}: give either bounds = [lo, hi] (a number) or categories = [...]")
    other = ("unknown",) if "bounds" in column.fields else ("transform", "missing")
    for key in other:
        if key in column.fields:
            raise InvalidSchema(f"{where}: {key} does not belong to this kind of column; remove it")
    if "categories" in column.fields:
        return Category(column.texts("categories", 1), column.choice("unknown", UNKNOWN))
    lower, upper = column.bounds()
    transform = column.choice("transform", tuple(TRANSFORMS))
    if transform == "log1p" and not lower > -1:
        raise column.fault("bounds", 'above -1 with transform = "log1p"')
    if not TRANSFORMS[transform](lower) < TRANSFORMS[transform](upper):
        raise column.fault("bounds", "further apart: after the transform they are one number")
    missing = column.number("missing")
    if missing is not None and not lower <= missing <= upper:
        raise column.fault("missing", "a value within the bounds")
    return Numeric(lower, upper, transform, missing)

"""A schema in parsed form -> the arguments of `Schema`, every key checked, with remedies in messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InvalidParameter, InvalidSchema
from ..maps import PublicMap, from_dict
from .columns import Kind, Numeric
from .fields import CYCLES, KINDS, LABEL, MIDDLE, ROWS, TABLES, TOP, TRANSFORMS, UNITS, UNKNOWN, Fields
from .hashed import MOST_BUCKETS, Hashed, Text
from .listed import Boolean, Category
from .moments import Moment
from .published import NONE, read_moment
from .values import may_be_format, write_bound

_RADII = (1e-6, 1e6)  # far from float32's subnormal numbers and from its overflow
_MOST_FEATURES = 100_000


def parse(fields: Any, source: str, folder: Path | None = None) -> dict[str, Any]:
    """Return the keyword arguments of `Schema` for a schema in parsed form.

    Args:
        fields: The parsed schema.
        source: Name of the schema for messages.
        folder: Base folder of a map's file names.

    Raises:
        InvalidSchema: If a key is wrong; names the file, the key, and the allowed values.
    """
    top = Fields(fields, source, (*TOP, *TABLES))
    rows = top.choice("rows", ROWS)
    radius = top.number("radius")
    if rows == "clip" and radius is None:
        raise top.fault("radius", 'given with rows = "clip": rows longer than this are shortened to it')
    radius = 1.0 if radius is None else radius
    if not _RADII[0] <= radius <= _RADII[1]:
        raise top.fault("radius", f"between {_RADII[0]:g} and {_RADII[1]:g}")
    if rows == "unit" and radius != 1:
        raise top.fault("radius", '1 with rows = "unit"')
    label = Fields(fields.get("label"), f"{source}: [label]", LABEL)
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


def _label_column(label: Fields) -> str:
    column = label.name("column")
    if column is None:
        raise label.fault("column", "the name of the column to predict")
    if ("classes" in label.fields) == ("bounds" in label.fields):
        raise InvalidSchema(f"{label.where}: give either classes = [...] or the target's bounds = [lo, hi]")
    return column


def _parse_label(label: Fields) -> Category | Numeric:
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
    given = Fields(fields, where, every)
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


def _parse_number(column: Fields) -> Numeric:
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


def _parse_boolean(column: Fields) -> Boolean:
    no, yes = column.texts("boolean", 2, 2)
    return Boolean((no, yes), column.choice("unknown", UNKNOWN, "zero"))


def _parse_datetime(column: Fields, *, clock: bool) -> Moment:
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


def _parse_hashed(column: Fields) -> Hashed:
    buckets = column.count("hashed")
    if buckets is None or not 2 <= buckets <= MOST_BUCKETS:
        raise column.fault("hashed", f"a whole number of buckets, 2 to {MOST_BUCKETS}")
    return Hashed(buckets)


def _parse_text(column: Fields) -> Text:
    given = {name: column.fields[name] for name in ("longest", "buckets") if name in column.fields}
    from ..maps import HashedNgrams  # imported on use: few tables have text

    try:
        return Text(HashedNgrams(units=column.choice("text", UNITS), **given))
    except InvalidParameter as error:
        raise InvalidSchema(f"{column.where}: {error}") from error


_KINDS: dict[str, Callable[[Fields], Kind]] = {
    "number": _parse_number,
    "category": lambda column: Category(column.texts("categories", 1), column.choice("unknown", UNKNOWN)),
    "boolean": _parse_boolean,
    "date": partial(_parse_datetime, clock=False),
    "time": partial(_parse_datetime, clock=True),
    "hashed": _parse_hashed,
    "text": _parse_text,
}

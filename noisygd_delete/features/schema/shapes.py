"""Shapes of an additive model with the names, categories and units of its schema."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...errors import InvalidParameter
from ..maps import Additive, Shapes
from ..maps.shape import Axis
from ..maps.shapes import score_unit
from .columns import Kind, Numeric
from .hashed import Hashed
from .listed import Boolean, Category
from .moments import Moment
from .schema import Schema


def named_shapes(
    schema: Schema, weights: ArrayLike, *, noise: float, unit: str | None = None, release: int | None = None
) -> Shapes:
    """Return the shapes of a head of one score on the schema's rows, with the schema's names, categories and units.

    Args:
        schema: The schema.
        weights: Weights of one score.
        noise: See `Shapes.of`.
        unit: Unit of the values; None: from the schema's label, by `score_unit`.
        release: Number of the store's release.

    Raises:
        InvalidParameter: If the schema's map is not an additive one.
    """
    if not isinstance(schema.map, Additive):
        raise InvalidParameter(
            "the model has no curve for each column: that takes an additive map (`init STORE … --map additive`)"
        )
    if unit is None:
        unit = score_unit(schema.classes, f"{schema.label_column} = ")
    axes = read_axes(schema, schema.map)
    return Shapes.of(
        schema.map,
        weights,
        noise=noise,
        unit=unit,
        axes=axes,
        release=release,
        radius=schema.radius,
        clip=schema.rows == "clip",
    )


def monotone_weights(schema: Schema, weights: ArrayLike, asked: Sequence[str]) -> Any:
    """Return the model's weights, changed so that the curves of the requested columns are monotone.

    Args:
        schema: The schema.
        weights: The model's weights.
        asked: `"age=rising"` or `"age=falling"` for each column.

    Raises:
        InvalidParameter: If the schema's map is not an additive one, or a column has no curve.
    """
    if not isinstance(schema.map, Additive):
        raise InvalidParameter("monotone columns take an additive map (`init STORE … --map additive`)")
    axes = read_axes(schema, schema.map)
    ways, directions = {"rising": 1, "falling": -1}, dict[int, int]()
    curved = {
        axis.name: place for place, axis in enumerate(axes) if axis.raw is not None and place not in schema.map.amounts
    }
    for text in asked:
        name, _, way = text.rpartition("=")
        if name not in curved or way not in ways:
            raise InvalidParameter(
                f"--monotone {text}: give COLUMN=rising or COLUMN=falling, of a column with a curve: {', '.join(curved) or 'there is none'}"
            )
        directions[curved[name]] = ways[way]
    return schema.map.monotone(np.asarray(weights), directions)


def read_axes(schema: Schema, map: Additive) -> list[Axis]:
    """Return how each column that the map reads is presented: name, and labels or unit, from the public schema.

    A table column gives several: a boolean or a moment has one for each number, and one for the mark of an empty or
    other cell.

    Raises:
        InvalidParameter: If the map reads other columns than the schema has.
    """
    axes = list[Axis]()
    for column, kind in schema.columns.items():
        axes += _axes_of(column, kind, len(axes))
    if len(axes) != len(map.columns):
        raise InvalidParameter(
            "the map reads other columns than the schema has, so no curve has a name: leave `columns` out of [map]"
        )
    return axes


def _axes_of(column: str, kind: Kind, place: int) -> Iterator[Axis]:
    """Yield the axes of the map's columns that one column of the table becomes, the first at `place`."""
    if isinstance(kind, Boolean):
        if kind.unknown == "column":
            yield Axis(column, kind.values, (-1.0, 1.0), indicator=place + 1, other="other")
            yield Axis(f"{column}: other", ("listed", "other"), (0.0, 1.0))
        else:
            yield Axis(column, kind.values, (-1.0, 1.0), may_be_absent=kind.unknown == "zero")
    elif isinstance(kind, Category):
        labels = (*kind.values, *(["other"] if kind.unknown == "column" else []))
        yield Axis(column, labels, may_be_absent=kind.unknown == "zero")
    elif isinstance(kind, Hashed):
        yield Axis(column, tuple(f"bucket {bucket}" for bucket in range(kind.buckets)))
    elif isinstance(kind, Moment):
        first, last = kind.bounds
        numbers = kind.width - kind.missing
        yield Axis(
            column,
            raw=lambda unit: first + (np.clip(unit, -1, 1) + 1) / 2 * (last - first),
            scale="time" if kind.clock else "date",
            indicator=place + numbers if kind.missing else None,
            group=tuple(range(place + 1, place + numbers)) if kind.missing else (),
        )
        yield from (Axis(name) for name in kind.names(column)[1:numbers])
        if kind.missing:
            yield Axis(f"{column}: missing", ("given", "empty"), (0.0, 1.0))
    else:
        assert isinstance(kind, Numeric)
        yield Axis(column, raw=kind.unscale)

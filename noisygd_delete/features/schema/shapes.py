"""The shapes of an additive model under the names, categories and units of its schema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...errors import InvalidParameter
from ..maps import Additive, Shapes
from ..maps.shapes import score_unit
from .columns import Boolean, Numeric
from .schema import Schema


def named_shapes(
    schema: Schema, weights: ArrayLike, *, noise: float, unit: str | None = None, release: int | None = None
) -> Shapes:
    """Of a head of one score on the schema's rows.

    Args:
        noise: as `Shapes.of` takes it. unit: default: by the schema's label.

    Raises:
        InvalidParameter: the schema's map is not an additive one.
    """
    if not isinstance(schema.map, Additive):
        raise InvalidParameter(
            "the model has no curve for each column: that takes an additive map (`init STORE … --map additive`)"
        )
    names, labels, kinds = columns_of(schema, schema.map)

    def raw(place: int, values: Any) -> Any:
        kind = kinds[place]
        return values if kind is None else kind.raw(values)

    if unit is None:
        unit = score_unit(schema.classes, f"{schema.label_column} = ")
    return Shapes.of(schema.map, weights, noise=noise, unit=unit, names=names, labels=labels, raw=raw, release=release)


def monotone_weights(schema: Schema, weights: ArrayLike, asked: Sequence[str]) -> Any:
    """The model's weights, changed so that each column of `asked`, `"age=rising"` or `"age=falling"`, has a curve that does so.

    Raises:
        InvalidParameter: the schema's map is no additive one, or a column has no curve.
    """
    if not isinstance(schema.map, Additive):
        raise InvalidParameter("monotone columns take an additive map (`init STORE … --map additive`)")
    names, _, kinds = columns_of(schema, schema.map)
    ways, directions = {"rising": 1, "falling": -1}, dict[int, int]()
    curved = [name for place, name in enumerate(names) if kinds[place] is not None and place not in schema.map.amounts]
    for text in asked:
        name, _, way = text.rpartition("=")
        if name not in curved or way not in ways:
            raise InvalidParameter(
                f"--monotone {text}: give COLUMN=rising or COLUMN=falling, of a column with a curve: {', '.join(curved) or 'there is none'}"
            )
        directions[names.index(name)] = ways[way]
    return schema.map.monotone(np.asarray(weights), directions)


def columns_of(schema: Schema, map: Additive) -> tuple[list[str], dict[int, list[str]], list[Numeric | None]]:
    """Of each column of the map: its name, its categories, and its kind where that is a number with a unit of its own."""
    features = [(column, kind, name) for column, kind in schema.columns.items() for name in kind.names(column)]
    names, labels, kinds, at = [], dict[int, list[str]](), list[Numeric | None](), 0
    for place, width in enumerate(map.columns):
        column, kind, name = features[at]
        names.append(column if width else name)
        if width:
            inside = [each for _, _, each in features[at : at + width]]
            labels[place] = [each.removeprefix(f"{column}=").removeprefix(f"{column}: ") for each in inside]
        if isinstance(kind, Boolean) and place in map.signs:
            labels[place] = list(kind.values) if name == column else ["", "another value"]
        kinds.append(kind if isinstance(kind, Numeric) and not width else None)
        at += (width or 1) + (place in map.gaps)
    return names, labels, kinds

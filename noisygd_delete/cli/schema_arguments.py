"""Arguments of a plan that a schema determines: sizes, loss, row norm and feature map."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from ..errors import NoisyGDDeleteError
from ..features.schema import Schema
from ..features.schema.columns import Numeric
from ..features.schema.hashed import Text
from ..methods.base import AUTO
from ..methods.specs import parse_spec
from ..planner.defaults import default_slots
from .plan_arguments import OF_CLASSES
from .plan_selection import advise_plan

_NAMED = 4  # columns in one sentence


def sizes_of(parsed: argparse.Namespace, schema: Schema, slots: int) -> dict[str, Any]:
    """Return {records, features, one_hot_blocks} for the rows of a schema, and fill in what the schema determines.

    Set in `parsed`: loss and radius (`fill_loss`) and `rows_per_subject` where not given, `usual_norm` and
    `map_of_rows`.
    """
    fill_loss(parsed, schema)
    if parsed.rows_per_subject is None:
        parsed.rows_per_subject = schema.rows_per_subject or 1
    parsed.usual_norm = schema.target_norm if schema.classes is None else None
    parsed.map_of_rows = schema.map_of_rows
    return {"records": slots, "features": schema.features, "one_hot_blocks": schema.one_hot_blocks}


def with_schema_map(parsed: argparse.Namespace, schema: Schema, rows: Callable[[], int] | None) -> Schema:
    """Return the schema with the feature map of --map; unchanged if it has a map, or for --map columns.

    With `auto` it is an additive map where `additive_where_it_pays` finds one, and none for a loss or method that
    excludes it.

    Args:
        parsed: Arguments of the command.
        schema: Schema of the table.
        rows: Counts the rows, which `auto` needs without --slots; None if they cannot be counted here: then `auto`
            gives no map.
    """
    if rows is not None and schema.map is None and parsed.map == AUTO and may_be_additive(parsed, schema):
        return additive_where_it_pays(parsed, schema, default_slots(rows()) if parsed.slots is None else parsed.slots)
    name, fields = parse_spec("map", parsed.map)
    return schema.additive(**fields) if schema.map is None and name == "additive" else schema


def may_be_additive(parsed: argparse.Namespace, schema: Schema) -> bool:
    """Return whether `auto` may choose an additive map: by method, loss and columns.

    The method is `AUTO`, the loss open, logistic, softmax or pseudo-huber, at least one column numeric, and none text.
    """
    kinds = schema.columns.values()
    return (
        parsed.method == AUTO
        and parsed.loss in (None, "logistic", "softmax", "pseudo-huber")
        and any(isinstance(kind, Numeric) for kind in kinds)
        and not any(isinstance(kind, Text) for kind in kinds)
    )


def additive_where_it_pays(parsed: argparse.Namespace, schema: Schema, slots: int) -> Schema:
    """Return the schema with the first additive map of its `levels` whose curves the advice supports; else unchanged.

    Sizes and budget alone decide. Levels that no plan can be made for are skipped. `parsed` is completed as by
    `sizes_of`.
    """
    for levels, bins in schema.levels:
        mapped = schema.additive(levels=levels)
        with suppress(
            NoisyGDDeleteError
        ):  # no plan for this many columns; any other error is raised again for the plain columns
            if advise_plan(parsed, **sizes_of(parsed, mapped, slots)).bears_curves(bins):
                return mapped
    return schema


def fill_loss(parsed: argparse.Namespace, schema: Schema) -> None:
    """Set the loss that fits the schema's label, its number of classes, and the row norm, where not given.

    The loss is logistic for two classes, softmax for more, pseudo-huber for a target. A given loss with classes, such
    as one-vs-rest, gets the schema's number of classes too. `parsed` is modified in place.
    """
    if parsed.radius is None:
        parsed.radius = schema.radius
    if parsed.loss is None and schema.classes is None:
        parsed.loss = "pseudo-huber"
    elif parsed.loss is None and schema.classes is not None:
        parsed.loss = "logistic" if len(schema.classes) == 2 else "softmax"
    if parsed.loss in OF_CLASSES and schema.classes:
        parsed.loss_fields = {"classes": len(schema.classes), **parsed.loss_fields}


def list_columns(columns: Sequence[str]) -> str:
    """Return the first four names, joined by commas, and "and N more" if there are more."""
    more = f" and {len(columns) - _NAMED} more" if len(columns) > _NAMED else ""
    return ", ".join(columns[:_NAMED]) + more

"""What of a schema and its rows a plan is made from: sizes, the loss that fits the label, and the map that they speak for."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import NoisyGDDeleteError
from ..features.schema import Schema
from ..features.schema.columns import Numeric
from ..features.schema.hashed import Text
from ..methods.base import AUTO
from ..planner.usual import usual_slots
from .advised_plan import advised

_NAMED = 4  # columns in one sentence


def sizes_of(parsed: argparse.Namespace, schema: Schema, slots: int) -> dict[str, Any]:
    """What of a schema's rows a plan is made from, the loss filled in."""
    fill_loss(parsed, schema)
    if parsed.rows_per_subject is None:
        parsed.rows_per_subject = schema.rows_per_subject or 1
    parsed.usual_norm = schema.target_norm if schema.classes is None else None
    parsed.map_of_rows = schema.map_of_rows
    return {"records": slots, "features": schema.features, "one_hot_blocks": schema.one_hot_blocks}


def on_its_map(parsed: argparse.Namespace, schema: Schema, rows: Callable[[], int] | None) -> Schema:
    """The schema with the map that --map names, or that its sizes speak for: then the rows are counted first, where that can be done here."""
    if rows is not None and schema.map is None and parsed.map == AUTO and may_be_additive(parsed, schema):
        return additive_where_it_pays(parsed, schema, usual_slots(rows()) if parsed.slots is None else parsed.slots)
    return schema.additive() if schema.map is None and parsed.map == "additive" else schema


def may_be_additive(parsed: argparse.Namespace, schema: Schema) -> bool:
    """Whether the method is left open, the label has two classes, and the columns are numbers, some of them, and no text."""
    kinds = schema.columns.values()
    open_to_it = parsed.method == AUTO and len(schema.classes or ()) == 2 and parsed.loss in (None, "logistic")
    return (
        open_to_it
        and any(isinstance(kind, Numeric) for kind in kinds)
        and not any(isinstance(kind, Text) for kind in kinds)
    )


def additive_where_it_pays(parsed: argparse.Namespace, schema: Schema, slots: int) -> Schema:
    """The schema on an additive map, where the advice for its rows says so by sizes and budget alone; else as it is."""
    mapped = schema.additive()
    try:
        pays = advised(parsed, **sizes_of(parsed, mapped, slots)).bears_curves
    except NoisyGDDeleteError:  # no plan on so many columns; what is wrong beside that is said of the columns
        pays = False
    return mapped if pays else schema


def fill_loss(parsed: argparse.Namespace, schema: Schema) -> None:
    """The loss that fits the schema's label, and its row norm, where the arguments leave them open."""
    if parsed.radius is None:
        parsed.radius = schema.radius
    if parsed.loss is None and schema.classes is None:
        parsed.loss = "pseudo-huber"
    elif parsed.loss is None and schema.classes is not None:
        parsed.loss = "logistic" if len(schema.classes) == 2 else "softmax"
    if parsed.loss in ("softmax", "multilayer-perceptron", "one-vs-rest") and schema.classes:
        parsed.loss_fields = {"classes": len(schema.classes), **parsed.loss_fields}


def listed(columns: Sequence[str]) -> str:
    """The first columns by name, and how many more there are."""
    more = f" and {len(columns) - _NAMED} more" if len(columns) > _NAMED else ""
    return ", ".join(columns[:_NAMED]) + more

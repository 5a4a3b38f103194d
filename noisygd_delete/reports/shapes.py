"""The shape functions of a store's model, with the schema's names and units, as a page or a picture."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InvalidParameter, MissingDependency
from ..features.maps import Shapes
from ..features.maps.drawings import MOST_BARS, format_edge
from ..features.maps.shape import Side
from ..features.schema.shapes import monotone_weights, named_shapes
from ..store import Store
from .html import content_security_policy, render_template

PNG = b"\x89PNG"  # how every picture begins
_MOST = 12  # shapes in one picture


def shapes_of(store: Store, monotone: Sequence[str] = ()) -> Shapes:
    """Return the shapes of the current model; no row is read.

    Args:
        store: The open store.
        monotone: Columns to make monotone, as `COLUMN=rising` or `COLUMN=falling` (`monotone_weights`).

    Raises:
        InvalidParameter: If the model is not additive with a single score.
        NotLearned: If there is no current model.
    """
    schema, plan, model = store.schema, store.plan, store.model
    if plan.problem.loss.outputs != 1:
        raise InvalidParameter(
            f"{store.path}: a model of {len(schema.classes or ())} classes has no one curve for a column"
        )
    noise = plan.outlook.weight_deviation
    weights = monotone_weights(schema, model.weights, monotone) if monotone else model.weights
    return named_shapes(schema, weights, noise=noise, release=store.ledger.model_release)


def shapes_page(shapes: Shapes, title: str, before: Shapes | None = None) -> str:
    """Return one HTML page with every column's shape, compared with `before` if given."""
    apart = None if before is None else shapes.farthest(before)
    return render_template(
        "shapes.html",
        policy=content_security_policy(style="'unsafe-inline'"),
        title=title,
        shapes=shapes,
        pictures=shapes.drawings(before),
        before=before,
        apart=apart,
    )


def shapes_picture(shapes: Shapes, before: Shapes | None = None) -> bytes:
    """Return the most important shapes as one PNG.

    Raises:
        MissingDependency: If matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependency(
            "a PNG needs matplotlib; pip install 'noisygd-delete[sklearn]', or ask for .html"
        ) from error
    chosen = shapes.shapes[:_MOST]
    known = {} if before is None else {shape.name: shape for shape in before.shapes}
    down = -(-len(chosen) // 3)
    figure = Figure(figsize=(10, 2.5 * down), layout="constrained")
    for number, shape in enumerate(chosen, 1):
        axes = figure.add_subplot(down, 3, number)
        axes.set_title(shape.name, fontsize=9, loc="left")
        values, band = np.array(shape.values), 2 * shapes.noise
        other = known.get(shape.name)
        if shape.second is not None:
            own, beside = Side(shape.edges, shape.labels, shape.scale), shape.second
            table, most = values.reshape(own.parts, beside.parts).T, max(float(np.abs(values).max()), 1e-9)
            ends = [np.array(side.edges or range(side.parts + 1)) for side in (own, beside)]
            axes.pcolormesh(*ends, table, cmap="PuOr", vmin=-most, vmax=most)
            for side, ticks in ((own, axes.set_xticks), (beside, axes.set_yticks)):
                if side.labels:
                    ticks(np.arange(side.parts) + 0.5, [label[:12] for label in side.labels], fontsize=6)
                else:
                    _tick(ticks, side)
        elif shape.edges:
            axes.stairs(values + band, shape.edges, baseline=values - band, fill=True, alpha=0.2, color="#1f5f8b")
            axes.stairs(values, shape.edges, color="#1f5f8b", baseline=None)
            if other is not None:
                axes.stairs(other.values, shape.edges, color="#c2601c", linestyle="--", baseline=None)
        else:
            order = np.argsort(-np.abs(values))[:MOST_BARS][::-1]
            values, places = values[order], np.arange(len(order))
            axes.errorbar(values, places, xerr=band, fmt="o", ms=3, color="#1f5f8b", ecolor="#1f5f8b55", elinewidth=4)
            if other is not None:
                axes.plot(np.array(other.values)[order], places, "o", ms=6, mfc="none", color="#c2601c")
            axes.set_yticks(places, [shape.labels[place][:16] for place in order.tolist()], fontsize=6)
            axes.set_xlabel(shapes.unit, fontsize=6)
        if shape.edges and shape.second is None:
            _tick(axes.set_xticks, Side(shape.edges, scale=shape.scale))
    out = io.BytesIO()
    FigureCanvasAgg(figure).print_png(out, metadata={"Software": None})  # type: ignore[no-untyped-call]
    return out.getvalue()


def _tick(ticks: Any, side: Side) -> None:
    """Label the ends and the middle of an axis whose unit is a date or a time."""
    if side.scale != "number":
        chosen = [side.edges[place] for place in (0, side.parts // 2, side.parts)]
        ticks(chosen, [format_edge(edge, side.scale) for edge in chosen], fontsize=6)

"""A model as plain numbers: layers of coefficients, and the schema that makes rows of raw columns."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...curator.model import Model
from ...errors import InvalidParameter
from ...features.maps import Additive
from ...features.schema import Schema
from ...features.schema.columns import Boolean, Category
from ...features.schema.hashed import Text
from ...features.schema.spelling import spellings
from ...losses import MultilayerPerceptron, TanhNetwork
from ...losses.base import Loss
from ...losses.staged import NETWORK, Staged
from . import reader

FORMAT, MAPPED = 1, 2  # the second has a map in its schema
MOST_COEFFICIENTS = 2_000_000  # some 40 MB of text
_INSTEAD = "; model.safetensors holds the weights, and this package predicts with them"


@dataclass(frozen=True)
class PlainModel:
    """Scores = A tanh(… tanh(W x)) for a row x of the schema.

    layers  W, …, A: each (outputs, inputs) float64; label_kind: what the scores mean, as a loss has it
    odds    whether probabilities follow from the scores
    """

    layers: tuple[NDArray[np.float64], ...]
    label_kind: str
    odds: bool
    schema: Schema


def plain_model(model: Model, schema: Schema) -> PlainModel:
    """The model as plain numbers.

    Raises:
        InvalidParameter: it is more than that; says what.
    """
    if schema.map is not None and not (isinstance(schema.map, Additive) and not schema.map.pairs):
        raise InvalidParameter(
            f"its features come of the public map {schema.map.kind!r}, which has code of its own{_INSTEAD}"
        )
    for column, kind in schema.columns.items():
        if isinstance(kind, Text):
            raise InvalidParameter(
                f"column {column!r} is free text, whose hashed n-grams have code of their own{_INSTEAD}"
            )
    if model.weights.size > MOST_COEFFICIENTS:
        raise InvalidParameter(f"{model.weights.size} coefficients are too many for a file of text{_INSTEAD}")
    loss = _within(model.loss)
    layers = _layers(loss, np.atleast_2d(model.weights), schema.features)
    odds = loss.label_kind in ("binary", "class") and not isinstance(loss, TanhNetwork)
    return PlainModel(layers, loss.label_kind, odds, schema)


def _within(loss: Loss) -> Loss:
    """The loss whose scores the model has: class weights and clipping change how it is learned, and nothing after that."""
    while isinstance(base := getattr(loss, "base", None), Loss):
        loss = base
    return loss


def _layers(loss: Loss, weights: NDArray[np.float64], features: int) -> tuple[NDArray[np.float64], ...]:
    if isinstance(loss, Staged):
        if loss.kinds[-1] != NETWORK:
            raise InvalidParameter(
                f"its last stage is a head over a network's hidden layer, with a norm between the two{_INSTEAD}"
            )
        return _layers(loss.network, loss.parts(weights, features)[-1], features)
    if isinstance(loss, TanhNetwork):
        return weights, np.array([loss.outer_weights])
    if isinstance(loss, MultilayerPerceptron):
        flat, inner = weights.reshape(-1), loss.hidden * features
        return flat[:inner].reshape(loss.hidden, features), flat[inner:].reshape(loss.outputs, loss.hidden)
    if type(loss).scores is not Loss.scores or type(loss).predict is not Loss.predict:
        raise InvalidParameter(f"a model of the {loss.name} loss computes its scores by code of its own{_INSTEAD}")
    return (weights,)


def plain_text(plain: PlainModel) -> bytes:
    """model.json: what `reader` reads."""
    listed = {name: kind.values for name, kind in plain.schema.columns.items() if isinstance(kind, (Boolean, Category))}
    fields: dict[str, Any] = {
        "format": FORMAT if plain.schema.map is None else MAPPED,
        "kind": plain.label_kind,
        "odds": plain.odds,
        "schema": {key: value for key, value in plain.schema.to_dict().items() if key not in ("id", "subject")},
        "spellings": {name: spellings(values) for name, values in listed.items()},
        "features": plain.schema.names,
        "layers": [layer.tolist() for layer in plain.layers],
    }
    return (json.dumps(fields, ensure_ascii=False, allow_nan=False) + "\n").encode()


def reader_text() -> bytes:
    """model.py: the source of `reader`, which imports nothing of this package."""
    return Path(reader.__file__).read_bytes()

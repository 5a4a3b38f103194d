"""A model as plain numbers: layers of coefficients, and the schema that converts raw columns into rows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..curator.model import Model
from ..errors import InvalidParameter
from ..features.maps import Additive
from ..features.schema import Schema, published
from ..features.schema.hashed import Text
from ..features.schema.listed import Boolean, Category
from ..features.schema.spelling import make_spelling_patterns
from ..losses import MultilayerPerceptron, TanhNetwork
from ..losses.base import Loss
from ..losses.staged import NETWORK, StagedLoss

FORMAT = 1
MOST_COEFFICIENTS = 2_000_000  # some 40 MB of text
_INSTEAD = "; model.safetensors holds the weights, and this package predicts with them"


@dataclass(frozen=True)
class PlainModel:
    """A model with scores A tanh(… tanh(W x)) for a row x of the schema.

    Attributes:
        layers: W, …, A: each (outputs, inputs), float64.
        label_kind: The meaning of the scores, as defined by the loss.
        odds: Whether probabilities follow from the scores.
        schema: The schema.
    """

    layers: tuple[NDArray[np.float64], ...]
    label_kind: str
    odds: bool
    schema: Schema


def plain_model(model: Model, schema: Schema) -> PlainModel:
    """Return the model as plain numbers.

    Raises:
        InvalidParameter: If plain numbers cannot express it; the message gives the reason.
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
    loss = _base_loss(model.loss)
    layers = _layers(loss, np.atleast_2d(model.weights), schema.features)
    odds = loss.label_kind in ("binary", "class") and not isinstance(loss, TanhNetwork)
    return PlainModel(layers, loss.label_kind, odds, schema)


def _base_loss(loss: Loss) -> Loss:
    """Return the loss that defines the scores. Class weights and clipping affect training only."""
    while isinstance(base := getattr(loss, "base", None), Loss):
        loss = base
    return loss


def _layers(loss: Loss, weights: NDArray[np.float64], features: int) -> tuple[NDArray[np.float64], ...]:
    if isinstance(loss, StagedLoss):
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
    """Return the content of model.json, which model.py reads."""
    listed = {name: kind.values for name, kind in plain.schema.columns.items() if isinstance(kind, (Boolean, Category))}
    fields: dict[str, Any] = {
        "format": FORMAT,
        "kind": plain.label_kind,
        "odds": plain.odds,
        "schema": {key: value for key, value in plain.schema.to_dict().items() if key not in ("id", "subject")},
        "spellings": {name: make_spelling_patterns(values) for name, values in listed.items()},
        "features": plain.schema.names,
        "layers": [layer.tolist() for layer in plain.layers],
    }
    return (json.dumps(fields, ensure_ascii=False, allow_nan=False) + "\n").encode()


def reader_text() -> bytes:
    """Return the content of model.py: the source of `features.schema.published`, independent of this package."""
    return Path(published.__file__).read_bytes()

"""Per-record losses, one per module, with constants proven in the class docstrings.

Example:
    >>> from noisygd_delete.losses import Logistic, from_dict
    >>> loss = Logistic(radius=2.0)
    >>> loss.constants.lipschitz, loss.constants.smoothness, loss.constants.convex
    (2.0, 1.0, True)
    >>> from_dict(loss.to_dict()) == loss
    True
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import InvalidParameter
from ..lazy_imports import Catalogue, on_first_use

if TYPE_CHECKING:
    from .base import Loss, LossConstants
    from .clipped import Clipped, clip_loss
    from .linear import Linear
    from .logistic import Logistic
    from .multilayer_perceptron import MultilayerPerceptron
    from .one_vs_rest import OneVsRest
    from .pseudo_huber import PseudoHuber
    from .sigmoid import Sigmoid
    from .softmax import Softmax
    from .squared import Squared
    from .tanh_network import TanhNetwork
    from .weighted import Weighted, with_class_weights

__all__ = [
    "CATALOGUE",
    "Clipped",
    "Linear",
    "Logistic",
    "Loss",
    "LossConstants",
    "MultilayerPerceptron",
    "OneVsRest",
    "PseudoHuber",
    "Sigmoid",
    "Softmax",
    "Squared",
    "TanhNetwork",
    "Weighted",
    "clip_loss",
    "from_dict",
    "with_class_weights",
]

__getattr__ = on_first_use(
    __name__,
    {
        **dict.fromkeys(("Loss", "LossConstants"), "base"),
        **dict.fromkeys(("Clipped", "clip_loss"), "clipped"),
        "Linear": "linear",
        "Logistic": "logistic",
        "MultilayerPerceptron": "multilayer_perceptron",
        "OneVsRest": "one_vs_rest",
        "PseudoHuber": "pseudo_huber",
        "Sigmoid": "sigmoid",
        "Softmax": "softmax",
        "Squared": "squared",
        "TanhNetwork": "tanh_network",
        **dict.fromkeys(("Weighted", "with_class_weights"), "weighted"),
    },
)

_KINDS = {
    "logistic": "Logistic",
    "softmax": "Softmax",
    "one-vs-rest": "OneVsRest",
    "pseudo-huber": "PseudoHuber",
    "linear": "Linear",
    "sigmoid": "Sigmoid",
    "tanh-network": "TanhNetwork",
    "multilayer-perceptron": "MultilayerPerceptron",
}
CATALOGUE: Mapping[str, type[Loss]] = Catalogue(_KINDS, lambda name: __getattr__(_KINDS[name]))


def from_dict(description: dict[str, Any]) -> Loss:
    """Return the loss that `Loss.to_dict` described.

    Raises:
        InvalidParameter: If the name or a field is unknown, or a field is missing.
        AssumptionViolated: If the loss is the squared loss, which no stored plan uses.
    """
    if not isinstance(description, dict):
        raise InvalidParameter(f"a loss is described by its name and fields, not by {type(description).__name__}")
    fields = dict(description)
    name = fields.pop("name", None)
    if name == "squared":
        __getattr__("Squared")(1.0).constants  # noqa: B018 - raises: no stored plan uses the squared loss
    if name == "clipped":
        if set(fields) != {"base", "limit"}:
            raise InvalidParameter(f"loss {name!r} takes base and limit, and nothing else")
        clipped: Loss = __getattr__("clip_loss")(from_dict(fields["base"]), fields["limit"])
        return clipped
    if name == "network":  # of an extra, above this room: loaded where a plan names it
        return on_first_use(__name__, {"NetworkLoss": ".networks"})("NetworkLoss").from_dict(fields)  # type: ignore[no-any-return]
    if name == "weighted":
        weights = fields.get("weights")
        if set(fields) != {"base", "weights"} or not isinstance(weights, list):
            raise InvalidParameter(f"loss {name!r} takes base, and weights as a list: one number for each class")
        weighted: Loss = __getattr__("with_class_weights")(from_dict(fields["base"]), weights)
        return weighted
    if name not in CATALOGUE:
        raise InvalidParameter(f"must be one of {', '.join(map(repr, CATALOGUE))}", loss=name)
    kind = CATALOGUE[name]
    known = [field.name for field in dataclasses.fields(kind)]
    if unknown := sorted(set(fields) - set(known)):
        raise InvalidParameter(f"loss {name!r} does not take {', '.join(unknown)}; it takes {', '.join(known)}")
    try:
        return kind(**fields)
    except TypeError as error:  # a field is missing
        raise InvalidParameter(f"loss {name!r} takes {', '.join(known)}: {error}") from error

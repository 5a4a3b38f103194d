"""Describe a torch module as JSON and build it from there, so that a plan in a file can name a network without bringing code.

Only layers of `torch.nn` in `LAYERS`, in a `torch.nn.Sequential`, can be described; the values of their parameters are not part of the description.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..errors import InvalidParameter

if TYPE_CHECKING:
    import torch

_CONVOLUTION = ("in_channels", "out_channels", "kernel_size", "stride", "padding", "dilation", "groups", "bias")
LAYERS: Mapping[str, tuple[str, ...]] = {  # name in torch.nn -> arguments that describe it
    "AdaptiveAvgPool2d": ("output_size",),
    "AvgPool2d": ("kernel_size", "stride", "padding"),
    "Conv1d": _CONVOLUTION,
    "Conv2d": _CONVOLUTION,
    "Flatten": ("start_dim", "end_dim"),
    "GELU": ("approximate",),
    "GroupNorm": ("num_groups", "num_channels", "eps", "affine"),
    "Identity": (),
    "LayerNorm": ("normalized_shape", "eps", "elementwise_affine"),
    "LeakyReLU": ("negative_slope",),
    "Linear": ("in_features", "out_features", "bias"),
    "MaxPool2d": ("kernel_size", "stride", "padding"),
    "ReLU": (),
    "SiLU": (),
    "Sigmoid": (),
    "Softplus": ("beta", "threshold"),
    "Tanh": (),
    "Unflatten": ("dim", "unflattened_size"),
}
MOST_LAYERS = 1000
MOST_WEIGHTS = 10**8


def describe_module(module: torch.nn.Module) -> list[list[Any]]:
    """Return the layers of a `torch.nn.Sequential` as a list of [name, arguments].

    Raises:
        InvalidParameter: If the module is not a Sequential of the layers in `LAYERS`.
    """
    import torch

    if type(module) is not torch.nn.Sequential:
        raise _undescribed_error(module)
    described = []
    for layer in module.children():
        name = type(layer).__name__
        if name not in LAYERS or type(layer) is not getattr(torch.nn, name):
            raise _undescribed_error(layer)
        arguments = {argument: _plain(getattr(layer, argument)) for argument in LAYERS[name]}
        if getattr(layer, "padding_mode", "zeros") != "zeros" or any(map(_is_unusual, arguments.values())):
            raise _undescribed_error(layer)
        described.append([name, arguments])
    if [describe_parameters(module)] != [describe_parameters(build_module(described))]:
        raise _undescribed_error(module)  # a layer option that the description does not carry changes the parameters
    return described


def build_module(described: Any) -> torch.nn.Module:
    """Return the module that `describe_module` described, with parameters of torch's own initialization.

    Raises:
        InvalidParameter: If the description names an unknown layer or argument, or a network of more than 10^8 weights.
    """
    import torch

    if not isinstance(described, list) or not 1 <= len(described) <= MOST_LAYERS:
        raise InvalidParameter(f"a network is described by a list of 1 to {MOST_LAYERS} layers, each [name, arguments]")
    for layer in described:
        if not isinstance(layer, list) or len(layer) != 2 or layer[0] not in LAYERS or not isinstance(layer[1], dict):
            raise InvalidParameter(f"a layer must be [name, arguments], with a name of {', '.join(LAYERS)}")
        if set(layer[1]) != set(LAYERS[layer[0]]):
            raise InvalidParameter(f"layer {layer[0]} takes {', '.join(LAYERS[layer[0]]) or 'no arguments'}")

    def build() -> torch.nn.Module:
        layers = [
            getattr(torch.nn, name)(**{argument: _tuples(value) for argument, value in arguments.items()})
            for name, arguments in described
        ]
        return torch.nn.Sequential(*layers)

    try:
        with torch.device("meta"):  # sizes without memory
            weights = sum(parameter.numel() for parameter in build().parameters())
        if weights > MOST_WEIGHTS:
            raise InvalidParameter(f"the described network has {weights} weights; at most {MOST_WEIGHTS:.0e} are built")
        return build()
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise InvalidParameter(f"torch does not build the described network: {error}") from error


def load_module(name: str) -> torch.nn.Module:
    """Return the module that a function without arguments makes, named as `package.module:function`.

    The package is looked for in the working directory first. Its code runs.

    Raises:
        InvalidParameter: If there is no such function, or what it returns is not a torch module.
    """
    import torch

    package, colon, function = name.partition(":")
    if not (package and colon and function):
        raise InvalidParameter("must be package.module:function, as in my_networks:build", module=name)
    sys.path.insert(0, os.getcwd())
    try:
        made = getattr(import_module(package), function)()
    except (ImportError, AttributeError) as error:
        raise InvalidParameter(f"cannot be loaded: {error}", module=name) from error
    finally:
        sys.path.pop(0)
    if not isinstance(made, torch.nn.Module):
        raise InvalidParameter(f"must return a torch.nn.Module, not {type(made).__name__}", module=name)
    return made


def describe_parameters(module: torch.nn.Module) -> list[tuple[str, tuple[int, ...]]]:
    """Return name and shape of every parameter."""
    return [(name, tuple(parameter.shape)) for name, parameter in module.named_parameters()]


def _plain(value: Any) -> Any:
    import torch

    if isinstance(value, torch.nn.Parameter) or value is None:  # a bias: whether there is one
        return value is not None
    return list(value) if isinstance(value, tuple) else value


def _is_unusual(value: Any) -> bool:
    items = value if isinstance(value, list) else [value]
    return not all(isinstance(item, int | float | str) for item in items)


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _undescribed_error(part: torch.nn.Module) -> InvalidParameter:
    return InvalidParameter(
        f"the network part {type(part).__name__} cannot be described in a file; use a torch.nn.Sequential of {', '.join(LAYERS)}"
    )

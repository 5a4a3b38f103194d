"""Which device a run is made on: asked for by name, checked before anything is changed."""

from __future__ import annotations

from typing import Any

from ..errors import InvalidParameter, MissingDependency
from .group import Group


def check(device: str, group: Group) -> str:
    """The device's name, if runs of this process can be made there: to be asked before anything is changed.

    Raises:
        MissingDependency: torch is not installed.
        InvalidParameter: there is no such device here.
    """
    if device != "cpu":
        torch_module()
        find_device(device, group)
    return device


def torch_module() -> Any:
    try:
        import torch
    except ImportError as error:
        raise MissingDependency("a device needs torch; pip install 'noisygd-delete[torch]'") from error
    return torch


def find_device(device: str, group: Group) -> Any:
    """The torch device of this process: in a group, "cuda" is the one of its number on its machine.

    Raises:
        InvalidParameter: there is no such device here.
    """
    import torch

    try:
        place = torch.device(device)
    except RuntimeError as error:
        raise InvalidParameter(f"device must be 'cpu', 'cuda' or 'cuda:1', not {device!r}") from error
    if place.type not in ("cpu", "cuda"):
        raise InvalidParameter(f"device must be 'cpu' or a CUDA device, not {device!r}")
    if place.type == "cpu":
        return place
    there = torch.cuda.device_count() if torch.cuda.is_available() else 0
    index = place.index if place.index is not None else group.local_rank
    if index >= there:
        raise InvalidParameter(
            f"there is no CUDA device {index} on this machine ({there} found); choose another, or 'cpu', which is the default"
        )
    return torch.device("cuda", index)


def multiprocessors(device: Any) -> int:
    import torch

    return torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 1

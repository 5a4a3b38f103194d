"""How a run is made: on which device, by which processes, under whose noise, and who is told how far it is.

An `Execution` is handed down from whoever asks for a run to the engine, and nobody keeps it: what persists between two
releases says nothing of how they were made.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from ..errors import InvalidParameter, MissingDependency
from .group import ALONE, Group
from .noise import Noise, noise_source
from .noisygd import Progress

MOST_SECONDS = 86_400.0  # that a run may be told to last


def usual_device() -> str:
    """The environment's NOISYGD_DELETE_DEVICE, else the processor."""
    return os.environ.get("NOISYGD_DELETE_DEVICE", "cpu")


@dataclass(frozen=True, eq=False)
class Execution:
    """One way of making runs, the same numbers within floating-point tolerance on every device and in every group.

    device    "cpu", or a torch device such as "cuda" or "cuda:1"; in a group "cuda" is a device for each process of a
              machine. Default: what the environment's NOISYGD_DELETE_DEVICE says, else "cpu"
    group     the processes that make the same calls on the same records and share the work; default: this one alone
    rng       None: certified noise. A `numpy.random.Generator`: research, and what it makes is not certified
    progress  told the number of steps done, which depends on no record
    memory    bytes of rows to hold where they are read from a source; None: a quarter of the machine's memory
    lasts     seconds: a model that a solver made, whose passes may depend on the records, is held until so long after its run began

    It holds no key: every run draws a new one (`noise`). It refuses to be pickled or copied, as a generator that went
    two ways would give the same noise twice.
    """

    device: str = field(default_factory=usual_device)
    group: Group = ALONE
    rng: np.random.Generator | None = field(default=None, repr=False)
    progress: Progress | None = field(default=None, repr=False)
    memory: int | None = None
    lasts: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.lasts <= MOST_SECONDS:
            raise InvalidParameter(f"must be 0 to {MOST_SECONDS:g} seconds", lasts=self.lasts)

    @classmethod
    def of(cls, execution: Execution | None, rng: np.random.Generator | None) -> Execution:
        """The execution that a caller gave, or the one for which a generator alone is short.

        Raises:
            InvalidParameter: both were given.
        """
        if execution is None:
            return cls(rng=rng)
        if rng is not None:
            raise InvalidParameter("rng= is short for execution=Execution(rng=...); give one of the two")
        return execution

    def noise(self) -> Noise:
        """The noise of one run: under a key that nothing else has, shared by the processes of the group."""
        return noise_source(self.rng, self.group.share)

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError("an execution is never copied, pickled or stored: a generator in two places repeats its noise")

    __reduce_ex__ = __reduce__ = __copy__ = __deepcopy__ = _refuse


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

"""Several processes on one table: each sums the gradient over its own rows, and one all-reduce a step adds the sums up.

Started by `torchrun`. Every process makes the same calls on the same records with the same plan, draws the same noise from one
key, and so holds the same weights; without torchrun a process is alone.

What crosses the network are gradient sums and, once a run, the key of the noise: the machines of a group, and the wires
between them, are one trusted curator.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..bounds.arithmetic import MOST_PROCESSES
from ..errors import InvalidParameter, ProcessLost

Value = TypeVar("Value")


# between two requests of a stream the others wait; a process that died is noticed at once
_PATIENCE = timedelta(days=1)

_STARTING = 2.0  # seconds that torchrun takes to start processes, and they to load torch
_MESSAGE = 3e-4  # seconds of an all-reduce
_NUMBERS_A_SECOND = 1e9  # of the rows, by one process


class Group:
    """A group of one: what a process is unless torchrun started it."""

    rank = 0
    size = 1
    local_rank = 0  # among the processes of this machine

    def rows(self, slots: int, block: int) -> range:
        """The slots that this process reads: whole blocks, so that no block is split between processes."""
        blocks = -(-slots // block)
        first, last = (blocks * share // self.size * block for share in (self.rank, self.rank + 1))
        return range(min(first, slots), min(last, slots))

    def total(self, part: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of every process's `part`, the same bits in each of them."""
        return part

    def add_up(self, part: Any) -> None:
        """`total` in place, of a torch tensor on its device."""

    def share(self, value: Value) -> Value:
        """Process 0's value, in every process."""
        return value

    def gather(self, value: Value) -> list[Value]:
        """Every process's value, in the order of their ranks."""
        return [value]


ALONE = Group()


class TorchGroup(Group):
    """The processes that torchrun started together, over gloo; what lies on CUDA devices, over NCCL.

    Raises (all methods that communicate):
        ProcessLost: another process of the group has gone.
    """

    def __init__(self) -> None:
        import torch
        from torch import distributed

        self._distributed = distributed
        if not distributed.is_initialized():
            nccl = distributed.is_nccl_available() and torch.cuda.is_available()
            distributed.init_process_group("cpu:gloo,cuda:nccl" if nccl else "gloo", timeout=_PATIENCE)
            atexit.register(distributed.destroy_process_group)
        self.rank, self.size = distributed.get_rank(), distributed.get_world_size()
        self.local_rank = int(os.environ["LOCAL_RANK"])
        if not self.size <= MOST_PROCESSES:
            raise InvalidParameter(
                f"{self.size} processes are more than the {MOST_PROCESSES} that the declared rounding slack covers"
            )

    def total(self, part: NDArray[np.float64]) -> NDArray[np.float64]:
        import torch

        summed = np.array(part, dtype=np.float64)
        self.add_up(torch.from_numpy(summed))
        return summed

    def add_up(self, part: Any) -> None:
        with _notice_losses():
            self._distributed.all_reduce(part)

    def share(self, value: Value) -> Value:
        box: list[Any] = [value]
        with _notice_losses():
            self._distributed.broadcast_object_list(box, src=0)
        shared: Value = box[0]
        return shared

    def gather(self, value: Value) -> list[Value]:
        box: list[Any] = [None] * self.size
        with _notice_losses():
            self._distributed.all_gather_object(box, value)
        return box


def worth_sharing(numbers: int, *, passes: int, processes: int) -> bool:
    """Whether several processes read a table of so many numbers so often in less time than one, their start included.

    Rough, from rates measured on one machine: for advice alone.
    """
    alone = passes * numbers / _NUMBERS_A_SECOND
    return alone * (1 - 1 / processes) > _STARTING + passes * _MESSAGE


@contextmanager
def _notice_losses() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        raise ProcessLost(
            f"another process of the group has gone ({error}); an accepted request is finished by the next command"
        ) from error


@cache
def launched_group() -> Group:
    """The group that torchrun started this process in; else this process alone."""
    inside = "TORCHELASTIC_RUN_ID" in os.environ and int(os.environ.get("WORLD_SIZE", "1")) > 1
    return TorchGroup() if inside else ALONE

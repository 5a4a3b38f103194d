"""How a run is made: on which device, by which processes, under whose noise, and who is told how far it is.

An `Execution` is handed down from whoever asks for a run to the engine, and nobody keeps it: what persists between two
releases says nothing of how they were made.
"""

from __future__ import annotations

import atexit
import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from ..bounds.arithmetic import MOST_PROCESSES
from ..errors import InvalidParameter, MissingDependency, ProcessLost
from .noise import Noise, noise_source
from .noisygd import Progress

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor


# --- group ---
#
# Several processes on one table: each sums the gradient over its own rows, and one all-reduce a step adds the sums up.
#
# Started by `torchrun`. Every process makes the same calls on the same records with the same plan, draws the same noise from one
# key, and so holds the same weights; without torchrun a process is alone.
#
# What crosses the network are gradient sums and, once a run, the key of the noise: the machines of a group, and the wires
# between them, are one trusted curator.


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
        with _translate_process_loss():
            self._distributed.all_reduce(part)

    def share(self, value: Value) -> Value:
        box: list[Any] = [value]
        with _translate_process_loss():
            self._distributed.broadcast_object_list(box, src=0)
        shared: Value = box[0]
        return shared

    def gather(self, value: Value) -> list[Value]:
        box: list[Any] = [None] * self.size
        with _translate_process_loss():
            self._distributed.all_gather_object(box, value)
        return box


def is_worth_sharing(numbers: int, *, passes: int, processes: int) -> bool:
    """Whether several processes read a table of so many numbers so often in less time than one, their start included.

    Rough, from rates measured on one machine: for advice alone.
    """
    alone = passes * numbers / _NUMBERS_A_SECOND
    return alone * (1 - 1 / processes) > _STARTING + passes * _MESSAGE


@contextmanager
def _translate_process_loss() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        raise ProcessLost(
            f"another process of the group has gone ({error}); an accepted request is finished by the next command"
        ) from error


@cache
def find_launched_group() -> Group:
    """The group that torchrun started this process in; else this process alone."""
    inside = "TORCHELASTIC_RUN_ID" in os.environ and int(os.environ.get("WORLD_SIZE", "1")) > 1
    return TorchGroup() if inside else ALONE


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


def check_device(device: str, group: Group) -> str:
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


# --- threads ---
#
# Who gets the processors: threads of our own over the parts of a table, and one thread for each matrix product.
#
# The threads of a BLAS wait for each other in a loop at the end of every product. Where a neighbour has a processor, each of the many products of
# a step then waits for a thread that does not run: steps were measured up to three times slower so (benchmarks/results/threads.md), a network's
# a hundred times. Parts that are worked on side by side wait once, asleep. Beside its passes a large solve keeps the BLAS's own threads, for the few
# large products of its sample. A caller's own limit, OMP_NUM_THREADS for example, is never raised. In which thread a part is worked on changes no
# sum: parts are added in their order.


LEAST = 1 << 25  # numbers of the rows times scores of a record, from which on a solve keeps the threads that are set
CGROUPS = Path("/sys/fs/cgroup")  # of Linux, version 2
_PARALLEL = 1 << 22  # numbers in a table worth waking a second thread for

T = TypeVar("T")
Made = TypeVar("Made")


@cache
def _pools() -> ThreadpoolController:
    """The BLAS libraries of this process; whoever asks has loaded numpy's."""
    return ThreadpoolController()


@contextmanager
def limit_threads(work: int = 0) -> Iterator[None]:
    """Within, matrix products run on one thread if a pass multiplies fewer than `LEAST` numbers, a public size; else on as many as are set, of
    those that `allowed` knows."""
    most = (
        min(available_processors(), *(pool.num_threads for pool in _pools().select(user_api="blas").lib_controllers))
        if work >= LEAST
        else 1
    )
    with _pools().limit(limits=most, user_api="blas"):
        yield


def thread_count(numbers: int) -> int:
    """How many threads a table of so many numbers gets: one, where it is small; else as many as OMP_NUM_THREADS says, which also governs
    matrix products; else one for each processor that is `allowed`."""
    if numbers < _PARALLEL:
        return 1
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdigit():
        return max(1, int(asked))
    return available_processors()


@cache
def available_processors() -> int:
    """How many processors this process may use: of its affinity, no more than the control groups that it is in pay for."""
    processors = float(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    with suppress(OSError, ValueError):
        group = CGROUPS / Path("/proc/self/cgroup").read_text().rpartition("::")[2].strip().lstrip("/")
        for folder in (group, *group.parents):
            if (limit := folder / "cpu.max").is_file():
                time, period = limit.read_text().split()
                processors = min(processors, math.inf if time == "max" else int(time) / int(period))
    return max(1, math.ceil(processors))


@cache
def thread_pool(threads: int, _process: int) -> ThreadPoolExecutor:
    """Threads of this process: they do not survive a fork, hence its id."""
    from concurrent.futures import ThreadPoolExecutor  # slow to load

    return ThreadPoolExecutor(threads, thread_name_prefix="noisygd-delete")


def run_parallel(work: Callable[[T], Made], parts: Iterable[T], numbers: int) -> Iterator[Made]:
    """What becomes of each part, in their order; a few are worked on ahead. `numbers`: of the table that they are parts of."""
    threads = thread_count(numbers)
    if threads == 1:
        yield from map(work, parts)
        return
    ahead: deque[Future[Made]] = deque()
    with limit_threads():
        for part in parts:
            ahead.append(thread_pool(threads, os.getpid()).submit(work, part))
            if len(ahead) > 2 * threads:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()

"""How a run is executed: the device, the processes, the source of noise, and the progress callback.

An `Execution` is passed from the caller of a run down to the engine and never stored: the state that persists between
two releases contains nothing about how they were made.
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
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from ..bounds.arithmetic import MOST_PROCESSES
from ..errors import InvalidParameter, MissingDependency, ProcessLost
from .noise import NeverCopied, Noise, noise_source
from .noisygd import Progress

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor


# --- group ---
#
# Several processes on one table: each sums the gradient over its own rows, and one all-reduce per step adds the sums.
#
# Started by `torchrun`. Every process makes the same calls on the same records with the same plan and draws the same
# noise from one key, so all compute the same weights; without torchrun a process is a group of one.
#
# The network carries gradient sums and, once per run, the key of the noise: the machines of a group and the network
# between them are one trusted curator.


Value = TypeVar("Value")


# between two requests of a stream the other processes wait; a process that died is noticed at once
_PATIENCE = timedelta(days=1)

_STARTING = 2.0  # seconds for torchrun to start processes, and for these to load torch
_MESSAGE = 3e-4  # seconds of an all-reduce
_NUMBERS_A_SECOND = 1e9  # numbers of the rows that one process reads


class Group:
    """A group of one process: the default unless torchrun started the process."""

    rank = 0
    size = 1
    local_rank = 0  # among the processes of this machine

    def rows(self, slots: int, block: int) -> range:
        """Return the slots that this process reads: whole blocks, so that no block is split between processes."""
        blocks = -(-slots // block)
        first, last = (blocks * share // self.size * block for share in (self.rank, self.rank + 1))
        return range(min(first, slots), min(last, slots))

    def total(self, part: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of every process's `part`, bit-identical in all of them."""
        return part

    def add_up(self, part: Any) -> None:
        """Compute `total` in place, for a torch tensor on its device."""

    def share(self, value: Value) -> Value:
        """Return process 0's value in every process."""
        return value

    def gather(self, value: Value) -> list[Value]:
        """Return every process's value, in the order of their ranks."""
        return [value]


ALONE = Group()


class TorchGroup(Group):
    """The processes started together by torchrun, communicating by gloo, and by NCCL for tensors on CUDA devices.

    Raises:
        ProcessLost: In all methods that communicate, if another process of the group has exited.
        InvalidParameter: If there are more processes than the declared rounding slack covers.
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
    """Return whether several processes are faster than one, including their start, for `passes` over `numbers` numbers.

    A rough estimate from rates measured on one machine, used only for advice.
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
    """Return the group in which torchrun started this process, or `ALONE`."""
    inside = "TORCHELASTIC_RUN_ID" in os.environ and int(os.environ.get("WORLD_SIZE", "1")) > 1
    return TorchGroup() if inside else ALONE


MOST_SECONDS = 86_400.0  # largest duration that can be set for a run


def usual_device() -> str:
    """Return the environment variable NOISYGD_DELETE_DEVICE, or "cpu"."""
    return os.environ.get("NOISYGD_DELETE_DEVICE", "cpu")


@dataclass(frozen=True, eq=False)
class Execution(NeverCopied):
    """Settings of runs. Results agree within floating-point tolerance on every device and in every group.

    It holds no key: every run draws a new one (`noise`). It cannot be pickled or copied, as a generator in two places
    would give the same noise twice.

    Attributes:
        device: "cpu", or a torch device such as "cuda" or "cuda:1"; in a group "cuda" is one device for each process of
            a machine. Default: the environment variable NOISYGD_DELETE_DEVICE, else "cpu".
        group: Processes that make the same calls on the same records and share the work; default: this one alone.
        rng: None for certified noise; a `numpy.random.Generator` for research, whose results are not certified.
        progress: Callback with the number of steps done, which depends on no record.
        memory: Bytes of rows to hold if they are read from a source; None: a quarter of the machine's memory.
        lasts: Duration in seconds: a model from a solver, whose passes may depend on the records, is held back until
            this long after its run began.
    """

    _refusal: ClassVar[str] = (
        "an execution is never copied, pickled or stored: a generator in two places repeats its noise"
    )

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
        """Return the caller's execution, or one with the given generator.

        Raises:
            InvalidParameter: If both are given.
        """
        if execution is None:
            return cls(rng=rng)
        if rng is not None:
            raise InvalidParameter("rng= is short for execution=Execution(rng=...); give one of the two")
        return execution

    def noise(self) -> Noise:
        """Return the noise of one run, under a fresh key shared by the processes of the group."""
        return noise_source(self.rng, self.group.share)


def check_device(device: str, group: Group) -> str:
    """Return the name of the device if this process can run there. Call it before anything is changed.

    Raises:
        MissingDependency: If torch is not installed.
        InvalidParameter: If the device does not exist.
    """
    if device != "cpu":
        torch_module()
        find_device(device, group)
    return device


def torch_module() -> Any:
    """Import torch.

    Raises:
        MissingDependency: If it is not installed.
    """
    try:
        import torch
    except ImportError as error:
        raise MissingDependency("a device needs torch; pip install 'noisygd-delete[torch]'") from error
    return torch


def find_device(device: str, group: Group) -> Any:
    """Return the torch device of this process; in a group, "cuda" is the device with its local rank.

    Raises:
        InvalidParameter: If the device does not exist.
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
# Our own threads run over the parts of a table, with one thread for each matrix product.
#
# The threads of a BLAS busy-wait for each other at the end of every product. If another program occupies a processor,
# each of the many products of a step waits for a thread that is not scheduled: steps were measured up to three times
# slower (benchmarks/results/threads.md), those of a network a hundred times. Parts processed in parallel wait once, by
# blocking. Outside its passes a large solve keeps the BLAS's own threads, for the few large products of its sample. A
# limit set by the caller, such as OMP_NUM_THREADS, is never raised. Sums do not depend on which thread processes a
# part: parts are added in their order.


LEAST = 1 << 25  # numbers of the rows times scores of a record from which a solve keeps the configured threads
CGROUPS = Path("/sys/fs/cgroup")  # Linux control groups, version 2
_PARALLEL = 1 << 22  # numbers in a table worth waking a second thread for

T = TypeVar("T")
Made = TypeVar("Made")


@cache
def _pools() -> ThreadpoolController:
    """Return the BLAS libraries of this process; numpy's is loaded already."""
    return ThreadpoolController()


@contextmanager
def limit_threads(work: int = 0) -> Iterator[None]:
    """Limit matrix products to one thread if a pass multiplies fewer than `LEAST` numbers.

    Otherwise the configured number of threads is used, at most `available_processors`. `work`, the number of
    multiplications, is public.
    """
    most = (
        min(available_processors(), *(pool.num_threads for pool in _pools().select(user_api="blas").lib_controllers))
        if work >= LEAST
        else 1
    )
    with _pools().limit(limits=most, user_api="blas"):
        yield


def thread_count(numbers: int) -> int:
    """Return the number of threads for a table of this size.

    One for a small table; otherwise OMP_NUM_THREADS, which also governs matrix products, or one for each available
    processor.
    """
    if numbers < _PARALLEL:
        return 1
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdigit():
        return max(1, int(asked))
    return available_processors()


@cache
def available_processors() -> int:
    """Return the number of processors for this process: its affinity, limited by its control groups' quotas."""
    processors = float(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    for time, period in control_group_limits("cpu.max"):
        processors = min(processors, time / period)
    return max(1, math.ceil(processors))


def control_group_limits(name: str) -> list[list[int]]:
    """Return the numbers of each limit of this name, as "cpu.max", that the process's control groups set."""
    found = list[list[int]]()
    with suppress(OSError, ValueError):
        group = CGROUPS / Path("/proc/self/cgroup").read_text().rpartition("::")[2].strip().lstrip("/")
        for folder in (group, *group.parents):
            words = limit.read_text().split() if (limit := folder / name).is_file() else []
            if words and words[0] != "max":
                found.append([int(word) for word in words])
    return found


@cache
def thread_pool(threads: int, _process: int) -> ThreadPoolExecutor:
    """Return the thread pool of this process; threads do not survive a fork, hence the process id."""
    from concurrent.futures import ThreadPoolExecutor  # slow to load

    return ThreadPoolExecutor(threads, thread_name_prefix="noisygd-delete")


def run_parallel(work: Callable[[T], Made], parts: Iterable[T], numbers: int) -> Iterator[Made]:
    """Yield `work(part)` for each part, in order, with a few computed ahead.

    Args:
        work: Processes one part.
        parts: The parts.
        numbers: Size of the whole table.
    """
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

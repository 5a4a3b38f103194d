"""Who gets the processors: threads of our own over the parts of a table, and one thread for each matrix product.

The threads of a BLAS wait for each other in a loop at the end of every product. Where a neighbour has a processor, each of the many products of
a step then waits for a thread that does not run: steps were measured up to three times slower so (benchmarks/results/threads.md), a network's
a hundred times. Parts that are worked on side by side wait once, asleep. Beside its passes a large solve keeps the BLAS's own threads, for the few
large products of its sample. A caller's own limit, OMP_NUM_THREADS for example, is never raised. In which thread a part is worked on changes no
sum: parts are added in their order.
"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from threadpoolctl import ThreadpoolController

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

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
        min(allowed(), *(pool.num_threads for pool in _pools().select(user_api="blas").lib_controllers))
        if work >= LEAST
        else 1
    )
    with _pools().limit(limits=most, user_api="blas"):
        yield


def processors(numbers: int) -> int:
    """How many threads a table of so many numbers gets: one, where it is small; else as many as OMP_NUM_THREADS says, which also governs
    matrix products; else one for each processor that is `allowed`."""
    if numbers < _PARALLEL:
        return 1
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdigit():
        return max(1, int(asked))
    return allowed()


@cache
def allowed() -> int:
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
def pool(threads: int, _process: int) -> ThreadPoolExecutor:
    """Threads of this process: they do not survive a fork, hence its id."""
    from concurrent.futures import ThreadPoolExecutor  # slow to load

    return ThreadPoolExecutor(threads, thread_name_prefix="noisygd-delete")


def side_by_side(work: Callable[[T], Made], parts: Iterable[T], numbers: int) -> Iterator[Made]:
    """What becomes of each part, in their order; a few are worked on ahead. `numbers`: of the table that they are parts of."""
    threads = processors(numbers)
    if threads == 1:
        yield from map(work, parts)
        return
    ahead: deque[Future[Made]] = deque()
    with limit_threads():
        for part in parts:
            ahead.append(pool(threads, os.getpid()).submit(work, part))
            if len(ahead) > 2 * threads:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()

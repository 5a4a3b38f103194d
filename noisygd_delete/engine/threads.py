"""How many threads a run's matrix products get: one, where the table is small.

numpy and scipy each bring a BLAS with threads of its own; between the products of a small solve both pools wait for work
in a loop, on each other's processors. From what size on more threads pay was measured (benchmarks/results/threads.md).
A caller's own limit, OMP_NUM_THREADS for example, is never raised. The sums are the same within the declared slack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

LEAST = 1 << 25  # numbers of the rows times scores of a record, from which on a product wakes a second thread

Result = TypeVar("Result")


@cache
def _pools() -> ThreadpoolController:
    """The BLAS libraries of this process; whoever asks has loaded numpy's and scipy's."""
    return ThreadpoolController()


@contextmanager
def limited(work: int) -> Iterator[None]:
    """Within, matrix products run on one thread if a pass multiplies fewer than `LEAST` numbers: a public size."""
    if work >= LEAST:
        yield
        return
    with _pools().limit(limits=1, user_api="blas"):
        yield


def on_threads_that_pay(run: Callable[..., Result]) -> Callable[..., Result]:
    """`run(records, plan, …)`, limited by the size of its table."""

    @wraps(run)
    def sized(records: Any, plan: Any, *rest: Any) -> Result:
        with limited(records.features.size * plan.loss.outputs):
            return run(records, plan, *rest)

    return sized

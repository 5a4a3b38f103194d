"""How many threads a solve's matrix products get: one, where the table is small.

numpy and scipy each bring a BLAS with threads of its own; a solve calls both in turn, and between the products of a small
one each pool waits for work in a loop, on the other's processors. Noisy steps call one pool only and keep their threads.
From what size on more threads pay was measured (benchmarks/results/threads.md). A caller's own limit, OMP_NUM_THREADS for
example, is never raised. The sums are the same within the declared slack.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

LEAST = 1 << 25  # numbers of the rows times scores of a record, from which on a solve keeps the threads that are set


@cache
def _pools() -> ThreadpoolController:
    """The BLAS libraries of this process; whoever asks has loaded numpy's and scipy's."""
    return ThreadpoolController()


@contextmanager
def limit_threads(work: int) -> Iterator[None]:
    """Within, matrix products run on one thread if a pass multiplies fewer than `LEAST` numbers: a public size."""
    if work >= LEAST:
        yield
        return
    with _pools().limit(limits=1, user_api="blas"):
        yield

"""Side-by-side timing on a busy machine: every candidate in every round, medians at the end."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Mapping
from statistics import median


def processor_of_children() -> float:
    """Seconds that processes started here, and ended, took of a processor: what a busy machine does besides does not count."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def rounds(
    candidates: Mapping[str, tuple[Callable[[], object], int]],
    repeats: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Seconds of each candidate divided by its count, one per round, after one round that is not counted."""
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for turn in range(repeats + 1):
        for name, (call, count) in candidates.items():
            began = clock()
            call()
            if turn:
                times[name].append((clock() - began) / count)
    return times


def ratio(times: Mapping[str, list[float]], above: str, below: str) -> float:
    """Ratio of medians."""
    return median(times[above]) / median(times[below])

"""Side-by-side timing on a busy machine: every candidate in every round, medians at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from statistics import median


def rounds(candidates: Mapping[str, tuple[Callable[[], object], int]], repeats: int) -> dict[str, list[float]]:
    """Seconds of each candidate divided by its count, one per round, after one round that is not counted."""
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for turn in range(repeats + 1):
        for name, (call, count) in candidates.items():
            began = time.perf_counter()
            call()
            if turn:
                times[name].append((time.perf_counter() - began) / count)
    return times


def ratio(times: Mapping[str, list[float]], above: str, below: str) -> float:
    """Ratio of medians."""
    return median(times[above]) / median(times[below])

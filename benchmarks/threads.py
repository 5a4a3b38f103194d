"""A solve and a step by products: at the BLAS's own threads, on one thread, and as the package runs them."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from noisygd_delete import losses
from noisygd_delete.engine import Objective, execution
from noisygd_delete.engine.objective import PreciseObjective
from noisygd_delete.engine.solver import solve

from . import report
from .kernel import random_table
from .timing import ratio, rounds

_TEN = losses.Softmax(1.0, classes=10)
_ONE = losses.Logistic(1.0)
_NETWORK = losses.TanhNetwork(1.0, outer_weights=(0.25,) * 16)  # of which nothing is solved
SIZES: tuple[tuple[int, int, losses.Loss], ...] = (
    (1_500, 65, _TEN),
    (26_000, 108, _ONE),
    (26_000, 108, _NETWORK),
    (20_000, 100, _TEN),
    (60_000, 785, _TEN),
    (1_000_000, 100, _ONE),
)
RIDGE = 1e-3
MULTIPLIED = 2 * 10**8  # by the steps that are timed together, about
LARGE = 10**8  # from which on a solve is timed twice


def line(rows: int, features: int, loss: losses.Loss, repeats: int) -> list[str]:
    """Ratios for one size: by the clock."""
    table = random_table(rows, features, loss.outputs if loss.label_kind == "class" else 0)
    precise = PreciseObjective(table, loss, regularization=RIDGE)
    plain = Objective(table, loss, regularization=RIDGE)
    plain._kernel = None
    weights = np.zeros(plain.shape)
    facts: dict[str, Any] = {"start": None, "tolerance": 1e-6, "strong_convexity": RIDGE}

    def solving() -> object:
        return solve(precise, **facts, objective_smoothness=RIDGE + loss.constants.smoothness)

    work = rows * features * loss.outputs
    steps = max(5, min(400, MULTIPLIED // work))

    def taking(*, limited: bool, side_by_side: bool) -> tuple[Callable[[], None], int]:
        """Steps one after the other, as a run takes them: the threads of one way are asleep before another is timed."""

        def run() -> None:
            kept = execution._PARALLEL
            execution._PARALLEL = kept if side_by_side else sys.maxsize
            try:
                with execution.limit_threads() if limited else nullcontext():
                    for _ in range(steps):
                        plain.gradient(weights)
            finally:
                execution._PARALLEL = kept

        return run, steps

    def on_one() -> None:
        with execution.limit_threads():
            solving()

    solves = (
        rounds({"solve": (solving, 1), "solve on one": (on_one, 1)}, repeats if work < LARGE else 2)
        if loss is not _NETWORK
        else None
    )
    ways = {
        "step": taking(limited=False, side_by_side=False),
        "step on one": taking(limited=True, side_by_side=False),
        "ours": taking(limited=True, side_by_side=True),
    }
    times = rounds(ways, repeats)
    with neighbours():
        beside = rounds(ways, repeats)
    return [
        f"{rows:,} × {features}, {loss.name}, {loss.outputs} score{'s' if loss.outputs > 1 else ''}",
        f"{work:.1e}",
        "—" if solves is None else f"{ratio(solves, 'solve', 'solve on one'):.2f}",
        *(f"{ratio(when, name, 'ours'):.2f}" for when in (times, beside) for name in ("step", "step on one")),
    ]


@contextmanager
def neighbours() -> Iterator[None]:
    """A busy process for every processor but one."""
    busy = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(max(1, (os.cpu_count() or 1) - 1))
    ]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks threads")
    parser.add_argument("--repeats", type=int, default=9)
    chosen = parser.parse_args(arguments)
    measured, waiting = report.commit(), os.getloadavg()[0]
    lines = [line(*size, chosen.repeats) for size in SIZES]
    header = [
        "table",
        "numbers × scores",
        "solve: BLAS's threads / one",
        "step: BLAS's threads / ours",
        "step: one thread / ours",
        "beside a busy neighbour: BLAS's / ours",
        "one / ours",
    ]
    body = f"""\
Ratios of times by the clock, alternating in one process, many steps at a time; medians. A solve runs its products on one thread below {execution.LEAST:,}
numbers × scores, else on those that the BLAS has. A step runs its products on one thread, from {execution._PARALLEL:,}
numbers on over parts of the table side by side ("ours"): above 1, ours
is faster than a BLAS that shares every product among its threads, or than one thread. The neighbour: a busy process on all processors but one. Before the run
{waiting:.1f} processes of others waited for {os.cpu_count()} processors.

{report.table(header, lines)}"""
    print(
        report.write(
            "threads",
            "Threads of matrix products",
            " ".join(["python -m benchmarks threads", *arguments]),
            body,
            measured,
        )
    )
    print(body)

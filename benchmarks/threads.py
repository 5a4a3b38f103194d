"""A solve and a step by products at the processor's own number of BLAS threads, over the same on one thread."""

from __future__ import annotations

import argparse

import numpy as np
from threadpoolctl import threadpool_limits

from noisygd_delete import losses
from noisygd_delete.engine import Objective, threads
from noisygd_delete.engine.objective_float64 import PreciseObjective
from noisygd_delete.engine.solver import solve

from . import report
from .kernel import random_table
from .timing import ratio, rounds

SIZES = ((1_500, 65, 10), (26_000, 108, 1), (20_000, 100, 10), (60_000, 785, 10), (1_000_000, 100, 1))
RIDGE = 1e-3


def line(rows: int, features: int, classes: int, repeats: int) -> list[str]:
    """Ratios for one size: by the clock."""
    loss = losses.Softmax(1.0, classes=classes) if classes > 1 else losses.Logistic(1.0)
    table = random_table(rows, features, classes if classes > 1 else 0)
    precise = PreciseObjective(table, loss, regularization=RIDGE)
    plain = Objective(table, loss, regularization=RIDGE)
    plain._kernel = None
    weights = np.zeros(plain.shape)
    facts = {"start": None, "tolerance": 1e-6, "strong_convexity": RIDGE}

    def solving() -> object:
        return solve(precise, **facts, objective_smoothness=RIDGE + loss.constants.smoothness)

    def on_one(work):
        def limited() -> None:
            with threadpool_limits(1, user_api="blas"):
                work()

        return limited

    candidates = {
        "solve": (solving, 1),
        "solve on one": (on_one(solving), 1),
        "step": (lambda: plain.gradient(weights), 1),
        "step on one": (on_one(lambda: plain.gradient(weights)), 1),
    }
    times = rounds(candidates, repeats)
    work = rows * features * loss.outputs
    return [
        f"{rows:,} × {features}, {classes} score{'s' if classes > 1 else ''}",
        f"{work:.1e}",
        "one" if work < threads.LEAST else "as set",
        f"{ratio(times, 'solve', 'solve on one'):.2f}",
        f"{ratio(times, 'step', 'step on one'):.2f}",
    ]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks threads")
    parser.add_argument("--repeats", type=int, default=9)
    chosen = parser.parse_args(arguments)
    measured = report.commit()
    lines = [line(*size, chosen.repeats if size[0] * size[1] * size[2] < 10**8 else 2) for size in SIZES]
    header = [
        "table",
        "numbers × scores",
        "threads of a solve",
        "solve: default / one thread",
        "step: default / one thread",
    ]
    body = f"""\
numpy's and scipy's BLAS at their default threads over the same work on one thread, alternating in one process; medians. Above 1: one
thread is faster. `engine/threads.py` gives a solve one thread below {threads.LEAST:,} numbers × scores; noisy steps
keep what is set.

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

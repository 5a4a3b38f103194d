"""Noisy-GD down to the last bit beside the same over the reals: steps, noise, and the time of a step and of a deletion, in one process."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks import datasets, report
from noisygd_delete import Budget, EditRequest, Plan, Records, learn, losses, make_plan
from noisygd_delete.curator.learning import resume
from noisygd_delete.methods import Method, NoisyGD, OutputPerturbation, PaperNoisyGD

BUDGET = Budget(order=10, dp=1.0, deletion=0.1)
HEADER = [
    "table", "method", "λ", "K learn", "K delete", "σ² over float64's reals", "σ² over float32's", "gone, in any order: μ over ε_dd's",
    "time of a step over float32's", "of a deletion",
]  # fmt: skip
LEGEND = """\
Rényi order q=10, ε_dp=1, ε_dd=0.1, replace adjacency, Definition 4.1. Each method beside itself over the reals, with the slack of rounding of
its dtype; in exact steps every rounding is inside the bound, and there is no slack. *K*: steps over the reals in float32 → in exact steps. *σ²*: noise
variance in exact steps over that over the reals. *gone*: what one more release may tell of a record that is gone, by the order of rows alone (of *minimiser*: and
by the tolerance of its cold solver), over what the deletion budget allows (in the order of their contents: 0). *time*: processor
time in exact steps over that over the reals, each the least of {repeats}, turn and turn about, one thread; of *minimiser* a release is its solver's passes and its
steps."""
METHODS: dict[str, tuple[Method, Method]] = {
    "noisy-gd:analysis=paper": (PaperNoisyGD(exact=False), PaperNoisyGD(exact=True)),
    "noisy-gd": (NoisyGD(exact=False), NoisyGD(exact=True)),
    "output-perturbation": (
        OutputPerturbation(solver="cold", exact=False),
        OutputPerturbation(solver="cold", exact=True),
    ),
}


def million() -> datasets.Data:
    """10⁶ made rows of 20 features, unit norm."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((10**6, 20), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True) * 1.00001
    table = Records(rows, np.where(rows[:, 0] > 0, 1.0, -1.0))
    return datasets.Data("10⁶ made rows", table, table, losses.Logistic(1.0))


def seconds(records: Records, plans: list[Plan], steps: int, repeats: int) -> list[float]:
    """Of so many steps by each plan."""
    found = [float("inf")] * len(plans)
    short = [plan.changed(delete_steps_for_deletion=steps, delete_steps_for_utility=0) for plan in plans]
    models = [learn(records, plan.changed(learn_steps=min(plan.calibration.learn_steps, 1))) for plan in plans]
    for _ in range(repeats):
        for place, (plan, model) in enumerate(zip(short, models, strict=True)):
            began = time.process_time()
            resume(records, model, plan)
            found[place] = min(found[place], time.process_time() - began)
    return found


def lines(data: datasets.Data, regularizations: list[float], steps: int, repeats: int) -> Iterator[list[str]]:
    """A line of the table for each λ."""
    edited = data.train.apply(EditRequest.delete([0]))
    for regularization in regularizations:
        facts = {"records": data.train.slots, "features": data.train.width, "regularization": regularization}
        for name in METHODS:
            yield line(data, edited, facts, name, steps, repeats)


def line(data: datasets.Data, edited: Records, facts: dict[str, Any], name: str, steps: int, repeats: int) -> list[str]:
    """One method over the reals and in exact steps."""
    over_reals, in_steps = METHODS[name]
    real, wide, exact = (
        make_plan(data.loss, **facts, budget=BUDGET, method=method, dtype=dtype)
        for method, dtype in ((over_reals, "float32"), (over_reals, "float64"), (in_steps, "float64"))
    )
    charged = exact.allow_any_order()
    one_more = charged.mechanism.interval(
        "deletion", "erased-vs-never", steps_with=0, steps_without=charged.calibration.delete_steps
    )
    gone = f"{one_more.renyi(2) ** 0.5 / BUDGET.deletion_gdp():.1e}"
    solved = (
        exact.calibration.delete_solver_passes > 0
    )  # a release is timed as it is, the solver's passes and its few steps
    taken = seconds(edited, [real, exact], exact.calibration.delete_steps if solved else steps, repeats)
    step = taken[1] / taken[0]
    more = exact.calibration.noise_variance / wide.calibration.noise_variance - 1
    deletion = step if solved else step * exact.calibration.delete_steps / real.calibration.delete_steps
    return [
        f"{data.name}, {data.train.slots:,} × {data.train.width}, {data.loss.outputs} output(s)",
        name,
        f"{facts['regularization']:g}",
        f"{real.calibration.learn_steps:,} → {exact.calibration.learn_steps:,}",
        f"{real.calibration.delete_steps:,} → {exact.calibration.delete_steps:,}",
        f"1 {'+' if more >= 0 else '−'} {abs(more):.1e}",
        f"{exact.calibration.noise_variance / real.calibration.noise_variance:.4f}",
        gone,
        "" if solved else f"{step:.1f}",
        f"{deletion:.1f}",
    ]


def beside_the_kernel(data: datasets.Data, regularization: float, steps: int, repeats: int) -> str:
    """A whole deletion by `noisy-gd` in the compiled kernel, as in a process that learned before; the table's steps are matrix products."""
    from noisygd_delete.engine import kernel_numba  # noqa: F401

    edited = data.train.apply(EditRequest.delete([0]))
    facts = {"records": data.train.slots, "features": data.train.width, "regularization": regularization}
    real, exact = (make_plan(data.loss, **facts, budget=BUDGET, method=method) for method in METHODS["noisy-gd"])
    taken = seconds(edited, [real, exact], exact.calibration.delete_steps, repeats)
    return (
        f"Runs of {steps} steps are too short for the compiled kernel (extra `fast`). Both by it, as in a process that learned before, {data.name}, "
        f"λ = {regularization:g}: {exact.calibration.delete_steps} exact steps of `noisy-gd` take {taken[1] / taken[0]:.1f} times as long."
    )


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks exact_steps", description=__doc__)
    parser.add_argument("--regularization", nargs="+", type=float, default=[1e-1, 1e-2, 1e-3])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/exact_steps.md")
    parsed = parser.parse_args(arguments)
    commit, found = report.commit(), list[list[str]]()
    for made in (datasets.digits, datasets.adult, million):
        rows = list(lines(made(), parsed.regularization, parsed.steps, parsed.repeats))
        print(report.table(HEADER, rows), flush=True)
        found += rows
    if parsed.write:
        command = " ".join(["OMP_NUM_THREADS=1 python -m benchmarks exact_steps", *arguments])
        kernel = beside_the_kernel(datasets.adult(), 1e-3, parsed.steps, parsed.repeats)
        text = f"{LEGEND.format(repeats=parsed.repeats)}\n\n{report.table(HEADER, found)}\n\n{kernel}"
        report.write("exact_steps", "Noisy-GD down to the last bit, side by side", command, text, commit)

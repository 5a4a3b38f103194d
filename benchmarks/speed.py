"""Cost in ratios taken side by side: other engines, deletion against learning, the lower bound, growth, memory."""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from noisygd_delete import Budget, Curator, EditRequest, Execution, Records, losses, make_plan
from noisygd_delete.curator.learning import resume, train
from noisygd_delete.engine import Objective
from noisygd_delete.engine.noise import SecureNoise
from noisygd_delete.engine.noisygd import run_noisy_steps
from noisygd_delete.methods import OutputPerturbation
from noisygd_delete.methods.plan import Plan

from . import datasets, report
from .kernel import random_table
from .memory import peak_ratio
from .scaling import processes_gain
from .timing import ratio, rounds

ROOT = Path(__file__).parents[1]
Section = Callable[[int], str]


def _step(records: Records, loss: losses.Loss, steps: int = 1) -> Callable[[], object]:
    objective, noise = Objective(records, loss, regularization=1e-3), SecureNoise()
    start = np.zeros(objective.shape)
    return lambda: run_noisy_steps(
        start, objective.gradient, step_size=0.1, noise_variance=1e-6, steps=steps, noise=noise
    )


def engines(repeats: int) -> str:
    """One full-batch step on Adult: ours with its noise, and others' gradients."""
    import torch
    from opacus.grad_sample import GradSampleModule
    from opacus.optimizers import DPOptimizer
    from sklearn._loss import HalfBinomialLoss
    from sklearn.linear_model._linear_loss import LinearModelLoss

    warnings.simplefilter("ignore")
    records = datasets.adult().train
    rows, targets = np.array(records.features), (records.labels > 0).astype(np.float32)
    inputs, answers = torch.from_numpy(rows), torch.from_numpy(targets)[:, None]

    def network(private: bool) -> Callable[[], object]:
        module: torch.nn.Module = torch.nn.Linear(rows.shape[1], 1, bias=False)
        module = GradSampleModule(module) if private else module
        optimizer: torch.optim.Optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
        if private:
            optimizer = DPOptimizer(
                optimizer, noise_multiplier=1.0, max_grad_norm=1.0, expected_batch_size=len(rows), loss_reduction="sum"
            )

        def step() -> None:
            optimizer.zero_grad()
            torch.nn.functional.binary_cross_entropy_with_logits(module(inputs), answers, reduction="sum").backward()
            optimizer.step()

        return step

    linear = LinearModelLoss(base_loss=HalfBinomialLoss(), fit_intercept=False)
    coefficients = np.zeros(rows.shape[1], np.float32)
    times = rounds(
        {
            "ours": (_step(records, losses.Logistic(1.0), 4), 4),
            "torch autograd, full batch": (network(private=False), 1),
            "Opacus, full batch (per-record gradients, clipped, noise)": (network(private=True), 1),
            "scikit-learn's gradient": (lambda: linear.gradient(coefficients, rows, targets), 1),
        },
        repeats,
    )
    lines = [[name, f"{ratio(times, name, 'ours'):.1f}"] for name in times if name != "ours"]
    return "One step on Adult (26,000 × 108), time over ours.\n\n" + report.table(["engine", "time / ours"], lines)


def _plans(records: Records, loss: losses.Loss) -> dict[str, Plan]:
    problem = {"records": records.slots, "features": records.features.shape[1], "regularization": 1e-3}
    printed, budget = Budget(order=10, dp=1.0, deletion=0.1), Budget.from_gdp(dp=0.45, deletion=0.1)
    paper = {**problem, "budget": printed, "method": "noisy-gd", "analysis": "paper"}
    tight = {**problem, "budget": budget, "method": "noisy-gd"}
    return {
        "noisy-gd:analysis=paper, for deletion alone": make_plan(loss, **paper, utility=False),
        "noisy-gd:analysis=paper, and utility over any number of requests": make_plan(loss, **paper),
        "noisy-gd, for deletion alone": make_plan(loss, **tight, utility=False),
        "noisy-gd, and utility over any number of requests": make_plan(loss, **tight),
        "solve, then diffuse (warm)": make_plan(loss, **{**tight, "method": OutputPerturbation(solver="warm")}),
    }


def deletion(repeats: int) -> str:
    """A deletion against a learn, and against retraining without privacy, on Adult."""
    from sklearn.linear_model import LogisticRegression

    data = datasets.adult()
    rows, labels = np.array(data.train.features), data.train.labels
    few = max(3, repeats // 8)
    again = LogisticRegression(C=1 / (1e-3 * len(rows)), fit_intercept=False, max_iter=1000)
    lines = []
    for name, plan in _plans(data.train, data.loss).items():
        curator = Curator(data.train.copy(), plan)
        curator.learn()
        ids = iter(list(curator.records.ids))

        def delete(curator: Curator = curator, plan: Plan = plan, ids=ids) -> None:
            curator.records.edit(EditRequest.delete([next(ids)]))
            resume(curator.records, curator.model, plan)

        def learn(curator: Curator = curator, plan: Plan = plan) -> None:
            train(curator.records, plan, plan.learning, None, Execution())

        times = rounds(
            {"learn": (learn, 1), "delete": (delete, 1), "retrain": (lambda: again.fit(rows, labels), 1)}, few
        )
        steps = [f"{plan.calibration.learn_steps:,}", f"{plan.calibration.delete_steps:,}"]
        lines.append(
            [name, *steps, f"{ratio(times, 'learn', 'delete'):.1f}", f"{ratio(times, 'delete', 'retrain'):.2f}"]
        )
    header = [
        "plan",
        "steps to learn",
        "steps to delete",
        "learn / delete, time",
        "delete / scikit-learn retrain, time",
    ]
    return (
        "Adult, λ = 1e-3. Retraining is LogisticRegression (lbfgs) on the same rows: no privacy for anyone, and what it "
        f"publishes betrays what was erased.\n\n{report.table(header, lines)}"
    )


def lower_bound(_: int) -> str:
    """Steps of sharp plans against the least that any certificate could allow: the exact divergence on the linear loss."""
    from mpmath import ceil, log, mp, mpf

    mp.dps = 40
    lines, worst = [], 0.0
    for regularization in (1e-1, 1e-2, 1e-3, 1e-4):
        for dp, forget in ((1.0, 0.5), (0.5, 0.05), (0.1, 0.001)):
            budget = Budget.from_gdp(dp=dp, deletion=forget)
            plan = make_plan(
                losses.Logistic(1.0), records=10_000, features=20, regularization=regularization, budget=budget,
                method="noisy-gd",
            )  # fmt: skip
            contraction = 1 - mpf(plan.calibration.step_size) * mpf(regularization)
            least = max(1, int(ceil(log(mpf(dp) / (2 * mpf(forget))) / -log(contraction))))
            worst = max(worst, plan.calibration.delete_steps_for_deletion / least)
            row = [
                f"{regularization:g}",
                f"{dp:g} → {forget:g}",
                f"{plan.calibration.delete_steps_for_deletion:,}",
                f"{least:,}",
            ]
            lines.append([*row, f"{plan.calibration.delete_steps_for_deletion / least:.4f}"])
    header = ["λ", "μ of DP → of deletion", "steps of the plan", "lower bound, rounded up", "ratio"]
    return (
        "Two chains on the linear loss are Gaussian, and after K clean steps their distance is exactly c^K of what it was: no "
        f"certificate at this noise and step size can allow fewer. Largest ratio {worst:.2f}.\n\n{report.table(header, lines)}"
    )


def growth(repeats: int) -> str:
    """How the time of a deletion grows with each size, the others held."""
    base = {"n": 10_000, "d": 100, "r": 1, "K": 100}
    values = {"n": (10**4, 10**5, 10**6), "d": (10, 100, 1000), "r": (1, 10, 100, 1000), "K": (10, 100, 1000)}
    lines = []
    for size, grown in values.items():
        calls = {}
        for value in grown:
            now = {**base, "n": 10**5 if size == "r" else base["n"], size: value}
            table = random_table(now["n"], now["d"])
            named = Records.from_slots(np.array(table.features), np.array(table.labels), list(range(now["n"])), None)
            descend = _step(table, losses.Logistic(1.0), now["K"])

            def delete(named: Records = named, descend: Callable[[], object] = descend, r: int = now["r"]) -> None:
                named.resolve(EditRequest.delete(range(r)))
                descend()

            calls[f"{value:,}"] = (delete, 1)
        times = rounds(calls, max(3, repeats // 8))
        first = next(iter(calls))
        lines.append([size, ", ".join(calls), ", ".join(f"{ratio(times, name, first):.3g}" for name in calls)])
    return (
        "Time of a deletion (finding r records, K steps) over that of the first value; the others are n = 10⁴ (10⁵ for r), "
        f"d = 100, r = 1, K = 100.\n\n{report.table(['size', 'values', 'time / first'], lines)}"
    )


def memory(_: int) -> str:
    sizes = [(10**6, 100, 0), (3 * 10**5, 100, 0), (10**5, 784, 10)]
    lines = [[f"{n:,} × {d}", "softmax" if k else "logistic", f"{peak_ratio(n, d, k):.2f}"] for n, d, k in sizes]
    return (
        "Peak memory of a process that makes a table in memory, learns, and erases a record, over the bytes of the rows (ids "
        f"and labels included, libraries not).\n\n{report.table(['table', 'loss', 'peak / data'], lines)}"
    )


def processes(repeats: int) -> str:
    """A step by one process over a step by two."""
    lines = []
    tables = (("logistic", 10**6, 100, 0), ("softmax", 10**5, 784, 10), ("softmax", 10**5, 784, 30))
    for name, rows, features, classes in tables:
        gains = processes_gain(rows, features, classes, max(5, repeats // 4))
        kind = f"{name}, {classes} classes" if classes else name
        lines.append([kind, f"{rows:,} × {features}", *(f"{gain:.2f}" for gain in gains)])
    header = [
        "loss",
        "table",
        "step, by the clock",
        "step, by each process's processor time",
        "bare reading, by the clock",
    ]
    return (
        "One process over two under torchrun, one thread each. The two share this machine's memory and its two processors: "
        "where a step is a reading, it can gain no more than a bare reading (each process its own rows) gains.\n\n"
        f"{report.table(header, lines)}"
    )


_THREADS = os.environ.get("OMP_NUM_THREADS", "unset, so as many threads as processors unless the text says otherwise")
_NOTE = f"Ratios of medians of interleaved runs on a shared machine of two processors. OMP_NUM_THREADS={_THREADS}."

# what a measurement shows, and the name of its results -> (heading, measurement)
PARTS: dict[str, tuple[str, Section]] = {
    "step_against_other_engines": ("A step against other engines", engines),
    "deletion_against_learning": ("A deletion against learning and retraining", deletion),
    "steps_against_lower_bound": ("Steps against the lower bound", lower_bound),
    "growth_with_size": ("Growth with each size", growth),
    "memory_over_data": ("Peak memory over the data", memory),
    "two_processes": ("One process over two", processes),
}


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks speed")
    parser.add_argument("--repeats", type=int, default=41)
    parser.add_argument("--part", choices=list(PARTS), action="append", help="only these")
    chosen = parser.parse_args(arguments)
    for part in chosen.part or PARTS:
        heading, section = PARTS[part]
        measured, body = report.commit(), section(chosen.repeats)
        print(f"## {heading}\n\n{body}\n", flush=True)
        command = f"python -m benchmarks speed --part {part} --repeats {chosen.repeats}"
        report.write(part, heading, command, f"{_NOTE}\n\n{body}", measured)

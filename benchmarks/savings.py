"""Table 1 of the paper: gradient evaluations saved per request against retraining, by formula and by count."""

from __future__ import annotations

import argparse
import math

import numpy as np
from noisygd_delete_lab.calibrated import Setting, line_up, title

from noisygd_delete.records import EditRequest

from . import datasets, report

EPSILON, DELTA, REQUESTS = 0.1, 1e-5, 10
DATA = {  # how a table is read, its heading, λ
    "digits": (datasets.digits_even, "scikit-learn's digits, even or odd", 1e-2),
    "adult": (datasets.adult, "Adult", 1e-3),
}


def formulas(n: int, d: int, epsilon: float, request: int) -> dict[str, float]:
    """The entries of Table 1 at face value: orders of growth without constants."""
    return {
        "noisy-m-A-SGD": math.sqrt(d) * (1 - math.sqrt(d) / n),
        "perturbed GD (secret)": n * math.log(epsilon * n / math.sqrt(d)),
        "perturbed GD (published)": n * math.log(epsilon * n / (math.log(request * d) ** 2 * math.sqrt(d))),
        "Noisy-GD, theorem": n * math.log(min(n, epsilon * n / math.sqrt(d))),
        "Noisy-GD, sharp": n * math.log(min(n, epsilon * n / math.sqrt(d))),
    }


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks savings")
    parser.add_argument("--data", choices=tuple(DATA), default="digits")
    name = parser.parse_args(arguments).data
    measured = report.commit()
    read, heading, regularization = DATA[name]
    data = read()
    rng = np.random.default_rng(2)
    setting = Setting(data.loss, regularization, deletion=EPSILON, dp=1.0, delta=DELTA)
    n, d = data.train.slots, data.train.features.shape[1]
    rows = []
    for method in line_up(setting, data.train, data.test, rng):
        method_title = title(method)
        if method_title not in formulas(n, d, EPSILON, 1):
            continue
        table = data.train.copy()
        learned = held = method.learn(table, rng)
        costs = []
        for erased in range(REQUESTS):
            request = EditRequest.delete([erased])
            held = method.unlearn(table, request, held, rng)
            table.edit(request)
            costs.append(held.gradient_evaluations)
        formula = formulas(n, d, EPSILON, 1)[method_title]
        saved = learned.gradient_evaluations - sum(costs) / REQUESTS
        rows.append(
            [
                method_title,
                "no" if method.stateless else "yes",
                f"{formula:,.0f}",
                f"{learned.gradient_evaluations:,}",
                f"{sum(costs) / REQUESTS:,.0f}",
                f"{saved:,.0f}",
                f"{saved / learned.gradient_evaluations:.0%}",
            ]
        )
    header = [
        "method",
        "secret state",
        "Table 1 formula",
        "learning",
        "one deletion (mean of 10)",
        "saved",
        "share saved",
    ]
    body = f"""\
Per-record gradient evaluations on {heading} ({n:,} × {d}, λ = {regularization:g}), erased records at (ε = {EPSILON:g}, δ = {DELTA:g}),
Noisy-GD private for the rest at (ε = 1, δ = {DELTA:g}). The formulas are orders of growth without constants or condition
number, at request 1: compare their shape, not their size. "Learning" is the method's own learning run (what retraining by it would cost).
The paper lists noisy-m-A-SGD as keeping no secret state; its deletion reads every saved batch and gradient, so here it does.
Noisy-GD runs the steps of the deletion guarantee only; the steps that hold the accuracy over any number of requests are more
under "noisy-gd:analysis=paper" (see `noisygd-delete plan`).

{report.table(header, rows)}"""
    print(body)
    report.write(
        f"savings_{name}", "Table 1, evaluated and measured", f"python -m benchmarks savings --data {name}", body, measured
    )  # fmt: skip

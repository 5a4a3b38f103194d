"""One solve beside scikit-learn's: passes over the table and time, warm and cold, in one process.

The problem is a deletion by objective perturbation: the minimiser of the edited table's objective plus ⟨b, θ⟩/n with a fresh b,
from the model of another b, to the tolerance γ of the method's recipe. scikit-learn minimises the same objective without b.
"""

from __future__ import annotations

import argparse
import math
import os
import time
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks import datasets, report
from noisygd_delete import EditRequest
from noisygd_delete.engine import solver
from noisygd_delete.engine.linear_term import draw_linear_term
from noisygd_delete.engine.noise import ResearchNoise
from noisygd_delete.engine.objective_float64 import PreciseObjective

ORDER = 10
DELETED = tuple(range(0, 50, 10))
RIVALS = {"digits": ("lbfgs", "newton-cg"), "mnist": ("lbfgs", "newton-cg"), "adult": ("lbfgs", "newton-cholesky")}


class Deletion:
    """One deletion: the objective to minimise, the published model, γ."""

    def __init__(self, data: datasets.Data, regularization: float, dp: float) -> None:
        self.data, self.regularization, loss = data, regularization, data.loss
        self.edited = data.train.apply(EditRequest.delete(DELETED))
        n, d = data.train.slots, loss.dimension(data.train.features.shape[1])
        constants = loss.constants
        delta = 2 * constants.lipschitz
        deviation = math.sqrt(ORDER * delta**2 / (2 * 0.99 * dp))
        output = math.sqrt(0.02) * deviation / n * d / (loss.curvature_trace + d * regularization)
        self.tolerance = 0.1 * delta / deviation * regularization * output / 2
        self.curvature = {
            "strong_convexity": regularization,
            "objective_smoothness": regularization + constants.smoothness,
        }
        rng = np.random.default_rng(0)
        noise = ResearchNoise(rng)
        shape = loss.shape(data.train.features.shape[1])

        def objective(records) -> PreciseObjective:
            term = draw_linear_term(shape, noise, deviation=deviation)
            return PreciseObjective(records, loss, regularization=regularization, linear=term)

        before = solver.solve(objective(data.train), start=None, tolerance=self.tolerance, **self.curvature).weights
        self.published = before + output * rng.standard_normal(before.shape)
        self.objective = objective(self.edited)

    def solve(self, start: np.ndarray | None) -> solver.Solution:
        return solver.solve(self.objective, start=start, tolerance=self.tolerance, **self.curvature)

    def passes(self, start: np.ndarray | None) -> str:
        """float32 + float64 passes over the whole table, and what the sample's work amounts to."""
        measured, kinds = PreciseObjective.gradient, []

        def noted(objective: PreciseObjective, weights: np.ndarray, dtype: str = "float64") -> np.ndarray:
            kinds.append(dtype)
            return measured(objective, weights, dtype)

        PreciseObjective.gradient = noted
        try:
            solution = self.solve(start)
        finally:
            PreciseObjective.gradient = measured
        single, double = kinds.count("float32"), kinds.count("float64")
        return f"{single} + {double} (+ {solution.gradient_passes - single - double})"

    def rival(self, kind: str, tolerance: float, start: np.ndarray | None = None) -> Callable[[], LogisticRegression]:
        """scikit-learn on the occupied rows in float64, from 0 or from `start`."""
        used = self.edited.occupied
        rows, labels = self.edited.features[used].astype(np.float64), self.edited.labels[used]
        fit = LogisticRegression(
            C=1 / (self.regularization * self.edited.slots),
            fit_intercept=False,
            max_iter=5000,
            solver=kind,
            tol=tolerance,
            warm_start=start is not None,
        )

        def run() -> LogisticRegression:
            if start is not None:
                fit.coef_, fit.intercept_ = start.copy(), np.zeros(len(start))
                fit.classes_ = np.unique(labels)
            return fit.fit(rows, labels)

        return run


def best(calls: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Least processor seconds of each, taken in turn."""
    least = dict.fromkeys(calls, math.inf)
    for _ in range(rounds):
        for name, call in calls.items():
            began = time.process_time()
            call()
            least[name] = min(least[name], time.process_time() - began)
    return least


def line(case: Deletion, dp: float, rounds: int) -> list[str]:
    name, gamma = case.data.name, case.tolerance
    mine = {"warm": lambda: case.solve(case.published), "cold": lambda: case.solve(None)}
    rivals = {}
    for kind in RIVALS[name]:
        rivals[f"{kind}, default"] = case.rival(kind, 1e-4)
        rivals[f"{kind}, γ"] = case.rival(kind, gamma)
        rivals[f"{kind}, γ, warm"] = case.rival(kind, gamma, case.published)
    seconds = best({**mine, **rivals}, rounds)

    def ratio(ours: str, ending: str) -> str:
        theirs, kind = min((seconds[rival], rival.split(",")[0]) for rival in rivals if rival.endswith(ending))
        return f"{seconds[ours] / theirs:.2f} ({kind})"

    return [
        f"{name}, λ={case.regularization:g}, ε_dp={dp:g}",
        f"{gamma:.1e}",
        case.passes(case.published),
        case.passes(None),
        f"{seconds['warm'] / seconds['lbfgs, default']:.2f}",
        ratio("warm", "default"),
        ratio("warm", "γ"),
        ratio("warm", "γ, warm"),
        ratio("cold", "γ"),
    ]


HEADER = [
    "deletion",
    "γ",
    "warm: passes",
    "cold: passes",
    "warm / lbfgs tol 1e-4",
    "warm / best rival tol 1e-4",
    "warm / best rival tol γ",
    "warm / best rival tol γ, warm",
    "cold / best rival tol γ",
]

LEGEND = """\
Times are ratios of least processor times of {rounds} rounds in one process, every candidate in every round; BLAS is held to one
thread for all (OMP_NUM_THREADS=1). The machine was {load}. *passes*: float32 + float64 gradient passes over the whole table, in
brackets what the work on the sample amounts to. Ours stops where the certified ‖∇‖ of the objective with its linear term is at most
γ; scikit-learn solves the same objective without that term (float64 rows, already converted), to tol = 1e-4 (its default) or tol = γ,
by {rivals}; its tol bounds the largest entry of the gradient (newton-cg: their mean size) or, newton-cholesky, also the Newton
decrement. A ratio below 1 means ours is faster. Objective perturbation, replace, q = 10, the same λ throughout."""


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks solver", description=__doc__)
    parser.add_argument("--data", nargs="+", default=list(datasets.ALL), choices=list(datasets.ALL))
    parser.add_argument("--regularization", nargs="+", type=float, default=[1e-2, 1e-3, 1e-4])
    parser.add_argument("--dp", nargs="+", type=float, default=[1.0, 0.1])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/solver.md")
    parsed = parser.parse_args(arguments)
    commit, waiting = report.commit(), os.getloadavg()[0] / (os.cpu_count() or 1)
    load = f"{'quiet' if waiting < 0.75 else 'loaded'} ({waiting:.1f} processes a processor at the start)"
    warnings.simplefilter("ignore")  # a rival that stops short of its tolerance
    rows = []
    for name in parsed.data:
        data = datasets.ALL[name]()
        for regularization in parsed.regularization:
            for dp in parsed.dp:
                rows.append(line(Deletion(data, regularization, dp), dp, parsed.rounds))
                print(" | ".join(rows[-1]), flush=True)
    if parsed.write:
        rivals = "; ".join(f"{name}: {' and '.join(kinds)}" for name, kinds in RIVALS.items())
        command = " ".join(["OMP_NUM_THREADS=1 python -m benchmarks solver", *arguments])
        body = f"{LEGEND.format(rounds=parsed.rounds, load=load, rivals=rivals)}\n\n{report.table(HEADER, rows)}"
        report.write("solver", "The solver beside scikit-learn's", command, body, commit)

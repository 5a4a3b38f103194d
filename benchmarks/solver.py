"""One solve beside scikit-learn's and snapml's: passes over the table and time, warm and cold, in one process.

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
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks import datasets, report
from benchmarks.sparse import rows_of
from noisygd_delete import EditRequest, Records, losses
from noisygd_delete.engine import solver
from noisygd_delete.engine.linear_term import draw_linear_term
from noisygd_delete.engine.noise import ResearchNoise
from noisygd_delete.engine.objective import PreciseObjective

ORDER = 10
DELETED = tuple(range(0, 50, 10))


class Deletion:
    """One deletion: the objective to minimise, the published model, γ."""

    def __init__(self, data: datasets.Data, regularization: float, dp: float) -> None:
        self.data, self.regularization, loss = data, regularization, data.loss
        self.edited = data.train.apply(EditRequest.delete(DELETED))
        n, d = data.train.slots, loss.dimension(data.train.width)
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
        shape = loss.shape(data.train.width)

        def objective(records) -> PreciseObjective:
            term = draw_linear_term(shape, noise, deviation=deviation)
            return PreciseObjective(records, loss, regularization=regularization, linear=term)

        before = solver.solve(objective(data.train), start=None, tolerance=self.tolerance, **self.curvature).weights
        self.published = before + output * rng.standard_normal(before.shape)
        self.objective = objective(self.edited)

    def solve(self, start: np.ndarray | None) -> solver.Solution:
        return solver.solve(self.objective, start=start, tolerance=self.tolerance, **self.curvature)

    def without_the_compiler(self) -> solver.Solution:
        """`solve` from the published model by matrix products alone."""
        sums: Any = self.objective._sums
        kept, sums._kernel = sums._kernel, None
        try:
            return self.solve(self.published)
        finally:
            sums._kernel = kept

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

    def rival(
        self, kind: str, tolerance: float, dtype: type[np.floating[Any]], start: np.ndarray | None = None
    ) -> Callable[[], LogisticRegression]:
        """scikit-learn on the occupied rows, already in this precision, from 0 or from `start`."""
        rows, labels = self.rows(dtype), self.edited.labels[self.edited.occupied]
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
                fit.coef_, fit.intercept_ = start.astype(dtype), np.zeros(len(start), dtype)
                fit.classes_ = np.unique(labels)
            return fit.fit(rows, labels)

        return run

    def snap(self, tolerance: float) -> Callable[[], object]:
        """snapml's solver of the dual, in its float32, from 0."""
        import snapml

        rows, labels = self.rows(np.float32), self.edited.labels[self.edited.occupied]
        penalty = self.regularization * self.edited.slots
        return lambda: snapml.LogisticRegression(regularizer=penalty, tol=tolerance, max_iter=5000).fit(rows, labels)

    @cache  # noqa: B019 - a case lives as long as its line
    def rows(self, dtype: type[np.floating[Any]]) -> np.ndarray:
        thin = self.edited.sparse
        table = self.edited.features if thin is None else thin.part(0, len(thin))
        return table[self.edited.occupied].astype(dtype)


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
    name, gamma, outputs = case.data.name, case.tolerance, case.data.loss.outputs
    mine = {
        "warm": lambda: case.solve(case.published),
        "cold": lambda: case.solve(None),
        "plain": case.without_the_compiler,
    }
    kinds = ["lbfgs", "newton-cg" if outputs > 1 or case.objective.shape[1] > _NARROW else "newton-cholesky"]
    rivals: dict[str, Callable[[], object]] = {}
    for kind in kinds:
        for bits, dtype in ((64, np.float64), (32, np.float32)):
            rivals[f"{kind}, float{bits}, cold, default"] = case.rival(kind, 1e-4, dtype)
            rivals[f"{kind}, float{bits}, warm, default"] = case.rival(kind, 1e-4, dtype, case.published)
        rivals[f"{kind}, float64, cold, γ"] = case.rival(kind, gamma, np.float64)
        rivals[f"{kind}, float64, warm, γ"] = case.rival(kind, gamma, np.float64, case.published)
    if find_spec("snapml") and outputs == 1:
        rivals["snapml, float32, cold, default"] = case.snap(1e-3)
    seconds = best({**mine, **rivals}, rounds)

    def ratio(ours: str, ending: str, only: str = "") -> str:
        """Ours over the quickest of them."""
        theirs, kind = min(
            (seconds[rival], rival.split(",")[0])
            for rival in rivals
            if rival.endswith(ending) and rival.startswith(only)
        )
        return f"{seconds[ours] / theirs:.2f} ({kind})"

    return [
        f"{name}, λ={case.regularization:g}, ε_dp={dp:g}",
        f"{gamma:.1e}",
        case.passes(case.published),
        case.passes(None),
        ratio("warm", "float64, cold, default", "lbfgs"),
        ratio("warm", "float32, cold, default", "lbfgs"),
        ratio("plain", "float32, cold, default", "lbfgs"),
        ratio("warm", "cold, default"),
        ratio("warm", "warm, default"),
        ratio("warm", "cold, γ"),
        ratio("warm", "warm, γ"),
        ratio("cold", "cold, γ"),
    ]


_NARROW = 1000  # features up to which a Hessian is worth forming

HEADER = [
    "deletion",
    "γ",
    "warm: passes",
    "cold: passes",
    "warm / lbfgs float64",
    "warm / lbfgs float32",
    "the same without the compiler",
    "warm / best",
    "warm / best warm",
    "warm / best to γ",
    "warm / best warm to γ",
    "cold / best to γ",
]

LEGEND = """\
Times are ratios of least processor times of {rounds} rounds in one process, every candidate in every round, imports and conversions apart;
one thread for all (OMP_NUM_THREADS=1). Ours by the compiled kernel (extra `fast`; tables of 2²⁰ numbers or more, one output), loaded already, as by
an earlier run of the process; and *without the compiler*. The machine was {load}. *passes*: float32 + float64 gradient passes over the whole table, in
brackets what the work on the sample amounts to. Ours stops where the certified ‖∇‖ of the objective with its linear term is at most
γ. scikit-learn solves the same objective without that term: lbfgs, and newton-cholesky for one output and at most 1,000 features, else newton-cg;
in float64 and in float32; from 0 and, *warm*, from the published model; at its own tolerance, 10⁻⁴, and in float64 *to γ*: it bounds the largest
entry of the gradient (newton-cg: their mean size) or, newton-cholesky, also the Newton decrement. {snap}*best*: the quickest of all of
them. A ratio below 1 means ours is faster. Rows named by their size are normal numbers, labels a logistic model of them. Objective
perturbation, replace, q = 10, the same λ throughout."""


def made(size: str, values: int | None = None) -> Callable[[], datasets.Data]:
    """Rows of normal numbers, all or so many of each, named records x features, with labels that a logistic model gives."""

    def make() -> datasets.Data:
        records, features = map(int, size.split("x"))
        rng = np.random.default_rng(0)
        if values is None:
            rows = rng.standard_normal((records, features), np.float32)
            rows /= np.linalg.norm(rows, axis=1).max() * np.float32(1 + 2.0**-22)
        else:
            rows = rows_of(records, features, values)
            rows.data /= np.sqrt(rows.multiply(rows).sum(axis=1).max()) * np.float32(1 + 2.0**-22)
        scores = rows @ (5 * rng.standard_normal(features)).astype(np.float32)
        labels = np.where(rng.random(records) < 1 / (1 + np.exp(-scores)), 1.0, -1.0)
        table = Records(rows, labels)
        name = size.replace("x", " × ") + (f", {values} a row" if values else "")
        return datasets.Data(name, table, table, losses.Logistic(1.0))

    return make


SIZES = ("10000x20", "100000x100", "1000000x20", "5000000x20", "1000000x100", "2000x5000")
TABLES = {**datasets.ALL, **{size: made(size) for size in SIZES}, "sparse": made("20000x2000", 50)}


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks solver", description=__doc__)
    parser.add_argument("--data", nargs="+", default=list(TABLES), choices=list(TABLES))
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
        data = TABLES[name]()
        for regularization in parsed.regularization:
            for dp in parsed.dp:
                rows.append(line(Deletion(data, regularization, dp), dp, parsed.rounds))
                print(" | ".join(rows[-1]), flush=True)
    if parsed.write:
        snap = (
            "snapml solves the dual at its own tolerance, 10⁻³. "
            if find_spec("snapml")
            else "snapml was not installed. "
        )
        command = " ".join(["OMP_NUM_THREADS=1 python -m benchmarks solver", *arguments])
        body = f"{LEGEND.format(rounds=parsed.rounds, load=load, snap=snap)}\n\n{report.table(HEADER, rows)}"
        report.write("solver", "The solver beside scikit-learn's", command, body, commit)

"""Solve, then diffuse against Theorem 5.1, sharp Noisy-GD, output perturbation and scikit-learn, in one process.

A chain longer than `--cap` steps is started at the minimiser and run for `--cap` steps, which samples the law it has in the
long run; the time of a chain is the measured time of a step times its steps. Everything else is run and measured.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from noisygd_delete_lab.solver import minimise
from sklearn.linear_model import LogisticRegression

from benchmarks import datasets, report
from noisygd_delete import Budget, Curator, EditRequest, Model, Plan, Records, compare_plans, make_plan
from noisygd_delete.curator.learning import resume
from noisygd_delete.engine.noise import SecureNoise
from noisygd_delete.engine.objective import Objective, PreciseObjective
from noisygd_delete.engine.solver import Solution, solve
from noisygd_delete.losses import Loss
from noisygd_delete.privacy import Worlds

ORDER = 10
DELETED = tuple(range(0, 50, 10))
PRECISE = 1e-7  # gradient norm of the reference minimiser


@dataclass(frozen=True)
class Measured:
    """One way of deleting. Passes are gradient passes; `seconds` of one deletion; excess risk and accuracy after it."""

    way: str
    learn_passes: str
    delete_passes: str
    seconds: float | None
    accuracy: float | None
    excess_risk: float | None
    noise: float | None = None
    note: str = ""


class Case:
    """One data set at one λ: the table before and after the deletion, its minimiser, and scikit-learn's answer."""

    def __init__(self, data: datasets.Data, regularization: float) -> None:
        self.data, self.regularization, self.loss = data, regularization, data.loss
        self.edited = data.train.apply(EditRequest.delete(DELETED))
        self.objective = self._objective(self.edited)
        self.minimiser = self._minimise(self.objective, PRECISE)
        self.valued = Objective(self.edited, self.loss, regularization=regularization, dtype="float64")
        self.least = self.valued.value(self.minimiser)
        self.sizes = {
            "records": data.train.slots,
            "features": data.train.features.shape[1],
            "regularization": regularization,
        }
        self.pass_seconds = math.inf
        self.retrained = self._retrained()
        self.time_again()

    def _objective(self, records: Records) -> PreciseObjective:
        return PreciseObjective(records, self.loss, regularization=self.regularization)

    def _minimise(self, objective: PreciseObjective, tolerance: float) -> np.ndarray:
        return solve(objective, start=None, tolerance=tolerance, **self._curvature()).weights

    def _curvature(self) -> dict[str, float]:
        return {
            "strong_convexity": self.regularization,
            "objective_smoothness": self.regularization + self.loss.constants.smoothness,
        }

    def _pass_seconds(self) -> float:
        """One step of Noisy-GD, noise included, as the engine runs it (float32 rows)."""
        plan = self.plan(1.0, method="noisy-gd")
        plan = plan.changed(delete_steps_for_deletion=50, delete_steps_for_utility=0)
        model = self.model(self.minimiser)
        return min(timed(lambda: resume(self.edited, model, plan))[1] for _ in range(3)) / 50

    def plan(self, dp: float, loss: Loss | None = None, **way: Any) -> Plan:
        budget = Budget(order=ORDER, dp=dp, deletion=0.1 * dp)
        return make_plan(loss or self.loss, budget=budget, **self.sizes, **way)

    def solution(self, plan: Plan, tolerance: float) -> Solution:
        """The minimiser of the plan's own objective on the edited table: another λ, or clipped slopes."""
        return minimise(self.edited, plan.problem.loss, regularization=plan.problem.regularization, tolerance=tolerance)

    def model(self, weights: np.ndarray) -> Model:
        return Model(weights[0] if self.loss.outputs == 1 else weights, self.loss, False)

    def quality(self, models: list[Model]) -> tuple[float, float]:
        """Mean accuracy on the test rows and mean excess risk on the edited table."""
        risks = [self.valued.value(np.atleast_2d(model.weights)) - self.least for model in models]
        return float(np.mean([model.accuracy(self.data.test) for model in models])), float(np.mean(risks))

    # the ways

    def time_again(self) -> None:
        """The two yardsticks are the least of several timings spread over the run."""
        self.pass_seconds = min(self.pass_seconds, self._pass_seconds())
        again = self._retrained()
        self.retrained = replace(again, seconds=min(self.retrained.seconds, again.seconds))

    def _retrained(self) -> Measured:
        """scikit-learn from scratch on the edited table, its default solver and tolerance: not private, deletes exactly."""
        used = self.edited.occupied
        rows, labels = self.edited.features[used].astype(np.float64), self.edited.labels[used]
        estimator = LogisticRegression(
            C=1 / (self.regularization * self.edited.slots), fit_intercept=False, max_iter=5000
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            seconds = min(timed(lambda: estimator.fit(rows, labels))[1] for _ in range(3))
        passes = f"{int(estimator.n_iter_.max())} it."
        accuracy, risk = self.quality([self.model(estimator.coef_)])
        return Measured("scikit-learn retrain (not private)", passes, passes, seconds, accuracy, risk)

    def solved(self, dp: float, repeats: int, plan: Plan | None = None, name: str = "solve, then diffuse") -> Measured:
        plan = plan or self.plan(dp, method="output-perturbation")
        learned, deleted, seconds = [], [], []
        for _ in range(repeats):
            curator = Curator(self.data.train.copy(), plan)
            learned.append(curator.learn())
            release, took = timed(lambda curator=curator: curator.delete(DELETED))
            deleted.append(release)
            seconds.append(took)
        accuracy, risk = self.quality([release.model for release in deleted])
        return Measured(
            f"{name}, K={plan.calibration.delete_steps}",
            mean_of([release.gradient_passes for release in learned]),
            mean_of([release.gradient_passes for release in deleted]),
            min(seconds),
            accuracy,
            risk,
            plan.calibration.noise_variance,
            f"forecast {plan.calibration.delete_solver_passes} + {plan.calibration.delete_steps} passes; ε_dd={plan.deletion.renyi(ORDER):.1e}",
        )

    def resumed(self, name: str, plan: Plan, cap: int, repeats: int) -> Measured:
        """Learn, then delete, by Noisy-GD from the published model."""
        numbers = plan.calibration
        if max(numbers.learn_steps, numbers.delete_steps) <= cap:
            curator = Curator(self.data.train.copy(), plan)
            curator.learn()
            models, note = [curator.delete(DELETED).model], ""
        else:
            short = plan.changed(delete_steps_for_deletion=min(cap, numbers.delete_steps), delete_steps_for_utility=0)
            settled = short.changed(delete_steps_for_deletion=cap)
            model = resume(self.edited, self.model(self.solution(plan, PRECISE).weights), settled)
            models, note = [model], "long-run law†"
            for _ in range(repeats - 1 if short.calibration.delete_steps * repeats <= cap else 0):
                models.append(resume(self.edited, models[-1], short))
        accuracy, risk = self.quality(models)
        alone = f"deletion condition alone {numbers.delete_steps_for_deletion}"
        note = "; ".join(filter(None, (note, alone, f"ε_dd={plan.deletion.renyi(ORDER):.1e}")))
        seconds = numbers.delete_steps * self.pass_seconds
        return Measured(
            name,
            str(numbers.learn_steps),
            str(numbers.delete_steps),
            seconds,
            accuracy,
            risk,
            numbers.noise_variance,
            note,
        )

    def plain_bound(self, dp: float) -> Measured:
        """NoisyGD Noisy-GD's chain and noise, but deletion steps from the plain bound of Chien et al. (full batch)."""
        plan = self.plan(dp, method="noisy-gd")
        steps = chien_steps(
            plan, sensitivity=plan.problem.sensitivity(Worlds("erased-vs-never")), renyi=0.1 * dp, order=ORDER
        )
        return Measured(
            "Chien et al., plain bound",
            str(plan.calibration.learn_steps),
            str(steps),
            steps * self.pass_seconds,
            None,
            None,
            plan.calibration.noise_variance,
            "same chain as sharp",
        )

    def perturbed(self, dp: float, repeats: int) -> Measured:
        """Private retraining: solve from 0 on the edited table, add one Gaussian of scale Δ/(λnμ), publish."""
        n, lam = self.sizes["records"], self.regularization
        delta = 2 * self.loss.constants.lipschitz
        tolerance = 0.01 * delta / (2 * n)
        scale = (delta / n + 2 * tolerance) / lam / Budget(order=ORDER, dp=dp, deletion=0.1 * dp).dp_gdp()
        noise, models, seconds, passes = SecureNoise(), [], [], []
        for _ in range(repeats):
            solution, took = timed(
                lambda: solve(self._objective(self.edited), start=None, tolerance=tolerance, **self._curvature())
            )
            models.append(self.model(solution.weights + scale * noise.normal(solution.weights.shape)))
            seconds.append(took)
            passes.append(solution.gradient_passes)
        accuracy, risk = self.quality(models)
        return Measured(
            "output perturbation (private retrain)",
            mean_of(passes),
            mean_of(passes),
            min(seconds),
            accuracy,
            risk,
            None,
            "ε_dd=0",
        )


def chien_steps(plan: Plan, *, sensitivity: float, renyi: float, order: float) -> int:
    """Least K with q D² c^{2K}(1 − c²)/(τ²(1 − c^{2K})) ≤ ε, D = s/(1 − c), s = ηΔ/n, τ² = 2ησ²."""
    eta, m = plan.calibration.step_size, plan.problem.strong_convexity
    distance = sensitivity / plan.problem.records / m
    scale = order * distance**2 * (1 - (1 - eta * m) ** 2) / (2 * eta * plan.calibration.noise_variance)
    # x = c^{2K}: scale x/(1 − x) ≤ ε
    return max(1, math.ceil(math.log(renyi / (renyi + scale)) / (2 * math.log1p(-eta * m))))


def timed(call):
    """The result, and the seconds of processor time it took: the machine is shared and one thread works."""
    start = time.process_time()
    return call(), time.process_time() - start


def mean_of(values: list[int]) -> str:
    return f"{np.mean(values):.0f}"


def measure(case: Case, dp: float, cap: int, repeats: int) -> tuple[list[Measured], str]:
    """All ways at one budget, and the way the planner takes."""
    case.time_again()
    measured = [
        case.resumed("Theorem 5.1", case.plan(dp, method="noisy-gd:analysis=paper"), cap, repeats),
        case.resumed("sharp Noisy-GD", case.plan(dp, method="noisy-gd"), cap, repeats),
        case.plain_bound(dp),
        case.solved(dp, repeats),
        case.perturbed(dp, repeats),
        case.retrained,
    ]
    chosen = compare_plans(loss=case.loss, budget=Budget(order=ORDER, dp=dp, deletion=0.1 * dp), **case.sizes).chosen
    if (
        chosen.method == "output-perturbation"
        and chosen.plan.calibration.delete_steps != case.plan(dp, method="output-perturbation").calibration.delete_steps
    ):
        measured.insert(4, case.solved(dp, repeats, chosen.plan, "solve, then diffuse, K for the target"))
    return measured, chosen.method


def overview(case: Case, dp: float, measured: list[Measured], chosen: str) -> list[str]:
    """One line of the first table: solve, then diffuse beside what it competes with."""
    theorem, resumed, _, solved, *_, retrained = measured
    return [
        f"{case.data.name}, λ={case.regularization:g}, ε_dp={dp:g}",
        f"{theorem.delete_passes} / {resumed.delete_passes} / {solved.delete_passes}",
        solved.learn_passes,
        f"{solved.excess_risk / resumed.excess_risk:.1f}",
        f"{100 * (solved.accuracy - resumed.accuracy):+.1f}",
        f"{100 * (solved.accuracy - retrained.accuracy):+.1f}",
        f"{solved.seconds / retrained.seconds:.2g}",
        chosen,
    ]


OVERVIEW = [
    "solve, then diffuse",
    "deletion passes: Theorem 5.1 / sharp / this",
    "learn passes",
    "excess risk, times sharp's",
    "accuracy − sharp's, points",
    "accuracy − non-private, points",
    "deletion time, times scikit-learn's retrain",
    "planner takes",
]


def show(case: Case, dp: float, measured: list[Measured], chosen: str) -> str:
    def number(value: float | None, form: str) -> str:
        return "" if value is None else format(value, form)

    rows = [
        [
            way.way,
            way.learn_passes,
            way.delete_passes,
            number(way.seconds / case.pass_seconds, ".0f"),
            number(way.seconds / case.retrained.seconds, ".2g"),
            number(None if way.accuracy is None else 100 * way.accuracy, ".1f"),
            number(way.excess_risk, ".2g"),
            number(way.noise, ".2g"),
            way.note,
        ]
        for way in measured
    ]
    header = ["way", "learn", "delete", "time/step", "time/retrain", "accuracy %", "excess risk", "σ²", ""]
    n, d = case.sizes["records"], case.loss.dimension(case.sizes["features"])
    title = f"### {case.data.name}: n={n}, d={d}, λ={case.regularization:g}, ε_dp={dp:g} (planner takes: {chosen})"
    return f"{title}\n\n{report.table(header, rows)}"


LEGEND = """\
Rényi order q=10, ε_dd = 0.1 ε_dp, replace adjacency, Definition 4.1; {deleted} records are deleted in one request. One process, one
thread, processor time. *learn*, *delete*: gradient passes over the table (scikit-learn: iterations). *time/step*: time of a
deletion in steps of Noisy-GD on the same table (float32; a solver's pass is float64), *time/retrain*: in scikit-learn's retraining,
each the least of several timings; a chain counts its steps times the time of one. *accuracy* on held-out rows and *excess risk*
(regularised loss of the edited table above its minimum, nats per record) after the deletion, mean of up to {repeats} runs.
*planner takes*: what `compare_plans` chooses for a forecast excess risk of 0.01; where no way meets it, the least noisy one.
† A chain longer than {cap} steps was started at the minimiser and run for {cap} steps."""


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks solve_then_diffuse", description=__doc__)
    parser.add_argument("--data", nargs="+", default=list(datasets.ALL), choices=list(datasets.ALL))
    parser.add_argument("--regularization", nargs="+", type=float, default=[1e-2, 1e-3, 1e-4])
    parser.add_argument("--dp", nargs="+", type=float, default=[1.0, 0.1, 0.01])
    parser.add_argument("--cap", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/solve_then_diffuse.md")
    parsed = parser.parse_args(arguments)
    commit = report.commit()
    lines = []
    parts = [LEGEND.format(deleted=len(DELETED), repeats=parsed.repeats, cap=parsed.cap)]
    for name in parsed.data:
        data = datasets.ALL[name]()
        for regularization in parsed.regularization:
            case = Case(data, regularization)
            for dp in parsed.dp:
                measured, chosen = measure(case, dp, parsed.cap, parsed.repeats)
                parts.append(show(case, dp, measured, chosen))
                lines.append(overview(case, dp, measured, chosen))
                print(parts[-1], flush=True)
    if parsed.write:
        command = " ".join(["OMP_NUM_THREADS=1 python -m benchmarks solve_then_diffuse", *arguments])
        parts.insert(1, report.table(OVERVIEW, lines))
        report.write("solve_then_diffuse", "Solve, then diffuse, side by side", command, "\n\n".join(parts), commit)

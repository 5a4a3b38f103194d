"""A stream on Adult at one cumulative μ: every publication fresh, or the mix of fresh and resumed ones that the planner chooses.

Each publication serves ten erasures. Both run as a curator runs them; the excess risk is that of the published models, each on the
table of its time, in the objective asked for.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from noisygd_delete_lab.solver import minimise

from benchmarks import datasets, report
from benchmarks.objective_perturbation import BLOCKS
from noisygd_delete import Budget, Curator, Plan, make_plan
from noisygd_delete.engine.objective import Objective
from noisygd_delete.errors import NoisyGDDeleteError

CELLS = ((1e-2, 0.3), (1e-3, 1.0), (1e-3, 0.3), (1e-4, 1.0))
PUBLICATIONS, ERASED = 100, 10
PRECISE = 1e-7


@dataclass(frozen=True)
class Measured:
    """Means over the publications looked at: excess risk and held-out accuracy; gradient passes of all publications."""

    plan: Plan
    excess: float
    accuracy: float
    passes: int

    @property
    def mix(self) -> str:
        fresh = self.plan.fresh_publications
        return f"{fresh} + {PUBLICATIONS - fresh}, K={self.plan.delete_steps}"


def streamed(
    data: datasets.Data, regularization: float, gdp: float, method: str, ridge: str, looked_at: int
) -> Measured:
    plan = make_plan(
        data.loss,
        records=data.train.slots,
        features=data.train.features.shape[1],
        regularization=regularization,
        budget=Budget.from_gdp(dp=gdp, deletion=gdp),
        method=method,
        releases=PUBLICATIONS,
        batch=ERASED,
        ridge=ridge,
        one_hot_blocks=BLOCKS[data.name],
    )
    curator = Curator(data.train.copy(), plan)
    names = list(curator.records.ids)
    every, passes, risks, right = PUBLICATIONS // looked_at, 0, [], []
    for number in range(PUBLICATIONS):
        erased = names[ERASED * (number - 1) : ERASED * number] if number else []
        release = curator.delete(erased) if number else curator.learn()
        passes += release.gradient_passes
        if (number + 1) % every == 0:
            objective = Objective(curator.records, data.loss, regularization=regularization, dtype="float64")
            best = minimise(curator.records, data.loss, regularization=regularization, tolerance=PRECISE).weights
            risks.append(objective.value(np.atleast_2d(release.model.weights)) - objective.value(best))
            right.append(release.model.accuracy(data.test))
    spent = curator.accountant.dp_cumulative().with_slack()
    assert spent.gdp <= gdp * (1 + 1e-9), "the account exceeds the budget"
    return Measured(plan, float(np.mean(risks)), float(np.mean(right)), passes)


LEGEND = """\
{publications} publications on Adult, {erased} records erased before each after the first, all observed; Gaussian-DP budget μ for all of them
together, x or x', and μ for a deletion. *fresh*: each by objective perturbation. *mix*: `method="interleaved"`, which chooses how many
are fresh, how many resume, and K. Both run in full and take the shape of their noise from the schema. *excess*: in the objective with
the λ asked for, mean of {looked} publications. *passes*: gradient passes of all publications, what a solver does beside them included."""

HEADER = [
    "λ, μ",
    "ridge",
    "fresh: excess",
    "mix: excess",
    "mix / fresh",
    "accuracy fresh, mix",
    "passes fresh, mix",
    "mix (fresh + resumed)",
]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks interleaved", description=__doc__)
    parser.add_argument("--looked-at", type=int, default=10, help="publications whose excess is measured")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/interleaved.md")
    parsed = parser.parse_args(arguments)
    commit, data, rows = report.commit(), datasets.adult(), []
    for regularization, gdp in CELLS:
        for ridge, name in (("given", "λ"), ("forecast", "λ'")):
            found: list[Measured | None] = []
            for method in ("perturbed", "interleaved"):
                try:
                    found.append(streamed(data, regularization, gdp, method, ridge, parsed.looked_at))
                except NoisyGDDeleteError:
                    found.append(None)
            fresh, mix = found
            both = fresh is not None and mix is not None
            rows.append(
                [
                    f"{regularization:g}, {gdp:g}",
                    name,
                    "no plan" if fresh is None else f"{fresh.excess:.2g}",
                    "no plan" if mix is None else f"{mix.excess:.2g}",
                    f"{mix.excess / fresh.excess:.2g}" if both else "",
                    ", ".join("–" if one is None else f"{100 * one.accuracy:.1f}" for one in found),
                    ", ".join("–" if one is None else str(one.passes) for one in found),
                    "" if mix is None else mix.mix,
                ]
            )
            print(rows[-1], flush=True)
    legend = LEGEND.format(publications=PUBLICATIONS, erased=ERASED, looked=parsed.looked_at)
    body = f"{legend}\n\nGoal: mix / fresh at most a third.\n\n{report.table(HEADER, rows)}"
    print(body)
    if parsed.write:
        command = " ".join(["OMP_NUM_THREADS=1 python -m benchmarks interleaved", *arguments])
        report.write("interleaved", "A stream: fresh, or fresh and resumed", command, body, commit)

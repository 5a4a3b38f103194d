"""Steps that each certificate needs for a non-convex loss, over n, d, λ, ω and ε_dd: public numbers, nothing is run.

The loss is ω times the sigmoid loss on unit rows: L = ω/4, β₊ = β₋ = ω/(6√3).
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from benchmarks import report
from noisygd_delete import Budget, Plan, make_plan
from noisygd_delete.bounds.theorem_5_2 import data_influence
from noisygd_delete.errors import NoisyGDDeleteError, PlanInfeasible
from noisygd_delete.losses import LossConstants, Sigmoid

REQUESTS = 20


@dataclass(frozen=True)
class Scaled(Sigmoid):
    """`height` times the sigmoid loss. Only its constants are used here."""

    height: float = 1.0

    @property
    def constants(self) -> LossConstants:
        one = super().constants
        return LossConstants(
            lipschitz=self.height * one.lipschitz,
            smoothness=self.height * one.smoothness,
            weak_convexity=self.height * one.weak_convexity,
            range=self.height,
            proven=one.proven,
        )


def plan(method: str, noise: str | None, **options) -> Plan | None:
    """The plan, runnable or not; None where the certificate does not apply."""
    try:
        return make_plan(method=method, noise_variance=noise, utility=False, **options)
    except PlanInfeasible as error:
        return error.plan
    except NoisyGDDeleteError:
        return None


def count(steps: int) -> str:
    return str(steps) if steps < 100_000 else f"{steps:.1e}"


def cell(found: Plan | None) -> str:
    if found is None:
        return "–"
    text = f"{count(found.calibration.learn_steps)} / {count(found.calibration.delete_steps)}"
    if found.method.analysis == "theorem-5-2":
        text += f" ({data_influence(range=found.problem.loss.constants.range, noise_variance=found.calibration.noise_variance):.2f})"
    return text


def row(n: int, d: int, lam: float, omega: float, deletion: float) -> list[str]:
    options = {
        "loss": Scaled(1.0, omega),
        "records": n,
        "features": d,
        "regularization": lam,
        "budget": Budget(order=2, dp=1.0, deletion=deletion),
    }
    weakly = plan("noisy-gd", None, **options)
    weakly = weakly if weakly is not None and weakly.method.analysis != "theorem-5-2" else None
    near = [plan("noisy-gd:analysis=paper", None, **options), plan("noisy-gd:analysis=paper", "cheapest", **options)]
    sharper = [None, None] if weakly else [plan("noisy-gd", None, **options), plan("noisy-gd", "cheapest", **options)]
    composed = plan("noisy-gd:analysis=composition", None, requests_per_learn=REQUESTS, **options)
    assert composed is not None
    horizon = f"{count(composed.calibration.learn_steps)} / {count(composed.calibration.delete_steps)}, horizon {count(composed.calibration.horizon or 0)}"
    return [f"{n:,}", str(d), f"{lam:g}", f"{omega:g}", f"{deletion:g}", *map(cell, (*near, *sharper, weakly)), horizon]


def main(arguments: list[str]) -> None:
    argparse.ArgumentParser(prog="python -m benchmarks nonconvex_steps").parse_args(arguments)
    measured = report.commit()
    base = (10_000, 3, 0.05, 1.0, 0.1)
    sweeps = [
        [base],
        [(n, *base[1:]) for n in (500, 100_000, 1_000_000)],
        [(base[0], d, *base[2:]) for d in (2, 30, 300)],
        [(*base[:2], lam, *base[3:]) for lam in (0.001, 0.01, 0.2, 1.0)],
        [(*base[:3], omega, base[4]) for omega in (0.01, 0.1, 10.0)],
        [(*base[:4], deletion) for deletion in (0.001, 0.01, 1.0)],
    ]
    header = ["n", "d", "λ", "ω", "ε_dd", "5.2 printed, least σ²", "5.2 printed, cheapest σ²"]
    header += [
        "5.2 sharper, least σ²",
        "5.2 sharper, cheapest σ²",
        "weakly convex (λ > β₋)",
        "noisy-gd:analysis=composition",
    ]
    rows = [row(*case) for sweep in sweeps for case in sweep]
    body = (
        "Each cell is K_A / K_Ā at (q, ε_dp) = (2, 1), r = 1; where Theorem 5.2 answers, in brackets the most that the data can "
        "move the model's law from the prior in total variation (1: nothing is lost; near 0: the weights are noise). The loss is ω "
        "times the sigmoid loss, so β₋ = 0.096 ω. A dash: the certificate does not apply, or a better one answers first. "
        f"Composition: a fresh learn after {REQUESTS} requests, horizon in steps.\n\n"
        + report.table(header, rows)
        + "\n\n"
        "Reading: with the least noise the steps are out of any machine's reach, printed or sharper, because e^{ω/σ²} stays; both "
        "become runnable when σ² is of the order of ω. The sharper form saves a factor of about four in learning. What it saves in "
        "deleting grows with n, because only the edit's own move, of size 1/n, has to be forgotten. Where λ exceeds β₋ the weakly "
        "convex certificate makes the others pointless."
    )
    report.write(
        "nonconvex_steps", "Steps for non-convex losses", "python -m benchmarks nonconvex_steps", body, measured
    )

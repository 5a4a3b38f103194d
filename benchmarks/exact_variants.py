"""Every step exact, or the last one of a release alone: what either adds to μ, and the time of its draws."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import numpy as np

from benchmarks import report
from noisygd_delete import Budget, Execution, Records, losses, make_plan
from noisygd_delete.bounds.arithmetic import UNIT
from noisygd_delete.engine.noise import discrete_gaussian
from noisygd_delete.engine.objective import PreciseObjective
from noisygd_delete.methods import NoisyGD

BUDGET = Budget(order=10, dp=1.0, deletion=0.1)
HEADER = ["rows", "features", "λ", "learn: every step", "the last alone", "deletion: every step", "the last alone"]
LEGEND = """\
How much larger than over the reals the least μ is that roundings leave, relative, by formula (2) of the design (the greatest convex minorant: a taut
string), where *every step* ends on the grid by exact noise (what `noisy-gd` runs), or *the last one alone* and those before it in floating point, with the inverse normal
trusted to 2⁻⁴⁵. Logistic loss, q=10, ε_dp=1, ε_dd=0.1, replace adjacency, η=1/(λ+β). *Learn*: a record still there, after min(60,000, 4/(1−c))
steps; *deletion*: and K more without it, nothing observed between."""
SIZES = [(26_000, 108), (10**6, 108), (10**9, 108)]


def variants(records: int, width: int, regularization: float) -> list[str]:
    """What exactness adds to μ: of every step (A), or of the last one alone (L), both by the least shifts; after a learn, and after K steps more."""
    facts = {"records": records, "features": width, "regularization": regularization}
    plan = make_plan(losses.Logistic(1.0), **facts, budget=BUDGET, method=NoisyGD(exact=True), utility=False)
    run, exact = plan.mechanism, plan.mechanism.exact
    tau, eta, dimension = run.noise_scale, run.step_size, exact.dimension
    c, grid, error = 1 - eta * run.strong_convexity, exact.grid(run), exact.measured_error(run)
    steepest, far, root = run.lipschitz + regularization * exact.radius, 1.001 * exact.radius, math.sqrt(dimension)
    centre = 1.01 * (eta * error + UNIT * (3 * eta * steepest + 2 * far))
    spread = root + 37  # as far as the normals of a step go
    floating = centre + 1.01 * (
        2 * UNIT * tau * spread + tau * 2.0**-44 * (root + spread) + (dimension + 8) * UNIT * far
    )
    drawn, projected = centre + grid * root / 2, 1.01 * (dimension + 9) * UNIT * far  # r_X, r_Π
    moved, quiet = run.sensitivity("replace") * eta / records, tau**2 - 144 * grid**2
    steps, further = min(60_000, round(4 / (1 - c))), plan.calibration.delete_steps
    found = []
    for gone in (0, further):
        present = [moved] * steps + [0.0] * gone
        real = least_gdp(present, [tau**2] * len(present), c)
        every = [gap + 2 * (drawn + c * projected) + grid * root for gap in present]
        all_exact = least_gdp(every, [quiet] * len(present), c)
        left = 2 * (floating * (1 - c ** (len(present) - 1)) / (1 - c) * c + drawn)
        last = least_gdp([*present[:-1], present[-1] + left], [tau**2] * (len(present) - 1) + [quiet], c)
        found += [all_exact / real - 1, last / real - 1]
    return [f"{records:,}", str(width), f"{regularization:g}", *(f"{more:.1e}" for more in found)]


def least_gdp(gaps: list[float], variances: list[float], contraction: float) -> float:
    """The least μ of shifts that spend these gaps: the greatest convex minorant of (V_k, C_k), design sheet "exact steps", formula (2)."""
    power = contraction ** np.arange(1.0, len(gaps) + 1)
    hull: list[tuple[float, float]] = [(0.0, 0.0)]
    for corner in zip(np.cumsum(np.array(variances) / power**2), np.cumsum(np.array(gaps) / power), strict=True):
        while len(hull) > 1 and _slope(hull[-2], hull[-1]) >= _slope(hull[-1], corner):
            hull.pop()
        hull.append(corner)
    return math.sqrt(sum((b[1] - a[1]) ** 2 / (b[0] - a[0]) for a, b in pairwise(hull)))


def _slope(one: tuple[float, float], other: tuple[float, float]) -> float:
    return (other[1] - one[1]) / (other[0] - one[0])


def seconds(call: Callable[[], object], repeats: int) -> float:
    """Processor time of a call, the least of so many."""
    taken = math.inf
    for _ in range(repeats):
        began = time.process_time()
        call()
        taken = min(taken, time.process_time() - began)
    return taken


def times(width: int, rows: int, repeats: int) -> tuple[float, float, float]:
    """Seconds of a step's exact draws, of its normals where it takes these, and of its gradient in float64."""
    table = np.random.default_rng(0).standard_normal((rows, width), dtype=np.float32)
    table /= np.linalg.norm(table, axis=1, keepdims=True) * 1.00001
    records = Records(table, np.where(table[:, 0] > 0, 1.0, -1.0))
    objective, weights = PreciseObjective(records, losses.Logistic(1.0), regularization=0.1), np.zeros((1, width))
    noise, together = Execution().noise(), 2048 // width  # steps whose noise is drawn at once
    exact = seconds(lambda: discrete_gaussian(together * width, noise, variance=Fraction(4) ** 24), repeats) / together
    floating = seconds(lambda: noise.normal((1, width)), repeats)
    return exact, floating, seconds(lambda: objective.gradient(weights), repeats)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks exact_variants", description=__doc__)
    parser.add_argument("--regularization", nargs="+", type=float, default=[1e-1, 1e-3, 1e-5])
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/exact_variants.md")
    parsed = parser.parse_args(arguments)
    commit = report.commit()
    rows = [variants(*size, regularization) for size in SIZES for regularization in parsed.regularization]
    exact, floating, whole = times(108, 26_000, parsed.repeats)
    timed = (
        f"Processor time of a step's draws at 108 features: {exact * 1e6:.0f} µs exact, {floating * 1e6:.0f} µs in floating point; of its gradient over "
        f"26,000 rows in float64: {whole * 1e3:.2f} ms. Exact draws at every step are {(exact - floating) / whole:.1%} of a step more."
    )
    text = f"{LEGEND}\n\n{report.table(HEADER, rows)}\n\n{timed}"
    print(text)
    if parsed.write:
        command = " ".join(["OMP_NUM_THREADS=1 python -m benchmarks exact_variants", *arguments])
        report.write("exact_variants", "Every step exact, or the last one alone", command, text, commit)

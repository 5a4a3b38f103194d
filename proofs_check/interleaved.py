"""Fresh publications by objective perturbation with resumed noisy steps between: the account against exact joint laws.

On the linear loss every published model is Gaussian: a fresh one has mean −g/(nλ) and variance (s/nλ)² + τ², a step of Noisy-GD
contracts and adds 2ησ². What a set of observed models shows is then μ² = mᵀC⁻¹m exactly.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np

from noisygd_delete import Budget, Plan, losses, make_plan
from noisygd_delete.accountant import Accountant
from noisygd_delete.accountant.events import iterate_stretches
from noisygd_delete.privacy.guarantee import Guarantee

from .framework import ADVERSARIAL, RIGOROUS, Finding, require, statement

_SOLVER = 1.06  # what the solver's tolerance takes of a small μ


def exact(plan: Plan, present: list[bool], observed: list[int], delta: float) -> float:
    """μ between the worlds, `delta` apart in the gradient sum while the record is there."""
    n, lam, eta = plan.records, plan.regularization, plan.step_size
    mean, means, rows, noises = 0.0, [], [], 0
    weights: dict[int, float] = {}
    for number, there in enumerate(present):
        shift = delta * there
        if number % plan.method.fresh_every == 0:  # type: ignore[attr-defined]
            mean, weights = shift / (n * lam), {noises: math.hypot(plan.linear_term / (n * lam), plan.output_noise)}
            noises += 1
        else:
            for _ in range(plan.delete_steps):
                mean = (1 - eta * lam) * mean + eta * shift / n
                weights = {key: (1 - eta * lam) * value for key, value in weights.items()}
                weights[noises] = math.sqrt(2 * eta * plan.noise_variance)
                noises += 1
        means.append(mean)
        rows.append(weights)
    matrix = np.array([[rows[i].get(key, 0.0) for key in range(noises)] for i in observed])
    gap = np.array([means[i] for i in observed])
    return float(np.sqrt(gap @ np.linalg.solve(matrix @ matrix.T, gap)))


def _account(account: Accountant, start: int, end: int, observed: list[int]) -> Guarantee:
    return account.deletion(start, end, observed)


def _beneath_forgotten(account: Accountant, start: int, end: int, observed: list[int]) -> Guarantee:
    """The steps alone, as if the fresh publication beneath them had cost nothing."""
    parts = iterate_stretches(account.events, present_from=start, erased_at=end, observed=observed)
    steps = [(mechanism, T - T % 2, K) for mechanism, T, K in parts]
    found = [(m.interval("deletion", "definition-4.1", steps_with=T, steps_without=K), 1) for m, T, K in steps]
    nothing = account.events[-1].mechanism.interval("deletion", "definition-4.1", steps_with=0)
    return Guarantee.composed([*found, (nothing, 1)])


@statement(
    "OP.interleaved",
    "fresh publications with resumed steps between: each observed release costs its steps from the last observed model, and a hidden"
    " fresh one beneath them in full",
    evidence=(RIGOROUS, ADVERSARIAL),
    claim=SimpleNamespace(deletion=_account),
    fault=("the fresh publication beneath resumed steps forgotten", SimpleNamespace(deletion=_beneath_forgotten)),
    licenses=(
        "methods.interleaved:InterleavedRun",
        "methods.interleaved:Interleaved",
    ),
    scope="Random mixes on the linear loss, where the joint law of all models is exact: random lifetimes and observers, never below, and "
    "equal up to the solver's share where everything is observed; the plan's dp and deletion figures and its budget. That given an "
    "observed model both worlds restart from it holds for every loss (conditioning); no fading of a hidden fresh publication is claimed.",
)
def _interleaved(claim, effort: int) -> Finding:
    generator, closest = np.random.default_rng(91), math.inf
    for _ in range(8 * effort):
        every, steps, count = (
            int(generator.integers(3, 6)),
            int(generator.integers(1, 4)),
            int(generator.integers(5, 14)),
        )
        lam = math.exp(generator.uniform(-3, 0))
        plan = make_plan(
            losses.Linear(1.0),
            records=60,
            features=1,
            regularization=lam,
            budget=Budget.from_gdp(dp=(size := math.exp(generator.uniform(-1, 1))), deletion=size),
            releases=count,
            dtype="float64",
            method="interleaved",
            fresh_every=every,
            resumed_steps=steps,
            step_size=generator.uniform(0.1, 0.9) / lam,
        )
        account = Accountant(plan)
        account.record(account.planned())
        for _ in range(count - 1):
            account.record(account.publication(1))
        staying = exact(plan, [True] * count, list(range(count)), 2.0)
        spent = account.dp_cumulative().gdp
        require(spent is not None and staying <= spent * (1 + 1e-9), f"all observed: {staying} above {spent}")
        require(spent <= _SOLVER * staying, f"all observed: {spent}, exact {staying}")
        require(spent <= size * (1 + 1e-9), f"{spent} above the budget {size}")
        for _ in range(30):
            start, end = (int(number) for number in sorted(generator.choice(np.arange(1, count + 1), 2, replace=False)))
            some = sorted(
                int(i)
                for i in generator.choice(np.arange(1, count + 1), generator.integers(1, count + 1), replace=False)
            )
            seen = some if generator.random() < 0.7 else list(range(1, count + 1))
            present = [start <= number < end for number in range(1, count + 1)]
            truth = exact(plan, present, [number - 1 for number in seen], 1.0)
            found = claim.deletion(account, start, end, seen).gdp
            require(
                found is not None and truth <= found * (1 + 1e-9), f"{present}, {seen} observed: {truth} above {found}"
            )
            if len(seen) == count and truth > 0:
                require(found <= _SOLVER * truth + 1e-6, f"everything observed: {found}, exact {truth}")
            closest = min(closest, found / truth - 1) if truth > 1e-6 else closest
        for number in range(2, count + 1):  # erased by each release, later models alone observed
            truth = exact(plan, [True] * (number - 1) + [False], [number - 1], 1.0)
            stated = plan.deletion.gdp
            require(
                stated is not None and truth <= stated * (1 + 1e-9),
                f"erased at {number}: {truth} above the plan's {stated}",
            )
            lone = exact(plan, [True] * number, [number - 1], 2.0)
            stated = plan.dp.gdp
            require(
                stated is not None and lone <= stated * (1 + 1e-9),
                f"release {number}: {lone} above the plan's {stated}",
            )
    return Finding(f"closest approach {closest:.1e} (the solver's share)")

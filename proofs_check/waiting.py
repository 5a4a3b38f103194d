"""What clean steps can be certified to forget where steps may expand, and the barrier that a run has to cross."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np

from noisygd_delete.bounds import forgetting_limits

from . import closed_forms
from .framework import ADVERSARIAL, RIGOROUS, Finding, require, statement


def _feasible(shifts: np.ndarray, expansion: float, gaps: np.ndarray) -> bool:
    """Whether the distance begins at 0, stays ≥ 0 and ends at 0 under these shifts; from its end, where errors shrink."""
    z, least = 0.0, 0.0
    for gap, shift in zip(gaps[::-1], shifts[::-1], strict=True):
        z = (z + shift - gap) / expansion
        least = min(least, z)
    return least >= -1e-9 and abs(z) <= 1e-9


def _optimal(expansion: float, steps_with: int, steps_without: int, last: int) -> np.ndarray:
    """a = 1 up to T − U, then in proportion to c^{−k}, U = `last`."""
    tail = expansion ** -np.arange(1.0, last + steps_without + 1)
    scale = tail[:last].sum() / (tail**2).sum() if last else 0.0
    return np.concatenate([np.ones(steps_with - last), scale * tail])


_HONEST = SimpleNamespace(charged=closed_forms.charged_steps, worth=forgetting_limits.steps_worth_waiting)
_UNCONSTRAINED = SimpleNamespace(  # the tail taken over all T steps, whatever the distance does on the way
    charged=lambda expansion, steps_with, steps_without: float(
        (_optimal(expansion, steps_with, steps_without, steps_with) ** 2).sum()
    ),
    worth=_HONEST.worth,
)


@statement(
    "T3",
    "steps with c > 1: T with a record and K clean ones are charged at least T − (ln 2 − ½)/ln c steps of composition by shifted"
    " interpolation, whatever K; the optimum is composition up to T − U, then shifts ∝ c^{−k}",
    evidence=(RIGOROUS, ADVERSARIAL),
    claim=_HONEST,
    fault=("the constraint that distances stay ≥ 0 forgotten", _UNCONSTRAINED),
    licenses=("bounds.forgetting_limits:steps_worth_waiting",),
    scope="The optimum over shifts: feasible for every (c, T, K) tried, equal to the stated cost, and below every other feasible choice tried "
    "(optimality conditions: a_k c^k falls, and is constant where the distance is > 0). That the best certificate of this kind is "
    "what the class of c-Lipschitz steps allows is not checked; a particular network may forget faster.",
)
def _waiting(claim, effort: int) -> Finding:
    rng, most = np.random.default_rng(33), 0.0
    for _ in range(60 * effort):
        expansion = 1 + math.exp(rng.uniform(-7, -0.5))
        steps_with, steps_without = int(rng.integers(1, 80)), int(rng.integers(0, 300))
        facts = {"expansion": expansion, "steps_with": steps_with, "steps_without": steps_without}
        stated = claim.charged(**facts)
        gaps = np.array([1.0] * steps_with + [0.0] * steps_without)
        costs = []
        for last in range(steps_with + 1):
            shifts = _optimal(expansion, steps_with, steps_without, last)
            if (shifts >= 0).all() and _feasible(shifts, expansion, gaps):
                costs.append(float((shifts**2).sum()))
        require(abs(min(costs) - stated) <= 1e-6 * stated, f"{facts}: {stated}, the least feasible is {min(costs)}")
        saved = (steps_with - stated) / claim.worth(expansion=expansion)
        require(saved <= 1 + 2 * math.log(expansion), f"{facts}: saves {saved} times the constant")
        most = max(most, saved)
    return Finding(f"at most {most:.3f} of the constant saved")


def _exponent(**facts: float) -> float:
    return forgetting_limits.barrier_exponent(**facts)


@statement(
    "T4",
    "the exponent of the barrier, (L²/2σ²)(1/λ − 1/β₋): the height over σ² that Eberle's integral gives for the class, and of the"
    " double well with slopes ±L and curvature −β₋",
    evidence=(RIGOROUS,),
    claim=_exponent,
    fault=("L²/σ² for L²/2σ²", lambda **facts: 2 * forgetting_limits.barrier_exponent(**facts)),
    licenses=("bounds.forgetting_limits:barrier_exponent",),
    scope="The integral (1/4σ²)∫u(min(β₋, 2L/u) − λ)⁺du by quadrature, and the height of the double well on a grid. Eberle's theorem itself "
    "(continuous time, a W₁-type distance) is cited; steps of finite size are not covered.",
)
def _barrier(claim, effort: int) -> Finding:
    rng, worst = np.random.default_rng(34), 0.0
    for _ in range(20 * effort):
        lipschitz, weak, noise = (math.exp(rng.uniform(-1, 1)) for _ in range(3))
        lam = weak * rng.uniform(0.1, 1.2)
        stated = claim(lipschitz=lipschitz, weak_convexity=weak, regularization=lam, noise_variance=noise)
        u = np.linspace(1e-9, 2 * lipschitz / lam, 400_001)
        held = u * np.maximum(np.minimum(weak, 2 * lipschitz / u) - lam, 0)
        integral = float(np.trapezoid(held, u)) / (4 * noise)
        x = np.linspace(0, 2 * lipschitz / lam, 400_001)
        inside = x < lipschitz / weak
        well = np.where(inside, -weak * x**2 / 2, -lipschitz * x + lipschitz**2 / (2 * weak)) + lam * x**2 / 2
        for name, truth in (("the integral", integral), ("the well", max(0.0, -float(well.min()) / noise))):
            require(abs(truth - stated) <= 1e-4 * (truth + 1e-3), f"λ={lam}, β₋={weak}: {stated}, {name} gives {truth}")
            worst = max(worst, abs(truth - stated))
    return Finding(f"within {worst:.0e}")

"""Objective perturbation with the accounting of Redberg, Koskela & Wang: `method="objective-perturbation"` with their ε.

b ~ N(0, s²I) is added to the gradient sum and the minimiser is published. For one gradient direction per record, x
against the null record, their Rényi bound (NeurIPS 2023, Theorem 3.2) reads, with A = L/s and ρ = β/(nλ),
    ε(q) = −log(1 − ρ) + A²/2 + log E e^{(q−1)|Z|}/(q − 1),   Z ~ N(0, A²),   E e^{t|Z|} = 2 e^{t²A²/2} Φ(tA)
The log determinant is taken at its largest, linear in ρ, and the shift by its absolute value, so that 2Φ(tA) > 1
remains where the exact tilt has 1, and ρ where it has qρ²/2: at small ε both dominate.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from noisygd_delete.bounds.objective_perturbation import curvature_ratio
from noisygd_delete.bounds.renyi import least_noise, renyi_epsilon
from noisygd_delete.engine.linear_term import draw_linear_term
from noisygd_delete.engine.noise import noise_source
from noisygd_delete.engine.objective import PreciseObjective
from noisygd_delete.engine.solver import solve
from noisygd_delete.errors import AssumptionViolated, check_positive, check_probability
from noisygd_delete.losses.base import Loss
from noisygd_delete.records import Records

from .base import Certificate, Held, Relearning

_ORDERS = 1 + np.geomspace(1e-3, 1e5, 801)
_MOST = 1e12  # times L: largest noise considered


def renyi(*, order: float, lipschitz: float, noise: float, ratio: float) -> float:
    """Return ε(q) of their Theorem 3.2; infinite for ρ ≥ 1, where it gives no bound.

    Args:
        order: q.
        lipschitz: L.
        noise: s.
        ratio: ρ.
    """
    if not (ratio < 1 and noise > 0):
        return math.inf
    shift, tilt = lipschitz / noise, order - 1
    moment = (tilt * shift) ** 2 / 2 + math.log1p(math.erf(tilt * shift / math.sqrt(2)))  # 2Φ(x) = 1 + erf(x/√2)
    return -math.log1p(-ratio) + shift**2 / 2 + moment / tilt


def epsilon(*, delta: float, lipschitz: float, noise: float, ratio: float) -> float:
    """Return ε at δ, minimised over a grid of orders."""
    facts = {"lipschitz": lipschitz, "noise": noise, "ratio": ratio}
    found = (renyi_epsilon(order=q, renyi=renyi(order=q, **facts), delta=delta) for q in _ORDERS)
    return float(min(found))


def noise_for_renyi(*, order: float, budget: float, lipschitz: float, ratio: float) -> float:
    """Return the least s with ε(q) ≤ budget; infinite if −log(1−ρ) alone exceeds it."""
    return least_noise(
        affordable=lambda s: renyi(order=order, lipschitz=lipschitz, noise=s, ratio=ratio) <= budget,
        guess=lipschitz,
        most=_MOST * lipschitz,
    )


def noise_for_epsilon_delta(*, budget: float, delta: float, lipschitz: float, ratio: float) -> float:
    """Return the least s for (ε, δ); infinite if there is none."""
    return least_noise(
        affordable=lambda s: epsilon(delta=delta, lipschitz=lipschitz, noise=s, ratio=ratio) <= budget,
        guess=lipschitz,
        most=_MOST * lipschitz,
    )


class ObjectivePerturbation(Relearning):
    """(ε, δ)-DP for x against the null record; a deletion solves again under a new b, without the erased record."""

    name: ClassVar[str] = "objective perturbation (Redberg et al.)"
    source: ClassVar[str] = "Redberg, Koskela & Wang (NeurIPS 2023), Theorem 3.2"

    def __init__(
        self, loss: Loss, *, regularization: float, records: int, epsilon: float, delta: float, tolerance: float = 1e-7
    ) -> None:
        if loss.outputs > 1 or not loss.constants.convex:
            raise AssumptionViolated(
                f"their bound is for convex losses with one gradient direction per record, not for the {loss.name} loss"
            )
        self.loss = loss
        self.regularization = check_positive("regularization", regularization)
        self.epsilon, self.delta = check_positive("epsilon", epsilon), check_probability("delta", delta)
        self.tolerance = check_positive("tolerance", tolerance)
        ratio = curvature_ratio(smoothness=loss.constants.smoothness, strong_convexity=regularization, records=records)
        self.noise = noise_for_epsilon_delta(
            budget=epsilon, delta=delta, lipschitz=loss.constants.lipschitz, ratio=ratio
        )
        if self.noise == math.inf:
            raise AssumptionViolated(
                f"no noise is enough for ε={epsilon:g}: −log(1−ρ)={-math.log1p(-ratio) if ratio < 1 else math.inf:.3g} counts in "
                "full; raise λ"
            )

    def learn(self, records: Records, rng: np.random.Generator | None = None) -> Held:
        linear = draw_linear_term(self.loss.shape(records.features.shape[1]), noise_source(rng), deviation=self.noise)
        found = solve(
            PreciseObjective(records, self.loss, regularization=self.regularization, linear=linear),
            start=None,
            tolerance=self.tolerance,
            strong_convexity=self.regularization,
            objective_smoothness=self.regularization + self.loss.constants.smoothness,
        )
        return Held(found.weights, len(records), gradient_evaluations=records.slots * found.gradient_passes)

    def certificate(self, held: Held) -> Certificate:
        return Certificate(
            deletion=(0.0, 0.0),
            existing=(self.epsilon, self.delta),
            adaptive=True,
            basis=self.source,
            caveats=(
                "x against the null record",
                "one release; releases compose",
                "the exact minimiser in real arithmetic: neither the solver's tolerance nor rounding is in the bound",
            ),
        )

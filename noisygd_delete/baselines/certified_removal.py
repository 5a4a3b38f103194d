"""Certified removal (Guo et al., ICML 2020): a Newton step, hidden by a perturbation of the training loss.

One-vs-rest for several classes: the perturbation is one vector over all outputs and the residual norms combine as its
Euclidean norm, so the budget needs no split.

A gap in the paper's proof that the certificate states: Theorem 2 writes the law of b − u as a convolution, which needs the
residual u to be independent of b. Every u here is a function of the trained model, hence of b, and the theorem as stated
("for any w̃") is false: an approximate minimiser that rounds b to a grid has a small residual and a discrete law. For the
Newton step the missing factor is the determinant of b ↦ b − u(b). `tests/baselines/test_certified_removal.py` shows both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import AssumptionViolated, BudgetExceeded, InvalidParameter, choice, positive, probability
from ..records import Records
from . import newton
from .base import Certificate, Erased, Held, Method, Weights, generator

Array = NDArray[np.float64]


class Curve(Protocol):
    """ℓ as a function of the score: what one Newton step needs."""

    lipschitz: float
    third_derivative: float

    def value(self, scores: Array, labels: Array) -> Array: ...
    def slope(self, scores: Array, labels: Array) -> Array: ...
    def curvature(self, scores: Array, labels: Array) -> Array: ...


class LogisticCurve:
    """log(1 + e^{−yz}): C = 1 and γ = sup|ℓ‴| = 1/(6√3)."""

    lipschitz = 1.0
    third_derivative = newton.LOGISTIC_THIRD

    def value(self, scores: Array, labels: Array) -> Array:
        return np.asarray(np.logaddexp(0, -scores * labels))

    def slope(self, scores: Array, labels: Array) -> Array:
        return np.asarray(labels * (np.tanh(scores * labels / 2) - 1) / 2)

    def curvature(self, scores: Array, labels: Array) -> Array:
        tangent: Array = np.tanh(scores / 2)
        return (1 - tangent) * (1 + tangent) / 4


class LeastSquaresCurve:
    """(z − y)²: curvature 2 (the paper prints the Hessian without the 2), γ = 0, so a Newton step is exact. Not Lipschitz."""

    lipschitz = math.inf
    third_derivative = 0.0

    def value(self, scores: Array, labels: Array) -> Array:
        return (scores - labels) ** 2

    def slope(self, scores: Array, labels: Array) -> Array:
        return 2 * (scores - labels)

    def curvature(self, scores: Array, labels: Array) -> Array:
        return np.full_like(scores, 2.0)


CURVES: dict[str, Curve] = {"logistic": LogisticCurve(), "least-squares": LeastSquaresCurve()}


@dataclass(frozen=True)
class Problem:
    """L_b of one table: rows (n, d), labels (outputs, n), null rows counting for nothing; `present` is n of the paper."""

    curve: Curve
    rows: Array
    labels: Array
    regularization: float
    present: int

    def value(self, weights: Weights, perturbation: Weights) -> float:
        used = self.curve.value(weights @ self.rows.T, self.labels) * (self.rows.any(axis=1))
        penalty = self.regularization * self.present / 2 * np.vdot(weights, weights)
        return float(used.sum() + penalty + np.vdot(perturbation, weights))

    def gradient(self, weights: Weights, perturbation: Weights | float = 0.0) -> Weights:
        slopes = self.curve.slope(weights @ self.rows.T, self.labels)
        total: Weights = slopes @ self.rows + self.regularization * self.present * weights + perturbation
        return total

    def hessian(self, weights: Weights) -> Array:
        """(outputs, d, d)."""
        curvatures = self.curve.curvature(weights @ self.rows.T, self.labels)
        ridge = self.regularization * self.present * np.eye(self.rows.shape[1])
        return np.stack([(self.rows.T * row) @ self.rows + ridge for row in curvatures])


def newton_step(hessian: Array, gradient: Weights) -> Weights:
    """H⁻¹g per output."""
    return np.stack([np.linalg.solve(h, g) for h, g in zip(hessian, gradient, strict=True)])


def minimise_perturbed(problem: Problem, perturbation: Weights, *, tolerance: float) -> tuple[Weights, float, int]:
    """argmin L_b by damped Newton from 0: (weights, final gradient norm, Newton steps)."""
    weights = np.zeros_like(perturbation)
    gradient = problem.gradient(weights, perturbation)
    best = float(np.linalg.norm(gradient))
    for step in range(100):
        if best <= tolerance:
            return weights, best, step
        direction = newton_step(problem.hessian(weights), gradient)
        value, slope, scale = problem.value(weights, perturbation), float(np.vdot(gradient, direction)), 1.0
        while scale > 1e-8 and problem.value(weights - scale * direction, perturbation) > value - scale * slope / 4:
            scale /= 2
        moved = weights - (scale if scale > 1e-8 else 1.0) * direction  # near the floor of rounding: a full step
        gradient = problem.gradient(moved, perturbation)
        norm = float(np.linalg.norm(gradient))
        if norm >= best and best <= 1e3 * tolerance:  # rounding stops the last digits: the residual is charged anyway
            return weights, best, step
        weights, best = moved, norm
    raise AssumptionViolated(f"Newton's method stopped at gradient norm {best:.3g} > tolerance={tolerance:g}")


class CertifiedRemoval(Method):
    """Newton removal with a gradient-residual budget; learns afresh when it is spent.

    Args:
        curve: "logistic" or "least-squares".
        classes: 1 for labels −1/+1 or real targets; k > 1 for one-vs-rest on labels 0..k−1.
        epsilon, delta: of the certified removal; δ = 0 with `law="exponential"` under the data-dependent bound.
        noise: scale of b: σ of N(0, σ²I), or of the density ∝ exp(−‖b‖/noise).
        law: "gaussian" or "exponential", Theorem 3 (ii) and (i).
        bound: "data-dependent" (Corollaries 1 and 2) or "worst-case" (Theorem 4 with the erratum).
        failure: P(‖b‖ > B) under "worst-case"; it is added to δ.
        when_spent: "retrain" with a fresh perturbation, or "refuse".

    Raises:
        InvalidParameter: also for the Gaussian law with ε > 1, which the proof behind Theorem 3 (ii) does not cover.
    """

    name: ClassVar[str] = "certified removal"
    source: ClassVar[str] = "Guo, Goldstein, Hannun & van der Maaten (ICML 2020), Algorithms 1 and 2, erratum applied"
    guarantees: ClassVar[str] = "(ε, δ) closeness to retraining for all removals within the residual budget"
    does_not_guarantee: ClassVar[str] = (
        "privacy of remaining records; anything for an observer of several releases or for adaptive requests; and its Theorem 2 "
        "needs a residual independent of the perturbation, which no residual here is"
    )
    secret_state: ClassVar[str] = "the residual spent so far and ‖X‖₂: statistics of data that include erased records"
    stateless: ClassVar[bool] = False
    private: ClassVar[bool] = False

    def __init__(
        self,
        *,
        regularization: float,
        epsilon: float,
        delta: float,
        noise: float,
        curve: str = "logistic",
        classes: int = 1,
        law: str = "gaussian",
        bound: str = "data-dependent",
        failure: float | None = None,
        when_spent: str = "retrain",
        tolerance: float = 1e-8,
    ) -> None:
        self.curve = CURVES[choice("curve", curve, tuple(CURVES))]
        self.regularization = positive("regularization", regularization)
        self.law = choice("law", law, ("gaussian", "exponential"))
        self.bound = choice("bound", bound, ("data-dependent", "worst-case"))
        self.when_spent = choice("when_spent", when_spent, ("retrain", "refuse"))
        self.epsilon = positive("epsilon", epsilon)
        self.failure = 0.0 if bound == "data-dependent" else probability("failure", failure)
        self.delta = self.failure if law == "exponential" else probability("delta", delta)
        if law == "gaussian" and epsilon > 1:
            raise InvalidParameter(f"epsilon={epsilon!r} must be <= 1 for the Gaussian law; use law='exponential'")
        if bound == "worst-case" and not math.isfinite(self.curve.lipschitz):
            raise InvalidParameter(
                "curve='least-squares' is not Lipschitz: only the data-dependent bound (0) covers it"
            )
        self.noise = positive("noise", noise)
        self.classes = classes
        self.tolerance = tolerance
        hidden_delta = self.delta - self.failure if law == "gaussian" else 0.0
        if law == "gaussian" and not hidden_delta > 0:
            raise InvalidParameter(f"failure={failure!r} must be < delta={delta!r}: it is part of it")
        self.budget = newton.residual_budget(law=law, noise=noise, epsilon=epsilon, delta=hidden_delta)

    def problem(self, records: Records, present: int) -> Problem:
        """The table in float64, labels coded one-vs-rest."""
        labels = records.labels[None]
        if self.classes > 1:
            labels = np.where(labels == np.arange(self.classes)[:, None], 1.0, -1.0)
        return Problem(self.curve, records.features.astype(np.float64), labels, self.regularization, present)

    def perturbation(self, shape: tuple[int, ...], rng: np.random.Generator) -> Weights:
        """b, over all outputs at once."""
        drawn = rng.standard_normal(shape)
        if self.law == "gaussian":
            return self.noise * drawn
        length = rng.gamma(drawn.size, self.noise)
        return np.asarray(drawn * (length / np.linalg.norm(drawn)))

    def learn(self, records: Records, rng: np.random.Generator | None = None) -> Held:
        problem = self.problem(records, len(records))
        shape = (problem.labels.shape[0], problem.rows.shape[1])
        b = self.perturbation(shape, generator(rng))
        weights, residual, steps = minimise_perturbed(problem, b, tolerance=self.tolerance * max(1, problem.present))
        norm = math.sqrt(float(np.linalg.eigvalsh(problem.rows.T @ problem.rows)[-1]))
        return Held(
            weights,
            problem.present,
            {"spent": residual, "spectral_norm": norm},
            gradient_evaluations=records.slots * (steps + 1) * shape[0],
            hessian_evaluations=records.slots * steps * shape[0],
        )

    def forget(self, records: Records, erased: Erased, held: Held, rng: np.random.Generator | None = None) -> Held:
        problem = self.problem(records, held.records - len(erased))
        step = self.removal_step(problem, erased, held)
        spent = held.secret["spent"] + self.residual_bound(problem, len(erased), step, held)
        if not spent <= self.budget:
            if self.when_spent == "refuse":
                raise BudgetExceeded(
                    f"the residual after this removal is bounded by {spent:.3g} > {self.budget:.3g}, all that noise={self.noise:g} "
                    "hides; learn afresh with a new perturbation"
                )
            again = self.learn(records, rng)
            return Held(
                again.weights, again.records, again.secret, again.gradient_evaluations, again.hessian_evaluations, True
            )
        outputs = len(held.weights)
        return Held(
            held.weights + step,
            problem.present,
            {**held.secret, "spent": spent},
            gradient_evaluations=len(erased) * outputs,
            hessian_evaluations=records.slots * outputs,
        )

    def removal_step(self, problem: Problem, erased: Erased, held: Held) -> Weights:
        """H⁻¹Δ: O(nd²) for the Hessian, O(d³) for the solve."""
        labels = erased.labels[None]
        if self.classes > 1:
            labels = np.where(labels == np.arange(self.classes)[:, None], 1.0, -1.0)
        slopes = self.curve.slope(held.weights @ erased.rows.T, labels)
        pull = slopes @ erased.rows + len(erased) * self.regularization * held.weights
        return newton_step(problem.hessian(held.weights), pull)

    def residual_bound(self, problem: Problem, removed: int, step: Weights, held: Held) -> float:
        """What this removal adds to the residual norm at most."""
        if self.bound == "worst-case":
            b = newton.perturbation_quantile(law=self.law, noise=self.noise, dimension=step.size, failure=self.failure)
            return math.sqrt(len(step)) * newton.worst_case_bound(
                third_derivative=self.curve.third_derivative,
                lipschitz=self.curve.lipschitz,
                regularization=self.regularization,
                records=problem.present + removed,
                perturbation=b,
                removed=removed,
                spent=held.secret["spent"],
            )
        per_output = [
            newton.data_dependent_bound(
                third_derivative=self.curve.third_derivative,
                spectral_norm=held.secret["spectral_norm"],
                step=float(np.linalg.norm(row)),
                response=float(np.linalg.norm(problem.rows @ row)),
            )
            for row in step
        ]
        return float(np.linalg.norm(per_output))

    def certificate(self, held: Held) -> Certificate:
        return Certificate(
            deletion=(self.epsilon, self.delta),
            existing=None,
            adaptive=False,
            basis=self.source,
            caveats=(
                "rows of norm at most 1",
                "as the paper claims: the proof of its Theorem 2 takes the residual to be independent of the perturbation",
                "whether the budget lasts depends on data and perturbation; that decision is not accounted for",
            ),
        )

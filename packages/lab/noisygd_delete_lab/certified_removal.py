"""Certified removal (Guo et al., ICML 2020): a Newton step, hidden by a perturbation of the training loss.

One-vs-rest for several classes: the perturbation is one vector over all outputs and the residual norms combine as its
Euclidean norm, so the budget needs no split.

The paper's proof has a gap, which the certificate states. Theorem 2 writes the law of b − u as a convolution, which
needs the residual u to be independent of b; every u here is a function of the trained model, hence of b. As stated
("for any w̃") it is false: an approximate minimiser that rounds b to a grid has a small residual and a discrete law.
For the Newton step the missing factor is |det ∂(b − u)/∂b|, and Theorem 3 (i) fails too: logistic loss, d = 1, n = 3, λ
= 0.01, ε = 1 and the exact largest residual as ε′ give a max-divergence of 2.29, and no larger ε′ brings it below 1.76.
`proof_gap` computes the factor; it is small where n is large (the tables have it), but it depends on the data and is
not bounded here.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from noisygd_delete.errors import BudgetExceeded, InvalidParameter, check_choice, check_positive, check_probability
from noisygd_delete.records import Records

from . import newton
from .base import Baseline, Certificate, Erased, Held, Weights, generator
from .second_order import CURVES, SecondOrderProblem, lost_determinant, minimise_perturbed, newton_step


class CertifiedRemoval(Baseline):
    """Newton removal with a gradient-residual budget; learns afresh when it is spent.

    Args:
        regularization: λ.
        epsilon: ε of the certified removal.
        delta: δ of the certified removal; 0 with `law="exponential"` under the data-dependent bound.
        noise: Scale of b: σ of N(0, σ²I), or of the density ∝ exp(−‖b‖/noise).
        curve: "logistic" or "least-squares".
        classes: 1 for labels −1/+1 or real targets; k > 1 for one-vs-rest on labels 0..k−1.
        law: "gaussian" or "exponential", Theorem 3 (ii) and (i).
        bound: "data-dependent" (Corollaries 1 and 2) or "worst-case" (Theorem 4 with the erratum).
        failure: P(‖b‖ > B) under "worst-case"; it is added to δ.
        when_spent: "retrain" with a fresh perturbation, or "refuse".
        tolerance: Tolerance of the gradient norm of learning, times the number of records.

    Raises:
        InvalidParameter: If a value is out of range; also for the Gaussian law with ε > 1, which the proof behind
            Theorem 3 (ii) does not cover.
    """

    name: ClassVar[str] = "certified removal"
    source: ClassVar[str] = "Guo, Goldstein, Hannun & van der Maaten (ICML 2020), Algorithms 1 and 2, erratum applied"
    guarantees: ClassVar[str] = "(ε, δ) closeness to retraining for all removals within the residual budget"
    does_not_guarantee: ClassVar[str] = (
        "privacy of remaining records; anything for an observer of several releases or for adaptive requests; and its Theorem 2 "
        "is false as stated: it takes the residual to be independent of the perturbation"
    )
    secret_state: ClassVar[str] = (
        "the residual spent so far and ‖X‖₂, statistics of data that include erased records; and the current Hessian"
    )
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
        self.curve = CURVES[check_choice("curve", curve, tuple(CURVES))]
        self.regularization = check_positive("regularization", regularization)
        self.law = check_choice("law", law, ("gaussian", "exponential"))
        self.bound = check_choice("bound", bound, ("data-dependent", "worst-case"))
        self.when_spent = check_choice("when_spent", when_spent, ("retrain", "refuse"))
        self.epsilon = check_positive("epsilon", epsilon)
        self.failure = 0.0 if bound == "data-dependent" else check_probability("failure", failure)
        self.delta = self.failure if law == "exponential" else check_probability("delta", delta)
        if law == "gaussian" and epsilon > 1:
            raise InvalidParameter(f"epsilon={epsilon!r} must be <= 1 for the Gaussian law; use law='exponential'")
        if bound == "worst-case" and not math.isfinite(self.curve.lipschitz):
            raise InvalidParameter(
                "curve='least-squares' is not Lipschitz: only the data-dependent bound (0) covers it"
            )
        self.noise = check_positive("noise", noise)
        self.classes = classes
        self.tolerance = tolerance
        hidden_delta = self.delta - self.failure if law == "gaussian" else 0.0
        if law == "gaussian" and not hidden_delta > 0:
            raise InvalidParameter(f"failure={failure!r} must be < delta={delta!r}: it is part of it")
        self.budget = newton.residual_budget(law=law, noise=noise, epsilon=epsilon, delta=hidden_delta)

    def problem(self, records: Records, present: int) -> SecondOrderProblem:
        """Return the table in float64, with labels coded one-vs-rest."""
        rows = records.features.astype(np.float64)
        return SecondOrderProblem(self.curve, rows, self._coded(records.labels), self.regularization, present)

    def _coded(self, labels: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.classes == 1:
            return labels[None]
        return np.where(labels == np.arange(self.classes)[:, None], 1.0, -1.0)

    def perturbation(self, shape: tuple[int, ...], rng: np.random.Generator) -> Weights:
        """Draw b, over all outputs at once."""
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
            {"spent": residual, "spectral_norm": norm, "learned": problem.present},
            gradient_evaluations=records.slots * (steps + 1) * shape[0],
            hessian_evaluations=records.slots * steps * shape[0],
        )

    def prepare(self, records: Records, held: Held) -> Held:
        """Compute the Hessian of the current records at the current model, O(nd²), ahead of the next request."""
        hessian = self.problem(records, held.records).hessian(held.weights)
        work = held.hessian_evaluations + records.slots * len(held.weights)
        return replace(held, secret={**held.secret, "hessian": hessian}, hessian_evaluations=work)

    def forget(self, records: Records, erased: Erased, held: Held, rng: np.random.Generator | None = None) -> Held:
        prepared = "hessian" in held.secret
        step = self.removal_step(self.hessian_after(records, erased, held), erased, held)
        spent = held.secret["spent"] + self.residual_bound(records, len(erased), step, held)
        if not spent <= self.budget:
            if self.when_spent == "refuse":
                raise BudgetExceeded(
                    f"the residual after this removal is bounded by {spent:.3g} > {self.budget:.3g}, all that noise={self.noise:g} "
                    "hides; learn afresh with a new perturbation"
                )
            return replace(self.learn(records, rng), retrained=True)
        outputs = len(held.weights)
        secret = {name: value for name, value in held.secret.items() if name != "hessian"}
        return Held(
            held.weights + step,
            held.records - len(erased),
            {**secret, "spent": spent},
            gradient_evaluations=len(erased) * outputs,
            hessian_evaluations=(len(erased) if prepared else records.slots) * outputs,
        )

    def hessian_after(self, records: Records, erased: Erased, held: Held) -> NDArray[np.float64]:
        """Return ∇²L(w; D′): the prepared Hessian minus the share of the erased records, or computed now."""
        if "hessian" not in held.secret:
            return self.problem(records, held.records - len(erased)).hessian(held.weights)
        difference: NDArray[np.float64] = held.secret["hessian"] - self._of(erased).hessian(held.weights)
        return difference

    def _of(self, erased: Erased) -> SecondOrderProblem:
        """Return the erased records' share of the objective, including their regularisation."""
        return SecondOrderProblem(self.curve, erased.rows, self._coded(erased.labels), self.regularization, len(erased))

    def removal_step(self, hessian: NDArray[np.float64], erased: Erased, held: Held) -> Weights:
        """Return H⁻¹Δ in O(d³), with Δ the gradient of the erased records' share."""
        return newton_step(hessian, self._of(erased).gradient(held.weights))

    def residual_bound(self, records: Records, removed: int, step: Weights, held: Held) -> float:
        """Return an upper bound on the residual norm that this removal adds."""
        if self.bound == "worst-case":
            b = newton.perturbation_quantile(law=self.law, noise=self.noise, dimension=step.size, failure=self.failure)
            return math.sqrt(len(step)) * newton.worst_case_bound(
                third_derivative=self.curve.third_derivative,
                lipschitz=self.curve.lipschitz,
                regularization=self.regularization,
                records=held.records,
                perturbation=b + held.secret["spent"],  # at least the solver's residual
                removed=removed,
                learned=held.secret["learned"],
            )
        moved = np.linalg.norm(records.features @ step.T.astype(np.float32), axis=0).astype(np.float64)
        lengths = np.linalg.norm(step, axis=1)
        # the product is in float32: per row of norm ≤ 1 its error is below (d + 2)·2⁻²³‖s‖
        moved = moved * (1 + 1e-4) + math.sqrt(records.slots) * (step.shape[1] + 2) * 2.0**-23 * lengths
        per_output = [
            newton.data_dependent_bound(
                third_derivative=self.curve.third_derivative,
                spectral_norm=held.secret["spectral_norm"],
                step=float(length),
                response=float(response),
            )
            for length, response in zip(lengths, moved, strict=True)
        ]
        return float(np.linalg.norm(per_output))

    def proof_gap(self, records: Records, erased: Erased, held: Held) -> float:
        """Return log|det ∂(b − u)/∂b| of the removal from `held` to `records`, which Theorem 2 omits from ε."""
        after = self.problem(records, held.records - len(erased))
        step = self.removal_step(self.hessian_after(records, erased, held), erased, held)
        return lost_determinant(after, held.weights, step, self._of(erased).hessian(held.weights))

    def certificate(self, held: Held) -> Certificate:
        return Certificate(
            deletion=(self.epsilon, self.delta),
            existing=None,
            adaptive=False,
            basis=self.source,
            caveats=(
                "rows of norm at most 1",
                "as the paper claims: its Theorem 2 is false as stated and loses a data-dependent factor here (see proof_gap)",
                "whether the budget lasts depends on data and perturbation; that decision is not accounted for",
            ),
        )

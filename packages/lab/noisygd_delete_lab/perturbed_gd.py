"""Perturbed gradient descent (Neel, Roth & Sharifi-Malvajerdi, ALT 2021), with secret and with published restarts.

Gradient descent with step 2/(λ+M) on a λ-strongly convex, M-smooth objective shrinks the distance to the minimiser by
γ = (M−λ)/(M+λ) per iteration, and one request moves the minimiser by at most 2L/(λn). With I iterations per request the
iterate always stays within r = 2Lγ^I/(λn(1−γ^I)) of the current minimiser, so two runs that agree on the current data
are within 2r, and Gaussian noise on the published model hides that.

Checked here (the formulas reached this project through public implementations):
* Thm. 9's σ is 4√2·Lγ^I/(...) where the argument above, tight on a quadratic, needs 2√2·Lγ^I/(...): safe by a factor 2.
* Thm. 28's σ and I fit together exactly: its two conditions add up to (ε, δ). Its count of extra iterations,
  log log(4di/δ)/log(1/γ), lets the noise of request i be too large with probability δ/(2i), whose sum over requests
  diverges. `published_iterations` uses log log(2π²di²/(3δ)), for which the sum is δ/2; the cost is about one iteration.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from noisygd_delete.engine import Objective
from noisygd_delete.errors import PlanInfeasible, check_positive, check_probability
from noisygd_delete.losses.base import Loss
from noisygd_delete.records import Records

from .base import Baseline, Certificate, Erased, Held, Weights, generator


def contraction(*, regularization: float, smoothness: float) -> float:
    """Return γ = (M−λ)/(M+λ) with M = λ + β."""
    return smoothness / (2 * regularization + smoothness)


def drift(*, lipschitz: float, regularization: float, records: float, gamma: float, iterations: float) -> float:
    """Return r = 2Lγ^I/(λn(1−γ^I)), a bound on the distance from the minimiser after any number of requests."""
    shrink: float = gamma**iterations
    return 2 * lipschitz * shrink / (regularization * records * (1 - shrink))


def secret_noise(
    *,
    lipschitz: float,
    regularization: float,
    records: float,
    gamma: float,
    iterations: float,
    epsilon: float,
    delta: float,
) -> float:
    """Return σ of Thm. 9: 4√2 Lγ^I/(λn(1−γ^I)(√(log(1/δ)+ε) − √log(1/δ)))."""
    radius = drift(
        lipschitz=lipschitz, regularization=regularization, records=records, gamma=gamma, iterations=iterations
    )
    log = math.log(1 / delta)
    return 2 * math.sqrt(2) * radius / (math.sqrt(log + epsilon) - math.sqrt(log))


def learning_iterations(*, iterations: int, records: float, gamma: float) -> int:
    """Return T = I + log(Dλn/(2L))/log(1/γ) from 0, where ‖θ*‖ ≤ L/λ gives D = L/λ."""
    return iterations + (max(0, math.ceil(math.log(records / 2) / -math.log(gamma))) if gamma else 1)


def published_base_iterations(*, dimension: int, gamma: float, epsilon: float, delta: float) -> int:
    """Return I of Thm. 28: γ^I √(2d)/(1−γ) ≤ √(2log(2/δ)+ε) − √(2log(2/δ))."""
    log = 2 * math.log(2 / delta)
    target = (math.sqrt(log + epsilon) - math.sqrt(log)) * (1 - gamma) / math.sqrt(2 * dimension)
    return max(1, math.ceil(math.log(1 / target) / -math.log(gamma))) if gamma else 1


def published_iterations(
    *, iterations: int, dimension: int, gamma: float, delta: float, request: int, printed: bool = False
) -> int:
    """Return I plus the extra iterations of request number i, which bound its noise as assumed.

    Args:
        iterations: I.
        dimension: Number of weights d.
        gamma: γ.
        delta: δ.
        request: Number i of the request, from 1.
        printed: Whether to use the count as printed in the paper, without the repaired union bound.
    """
    union = 4 * dimension * request / delta if printed else 2 * math.pi**2 * dimension * request**2 / (3 * delta)
    return iterations + (math.ceil(math.log(math.log(union)) / -math.log(gamma)) if gamma else 0)


def published_noise(
    *,
    lipschitz: float,
    regularization: float,
    records: float,
    gamma: float,
    iterations: float,
    epsilon: float,
    delta: float,
) -> float:
    """Return σ of Thm. 28: 8Lγ^I/(λn(1−γ^I)(√(2log(2/δ)+3ε) − √(2log(2/δ)+2ε)))."""
    radius = drift(
        lipschitz=lipschitz, regularization=regularization, records=records, gamma=gamma, iterations=iterations
    )
    log = 2 * math.log(2 / delta)
    return 4 * radius / (math.sqrt(log + 3 * epsilon) - math.sqrt(log + 2 * epsilon))


class PerturbedGD(Baseline):
    """Thm. 9: restart every request from the unperturbed iterate, which therefore must stay secret.

    Args:
        loss: The loss.
        regularization: λ.
        records: Number of slots n.
        features: Number of features.
        epsilon: ε of the certificate.
        delta: δ of the certificate.
        noise_limit: Largest acceptable σ on the published model; I is the least that meets it.

    Raises:
        PlanInfeasible: If more than 10⁶ iterations per request are needed.
    """

    name: ClassVar[str] = "perturbed GD (secret)"
    source: ClassVar[str] = "Neel, Roth & Sharifi-Malvajerdi (ALT 2021), Theorem 9"
    guarantees: ClassVar[str] = (
        "(ε, δ) closeness of one published model to that of retraining, for requests fixed in advance"
    )
    does_not_guarantee: ClassVar[str] = (
        "anything against an intruder who reads the state; privacy of remaining records; several releases; adaptive requests"
    )
    secret_state: ClassVar[str] = "the unperturbed iterate, which still depends on every record ever erased"
    stateless: ClassVar[bool] = False
    private: ClassVar[bool] = False

    def __init__(
        self,
        loss: Loss,
        *,
        regularization: float,
        records: int,
        features: int,
        epsilon: float,
        delta: float,
        noise_limit: float,
    ) -> None:
        smoothness = loss.constants.smoothness
        self.loss = loss
        self.regularization = check_positive("regularization", regularization)
        self.records = records
        self.shape = (loss.outputs, features)
        self.epsilon, self.delta = check_positive("epsilon", epsilon), check_probability("delta", delta)
        self.gamma = contraction(regularization=regularization, smoothness=smoothness)
        self.step_size = 2 / (2 * regularization + smoothness)
        limit = check_positive("noise_limit", noise_limit)
        least = self.iterations = self._least_iterations()
        while self._noise() > limit:  # doubling, then bisection: σ falls as I grows
            least, self.iterations = self.iterations, 2 * self.iterations
            if least > 1_000_000:
                raise PlanInfeasible(f"noise_limit={limit:g} needs more than 10⁶ iterations a request")
        enough = self.iterations
        while enough - least > 1:
            self.iterations = (least + enough) // 2
            least, enough = (least, self.iterations) if self._noise() <= limit else (self.iterations, enough)
        self.iterations = enough
        self.noise = self._noise()

    def _least_iterations(self) -> int:
        return 1

    def _facts(self) -> dict[str, float]:
        return {
            "lipschitz": self.loss.constants.lipschitz,
            "regularization": self.regularization,
            "records": self.records,
            "gamma": self.gamma,
            "iterations": self.iterations,
            "epsilon": self.epsilon,
            "delta": self.delta,
        }

    def _noise(self) -> float:
        return secret_noise(**self._facts())

    def _descend(self, records: Records, start: Weights, iterations: int) -> Weights:
        objective = Objective(records, self.loss, regularization=self.regularization)
        weights = np.array(start)
        for _ in range(iterations):
            weights -= self.step_size * objective.gradient(weights)
        return weights

    def _publish(self, iterate: Weights, rng: np.random.Generator | None) -> Weights:
        return np.asarray(iterate + self.noise * generator(rng).standard_normal(iterate.shape))

    def learn(self, records: Records, rng: np.random.Generator | None = None) -> Held:
        steps = learning_iterations(iterations=self.iterations, records=self.records, gamma=self.gamma)
        iterate = self._descend(records, np.zeros(self.shape), steps)
        work = steps * records.slots
        return Held(self._publish(iterate, rng), len(records), {"iterate": iterate}, gradient_evaluations=work)

    def forget(self, records: Records, erased: Erased, held: Held, rng: np.random.Generator | None = None) -> Held:
        iterate = self._descend(records, held.secret["iterate"], self.iterations)
        work = self.iterations * records.slots
        present = held.records - len(erased)
        return Held(self._publish(iterate, rng), present, {"iterate": iterate}, gradient_evaluations=work)

    def certificate(self, held: Held) -> Certificate:
        """Return the (ε, δ) of calibration for one erased record, whatever `held` is; it covers no remaining record."""
        return Certificate(
            deletion=(self.epsilon, self.delta),
            existing=None,
            adaptive=False,
            basis=self.source,
            caveats=("n slots fixed; x or x′ (replace)", "one record per request", "real arithmetic"),
        )


class PublishedPerturbedGD(PerturbedGD):
    """Thm. 28: restart from the published model; the only state is a public request counter."""

    name: ClassVar[str] = "perturbed GD (published)"
    source: ClassVar[str] = "Neel, Roth & Sharifi-Malvajerdi (ALT 2021), Theorem 28, union bound repaired"
    guarantees: ClassVar[str] = PerturbedGD.guarantees
    does_not_guarantee: ClassVar[str] = (
        "privacy of remaining records: the noise hides what gradient descent has not yet forgotten, not the data; several "
        "releases; adaptive requests"
    )
    secret_state: ClassVar[str] = "none; the number of requests is public"
    stateless: ClassVar[bool] = True

    def _least_iterations(self) -> int:
        dimension = self.shape[0] * self.shape[1]
        return published_base_iterations(dimension=dimension, gamma=self.gamma, epsilon=self.epsilon, delta=self.delta)

    def _noise(self) -> float:
        return published_noise(**self._facts())

    def learn(self, records: Records, rng: np.random.Generator | None = None) -> Held:
        held = super().learn(records, rng)
        return Held(held.weights, held.records, {}, held.gradient_evaluations)

    def forget(self, records: Records, erased: Erased, held: Held, rng: np.random.Generator | None = None) -> Held:
        """Descend from the published weights, for more iterations the more requests came before, and add fresh noise."""
        request = self.records - held.records + len(erased)
        steps = published_iterations(
            iterations=self.iterations, dimension=held.weights.size, gamma=self.gamma, delta=self.delta, request=request
        )
        iterate = self._descend(records, held.weights, steps)
        present = held.records - len(erased)
        return Held(self._publish(iterate, rng), present, {}, gradient_evaluations=steps * records.slots)

"""Deletion from a network behind the common interface: rivals of the ladder, and their controls.

All train a `MultilayerPerceptron` by full-batch gradient descent, except rewinding, whose constants need fixed outer
weights. The gradient is the mean over the present records. "Passes" are per-record gradients divided by the records.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from noisygd_delete.bounds.gaussian import gdp_for
from noisygd_delete.curator.learning import train
from noisygd_delete.engine import Execution
from noisygd_delete.errors import check_choice
from noisygd_delete.losses.multilayer_perceptron import MultilayerPerceptron
from noisygd_delete.methods.plan import Plan
from noisygd_delete.records import Records

from .base import Baseline, Certificate, Erased, Held, Relearning, Weights, generator
from .network_bounds import fine_tuning_noise

UNCLIPPED = 1e9  # larger than any gradient norm


def run_gradient_descent(
    loss: MultilayerPerceptron,
    records: Records,
    weights: Weights,
    *,
    regularization: float,
    step_size: float,
    steps: int,
    noise: float = 0.0,
    rng: np.random.Generator | None = None,
) -> Weights:
    """Run steps of gradient descent on the present records.

    Args:
        loss: The loss, whose `clip` bounds each record's gradient.
        records: The table.
        weights: Initial weights; not modified.
        regularization: λ.
        step_size: η.
        steps: Number of steps.
        noise: Standard deviation of the noise per step and weight.
        rng: Source of the noise; None draws fresh entropy.
    """
    used = records.occupied
    rows, labels = records.features[used], records.labels[used]
    if loss.label_kind == "class":
        labels = labels.astype(np.int64)
    weights = np.array(weights, np.float64)
    draw = generator(rng)
    for _ in range(steps):
        mean = loss.clipped_sum(weights, rows, labels)[None] / max(1, len(rows))
        weights -= step_size * (mean + regularization * weights)
        if noise:
            weights += noise * draw.standard_normal(weights.shape)
    return weights


@dataclass(frozen=True)
class NetworkTraining:
    """Settings of training a network without privacy.

    Attributes:
        loss: The loss.
        regularization: λ.
        step_size: η.
        steps: Passes of learning.
        tuning: Passes after a deletion.
    """

    loss: MultilayerPerceptron
    regularization: float
    step_size: float
    steps: int
    tuning: int

    def fresh(self, features: int, rng: np.random.Generator) -> Weights:
        """Draw initial weights, independent of the records."""
        return math.sqrt(self.loss.init_variance) * rng.standard_normal((1, self.loss.dimension(features)))

    def tuned(self, records: Records, weights: Weights, steps: int) -> Weights:
        """Run gradient descent without noise and clipping."""
        facts = {"regularization": self.regularization, "step_size": self.step_size, "steps": steps}
        return run_gradient_descent(replace(self.loss, clip=UNCLIPPED), records, weights, **facts)  # type: ignore[arg-type]


@dataclass(frozen=True)
class NetworkRetraining(Relearning):
    """Retraining on the remaining records: exact for the erased; an observer of two releases sees the difference."""

    training: NetworkTraining

    name: ClassVar[str] = "learning afresh, no noise"
    source: ClassVar[str] = "-"
    guarantees: ClassVar[str] = "the law of the model is that of one that never saw the record"
    does_not_guarantee: ClassVar[str] = "privacy of those who stay, or of the erased once an earlier model is out"
    private: ClassVar[bool] = False

    def learn(self, records: Records, rng: np.random.Generator | None = None) -> Held:
        made = self.training
        weights = made.tuned(records, made.fresh(records.features.shape[1], generator(rng)), made.steps)
        return Held(weights, len(records), {}, made.steps * len(records))

    def certificate(self, held: Held) -> Certificate:
        return Certificate((0.0, 0.0), None, adaptive=False, basis="the record is not read")


@dataclass(frozen=True)
class NoisyFineTuning(Baseline):
    """Certified noisy fine-tuning with clipped gradients, then fine-tuning without noise.

    The model is projected to the ball of radius R₀, takes K noisy steps on the records that stay, is rescaled to the
    norm of a fresh draw (public: the noise is far larger than any model) and is fine-tuned.

    Attributes:
        training: Settings of the training.
        epsilon: ε of the certificate.
        delta: δ of the certificate.
        start: "trained": the published model, as in the paper; "public": the control, the same from a data-independent
            draw.
        radius: R₀.
        clip: Clipping norm C.
        noisy_steps: K.
    """

    training: NetworkTraining
    epsilon: float
    delta: float
    start: str = "trained"
    radius: float = 1.0
    clip: float = 1.0
    noisy_steps: int = 10

    name: ClassVar[str] = "certified noisy fine-tuning"
    source: ClassVar[str] = "Koloskova, Allouah, Jha, Guerraoui & Koyejo (ICML 2025), constants in their tight form"
    guarantees: ClassVar[str] = "(ε, δ) between any two starts in the ball, one erasure, later models alone"
    does_not_guarantee: ClassVar[str] = (
        "privacy of those who stay; anything once an earlier model is out; more than a fresh start gives"
    )
    secret_state: ClassVar[str] = "none"
    stateless: ClassVar[bool] = True
    private: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_choice("start", self.start, ("trained", "public"))

    @property
    def noise(self) -> float:
        """Standard deviation τ, at λ = 0 and η = R₀/(CK), where the bound is least."""
        return fine_tuning_noise(gdp=gdp_for(epsilon=self.epsilon, delta=self.delta), **self._noisy)

    @property
    def _noisy(self) -> dict[str, Any]:
        size = self.radius / (self.clip * self.noisy_steps)
        facts = {"radius": self.radius, "clip": self.clip, "steps": self.noisy_steps}
        return {**facts, "regularization": 0.0, "step_size": size}

    def learn(self, records: Records, rng: np.random.Generator | None = None) -> Held:
        return NetworkRetraining(self.training).learn(records, rng)

    def forget(self, records: Records, erased: Erased, held: Held, rng: np.random.Generator | None = None) -> Held:
        made, draw = self.training, generator(rng)
        fresh = made.fresh(records.features.shape[1], draw)
        begin = held.weights if self.start == "trained" else fresh
        length = float(np.linalg.norm(begin))
        facts = {key: value for key, value in self._noisy.items() if key not in ("radius", "clip")}
        noisy = run_gradient_descent(
            replace(made.loss, clip=self.clip),
            records,
            begin * min(1.0, self.radius / length),
            noise=self.noise,
            rng=draw,
            **facts,
        )
        again = noisy * (np.linalg.norm(fresh) / np.linalg.norm(noisy))
        passes = self.noisy_steps + made.tuning
        return Held(made.tuned(records, again, made.tuning), len(records), {}, passes * len(records))

    def certificate(self, held: Held) -> Certificate:
        return Certificate(
            (self.epsilon, self.delta), None, adaptive=False, basis="shifted interpolation from a ball",
            caveats=("worth no more than a public start: it holds whatever made the start",),
        )  # fmt: skip


@dataclass(frozen=True)
class PrivateBaseThenTuning(Baseline):
    """DP2Unlearning: fine-tuning without noise from a stored base that was trained with differential privacy.

    Attributes:
        training: Settings of the training.
        base: Plan of the base, whose ε_dd remains for the erased.
        delta: δ at which it is stated.
    """

    training: NetworkTraining
    base: Plan
    delta: float

    name: ClassVar[str] = "DP base, then fine-tuning without noise"
    source: ClassVar[str] = "DP2Unlearning (2025)"
    guarantees: ClassVar[str] = "the base's ε for the erased, one release, later models alone"
    does_not_guarantee: ClassVar[str] = "privacy of those who stay; two releases show what lies between them"
    secret_state: ClassVar[str] = "the base, which is differentially private"
    stateless: ClassVar[bool] = False
    private: ClassVar[bool] = False

    def learn(self, records: Records, rng: np.random.Generator | None = None) -> Held:
        plan = self.base
        trained = train(records, plan, plan.learning, None, Execution(rng=generator(rng)))
        base = np.atleast_2d(trained.model.weights)
        done = (trained.gradient_passes + self.training.tuning) * len(records)
        return Held(self.training.tuned(records, base, self.training.tuning), len(records), {"base": base}, done)

    def forget(self, records: Records, erased: Erased, held: Held, rng: np.random.Generator | None = None) -> Held:
        made = self.training
        weights = made.tuned(records, held.secret["base"], made.tuning)
        return Held(weights, len(records), held.secret, made.tuning * len(records))

    def certificate(self, held: Held) -> Certificate:
        delta = self.delta
        epsilon = self.base.mechanism.interval(
            "deletion", "erased-vs-never", steps_with=self.base.calibration.learn_steps
        )
        return Certificate(
            (epsilon.with_slack().epsilon(delta), delta), None, adaptive=False, basis="post-processing of the base"
        )


@dataclass(frozen=True)
class LadderReleases(Baseline):
    """The product's ladder: every stage is private and published."""

    plan: Plan

    name: ClassVar[str] = "staged"
    source: ClassVar[str] = "this package"
    guarantees: ClassVar[str] = "the base's ε_dd for the erased after any number of requests; ε_dp for those who stay"
    does_not_guarantee: ClassVar[str] = "that the base forgets"
    secret_state: ClassVar[str] = "none: every stage is published"
    stateless: ClassVar[bool] = True
    private: ClassVar[bool] = True

    def learn(self, records: Records, rng: np.random.Generator | None = None) -> Held:
        plan = self.plan
        return self._held(train(records, plan, plan.learning, None, Execution(rng=generator(rng))), records)

    def forget(self, records: Records, erased: Erased, held: Held, rng: np.random.Generator | None = None) -> Held:
        plan = self.plan
        again = train(records, plan, plan.serving, np.array(held.weights), Execution(rng=generator(rng)))
        return self._held(again, records)

    def _held(self, training: Any, records: Records) -> Held:
        return Held(np.atleast_2d(training.model.weights), len(records), {}, training.gradient_passes * records.slots)

    def certificate(self, held: Held) -> Certificate:
        plan, delta = self.plan, self.plan.problem.budget.shown_delta
        present, erased = plan.dp.with_slack(), plan.deletion.with_slack()
        return Certificate(
            (erased.epsilon(delta), delta), (present.epsilon(delta), delta), adaptive=False,
            basis="sum over the runs of stages that a model rests on", gdp=present.gdp,
        )  # fmt: skip

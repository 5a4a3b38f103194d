"""The product itself behind the common interface, with its own step counts or a rival's."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from noisygd_delete.curator.curator import Curator
from noisygd_delete.curator.learning import learn, resume
from noisygd_delete.curator.model import Model
from noisygd_delete.methods.plan import Plan
from noisygd_delete.records import Records

from .base import Baseline, Certificate, Erased, Held


class NoisyGD(Baseline):
    """Noisy GD: learning by A(D), then Ā from the published model."""

    name: ClassVar[str] = "Noisy-GD"
    source: ClassVar[str] = "Chourasia & Shah 2023, Algorithm 2"
    guarantees: ClassVar[str] = "Definition 4.1 at the plan's ε_dd, and differential privacy of every release"
    does_not_guarantee: ClassVar[str] = "one privacy price for many releases: each observed release composes"
    secret_state: ClassVar[str] = "none"
    stateless: ClassVar[bool] = True
    private: ClassVar[bool] = True

    def __init__(self, plan: Plan, *, delta: float) -> None:
        self.plan = plan
        self.delta = delta

    @property
    def delete_steps(self) -> int:
        """Noisy steps of one deletion."""
        return self.plan.calibration.delete_steps

    def learn(self, records: Records, rng: np.random.Generator | None = None) -> Held:
        model = learn(records, self.plan, rng)
        return self._held(model, records, self.plan.calibration.learn_steps)

    def forget(self, records: Records, erased: Erased, held: Held, rng: np.random.Generator | None = None) -> Held:
        before = Model(held.weights, self.plan.problem.loss, certified=rng is None)
        return self._held(resume(records, before, self.plan, rng), records, self.plan.calibration.delete_steps)

    def _held(self, model: Model, records: Records, steps: int) -> Held:
        return Held(np.atleast_2d(model.weights), len(records), gradient_evaluations=records.slots * steps)

    def certificate(self, held: Held) -> Certificate:
        deletion = self.plan.deletion
        return Certificate(
            deletion=(deletion.epsilon(self.delta), self.delta),
            existing=(self.plan.dp.epsilon(self.delta), self.delta),
            adaptive=True,
            basis=deletion.source,
            caveats=deletion.assumptions,
            gdp=self._gdp(),
        )

    def _gdp(self) -> float | None:
        longest = self.plan.calibration.learn_steps if self.plan.mechanism.fresh else math.inf
        return self.plan.mechanism.interval("dp", "zero-out", steps_with=longest).gdp

    def with_delete_steps(self, steps: int) -> Plan:
        """Return the plan with another K_Ā."""
        return self.plan.changed(delete_steps_for_deletion=steps, delete_steps_for_utility=0)


class SolveThenDiffuse(NoisyGD):
    """Output perturbation: every release takes noisy steps from the minimiser of the current records, solved from 0."""

    name: ClassVar[str] = "solve, then diffuse"
    source: ClassVar[str] = "this package, methods.OutputPerturbation(solver='cold')"
    guarantees: ClassVar[str] = "the release never saw the erased record, and is private for the remaining ones"

    def learn(self, records: Records, rng: np.random.Generator | None = None) -> Held:
        release = Curator(records, self.plan).learn(rng)
        assert release.model is not None
        work = records.slots * release.gradient_passes
        return Held(np.atleast_2d(release.model.weights), len(records), gradient_evaluations=work)

    def forget(self, records: Records, erased: Erased, held: Held, rng: np.random.Generator | None = None) -> Held:
        return self.learn(records, rng)


class PerturbedSolve(SolveThenDiffuse):
    """Objective perturbation: every release minimises a freshly perturbed objective of the current records, from 0."""

    name: ClassVar[str] = "objective perturbation (perturbed)"
    source: ClassVar[str] = "this package, methods.ObjectivePerturbation(solver='cold')"


class PrivateRetraining(NoisyGD):
    """Noisy-GD's learner A, run again on the remaining records."""

    name: ClassVar[str] = "private retrain"
    source: ClassVar[str] = "Chourasia & Shah 2023, Algorithm 2 from its initial law"
    guarantees: ClassVar[str] = "the release never saw the erased record"
    does_not_guarantee: ClassVar[str] = "a saving: it costs a full learning run"

    @property
    def delete_steps(self) -> int:
        return self.plan.calibration.learn_steps

    def forget(self, records: Records, erased: Erased, held: Held, rng: np.random.Generator | None = None) -> Held:
        return self.learn(records, rng)

    def certificate(self, held: Held) -> Certificate:
        return Certificate(
            deletion=(0.0, 0.0),
            existing=(self.plan.dp.epsilon(self.delta), self.delta),
            adaptive=True,
            basis="fresh run; the releases compose as differential privacy",
            caveats=self.plan.dp.assumptions,
        )

"""The histories an audit runs: a record is learned, erased, and models are published, many times over in two worlds.

An engine maps a world to its releases, many chains at once. `noisy_gd` is the product's; a test hands in a faulty one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..engine import Objective
from ..engine.noise import Noise, ResearchNoise
from ..engine.noisygd import initial_weights, on_grid, publication_grid, run
from ..losses.base import Loss
from ..records import Records

Chains = NDArray[np.float64]  # (chains, outputs, features)


@dataclass(frozen=True)
class World:
    """One side of the question: the table that is learned on, and the one after the requests. Null slots may be left out."""

    before: Records
    after: Records


Engine = Callable[[World, int, np.random.Generator], Sequence[Chains]]


@dataclass(frozen=True)
class SimulatedNoisyGD:
    """The released algorithm: `learn_steps` on the table before, then per later release `delete_steps` on the one after.

    Holds a plan's numbers one by one, so that an audit can run a shorter learning phase, and a test a planted fault. With
    `from_minimiser` every release starts from the minimiser of its own table (linear loss: −Σx/(nλ)).
    """

    loss: Loss
    slots: int
    regularization: float
    step_size: float
    noise_variance: float
    init_variance: float
    learn_steps: int
    delete_steps: int
    later_releases: int = 1
    from_minimiser: bool = False

    def __call__(self, world: World, chains: int, generator: np.random.Generator) -> list[Chains]:
        noise = ResearchNoise(generator)
        shape = (chains, self.loss.outputs, world.before.features.shape[1])
        start = self.start(initial_weights(shape, init_variance=self.init_variance, noise=noise), world.before)
        releases = [self.publish(self.descend(start, world.before, self.learn_steps, noise))]
        for _ in range(self.later_releases):
            start = self.start(releases[-1], world.after)
            releases.append(self.publish(self.descend(start, world.after, self.delete_steps, noise)))
        return releases

    def start(self, published: Chains, records: Records) -> Chains:
        """Where a release begins: the last published weights (the initial law for the first), or the minimiser."""
        if not self.from_minimiser:
            return published
        total = records.features.sum(axis=0, dtype=np.float64)
        return np.broadcast_to(-total / (self.slots * self.regularization), published.shape)

    def descend(self, start: Chains, records: Records, steps: int, noise: Noise) -> Chains:
        objective = Objective(records, self.loss, regularization=self.regularization, dtype="float64", slots=self.slots)
        return run(
            start,
            objective.gradient,
            step_size=self.step_size,
            noise_variance=self.noise_variance,
            steps=steps,
            noise=noise,
        )

    def publish(self, weights: Chains) -> Chains:
        return on_grid(weights, publication_grid(step_size=self.step_size, noise_variance=self.noise_variance))

"""Simulated histories for an audit.

In a history a record is learned and erased, and models are released. It is repeated many times on each of two
neighbouring datasets (`World`). An engine maps a world to its releases, for many chains at once. `SimulatedNoisyGD` is
the product's engine; a test may pass a faulty one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..engine import Objective
from ..engine.linear_term import draw_linear_term
from ..engine.noise import Noise, ResearchNoise, on_noisy_grid
from ..engine.noisygd import initial_weights, on_grid, publication_grid, run_noisy_steps
from ..losses.base import Loss
from ..records import Records

Chains = NDArray[np.float64]  # (chains, outputs, features)


@dataclass(frozen=True)
class World:
    """One of the two neighbouring datasets: the table for learning, and the one after the requests.

    Null slots may be omitted.
    """

    before: Records
    after: Records


Engine = Callable[[World, int, np.random.Generator], Sequence[Chains]]


@dataclass(frozen=True)
class SimulatedNoisyGD:
    """The released algorithm: `learn_steps` on the table before, then `delete_steps` on the one after per release.

    It holds the numbers of a plan individually, so that an audit can run a shorter learning phase, and a test can plant
    a fault. With `from_minimiser` every release starts from the minimizer of its own table (linear loss: −(b +
    Σx)/(nλ), with b of standard deviation `linear_term`), drawn and published by the product's own samplers. With
    `chain` above 1 the start is the last of that many solves in sequence, each after the first with the previous result
    as the centre of its regularizer.
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
    linear_term: float = 0.0
    output_noise: float = 0.0
    chain: int = 1

    def __call__(self, world: World, chains: int, generator: np.random.Generator) -> list[Chains]:
        noise = ResearchNoise(generator)
        shape = (chains, self.loss.outputs, world.before.features.shape[1])
        start = initial_weights(shape, init_variance=self.init_variance, noise=noise)
        releases = [self.release(start, world.before, self.learn_steps, noise)]
        for _ in range(self.later_releases):
            releases.append(self.release(releases[-1], world.after, self.delete_steps, noise))
        return releases

    def release(self, published: Chains, records: Records, steps: int, noise: Noise) -> Chains:
        """Return the release after `published` (the initial law at first): start, noisy steps, and `publish`."""
        return self.publish(self.descend(self.start(published, records, noise), records, steps, noise), noise)

    def start(self, published: Chains, records: Records, noise: Noise) -> Chains:
        """Return the start of a release: the last published weights, or the minimizer."""
        if not self.from_minimiser:
            return published
        mean = np.broadcast_to(records.features.sum(axis=0, dtype=np.float64) / self.slots, published.shape)
        centre = self._minimiser(mean, np.zeros(published.shape), noise)
        for _ in range(self.chain - 1):
            centre = self._minimiser(mean, self.publish(centre, noise), noise)
        return centre

    def _minimiser(self, mean: Chains, centre: Chains, noise: Noise) -> Chains:
        if self.linear_term:
            flat = (math.prod(mean.shape[:-1]), mean.shape[-1])
            term = draw_linear_term(flat, noise, deviation=self.linear_term)
            mean = mean + term.per_record(self.slots).reshape(mean.shape)
        return centre - mean / self.regularization

    def descend(self, start: Chains, records: Records, steps: int, noise: Noise) -> Chains:
        """Return the weights after `steps` noisy steps from `start`."""
        objective = Objective(records, self.loss, regularization=self.regularization, dtype="float64", slots=self.slots)
        return run_noisy_steps(
            start,
            objective.gradient,
            step_size=self.step_size,
            noise_variance=self.noise_variance,
            steps=steps,
            noise=noise,
        )

    def publish(self, weights: Chains, noise: Noise) -> Chains:
        """Return the weights as published: rounded to the public grid, with output noise if the plan adds it."""
        if self.output_noise:
            return on_noisy_grid(weights, noise, output_noise=self.output_noise)
        return on_grid(weights, publication_grid(step_size=self.step_size, noise_variance=self.noise_variance))

"""Engines that break one promise each. An audit that does not flag them has no power."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from noisygd_delete.audit import SimulatedNoisyGD
from noisygd_delete.engine.noise import ResearchNoise
from noisygd_delete.engine.noisygd import initial_weights


def halved_noise(engine: SimulatedNoisyGD) -> SimulatedNoisyGD:
    """σ/2 in every step."""
    return replace(engine, noise_variance=engine.noise_variance / 4)


def one_step_too_few(engine: SimulatedNoisyGD) -> SimulatedNoisyGD:
    """K_Ā − 1 steps per request."""
    return replace(engine, delete_steps=engine.delete_steps - 1)


def smaller_table(engine: SimulatedNoisyGD) -> SimulatedNoisyGD:
    """Gradients divided by the records that are left, n/2, instead of the n slots."""
    return replace(engine, slots=engine.slots // 2)


@dataclass(frozen=True)
class CachedState(SimulatedNoisyGD):
    """Every release restarts from a copy of the learned model kept inside, not from the release before."""

    def __call__(self, world, chains, generator):
        noise = ResearchNoise(generator)
        shape = (chains, self.loss.outputs, world.before.features.shape[1])
        start = initial_weights(shape, init_variance=self.init_variance, noise=noise)
        learned = self.descend(start, world.before, self.learn_steps, noise)
        later = [
            self.publish(self.descend(learned, world.after, self.delete_steps, noise), noise)
            for _ in range(self.later_releases)
        ]
        return [self.publish(learned, noise), *later]


@dataclass(frozen=True)
class CachedGradient(SimulatedNoisyGD):
    """The gradient sum of the old table is cached and used for the first half of every request."""

    def __call__(self, world, chains, generator):
        noise = ResearchNoise(generator)
        shape = (chains, self.loss.outputs, world.before.features.shape[1])
        start = initial_weights(shape, init_variance=self.init_variance, noise=noise)
        releases = [self.publish(self.descend(start, world.before, self.learn_steps, noise), noise)]
        for _ in range(self.later_releases):
            stale = self.descend(releases[-1], world.before, self.delete_steps // 2, noise)
            rest = self.delete_steps - self.delete_steps // 2
            releases.append(self.publish(self.descend(stale, world.after, rest, noise), noise))
        return releases


@dataclass(frozen=True)
class CachedMinimiser(SimulatedNoisyGD):
    """Solve-then-diffuse that solves once: later releases start from the minimiser of the old table."""

    def __call__(self, world, chains, generator):
        noise = ResearchNoise(generator)
        start = self.start(np.zeros((chains, self.loss.outputs, world.before.features.shape[1])), world.before, noise)
        later = [self.descend(start, world.after, self.delete_steps, noise) for _ in range(self.later_releases)]
        return [
            self.publish(each, noise) for each in (self.descend(start, world.before, self.learn_steps, noise), *later)
        ]


@dataclass(frozen=True)
class ReusedSeed(SimulatedNoisyGD):
    """Every request draws the same noise."""

    def __call__(self, world, chains, generator):
        noise = ResearchNoise(generator)
        shape = (chains, self.loss.outputs, world.before.features.shape[1])
        start = initial_weights(shape, init_variance=self.init_variance, noise=noise)
        releases = [self.publish(self.descend(start, world.before, self.learn_steps, noise), noise)]
        seed = int(generator.integers(1 << 60))
        for _ in range(self.later_releases):
            same = ResearchNoise(np.random.default_rng(seed))
            releases.append(self.publish(self.descend(releases[-1], world.after, self.delete_steps, same), same))
        return releases


def faulty(kind: type[SimulatedNoisyGD], engine: SimulatedNoisyGD) -> SimulatedNoisyGD:
    return kind(**{name: getattr(engine, name) for name in engine.__dataclass_fields__})


FAULTS = {
    "halved noise": halved_noise,
    "one step too few": one_step_too_few,
    "n/2 in place of n": smaller_table,
    "cached hidden state": lambda engine: faulty(CachedState, engine),
    "cached gradient": lambda engine: faulty(CachedGradient, engine),
    "reused seed": lambda engine: faulty(ReusedSeed, engine),
}

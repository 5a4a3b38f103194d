"""Membership attacks on observed releases: the exact likelihood ratio if it is known, else a learned one.

An attack maps the observed releases of each of many chains to one score; a positive score means "the record was
present". Every attack is fixed before it is applied to the chains on which it is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .counts import Counts
from .simulation import Chains, SimulatedNoisyGD, World

Scores = NDArray[np.float64]
Attack = Callable[[Sequence[Chains]], Scores]


@dataclass(frozen=True)
class LinearLikelihoodRatio:
    """The most powerful test for the linear loss with one feature, the log likelihood ratio.

    The score is log p(releases | present) − log p(releases | absent). Given the last observed release (at first the
    initial law), the next observed one is Gaussian with equal variance in both worlds, so the score is a sum of one
    term per observed release. No other test has a larger advantage.

    Attributes:
        engine: The engine, on the linear loss.
        present: World with the record.
        absent: World without it.
        observed: Numbers of the observed releases, starting at 1.
    """

    engine: SimulatedNoisyGD
    present: World
    absent: World
    observed: frozenset[int]

    def __call__(self, releases: Sequence[Chains]) -> Scores:
        engine = self.engine
        contraction = 1 - engine.step_size * engine.regularization
        fresh = 2 * engine.step_size * engine.noise_variance
        means = [0.0, 0.0]
        variance, carried = engine.init_variance, np.zeros(len(releases[0]))
        score = np.zeros(len(releases[0]))
        for number, weights in enumerate(releases, start=1):
            first = number == 1
            tables = [world.before if first else world.after for world in (self.absent, self.present)]
            totals = [float(table.features.sum(dtype=np.float64)) / engine.slots for table in tables]
            if engine.from_minimiser:  # independent of the previous release
                means = [-engine.chain * total / engine.regularization for total in totals]
                variance = engine.chain * (engine.linear_term / (engine.slots * engine.regularization)) ** 2
                variance += (engine.chain - 1) * engine.output_noise**2
                carried = np.zeros(len(score))
            for _ in range(engine.learn_steps if first else engine.delete_steps):
                means = [
                    contraction * mean - engine.step_size * total for mean, total in zip(means, totals, strict=True)
                ]
                variance = contraction**2 * variance + fresh
                carried = contraction * carried
            if number in self.observed:
                variance += engine.output_noise**2
                value = weights[:, 0, 0]
                score += (value - carried - sum(means) / 2) * (means[1] - means[0]) / variance
                means, variance, carried = [0.0, 0.0], 0.0, np.array(value)
        return score


@dataclass(frozen=True)
class ShadowLikelihoodRatio:
    """A Gaussian likelihood ratio fitted to shadow chains: Fisher's linear discriminant of all observed weights.

    It uses no knowledge of the mechanism, so it also detects leaks that an honest mechanism does not have, such as
    reused noise or a state that persists after its release.
    """

    direction: NDArray[np.float64]
    middle: float
    observed: tuple[int, ...]

    @classmethod
    def fit(cls, present: Sequence[Chains], absent: Sequence[Chains], observed: Sequence[int]) -> ShadowLikelihoodRatio:
        """Return the test fitted to releases of shadow chains, which must not be used again."""
        numbers = tuple(sorted(observed))
        one, other = flat_releases(present, numbers), flat_releases(absent, numbers)
        gap = one.mean(axis=0) - other.mean(axis=0)
        spread = (np.atleast_2d(np.cov(one.T)) + np.atleast_2d(np.cov(other.T))) / 2
        scale = np.sqrt(np.maximum(np.diag(spread), np.finfo(float).tiny))
        correlation = spread / np.outer(scale, scale)
        # a ridge instead of a pseudo-inverse: a gap in a direction without variance is decisive
        direction = np.linalg.solve(correlation + 1e-12 * np.eye(len(gap)), gap / scale) / scale
        middle = float(direction @ (one.mean(axis=0) + other.mean(axis=0)) / 2)
        return cls(direction, middle, numbers)

    def __call__(self, releases: Sequence[Chains]) -> Scores:
        return np.asarray(flat_releases(releases, self.observed) @ self.direction - self.middle)


def flat_releases(releases: Sequence[Chains], numbers: Sequence[int]) -> NDArray[np.float64]:
    """Return the concatenated observed releases, shape (chains, numbers)."""
    return np.concatenate([releases[number - 1].reshape(len(releases[0]), -1) for number in numbers], axis=1)


def count_answers(attack: Attack, present: Sequence[Chains], absent: Sequence[Chains], *, error: float) -> Counts:
    """Return the counts of the attack on chains that it was not fitted to."""
    hits, alarms = attack(present) > 0, attack(absent) > 0
    return Counts(int(hits.sum()), len(hits), int(alarms.sum()), len(alarms), error)

"""Simulate histories for an audit, and bound leakage from the counts of membership tests.

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
from scipy.special import betaincinv, ndtri

from ..engine import Objective
from ..engine.linear_term import draw_linear_term
from ..engine.noise import Noise, ResearchNoise, on_noisy_grid
from ..engine.noisygd import initial_weights, on_grid, publication_grid, run_noisy_steps
from ..errors import InvalidParameter, check_count, check_probability
from ..losses.base import Loss
from ..privacy.guarantee import Guarantee
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


# --- bounds ---
#
# Lower bounds on leakage from the counts of a membership test: Clopper-Pearson bounds on its rates.
#
# Every bound holds with the given error probability for any distributions. A report that makes several comparisons
# divides its error probability among them (Bonferroni), so its false-alarm rate is that of the whole report.


def lower_rate(successes: int, trials: int, error: float) -> float:
    """Return the rate p for which P(at least `successes`) = `error`.

    The true rate is below p with probability ≤ `error`.
    """
    return float(betaincinv(successes, trials - successes + 1, error)) if successes else 0.0


def upper_rate(successes: int, trials: int, error: float) -> float:
    """Return the rate that the true rate exceeds with probability ≤ `error`."""
    return 1 - lower_rate(trials - successes, trials, error)


@dataclass(frozen=True)
class Counts:
    """Counts of the answer "present" of a membership test.

    Attributes:
        hits: "Present" answers in runs with the record.
        present: Runs with the record.
        alarms: "Present" answers in runs without the record.
        absent: Runs without the record.
        error: Probability that any of the bounds below is wrong.
    """

    hits: int
    present: int
    alarms: int
    absent: int
    error: float = 0.01

    def __post_init__(self) -> None:
        check_probability("error", self.error)
        for part, whole in (("hits", "present"), ("alarms", "absent")):
            trials = check_count(whole, getattr(self, whole))
            if not check_count(part, getattr(self, part), minimum=0) <= trials:
                raise InvalidParameter(f"must be at most {whole}={trials}", **{part: getattr(self, part)})

    @property
    def rates(self) -> tuple[float, float]:
        """Lower bound on the true positive rate and upper bound on the false positive rate."""
        return (
            lower_rate(self.hits, self.present, self.error / 2),
            upper_rate(self.alarms, self.absent, self.error / 2),
        )

    @property
    def estimate(self) -> float:
        """Measured advantage, true minus false positive rate."""
        return self.hits / self.present - self.alarms / self.absent

    @property
    def advantage(self) -> float:
        """Lower bound on the advantage."""
        true, false = self.rates
        return max(0.0, true - false)

    def renyi(self, order: float) -> float:
        """Return a lower bound on the Rényi divergence of the two worlds.

        It is the divergence of the test's two answers (data processing).
        """
        true, false = self.rates
        if not true > false:
            return 0.0
        terms = [order * math.log(p) + (1 - order) * math.log(r) for p, r in ((true, false), (1 - true, 1 - false))]
        return max(0.0, (max(terms) + math.log1p(math.exp(-abs(terms[0] - terms[1])))) / (order - 1))

    def refutes(self, claimed: Guarantee) -> bool:
        """Return whether the lower bound on the advantage exceeds the claim, slack included."""
        return self.advantage > claimed.with_slack().advantage

    @property
    def gdp(self) -> float:
        """Lower bound on μ if the two worlds are μ-GDP: Φ⁻¹(TPR) − Φ⁻¹(FPR)."""
        true, false = self.rates
        return max(0.0, float(ndtri(true) - ndtri(false))) if true > false else 0.0


# --- attacks ---
#
# Membership attacks on observed releases: the exact likelihood ratio if it is known, else a learned one.
#
# An attack maps the observed releases of each of many chains to one score; a positive score means "the record was
# present". Every attack is fixed before it is applied to the chains on which it is counted.


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


def counts(attack: Attack, present: Sequence[Chains], absent: Sequence[Chains], *, error: float) -> Counts:
    """Return the counts of the attack on chains that it was not fitted to."""
    hits, alarms = attack(present) > 0, attack(absent) > 0
    return Counts(int(hits.sum()), len(hits), int(alarms.sum()), len(alarms), error)

"""Three samples of models: unlearned, never learned with the record, and with the record still present.

The test is due to Ribero, Schrab & Gretton (AISTATS 2026). Two samples show whether unlearned models differ from those
that never saw the record; a certificate bounds such a difference but does not exclude it. The third sample answers the
question of deletion: are the unlearned models nearer to models that never saw the record, or to those that still hold
it?

First a set of models is determined on half of the runs. It is the set where the witness of a regularized χ² divergence
(kernel ridge regression of the sample label on landmarks; bandwidth and ridge by cross-validation on that half) exceeds
the level at which the hockey-stick divergence at e⁰, the advantage, is largest. The other half is counted, with exact
binomial bounds, so the error probability holds for any laws. The paper aggregates such statistics over kernels and
calibrates by permutations; splitting is simpler, and exact.

Let P, Q, R be the probabilities of the set for unlearned, never learned and still present (R ≥ Q by construction).
Unlearned models are nearer to those that still hold the record, in this set, if P > (Q + R)/2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidParameter, check_count, check_probability
from .attacks import Scores, flat_releases
from .counts import lower_rate, upper_rate
from .simulation import Chains

Array = NDArray[np.float64]

_LANDMARKS = 100
_BANDWIDTHS = (0.5, 1.0, 2.0)  # multiples of the median distance
_RIDGES = (1e-3, 1e-1)
_LEVELS = 101


@dataclass(frozen=True)
class KernelWitness:
    """A set of models, {score > 0}, that is likely for the present sample and unlikely for the absent one.

    It is fitted on runs that are not used again. Unlike a Gaussian likelihood ratio it also detects a difference of
    spread, of shape, or rare outlying models.
    """

    observed: tuple[int, ...]
    middle: Array
    scale: Array
    landmarks: Array
    bandwidth: float
    coefficients: Array
    level: float

    @classmethod
    def fit(
        cls,
        present: Sequence[Chains],
        absent: Sequence[Chains],
        observed: Sequence[int],
        generator: np.random.Generator,
    ) -> KernelWitness:
        """Return the witness fitted to the releases of both worlds.

        Folds, landmarks and ties are drawn from the generator.
        """
        numbers = tuple(sorted(observed))
        one, other = flat_releases(present, numbers), flat_releases(absent, numbers)
        pooled = np.concatenate([one, other])
        middle, spread = pooled.mean(axis=0), pooled.std(axis=0)
        scale = np.where(spread > 0, spread, 1.0)
        one, other = (one - middle) / scale, (other - middle) / scale
        pooled = (pooled - middle) / scale
        landmarks = pooled[generator.permutation(len(pooled))[:_LANDMARKS]]
        gaps = np.sqrt(_squares(landmarks, landmarks))
        median = float(np.median(gaps[gaps > 0])) if (gaps > 0).any() else 1.0
        folds = [generator.permutation(len(sample)) % 2 for sample in (one, other)]
        tried = []
        for factor, ridge in product(_BANDWIDTHS, _RIDGES):
            made = [_features(sample, landmarks, factor * median) for sample in (one, other)]
            held: list[list[Array]] = [[], []]
            for fold in (0, 1):
                fitted = _ridge([each[part != fold] for each, part in zip(made, folds, strict=True)], ridge)
                for scores, each, part in zip(held, made, folds, strict=True):
                    scores.append(each[part == fold] @ fitted)
            advantage, level = _best_level(*map(np.concatenate, held))
            tried.append((advantage, factor, ridge, level, _ridge(made, ridge)))
        _, factor, _, level, coefficients = max(tried, key=lambda each: each[0])
        return cls(numbers, middle, scale, landmarks, factor * median, coefficients, level)

    def __call__(self, releases: Sequence[Chains]) -> Scores:
        rows = (flat_releases(releases, self.observed) - self.middle) / self.scale
        return np.asarray(_features(rows, self.landmarks, self.bandwidth) @ self.coefficients - self.level)


def _squares(rows: Array, others: Array) -> Array:
    """Return the squared distances."""
    squares: Array = (rows**2).sum(1)[:, None] + (others**2).sum(1)[None] - 2 * (rows @ others.T)
    return np.maximum(squares, 0.0)


def _features(rows: Array, landmarks: Array, bandwidth: float) -> Array:
    """Return a constant, the numbers themselves, and the kernel with every landmark."""
    kernel = np.exp(-_squares(rows, landmarks) / (2 * bandwidth**2))
    return np.concatenate([np.ones((len(rows), 1)), rows, kernel], axis=1)


def _ridge(samples: Sequence[Array], ridge: float) -> Array:
    """Return the coefficients of a ridge regression of +1 in one sample and −1 in the other, both of weight ½."""
    present, absent = samples
    gram = (present.T @ present / len(present) + absent.T @ absent / len(absent)) / 2
    aim = (present.mean(axis=0) - absent.mean(axis=0)) / 2
    return np.asarray(np.linalg.solve(gram + ridge * np.eye(len(gram)), aim))


def _best_level(present: Array, absent: Array) -> tuple[float, float]:
    """Return (advantage, level) of the best set {score > level} on these scores."""
    levels = np.quantile(np.concatenate([present, absent]), np.linspace(0, 1, _LEVELS))
    gains = [(present > level).mean() - (absent > level).mean() for level in levels]
    best = int(np.argmax(gains))
    return float(gains[best]), float(levels[best])


@dataclass(frozen=True)
class ThreeSamples:
    """Counts of the runs of each sample in a predetermined set, as (in the set, runs).

    Attributes:
        unlearned: Runs in which the record was erased.
        never: Runs that never had the record.
        kept: Runs that still have the record.
        error: Probability that the verdict is wrong.
    """

    unlearned: tuple[int, int]
    never: tuple[int, int]
    kept: tuple[int, int]
    error: float = 0.01

    def __post_init__(self) -> None:
        check_probability("error", self.error)
        for name in ("unlearned", "never", "kept"):
            inside, runs = getattr(self, name)
            if not check_count(f"{name} inside", inside, minimum=0) <= check_count(f"{name} runs", runs):
                raise InvalidParameter(f"{name}: {inside} of {runs} runs cannot be in the set; give (in the set, runs)")

    @property
    def nearer_to_kept(self) -> tuple[float, float]:
        """Lower and upper bound on 2P − Q − R.

        If it is above 0, unlearned models are nearer to those that still hold the record; if below, to those that never
        did. Each bound holds with probability 1 − error: three exact bounds, with error/6 above and below.
        """
        share = self.error / 6
        low = [lower_rate(*sample, share) for sample in (self.unlearned, self.never, self.kept)]
        high = [upper_rate(*sample, share) for sample in (self.unlearned, self.never, self.kept)]
        return 2 * low[0] - high[1] - high[2], 2 * high[0] - low[1] - low[2]

    @property
    def left(self) -> float:
        """(P − Q)/(R − Q) of the counted rates.

        It is 0 for models as if the record had never been present, 1 as if it still were, and 0 if no difference is
        detected.
        """
        rate = [inside / runs for inside, runs in (self.unlearned, self.never, self.kept)]
        return (rate[0] - rate[1]) / (rate[2] - rate[1]) if rate[2] > rate[1] else 0.0

    @property
    def verdict(self) -> str:
        """Verdict of the test.

        It is "fail" if unlearned models are nearer to those with the record, "pass" if they are nearer to those that
        never had it, and "inconclusive" if the runs do not decide.
        """
        low, high = self.nearer_to_kept
        return "fail" if low > 0 else "pass" if high < 0 else "inconclusive"

    def to_dict(self) -> dict[str, object]:
        """Return JSON-compatible fields."""
        low, high = self.nearer_to_kept
        return {
            "left": self.left,
            "nearer_to_kept_at_least": low,
            "nearer_to_kept_at_most": high,
            "verdict": self.verdict,
        }


def three_samples(
    unlearned: Sequence[Chains],
    never: Sequence[Chains],
    kept: Sequence[Chains],
    *,
    observed: Sequence[int],
    error: float = 0.01,
    generator: np.random.Generator,
) -> ThreeSamples:
    """Determine a set on the first half of the runs and count the second half of all three samples.

    The set is determined from `never` and `kept` only.

    Args:
        unlearned: Releases of the runs with an erasure, each of shape (runs, outputs, features); at least 20 runs.
        never: The same for runs without the record.
        kept: The same for runs that still hold the record.
        observed: Numbers of the releases used, starting at 1.
        error: Probability that the verdict is wrong.
        generator: Source of randomness for folds and landmarks.
    """
    runs = min(len(sample[0]) for sample in (unlearned, never, kept))
    check_count("runs", runs, minimum=20)
    half = runs // 2
    witness = KernelWitness.fit([each[:half] for each in kept], [each[:half] for each in never], observed, generator)

    def inside(sample: Sequence[Chains]) -> tuple[int, int]:
        found = witness([each[half:] for each in sample]) > 0
        return int(found.sum()), len(found)

    return ThreeSamples(inside(unlearned), inside(never), inside(kept), error)

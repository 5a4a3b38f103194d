"""Three samples of models: unlearned, never learned with the record, and learned with it still there (Ribero, Schrab & Gretton, AISTATS 2026).

Two samples say whether unlearned models differ from those that never saw the record: any difference at all, which a certificate bounds
and does not forbid. The third turns it into the question that deletion is about: do they lie nearer to the models that never saw the
record, or nearer to those that still hold it?

A set of models is found first, on half of the runs: where the witness of a regularised χ² divergence (kernel ridge regression of "which
sample?" on landmarks; bandwidth and ridge by cross-validation on that half) exceeds the level at which the hockey-stick divergence at
e⁰, the advantage, is largest. The other half is counted, with exact binomial bounds, so that the error probability is as stated whatever
the laws are. Theirs aggregates such statistics over kernels and calibrates by permutations; splitting is simpler, and exact.

With P, Q, R the chances of the set for unlearned, never learned and still there (R ≥ Q by its making), unlearned models are nearer to
those that still hold the record, in this set, when P > (Q + R)/2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidParameter, check_count, check_probability
from .simulation import Chains, Scores, flat_releases, lower_rate, upper_rate

Array = NDArray[np.float64]

_LANDMARKS = 100
_BANDWIDTHS = (0.5, 1.0, 2.0)  # of the median distance
_RIDGES = (1e-3, 1e-1)
_LEVELS = 101


@dataclass(frozen=True)
class KernelWitness:
    """A set of models, {score > 0}, that the present sample falls in and the absent one does not: found on runs that are not used again.

    Unlike a Gaussian likelihood ratio it also sees a difference of spread, of shape, or a rare odd model.
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
        """From the releases of both worlds. Folds, landmarks and ties are drawn from the generator."""
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
    """Squared distances."""
    squares: Array = (rows**2).sum(1)[:, None] + (others**2).sum(1)[None] - 2 * (rows @ others.T)
    return np.maximum(squares, 0.0)


def _features(rows: Array, landmarks: Array, bandwidth: float) -> Array:
    """A constant, the numbers themselves, and the kernel with every landmark."""
    kernel = np.exp(-_squares(rows, landmarks) / (2 * bandwidth**2))
    return np.concatenate([np.ones((len(rows), 1)), rows, kernel], axis=1)


def _ridge(samples: Sequence[Array], ridge: float) -> Array:
    """Regression of +1 in the one sample and −1 in the other, both of weight ½."""
    present, absent = samples
    gram = (present.T @ present / len(present) + absent.T @ absent / len(absent)) / 2
    aim = (present.mean(axis=0) - absent.mean(axis=0)) / 2
    return np.asarray(np.linalg.solve(gram + ridge * np.eye(len(gram)), aim))


def _best_level(present: Array, absent: Array) -> tuple[float, float]:
    """(advantage, level) of the best set {score > level} on these scores."""
    levels = np.quantile(np.concatenate([present, absent]), np.linspace(0, 1, _LEVELS))
    gains = [(present > level).mean() - (absent > level).mean() for level in levels]
    best = int(np.argmax(gains))
    return float(gains[best]), float(levels[best])


@dataclass(frozen=True)
class ThreeSamples:
    """How many runs of each sample fell in a set that was fixed before: (in the set, runs).

    `error` is the probability that the verdict is wrong.
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
        """Bounds on 2P − Q − R: above 0, unlearned models are nearer to those that still hold the record; below, to those that never did.

        Each holds with probability 1 − error: three exact bounds, an error/6 above and below.
        """
        share = self.error / 6
        low = [lower_rate(*sample, share) for sample in (self.unlearned, self.never, self.kept)]
        high = [upper_rate(*sample, share) for sample in (self.unlearned, self.never, self.kept)]
        return 2 * low[0] - high[1] - high[2], 2 * high[0] - low[1] - low[2]

    @property
    def left(self) -> float:
        """(P − Q)/(R − Q) as counted: 0 as if the record had never been there, 1 as if it still were; 0 where nothing shows it."""
        rate = [inside / runs for inside, runs in (self.unlearned, self.never, self.kept)]
        return (rate[0] - rate[1]) / (rate[2] - rate[1]) if rate[2] > rate[1] else 0.0

    @property
    def verdict(self) -> str:
        """ "fail": nearer to models with the record; "pass": nearer to those that never had it; "inconclusive": the runs do not tell."""
        low, high = self.nearer_to_kept
        return "fail" if low > 0 else "pass" if high < 0 else "inconclusive"

    def to_dict(self) -> dict[str, object]:
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
    """Find the set on the first half of the runs (of `never` and `kept` alone) and count the second half of all three.

    Args:
        unlearned, never, kept: releases of each sample, (runs, outputs, features) each; at least 20 runs.
        observed: which releases are looked at, 1 the first.
    """
    runs = min(len(sample[0]) for sample in (unlearned, never, kept))
    check_count("runs", runs, minimum=20)
    half = runs // 2
    witness = KernelWitness.fit([each[:half] for each in kept], [each[:half] for each in never], observed, generator)

    def inside(sample: Sequence[Chains]) -> tuple[int, int]:
        found = witness([each[half:] for each in sample]) > 0
        return int(found.sum()), len(found)

    return ThreeSamples(inside(unlearned), inside(never), inside(kept), error)

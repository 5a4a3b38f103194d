"""Rewind-to-Delete on a network with proven constants: public outer weights bound smoothness and curvature.

f(x) = A tanh(Wx) with A public, entries ±a; softmax on top. With ‖x‖ ≤ R
    L = √2 ‖A‖ R,   β₋ = 2a (4/(3√3)) R²,   β₊ = ‖A‖² R²/2 + β₋
(the softmax Hessian has norm at most ½; Σ_k |p_k − y_k| ≤ 2; |tanh″| ≤ 4/(3√3)). A step of size η ≤ 1/(λ + β₊) expands
by at most c = 1 + η(β₋ − λ).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from noisygd_delete.bounds.gaussian import gdp_for
from noisygd_delete.records import Records

from .base import Baseline, Certificate, Erased, Held, Weights, generator
from .network_bounds import rewound_distance

_BEND = 4 / (3 * math.sqrt(3))


@dataclass(frozen=True)
class FixedTopNetwork:
    """Softmax over A tanh(Wx), with A fixed by a seed; W is trained from W₀, also fixed by the seed."""

    classes: int
    hidden: int
    scale: float
    radius: float = 1.0
    seed: int = 0

    @cached_property
    def outer(self) -> NDArray[np.float64]:
        signs = np.random.default_rng(self.seed).integers(0, 2, (self.classes, self.hidden))
        return np.asarray(self.scale * (2.0 * signs - 1.0), np.float64)

    def start(self, features: int) -> Weights:
        return np.random.default_rng(self.seed + 1).standard_normal((self.hidden, features))

    @property
    def lipschitz(self) -> float:
        return math.sqrt(2) * float(np.linalg.norm(self.outer, 2)) * self.radius

    @property
    def weak_convexity(self) -> float:
        return 2 * self.scale * _BEND * self.radius**2

    @property
    def smoothness(self) -> float:
        return float(np.linalg.norm(self.outer, 2)) ** 2 * self.radius**2 / 2 + self.weak_convexity

    def scores(self, weights: Weights, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.tanh(rows @ weights.T) @ self.outer.T

    def sum_gradients(self, weights: Weights, rows: NDArray[np.float64], labels: NDArray[np.int64]) -> Weights:
        """Return the sum over the rows of the gradients by W of the cross-entropy of A tanh(Wx); A is not trained."""
        hidden = np.tanh(rows @ weights.T)
        scores = hidden @ self.outer.T
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        slope = odds / odds.sum(axis=1, keepdims=True)
        slope[np.arange(len(rows)), labels] -= 1.0
        total: Weights = ((slope @ self.outer) * (1 - hidden**2)).T @ rows
        return total


@dataclass(frozen=True)
class RewindToDelete(Baseline):
    """Gradient descent for T steps, published with noise; a deletion repeats the last K steps without the record.

    Attributes:
        network: The network.
        regularization: λ.
        steps: T.
        rewound: K; with K = T only retraining is certified.
        epsilon: ε of the certificate.
        delta: δ of the certificate.
    """

    network: FixedTopNetwork
    regularization: float
    steps: int
    rewound: int
    epsilon: float
    delta: float

    name: ClassVar[str] = "Rewind-to-Delete"
    source: ClassVar[str] = "Mu & Klabjan (NeurIPS 2025), proven constants"
    guarantees: ClassVar[str] = "(ε, δ) of one model after one erasure"
    does_not_guarantee: ClassVar[str] = "privacy of those who stay; several releases"
    secret_state: ClassVar[str] = "a checkpoint without noise that saw the erased record"
    stateless: ClassVar[bool] = False
    private: ClassVar[bool] = False

    @property
    def step_size(self) -> float:
        return 1 / (self.regularization + self.network.smoothness)

    @property
    def expansion(self) -> float:
        """Expansion c of one step, at least 1: the certificate does not use a contraction."""
        return max(1.0, 1 + self.step_size * (self.network.weak_convexity - self.regularization))

    def noise(self, records: int) -> float:
        """Return the noise scale of the published weights, the distance over μ."""
        apart = 2 * self.step_size * self.network.lipschitz / records
        distance = rewound_distance(apart=apart, expansion=self.expansion, steps=self.steps, rewound=self.rewound)
        return distance / gdp_for(epsilon=self.epsilon, delta=self.delta)

    def _descended(self, records: Records, weights: Weights, steps: int) -> Weights:
        used = records.occupied
        rows, labels = records.features[used].astype(np.float64), records.labels[used].astype(np.int64)
        weights = np.array(weights)
        for _ in range(steps):
            mean = self.network.sum_gradients(weights, rows, labels) / len(rows)
            weights -= self.step_size * (mean + self.regularization * weights)
        return weights

    def _published(self, records: Records, checkpoint: Weights, passes: int, rng: np.random.Generator | None) -> Held:
        last = self._descended(records, checkpoint, self.rewound)
        seen = last + self.noise(len(records)) * generator(rng).standard_normal(last.shape)
        return Held(seen, len(records), {"checkpoint": checkpoint}, passes * len(records))

    def learn(self, records: Records, rng: np.random.Generator | None = None) -> Held:
        begin = self.network.start(records.features.shape[1])
        return self._published(records, self._descended(records, begin, self.steps - self.rewound), self.steps, rng)

    def forget(self, records: Records, erased: Erased, held: Held, rng: np.random.Generator | None = None) -> Held:
        return self._published(records, held.secret["checkpoint"], self.rewound, rng)

    def certificate(self, held: Held) -> Certificate:
        return Certificate(
            (self.epsilon, self.delta), None, adaptive=False, basis="distance of two runs of gradient descent",
            caveats=("the checkpoint has to stay secret",),
        )  # fmt: skip

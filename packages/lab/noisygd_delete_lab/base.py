"""The interface of every deletion method in this package, so that one benchmark can run them all.

A method learns a linear model on a table, erases records from it, and states what it certifies. What it must keep
between two requests, besides the records and the published model, is its *secret state*: `Held.secret` contains all of
it, and `secret_state` describes what an intruder would find there. These methods are not part of the product: they are
compared with it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from noisygd_delete.bounds import gaussian
from noisygd_delete.errors import InvalidRequest
from noisygd_delete.records import EditRequest, Records

Weights = NDArray[np.float64]


@dataclass(frozen=True)
class Certificate:
    """Guarantee of a method, as (ε, δ).

    Attributes:
        deletion: For an erased record: the release against a model that never saw the record; None if there is none.
        existing: For a present record, from one release (differential privacy); None if there is none.
        adaptive: Whether the proof covers requests chosen after seeing earlier releases.
        basis: Where the guarantee is proven.
        caveats: Its assumptions, and gaps of the published proof.
        gdp: μ of one release for a present record against the null record, if the proof gives one.
    """

    deletion: tuple[float, float] | None
    existing: tuple[float, float] | None
    adaptive: bool
    basis: str
    caveats: tuple[str, ...] = ()
    gdp: float | None = None

    def success(self, false_alarms: float) -> float:
        """Return the largest true positive rate of a test of presence from one release.

        It is 1 without privacy.
        """
        if self.existing is None:
            return 1.0
        if self.gdp is not None:
            return float(ndtr(ndtri(false_alarms) + self.gdp))
        epsilon, delta = self.existing
        return min(1.0, math.exp(epsilon) * false_alarms + delta)

    @property
    def advantage(self) -> float:
        """Largest difference of true and false positive rate of such a test; 1 without privacy."""
        if self.existing is None:
            return 1.0
        if self.gdp is not None:
            return gaussian.gdp_advantage(mu=self.gdp)
        epsilon, delta = self.existing
        return min(1.0, math.tanh(epsilon / 2) + 2 * delta / (math.exp(epsilon) + 1))


@dataclass(frozen=True)
class Held:
    """Everything a method keeps between two requests, besides the records.

    Attributes:
        weights: The published model, (outputs, features).
        records: Number of records present (public).
        secret: Everything else that is kept.
        gradient_evaluations: Per-record gradients of the last call.
        hessian_evaluations: Per-record Hessians (d² numbers each) of the last call.
        retrained: Whether the last request was answered by retraining.
    """

    weights: Weights
    records: int
    secret: Mapping[str, Any] = field(default_factory=dict, repr=False)
    gradient_evaluations: int = 0
    hessian_evaluations: int = 0
    retrained: bool = False

    @property
    def memory(self) -> int:
        """Size of the secret state in bytes."""
        return sum(_bytes(value) for value in self.secret.values())


def _bytes(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, (list, tuple)):
        return sum(_bytes(item) for item in value)
    return 8


@dataclass(frozen=True)
class Erased:
    """The slots that a request erased, with their content."""

    slots: NDArray[np.int64]
    rows: NDArray[np.float64]
    labels: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.slots)


class Baseline(ABC):
    """A learner and an unlearner, with a description.

    Attributes:
        name: Name of the method.
        source: Publication.
        guarantees: What is promised about an erased record.
        does_not_guarantee: What a reader might expect to be promised, and is not.
        secret_state: What is kept between requests besides records and published model.
        stateless: Whether there is no secret state.
        private: Whether a release is differentially private for the present records.
    """

    name: ClassVar[str]
    source: ClassVar[str]
    guarantees: ClassVar[str]
    does_not_guarantee: ClassVar[str]
    secret_state: ClassVar[str]
    stateless: ClassVar[bool]
    private: ClassVar[bool]

    @abstractmethod
    def learn(self, records: Records, rng: np.random.Generator | None = None) -> Held:
        """Train on the table; `rng` None draws fresh entropy."""

    @abstractmethod
    def forget(self, records: Records, erased: Erased, held: Held, rng: np.random.Generator | None = None) -> Held:
        """Return the next release, given the table *after* the erasure and the erased content."""

    @abstractmethod
    def certificate(self, held: Held) -> Certificate:
        """Return the guarantee of the last release."""

    def prepare(self, records: Records, held: Held) -> Held:
        """Do optional work between two requests, before the next one is known; `forget` works without it."""
        return held

    def unlearn(
        self, records: Records, request: EditRequest, held: Held, rng: np.random.Generator | None = None
    ) -> Held:
        """Erase the records that `request` names and publish again; `records` is not modified.

        Raises:
            InvalidRequest: If the request does more than delete, which the baselines do not support.
        """
        if request.replacements or request.insertion:
            raise InvalidRequest("the comparison methods only delete; replace and insert belong to the Curator")
        return self.forget(records.apply(request), erasure(records, request), held, rng)


class Relearning(Baseline):
    """A baseline that keeps nothing between requests and answers one by learning again on the remaining records."""

    guarantees: ClassVar[str] = "the release never saw the erased record, and is private for the remaining ones"
    does_not_guarantee: ClassVar[str] = "one privacy price for many releases: they compose"
    secret_state: ClassVar[str] = "none"
    stateless: ClassVar[bool] = True
    private: ClassVar[bool] = True

    def forget(self, records: Records, erased: Erased, held: Held, rng: np.random.Generator | None = None) -> Held:
        return self.learn(records, rng)


def erasure(records: Records, request: EditRequest) -> Erased:
    """Return the content that a deletion is about to erase."""
    slots = records.resolve(request).slots
    return Erased(slots, records.features[slots].astype(np.float64), np.array(records.labels[slots]))


def generator(rng: np.random.Generator | None) -> np.random.Generator:
    """Return the caller's generator, or a new one with fresh entropy."""
    return np.random.default_rng() if rng is None else rng

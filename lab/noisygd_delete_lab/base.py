"""The protocol every deletion method of this room follows, so that one benchmark can run them all.

A method learns a linear model on a table, erases records from it, and says what it certifies. What it must keep between
two requests, besides the records and the published model, is its *secret state*: `Held.secret` contains all of it and
`secret_state` says in words what an intruder would find there. Nothing in this room is part of the product: these are
the systems it is compared with.
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
    """What a method promises, as (ε, δ).

    deletion  for an erased record: the release against a model that never saw the record; None: nothing
    existing  for a record that is still there, from one release (differential privacy); None: nothing
    adaptive  whether the proof covers requests chosen after seeing earlier releases
    basis     where the promise is proven
    caveats   what it assumes, and where the published proof is incomplete
    gdp       μ of one release for a record present against the null record, where the proof gives one
    """

    deletion: tuple[float, float] | None
    existing: tuple[float, float] | None
    adaptive: bool
    basis: str
    caveats: tuple[str, ...] = ()
    gdp: float | None = None

    def success(self, false_alarms: float) -> float:
        """Most often that a test of presence from one release is right when the record is there, if it is wrong at most
        `false_alarms` of the time when it is not; 1 without privacy."""
        if self.existing is None:
            return 1.0
        if self.gdp is not None:
            return float(ndtr(ndtri(false_alarms) + self.gdp))
        epsilon, delta = self.existing
        return min(1.0, math.exp(epsilon) * false_alarms + delta)

    @property
    def advantage(self) -> float:
        """Most that true can exceed false positives for such a test; 1 without privacy."""
        if self.existing is None:
            return 1.0
        if self.gdp is not None:
            return gaussian.gdp_advantage(mu=self.gdp)
        epsilon, delta = self.existing
        return min(1.0, math.tanh(epsilon / 2) + 2 * delta / (math.exp(epsilon) + 1))


@dataclass(frozen=True)
class Held:
    """Everything a method holds between two requests, besides the records.

    weights               the published model, (outputs, features)
    records               records present (public)
    secret                all else that is kept
    gradient_evaluations  per-record gradients that the last call took
    hessian_evaluations   per-record Hessians (d² numbers each) that the last call took
    retrained             whether the last request was answered by learning afresh
    """

    weights: Weights
    records: int
    secret: Mapping[str, Any] = field(default_factory=dict, repr=False)
    gradient_evaluations: int = 0
    hessian_evaluations: int = 0
    retrained: bool = False

    @property
    def memory(self) -> int:
        """Bytes of secret state."""
        return sum(_bytes(value) for value in self.secret.values())


def _bytes(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, (list, tuple)):
        return sum(_bytes(item) for item in value)
    return 8


@dataclass(frozen=True)
class Erased:
    """What a request erased: slots, and the content that was in them."""

    slots: NDArray[np.int64]
    rows: NDArray[np.float64]
    labels: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.slots)


class Baseline(ABC):
    """A learner and an unlearner with an honest description.

    guarantees           what is promised about an erased record
    does_not_guarantee   what a reader might think is promised, and is not
    secret_state         what is kept between requests besides records and published model
    stateless            nothing is
    private              whether a release is differentially private for the records still there
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
        """Train on the table. `rng` None draws fresh entropy."""

    @abstractmethod
    def forget(self, records: Records, erased: Erased, held: Held, rng: np.random.Generator | None = None) -> Held:
        """The next release, given the table *after* the erasure and what was erased."""

    @abstractmethod
    def certificate(self, held: Held) -> Certificate:
        """What the last release promises."""

    def prepare(self, records: Records, held: Held) -> Held:
        """Work between two requests, before the next one is known. Optional: `forget` works without it."""
        return held

    def unlearn(
        self, records: Records, request: EditRequest, held: Held, rng: np.random.Generator | None = None
    ) -> Held:
        """Erase the records that `request` names and publish again. `records` is left as it was.

        Raises:
            InvalidRequest: the request does more than delete; the baselines only delete.
        """
        if request.replacements or request.insertion:
            raise InvalidRequest("the comparison methods only delete; replace and insert belong to the Curator")
        return self.forget(records.apply(request), erasure(records, request), held, rng)


def erasure(records: Records, request: EditRequest) -> Erased:
    """The content that a deletion is about to erase."""
    slots = records.resolve(request).slots
    return Erased(slots, records.features[slots].astype(np.float64), np.array(records.labels[slots]))


def generator(rng: np.random.Generator | None) -> np.random.Generator:
    """The caller's generator, or one from fresh entropy."""
    return np.random.default_rng() if rng is None else rng

"""DP-SGD: public facts and what they reveal, as a stage of a ladder or as the training of a feature extractor.

As a stage: noisy steps on Poisson samples of the rows, charged by their Rényi curve. A step on a share p of the rows
costs p of a pass, and less than p times the privacy of a step on all of them: many short steps where a full-batch stage
affords few. There is no μ: the ladder counts at one Rényi order. Zero-out equals add/remove here because places are
masked and n is public in rate and divisor; several rows of one person are not covered.

As an extractor: a feature extractor trained on the private rows by DP-SGD and published. Every model trained on its
features depends on it, so it counts with the first model that an observer sees after it. No later deletion undoes that:
only an extractor trained afresh, or a public one, is independent of an erased record.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from ..bounds import renyi
from ..bounds.arithmetic import least_safe
from ..errors import InvalidParameter, check_count, check_positive
from ..privacy.worlds import Worlds
from .base import Condition, Cost, Mechanism

ORDERS = (*range(2, 33), 48, 64, 128, 256, 512)


@dataclass(frozen=True, kw_only=True)
class SampledGaussian(Mechanism):
    """Facts of one DP-SGD training: a Poisson sample per step, per-row gradients clipped to C, noise N(0, (zC)² I).

    Attributes:
        sampling_rate: Probability that a row is in the sample of a step.
        noise_multiplier: z.
    """

    method: ClassVar[str] = "sampled-gaussian"
    source: ClassVar[str] = "Rényi DP of the sampled Gaussian mechanism (Mironov, Talwar & Zhang 2019)"
    notes: ClassVar[tuple[str, ...]] = (
        "A deleted record's part in a published extractor is not taken back by later releases.",
    )

    sampling_rate: float
    noise_multiplier: float

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("noise_multiplier", self.noise_multiplier)
        if not check_positive("sampling_rate", self.sampling_rate) <= 1:
            raise InvalidParameter("must be at most 1", sampling_rate=self.sampling_rate)

    @property
    def left(self) -> str:
        """What an erasure does not remove: "extractor", the features trained before."""
        return "extractor"

    def conditions(self) -> tuple[Condition, ...]:
        declared: tuple[Condition, ...] = () if self.proven else (("constants-declared", {}),)
        return (
            *super().conditions(),
            *declared,
            ("samples-unseen", {}),
            ("gaussian-noise", {"method": self.method}),
        )

    def _cost(self, worlds: Worlds, steps_with: float, steps_without: float) -> Cost:
        """Return the cost of a record that took part in `steps_with` steps; steps without it change nothing."""
        facts = float(self.sampling_rate), float(self.noise_multiplier), float(steps_with)
        return {"points": tuple((float(order), _renyi(worlds.between_records, order, *facts)) for order in ORDERS)}


@lru_cache(1 << 12)  # an account asks for the same points again and again
def _renyi(between_records: bool, order: int, rate: float, noise: float, steps: float) -> float:
    """Return ε at an order; all but the order as Python floats, of which equal ones have equal bits."""
    bound = renyi.replace_renyi if between_records else renyi.zero_out_renyi
    return bound(order=order, sampling_rate=rate, noise_multiplier=noise, steps=steps)


def sampled_renyi(*, order: float, sampling_rate: float, noise_multiplier: float, draws: int, worlds: Worlds) -> float:
    """Return ε_q of `draws` steps on samples together, at the least of `ORDERS` that is at least `order`.

    It bounds the divergence at `order` itself; infinite if `order` is above all of them.

    Args:
        order: q.
        sampling_rate: p.
        noise_multiplier: z.
        draws: Number of steps, each on a sample of its own.
        worlds: The neighbouring relation.
    """
    listed = min((one for one in ORDERS if one >= order), default=None)
    if listed is None:
        return math.inf
    return _renyi(worlds.between_records, listed, float(sampling_rate), float(noise_multiplier), float(draws))


def least_multiplier(
    *, order: float, allowed: float, sampling_rate: float, draws: int, worlds: Worlds, digits: float = 1e-9
) -> float:
    """Return the least z, to relative width `digits`, at which these samples cost at most `allowed` at this order.

    Args:
        order: q.
        allowed: Largest ε_q of all draws together.
        sampling_rate: p.
        draws: Number of steps, each on a sample of its own.
        worlds: The neighbouring relation.
        digits: Relative width at which the search stops.

    Raises:
        InvalidParameter: If the order is above all listed ones, or no z meets `allowed`.
    """
    if order > ORDERS[-1]:
        raise InvalidParameter(
            f"must be at most {ORDERS[-1]} for a stage on samples: its Rényi curve is listed up to there", order=order
        )

    def safe(multiplier: float) -> bool:
        cost = sampled_renyi(
            order=order, sampling_rate=sampling_rate, noise_multiplier=multiplier, draws=draws, worlds=worlds
        )
        return cost <= allowed

    found = least_safe(safe, guess=1.0, most=2.0**40, digits=digits)
    if not found < math.inf:
        raise InvalidParameter(
            f"no noise keeps {draws} samples within ε={check_positive('allowed', allowed):g} at order {order:g}; ask for fewer steps"
        )
    return found


@dataclass(frozen=True, kw_only=True)
class SampledSteps(SampledGaussian):
    """Facts of one run of DP-SGD as a stage of a ladder, rerun or kept.

    Attributes:
        draws: Noisy steps, each on a Poisson sample of its own; the run counts as the equivalent number of passes over
            the table.
    """

    method: ClassVar[str] = "sampled-steps"
    notes: ClassVar[tuple[str, ...]] = ()

    draws: int

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("draws", self.draws)

    @property
    def left(self) -> str:
        """What an erasure does not remove: "", nothing, because every stage on samples runs again."""
        return ""

    @property
    def passes(self) -> int:
        """Passes over the table, which count as the steps of the stage."""
        return sampled_epochs(self.sampling_rate, self.draws)

    def exposure(self, steps: int) -> int:
        return 1

    def check(self, steps: int, *, fresh: bool | None = None, inserted: bool = False) -> None:
        if steps != self.passes:
            raise InvalidParameter(
                f"must be {self.passes}: {self.draws} samples of a share {self.sampling_rate:g}", steps=steps
            )

    def _cost(self, worlds: Worlds, steps_with: float, steps_without: float) -> Cost:
        """Return the cost; samples drawn after the record was erased do not hold it."""
        return {} if steps_without else super()._cost(worlds, self.draws, 0)


def sampled_epochs(sampling_rate: float, draws: int) -> int:
    """Return ⌈p · draws⌉, the passes over the table equivalent to `draws` samples, at least 1."""
    return max(1, math.ceil(sampling_rate * draws * (1 - 1e-12)))

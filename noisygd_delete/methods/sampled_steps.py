"""DP-SGD, as public facts and what they reveal: as a stage of a ladder, noisy steps on Poisson samples of the rows, charged by their Rényi curve.

A step on a share p of the rows costs a p-th of a pass, and less than p times the privacy of a step on all of them: many short steps
where a full-batch stage affords few. There is no μ: the ladder counts at one Rényi order. Zero-out equals add/remove here because
slots are masked and n is public in rate and divisor; several rows of one person are not covered.

A feature extractor trained on the private rows by DP-SGD, as public facts, and what publishing it reveals.

Every model trained on its features carries it, so it counts with the first model that an observer sees after it, and no
later deletion takes it back: only an extractor trained afresh, or public, has forgotten a record.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ..bounds import renyi
from ..bounds.arithmetic import least_safe
from ..errors import InvalidParameter, check_count, check_positive
from ..privacy.guarantee import Worlds
from .base import Condition, Cost, Mechanism

ORDERS = (*range(2, 33), 48, 64, 128, 256, 512)


@dataclass(frozen=True, kw_only=True)
class SampledGaussian(Mechanism):
    """Facts of one DP-SGD training: a Poisson sample per step, per-row gradients clipped to C, noise N(0, (zC)² I).

    sampling_rate     probability with which a row enters a step
    noise_multiplier  z
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
        """Of a record that took part in `steps_with` steps; steps without it change nothing."""
        bound = renyi.replace_renyi if worlds.between_records else renyi.zero_out_renyi
        facts = {"sampling_rate": self.sampling_rate, "noise_multiplier": self.noise_multiplier, "steps": steps_with}
        return {"points": tuple((float(order), bound(order=order, **facts)) for order in ORDERS)}


def sampled_renyi(*, order: float, sampling_rate: float, noise_multiplier: float, draws: int, worlds: Worlds) -> float:
    """What sampled steps cost at one order, by the least listed one that covers it; infinite above all of them."""
    listed = min((one for one in ORDERS if one >= order), default=None)
    if listed is None:
        return math.inf
    bound = renyi.replace_renyi if worlds.between_records else renyi.zero_out_renyi
    return bound(order=listed, sampling_rate=sampling_rate, noise_multiplier=noise_multiplier, steps=draws)


def least_multiplier(
    *, order: float, allowed: float, sampling_rate: float, draws: int, worlds: Worlds, digits: float = 1e-9
) -> float:
    """The least z, to a relative width, at which so many samples cost at most `allowed` at this order."""
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
    """Facts of one run of DP-SGD that is made afresh, or kept, as a stage of a ladder.

    draws  noisy steps, each on a Poisson sample of its own; the run counts as the passes over the table that they come to
    """

    method: ClassVar[str] = "sampled-steps"
    notes: ClassVar[tuple[str, ...]] = ()

    draws: int

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("draws", self.draws)

    @property
    def left(self) -> str:
        return ""

    @property
    def passes(self) -> int:
        """Over the table: of a stage that starts below it, its steps."""
        return sampled_epochs(self.sampling_rate, self.draws)

    def exposure(self, steps: int) -> int:
        return 1

    def check(self, steps: int, *, fresh: bool | None = None, inserted: bool = False) -> None:
        if steps != self.passes:
            raise InvalidParameter(
                f"must be {self.passes}: {self.draws} samples of a share {self.sampling_rate:g}", steps=steps
            )

    def _cost(self, worlds: Worlds, steps_with: float, steps_without: float) -> Cost:
        """Samples drawn after the record was erased do not hold it."""
        return {} if steps_without else super()._cost(worlds, self.draws, 0)


def sampled_epochs(sampling_rate: float, draws: int) -> int:
    """Passes over the table that so many samples come to, rounded up."""
    return max(1, math.ceil(sampling_rate * draws * (1 - 1e-12)))

"""A feature extractor trained on the private rows by DP-SGD, as public facts, and what publishing it reveals.

Every model trained on its features carries it, so it counts with the first model that an observer sees after it, and no
later deletion takes it back: only an extractor trained afresh, or public, has forgotten a record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..bounds import subsampled
from ..errors import InvalidParameter, positive
from ..privacy.worlds import Worlds
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
    publishes: ClassVar[str] = "extractor"
    notes: ClassVar[tuple[str, ...]] = (
        "A deleted record's part in a published extractor is not taken back by later releases.",
    )

    sampling_rate: float
    noise_multiplier: float

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("noise_multiplier", self.noise_multiplier)
        if not positive("sampling_rate", self.sampling_rate) <= 1:
            raise InvalidParameter("must be at most 1", sampling_rate=self.sampling_rate)

    @property
    def left(self) -> str:
        return "extractor"

    def conditions(self) -> tuple[Condition, ...]:
        return (*super().conditions(), ("samples-unseen", {}), ("gaussian-noise", {"method": self.method}))

    def _cost(self, worlds: Worlds, steps_with: float, steps_without: float) -> Cost:
        """Of a record that took part in `steps_with` steps; steps without it change nothing."""
        bound = subsampled.replace_renyi if worlds.between_records else subsampled.zero_out_renyi
        facts = {"sampling_rate": self.sampling_rate, "noise_multiplier": self.noise_multiplier, "steps": steps_with}
        return {"points": tuple((float(order), bound(order=order, **facts)) for order in ORDERS)}

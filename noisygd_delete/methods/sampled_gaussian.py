"""A feature extractor trained on the private rows by DP-SGD, as public facts, and what publishing it reveals.

Every model trained on its features carries it, so it counts with the first model that an observer sees after it, and no
later deletion takes it back: only an extractor trained afresh, or public, has forgotten a record.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from ..bounds import subsampled
from ..errors import InvalidParameter, count, positive
from ..privacy.guarantee import Guarantee

ORDERS = (*range(2, 33), 48, 64, 128, 256, 512)


@dataclass(frozen=True)
class Extractor:
    """Facts of one DP-SGD training: a Poisson sample per step, per-row gradients clipped to C, noise N(0, (zC)² I).

    records           n, slots
    sampling_rate     probability with which a row enters a step
    noise_multiplier  z
    proven            False where the caller only declares that the training was like this
    """

    records: int
    sampling_rate: float
    noise_multiplier: float
    proven: bool = True

    start: ClassVar[str] = "published"
    warm: ClassVar[bool] = False

    def __post_init__(self) -> None:
        count("records", self.records)
        positive("noise_multiplier", self.noise_multiplier)
        if not positive("sampling_rate", self.sampling_rate) <= 1:
            raise InvalidParameter(f"sampling_rate={self.sampling_rate!r} must be at most 1")

    def interval(self, about: str, adjacency: str, *, steps_with: float, steps_without: float = 0) -> Guarantee:
        """What the extractor reveals about a record that took part in `steps_with` steps; steps without it change nothing."""
        bound = subsampled.replace_renyi if adjacency in ("replace", "pairwise") else subsampled.zero_out_renyi
        facts = {"sampling_rate": self.sampling_rate, "noise_multiplier": self.noise_multiplier, "steps": steps_with}
        return Guarantee(
            about=about,
            adjacency=adjacency,
            points=tuple((float(order), bound(order=order, **facts)) for order in ORDERS) if steps_with else (),
            source="Rényi DP of the sampled Gaussian mechanism (Mironov, Talwar & Zhang 2019)",
            assumptions=(
                "the extractor's training drew an independent Poisson sample of rows at every step",
                f"n={self.records} slots is public and fixed",
                "the noise is Gaussian, independent and unknown to the observer",
            ),
            proven=self.proven,
        )

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Extractor:
        """Read back `to_dict`; unknown or missing fields are refused."""
        try:
            return cls(**fields)
        except TypeError as error:
            raise InvalidParameter(f"not the facts of an extractor: {error}") from error

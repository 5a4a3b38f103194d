"""What all publications together may cost: the one figure of which "within" is said."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ..errors import InvalidParameter, positive
from .guarantee import Guarantee, stated_delta
from .shown import brief


@dataclass(frozen=True)
class Total:
    """(ε, δ) of a record still there, over every publication that is ever made, all of them observed.

    It is fixed before the first publication. A publication that would exceed it is withheld; an erasure never is.

    Raises:
        InvalidParameter: unless ε > 0 and 0 < δ < 1.
    """

    epsilon: float
    delta: float = 1e-6

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive("total epsilon", self.epsilon))
        object.__setattr__(self, "delta", stated_delta("total delta", self.delta))

    @classmethod
    def of(cls, given: Total | tuple[float, float] | None) -> Total | None:
        """A total as it is, or from a pair (ε, δ)."""
        if given is None or isinstance(given, cls):
            return given
        if not isinstance(given, (tuple, list)) or len(given) != 2:
            raise InvalidParameter(
                f"total={given!r} must be (ε, δ) of all publications together, for example (8.0, 1e-6)"
            )
        return cls(*given)

    def affords(self, spent: Guarantee) -> bool:
        """Whether what was spent, its rounding slack included, lies within it (relative 1e-12)."""
        return spent.with_slack().epsilon(self.delta) <= self.epsilon * (1 + 1e-12)

    def describe(self) -> str:
        return f"(ε={brief(self.epsilon)}, δ={brief(self.delta)})"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

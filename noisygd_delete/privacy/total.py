"""What all publications together may cost: the one figure of which "within" is said."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from ..bounds import conversion
from ..bounds.rounding import best_order
from ..errors import InvalidParameter, positive, renyi_order
from .guarantee import Guarantee, stated_delta
from .shown import brief


@dataclass(frozen=True)
class Total:
    """(ε, δ) of a record still there, over every publication that is ever made, all of them observed.

    It is fixed before the first publication. A publication that would exceed it is withheld; an erasure never is. What is spent is
    summed in one measure, fixed with it: so it is a privacy filter, and holds where plans, releases and their number depend on models
    seen before (μ²: Smith & Thakurta 2022; one Rényi order: Feldman & Zrnic 2021). The best of several sums afterwards would not.

    Args:
        gdp: what is summed is μ². order: the Rényi divergence at this order. Neither: not fixed yet, or by an earlier version; then
            whichever conversion is best for each sum.
        late: set or changed when models had been published: a filter only if that did not depend on them.

    Raises:
        InvalidParameter: unless ε > 0, 0 < δ < 1 and order > 1; or an order beside μ.
    """

    epsilon: float
    delta: float = 1e-6
    gdp: bool = False
    order: float | None = None
    late: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive("total epsilon", self.epsilon))
        object.__setattr__(self, "delta", stated_delta("total delta", self.delta))
        if self.order is not None:
            object.__setattr__(self, "order", renyi_order("total order", self.order))
        if self.gdp and self.order is not None:
            raise InvalidParameter(
                f"total order={self.order:g} beside gdp=True: what is spent is summed in one measure"
            )

    @classmethod
    def of(cls, given: Total | tuple[float, float] | None) -> Total | None:
        """A total as it is, or from a pair (ε, δ)."""
        if given is None or isinstance(given, cls):
            return given
        if not isinstance(given, (tuple, list)) or len(given) != 2:
            raise InvalidParameter("must be (ε, δ) of all publications together, for example (8.0, 1e-6)", total=given)
        return cls(*given)

    @property
    def measure(self) -> str | None:
        """In which what is spent is summed, in words; None where that is not fixed."""
        if self.order is not None:
            return f"as Rényi divergence at order {brief(self.order, 4)}"
        return "as μ² of Gaussian DP" if self.gdp else None

    @property
    def is_filter(self) -> bool:
        """Whether it holds whatever plans and releases depended on."""
        return (self.gdp or self.order is not None) and not self.late

    def measured_for(self, spent: Guarantee) -> Total:
        """The same, what is spent being summed in the measure in which this costs least."""
        spent = spent.with_slack()

        def at(order: float) -> float:
            return conversion.renyi_epsilon_optimal(order=order, renyi=spent.renyi(order), delta=self.delta)

        if spent.points:
            order = min((listed for listed, _ in spent.points), key=at)
        else:
            order = best_order(at, low=1e-3, high=max(1e-9, min(1e9, spent.highest_order - 1) * (1 - 1e-9)))
        mu = spent.gdp
        if mu is not None and conversion.gdp_epsilon(mu=mu, delta=self.delta) <= at(order):
            return replace(self, gdp=True, order=None)
        return replace(self, gdp=False, order=order)

    def affords(self, spent: Guarantee) -> bool:
        """Whether what was spent, its rounding slack included, lies within it (relative 1e-12)."""
        return self.spent(spent) <= self.epsilon * (1 + 1e-12)

    def spent(self, guarantee: Guarantee) -> float:
        """ε of what was spent, its rounding slack included, by its one measure; infinite where that does not measure it."""
        guarantee = guarantee.with_slack()
        if self.gdp:
            return math.inf if guarantee.gdp is None else conversion.gdp_epsilon(mu=guarantee.gdp, delta=self.delta)
        if self.order is not None:
            cost = guarantee.renyi(self.order)
            return conversion.renyi_epsilon_optimal(order=self.order, renyi=cost, delta=self.delta)
        return guarantee.epsilon(self.delta)

    def describe(self) -> str:
        return f"(ε={brief(self.epsilon)}, δ={brief(self.delta)})"

    def to_dict(self) -> dict[str, Any]:
        """As earlier versions wrote it, and what was fixed besides."""
        unsaid = {"gdp": False, "order": None, "late": False}
        return {name: value for name, value in asdict(self).items() if name not in unsaid or value != unsaid[name]}

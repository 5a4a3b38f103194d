"""Privacy budgets of one release and of all releases, in Rényi DP, (ε, δ)-DP or Gaussian DP."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

from ..bounds import gaussian, renyi, stopping
from ..bounds.arithmetic import best_order, least_safe
from ..errors import InvalidParameter, Word, check_positive, renyi_order
from .guarantee import Guarantee
from .sentences import format_number
from .worlds import check_delta


@lru_cache(maxsize=1024)
def _gdp_for(epsilon: float, delta: float) -> float:
    """Return `gaussian.gdp_for`, cached because every plan of a budget repeats the search."""
    return gaussian.gdp_for(epsilon=epsilon, delta=delta)


class Measures(Word):
    """How a budget is expressed: a Rényi divergence at one order, (ε, δ), or μ of Gaussian DP."""

    RENYI = "renyi"
    EPSILON_DELTA = "epsilon-delta"
    GDP = "gdp"


@dataclass(frozen=True)
class Budget:
    """The budget of one release: ε_dp for present records and ε_dd for erased records.

    `Budget(order=10, dp=1.0, deletion=0.1)` is (q, ε_dp) and (q, ε_dd) of Chourasia & Shah 2023; `from_epsilon_delta`
    and `from_gdp` express the same two in (ε, δ) and in Gaussian DP.

    Attributes:
        order: Rényi order q > 1 of a Rényi budget, else None.
        dp: Budget for present records, in the unit of `measure`.
        deletion: Budget for erased records, at most that for present records.
        measure: Measure of the budget.
        dp_delta: δ for present records of an (ε, δ) budget, else None.
        deletion_delta: δ for erased records of an (ε, δ) budget, else None.

    Raises:
        InvalidParameter: If an amount is not positive and finite, the deletion budget is weaker than the dp budget, the
            order is not above 1, a δ is not valid (`check_delta`), or an order or δ does not belong to the measure.
    """

    order: float | None = None
    dp: float = 1.0
    deletion: float = 0.1
    measure: Measures = Measures.RENYI
    dp_delta: float | None = None
    deletion_delta: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "measure", Measures(self.measure))
        object.__setattr__(self, "dp", check_positive("dp", self.dp))
        object.__setattr__(self, "deletion", check_positive("deletion", self.deletion))
        if self.measure is Measures.RENYI:
            if self.order is None:
                raise InvalidParameter("must be a Rényi order > 1, for example 10", order=None)
            object.__setattr__(self, "order", renyi_order("order", self.order))
        elif self.order is not None:
            raise InvalidParameter(f"belongs to a Rényi budget, not to {str(self.measure)!r}", order=self.order)
        if self.measure is Measures.EPSILON_DELTA:
            object.__setattr__(self, "dp_delta", check_delta("dp delta", self.dp_delta))
            object.__setattr__(self, "deletion_delta", check_delta("deletion delta", self.deletion_delta))
        elif self.dp_delta is not None or self.deletion_delta is not None:
            raise InvalidParameter("delta belongs to an (ε, δ) budget; use Budget.from_epsilon_delta")
        if not self.deletion_gdp() <= self.dp_gdp() * (1 + 1e-12):
            raise InvalidParameter(
                f"must be at most that of present records, {self.dp!r}: privacy of present records already gives deletion privacy at the dp "
                "level, so a weaker deletion budget asks for nothing",
                deletion=self.deletion,
            )

    @classmethod
    def from_epsilon_delta(cls, *, dp: tuple[float, float], deletion: tuple[float, float]) -> Budget:
        """Return a budget given as (ε, δ) pairs."""
        for name, pair in (("dp", dp), ("deletion", deletion)):
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise InvalidParameter("must be a pair (ε, δ), for example (1.0, 1e-6)", **{name: pair})
        return cls(
            dp=dp[0], deletion=deletion[0], measure=Measures.EPSILON_DELTA, dp_delta=dp[1], deletion_delta=deletion[1]
        )

    @classmethod
    def from_gdp(cls, *, dp: float, deletion: float) -> Budget:
        """Return a budget given as μ of Gaussian DP.

        Only the tight GDP bound can meet it, since one Rényi order does not imply μ-GDP.
        """
        return cls(dp=dp, deletion=deletion, measure=Measures.GDP)

    @property
    def shown_delta(self) -> float:
        """Default δ of displayed (ε, δ) figures: that of the budget, or 1e-6."""
        return self.dp_delta or 1e-6

    def dp_gdp(self) -> float:
        """Return the largest μ whose every consequence is within the dp budget."""
        return self._gdp(self.dp, self.dp_delta)

    def deletion_gdp(self) -> float:
        """Return the largest μ within the deletion budget."""
        return self._gdp(self.deletion, self.deletion_delta)

    def _gdp(self, amount: float, delta: float | None) -> float:
        if self.measure is Measures.GDP:
            return amount
        if self.measure is Measures.RENYI:
            assert self.order is not None
            return math.sqrt(2 * amount / self.order)
        assert delta is not None
        return _gdp_for(amount, delta)

    def dp_rate(self) -> tuple[float, float]:
        """Return the largest rate (ε_q = q · rate) within the dp budget, and an order that proves it.

        Raises:
            InvalidParameter: If the budget is in Gaussian DP.
        """
        return self._rate(self.dp, self.dp_delta)

    def deletion_rate(self) -> tuple[float, float]:
        """Return the largest rate within the deletion budget, and an order that proves it.

        Raises:
            InvalidParameter: If the budget is in Gaussian DP.
        """
        return self._rate(self.deletion, self.deletion_delta)

    def _rate(self, amount: float, delta: float | None) -> tuple[float, float]:
        if self.measure is Measures.GDP:
            raise InvalidParameter(
                "a Gaussian-DP budget needs analysis 'tight': Theorem 5.1 bounds Rényi divergences, which do not give a μ"
            )
        if self.measure is Measures.RENYI:
            assert self.order is not None
            return amount / self.order, self.order
        assert delta is not None
        return renyi.rate_for(epsilon=amount, delta=delta)

    def affords(self, spent: Guarantee) -> bool:
        """Return whether any bound of a guarantee is within its part of the budget (relative tolerance 1e-12)."""
        present, room = spent.about == "dp", 1 + 1e-12
        amount = self.dp if present else self.deletion
        most = self.dp_gdp() if present else self.deletion_gdp()
        if spent.gdp is not None and spent.gdp**2 <= most**2 * room:
            return True
        if self.measure is Measures.GDP:
            return False  # a Rényi curve does not give a μ
        if self.measure is Measures.RENYI:
            assert self.order is not None
            return spent.renyi(self.order) <= amount * room
        delta = self.dp_delta if present else self.deletion_delta
        assert delta is not None
        return spent.implies(amount * room, delta)

    def describe(self) -> str:
        """Return both budgets, for present and for erased records, as one phrase."""
        text, numbers = format_numbers(self)
        return text.format(**{name: format_number(number) for name, number in numbers.items()})

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible fields, without those that are None."""
        stated = {**asdict(self), "measure": str(self.measure)}
        return {key: value for key, value in stated.items() if value is not None}


def format_numbers(budget: Budget) -> tuple[str, dict[str, float | None]]:
    """Return a budget's phrase with {names} for its numbers, and the numbers, so that a document can localize them."""
    if budget.measure is Measures.RENYI:
        text = "(q={n}, ε_dp={n2}) and (q={n}, ε_dd={n3}) Rényi"
        return text, {"n": budget.order, "n2": budget.dp, "n3": budget.deletion}
    if budget.measure is Measures.GDP:
        return "μ_dp={n} and μ_dd={n2} Gaussian DP", {"n": budget.dp, "n2": budget.deletion}
    text = "(ε={n}, δ={n2}) for present records and (ε={n3}, δ={n4}) for erased ones"
    return text, {"n": budget.dp, "n2": budget.dp_delta, "n3": budget.deletion, "n4": budget.deletion_delta}


# --- total ---
#
# The budget of all releases together.


@dataclass(frozen=True)
class Total:
    """The privacy budget (ε, δ) of a present record over all releases ever made, all of them observed.

    It is fixed before the first release. A release that would exceed it is refused; an erasure never is. The spent
    budget is summed in one measure, fixed together with it. So it is a privacy filter and holds even if plans, releases
    and their number depend on earlier models (μ²: Smith & Thakurta 2022; one Rényi order: Feldman & Zrnic 2021).
    Choosing the best of several sums afterwards would not be a filter.

    Attributes:
        epsilon: ε.
        delta: δ.
        gdp: Whether μ² is summed.
        order: Rényi order at which divergences are summed. If neither this nor `gdp` is set, the measure is not fixed
            yet, and each sum uses its best conversion.
        late: Whether it was set or changed after a release; it is then a filter only if that change did not depend on
            the released models.

    Raises:
        InvalidParameter: If ε is not positive and finite, δ is not valid (`check_delta`), the order is not above 1, or
            both `gdp` and `order` are set.
    """

    epsilon: float
    delta: float = 1e-6
    gdp: bool = False
    order: float | None = None
    late: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_positive("total epsilon", self.epsilon))
        object.__setattr__(self, "delta", check_delta("total delta", self.delta))
        if self.order is not None:
            object.__setattr__(self, "order", renyi_order("total order", self.order))
        if self.gdp and self.order is not None:
            raise InvalidParameter(
                f"total order={self.order:g} beside gdp=True: what is spent is summed in one measure"
            )

    @classmethod
    def of(cls, given: Total | tuple[float, float] | None) -> Total | None:
        """Return a total unchanged, or one made from a pair (ε, δ); None for None."""
        if given is None or isinstance(given, cls):
            return given
        if not isinstance(given, (tuple, list)) or len(given) != 2:
            raise InvalidParameter("must be (ε, δ) of all publications together, for example (8.0, 1e-6)", total=given)
        return cls(*given)

    @property
    def measure(self) -> str | None:
        """Measure in which the spent budget is summed, as text; None if it is not fixed."""
        if self.order is not None:
            return f"as Rényi divergence at order {format_number(self.order, 4)}"
        return "as μ² of Gaussian DP" if self.gdp else None

    @property
    def is_filter(self) -> bool:
        """Whether it holds for any dependence of plans and releases on earlier models."""
        return (self.gdp or self.order is not None) and not self.late

    def measured_for(self, spent: Guarantee) -> Total:
        """Return the same total with the measure in which `spent` costs least."""
        spent = spent.with_slack()

        def at(order: float) -> float:
            return renyi.renyi_epsilon_optimal(order=order, renyi=spent.renyi(order), delta=self.delta)

        if spent.points:
            order = min((listed for listed, _ in spent.points), key=at)
        else:
            order = best_order(at, low=1e-3, high=max(1e-9, min(1e9, spent.highest_order - 1) * (1 - 1e-9)))
        mu = spent.gdp
        if mu is not None and gaussian.gdp_epsilon(mu=mu, delta=self.delta) <= at(order):
            return replace(self, gdp=True, order=None)
        return replace(self, gdp=False, order=order)

    def affords(self, spent: Guarantee) -> bool:
        """Return whether the spent budget, rounding slack included, is within the total (relative tolerance 1e-12)."""
        return self.spent(spent) <= self.epsilon * (1 + 1e-12)

    def spent(self, guarantee: Guarantee) -> float:
        """Return ε of the spent budget in the total's measure, rounding slack included.

        It is infinite if the measure does not apply.
        """
        guarantee = guarantee.with_slack()
        if self.gdp:
            return math.inf if guarantee.gdp is None else gaussian.gdp_epsilon(mu=guarantee.gdp, delta=self.delta)
        if self.order is not None:
            cost = guarantee.renyi(self.order)
            return renyi.renyi_epsilon_optimal(order=self.order, renyi=cost, delta=self.delta)
        return guarantee.epsilon(self.delta)

    def stopping_epsilon(self, delta: float, *, candidates: int = 1) -> float | None:
        """Return the log of the odds that no observer ever exceeds about a record, except with probability δ.

        The bound covers all releases that the total allows, for any choice of release times, erasure times and record
        among the `candidates`. It depends on the cap, not on the sum spent so far.

        Args:
            delta: Probability for all candidates together.
            candidates: Number of records among which the observer may choose.

        Returns:
            ε, rounded up; None if the total is not a filter (`is_filter`).
        """
        if not self.is_filter:
            return None
        if self.gdp:
            return stopping.gdp_stopping_epsilon(mu=self._most_gdp(), delta=delta, candidates=candidates)
        assert self.order is not None
        most = self._most_renyi(self.order)
        return stopping.renyi_stopping_epsilon(order=self.order, renyi=most, delta=delta, candidates=candidates)

    def _most_gdp(self) -> float:
        """Return an upper bound on every μ that `affords` accepts."""
        return gaussian.gdp_for(epsilon=self.epsilon * (1 + 1e-9), delta=self.delta)

    def _most_renyi(self, order: float) -> float:
        """Return an upper bound on every Rényi divergence at this order that `affords` accepts."""

        def refused(cost: float) -> bool:
            spent = renyi.renyi_epsilon_optimal(order=order, renyi=cost, delta=self.delta)
            return spent > self.epsilon * (1 + 1e-9)

        return least_safe(refused, guess=self.epsilon, below=0.0)

    def describe(self) -> str:
        """Return the total as text."""
        return f"(ε={format_number(self.epsilon)}, δ={format_number(self.delta)})"

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible fields, without those at their defaults."""
        unsaid = {"gdp": False, "order": None, "late": False}
        return {name: value for name, value in asdict(self).items() if name not in unsaid or value != unsaid[name]}

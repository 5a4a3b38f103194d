"""What a release may cost, in the measure the caller thinks in."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

from ..bounds import gaussian, renyi, stopping
from ..bounds.arithmetic import best_order, least_safe
from ..errors import InvalidParameter, Word, check_positive, renyi_order
from .guarantee import Guarantee, check_delta
from .sentences import format_number


@lru_cache(maxsize=1024)
def _gdp_for(epsilon: float, delta: float) -> float:
    """A search that every plan of a budget asks for again."""
    return gaussian.gdp_for(epsilon=epsilon, delta=delta)


class Measures(Word):
    """In which a budget is stated: a Rényi divergence at one order, (ε, δ), or μ of Gaussian DP."""

    RENYI = "renyi"
    EPSILON_DELTA = "epsilon-delta"
    GDP = "gdp"


@dataclass(frozen=True)
class Budget:
    """ε_dp for present records and ε_dd for records that were erased, of one release.

    `Budget(order=10, dp=1.0, deletion=0.1)` is the paper's (q, ε_dp) and (q, ε_dd); `from_epsilon_delta` and `from_gdp`
    state the same two in (ε, δ) and in Gaussian DP.

    Raises:
        InvalidParameter: unless 0 < deletion ≤ dp (both finite) and order > 1.
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
        """Budgets as (ε, δ) pairs."""
        for name, pair in (("dp", dp), ("deletion", deletion)):
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise InvalidParameter("must be a pair (ε, δ), for example (1.0, 1e-6)", **{name: pair})
        return cls(
            dp=dp[0], deletion=deletion[0], measure=Measures.EPSILON_DELTA, dp_delta=dp[1], deletion_delta=deletion[1]
        )

    @classmethod
    def from_gdp(cls, *, dp: float, deletion: float) -> Budget:
        """Budgets as Gaussian-DP μ (sharp certificate only: one Rényi order does not give μ-GDP)."""
        return cls(dp=dp, deletion=deletion, measure=Measures.GDP)

    @property
    def shown_delta(self) -> float:
        """δ of the (ε, δ) figures shown to whoever asks for no other: the budget's own, or 1e-6."""
        return self.dp_delta or 1e-6

    def dp_gdp(self) -> float:
        """The largest μ whose every consequence lies within the dp budget."""
        return self._gdp(self.dp, self.dp_delta)

    def deletion_gdp(self) -> float:
        """The largest μ within the deletion budget."""
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
        """(rate, order): the largest rate (ε_q = q · rate) within the dp budget, and the order that shows it."""
        return self._rate(self.dp, self.dp_delta)

    def deletion_rate(self) -> tuple[float, float]:
        """(rate, order) within the deletion budget."""
        return self._rate(self.deletion, self.deletion_delta)

    def _rate(self, amount: float, delta: float | None) -> tuple[float, float]:
        if self.measure is Measures.GDP:
            raise InvalidParameter(
                "a Gaussian-DP budget needs method 'sharp': Theorem 5.1 bounds Rényi divergences, which do not give a μ"
            )
        if self.measure is Measures.RENYI:
            assert self.order is not None
            return amount / self.order, self.order
        assert delta is not None
        return renyi.rate_for(epsilon=amount, delta=delta)

    def affords(self, spent: Guarantee) -> bool:
        """Whether a guarantee lies within the part of the budget that it is about, by whichever of its statements shows it
        (relative 1e-12).
        """
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
        return spent.epsilon(delta) <= amount * room

    def describe(self) -> str:
        """The budget in one phrase."""
        text, numbers = format_numbers(self)
        return text.format(**{name: format_number(number) for name, number in numbers.items()})

    def to_dict(self) -> dict[str, Any]:
        stated = {**asdict(self), "measure": str(self.measure)}
        return {key: value for key, value in stated.items() if value is not None}


def format_numbers(budget: Budget) -> tuple[str, dict[str, float | None]]:
    """A budget's phrase with {names} in the place of its numbers, and these: what a paper says in its own language."""
    if budget.measure is Measures.RENYI:
        text = "(q={n}, ε_dp={n2}) and (q={n}, ε_dd={n3}) Rényi"
        return text, {"n": budget.order, "n2": budget.dp, "n3": budget.deletion}
    if budget.measure is Measures.GDP:
        return "μ_dp={n} and μ_dd={n2} Gaussian DP", {"n": budget.dp, "n2": budget.deletion}
    text = "(ε={n}, δ={n2}) for present records and (ε={n3}, δ={n4}) for erased ones"
    return text, {"n": budget.dp, "n2": budget.dp_delta, "n3": budget.deletion, "n4": budget.deletion_delta}


# --- total ---
#
# What all publications together may cost: the one figure of which "within" is said.


@dataclass(frozen=True)
class Total:
    """(ε, δ) of a record still there, over every publication that is ever made, all of them observed.

    It is fixed before the first publication. A publication that would exceed it is withheld; an erasure never is. What is spent is
    summed in one measure, fixed with it: so it is a privacy filter, and holds where plans, releases and their number depend on models
    seen before (μ²: Smith & Thakurta 2022; one Rényi order: Feldman & Zrnic 2021). The best of several sums afterwards would not.

    Args:
        gdp: what is summed is μ². order: the Rényi divergence at this order. Neither: not fixed yet; then
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
            return f"as Rényi divergence at order {format_number(self.order, 4)}"
        return "as μ² of Gaussian DP" if self.gdp else None

    @property
    def is_filter(self) -> bool:
        """Whether it holds whatever plans and releases depended on."""
        return (self.gdp or self.order is not None) and not self.late

    def measured_for(self, spent: Guarantee) -> Total:
        """The same, what is spent being summed in the measure in which this costs least."""
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
        """Whether what was spent, its rounding slack included, lies within it (relative 1e-12)."""
        return self.spent(spent) <= self.epsilon * (1 + 1e-12)

    def spent(self, guarantee: Guarantee) -> float:
        """ε of what was spent, its rounding slack included, by its one measure; infinite where that does not measure it."""
        guarantee = guarantee.with_slack()
        if self.gdp:
            return math.inf if guarantee.gdp is None else gaussian.gdp_epsilon(mu=guarantee.gdp, delta=self.delta)
        if self.order is not None:
            cost = guarantee.renyi(self.order)
            return renyi.renyi_epsilon_optimal(order=self.order, renyi=cost, delta=self.delta)
        return guarantee.epsilon(self.delta)

    def stopping_epsilon(self, delta: float, *, candidates: int = 1) -> float | None:
        """Return the log of the odds that no observer ever exceeds about a record, except with probability δ.

        Over all publications that the total allows, whatever decided when one was made, when a record was erased, or which of the
        `candidates` is in question. It does not depend on what was spent: the cap counts, not the sum so far.

        Args:
            delta: probability for all candidates together.
            candidates: records that could have been chosen.

        Returns:
            ε, rounded up; None if the total is no filter (`is_filter`).
        """
        if not self.is_filter:
            return None
        if self.gdp:
            return stopping.gdp_stopping_epsilon(mu=self._most_gdp(), delta=delta, candidates=candidates)
        assert self.order is not None
        most = self._most_renyi(self.order)
        return stopping.renyi_stopping_epsilon(order=self.order, renyi=most, delta=delta, candidates=candidates)

    def _most_gdp(self) -> float:
        """No μ that `affords` admits exceeds it."""
        return gaussian.gdp_for(epsilon=self.epsilon * (1 + 1e-9), delta=self.delta)

    def _most_renyi(self, order: float) -> float:
        """No Rényi divergence at this order that `affords` admits exceeds it."""

        def refused(cost: float) -> bool:
            spent = renyi.renyi_epsilon_optimal(order=order, renyi=cost, delta=self.delta)
            return spent > self.epsilon * (1 + 1e-9)

        return least_safe(refused, guess=self.epsilon, below=0.0)

    def describe(self) -> str:
        return f"(ε={format_number(self.epsilon)}, δ={format_number(self.delta)})"

    def to_dict(self) -> dict[str, Any]:
        """JSON-compatible fields; those at their defaults are left out."""
        unsaid = {"gdp": False, "order": None, "late": False}
        return {name: value for name, value in asdict(self).items() if name not in unsaid or value != unsaid[name]}

"""Privacy guarantees: bounds on what one release, or a sequence of them, reveals about one record.

A `Guarantee` is the composition of four kinds of parts, each in the form in which it was proven:

* Gaussian DP parts (tight GDP bounds), which add in squares;
* rates (Theorem 5.1, composition): ε_q = q · rate for every order q;
* a Rényi bound at listed orders only (Theorem 5.2, the accountant of a feature extractor);
* curves (objective perturbation): a formula of the order, finite below a public one, with a μ where one is known.

Conversion is possible in one direction only: every part has a Rényi curve, but only purely Gaussian parts have a μ.

Example:
    >>> from noisygd_delete.privacy import Guarantee, Worlds
    >>> guarantee = Guarantee("dp", Worlds.REPLACE, gdp_squared=0.25)
    >>> round(guarantee.epsilon(1e-6), 3), round(guarantee.advantage, 3)
    (2.254, 0.197)
    >>> round(guarantee.times(4).gdp, 3)
    1.0
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from ..bounds import adaptive, arithmetic, gaussian, renyi
from ..bounds.renyi import curve_epsilon, curve_least, curve_log_delta
from ..errors import (
    InvalidParameter,
    check_bound,
    check_choice,
    check_count,
    check_probability,
    non_negative,
    renyi_order,
)
from .curves import Curve, merge_curves
from .sentences import format_bound
from .worlds import (
    ADJACENCIES,
    DELETION_NOTIONS,
    FIXED_RECORD,
    FIXED_SCHEDULE,
    FIXED_TARGET,
    LEAST_DELTA,
    NON_ADAPTIVE,
    Worlds,
)


def format_conditions(guarantee: Guarantee | WorstCase, *, several: bool) -> str:
    """Return ", if …", the conditions of a figure for a line of text.

    Args:
        guarantee: The guarantee.
        several: Whether the figure covers more than one model.
    """
    return f", if {' and '.join(_conditions(guarantee, several=several))}"


_SHORT = {
    NON_ADAPTIVE: "requests not adaptive",
    FIXED_TARGET: "target fixed beforehand",
    FIXED_RECORD: "target fixed beforehand",
    FIXED_SCHEDULE: "schedule fixed beforehand",
}


def _conditions(guarantee: Guarantee | WorstCase, *, several: bool) -> list[str]:
    target = FIXED_TARGET if guarantee.about == "deletion" else FIXED_RECORD
    return [NON_ADAPTIVE] * guarantee.non_adaptive + [target] + [FIXED_SCHEDULE] * several


def summarize_guarantee(guarantee: Guarantee, *, several: bool) -> str:
    """Return a figure, what it compares, and its conditions in short, for a `repr`.

    Args:
        guarantee: The guarantee.
        several: Whether the figure covers more than one model.
    """
    conditions = ", ".join(_SHORT[one] for one in _conditions(guarantee, several=several))
    return f"advantage at most {guarantee.at_most} ({guarantee.adjacency}, {guarantee.unit}; {conditions})"


def describe_guarantee(guarantee: Guarantee | WorstCase, *, several: bool, delta: float | None = None) -> str:
    """Return a figure with its conditions, for a line of text.

    Args:
        guarantee: The guarantee.
        several: Whether the figure covers more than one model.
        delta: If given, (ε, δ) at this δ is included.
    """
    pair = (
        "" if delta is None else f", (ε={format_bound(guarantee.with_slack().epsilon(delta))}, δ={format_bound(delta)})"
    )
    return f"advantage at most {guarantee.at_most}{pair}{format_conditions(guarantee, several=several)}"


@dataclass(frozen=True)
class Guarantee:
    """An upper bound on what an observer learns about one record (or one data subject with `rows` rows).

    Attributes:
        about: "dp" (a record that is present) or "deletion" (a record that was erased).
        adjacency: The neighbouring datasets: "replace" (x or x′) and "zero-out" (x or the null record) for dp;
            "erased-vs-never" (x or never present), "pairwise" (x or x′) and "ideal-law" (x or an ideal law that never
            saw it) for deletion.
        gdp_squared: Σ μ² of the Gaussian parts.
        rate: Σ of the rates.
        points: ((order, ε), …), further Rényi cost, finite only at these orders and at smaller ones.
        curves: ((curve, multiplicity), …), further Rényi cost as formulas of the order.
        rows: Rows per data subject that the bound covers.
        source: Origin of the bound; sources of a composition are joined by " + ".
        assumptions: Conditions under which the bound holds.
        proven: Whether the bound is proven.
        slack: Relative rounding slack of the sensitivity in finite precision. The bounds assume real arithmetic;
            `with_slack` includes the slack.
    """

    about: str
    adjacency: Worlds
    gdp_squared: float = 0.0
    rate: float = 0.0
    points: tuple[tuple[float, float], ...] = ()
    curves: tuple[tuple[Curve, float], ...] = ()
    rows: int = 1
    source: str = ""
    assumptions: tuple[str, ...] = ()
    proven: bool = True
    slack: float = 0.0

    def __post_init__(self) -> None:
        check_choice("about", self.about, ("dp", "deletion"))
        known = ADJACENCIES if self.about == "dp" else (*DELETION_NOTIONS, Worlds.IDEAL_LAW)
        worlds = Worlds(check_choice("adjacency", self.adjacency, known))
        object.__setattr__(self, "adjacency", worlds)
        check_bound("gdp_squared", self.gdp_squared)
        check_bound("rate", self.rate)
        check_count("rows", self.rows)
        non_negative("slack", self.slack)
        for order, cost in self.points:
            renyi_order("points order", order)
            check_bound(f"points ε at order {order}", cost)
        for _, times in self.curves:
            check_bound("times", times)

    def __repr__(self) -> str:
        proven = "proven" if self.proven else "declared"
        return f"Guarantee({self.about}, {proven}: {summarize_guarantee(self, several=True)})"

    def renyi(self, order: float) -> float:
        """Return ε_q at Rényi order q > 1."""
        q = renyi_order("order", order)
        curved = math.fsum(times * curve.renyi(q) for curve, times in self.curves)
        return check_bound("renyi", q * self.gdp_squared / 2 + q * self.rate + self.listed(q) + curved)

    @property
    def highest_order(self) -> float:
        """The order from which on the curves give no bound; infinite if there is none such."""
        open_ended = (curve.highest_order for curve, _ in self.curves if curve.gdp_squared is None)
        return min(open_ended, default=math.inf)

    def listed(self, order: float) -> float:
        """Return the cost of the listed points at this order; infinite above all of them, 0 if there are none."""
        if not self.points:
            return 0.0
        # Rényi divergence increases with the order, so a listed order covers every smaller one
        return min((cost for listed, cost in self.points if listed >= order), default=math.inf)

    @property
    def gdp(self) -> float | None:
        """μ if the guarantee is Gaussian, else None (a Rényi bound does not imply a μ)."""
        if self.rate or self.points or any(curve.gdp_squared is None for curve, _ in self.curves):
            return None
        if not self.curves:
            return math.sqrt(self.gdp_squared)
        return math.sqrt(
            math.fsum([self.gdp_squared, *(times * (curve.gdp_squared or 0) for curve, times in self.curves)])
        )

    def epsilon(self, delta: float) -> float:
        """Return the smallest ε with (ε, δ)-indistinguishability, rounded up.

        It is exact for Gaussian guarantees; otherwise the best conversion is used.
        """
        delta = check_probability("delta", delta)
        exact = math.inf if self.gdp is None else gaussian.gdp_epsilon(mu=self.gdp, delta=delta)
        if self.points:
            return min(renyi.renyi_epsilon_optimal(order=q, renyi=self.renyi(q), delta=delta) for q in self._orders())
        if self.curves:
            return min(exact, curve_epsilon(renyi=self.renyi, highest_order=self.highest_order, delta=delta))
        return exact if self.gdp is not None else renyi.rate_epsilon(rate=self.total_rate, delta=delta)

    def implies(self, epsilon: float, delta: float) -> bool:
        """Return whether (ε, δ)-indistinguishability follows; of a Gaussian guarantee from one value of δ, not a search."""
        if self.gdp is not None and gaussian.gdp_delta(mu=self.gdp, epsilon=epsilon) <= delta:
            return True
        return bool(self.points or self.curves or self.gdp is None) and self.epsilon(delta) <= epsilon

    def conversions(self, delta: float) -> dict[str, float]:
        """Return ε at this δ by every conversion that applies; `epsilon` uses the smallest.

        Each Rényi conversion uses its own best order. For a Gaussian guarantee they show the result from its Rényi
        curve alone.
        """
        delta = check_probability("delta", delta)
        ways = {
            "mironov": renyi.renyi_epsilon_mironov,
            "canonne-kamath-steinke": renyi.renyi_epsilon,
            "one-order-optimal": renyi.renyi_epsilon_optimal,
        }
        answers = {} if self.gdp is None else {"gaussian-exact": gaussian.gdp_epsilon(mu=self.gdp, delta=delta)}
        for name, way in ways.items():
            if self.points or self.curves:
                answers[name] = self._least(lambda q, way=way: way(order=q, renyi=self.renyi(q), delta=delta))  # type: ignore[misc]
            else:
                answers[name] = renyi.rate_epsilon(rate=self.total_rate, delta=delta, way=way)
        return answers

    def delta(self, epsilon: float) -> float:
        """Return the smallest δ with (ε, δ)-indistinguishability, rounded up."""
        return arithmetic.probability_from_log(self.log_delta(epsilon))

    def log_delta(self, epsilon: float) -> float:
        """Return log δ(ε), which is usable even if δ underflows."""
        epsilon = non_negative("epsilon", epsilon)
        exact = 0.0 if self.gdp is None else gaussian.gdp_log_delta(mu=self.gdp, epsilon=epsilon)
        if self.points:
            return min(
                renyi.renyi_log_delta_optimal(order=q, renyi=self.renyi(q), epsilon=epsilon) for q in self._orders()
            )
        if self.curves:
            return min(exact, curve_log_delta(renyi=self.renyi, highest_order=self.highest_order, epsilon=epsilon))
        return exact if self.gdp is not None else renyi.rate_log_delta(rate=self.total_rate, epsilon=epsilon)

    @property
    def least_delta(self) -> float:
        """The smallest δ at which the guarantee holds in finite precision; ideal Gaussian noise would allow any.

        Draws come from a 256-bit key and reach `LARGEST_DRAW` standard deviations. Two runs at distance μ differ by
        outcomes that are possible for only one of them, of probability Φ(μ − 36.3) for each of at most 10¹⁸ draws. It
        is 0 if nothing is revealed.
        """
        if self.total_rate == 0 and not self.points:
            return 0.0
        return max(LEAST_DELTA, gaussian.support_delta(mu=math.sqrt(2 * self.total_rate)))

    @property
    def total_rate(self) -> float:
        """ε_q/q without the listed points and the curves' Hessian costs; a Gaussian part has rate μ²/2."""
        return self.gdp_squared / 2 + self.rate + math.fsum(times * curve.rate for curve, times in self.curves)

    def _orders(self) -> list[float]:
        return [order for order, _ in self.points]

    def _least(self, objective: Callable[[float], float]) -> float:
        """Return the smallest value over the orders at which this guarantee gives a bound."""
        if self.points:
            return min(map(objective, self._orders()))
        if self.curves:
            return curve_least(objective, highest_order=self.highest_order)
        return objective(arithmetic.best_order(objective))

    def tradeoff(self, false_positive: float) -> float:
        """Return the smallest false negative rate of any test with this false positive rate, rounded down.

        Raises:
            InvalidParameter: If `false_positive` is not between 0 and 1.
        """
        rate = non_negative("false_positive", false_positive)
        if rate > 1:
            raise InvalidParameter("must be at most 1: it is the rate of false alarms", false_positive=rate)
        if self.gdp is not None:
            return gaussian.gdp_tradeoff(mu=self.gdp, false_positive=rate)
        if not (self.points or self.curves):
            return gaussian.rate_tradeoff(rate=self.total_rate, false_positive=rate)
        return -self._least(lambda q: -gaussian.renyi_tradeoff(order=q, renyi=self.renyi(q), false_positive=rate))

    @property
    def advantage(self) -> float:
        """Upper bound on the true minus false positive rate of any membership test between two runs.

        The guarantee already includes the sensitivity Δ of its neighbouring relation, so the bound is not scaled here.
        For "erased-vs-never" and "zero-out" the test asks "was it ever present?" (Δ = L), for "pairwise" and "replace"
        "was it x or x′?" (Δ = 2L). For "ideal-law" it asks "was it ever present?", with both runs within the guarantee
        of that law.
        """
        if self.adjacency is Worlds.IDEAL_LAW:
            return self._advantage_across(self.delta(0.0))
        if self.gdp is not None:
            return gaussian.gdp_advantage(mu=self.gdp)
        if not (self.points or self.curves):
            return gaussian.rate_advantage(rate=self.total_rate)
        return self.delta(0.0)

    @property
    def at_most(self) -> str:
        """The advantage with the slack included, as a percentage rounded up, for display."""
        return format_bound(self.with_slack().advantage, percent=True)

    @property
    def advantage_between_records(self) -> float:
        """Upper bound on the advantage of any test "was it x or x′?", even if the guarantee is against the null record.

        Both records are then within the guarantee of a common third law, and the bound goes through it: 2μ in GDP (the
            triangle
        inequality of trade-off functions), Theorem 4.1 in its sharp form otherwise.
        """
        if self.adjacency.between_records or self.adjacency is Worlds.IDEAL_LAW:
            return self.advantage
        if self.gdp is not None:
            return gaussian.gdp_advantage(mu=2 * self.gdp)
        return self._advantage_across(self.advantage)

    def _advantage_across(self, one_side: float) -> float:
        """Return the advantage of a test between two laws that are both within this guarantee of a third one.

        `one_side` is the advantage against the third law.
        """

        def at(order: float) -> float:
            return adaptive.membership_advantage(order=order, renyi=self.renyi(order))

        return min(1.0, self._least(at), 2 * one_side)

    @property
    def by_gdp(self) -> Guarantee | None:
        """The guarantee of its μ alone, which is weaker or equal but quick to convert; None if there is no μ."""
        if self.gdp is None:
            return None
        return replace(self, gdp_squared=self.gdp**2 * (1 + 1e-15), rate=0.0, points=(), curves=())

    @property
    def unit(self) -> str:
        """The unit of privacy as text."""
        return "one row" if self.rows == 1 else f"one data subject with at most {self.rows} rows"

    def covers(self, other: Guarantee) -> bool:
        """Return whether `other` is at least as strong, for the same adjacency and unit (relative tolerance 1e-12).

        A cap of listed orders is compared at those orders. A Gaussian cap covers only Gaussian guarantees. A cap with
        curves covers guarantees that exceed it in none of its parts.
        """
        if (self.about, self.adjacency) != (other.about, other.adjacency) or other.rows < self.rows:
            return False
        room = 1 + 1e-12
        if self.gdp is not None:
            return other.gdp is not None and other.gdp**2 <= self.gdp**2 * room
        if not self.points:
            own = dict(self.curves)
            fewer = all(times <= own.get(curve, 0.0) * room for curve, times in other.curves)
            rest = other.gdp_squared / 2 + other.rate <= (self.gdp_squared / 2 + self.rate) * room
            return not other.points and fewer and rest
        return all(other.renyi(order) <= self.renyi(order) * room for order in self._orders())

    def _bounds_parts(self, other: Guarantee) -> bool:
        """Return whether no part of `other` costs more than the same part of this one, rounding included.

        Then no figure of `other` is larger either.
        """
        if self.slack < other.slack or self.rows > other.rows or self.adjacency is not other.adjacency:
            return False
        own, orders = dict(self.curves), {order for one in (self, other) for order, _ in one.points}
        return (
            other.gdp_squared <= self.gdp_squared
            and other.rate <= self.rate
            and all(times <= own.get(curve, 0.0) for curve, times in other.curves)
            and bool(self.points) >= bool(other.points)
            and all(other.listed(order) <= self.listed(order) for order in orders)
            and self.non_adaptive >= other.non_adaptive
        )

    @staticmethod
    def composed(parts: Iterable[tuple[Guarantee, int]]) -> Guarantee:
        """Return the cost of observing every part the given number of times.

        Args:
            parts: Pairs (guarantee, times), all with the same `about` and `adjacency`.

        Raises:
            InvalidParameter: If there are no parts, or they differ in `about` or `adjacency`.
        """
        listed = [(part, check_count("times", times)) for part, times in parts]
        if not listed:
            raise InvalidParameter("nothing to compose; give at least one guarantee")
        first = listed[0][0]
        for part, _ in listed:
            if (part.about, part.adjacency) != (first.about, first.adjacency):
                raise InvalidParameter(
                    f"cannot compose a guarantee about {first.about}/{first.adjacency} with one about "
                    f"{part.about}/{part.adjacency}"
                )
        orders = sorted({order for part, _ in listed for order, _ in part.points})
        guarantees = [part for part, _ in listed]
        curves: dict[Curve, float] = {}
        for part, times in listed:
            for curve, number in part.curves:
                curves[curve] = curves.get(curve, 0.0) + number * times
        return replace(
            first,
            gdp_squared=math.fsum(part.gdp_squared * times for part, times in listed),
            rate=math.fsum(part.rate * times for part, times in listed),
            points=tuple((q, math.fsum(part.listed(q) * times for part, times in listed)) for q in orders),
            curves=tuple(merge_curves(curves).items()),
            rows=min(part.rows for part in guarantees),  # a sum covers no more rows than its weakest part
            source=" + ".join(
                dict.fromkeys(source for part in guarantees for source in part.source.split(" + ") if source)
            ),
            assumptions=tuple(dict.fromkeys(text for part in guarantees for text in part.assumptions)),
            proven=all(part.proven for part in guarantees),
            slack=max(part.slack for part in guarantees),
        )

    @property
    def non_adaptive(self) -> bool:
        """Whether it holds only if requests did not depend on earlier models."""
        return any(NON_ADAPTIVE in text for text in self.assumptions)

    def assuming(self, condition: str) -> Guarantee:
        """Return the same bound with one more condition, listed first."""
        others = (text for text in self.assumptions if text != condition)
        return replace(self, assumptions=(condition, *others))

    def __add__(self, other: Guarantee) -> Guarantee:
        """Return the composition, the cost of observing both."""
        return Guarantee.composed([(self, 1), (other, 1)])

    def times(self, number: int) -> Guarantee:
        """Return the cost of `number` observations of the same kind."""
        return Guarantee.composed([(self, number)])

    def with_slack(self) -> Guarantee:
        """Return the same bound with the rounding slack of the sensitivity included.

        Every part grows by (1 + slack)².
        """
        growth = (1 + self.slack) ** 2
        return replace(
            self,
            gdp_squared=self.gdp_squared * growth,
            rate=self.rate * growth,
            points=tuple((order, cost * growth) for order, cost in self.points),
            curves=tuple((curve, times * growth) for curve, times in self.curves),
            slack=0.0,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible fields, which `from_dict` reads."""
        return {**asdict(self), "adjacency": str(self.adjacency)}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Guarantee:
        """Return the guarantee that `to_dict` described.

        Raises:
            InvalidParameter: If the fields are not those of a guarantee.
        """
        try:
            return cls(
                **{
                    **fields,
                    "points": tuple((float(order), float(cost)) for order, cost in fields.get("points", ())),
                    "curves": tuple((Curve(**curve), float(times)) for curve, times in fields.get("curves", ())),
                    "assumptions": tuple(fields.get("assumptions", ())),
                }
            )
        except TypeError as error:
            raise InvalidParameter(f"not a guarantee: {error}") from error


@dataclass(frozen=True)
class WorstCase:
    """The maximum of several guarantees about the same worlds, figure by figure.

    `Guarantee`s need not be ordered: of two Gaussian and Rényi bounds one may have the larger advantage and the other
    the larger ε at some δ. Every figure here is the largest of any of the `cases`.

    Attributes:
        cases: Guarantees about one pair of worlds; at least one.
    """

    cases: tuple[Guarantee, ...]

    @classmethod
    def of(cls, guarantees: Iterable[Guarantee]) -> WorstCase:
        """Return the worst case of `guarantees`, without those that another one bounds part by part.

        Raises:
            InvalidParameter: If there is none, or they are about different worlds.
        """
        found = list(guarantees)
        if not found:
            raise InvalidParameter("has no guarantee to take the maximum of; give at least one", guarantees=found)
        if len({(one.about, one.adjacency.between_records) for one in found}) > 1:
            raise InvalidParameter("are about different worlds; take the maximum for each pair", guarantees=found)
        kept: list[Guarantee] = []
        for one in found:
            if not any(other._bounds_parts(one) for other in kept):
                kept = [other for other in kept if not one._bounds_parts(other)] + [one]
        return cls(tuple(kept))

    @property
    def about(self) -> str:
        """Subject of the comparison, the same for every case: "dp" or "deletion"."""
        return self.cases[0].about

    @property
    def adjacency(self) -> Worlds:
        """The worlds of all cases.

        It is "ideal-law" if any case has it, since a run without the record is also a law that never saw it.
        """
        return next(
            (case.adjacency for case in self.cases if case.adjacency is Worlds.IDEAL_LAW), self.cases[0].adjacency
        )

    @property
    def rows(self) -> int:
        """Rows per data subject that every case covers."""
        return min(case.rows for case in self.cases)

    @property
    def non_adaptive(self) -> bool:
        """Whether any case holds only if requests did not depend on earlier models."""
        return any(case.non_adaptive for case in self.cases)

    @property
    def gdp(self) -> float | None:
        """μ; None if any case has none."""
        found = [case.gdp for case in self.cases]
        return None if None in found else max(mu for mu in found if mu is not None)

    @property
    def advantage(self) -> float:
        """The largest advantage of any case."""
        return max(case.advantage for case in self.cases)

    @property
    def at_most(self) -> str:
        """The largest advantage with the slack included, as a percentage rounded up, for display."""
        return format_bound(self.with_slack().advantage, percent=True)

    @property
    def total_rate(self) -> float:
        """The largest `Guarantee.total_rate` of any case."""
        return max(case.total_rate for case in self.cases)

    def renyi(self, order: float) -> float:
        """Return the largest ε_q of any case."""
        return max(case.renyi(order) for case in self.cases)

    def epsilon(self, delta: float) -> float:
        """Return the largest ε at this δ of any case."""
        return max(case.epsilon(delta) for case in self.cases)

    def delta(self, epsilon: float) -> float:
        """Return the largest δ at this ε of any case."""
        return max(case.delta(epsilon) for case in self.cases)

    def with_slack(self) -> WorstCase:
        """Return the worst case with the rounding slack of every case included."""
        return WorstCase(tuple(case.with_slack() for case in self.cases))

    def assuming(self, condition: str) -> WorstCase:
        """Return the worst case with one more condition on every case."""
        return WorstCase(tuple(case.assuming(condition) for case in self.cases))

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible fields."""
        return {"cases": [case.to_dict() for case in self.cases]}

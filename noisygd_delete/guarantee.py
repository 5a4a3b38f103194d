"""One type for every answer: what a publication, or a history of them, reveals about one record.

A `Guarantee` is the composition of three kinds of parts, each kept in the form in which it was proven:

* Gaussian DP parts (sharp certificates), which add in squares;
* rates (Theorem 5.1, composition): ε_q = q · rate for every order q;
* a Rényi bound at listed orders only (Theorem 5.2, an extractor's accountant).

Conversions go one way: everything has a Rényi curve, only a purely Gaussian part has a μ.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from .errors import InvalidParameter, bound, choice, non_negative, probability, renyi_order
from .guarantees import adaptive, conversion

ADJACENCIES = ("replace", "zero-out")
DELETION_NOTIONS = ("definition-4.1", "pairwise")


@dataclass(frozen=True)
class Guarantee:
    """An upper bound on what an observer learns about one record (or one data subject with `rows` rows).

    about        "dp" (a record that is still there) or "deletion" (a record that was erased)
    adjacency    the two worlds: "replace" (x or x′) and "zero-out" (x or the null record) for dp;
                 "definition-4.1" (x or never there) and "pairwise" (x or x′) for deletion
    gdp_squared  Σ μ² of the Gaussian parts
    rate         Σ of the rates
    points       ((order, ε), …): further Rényi cost, finite at these orders (and at smaller ones) only
    rows         rows per data subject that the bound covers
    slack        relative rounding slack of the sensitivity on this machine; the bounds are over the reals, and
                 `with_slack` gives them with the slack included
    """

    about: str
    adjacency: str
    gdp_squared: float = 0.0
    rate: float = 0.0
    points: tuple[tuple[float, float], ...] = ()
    rows: int = 1
    source: str = ""
    assumptions: tuple[str, ...] = ()
    proven: bool = True
    slack: float = 0.0

    def __post_init__(self) -> None:
        choice("about", self.about, ("dp", "deletion"))
        choice("adjacency", self.adjacency, ADJACENCIES if self.about == "dp" else DELETION_NOTIONS)
        bound("gdp_squared", self.gdp_squared)
        bound("rate", self.rate)
        for order, cost in self.points:
            renyi_order("points order", order)
            bound(f"points ε at order {order}", cost)

    def renyi(self, order: float) -> float:
        """ε_q at Rényi order q > 1."""
        q = renyi_order("order", order)
        return bound("renyi", q * self.gdp_squared / 2 + q * self.rate + self._listed(q))

    def _listed(self, order: float) -> float:
        if not self.points:
            return 0.0
        # Rényi divergence increases with the order, so a listed order covers every smaller one
        return min((cost for listed, cost in self.points if listed >= order), default=math.inf)

    @property
    def gdp(self) -> float | None:
        """μ, where the guarantee is Gaussian; None where it is not (a Rényi bound does not give a μ)."""
        if self.rate == 0 and not self.points:
            return math.sqrt(self.gdp_squared)
        return None

    def epsilon(self, delta: float) -> float:
        """Least ε, rounded up, with (ε, δ)-indistinguishability. Exact for Gaussian guarantees; best order otherwise."""
        delta = probability("delta", delta)
        if self.gdp is not None:
            return conversion.gdp_epsilon(mu=self.gdp, delta=delta)
        if not self.points:
            return conversion.rate_epsilon(rate=self.gdp_squared / 2 + self.rate, delta=delta)
        return min(conversion.renyi_epsilon(order=q, renyi=self.renyi(q), delta=delta) for q in self._orders())

    def delta(self, epsilon: float) -> float:
        """Least δ, rounded up, with (ε, δ)-indistinguishability."""
        return math.exp(self.log_delta(epsilon))

    def log_delta(self, epsilon: float) -> float:
        """log δ(ε): usable where δ itself underflows."""
        epsilon = non_negative("epsilon", epsilon)
        if self.gdp is not None:
            return conversion.gdp_log_delta(mu=self.gdp, epsilon=epsilon)

        def at(order: float) -> float:
            return conversion.renyi_log_delta(order=order, renyi=self.renyi(order), epsilon=epsilon)

        return min(map(at, self._orders())) if self.points else at(conversion.best_order(at))

    def _orders(self) -> list[float]:
        return [order for order, _ in self.points]

    @property
    def advantage(self) -> float:
        """Upper bound on true minus false positive rate of any membership test between the two worlds."""
        if self.gdp is not None:
            return conversion.gdp_advantage(mu=self.gdp)

        def at(order: float) -> float:
            return adaptive.membership_advantage(order=order, renyi=self.renyi(order))

        best = min(map(at, self._orders())) if self.points else at(conversion.best_order(at))
        return min(1.0, best, self.delta(0.0))

    def __add__(self, other: Guarantee) -> Guarantee:
        """Composition: the cost of observing both. Only guarantees about the same pair of worlds compose."""
        if (self.about, self.adjacency) != (other.about, other.adjacency):
            raise InvalidParameter(
                f"cannot compose a guarantee about {self.about}/{self.adjacency} with one about {other.about}/{other.adjacency}"
            )
        listed = sorted({order for order, _ in self.points + other.points})
        return replace(
            self,
            gdp_squared=self.gdp_squared + other.gdp_squared,
            rate=self.rate + other.rate,
            points=tuple((order, self._listed(order) + other._listed(order)) for order in listed),
            rows=max(self.rows, other.rows),
            source=" + ".join(dict.fromkeys(filter(None, (self.source, other.source)))),
            assumptions=tuple(dict.fromkeys(self.assumptions + other.assumptions)),
            proven=self.proven and other.proven,
            slack=max(self.slack, other.slack),
        )

    def with_slack(self) -> Guarantee:
        """The same bound with the rounding slack of the sensitivity included: every part grows by (1 + slack)²."""
        growth = (1 + self.slack) ** 2
        return replace(
            self,
            gdp_squared=self.gdp_squared * growth,
            rate=self.rate * growth,
            points=tuple((order, cost * growth) for order, cost in self.points),
            slack=0.0,
        )

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Guarantee:
        """Read back `to_dict`; unknown fields are refused."""
        try:
            return cls(
                **{
                    **fields,
                    "points": tuple((float(order), float(cost)) for order, cost in fields.get("points", ())),
                    "assumptions": tuple(fields.get("assumptions", ())),
                }
            )
        except TypeError as error:
            raise InvalidParameter(f"not a guarantee: {error}") from error

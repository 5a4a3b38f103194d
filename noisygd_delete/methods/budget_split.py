"""The budget of several runs together: squares of μ, or a Rényi divergence at one order if a run has only a curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..bounds.renyi import renyi_epsilon
from ..errors import InvalidParameter
from ..privacy.budget import Measures
from ..privacy.worlds import Worlds
from .base import Mechanism
from .problem import Problem
from .sampled_steps import ORDERS, least_multiplier


@dataclass(frozen=True)
class Amounts:
    """Amounts about a record still present and about an erased one, over the reals: μ², or 2ε_q/q at the order q.

    Attributes:
        dp: Amount about a record still present.
        deletion: Amount about an erased record.
        dp_order: q; None: the amount is μ².
        deletion_order: q; None: the amount is μ².
    """

    dp: float
    deletion: float
    dp_order: float | None = None
    deletion_order: float | None = None

    @classmethod
    def at_orders(cls, problem: Problem, sampling_rate: float, draws: int) -> Amounts:
        """Return the amounts 2ε_q/q of both budget parts for steps on samples, with the rounding slack deducted.

        A budget (q, ε) has one order for both. Each part of a budget (ε, δ) takes the order of `ORDERS` at which
        `draws` samples need the least noise multiplier.

        Args:
            problem: The planning problem.
            sampling_rate: p.
            draws: Number of samples.

        Raises:
            InvalidParameter: If the budget is a μ, which no curve gives, or within reach of no listed order.
        """
        budget = problem.budget
        if budget.measure is Measures.GDP:
            raise InvalidParameter(
                "steps on samples have a Rényi curve, which gives no μ; give the budget as (q, ε) or (ε, δ)"
            )
        sides = {
            problem.adjacency: (budget.dp, budget.dp_delta),
            problem.deletion_notion: (budget.deletion, budget.deletion_delta),
        }
        found = []
        for worlds, (amount, delta) in sides.items():
            if delta is None:
                assert budget.order is not None
                found.append((budget.order, amount / problem.growth**2))
                continue
            offers = [
                (order, _allowed_divergence(amount, delta, order) / problem.growth**2) for order in map(float, ORDERS)
            ]
            worth = [offer for offer in offers if offer[1] > 0]
            if not worth:
                raise InvalidParameter(
                    f"(ε={amount:g}, δ={delta:g}) is within reach of no listed Rényi order; raise ε or δ, or take steps on all rows"
                )
            found.append(
                min(
                    worth,
                    key=lambda offer, worlds=worlds: least_multiplier(  # type: ignore[misc]
                        order=offer[0],
                        allowed=offer[1],
                        sampling_rate=sampling_rate,
                        draws=draws,
                        worlds=worlds,
                        digits=1e-3,
                    ),
                )
            )
        (dp_order, dp), (deletion_order, deletion) = found
        return cls(2 * dp / dp_order, 2 * deletion / deletion_order, dp_order, deletion_order)

    def spent(self, runs: Sequence[Mechanism], steps: Sequence[int], worlds: Worlds) -> float:
        """Return what these runs together cost a record still present, in the unit of `dp`.

        It is the sum of μ² if `dp_order` is None, else of 2ε_q/q at q = `dp_order`.

        Args:
            runs: Mechanisms of the runs.
            steps: Noisy steps of each run.
            worlds: The neighbouring relation.
        """
        total = 0.0
        for run, number in zip(runs, steps, strict=True):
            cost = run.interval("dp", worlds, steps_with=run.exposure(number))
            total += cost.gdp_squared if self.dp_order is None else 2 * cost.renyi(self.dp_order) / self.dp_order
        return total


def _allowed_divergence(amount: float, delta: float, order: float) -> float:
    """Return the Rényi divergence at this order equivalent to (amount, δ); not positive if there is none."""
    return amount - (renyi_epsilon(order=order, renyi=1.0, delta=delta) - 1.0)

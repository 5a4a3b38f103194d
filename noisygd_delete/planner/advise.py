"""Where to begin: method, λ, publications and batch from public facts alone, and an honest word where nothing good can be had."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from .. import methods
from ..bounds.search import first_whole
from ..errors import InvalidParameter, NoisyGDDeleteError
from ..losses.base import Loss
from ..methods.plan import Plan
from ..privacy.budget import Budget
from .comparison import Candidate, Comparison, compare_plans
from .make import make_plan

_GOOD = 1 / 20  # of what guessing loses: the forecast that a way should reach
_HOPELESS = 1 / 4  # from here on the advice is not to expect a useful model
_STEPS = 4  # records and budgets are tried at powers of 10^(1/4)
_DECADES = 4


@dataclass(frozen=True)
class Advice:
    """What to take, what else there was, and what would have to change where nothing is good enough.

    guessing    loss of the model that says nothing, nats per record: what forecasts are to be measured by
    remedies    where `worth_having` is False, the changes of n or budget, one at a time, at which it would be True
    """

    comparison: Comparison
    guessing: float
    remedies: tuple[str, ...]

    @property
    def chosen(self) -> Candidate:
        return self.comparison.chosen

    @property
    def plan(self) -> Plan:
        assert self.chosen.plan is not None
        return self.chosen.plan

    @property
    def share(self) -> float:
        """Forecast loss by noise and regulariser, as a share of what guessing loses."""
        return self.chosen.excess_risk / self.guessing

    @property
    def worth_having(self) -> bool:
        return self.share < _HOPELESS

    def table(self) -> str:
        """The ways side by side, the choice in words."""
        plan, chosen = self.plan, self.chosen
        verdict = (
            f"Take '{chosen.method}' with λ={plan.regularization:g}: by forecast its noise and its regulariser cost {chosen.excess_risk:.3g} of the "
            f"loss, {100 * self.share:.2g} % of the {self.guessing:.3g} that guessing loses; {chosen.learn_passes} passes over the table to "
            f"learn, {chosen.delete_passes} for a publication that deletes. The forecast rests on sizes, loss and budget alone; what "
            "the model will score is for `evaluate` to say."
        )
        if not self.worth_having:
            verdict = "\n".join(
                [
                    f"Nothing here is likely to be worth having: the best way, '{chosen.method}' with λ={plan.regularization:g}, is forecast to lose "
                    f"{100 * self.share:.2g} % of what guessing loses to noise and regulariser. What would do, one at a time:",
                    *(f"  - {remedy}" for remedy in self.remedies or ("nothing within a factor of 10,000 does",)),
                    "  - fewer columns, or public bounds that are tighter: both lower the noise's share",
                ]
            )
        return f"{self.comparison.table()}\n\n{verdict}"

    def to_dict(self) -> dict[str, Any]:
        return {
            **self.comparison.to_dict(),
            "guessing": self.guessing,
            "share_of_guessing": self.share,
            "worth_having": self.worth_having,
            "remedies": list(self.remedies),
            "options": self.options(),
        }

    def options(self) -> dict[str, Any]:
        """What `make_plan` and `init` need to be told for the chosen plan; the rest are their defaults."""
        problem, method = self.plan.problem, self.plan.method
        own = {option.name: getattr(method, option.name) for option in fields(method)}
        usual = vars(methods.of(method.name))
        return {
            "method": self.chosen.method,
            "regularization": problem.regularization,
            "releases": problem.releases,
            "batch": problem.batch,
            **{name: value for name, value in own.items() if value != usual[name]},
        }


def advise(
    loss: Loss, *, records: int, features: int, budget: Budget, requests: int | None = None, **arguments: Any
) -> Advice:
    """The method, λ, number of publications and batch to begin with.

    λ begins at β/n, the curvature of one record among n, and is raised by the forecast's ridge where a method's noise asks for it. A
    way is good where its forecast is at most a twentieth of what guessing loses; of the good ones, the one that publishes most
    often, then the one with the cheapest deletion, is taken, else the one with the least forecast.

    Args:
        loss, records, features: as for `make_plan`. Losses without odds need model_norm= too.
        budget: of one release; with `requests`, dp is the total of all publications, every one observed.
        requests: deletion requests that the budget has to last for.
        arguments: further ones of `compare_plans`, such as adjacency or rows_per_subject.

    Raises:
        As `make_plan`, where no method has a plan at all.
    """
    for name in ("regularization", "ridge", "target", "method", "releases"):
        if name in arguments:
            raise InvalidParameter(f"advise chooses {name}; leave {name}= out, or use make_plan or compare_plans")
    guessing = loss.largest_at_zero(np)
    facts = {"loss": loss, "features": features, "ridge": "forecast", **arguments}

    def compared(records: int, budget: Budget) -> Comparison:
        return compare_plans(
            records=records,
            budget=budget,
            regularization=loss.constants.smoothness / records,
            requests=requests,
            target=_GOOD * guessing,
            **facts,
        )

    found = compared(records, budget)
    advice = Advice(found, guessing, ())
    if advice.worth_having:
        return advice
    releases, batch = advice.plan.problem.releases, advice.plan.problem.batch

    def good(records: int, budget: Budget) -> bool:
        given = {**facts, "method": advice.chosen.method, "releases": releases, "batch": batch}
        try:
            plan = make_plan(
                records=records, budget=budget, regularization=loss.constants.smoothness / records, **given
            )
        except NoisyGDDeleteError:
            return False
        return plan.method.forecast(plan) + plan.problem.ridge_cost < _HOPELESS * guessing

    remedies = []
    more = _least_power(lambda factor: good(math.ceil(records * factor), budget))
    if more is not None:
        remedies.append(f"n={_rounded(records * more):,.0f} records in place of {records}, all else alike")
    wider = _least_power(lambda factor: good(records, _wider(budget, factor)))
    if wider is not None:
        remedies.append(f"{_wider(budget, wider).describe()} in place of {budget.describe()}")
    return Advice(found, guessing, tuple(remedies))


def _least_power(good: Callable[[float], bool]) -> float | None:
    """The least power of 10^(1/4), up to 10⁴, at which something is good; None if none is."""

    def at(step: int) -> bool:
        return good(10 ** (step / _STEPS))

    if not at(_STEPS * _DECADES):
        return None
    return float(10 ** (first_whole(at, 0, _STEPS * _DECADES) / _STEPS))


def _wider(budget: Budget, factor: float) -> Budget:
    """Both parts so many times as large, rounded up to two digits."""
    return replace(budget, dp=_rounded(budget.dp * factor), deletion=_rounded(budget.deletion * factor))


def _rounded(value: float) -> float:
    """Up, to two digits."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / unit * (1 - 1e-12)) * unit:.2g}")

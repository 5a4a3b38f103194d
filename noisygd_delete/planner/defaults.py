"""What is asked for where nobody says: one release, all of them together, and free slots. Conventions, the same at every door.

ε = 2 for one release lets whoever guesses a record's presence at even odds be right at most 6 times in 10 by method `perturbed`, at the δ below; a
record that was erased is promised a tenth of that ε. All publications together have room for a year: a learn, and one more each month. Nothing
here is read off the data, and nothing changes with what a model shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from ..bounds.arithmetic import last_whole
from ..bounds.objective_perturbation import balanced_ridge
from ..errors import InvalidParameter, NoisyGDDeleteError, check_choice, check_count
from ..methods.base import RIDGES
from ..methods.forecast import estimated_norm, parts
from ..methods.plan import Plan, method_of
from ..methods.problem import Problem
from ..privacy.budget import Budget, Total
from ..privacy.guarantee import Guarantee
from ..privacy.sentences import round_up

PUBLICATIONS = 12  # that the total has room for, each as dear as a learn
EPSILON, DELETION = 2.0, 0.2  # of one release
TOTAL_EPSILON = 8.0  # of all, where it is shared among publications that are yet to be planned

_DELTA = 1e-6
_SPARE = 0.05  # of the rows
_DIGITS = 2
_MANY = 10**6  # publications: where one costs nothing, any number fits


def default_delta(records: int) -> float:
    """δ: 10⁻⁶, and in larger tables the largest power of ten below 1/n: at δ = 1/n a mechanism may publish a whole record."""
    return min(_DELTA, float(f"1e-{math.floor(math.log10(check_count('records', records))) + 1}"))


def default_budget(records: int) -> Budget:
    """Of one release."""
    delta = default_delta(records)
    return Budget.from_epsilon_delta(dp=(EPSILON, delta), deletion=(DELETION, delta))


def default_total(plan: Plan) -> Total | None:
    """Room for `PUBLICATIONS` like the plan's learn, at the plan's δ; None where its releases share a budget already."""
    if plan.releases > 1:
        return None
    delta = plan.budget.shown_delta
    epsilon = compose_publications(plan).with_slack().epsilon(delta)
    return Total(round_up(epsilon, _DIGITS), delta) if 0 < epsilon < math.inf else None


def compose_publications(plan: Plan, publications: int = PUBLICATIONS) -> Guarantee:
    """What so many publications like the learn reveal about a record that is in all of them."""
    # a learn of no steps reveals nothing, what follows does
    steps = plan.mechanism.exposure(plan.learn_steps or plan.delete_steps)
    learned = plan.mechanism.interval("dp", plan.problem.adjacency, steps_with=steps)
    return Guarantee.composed([(learned, publications)])


def default_slots(rows: int) -> int:
    """n for a table of so many rows: a twentieth of them free for insertions, rounded up to three digits."""
    wanted = math.ceil(max(rows, 1) * (1 + _SPARE))
    unit = int(10 ** max(0, len(str(wanted)) - 3))
    return -(-wanted // unit) * unit


def with_total(plan: Plan, total: Total | tuple[float, float] | None) -> Plan:
    """The plan under this cap on all its publications, which sums what is spent in the measure that has room for most of them.

    Raises:
        InvalidParameter: not even a learn lies within it.
    """
    total = Total.of(total)
    if total is not None and not total.affords(compose_publications(plan, 1)):
        alone = total.spent(compose_publications(plan, 1))
        measure = (
            f"what is spent is summed {total.measure}, fixed with the first total, and {plan.method.name!r} states none"
        )
        raise InvalidParameter(
            f"the total of all publications, {total.describe()}, is less than the first of them costs, ε={alone:.3g}: give a larger "
            "total, or a smaller dp budget of one release"
            if alone < math.inf
            else f"{measure}: name another method, or begin a new store"
        )
    if total is not None and total.measure is None:
        bounded = total
        number = last_whole(lambda times: times <= _MANY and bounded.affords(compose_publications(plan, times)))
        total = total.measured_for(compose_publications(plan, number))
    return plan if plan.total == total else replace(plan, problem=replace(plan.problem, total=total))


# --- ridge ---
#
# The ridge of the forecast, for every method: λ′ from sizes, budget, loss and the method's own noise, never from data.


_MOST = 1e4  # times λ + β: nothing is learned beyond it
_RIDGE_DIGITS = 3  # λ′ is rounded up to so many


def with_ridge(problem: Problem, plan: Callable[[Problem], Plan], ridge: str) -> Problem:
    """The problem with the λ that `ridge` names.

    Raises:
        InvalidParameter: no guess of the norm for this loss, or B given where it plays no part. Whatever `plan` raises, where no
            λ has a plan.
    """
    asked = problem.asked_regularization
    if check_choice("ridge", ridge, RIDGES) == "given":
        if problem.model_norm is not None and asked is None:
            raise InvalidParameter(
                "belongs to ridge 'forecast'; name it, or leave model_norm out", model_norm=problem.model_norm
            )
        return problem
    asked = problem.regularization if asked is None else asked
    if method_of(problem).own_ridge:
        return replace(problem, regularization=asked, asked_regularization=None, model_norm=None)
    problem = replace(problem, regularization=asked, asked_regularization=None)
    norm = estimated_norm(problem) if problem.model_norm is None else problem.model_norm

    def raised(regularization: float) -> Problem:
        return replace(problem, regularization=regularization, asked_regularization=asked, model_norm=norm)

    def cost(regularization: float) -> float:
        try:
            planned = plan(raised(regularization))
        except (NoisyGDDeleteError, ArithmeticError):
            return math.inf
        return planned.outlook.forecast

    most = _MOST * problem.objective_smoothness
    found = balanced_ridge(cost, regularization=problem.regularization, model_norm=norm, most=most)
    if found == math.inf:
        plan(problem)  # says what is wrong
        raise InvalidParameter(
            f"finds no λ up to {most:.3g} at which the noise of method {problem.method.name!r} costs less than the "
            "regulariser; raise the budget, collect more records, or leave ridge out",
            ridge="forecast",
        )
    return raised(problem.regularization if found == problem.regularization else _rounded_up(found))


def expected_cost(plan: Plan) -> float:
    """What noise and regulariser are forecast to cost a row, nats in the objective asked for."""
    return (plan.outlook.forecast + plan.problem.ridge_cost) / parts(plan.problem)


def _rounded_up(value: float) -> float:
    unit = 10.0 ** (math.floor(math.log10(value)) - _RIDGE_DIGITS + 1)
    return float(f"{math.ceil(value / unit * (1 - 1e-12)) * unit:.{_RIDGE_DIGITS}g}")

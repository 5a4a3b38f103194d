"""Default settings, shared by all entry points: one release, all releases together, and free slots.

The budget lasts for two years: a learn, a release on each of 26 dates, one every 28 days, and `SPARE` releases that need
not wait for a date. A data subject is thus answered within a month (GDPR, Article 12(3)). ε of one release is chosen so
that all of them together reveal at most ε = 8 about a record; the deletion budget is a tenth of it. The relation is
"zero-out", the field's add or remove one record. Nothing here depends on the data or on any model.
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
from ..privacy.release_dates import DATES, SPARE
from ..privacy.sentences import round_up

REQUESTS = 100  # edit requests a year, each with a release of its own where that costs little
PUBLICATIONS = 1 + DATES + SPARE  # releases that the total covers, each at the cost of a learn
EPSILON, DELETION = 1.2, 0.12  # ε of one release, for present and for erased records
TOTAL_EPSILON = 8.0  # ε of all releases, if it is shared among releases that are yet to be planned

_DELTA = 1e-6
_SPARE = 0.05  # free slots as a share of the rows
_DIGITS = 2
_MANY = 10**6  # cap on the number of releases, for releases that cost nothing


def default_delta(records: int) -> float:
    """Return the default δ: 10⁻⁶, and for larger tables the largest power of ten below 1/n.

    At δ = 1/n a mechanism may publish a whole record.
    """
    return min(_DELTA, float(f"1e-{math.floor(math.log10(check_count('records', records))) + 1}"))


def default_budget(records: int) -> Budget:
    """Return the default budget of one release: `EPSILON` for present and `DELETION` for erased records, at `default_delta`."""
    delta = default_delta(records)
    return Budget.from_epsilon_delta(dp=(EPSILON, delta), deletion=(DELETION, delta))


def default_total(plan: Plan) -> Total | None:
    """Return a total for `PUBLICATIONS` releases like the plan's learn, at the plan's δ.

    Returns:
        The total; None if the plan's releases already share a budget, cost nothing, or have no finite ε.
    """
    if plan.problem.releases > 1:
        return None
    delta = plan.problem.budget.shown_delta
    epsilon = compose_publications(plan).with_slack().epsilon(delta)
    return Total(round_up(epsilon, _DIGITS), delta) if 0 < epsilon < math.inf else None


def compose_publications(plan: Plan, publications: int = PUBLICATIONS) -> Guarantee:
    """Return the guarantee of this many releases like the learn, for a record that is in all of them."""
    # a learn of no steps reveals nothing, but the steps after it do
    steps = plan.mechanism.exposure(plan.calibration.learn_steps or plan.calibration.delete_steps)
    learned = plan.mechanism.interval("dp", plan.problem.adjacency, steps_with=steps)
    return Guarantee.composed([(learned, publications)])


def default_slots(rows: int) -> int:
    """Return n for a table with this many rows.

    A twentieth is added for insertions, and n is rounded up to three digits.
    """
    wanted = math.ceil(max(rows, 1) * (1 + _SPARE))
    unit = int(10 ** max(0, len(str(wanted)) - 3))
    return -(-wanted // unit) * unit


def with_total(plan: Plan, total: Total | tuple[float, float] | None) -> Plan:
    """Return the plan under this cap on all its releases.

    The spent budget is summed in the measure that allows the most of them.

    Raises:
        InvalidParameter: If even one learn exceeds the total.
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
    return plan if plan.problem.total == total else replace(plan, problem=replace(plan.problem, total=total))


# --- ridge ---
#
# The ridge of the forecast, for every method: λ′ from sizes, budget, loss and the method's own noise, never from data.


_MOST = 1e4  # largest λ′ as a multiple of λ + β, beyond which nothing is learned
_RIDGE_DIGITS = 3  # significant digits of λ′, rounded up


def with_ridge(problem: Problem, plan: Callable[[Problem], Plan], ridge: str) -> Problem:
    """Return the problem with the λ that `ridge` selects.

    Args:
        problem: The problem with the requested λ.
        plan: Function that plans a problem.
        ridge: "given" or "forecast".

    Raises:
        InvalidParameter: If the norm cannot be estimated for this loss, B is given without ridge="forecast", or no λ is
            large enough.
        NoisyGDDeleteError: If `plan` raises it for every λ.
    """
    requested = problem.requested_regularization
    if check_choice("ridge", ridge, RIDGES) == "given":
        if problem.model_norm is not None and requested is None:
            raise InvalidParameter(
                "belongs to ridge 'forecast'; name it, or leave model_norm out", model_norm=problem.model_norm
            )
        return problem
    requested = problem.regularization if requested is None else requested
    if method_of(problem).own_ridge:
        return replace(problem, regularization=requested, requested_regularization=None, model_norm=None)
    problem = replace(problem, regularization=requested, requested_regularization=None)
    norm = estimated_norm(problem) if problem.model_norm is None else problem.model_norm

    def raised(regularization: float) -> Problem:
        return replace(problem, regularization=regularization, requested_regularization=requested, model_norm=norm)

    def cost(regularization: float) -> float:
        try:
            planned = plan(raised(regularization))
        except (NoisyGDDeleteError, ArithmeticError):
            return math.inf
        return planned.outlook.forecast

    most = _MOST * problem.objective_smoothness
    found = balanced_ridge(cost, regularization=problem.regularization, model_norm=norm, most=most)
    if found == math.inf:
        plan(problem)  # raises the specific error
        raise InvalidParameter(
            f"finds no λ up to {most:.3g} at which the noise of method {problem.method.name!r} costs less than the "
            "regulariser; raise the budget, collect more records, or leave ridge out",
            ridge="forecast",
        )
    return raised(problem.regularization if found == problem.regularization else _rounded_up(found))


def expected_cost(plan: Plan) -> float:
    """Return the forecast cost of noise and regularizer, in nats of the requested objective.

    It is per row, or per person where rows are weighted by person.
    """
    problem = plan.problem
    cost = (plan.outlook.forecast + problem.ridge_cost) / parts(problem)
    return cost * problem.rows_a_person if problem.by_person else cost


def _rounded_up(value: float) -> float:
    unit = 10.0 ** (math.floor(math.log10(value)) - _RIDGE_DIGITS + 1)
    return float(f"{math.ceil(value / unit * (1 - 1e-12)) * unit:.{_RIDGE_DIGITS}g}")

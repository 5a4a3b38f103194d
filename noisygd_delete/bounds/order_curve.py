"""Rényi curves known as functions of the order, finite below a public order: to (ε, δ), and the least noise for a budget.

A curve is ε_q = `renyi(q)`, any function that is a valid Rényi bound at every order it is asked for (infinite where it says
nothing). Curves compose by adding at equal orders. Every order is valid, so the best one may be searched in plain floats;
what is returned was evaluated at one order, rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from . import objective_perturbation as perturbation
from . import objective_perturbation_gdp as flow
from .renyi import renyi_epsilon, renyi_epsilon_optimal, renyi_log_delta, renyi_log_delta_optimal
from .rounding import UNIT, best_order, least
from .search import least_safe

Curve = Callable[[float], float]

_LEAST, _MOST = 1e-3, 1e9  # of q − 1 on the grid of orders
_DIGITS = 1e-9  # relative width at which a bisection for the noise stops


def _sound(renyi: Curve) -> Curve:
    """The curve, infinite wherever it is not a number."""

    def at(order: float) -> float:
        cost = renyi(order)
        return cost if cost < math.inf else math.inf

    return at


def _best(objective: Curve, highest_order: float, rounds: int = 36) -> tuple[float, float]:
    """(order, the highest log(q−1) worth trying) for Canonne, Kamath & Steinke's conversion."""
    high = min(_MOST, max(highest_order - 1, 1e-12) * (1 - 1e-9))  # a curve may end where no order above 1 is a float
    return best_order(objective, low=min(_LEAST, high / 1e3), high=high, rounds=rounds), math.log(high)


def curve_least(objective: Curve, *, highest_order: float) -> float:
    """The least value of `objective` found over the orders below `highest_order`; every order is valid."""
    return objective(_best(objective, highest_order)[0])


def curve_epsilon(*, renyi: Curve, highest_order: float, delta: float) -> float:
    """The least ε found over all orders below `highest_order` for which the curve implies (ε, δ)-DP, rounded up."""
    if delta >= 1:
        return 0.0
    if delta <= 0:
        return math.inf
    renyi = _sound(renyi)
    order, most = _best(lambda q: renyi_epsilon(order=q, renyi=renyi(q), delta=delta), highest_order)
    if renyi(order) == math.inf:
        return math.inf

    def optimal(point: float) -> float:
        q = 1 + math.exp(min(point, most))
        return renyi_epsilon_optimal(order=q, renyi=renyi(q), delta=delta) if renyi(q) < math.inf else math.inf

    centre = math.log(order - 1)
    plain = renyi_epsilon(order=order, renyi=renyi(order), delta=delta)
    return min(plain, optimal(centre), least(optimal, centre - 2, centre + 0.5, 20))


def curve_log_delta(*, renyi: Curve, highest_order: float, epsilon: float) -> float:
    """The least log δ(ε) found over all orders below `highest_order`, rounded up."""
    renyi = _sound(renyi)
    order, most = _best(lambda q: renyi_log_delta(order=q, renyi=renyi(q), epsilon=epsilon), highest_order)
    if renyi(order) == math.inf:
        return 0.0

    def optimal(point: float) -> float:
        q = 1 + math.exp(min(point, most))
        return renyi_log_delta_optimal(order=q, renyi=renyi(q), epsilon=epsilon) if renyi(q) < math.inf else 0.0

    centre = math.log(order - 1)
    plain = renyi_log_delta(order=order, renyi=renyi(order), epsilon=epsilon)
    return min(plain, optimal(centre), least(optimal, centre - 2, centre + 0.5, 20))


def least_noise(*, affordable: Callable[[float], bool], guess: float, most: float = 1e150) -> float:
    """The least s for which `affordable(s)` holds, to nine digits, by bisection; the answer was checked. `math.inf` if none is.

    `affordable` must be monotone: false below some s and true from there up to `most` (λ′ may grow with s).
    """
    return least_safe(affordable, guess=guess, factor=4, most=most, digits=_DIGITS)


def noise_for_renyi(
    *, order: float, budget: float, sensitivity: float, hessian: float, inexact_rate: float = 0.0
) -> float:
    """s = Δ √(q/(2(ε_q − Hessian cost − q·rate))), checked to keep Theorems 1 and 3 within ε_q; infinite if none does."""
    left = budget - hessian - order * inexact_rate
    if not left > 0:
        return math.inf

    def affordable(noise: float) -> bool:
        cost = perturbation.renyi(order=order, sensitivity=sensitivity, noise=noise, hessian=hessian)
        return cost + order * inexact_rate * (1 + 4 * UNIT) <= budget

    return least_noise(affordable=affordable, guess=sensitivity * math.sqrt(order / (2 * left)) * (1 + 1e-12))


def noise_for_epsilon_delta(
    *,
    epsilon: float,
    delta: float,
    sensitivity: float,
    hessian: Curve,
    highest_order: float,
    inexact_rate: float = 0.0,
    releases: float = 1,
) -> float:
    """The least s for which N releases, composed at equal orders, are (ε, δ)-DP by Theorems 1 and 3; infinite if none.

    By Canonne, Kamath & Steinke's conversion at the best order, where s is explicit; `curve_epsilon` says a little less of
    the same s.
    """

    def budget(order: float) -> float:
        conversion = renyi_epsilon(order=order, renyi=1.0, delta=delta) - 1.0  # an order adds as much to any cost
        return (epsilon - conversion) / releases * (1 - 8 * UNIT)

    def noise(order: float) -> float:
        left = budget(order) - hessian(order) - order * inexact_rate
        return sensitivity * math.sqrt(order / (2 * left)) if left > 0 else math.inf

    order, _ = _best(noise, highest_order)
    facts = {"sensitivity": sensitivity, "hessian": hessian(order), "inexact_rate": inexact_rate}
    return noise_for_renyi(order=order, budget=budget(order), **facts)


def noise_for_gdp(
    *,
    gdp: float,
    lipschitz: float,
    ratio: float,
    rows: float = 1,
    worlds: float = 1,
    blocks: float = 1,
    inexact_gdp: float = 0.0,
    releases: float = 1,
) -> float:
    """The least s for which N releases are μ-GDP by Theorems 2 and 3 (κ ≤ 1/4); infinite if none is."""

    def affordable(noise: float) -> bool:
        one = flow.gdp(lipschitz=lipschitz, noise=noise, ratio=ratio, rows=rows, worlds=worlds, blocks=blocks)
        return math.sqrt(releases) * math.hypot(one, inexact_gdp) * (1 + 4 * UNIT) <= gdp

    left = gdp**2 / releases - inexact_gdp**2
    if not left > 0:
        return math.inf
    guess = rows * worlds * math.sqrt(blocks) * lipschitz / math.sqrt(left) * (1 + 1e-12)
    return least_noise(
        affordable=affordable, guess=guess, most=min(1e150, flow.most_noise(lipschitz=lipschitz, ratio=ratio))
    )

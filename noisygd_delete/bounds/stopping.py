"""Bounds on the posterior odds that hold at any stopping time and for any choice of the record.

Let releases be adaptive and their total privacy loss about one record, fixed beforehand, be capped by a filter. An
observer starts from even odds between the two neighbouring datasets; Λ is the likelihood ratio of everything observed.
The observer may stop, or request an erasure, at any time. For ε > 0 let A be the event that at some release within the
cap Λ reaches e^ε.

    P₁(A) ≥ e^ε P₀(A)                           split A by the first release at which Λ ≥ e^ε: it holds for each part

A is an event of the whole transcript, so the trade-off function f of the cap bounds it, for any decisions on the way:

    p = P₁(A) satisfies  p ≤ 1 − f(e^{−ε} p)         the crossing of the ROC curve with the ray of slope e^ε

* Gaussian DP with Σ μ² ≤ μ² (filter: Smith & Thakurta 2022; Koskela, Tobaben & Honkela 2023): p ≤ Φ(y) with
  log Φ(y) − log Φ(y − μ) = ε. It is attained by one release that publishes whether a Gaussian of the cap exceeds a
  threshold.
* Rényi divergence R_q ≤ ρ (filter: Feldman & Zrnic 2021): p ≤ e^{−(q−1)(ε − ρ)}, by Ville's inequality for
  E Λ^{q−1} e^{−(q−1)ρ_t}.

The odds may also reach e^ε for the wrong dataset, with probability at most e^{−ε} p by the same event with the datasets
exchanged. So the odds exceed e^ε to 1 for either dataset at any time with probability at most (1 + e^{−ε}) p, under
either dataset. An observer who chooses among m records has m such chances (union bound).

The reflection principle gives the smaller Φ((τ/2 − ε)/√τ) + e^ε Φ((−ε − τ/2)/√τ), τ = μ², for a Brownian motion that is
itself observed. It is not used: a μ-GDP release shows a function of that motion, whose likelihood ratio is an average,
and may reach e^ε with larger probability (at τ = 1, ε = 4: .00055 above .00042).

Not claimed: the accuracy of an observer who answers only when confident. No bound on an average survives that
selection.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .arithmetic import LEAST_LOG, MARGIN, UNIT, first_safe, least_safe, log_down, sum_up
from .tails import log_lower_tail


def gdp_stopping_log_delta(*, mu: float, epsilon: float, candidates: float = 1) -> float:
    """Return an upper bound on log P(odds exceed e^ε at any time) under a cap of μ on the whole transcript.

    Args:
        mu: Cap on √Σμ² about each record.
        epsilon: Log of the odds.
        candidates: Number of records among which the observer may choose.
    """
    if mu == 0:
        return -math.inf if epsilon > 0 else 0.0
    if epsilon <= 0 or mu > 1e150:
        return 0.0

    def below(y: float) -> bool:  # rounded so that Φ(y) at the crossing is never underestimated
        near, far = log_lower_tail(y), log_lower_tail(y - mu)
        return near - far + MARGIN * (1 + abs(near) + abs(far)) <= epsilon

    low = mu / 2 - epsilon / mu  # where Λ itself is e^ε; its mean above that point is larger
    step = 1.0 + mu
    while not below(low + step):
        step *= 2
    y = low + first_safe(lambda reach: below(low + reach), 0.0, step)
    y += 4 * UNIT * (abs(low) + abs(y))
    return _either_way(log_lower_tail(y) + MARGIN * (1 + y * y), epsilon, candidates)


def renyi_stopping_log_delta(*, order: float, renyi: float, epsilon: float, candidates: float = 1) -> float:
    """Return an upper bound on log P(odds exceed e^ε at any time) under a cap ρ on the Rényi divergence at order q.

    The cap must hold in both directions.
    """
    if renyi == math.inf or not epsilon > renyi:
        return -math.inf if renyi == 0 and epsilon > 0 else 0.0
    if renyi == 0:
        return -math.inf
    return _either_way(-(order - 1) * (epsilon - renyi) * (1 - 8 * UNIT) + MARGIN, epsilon, candidates)


def gdp_stopping_epsilon(*, mu: float, delta: float, candidates: float = 1) -> float:
    """Return the smallest ε whose odds are exceeded at any time with probability at most δ, rounded up.

    Args:
        mu: Cap on √Σμ² about each record.
        delta: Probability for all `candidates` together.
        candidates: Number of records among which the observer may choose.

    Returns:
        ε; 0 if nothing is revealed, infinity if no bound holds.
    """
    if mu == 0:
        return 0.0
    if delta <= 0 or mu > 1e150:
        return math.inf
    spread = math.log(2 * candidates) - math.log(min(delta, 1.0))
    guess = mu * mu / 2 + mu * math.sqrt(2 * spread) + mu
    return _least_epsilon(
        lambda epsilon: gdp_stopping_log_delta(mu=mu, epsilon=epsilon, candidates=candidates), delta, guess
    )


def renyi_stopping_epsilon(*, order: float, renyi: float, delta: float, candidates: float = 1) -> float:
    """Return the ε of `gdp_stopping_epsilon` under a cap ρ on the Rényi divergence at order q, in both directions."""
    if renyi == 0:
        return 0.0
    if delta <= 0 or renyi == math.inf:
        return math.inf
    guess = renyi + (math.log(2 * candidates) - math.log(min(delta, 1.0)) + 1) / (order - 1)
    return _least_epsilon(
        lambda epsilon: renyi_stopping_log_delta(order=order, renyi=renyi, epsilon=epsilon, candidates=candidates),
        delta,
        guess,
    )


def _least_epsilon(log_delta: Callable[[float], float], delta: float, guess: float) -> float:
    allowed = log_down(delta) if delta < 1 else 0.0
    return least_safe(lambda epsilon: log_delta(epsilon) <= allowed, guess=guess, factor=4)


def _either_way(log_probability: float, epsilon: float, candidates: float) -> float:
    """Return log of m (1 + e^{−ε}) p, at most 0."""
    value = sum_up(log_probability, math.log1p(math.exp(-epsilon)), math.log(candidates))
    return max(LEAST_LOG, min(0.0, value))

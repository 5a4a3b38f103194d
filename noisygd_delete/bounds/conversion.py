"""Between Rényi DP, Gaussian DP and (ε, δ), each in the direction in which it is a theorem.

    GDP   → (ε, δ):  exact                                  `gaussian.py`
    Rényi → (ε, δ):  three conversions, the best one used   `renyi.py`
    both  → tests:   trade-off curve, advantage             `membership.py`
    GDP   → Rényi:   ε_q = q μ²/2 for every q
    composition:     Rényi adds at equal q; GDP adds in squares

Every function is total: ε is clamped at 0, δ at 1, δ is handled by its logarithm, so 1e-300 is an ordinary argument.
Results are rounded outward, by more than the error of the special functions they use.
"""

from __future__ import annotations

from .arithmetic import best_order, exp_up, log_down
from .gaussian import (
    gdp_advantage,
    gdp_delta,
    gdp_epsilon,
    gdp_for,
    gdp_log_delta,
    gdp_tradeoff,
    rate_advantage,
    rate_tradeoff,
    renyi_advantage,
    renyi_tradeoff,
    support_delta,
)
from .renyi import (
    rate_epsilon,
    rate_for,
    rate_log_delta,
    renyi_epsilon,
    renyi_epsilon_mironov,
    renyi_epsilon_optimal,
    renyi_log_delta,
    renyi_log_delta_optimal,
)

__all__ = [
    "best_order",
    "exp_up",
    "gdp_advantage",
    "gdp_delta",
    "gdp_epsilon",
    "gdp_for",
    "gdp_log_delta",
    "gdp_tradeoff",
    "log_down",
    "rate_advantage",
    "rate_epsilon",
    "rate_for",
    "rate_log_delta",
    "rate_tradeoff",
    "renyi_advantage",
    "renyi_epsilon",
    "renyi_epsilon_mironov",
    "renyi_epsilon_optimal",
    "renyi_log_delta",
    "renyi_log_delta_optimal",
    "renyi_tradeoff",
    "support_delta",
]

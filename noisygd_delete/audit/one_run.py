"""Bounds from correct guesses about many canaries in one run (Steinke, Nasr & Jagielski, NeurIPS 2023).

Each of m canaries is included, or not, by its own fair coin. An observer of the output of one run guesses r of the
coins, by a rule that was fixed before. Every coin moves the law of the output within a trade-off function f, for any
values of the others (Mahloujifar, Melis & Chaudhuri, ICML 2025). Let N be the number of correct guesses. For a coin
j, compare the event "guess j is correct, and at least t of the others are" with the same event for the flipped coin
("guess j is wrong, and …"): by f their rates satisfy  wrong ≥ f(1 − correct). Averaged over the m coins (f is
convex), with q_i = P[N ≥ i]:

    c_i = (i q_i + q_{i+1} + … + q_r)/m        correct, with N ≥ i
    q_{i−1} (r − i + 1)/m ≥ f(1 − c_i) + (q_i + … + q_r)/m

The right side increases in every q_j, so the smallest sequence with q_v = τ (and 0 above) is below that of every law:
if its q_0 exceeds 1, no law with P[N ≥ v] ≥ τ is within f. The largest remaining τ bounds the probability of v
correct guesses.

It holds for any canaries, guesses and other records. The lower bound below is the μ that such a result refutes at the
given error probability.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtr, ndtri

from ..bounds import gaussian
from ..errors import InvalidParameter, check_count, check_probability
from ..privacy.guarantee import Guarantee

MOST_CANARIES = 100_000
_HALVINGS = 30
_LINES, _LEAST_DELTA = 9, 1e-6  # lines below a trade-off function that is not Gaussian
_MOST_MU = 40.0  # no count of guesses refutes a larger μ

Curve = Callable[[float], float]  # trade-off function: false positive rate -> smallest false negative rate


@dataclass(frozen=True)
class OneRun:
    """Result of one run: `correct` of `guesses` guesses about coins were right, out of `canaries` tossed coins.

    Attributes:
        canaries: Number of canaries, each included by its own fair coin.
        guesses: Number of guesses.
        correct: Number of correct guesses.
        error: Probability that any one of the bounds below is wrong.
    """

    canaries: int
    guesses: int
    correct: int
    error: float = 0.01

    def __post_init__(self) -> None:
        check_probability("error", self.error)
        check_count("canaries", self.canaries, maximum=MOST_CANARIES)
        for part, whole in (("guesses", "canaries"), ("correct", "guesses")):
            if not check_count(part, getattr(self, part), minimum=0) <= getattr(self, whole):
                raise InvalidParameter(
                    f"must be at most {whole}={getattr(self, whole)}: a guess is about one canary",
                    **{part: getattr(self, part)},
                )

    @property
    def estimate(self) -> float:
        """Advantage over random guessing among the guesses made: twice the share of correct guesses, minus 1."""
        return 2 * self.correct / self.guesses - 1 if self.guesses else 0.0

    def beyond(self, tradeoff: Curve, error: float | None = None) -> bool:
        """Return whether this many correct guesses are less likely than `error` under this trade-off function."""
        level = self.error if error is None else error
        if not self.correct or level >= 1:
            return False
        above, tail = 0.0, level  # q_{i+1} + … + q_r, and q_i
        for i in range(self.correct, 0, -1):
            right = min(1.0, (i * tail + above) / self.canaries)
            above += tail
            least = (self.canaries * tradeoff(1 - right) + above) / (self.guesses - i + 1)
            tail = max(tail, least)
            if tail > 1:
                return True
        return False

    def refutes(self, claimed: Guarantee) -> bool:
        """Return whether the result is less likely than `error` under the claim, slack included."""
        return self.beyond(_curve(claimed.with_slack()))

    @property
    def gdp(self) -> float:
        """Lower bound on μ if the release is μ-GDP: the largest μ that the result refutes."""
        low, high = 0.0, _MOST_MU
        if not self._refutes_gdp(low):
            return low
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._refutes_gdp(middle) else (low, middle)
        return low

    def _refutes_gdp(self, mu: float) -> bool:
        return self.beyond(lambda alarm: _gaussian(mu, alarm))

    @property
    def advantage(self) -> float:
        """Advantage of Gaussian DP at the lower bound on μ; a valid lower bound if the claim is Gaussian."""
        return gaussian.gdp_advantage(mu=self.gdp)


def _gaussian(mu: float, alarm: float) -> float:
    return float(ndtr(ndtri(1 - alarm) - mu))


@lru_cache(maxsize=8)
def _curve(claimed: Guarantee) -> Curve:
    """Return the trade-off function of a guarantee if it is Gaussian, else a lower bound on it.

    The lower bound is the maximum of the lines given by (ε, δ) at a few ε.
    """
    if claimed.gdp is not None:
        mu = claimed.gdp
        return lambda alarm: _gaussian(mu, alarm)
    factors = np.linspace(0.0, claimed.epsilon(_LEAST_DELTA), _LINES)
    room = np.array([1 - claimed.delta(epsilon) for epsilon in factors])
    heights = np.concatenate([room, room * np.exp(-factors)])
    slopes = np.concatenate([np.exp(factors), np.exp(-factors)])
    return lambda alarm: max(0.0, float((heights - slopes * alarm).max()))


def guess_canaries(scores: np.ndarray, coins: np.ndarray, *, share: float, error: float) -> OneRun:
    """Return the result of guessing "in" for the highest scores and "out" for the lowest.

    Args:
        scores: Shape (m,), higher for canaries that appear to be included.
        coins: Shape (m,), whether the canary was included.
        share: Share of all canaries that is guessed about, both kinds together.
        error: Error probability of the bounds.
    """
    canaries = len(coins)
    half = max(1, math.floor(share * canaries / 2))
    order = np.argsort(scores, kind="stable")
    right = int(coins[order[-half:]].sum()) + int((~coins[order[:half]]).sum())
    return OneRun(canaries, 2 * half, right, error)

"""Claimed against measured: one row per question, and a verdict that can fail.

A row fails where what was measured refutes the claim. It passes only where the test had the power to notice: the
claim is not vacuous, and the lower bound comes within a stated factor of it. Everything else is inconclusive.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from ..bounds import gaussian
from ..errors import InvalidParameter, check_count, check_probability
from ..privacy.guarantee import Guarantee
from ..privacy.sentences import format_number
from .simulation import Counts
from .three_samples import ThreeSamples

# --- one run ---
#
# What correct guesses about many canaries in one run prove (Steinke, Nasr & Jagielski, NeurIPS 2023).
#
# m canaries are each put in, or not, by a fair coin of their own. Whoever sees what one run published guesses r of the coins, by a rule
# that was fixed before; some are right. Every coin moves the law of what is published within a trade-off curve f, whatever the others show
# (Mahloujifar, Melis & Chaudhuri, ICML 2025). Let N be the number of right guesses. For a coin j, the event "guess j is right, and at least
# t of the others are" has, by f, against the same event with the coin turned ("guess j is wrong, and …") the rates  wrong ≥ f(1 − right).
# Averaged over the m coins (f is convex), with q_i = P[N ≥ i]:
#
#     c_i = (i q_i + q_{i+1} + … + q_r)/m        right, with N ≥ i
#     q_{i−1} (r − i + 1)/m ≥ f(1 − c_i) + (q_i + … + q_r)/m
#
# The right side grows with every q_j, so the least sequence that begins at q_v = τ (and 0 above) lies below every law's: were its q_0 above
# 1, no law with P[N ≥ v] ≥ τ would be within f. The largest τ that this leaves bounds the probability of v right guesses.
#
# It holds whatever the canaries, the guesses and the other records are. The lower bound below is the μ that such a result refutes at the
# stated error probability.


MOST_CANARIES = 100_000
_HALVINGS = 30
_LINES, _LEAST_DELTA = 9, 1e-6  # of a curve that is not Gaussian
_MOST_MU = 40.0  # no count of guesses refutes more

Curve = Callable[[float], float]  # trade-off: false positive rate -> least false negative rate


@dataclass(frozen=True)
class OneRun:
    """`correct` of `guesses` coins guessed right, of `canaries` that were tossed, in one run.

    `error` is the probability that any one of the bounds below is wrong.
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
        """The advantage over a coin among the guesses that were made: twice the share of right ones, less 1."""
        return 2 * self.correct / self.guesses - 1 if self.guesses else 0.0

    def beyond(self, tradeoff: Curve, error: float | None = None) -> bool:
        """Whether so many right guesses are less likely than `error` under this trade-off curve."""
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
        """Whether the result is less likely than `error` under what is claimed, the slack included."""
        return self.beyond(_curve(claimed.with_slack()))

    @property
    def gdp(self) -> float:
        """Lower bound on μ, if what is published is μ-GDP: the largest μ that the result refutes."""
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
        """The advantage of the Gaussian law at the lower bound on μ: a true lower bound where the claim is Gaussian."""
        return gaussian.gdp_advantage(mu=self.gdp)


def _gaussian(mu: float, alarm: float) -> float:
    return float(ndtr(ndtri(1 - alarm) - mu))


@lru_cache(maxsize=8)
def _curve(claimed: Guarantee) -> Curve:
    """Its trade-off curve where it is Gaussian; else the highest of the lines that (ε, δ) at a few ε draw below it."""
    if claimed.gdp is not None:
        mu = claimed.gdp
        return lambda alarm: _gaussian(mu, alarm)
    factors = np.linspace(0.0, claimed.epsilon(_LEAST_DELTA), _LINES)
    room = np.array([1 - claimed.delta(epsilon) for epsilon in factors])
    heights = np.concatenate([room, room * np.exp(-factors)])
    slopes = np.concatenate([np.exp(factors), np.exp(-factors)])
    return lambda alarm: max(0.0, float((heights - slopes * alarm).max()))


def guess_canaries(scores: np.ndarray, coins: np.ndarray, *, share: float, error: float) -> OneRun:
    """Guess "in" for the highest scores and "out" for the lowest, `share` of all canaries together.

    Args:
        scores: (m,) higher where a canary looks to be in. coins: (m,) whether it was.
    """
    canaries = len(coins)
    half = max(1, math.floor(share * canaries / 2))
    order = np.argsort(scores, kind="stable")
    right = int(coins[order[-half:]].sum()) + int((~coins[order[:half]]).sum())
    return OneRun(canaries, 2 * half, right, error)


VACUOUS = 0.99  # a claimed advantage this large promises nothing


@dataclass(frozen=True)
class AuditRow:
    """One question asked of an engine, or of the product.

    claimed   what the accountant answers
    measured  counts of the attack, with this row's share of the error probability
    factor    the bound must come so close to the claim for the row to count as passed
    """

    question: str
    attack: str
    claimed: Guarantee
    measured: Counts | OneRun
    factor: float

    @property
    def verdict(self) -> str:
        """ "pass", "fail" or "inconclusive"."""
        if self.measured.refutes(self.claimed):
            return "fail"
        claim = self.claimed.with_slack().advantage
        return "pass" if claim < VACUOUS and self.measured.advantage * self.factor >= claim else "inconclusive"

    def to_dict(self) -> dict[str, Any]:
        return {
            "question": self.question,
            "attack": self.attack,
            "claimed_advantage": self.claimed.with_slack().advantage,
            "measured_advantage": self.measured.estimate,
            "measured_lower_bound": self.measured.advantage,
            "verdict": self.verdict,
        }


@dataclass(frozen=True)
class AuditResult:
    """All rows, and three samples of models where they were drawn. An honest engine fails anywhere with probability at most
    `false_alarm`."""

    rows: tuple[AuditRow, ...]
    chains: int
    false_alarm: float
    notes: tuple[str, ...] = ()
    three: ThreeSamples | None = None

    @property
    def verdict(self) -> str:
        """ "fail" if any row fails, or unlearned models are nearer to those with the record; "pass" if at least one row passes, else
        "inconclusive"."""
        verdicts = {row.verdict for row in self.rows}
        if self.three is not None and self.three.verdict == "fail":
            return "fail"
        return next((word for word in ("fail", "pass") if word in verdicts), "inconclusive")

    def to_dict(self) -> dict[str, Any]:
        three = {} if self.three is None else {"three_samples": self.three.to_dict()}
        return {
            "verdict": self.verdict,
            "chains_per_world": self.chains,
            "false_alarm": self.false_alarm,
            "notes": list(self.notes),
            "rows": [row.to_dict() for row in self.rows],
            **three,
        }

    def text(self) -> str:
        lines = [f"{'question':<58} {'attack':<17} {'claimed':>8} {'measured':>9} {'at least':>9}  verdict"]
        for row in self.rows:
            entry = row.to_dict()
            lines.append(
                f"{row.question:<58} {row.attack:<17} {entry['claimed_advantage']:8.4f} {entry['measured_advantage']:9.4f} "
                f"{entry['measured_lower_bound']:9.4f}  {row.verdict}"
            )
        if self.three is not None:
            lines.append(
                f"three samples: of what tells models with the record from models without, {self.three.left:.0%} is left after the erasure "
                f"(as counted)  {self.three.verdict}"
            )
        runs = "1 synthetic run" if self.chains == 1 else f"{self.chains} synthetic runs"
        lines.append(
            f"{self.verdict}: advantages over guessing, {runs} per world, all bounds together wrong "
            f"with probability at most {format_number(self.false_alarm)}"
        )
        return "\n".join([*lines, *self.notes])

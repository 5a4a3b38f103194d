"""Requesters who choose whose record is erased, and when, after seeing models: what they know, by simulation. The package is not imported.

About each of m records a release shows N(sμ/2, 1), s = ±1 with even odds: a μ-GDP release that hides nothing more than it has to. The log
likelihood ratio after t releases is L_t = μ Σ x. A requester sees L and decides when he asks for the erasure, and of whom; whoever is
right about s is right about the erased record.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np

Asked = tuple[np.ndarray, np.ndarray]  # of each run: releases seen when he asks (0: never), and the record
Requester = Callable[[np.random.Generator, np.ndarray], Asked]


def play(
    rng: np.random.Generator, *, runs: int, releases: int, mu: float, records: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Return s of every record, shape (runs, records), and L after every release, shape (runs, releases, records)."""
    signs = rng.choice([-1, 1], (runs, records))
    shown = signs[:, None, :] * mu / 2 + rng.standard_normal((runs, releases, records))
    return signs, np.cumsum(mu * shown, axis=1)


def _first(reached: np.ndarray, otherwise: int) -> np.ndarray:
    """The number of the first release at which something held."""
    return np.where(reached.any(1), reached.argmax(1) + 1, otherwise)


def fixed_date(rng: np.random.Generator, llr: np.ndarray) -> Asked:
    runs, releases, _ = llr.shape
    return np.full(runs, (releases + 1) // 2), np.zeros(runs, int)


def random_date(rng: np.random.Generator, llr: np.ndarray) -> Asked:
    runs, releases, records = llr.shape
    return rng.integers(1, releases + 1, runs), rng.integers(0, records, runs)


def threshold(rng: np.random.Generator, llr: np.ndarray) -> Asked:
    """As soon as he is sure either way, at 20 to 1; at the last release otherwise."""
    return _first(np.abs(llr[:, :, 0]) >= math.log(20), llr.shape[1]), np.zeros(len(llr), int)


def first_passage(rng: np.random.Generator, llr: np.ndarray) -> Asked:
    """As soon as the posterior that the record was used reaches 9/10; at the last release otherwise."""
    return _first(llr[:, :, 0] >= math.log(9), llr.shape[1]), np.zeros(len(llr), int)


def largest(rng: np.random.Generator, llr: np.ndarray) -> Asked:
    """On a fixed date, of the record that showed most."""
    date = np.full(len(llr), (llr.shape[1] + 1) // 2)
    return date, np.abs(llr[:, date[0] - 1]).argmax(1)


def whom_and_when(rng: np.random.Generator, llr: np.ndarray) -> Asked:
    date = _first((np.abs(llr) >= math.log(20)).any(2), llr.shape[1])
    return date, np.abs(llr[np.arange(len(llr)), date - 1]).argmax(1)


def only_when_sure(rng: np.random.Generator, llr: np.ndarray) -> Asked:
    """As `threshold`, and never otherwise."""
    return _first(np.abs(llr[:, :, 0]) >= math.log(20), 0), np.zeros(len(llr), int)


BLIND: dict[str, Requester] = {"fixed date": fixed_date, "random date": random_date}
CHOOSING: dict[str, Requester] = {
    "threshold": threshold, "first passage": first_passage, "largest": largest, "whom and when": whom_and_when,
    "only when sure": only_when_sure,
}  # fmt: skip


def right_by_date(asked: Asked, signs: np.ndarray, llr: np.ndarray) -> dict[int, tuple[int, float]]:
    """Of those who asked after so many releases: how many there are, and the share that is right."""
    dates, records = asked
    found = {}
    for date in np.unique(dates[dates > 0]):
        runs = np.flatnonzero(dates == date)
        guess = np.sign(llr[runs, date - 1, records[runs]])
        found[int(date)] = len(runs), float(np.mean(guess == signs[runs, records[runs]]))
    return found


def ever_beyond(llr: np.ndarray, epsilon: float) -> float:
    """How often the odds about any of the records exceed e^ε to 1, either way, after any release."""
    return float(np.mean((np.abs(llr) > epsilon).any((1, 2))))


# --- by formula ---

_NORMAL = NormalDist()


def coarse_release(mu: float, epsilon: float) -> float:
    """P(odds of e^ε), in the world that they favour, of a release that publishes one bit: whether N(±μ/2, 1) exceeds the threshold at
    which the bit has these odds. It is a function of a μ-GDP release."""
    low, high = -40.0, epsilon / mu
    for _ in range(200):
        middle = (low + high) / 2
        near, far = _NORMAL.cdf(mu / 2 - middle), _NORMAL.cdf(-mu / 2 - middle)
        low, high = (middle, high) if near < math.exp(epsilon) * far else (low, middle)
    return _NORMAL.cdf(mu / 2 - high)


def by_reflection(mu: float, epsilon: float) -> float:
    """P(a Brownian motion with drift 1/2 reaches ε before time μ²): of an observer who sees the motion itself."""
    time = mu * mu
    return _NORMAL.cdf((time / 2 - epsilon) / mu) + math.exp(epsilon) * _NORMAL.cdf((-epsilon - time / 2) / mu)


def at_the_end(mu: float, epsilon: float) -> float:
    """P(|L| > ε) after the last release alone."""
    return _NORMAL.cdf((mu * mu / 2 - epsilon) / mu) + _NORMAL.cdf((-mu * mu / 2 - epsilon) / mu)


def least_epsilon(probability: Callable[[float, float], float], mu: float, delta: float) -> float:
    low, high = 1e-9, min(700.0, 1e3 * (mu + mu * mu))
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if probability(mu, middle) <= delta else (middle, high)
    return high
